/* Records, plans and first points of the model-based tuners. */
#include "opt/tuner.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 256, MOST_SCANNED = 1 << 22, MOST_RECORDS = 1 << 24 };

void mer_tuner_open(MerTuner *tuner, const MerSearch *search, int initial)
{
    *tuner = (MerTuner){.search = search, .initial = initial, .best = -1};
    if (search->budget / 2 < initial) { /* a short search learns something before it ends */
        tuner->initial = (int)(search->budget / 2);
    }
}

void mer_tuner_close(MerTuner *tuner)
{
    mer_visited_clear(&tuner->visited);
    free(tuner->points);
    free(tuner->scores);
    free(tuner->plan);
    *tuner = (MerTuner){.search = tuner->search, .best = -1};
}

bool mer_tuner_is_legal(const MerTuner *tuner, const MerIndex *point)
{
    const MerLegality *legality = tuner->search->legality;
    return legality == NULL || legality->is_legal(legality->state, point);
}

bool mer_tuner_is_new(const MerTuner *tuner, const MerIndex *point)
{
    return !mer_visited_has(&tuner->visited, point, tuner->search->space->knob_count) &&
           mer_tuner_is_legal(tuner, point);
}

/* Where luck finds nothing, the points after a random one are looked through, if they are not too
 * many: in a small space the last points are found too, and its end is known. */
bool mer_tuner_sample(const MerTuner *tuner, MerRng *rng, MerIndex *point)
{
    const MerSpace *space = tuner->search->space;
    double          size = 1;
    for (int k = 0; k < space->knob_count; k++) {
        size *= space->knobs[k].choices;
    }
    for (int i = 0; i < TRIES || (size > MOST_SCANNED && i < 100 * TRIES); i++) {
        mer_space_sample(space, rng, point);
        if (mer_tuner_is_new(tuner, point)) {
            return true;
        }
    }
    for (double i = 0; i < size && size <= MOST_SCANNED; i++) {
        mer_space_next(space, point);
        if (mer_tuner_is_new(tuner, point)) {
            return true;
        }
    }
    return false;
}

bool mer_tuner_add(MerTuner *tuner, const MerIndex *point)
{
    size_t knobs = (size_t)tuner->search->space->knob_count;
    if (mer_visited_add(&tuner->visited, point, (int)knobs)) {
        return false;
    }
    if (tuner->plan_count == tuner->plan_capacity) {
        tuner->plan_capacity = 2 * tuner->plan_capacity + 64;
        tuner->plan = mer_heap_resize(tuner->plan, (size_t)tuner->plan_capacity * knobs + 1,
                                      sizeof *tuner->plan);
    }
    mer_point_copy(tuner->search->space, mer_tuner_point(tuner, tuner->plan, tuner->plan_count++),
                   point);
    return true;
}

void mer_tuner_add_random(MerTuner *tuner, int count)
{
    MerIndex *point = mer_heap_zeroed((size_t)tuner->search->space->knob_count + 1, sizeof *point);
    while (count-- > 0 && mer_tuner_sample(tuner, tuner->search->rng, point)) {
        mer_tuner_add(tuner, point);
    }
    free(point);
}

bool mer_tuner_needs_plan(MerTuner *tuner)
{
    if (tuner->plan_next < tuner->plan_count) {
        return false;
    }
    tuner->plan_count = tuner->plan_next = 0;
    if (tuner->count < tuner->initial) {
        mer_tuner_add_random(tuner, tuner->initial - tuner->count);
        tuner->initial = 0; /* the space may have fewer */
        return false;
    }
    return true;
}

int mer_tuner_ask(MerTuner *tuner, MerProposal *proposals, int capacity)
{
    int left = tuner->plan_count - tuner->plan_next;
    int count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        mer_point_copy(tuner->search->space, proposals[i].point,
                       mer_tuner_point(tuner, tuner->plan, tuner->plan_next + i));
    }
    tuner->plan_next += count;
    return count;
}

static void add_record(MerTuner *tuner, const MerIndex *point, double score)
{
    size_t knobs = (size_t)tuner->search->space->knob_count;
    if (tuner->count == tuner->capacity) {
        tuner->capacity = 2 * tuner->capacity + 256;
        tuner->points = mer_heap_resize(tuner->points, (size_t)tuner->capacity * knobs + 1,
                                        sizeof *tuner->points);
        tuner->scores =
            mer_heap_resize(tuner->scores, (size_t)tuner->capacity, sizeof *tuner->scores);
    }
    mer_point_copy(tuner->search->space, mer_tuner_point(tuner, tuner->points, tuner->count),
                   point);
    tuner->scores[tuner->count] = score;
    if (isfinite(score) && (tuner->best < 0 || score < tuner->scores[tuner->best])) {
        tuner->best = tuner->count;
    }
    tuner->count++;
}

void mer_tuner_tell(void *state, const MerTrial *trials, int count)
{
    MerTuner *tuner = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            mer_visited_add(&tuner->visited, trials[i].point, tuner->search->space->knob_count);
        }
        if (tuner->count < MOST_RECORDS) {
            add_record(tuner, trials[i].point, trials[i].score);
        }
    }
}

/* Scores of maximised metrics are negative. */
/* 1 for the best so far, towards 0 for what is worse, 0 if infeasible. */
static double reward_of(const MerTuner *tuner, double score)
{
    if (tuner->best < 0 || !isfinite(score)) {
        return 0;
    }
    double best = tuner->scores[tuner->best];
    if (best < 0) {
        return score < 0 ? score / best : 0;
    }
    return score > 0 ? best / score : 1;
}

void mer_tuner_labels(const MerTuner *tuner, float *labels)
{
    for (int i = 0; i < tuner->count; i++) {
        labels[i] = (float)reward_of(tuner, tuner->scores[i]);
    }
}

double mer_tuner_agreement(const MerTuner *tuner, int count, const float *thought)
{
    float *truth = mer_heap_zeroed((size_t)tuner->count + 1, sizeof *truth);
    mer_tuner_labels(tuner, truth);
    double found =
        count > 1 ? mer_rank_correlation(count, thought, truth + tuner->count - tuner->plan_count)
                  : NAN;
    free(truth);
    return found;
}

void mer_tuner_features(const MerTuner *tuner, int count, const MerIndex *points, float *rows)
{
    const MerSpace *space = tuner->search->space;
    for (int64_t i = 0; i < (int64_t)count * space->knob_count; i++) {
        const double *values = space->knobs[i % space->knob_count].values;
        rows[i] = values != NULL ? (float)values[points[i]] : (float)points[i];
    }
}

void mer_tuner_keep(MerTuner *tuner, MerStream *stream)
{
    const MerSpace *space = tuner->search->space;
    uint64_t        hash = mer_space_hash(space), saved = hash;
    mer_stream_bytes(stream, &saved, sizeof saved, 1);
    stream->is_broken = stream->is_broken || saved != hash;
    tuner->initial = (int)mer_stream_int(stream, tuner->initial, 0, MOST_RECORDS);
    tuner->count = (int)mer_stream_int(stream, tuner->count, 0, MOST_RECORDS);
    tuner->plan_count = (int)mer_stream_int(stream, tuner->plan_count, 0, MOST_RECORDS);
    tuner->plan_next = (int)mer_stream_int(stream, tuner->plan_next, 0, tuner->plan_count);
    tuner->best = (int)mer_stream_int(stream, tuner->best, -1, tuner->count - 1);
    mer_stream_expect(stream, sizeof(double), tuner->count);
    mer_stream_expect(stream, mer_point_bytes(space), tuner->count);
    if (stream->is_broken) {
        tuner->count = tuner->plan_count = tuner->plan_next = 0;
        return;
    }
    if (!stream->is_saving) {
        size_t knobs = (size_t)space->knob_count;
        tuner->capacity = tuner->count;
        tuner->plan_capacity = tuner->plan_count;
        tuner->points =
            mer_heap_resize(tuner->points, (size_t)tuner->count * knobs + 1, sizeof *tuner->points);
        tuner->scores =
            mer_heap_resize(tuner->scores, (size_t)tuner->count + 1, sizeof *tuner->scores);
        tuner->plan = mer_heap_resize(tuner->plan, (size_t)tuner->plan_count * knobs + 1,
                                      sizeof *tuner->plan);
    }
    mer_points_keep(space, tuner->points, tuner->count, stream);
    mer_stream_bytes(stream, tuner->scores, sizeof *tuner->scores, tuner->count);
    mer_points_keep(space, tuner->plan, tuner->plan_count, stream);
    mer_visited_keep(&tuner->visited, stream);
}

MerTop mer_top_make(int capacity, int knobs, MerArena *arena)
{
    return (MerTop){.capacity = capacity,
                    .knobs = knobs,
                    .points = MER_ARRAY(arena, MerIndex, (int64_t)capacity * knobs + 1),
                    .values = MER_ARRAY(arena, float, capacity + 1)};
}

bool mer_top_offer(MerTop *top, const MerIndex *point, float value)
{
    size_t bytes = (size_t)top->knobs * sizeof *point;
    bool   is_full = top->count == top->capacity;
    if (top->capacity == 0 || (is_full && !(value > top->values[top->worst]))) {
        return false;
    }
    for (int i = 0; i < top->count; i++) {
        if (memcmp(top->points + (int64_t)i * top->knobs, point, bytes) == 0) {
            return false;
        }
    }
    int place = is_full ? top->worst : top->count++;
    memcpy(top->points + (int64_t)place * top->knobs, point, bytes);
    top->values[place] = value;
    for (int i = top->worst = 0; i < top->count; i++) {
        top->worst = top->values[i] < top->values[top->worst] ? i : top->worst;
    }
    return true;
}

void mer_top_sort(MerTop *top)
{
    size_t    bytes = (size_t)top->knobs * sizeof(MerIndex);
    MerIndex *point = mer_heap_zeroed((size_t)top->knobs + 1, sizeof *point);
    for (int i = 1; i < top->count; i++) {
        float value = top->values[i];
        int   place = i;
        memcpy(point, top->points + (int64_t)i * top->knobs, bytes);
        for (; place > 0 && value > top->values[place - 1]; place--) {
            top->values[place] = top->values[place - 1];
            memcpy(top->points + (int64_t)place * top->knobs,
                   top->points + (int64_t)(place - 1) * top->knobs, bytes);
        }
        top->values[place] = value;
        memcpy(top->points + (int64_t)place * top->knobs, point, bytes);
    }
    top->worst = top->count > 0 ? top->count - 1 : 0;
    free(point);
}
