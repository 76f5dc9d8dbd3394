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
    mer_stream_bytes(stream, agent->acted, sizeof *agent->acted, rows);
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
    mer_stream_bytes(stream, &team->is_ready, sizeof team->is_ready, 1);
    mer_stream_bytes(stream, &team->baseline, sizeof team->baseline, 1);
    mer_stream_bytes(stream, &team->has_baseline, sizeof team->has_baseline, 1);
    mer_stream_bytes(stream, &team->entropy, sizeof team->entropy, 1);
}

MerStatus mer_team_save_state(MerTeam *team, FILE *file, MerError *error)
{
    MerStream stream = {file, true, false};
    MerStatus status = mer_parameters_save(team->parameters, file, error);
    if (status == MER_OK) {
        status = mer_parameters_save(mer_updater_memory(team->updater), file, error);
    }
    transfer_team(&stream, team);
    return status == MER_OK ? mer_stream_status(&stream, "the agents' state", error) : status;
}

MerStatus mer_team_load_state(MerTeam *team, FILE *file, MerError *error)
{
    MerStream stream = {file, false, false};
    MerStatus status = mer_parameters_load(team->parameters, file, "saved agents", error);
    if (status == MER_OK) {
        status =
            mer_parameters_load(mer_updater_memory(team->updater), file, "saved agents", error);
    }
    if (status == MER_OK) {
        transfer_team(&stream, team);
    }
    stream.is_broken = stream.is_broken || team->step < 0 || team->step >= team->spec.unroll;
    return status == MER_OK ? mer_stream_status(&stream, "the agents' saved state", error) : status;
}
