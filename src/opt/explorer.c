/* Walkers, their agents, and the trees that reward them. */
#include "opt/explorer_team.h"

#include "base/memory.h"
#include "base/stats.h"
#include "opt/failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More knobs than this would make too many products of pairs. */
enum { MOST_PAIRED = 12, START_TRIES = 64, ELITES = 16 };
enum { MOST_NEIGHBOURS = 8192 }; /* of one point */

static int knobs_of(const MerExplorer *e)
{
    return e->tuner.search->space->knob_count;
}

static bool is_sized(const MerKnob *knob)
{
    return knob->values != NULL && knob->choices > 1;
}

/* Pairs of knobs whose product the trees see: sizes of tiles are products. */
static void pair_knobs(MerExplorer *e)
{
    const MerSpace *space = e->tuner.search->space;
    int             knobs = space->knob_count, sized = 0;
    for (int k = 0; k < knobs; k++) {
        sized += is_sized(&space->knobs[k]);
    }
    e->columns = knobs;
    if (e->options.features == 0 || sized > MOST_PAIRED) {
        return;
    }
    e->pairs = MER_ARRAY(e->tuner.search->arena, int, sized *(sized - 1) + 1);
    for (int a = 0; a < knobs; a++) {
        for (int b = a + 1; b < knobs; b++) {
            if (is_sized(&space->knobs[a]) && is_sized(&space->knobs[b])) {
                int *pair = e->pairs + 2 * (e->columns++ - knobs);
                pair[0] = a;
                pair[1] = b;
            }
        }
    }
}

static void fill_rows(const MerExplorer *e, int count, const MerIndex *points, float *rows)
{
    int knobs = knobs_of(e);
    for (int i = 0; i < count; i++) {
        float *row = rows + (int64_t)i * e->columns;
        mer_tuner_features(&e->tuner, 1, points + (int64_t)i * knobs, row);
        for (int c = knobs; c < e->columns; c++) {
            const int *pair = e->pairs + 2 * (c - knobs);
            row[c] = row[pair[0]] * row[pair[1]];
        }
    }
}

void mer_explorer_predict(const MerExplorer *e, int count, const MerIndex *points, float *values)
{
    float *rows = mer_heap_zeroed((size_t)count * (size_t)e->columns + 1, sizeof *rows);
    fill_rows(e, count, points, rows);
    mer_trees_predict(&e->trees, count, rows, values);
    free(rows);
}

void mer_explorer_opinions(const MerExplorer *e, int count, const MerIndex *points,
                           MerOpinion *list)
{
    int    knobs = knobs_of(e);
    float *values = mer_heap_zeroed((size_t)count + 1, sizeof *values);
    mer_explorer_predict(e, count, points, values);
    for (int i = 0; i < count; i++) {
        const MerIndex *point = points + (int64_t)i * knobs;
        list[i] = (MerOpinion){.surrogate = values[i],
                               .critic = NAN,
                               .is_dropped = mer_visited_has(&e->seen, point, knobs) &&
                                             !mer_visited_has(&e->tuner.visited, point, knobs)};
    }
    free(values);
}

static MerStatus fit(MerExplorer *e, MerError *error)
{
    int    count = e->tuner.count;
    float *rows = mer_heap_zeroed((size_t)count * (size_t)e->columns + 1, sizeof *rows);
    float *labels = mer_heap_zeroed((size_t)count + 1, sizeof *labels);
    fill_rows(e, count, e->tuner.points, rows);
    mer_tuner_labels(&e->tuner, labels);
    MerTreeSpec spec = mer_tree_spec(MER_TREES_REGRESSION, 64);
    MerTreeData data = {count, e->columns, rows, labels, NULL};
    MerStatus   status = mer_trees_train(&e->trees, &spec, &data, error);
    free(labels);
    free(rows);
    return status;
}

static void begin(MerExplorer *e, const MerSearch *search)
{
    mer_tuner_open(&e->tuner, search, (int)e->options.initial);
    e->owner = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    e->is_divided = false;
    e->count = 0;
    pair_knobs(e);
}

void mer_explorer_open(MerExplorer *e, const MerSearch *search, const MerExplorerOptions *options)
{
    *e = (MerExplorer){.options = *options};
    MerAgentOptions *team = &e->options.team;
    team->adam_epsilon = 1e-5;
    team->entropy_end = team->entropy;
    team->baseline_decay = 0.9;
    team->central = options->critic == MER_CRITIC_CENTRAL;
    team->ratio = 1; /* of every knob */
    team->standardise = true;
    begin(e, search);
}

static void drop_candidates(MerExplorer *e)
{
    mer_visited_clear(&e->seen);
    free(e->points);
    free(e->values);
    e->points = NULL;
    e->values = NULL;
    e->count = e->capacity = 0;
}

void mer_explorer_close(MerExplorer *e)
{
    mer_tuner_close(&e->tuner);
    drop_candidates(e);
    mer_trees_clear(&e->trees);
    mer_team_free(e->team);
    e->team = NULL;
    free(e->aside);
    e->aside = NULL;
}

static void add_candidate(MerExplorer *e, const MerIndex *point, float value)
{
    const MerSpace *space = e->tuner.search->space;
    if (e->count == e->capacity) {
        e->capacity = 2 * e->capacity + 1024;
        e->points = mer_heap_resize(e->points, (size_t)e->capacity, mer_point_bytes(space) + 1);
        e->values = mer_heap_resize(e->values, (size_t)e->capacity, sizeof *e->values);
    }
    mer_point_copy(space, mer_point_at(space, e->points, e->count), point);
    e->values[e->count++] = value;
}

/* Records of the best points, best first. */
static int best_records(const MerExplorer *e, int *records)
{
    int *order = mer_heap_zeroed((size_t)e->tuner.count + 1, sizeof *order);
    int  feasible = mer_sort_order(e->tuner.scores, e->tuner.count, order);
    int  count = feasible < ELITES ? feasible : ELITES;
    memcpy(records, order, (size_t)count * sizeof *records);
    free(order);
    return count;
}

static void start_walk(const MerExplorer *e, const int *records, int count, MerIndex *point)
{
    MerRng         *rng = e->tuner.search->rng;
    const MerSpace *space = e->tuner.search->space;
    bool            is_elite = count > 0 && mer_rng_unit(rng) < e->options.elite;
    for (int i = 0; i < START_TRIES; i++) {
        if (is_elite) { /* with one knob anywhere: steps of one choice do not cross valleys */
            int record = records[mer_rng_below(rng, count)], k = mer_rng_below(rng, knobs_of(e));
            mer_point_copy(space, point, mer_point_at(space, e->tuner.points, record));
            point[k] = mer_rng_below(rng, space->knobs[k].choices);
        } else {
            mer_space_sample(space, rng, point);
        }
        if (mer_tuner_is_legal(&e->tuner, point)) {
            return;
        }
    }
}

/* Moves by one choice each; true: at least three quarters of the knobs did not move, which ends an
 * episode. */
static bool move(const MerExplorer *e, const int *actions, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int             still = 0;
    for (int k = 0; k < space->knob_count; k++) {
        MerIndex next = point[k] + actions[k] - MER_WALK_STAY;
        bool     is_inside = next >= 0 && next < space->knobs[k].choices;
        still += actions[k] == MER_WALK_STAY || !is_inside;
        point[k] = is_inside ? next : point[k];
    }
    return 4 * still >= 3 * space->knob_count;
}

typedef struct Walk {
    MerIndex *points;  /* (walkers, knobs) */
    double   *rewards; /* (steps, walkers) */
    float    *values, *features;
    bool     *ended;
    int      *actions;
    int       records[ELITES], record_count;
} Walk;

/* Rewards of where all walkers stand now, and candidates among them. */
static void reward_step(MerExplorer *e, Walk *walk, int64_t step)
{
    int walkers = (int)e->options.team.lanes, knobs = knobs_of(e);
    mer_explorer_predict(e, walkers, walk->points, walk->values);
    for (int w = 0; w < walkers; w++) {
        MerIndex *point = walk->points + (int64_t)w * knobs;
        bool      is_legal = mer_tuner_is_legal(&e->tuner, point);
        walk->rewards[step * walkers + w] = is_legal ? walk->values[w] : -1;
        e->forbidden += !is_legal;
        if (mer_visited_add(&e->seen, point, knobs)) {
            e->repeated++;
        } else if (is_legal && !mer_visited_has(&e->tuner.visited, point, knobs)) {
            add_candidate(e, point, walk->values[w]);
        }
    }
    e->steps += walkers;
}

static void step_walk(MerExplorer *e, Walk *walk, int64_t step)
{
    int walkers = (int)e->options.team.lanes, knobs = knobs_of(e);
    for (int w = 0; w < walkers; w++) {
        MerIndex *point = walk->points + (int64_t)w * knobs;
        if (walk->ended[w]) {
            start_walk(e, walk->records, walk->record_count, point);
        }
        mer_explorer_fill_features(e, point, walk->features);
        mer_team_see(e->team, w, walk->features);
    }
    for (int w = 0; w < walkers; w++) {
        mer_team_move(e->team, e->tuner.search->rng, w, NULL, false, walk->actions);
        walk->ended[w] = move(e, walk->actions, walk->points + (int64_t)w * knobs);
        if (walk->ended[w]) {
            mer_team_end(e->team, w);
        }
    }
    reward_step(e, walk, step);
}

/* Offers a point that no walker came to. */
static void offer(MerExplorer *e, const MerIndex *point)
{
    if (!mer_visited_add(&e->seen, point, knobs_of(e)) && mer_tuner_is_new(&e->tuner, point)) {
        add_candidate(e, point, 0);
    }
}

/* All choices of one knob, then of each later knob with it. */
static void offer_neighbours(MerExplorer *e, const MerIndex *centre, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int             knobs = space->knob_count;
    mer_point_copy(space, point, centre);
    for (int a = 0; a < knobs; a++) {
        for (point[a] = 0; point[a] < space->knobs[a].choices; point[a]++) {
            offer(e, point);
            for (int b = a + 1; b < knobs && point[a] != centre[a]; b++) {
                for (point[b] = 0; point[b] < space->knobs[b].choices; point[b]++) {
                    offer(e, point);
                }
                point[b] = centre[b];
            }
        }
        point[a] = centre[a];
    }
}

static void add_neighbours(MerExplorer *e, const int *records, int count, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int64_t         size = 0;
    int             first = e->count;
    for (int k = 0; k < space->knob_count; k++) {
        size += space->knobs[k].choices;
    }
    for (int i = 0; i < count && i < e->options.neighbours && size * size <= 2 * MOST_NEIGHBOURS;
         i++) {
        offer_neighbours(e, mer_tuner_point(&e->tuner, e->tuner.points, records[i]), point);
    }
    if (e->count > first) {
        mer_explorer_predict(e, e->count - first, mer_tuner_point(&e->tuner, e->points, first),
                             e->values + first);
    }
}

static void walk(MerExplorer *e)
{
    int64_t   walkers = e->options.team.lanes, steps = e->options.team.unroll;
    MerArena *scratch = mer_arena_new();
    drop_candidates(e);
    e->steps = e->repeated = e->forbidden = 0;
    mer_explorer_share_out(e);
    Walk walk = {.points = MER_ARRAY(scratch, MerIndex, walkers * knobs_of(e) + 1),
                 .rewards = MER_ARRAY(scratch, double, steps *walkers),
                 .values = MER_ARRAY(scratch, float, walkers),
                 .features = MER_ARRAY(scratch, float, mer_explorer_feature_count(e) + 1),
                 .ended = MER_ARRAY(scratch, bool, walkers),
                 .actions = MER_ARRAY(scratch, int, knobs_of(e) + 1)};
    walk.record_count = best_records(e, walk.records);
    memset(walk.ended, true, (size_t)walkers * sizeof *walk.ended); /* all begin anew */
    bool is_cancelled = false;
    for (int64_t step = 0; step < steps; step++) {
        step_walk(e, &walk, step);
        is_cancelled = is_cancelled || mer_is_cancelled(e->tuner.search->notes);
        mer_team_step(e->team);
    }
    add_neighbours(e, walk.records, walk.record_count, walk.points);
    if (is_cancelled || !e->options.updates) {
        mer_team_rewind(e->team);
    } else {
        mer_team_learn(e->team, walk.rewards, 0, e->tuner.search->rng);
    }
    mer_arena_free(scratch);
}

bool mer_explorer_walk(MerExplorer *e)
{
    MerError error = {0};
    if (e->tuner.best < 0 || knobs_of(e) == 0) {
        return false;
    }
    MerStatus status = fit(e, &error);
    if (status == MER_OK) {
        walk(e);
        status = mer_team_status(e->team, &error);
    }
    if (status != MER_OK) {
        mer_note_failure(e->tuner.search->notes, &error);
        e->is_failed = true;
    }
    return status == MER_OK;
}

/* The same knobs move in the same way whatever their choices are: the team goes on as it is. */
MerStatus mer_explorer_next_task(MerExplorer *e, const MerSearch *search, MerError *error)
{
    int  knobs = knobs_of(e), *owner = e->owner;
    bool is_divided = e->is_divided;
    if (e->team != NULL && knobs != search->space->knob_count && knobs >= e->aside_knobs) {
        MER_TRY(mer_explorer_put_aside(e, error));
    }
    mer_tuner_close(&e->tuner);
    drop_candidates(e);
    mer_trees_clear(&e->trees);
    begin(e, search);
    if (e->team != NULL && knobs == knobs_of(e)) {
        memcpy(e->owner, owner, (size_t)knobs * sizeof *owner);
        e->is_divided = is_divided;
    } else {
        mer_team_free(e->team);
        e->team = NULL;
    }
    return MER_OK;
}
