/* Moves of parts of any size between units, of priorities and of levels of fusion, each priced by the evaluator. */
#include "place/solve/point_annealing.h"

#include <string.h>

enum { CHECK_EVERY = 64 };

typedef struct Knobs { /* the first of each role, -1: there are none */
    int priority, fuse, replicas;
} Knobs;

typedef struct Change {
    int      knob;
    MerIndex old;
} Change;

typedef struct Walk {
    const MerPointAnnealing *annealing;
    const MerPlace          *place;
    const MerSpace          *space;
    MerRng                  *rng;
    Knobs                    knobs;
    MerIndex                *point, *best;
    MerPlaceValue            value, best_value;
    Change                  *changes; /* of the last move */
    int                      change_count;
    int                    **start, **groups; /* of each level: groups by part */
} Walk;

static double score_of(const MerSearch *search, const MerCost *cost)
{
    const MerGoal *goal = search->goal;
    double value = goal ? goal->value(goal->state, cost->value) : cost->value[search->objective];
    int    direction = goal ? goal->direction : mer_metric_info(search->objective)->direction;
    return direction > 0 ? -value : value;
}

MerPlaceValue mer_point_price(const MerPointPricer *pricer, const MerIndex *point, double limit)
{
    const MerSearch *search = pricer->search;
    bool             can_cut =
        search->objective != MER_METRIC_COUNT && mer_metric_info(search->objective)->direction < 0;
    MerCall call = {.scratch = pricer->arena,
                    .limit_metric = can_cut ? search->objective : MER_METRIC_COUNT,
                    .limit = can_cut ? limit : INFINITY};
    MerCost cost;
    MerPlan plan;
    pricer->problem->type->decode(pricer->problem, point, &plan, pricer->arena);
    pricer->evaluator->type->evaluate(pricer->evaluator->state, &plan, &call, &cost);
    mer_arena_reset(pricer->arena);
    double score = score_of(search, &cost);
    if (!cost.feasible || isnan(score)) {
        return (MerPlaceValue){INFINITY, INFINITY};
    }
    return (MerPlaceValue){0, cost.cut ? INFINITY : score};
}

static int first_knob(const MerSpace *space, MerRole role)
{
    for (int k = 0; k < space->knob_count; k++) {
        if (space->knobs[k].role == role) {
            return k;
        }
    }
    return -1;
}

static void set(Walk *walk, int knob, MerIndex choice)
{
    if (walk->point[knob] != choice) {
        walk->changes[walk->change_count++] = (Change){knob, walk->point[knob]};
        walk->point[knob] = choice;
    }
}

static void undo(Walk *walk)
{
    while (walk->change_count > 0) {
        Change change = walk->changes[--walk->change_count];
        walk->point[change.knob] = change.old;
    }
}

/* The choice of a group that is `unit`; -1: it may not go there. */
static int choice_of(const MerPlace *place, int group, int unit)
{
    for (int i = place->choice_start[group]; i < place->choice_start[group + 1]; i++) {
        if (place->choices[i] == unit) {
            return i - place->choice_start[group];
        }
    }
    return -1;
}

static int unit_of(const Walk *walk, int group)
{
    return walk->place->choices[walk->place->choice_start[group] + walk->point[group]];
}

/* Groups of a random part of a random level; fine levels are as likely as coarse ones. */
static int *draw_part(Walk *walk, int *count, int *level, int *part)
{
    *level = mer_rng_below(walk->rng, walk->annealing->levels->count);
    *part = mer_rng_below(walk->rng, walk->annealing->levels->tables[*level]->part_count);
    int first = walk->start[*level][*part];
    *count = walk->start[*level][*part + 1] - first;
    return walk->groups[*level] + first;
}

/* Most often where a neighbour is. */
static int draw_unit(const Walk *walk, int level, int part)
{
    const MerLoadTables *tables = walk->annealing->levels->tables[level];
    int                  near = tables->near_start[part + 1] - tables->near_start[part];
    int                  first = tables->choice_start[part];
    if (near > 0 && mer_rng_below(walk->rng, 4) > 0) {
        int other = tables->near[tables->near_start[part] + mer_rng_below(walk->rng, near)];
        return unit_of(walk, walk->groups[level][walk->start[level][other]]);
    }
    return tables
        ->choices[first + mer_rng_below(walk->rng, tables->choice_start[part + 1] - first)];
}

static void move_part(Walk *walk)
{
    int  count, level, part;
    int *groups = draw_part(walk, &count, &level, &part);
    int  unit = draw_unit(walk, level, part);
    for (int i = 0; i < count; i++) {
        int choice = choice_of(walk->place, groups[i], unit);
        if (choice >= 0) {
            set(walk, groups[i], choice);
        }
    }
}

static void swap_groups(Walk *walk)
{
    int a = mer_rng_below(walk->rng, walk->place->group_count);
    int b = mer_rng_below(walk->rng, walk->place->group_count);
    int of_a = choice_of(walk->place, a, unit_of(walk, b));
    int of_b = choice_of(walk->place, b, unit_of(walk, a));
    if (of_a >= 0 && of_b >= 0) {
        set(walk, a, of_a);
        set(walk, b, of_b);
    }
}

/* Levels of one operator, or of all operators of a part, near what they are or anywhere; to zero now and then. */
static void change_levels(Walk *walk, int first_knob_of_role)
{
    const MerPlace *place = walk->place;
    int             count, level, part, levels = place->levels;
    int            *groups = draw_part(walk, &count, &level, &part);
    int             step = mer_rng_below(walk->rng, 5) - 2;
    bool            is_new = step == 0;
    int chosen = mer_rng_below(walk->rng, 4) == 0 ? 0 : mer_rng_below(walk->rng, levels);
    if (mer_rng_below(walk->rng, 2) == 0) {
        groups += mer_rng_below(walk->rng, count);
        count = 1;
    }
    for (int i = 0; i < count; i++) {
        for (int m = place->member_start[groups[i]]; m < place->member_start[groups[i] + 1]; m++) {
            int knob = first_knob_of_role + place->members[m];
            int to = is_new ? chosen : walk->point[knob] + step;
            set(walk, knob, to < 0 ? 0 : to < levels ? to : levels - 1);
        }
    }
}

static void change_replicas(Walk *walk)
{
    int knob = walk->knobs.replicas + mer_rng_below(walk->rng, walk->place->unit_count);
    set(walk, knob, mer_rng_below(walk->rng, walk->space->knobs[knob].choices));
}

static bool is_kept(const Walk *walk, MerRole role)
{
    return walk->annealing->kept >> role & 1;
}

/* One random change of what the space decides; change_count stays 0 if it would change nothing. */
static void change(Walk *walk)
{
    double kind = is_kept(walk, MER_ROLE_UNIT) ? 0 : mer_rng_unit(walk->rng);
    walk->change_count = 0;
    if (walk->knobs.priority >= 0 && !is_kept(walk, MER_ROLE_PRIORITY) && kind < 0.25) {
        change_levels(walk, walk->knobs.priority);
    } else if (walk->knobs.fuse >= 0 && !is_kept(walk, MER_ROLE_FUSE) && kind < 0.5) {
        change_levels(walk, walk->knobs.fuse);
    } else if (walk->knobs.replicas >= 0 && kind < 0.6) {
        change_replicas(walk);
    } else if (kind > 0.9) {
        swap_groups(walk);
    } else {
        move_part(walk);
    }
}

static void keep_best(Walk *walk)
{
    if (mer_place_is_better(&walk->value, &walk->best_value)) {
        walk->best_value = walk->value;
        memcpy(walk->best, walk->point, (size_t)walk->space->knob_count * sizeof *walk->best);
    }
}

/* While nothing legal has been found any change is taken. */
static void step(Walk *walk, double temperature)
{
    double threshold = walk->value.score - temperature * log(1 - mer_rng_unit(walk->rng));
    for (int tries = 0; tries < 16; tries++) {
        change(walk);
        if (walk->change_count > 0) {
            break;
        }
    }
    MerPlaceValue value = mer_point_price(&walk->annealing->pricer, walk->point, threshold);
    if (value.excess > walk->value.excess || value.score > threshold) {
        undo(walk);
        return;
    }
    walk->value = value;
    keep_best(walk);
}

/* Groups of each level by part. */
static void list_groups(Walk *walk, MerArena *arena)
{
    const MerLoadLevels *levels = walk->annealing->levels;
    int                  groups = walk->place->group_count;
    walk->start = MER_ARRAY(arena, int *, levels->count);
    walk->groups = MER_ARRAY(arena, int *, levels->count);
    for (int k = 0; k < levels->count; k++) {
        const MerLoadTables *tables = levels->tables[k];
        int                 *start = MER_ARRAY(arena, int, tables->part_count + 2);
        walk->groups[k] = MER_ARRAY(arena, int, groups + 1);
        walk->start[k] = start;
        for (int g = 0; g < groups; g++) {
            start[tables->part_of[g] + 2]++;
        }
        for (int p = 0; p < tables->part_count; p++) {
            start[p + 2] += start[p + 1];
        }
        for (int g = 0; g < groups; g++) {
            walk->groups[k][start[tables->part_of[g] + 1]++] = g;
        }
    }
}

int64_t mer_point_anneal(const MerPointAnnealing *a, MerRng *rng, MerIndex *point,
                         MerPlaceValue *value)
{
    MerArena       *arena = mer_arena_new();
    const MerSpace *space = &a->pricer.problem->space;
    Walk            walk = {.annealing = a,
                            .place = mer_place_of(a->pricer.problem),
                            .space = space,
                            .rng = rng,
                            .knobs = {first_knob(space, MER_ROLE_PRIORITY), first_knob(space, MER_ROLE_FUSE),
                                      first_knob(space, MER_ROLE_REPLICAS)},
                            .point = point,
                            .best = MER_ARRAY(arena, MerIndex, space->knob_count + 1),
                            .best_value = {INFINITY, INFINITY},
                            .changes = MER_ARRAY(arena, Change, space->knob_count + 2)};
    list_groups(&walk, arena);
    memcpy(walk.best, point, (size_t)space->knob_count * sizeof *point);
    walk.value = mer_point_price(&a->pricer, point, INFINITY);
    keep_best(&walk);
    double  scale = isfinite(walk.value.score) ? fabs(walk.value.score) : 0;
    int64_t made = 1;
    for (; made < a->evaluations; made++) {
        if (made % CHECK_EVERY == 0 && mer_is_cancelled(a->pricer.search->notes)) {
            break;
        }
        double done = (double)made / (double)a->evaluations;
        scale = scale > 0 || isinf(walk.value.score) ? scale : fabs(walk.value.score);
        step(&walk, scale * a->hot * pow(a->cold / a->hot, done));
    }
    memcpy(point, walk.best, (size_t)space->knob_count * sizeof *point);
    *value = walk.best_value;
    mer_arena_free(arena);
    return made;
}
