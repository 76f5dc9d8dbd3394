/* Elites and how they move to another space. */
#include "opt/elites.h"

#include "opt/points.h"
#include "space/alike.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Candidate {
    const MerEliteTask *task;
    int                 elite, age;
    double              distance;
} Candidate;

/* Best of the nearest tasks first, then their second best, and so on. */
static int by_promise(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    double           p = x->distance + x->elite, q = y->distance + y->elite;
    return p < q ? -1 : p > q ? 1 : x->age - y->age;
}

static bool is_known(const MerElites *elites, const MerSpace *space, const MerIndex *point)
{
    bool is_found = false;
    for (int i = 0; i < elites->guess_count && !is_found; i++) {
        is_found = mer_point_equal(space, mer_point_at(space, elites->guesses, i), point);
    }
    return is_found;
}

static void add_guess(MerElites *elites, const MerSpace *space, const Candidate *from)
{
    const MerEliteTask *task = from->task;
    const MerIndex     *old = task->points + (int64_t)from->elite * task->knob_count;
    MerIndex           *point = mer_point_at(space, elites->guesses, elites->guess_count);
    for (int k = 0; k < space->knob_count; k++) {
        int other = mer_knob_find(task->knobs, task->knob_count, &space->knobs[k], k);
        point[k] =
            other < 0 ? 0 : mer_knob_translate(&task->knobs[other], old[other], &space->knobs[k]);
    }
    elites->guess_count += !is_known(elites, space, point);
}

static void make_guesses(MerElites *elites, const MerSpace *space, int most)
{
    int count = 0, age = 0;
    for (const MerEliteTask *task = elites->now; task != NULL; task = task->before) {
        count += task->count;
    }
    Candidate *candidates = MER_ARRAY(elites->arena, Candidate, count + 1);
    count = 0;
    for (const MerEliteTask *task = elites->now; task != NULL; task = task->before, age++) {
        double d = mer_knobs_distance(space, task->knobs, task->knob_count);
        for (int i = 0; i < task->count; i++) {
            candidates[count++] = (Candidate){task, i, age * MER_ELITES_KEPT + i, d};
        }
    }
    qsort(candidates, (size_t)count, sizeof *candidates, by_promise);
    elites->guesses = MER_ARRAY(elites->arena, MerIndex, (int64_t)most * space->knob_count + 1);
    for (int i = 0; i < count && elites->guess_count < most; i++) {
        add_guess(elites, space, &candidates[i]);
    }
}

void mer_elites_begin(MerElites *elites, const MerSpace *space, MerArena *arena, int most)
{
    elites->arena = arena;
    elites->guess_count = elites->next_guess = 0;
    make_guesses(elites, space, most);
    MerEliteTask *task = MER_NEW(arena, MerEliteTask);
    *task = (MerEliteTask){.before = elites->now, .knob_count = space->knob_count};
    task->knobs = MER_ARRAY(arena, MerKnob, space->knob_count + 1);
    task->points = MER_ARRAY(arena, MerIndex, MER_ELITES_KEPT * (int64_t)space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        task->knobs[k] = mer_knob_copy(&space->knobs[k], arena);
    }
    elites->now = task;
}

void mer_elites_offer(MerElites *elites, const MerIndex *point, double score)
{
    MerEliteTask *task = elites->now;
    size_t        bytes = (size_t)task->knob_count * sizeof *point;
    int           place = task->count;
    if (!isfinite(score)) {
        return;
    }
    for (int i = 0; i < task->count; i++) {
        if (memcmp(task->points + (int64_t)i * task->knob_count, point, bytes) == 0) {
            return;
        }
    }
    while (place > 0 && score < task->scores[place - 1]) {
        place--;
    }
    if (place == MER_ELITES_KEPT) {
        return;
    }
    task->count += task->count < MER_ELITES_KEPT;
    for (int i = task->count - 1; i > place; i--) {
        task->scores[i] = task->scores[i - 1];
        memcpy(task->points + (int64_t)i * task->knob_count,
               task->points + (int64_t)(i - 1) * task->knob_count, bytes);
    }
    task->scores[place] = score;
    memcpy(task->points + (int64_t)place * task->knob_count, point, bytes);
}

const MerIndex *mer_elites_guess(MerElites *elites)
{
    if (elites->next_guess >= elites->guess_count) {
        return NULL;
    }
    return elites->guesses + (int64_t)elites->next_guess++ * elites->now->knob_count;
}

static void keep_knob(MerKnob *knob, MerStream *stream, MerArena *arena)
{
    enum { MOST_VALUES = 1 << 24 };
    knob->name = mer_stream_text(stream, knob->name, arena);
    knob->kind = (MerKnobKind)mer_stream_int(stream, knob->kind, 0, MER_KNOB_RANK);
    bool has_values = mer_stream_int(stream, knob->values != NULL, 0, 1);
    knob->choices =
        (int)mer_stream_int(stream, knob->choices, 1, has_values ? MOST_VALUES : INT_MAX);
    if (has_values && stream->is_saving) {
        for (int c = 0; c < knob->choices; c++) {
            mer_stream_real(stream, knob->values[c]);
        }
    } else if (has_values) {
        mer_stream_expect(stream, sizeof(double), knob->choices);
        double *values = MER_ARRAY(arena, double, stream->is_broken ? 1 : knob->choices);
        mer_stream_bytes(stream, values, sizeof *values, knob->choices);
        knob->values = values;
    }
}

static bool is_within(const MerEliteTask *task)
{
    for (int i = 0; i < task->count; i++) {
        for (int k = 0; k < task->knob_count; k++) {
            MerIndex index = task->points[(int64_t)i * task->knob_count + k];
            if (index < 0 || index >= task->knobs[k].choices) {
                return false;
            }
        }
    }
    return true;
}

static void keep_task(MerEliteTask *task, MerStream *stream, MerArena *arena)
{
    enum { MOST_KNOBS = 1 << 20, LEAST_BYTES = 4 * sizeof(int64_t) /* of a knob */ };
    task->knob_count = (int)mer_stream_int(stream, task->knob_count, 0, MOST_KNOBS);
    task->count = (int)mer_stream_int(stream, task->count, 0, MER_ELITES_KEPT);
    mer_stream_expect(stream, LEAST_BYTES, task->knob_count);
    if (!stream->is_saving) {
        task->knob_count = stream->is_broken ? 0 : task->knob_count;
        int64_t capacity = MER_ELITES_KEPT * (int64_t)task->knob_count + 1;
        task->knobs = MER_ARRAY(arena, MerKnob, task->knob_count + 1);
        task->points = MER_ARRAY(arena, MerIndex, capacity);
    }
    for (int k = 0; k < task->knob_count && !stream->is_broken; k++) {
        keep_knob(&task->knobs[k], stream, arena);
    }
    mer_stream_bytes(stream, task->points, sizeof *task->points,
                     (int64_t)task->count * task->knob_count);
    mer_stream_bytes(stream, task->scores, sizeof *task->scores, task->count);
    stream->is_broken = stream->is_broken || !is_within(task);
    for (int i = 0; i < task->count && !stream->is_broken; i++) {
        stream->is_broken = !isfinite(task->scores[i]);
    }
}

void mer_elites_keep(MerElites *elites, MerStream *stream)
{
    int64_t        count = 0;
    MerEliteTask **place = &elites->now;
    for (const MerEliteTask *task = elites->now; task != NULL; task = task->before) {
        count++;
    }
    count = mer_stream_int(stream, count, 0, INT_MAX);
    for (int64_t i = 0; i < count && !stream->is_broken; i++) {
        *place = stream->is_saving ? *place : MER_NEW(elites->arena, MerEliteTask);
        keep_task(*place, stream, elites->arena);
        place = &(*place)->before;
    }
    if (!stream->is_saving) {
        *place = NULL;
    }
}

/* The present task's points are points of the space. */
static bool is_of_space(const MerEliteTask *task, const MerSpace *space)
{
    bool is_of = task != NULL && task->knob_count == space->knob_count;
    for (int i = 0; is_of && i < task->count; i++) {
        is_of = mer_space_contains(space, mer_point_at(space, task->points, i));
    }
    return is_of;
}

void mer_elites_keep_all(MerElites *elites, const MerSpace *space, MerStream *stream)
{
    MerEliteTask *begun = elites->now;
    mer_elites_keep(elites, stream);
    int left = (int)mer_stream_int(stream, elites->guess_count - elites->next_guess, 0, 1000000);
    stream->is_broken = stream->is_broken || !is_of_space(elites->now, space);
    mer_stream_expect(stream, sizeof(MerIndex), (int64_t)left * space->knob_count);
    if (stream->is_broken) {
        elites->now = begun;
        elites->guess_count = elites->next_guess = 0;
        return;
    }
    if (!stream->is_saving) {
        elites->guesses = MER_ARRAY(elites->arena, MerIndex, (int64_t)left * space->knob_count + 1);
        elites->guess_count = left;
        elites->next_guess = 0;
    }
    mer_points_keep(space, mer_point_at(space, elites->guesses, elites->next_guess), left, stream);
}
