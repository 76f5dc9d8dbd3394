/* The whole state of a team in the middle of a batch, in the machine's own bytes: for going on
 * later on the same machine. Policies that move are saved by team_policy.c. */
#include "learn/team_inside.h"

#include <string.h>

typedef struct Stream {
    FILE *file;
    bool  is_saving, is_broken;
} Stream;

static void transfer(Stream *stream, void *memory, size_t size, int64_t count)
{
    size_t wanted = (size_t)count;
    size_t done = stream->is_saving ? fwrite(memory, size, wanted, stream->file)
                                    : fread(memory, size, wanted, stream->file);
    stream->is_broken = stream->is_broken || done != wanted;
}

static void transfer_agent(Stream *stream, const MerTeam *team, MerAgent *agent)
{
    int64_t lanes = team->spec.lanes, rows = mer_team_rows(team);
    transfer(stream, agent->seen, sizeof *agent->seen, (rows + lanes) * agent->observation);
    transfer(stream, agent->columns, sizeof *agent->columns, rows * agent->heads.count);
    transfer(stream, agent->old, sizeof *agent->old, rows * agent->heads.count);
    transfer(stream, agent->acted, sizeof *agent->acted, rows);
    transfer(stream, agent->values, sizeof *agent->values, rows + lanes);
    transfer(stream, agent->now, sizeof *agent->now, lanes * agent->heads.total);
}

static void transfer_team(Stream *stream, MerTeam *team)
{
    const MerTeamSpec *spec = &team->spec;
    for (int a = 0; a < spec->agent_count; a++) {
        transfer_agent(stream, team, &team->agents[a]);
    }
    if (spec->is_central) {
        int64_t rows = mer_team_rows(team) + spec->lanes;
        transfer(stream, team->critic.seen, sizeof(float), rows * team->critic.observation);
        transfer(stream, team->critic.values, sizeof(double), rows);
    }
    transfer(stream, team->last, sizeof *team->last, (int64_t)spec->lanes * spec->knob_count);
    transfer(stream, team->features, sizeof *team->features,
             (int64_t)spec->lanes * spec->feature_count);
    transfer(stream, &team->step, sizeof team->step, 1);
    transfer(stream, &team->is_ready, sizeof team->is_ready, 1);
    transfer(stream, &team->baseline, sizeof team->baseline, 1);
    transfer(stream, &team->has_baseline, sizeof team->has_baseline, 1);
    transfer(stream, &team->entropy, sizeof team->entropy, 1);
}

MerStatus mer_team_save_state(MerTeam *team, FILE *file, MerError *error)
{
    Stream    stream = {file, true, false};
    MerStatus status = mer_parameters_save(team->parameters, file, error);
    if (status == MER_OK) {
        status = mer_parameters_save(mer_updater_memory(team->updater), file, error);
    }
    transfer_team(&stream, team);
    bool is_broken = status == MER_OK && stream.is_broken;
    return is_broken ? mer_error_set(error, MER_IO, "the agents' state cannot be written") : status;
}

MerStatus mer_team_load_state(MerTeam *team, FILE *file, MerError *error)
{
    Stream    stream = {file, false, false};
    MerStatus status = mer_parameters_load(team->parameters, file, "saved agents", error);
    if (status == MER_OK) {
        status =
            mer_parameters_load(mer_updater_memory(team->updater), file, "saved agents", error);
    }
    if (status == MER_OK) {
        transfer_team(&stream, team);
    }
    bool is_broken =
        status == MER_OK && (stream.is_broken || team->step < 0 || team->step >= team->spec.unroll);
    return is_broken ? mer_error_set(error, MER_INVALID, "the agents' saved state is cut off")
                     : status;
}
