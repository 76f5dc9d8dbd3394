/* Optimizers driven by hand on a toy space: ask, score, tell, and keep what they noted. */
#ifndef MERCATOR_TESTS_TOY_SUPPORT_H
#define MERCATOR_TESTS_TOY_SUPPORT_H

#include "mercator/registry.h"
#include "support.h"

#include <math.h>

enum { TOY_KNOBS = 4, TOY_MOST_KNOBS = 12, TOY_CAPACITY = 16, TOY_NOTES = 64 };

typedef struct Toy {
    MerArena                *arena;
    MerKnob                 *knobs;
    MerSpace                *space;
    MerRng                   rng;
    MerNotes                 notes;
    MerSearch               *search; /* of the task before: still in the arena */
    const MerOptimizerClass *type;
    void                    *optimizer;
    int                      capacity; /* points per ask, at most */
    int                      note_count;
    char                     names[TOY_NOTES][32], texts[TOY_NOTES][4000];
    int64_t                  trials, best_at; /* told so far; trial of the best one */
    double                   best;
    uint64_t                 path; /* hash of all points asked for, in their order */
} Toy;

static inline void toy_keep_note(void *state, const char *name, const char *json)
{
    Toy *toy = state;
    if (toy->note_count < TOY_NOTES) {
        snprintf(toy->names[toy->note_count], sizeof toy->names[0], "%s", name);
        snprintf(toy->texts[toy->note_count++], sizeof toy->texts[0], "%s", json);
    }
}

/* Four ordered knobs with `choices` each, two of them tiles. */
static inline void toy_fill_knobs(MerKnob *knobs, int choices)
{
    for (int k = 0; k < TOY_KNOBS; k++) {
        knobs[k] = (MerKnob){.name = "k",
                             .kind = MER_KNOB_ORDERED,
                             .choices = choices,
                             .role = k < 2 ? MER_ROLE_TILE : MER_ROLE_ORDER};
    }
}

static inline void toy_set_space(Toy *toy, int knob_count, const MerKnob *knobs, int64_t budget)
{
    MerKnob *own = MER_ARRAY(toy->arena, MerKnob, knob_count + 1);
    memcpy(own, knobs, (size_t)knob_count * sizeof *knobs);
    toy->space = MER_NEW(toy->arena, MerSpace);
    toy->knobs = own;
    *toy->space = (MerSpace){.knob_count = knob_count, .knobs = own};
    toy->search = MER_NEW(toy->arena, MerSearch);
    *toy->search = (MerSearch){.space = toy->space,
                               .task_count = 1,
                               .objective = MER_METRIC_COUNT,
                               .budget = budget,
                               .rng = &toy->rng,
                               .notes = &toy->notes,
                               .arena = toy->arena};
}

static inline Toy *toy_open_space(const char *reference, int64_t budget, int knob_count,
                                  const MerKnob *knobs, MerStatus expected, MerError *error)
{
    Toy         *toy = calloc(1, sizeof *toy);
    MerReference parsed;
    toy->arena = mer_arena_new();
    toy->rng = mer_rng_make(3, 0);
    toy->notes = (MerNotes){.state = toy, .note = toy_keep_note};
    toy->capacity = TOY_CAPACITY;
    toy->best = INFINITY;
    toy_set_space(toy, knob_count, knobs, budget);
    assert_int_equal(mer_reference_parse(reference, &parsed, toy->arena, NULL), MER_OK);
    toy->type = mer_optimizer_find(parsed.name, NULL);
    assert_non_null(toy->type);
    void *options = mer_arena_alloc(toy->arena, toy->type->options_size + 1);
    if (toy->type->options != NULL) {
        assert_int_equal(mer_options_fill(toy->type->options, toy->type->presets, options, &parsed,
                                          toy->arena, NULL),
                         MER_OK);
    }
    toy->optimizer = mer_arena_alloc(toy->arena, toy->type->state_size);
    assert_int_equal(toy->type->open(toy->optimizer, toy->search, options, error), expected);
    return toy;
}

static inline Toy *toy_open(const char *reference, int64_t budget, MerStatus expected,
                            MerError *error)
{
    MerKnob knobs[TOY_KNOBS];
    toy_fill_knobs(knobs, 8);
    return toy_open_space(reference, budget, TOY_KNOBS, knobs, expected, error);
}

static inline void toy_close(Toy *toy)
{
    if (toy->type->close != NULL) {
        toy->type->close(toy->optimizer);
    }
    mer_arena_free(toy->arena);
    free(toy);
}

/* The same optimizer on another space; what is counted starts anew. */
static inline void toy_next_task(Toy *toy, int knob_count, const MerKnob *knobs, int64_t budget)
{
    toy_set_space(toy, knob_count, knobs, budget);
    toy->best = INFINITY;
    toy->trials = toy->best_at = 0;
    assert_int_equal(toy->type->next_task(toy->optimizer, toy->search, NULL), MER_OK);
}

typedef double (*ToyScore)(const MerIndex *point, int64_t trial);

static inline void toy_remember(Toy *toy, const MerTrial *trial)
{
    for (int k = 0; k < toy->space->knob_count; k++) {
        toy->path = (toy->path ^ (uint64_t)trial->point[k]) * 1099511628211u + 1;
    }
    if (trial->score < toy->best) {
        toy->best = trial->score;
        toy->best_at = toy->trials;
    }
}

/* Asks and tells; gives the mean score of the last quarter. */
static inline double toy_run(Toy *toy, int64_t trials, ToyScore score)
{
    MerIndex    points[TOY_CAPACITY][TOY_MOST_KNOBS];
    MerProposal proposals[TOY_CAPACITY];
    MerTrial    told[TOY_CAPACITY];
    double      sum = 0;
    int64_t     end = toy->trials + trials, last = end - trials / 4, counted = 0;
    while (toy->trials < end) {
        int64_t left = end - toy->trials;
        for (int i = 0; i < TOY_CAPACITY; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        int capacity = left < toy->capacity ? (int)left : toy->capacity;
        int count = toy->type->ask(toy->optimizer, proposals, capacity);
        assert_in_range(count, 1, capacity);
        for (int i = 0; i < count; i++) {
            assert_true(mer_space_contains(toy->space, points[i]));
            told[i] = (MerTrial){
                .index = toy->trials, .point = points[i], .score = score(points[i], toy->trials)};
            sum += toy->trials >= last ? told[i].score : 0;
            counted += toy->trials >= last;
            toy_remember(toy, &told[i]);
            toy->trials++;
        }
        toy->type->tell(toy->optimizer, told, count);
    }
    return sum / (double)counted;
}

/* The first view with this id. */
static inline const char *toy_find_view(const Toy *toy, const char *id)
{
    char start[80];
    snprintf(start, sizeof start, "\"id\":\"%s\"", id);
    for (int i = 0; i < toy->note_count; i++) {
        if (strcmp(toy->names[i], "view") == 0 && strstr(toy->texts[i], start) != NULL) {
            return toy->texts[i];
        }
    }
    return NULL;
}

/* What one optimizer saved, loaded into another. */
static inline MerStatus toy_hand_on(const Toy *from, Toy *to, MerKeep what, MerError *error)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(from->type->save(from->optimizer, what, file, NULL), MER_OK);
    rewind(file);
    MerStatus status = to->type->load(to->optimizer, what, file, error);
    fclose(file);
    return status;
}

/* Best 1 where knobs 0 and 1 are equal, and 2 and 3; random points of 8 choices score 36.6 on
 * average. */
static inline double toy_coupled(const MerIndex *p, int64_t trial)
{
    (void)trial;
    return exp(0.5 * abs(p[0] - p[1]) + 0.5 * abs(p[2] - p[3]));
}

static inline double toy_never(const MerIndex *p, int64_t trial)
{
    (void)p, (void)trial;
    return INFINITY;
}

#endif
