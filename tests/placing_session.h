/* An optimizer that places groups, driven by hand on a small graph (unit_graph.h). */
#ifndef MERCATOR_TESTS_PLACING_SESSION_H
#define MERCATOR_TESTS_PLACING_SESSION_H

#include "one_arena.h"
#include "unit_graph.h"

#include "mercator/text.h"
#include "mercator/threads.h"

enum { SESSION_KNOBS = 3 * UNIT_GRAPH_MOST };

typedef struct Session {
    const UnitGraph         *graph;
    MerRng                   rng;
    MerNotes                 notes;
    MerSearch               *search;
    const MerOptimizerClass *type;
    void                    *state;
    int64_t                  trials, last_noted; /* last trial that a note calls the most likely */
    int                      greedy_notes;
    double                   best, last;
    uint64_t                 path;                 /* hash of all points so far */
    MerIndex                 point[SESSION_KNOBS]; /* the last one */
    bool                     is_always_refused;
} Session;

static inline void session_note(void *state, const char *name, const char *json)
{
    Session *s = state;
    if (strcmp(name, "greedy") == 0) {
        s->greedy_notes++;
        s->last_noted = atoll(strstr(json, "\"trial\": ") + 9);
    }
}

static inline MerSearch *session_search(Session *s, const UnitGraph *graph, int64_t budget,
                                        MerPool *pool)
{
    MerSearch *search = MER_NEW(arena, MerSearch);
    *search = (MerSearch){.space = &graph->space,
                          .task_count = 1,
                          .objective = MER_METRIC_COUNT,
                          .budget = budget,
                          .rng = &s->rng,
                          .notes = &s->notes,
                          .pool = pool,
                          .arena = arena};
    return search;
}

static inline Session *session_open_on(MerPool *pool, const char *reference, const UnitGraph *graph,
                                       int64_t budget, uint64_t seed, MerStatus expected,
                                       MerError *error)
{
    Session     *s = MER_NEW(arena, Session);
    MerReference parsed;
    *s = (Session){.graph = graph, .best = INFINITY, .path = MER_HASH_START};
    s->rng = mer_rng_make(seed, 0);
    s->notes = (MerNotes){.state = s, .note = session_note};
    s->search = session_search(s, graph, budget, pool);
    assert_int_equal(mer_reference_parse(reference, &parsed, arena, NULL), MER_OK);
    s->type = mer_optimizer_find(parsed.name, NULL);
    assert_non_null(s->type);
    void *options = mer_arena_alloc(arena, s->type->options_size);
    assert_int_equal(
        mer_options_fill(s->type->options, s->type->presets, options, &parsed, arena, error),
        MER_OK);
    s->state = mer_arena_alloc(arena, s->type->state_size);
    assert_int_equal(s->type->open(s->state, s->search, options, error), expected);
    return s;
}

static inline Session *session_open(const char *reference, const UnitGraph *graph, int64_t budget,
                                    uint64_t seed)
{
    return session_open_on(NULL, reference, graph, budget, seed, MER_OK, NULL);
}

static inline void session_run(Session *s, int64_t trials, int capacity)
{
    MerIndex    points[64][SESSION_KNOBS];
    MerProposal proposals[64];
    MerTrial    told[64];
    size_t      bytes = (size_t)s->graph->space.knob_count * sizeof(MerIndex);
    while (trials > 0) {
        int count = trials < capacity ? (int)trials : capacity;
        for (int i = 0; i < count; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        count = s->type->ask(s->state, proposals, count);
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            assert_true(mer_space_contains(&s->graph->space, points[i]));
            s->last = s->is_always_refused ? INFINITY : unit_graph_score(s->graph, points[i]);
            s->best = fmin(s->best, s->last);
            s->path = mer_hash_bytes(s->path, points[i], bytes);
            memcpy(s->point, points[i], bytes);
            told[i] = (MerTrial){.index = s->trials++, .point = points[i], .score = s->last};
        }
        s->type->tell(s->state, told, count);
        trials -= count;
    }
}

static inline void session_close(Session *s)
{
    s->type->close(s->state);
}

static inline FILE *session_saved(Session *s, MerKeep what)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(s->type->save(s->state, what, file, NULL), MER_OK);
    rewind(file);
    return file;
}

/* The score of the last trial of a whole run. */
static inline double session_whole(const char *reference, const UnitGraph *graph, int64_t budget,
                                   uint64_t seed)
{
    Session *s = session_open(reference, graph, budget, seed);
    session_run(s, budget, 16);
    session_close(s);
    return s->last;
}

static inline double session_random(const UnitGraph *graph, int trials)
{
    MerRng   rng = mer_rng_make(5, 0);
    MerIndex point[SESSION_KNOBS];
    double   best = INFINITY;
    for (int i = 0; i < trials; i++) {
        mer_space_sample(&graph->space, &rng, point);
        best = fmin(best, unit_graph_score(graph, point));
    }
    return best;
}

#endif
