/* Turns that go on later: all of them, or what another task can use. */
#include "opt/turns.h"

static void keep_lanes(MerTurns *turns, MerStream *stream)
{
    const MerAgents *agents = turns->agents;
    const MerSpace  *space = agents->search->space;
    for (int i = 0; i < agents->options.lanes && !stream->is_broken; i++) {
        MerLane *lane = &turns->lanes[i];
        mer_stream_bytes(stream, lane->now, sizeof *lane->now, space->knob_count);
        lane->energy = mer_stream_real(stream, lane->energy);
        lane->tries = mer_stream_int(stream, lane->tries, 0, INT64_MAX);
        lane->is_move = mer_stream_int(stream, lane->is_move, 0, 1);
        stream->is_broken = stream->is_broken || !mer_space_contains(space, lane->now);
    }
    mer_stream_bytes(stream, agents->rewards, sizeof *agents->rewards,
                     agents->options.lanes * agents->options.unroll);
}

static void keep_times(MerTurns *turns, MerStream *stream)
{
    turns->done = mer_stream_int(stream, turns->done, 0, INT64_MAX);
    turns->round_start = mer_stream_int(stream, turns->round_start, 0, INT64_MAX);
    turns->round_length = mer_stream_int(stream, turns->round_length, 1, INT64_MAX);
    turns->next_meeting = mer_stream_int(stream, turns->next_meeting, 0, INT64_MAX);
}

static void keep(MerTurns *turns, MerKeep what, MerStream *stream)
{
    if (what == MER_KEEP_POLICY) {
        mer_elites_keep(&turns->elites, stream);
        return;
    }
    keep_times(turns, stream);
    keep_lanes(turns, stream);
    mer_tried_keep(&turns->tried, stream);
    mer_elites_keep_all(&turns->elites, turns->agents->search->space, stream);
}

MerStatus mer_turns_save(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    keep(turns, what, &stream);
    mer_stream_int(&stream, turns->judge != NULL, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the state of the turns", error);
    return status == MER_OK && turns->judge != NULL ? mer_judge_save(turns->judge, file, error)
                                                    : status;
}

/* A saved judge that nobody wants any more is read over. */
static MerStatus load_judge(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    bool             is_wanted = turns->judge != NULL;
    MerJudge        *judge =
        is_wanted ? turns->judge : mer_judge_new(MER_JUDGE_WIDTH, turns->options.judge_rate);
    MerStatus status = mer_judge_load(judge, file, error);
    if (!is_wanted) {
        mer_judge_free(judge);
    } else if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_judge_begin(judge, search->space, search->rng);
    } else if (status == MER_OK) {
        status = mer_judge_resume(judge, search->space, error);
    }
    return status;
}

MerStatus mer_turns_load(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    MerStream        stream = {.file = file};
    keep(turns, what, &stream);
    bool      has_judge = mer_stream_int(&stream, 0, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the saved state of the turns", error);
    if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_elites_begin(&turns->elites, search->space, search->arena,
                         (int)turns->options.transfer);
    }
    return status == MER_OK && has_judge ? load_judge(turns, what, file, error) : status;
}
