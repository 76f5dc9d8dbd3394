/* Turns that go on later: all of them, or what another task can use. */
#include "opt/turns.h"

static const int64_t LONGEST = INT64_MAX / 4; /* so that sums and doubled rounds stay numbers */

static void keep_lanes(MerTurns *turns, MerStream *stream)
{
    const MerAgents *agents = turns->agents;
    const MerSpace  *space = agents->search->space;
    for (int i = 0; i < agents->options.lanes && !stream->is_broken; i++) {
        MerChain *lane = &turns->lanes[i];
        mer_stream_bytes(stream, lane->now, sizeof *lane->now, space->knob_count);
        lane->energy = mer_stream_real(stream, lane->energy);
        lane->tries = mer_stream_int(stream, lane->tries, 0, LONGEST);
        lane->is_move = mer_stream_int(stream, lane->is_move, 0, 1);
        stream->is_broken = stream->is_broken || !mer_space_contains(space, lane->now);
    }
    mer_stream_bytes(stream, agents->rewards, sizeof *agents->rewards,
                     agents->options.lanes * agents->options.unroll);
}

static void keep_times(MerTurns *turns, MerStream *stream)
{
    turns->done = mer_stream_int(stream, turns->done, 0, LONGEST);
    turns->round_start = mer_stream_int(stream, turns->round_start, 0, turns->done);
    turns->round_length = mer_stream_int(stream, turns->round_length, 1, LONGEST);
    turns->next_meeting = mer_stream_int(stream, turns->next_meeting, 0, LONGEST);
}

static void keep(MerTurns *turns, MerKeep what, MerStream *stream)
{
    if (what == MER_KEEP_POLICY) {
        mer_elites_keep(&turns->elites, stream);
        return;
    }
    keep_times(turns, stream);
    keep_lanes(turns, stream);
    mer_visited_keep(&turns->tried, stream);
    mer_elites_keep_all(&turns->elites, turns->agents->search->space, stream);
}

MerStatus mer_turns_save(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    keep(turns, what, &stream);
    mer_stream_int(&stream, turns->critic != NULL, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the state of the turns", error);
    return status == MER_OK && turns->critic != NULL
               ? mer_point_critic_keep(turns->critic, &stream, error)
               : status;
}

/* A saved critic that nobody wants any more is read over. */
static MerStatus load_critic(MerTurns *turns, MerKeep what, MerStream *stream, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    bool             is_wanted = turns->critic != NULL;
    MerPointCritic  *critic =
        is_wanted ? turns->critic
                   : mer_point_critic_new(MER_POINT_CRITIC_WIDTH, turns->options.critic_rate);
    MerStatus status = mer_point_critic_keep(critic, stream, error);
    if (!is_wanted) {
        mer_point_critic_free(critic);
    } else if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_point_critic_begin(critic, search->space, search->rng);
    } else if (status == MER_OK) {
        status = mer_point_critic_resume(critic, search->space, error);
    }
    return status;
}

MerStatus mer_turns_load(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    MerStream        stream = {.file = file};
    keep(turns, what, &stream);
    bool      has_critic = mer_stream_int(&stream, 0, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the saved state of the turns", error);
    if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_elites_begin(&turns->elites, search->space, search->arena,
                         (int)turns->options.transfer);
    }
    return status == MER_OK && has_critic ? load_critic(turns, what, &stream, error) : status;
}
