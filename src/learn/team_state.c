/* The whole state of a team in the middle of a batch, in the machine's own bytes: for going on
 * later on the same machine. Policies that move are saved by team_policy.c. */
#include "learn/team_inside.h"

#include "base/stream.h"

static void transfer_agent(MerStream *stream, const MerTeam *team, MerAgent *agent)
{
    int64_t lanes = team->spec.lanes, rows = mer_team_rows(team);
    mer_stream_bytes(stream, agent->seen, sizeof *agent->seen, (rows + lanes) * agent->observation);
    mer_stream_bytes(stream, agent->columns, sizeof *agent->columns, rows * agent->heads.count);
    mer_stream_bytes(stream, agent->old, sizeof *agent->old, rows * agent->heads.count);
    mer_stream_flags(stream, agent->acted, rows);
    mer_stream_bytes(stream, agent->values, sizeof *agent->values, rows + lanes);
    mer_stream_bytes(stream, agent->now, sizeof *agent->now, lanes * agent->heads.total);
}

static void transfer_team(MerStream *stream, MerTeam *team)
{
    const MerTeamSpec *spec = &team->spec;
    for (int a = 0; a < spec->agent_count; a++) {
        transfer_agent(stream, team, &team->agents[a]);
    }
    if (spec->is_central) {
        int64_t rows = mer_team_rows(team) + spec->lanes;
        mer_stream_bytes(stream, team->critic.seen, sizeof(float), rows * team->critic.observation);
        mer_stream_bytes(stream, team->critic.values, sizeof(double), rows);
    }
    mer_stream_bytes(stream, team->last, sizeof *team->last,
                     (int64_t)spec->lanes * spec->knob_count);
    mer_stream_bytes(stream, team->features, sizeof *team->features,
                     (int64_t)spec->lanes * spec->feature_count);
    mer_stream_bytes(stream, &team->step, sizeof team->step, 1);
    mer_stream_flags(stream, &team->is_ready, 1);
    mer_stream_bytes(stream, &team->baseline, sizeof team->baseline, 1);
    mer_stream_flags(stream, &team->has_baseline, 1);
    mer_stream_bytes(stream, &team->entropy, sizeof team->entropy, 1);
}

static MerStatus keep(MerTeam *team, MerStream *stream, MerError *error)
{
    MerParameters *memory = mer_updater_memory(team->updater);
    MER_TRY(mer_parameters_keep(team->parameters, stream, "saved agents", error));
    MER_TRY(mer_parameters_keep(memory, stream, "saved agents", error));
    transfer_team(stream, team);
    return MER_OK;
}

MerStatus mer_team_save_state(MerTeam *team, FILE *file, MerError *error)
{
    MerStream stream = {file, true, false};
    MER_TRY(keep(team, &stream, error));
    return mer_stream_status(&stream, "the agents' state", error);
}

/* What was chosen lies in the columns of its head: they are indices when the agent learns. */
static bool has_its_columns(const MerAgent *agent, int64_t rows)
{
    for (int64_t i = 0; i < rows * agent->heads.count; i++) {
        int h = (int)(i % agent->heads.count), column = agent->columns[i];
        if (agent->acted[i / agent->heads.count] &&
            (column < agent->heads.first[h] || column >= agent->heads.first[h + 1])) {
            return false;
        }
    }
    return true;
}

static bool is_sound(const MerTeam *team, int step)
{
    const MerTeamSpec *spec = &team->spec;
    bool               is_sound = team->step == step && step >= 0 && step < spec->unroll;
    for (int a = 0; a < spec->agent_count && is_sound; a++) {
        is_sound = has_its_columns(&team->agents[a], mer_team_rows(team));
    }
    for (int64_t i = 0; i < (int64_t)spec->lanes * spec->knob_count && is_sound; i++) {
        is_sound = team->last[i] >= -1 && team->last[i] < spec->choices[i % spec->knob_count];
    }
    return is_sound;
}

MerStatus mer_team_load_state(MerTeam *team, int step, FILE *file, MerError *error)
{
    MerStream stream = {file, false, false};
    MER_TRY(keep(team, &stream, error));
    stream.is_broken = stream.is_broken || !is_sound(team, step);
    return mer_stream_status(&stream, "the agents' saved state", error);
}
