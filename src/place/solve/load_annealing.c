/* Simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983) on loads that are kept up to date move by move. */
#include "place/solve/load_annealing.h"

#include <string.h>

/* A block that moves at once, and how far in the order of the graph its parts are looked for. */
enum { BLOCK = 8, REACH = 32, CHECK_EVERY = 1 << 16, COOL_EVERY = 64 };

typedef struct Walk {
    MerUnitLoads loads;
    MerRng      *rng;
    double score, scale; /* ticks: of the placement, and the mean load that temperatures refer to */
    double bytes_scale;  /* ticks per byte of excess */
    int    moved_count;
    int    moved[BLOCK], from[BLOCK]; /* of the last move: parts and the units they were on */
    int   *best;                      /* unit of each part */
    MerPlaceValue best_value;
} Walk;

/* The sixteenth norm of the loads: nearly the largest, but it also tells two placements apart that share their largest load, so that the
 * walk has a slope to follow. Missing memory costs time. */
static double score_of(const Walk *walk, double excess)
{
    int    units = walk->loads.tables->place->unit_count;
    double most = (double)mer_unit_loads_period(&walk->loads), sum = 0;
    for (int u = 0; u < units && most > 0; u++) {
        double part = (double)mer_unit_load(&walk->loads, u) / most;
        part *= part;
        part *= part;
        part *= part;
        sum += part * part;
    }
    return most * sqrt(sqrt(sqrt(sqrt(sum)))) + walk->bytes_scale * excess;
}

static bool may_take(const MerLoadTables *tables, int part, int unit)
{
    int first = tables->choice_start[part], end = tables->choice_start[part + 1];
    if (end - first == tables->place->unit_count) {
        return true;
    }
    while (first < end && tables->choices[first] != unit) {
        first++;
    }
    return first < end;
}

static void move(Walk *walk, int part, int unit)
{
    walk->moved[walk->moved_count] = part;
    walk->from[walk->moved_count++] = walk->loads.unit[part];
    mer_unit_loads_move(&walk->loads, part, unit);
}

static void undo(Walk *walk)
{
    while (walk->moved_count > 0) {
        walk->moved_count--;
        mer_unit_loads_move(&walk->loads, walk->moved[walk->moved_count],
                            walk->from[walk->moved_count]);
    }
}

/* The unit of a part next to this one; that of the part itself if it has no neighbours. */
static int unit_nearby(const Walk *walk, int part)
{
    const MerLoadTables *tables = walk->loads.tables;
    int                  first = tables->near_start[part];
    int                  count = tables->near_start[part + 1] - first;
    return count > 0 ? walk->loads.unit[tables->near[first + mer_rng_below(walk->rng, count)]]
                     : walk->loads.unit[part];
}

/* A border between two units shifts: up to BLOCK parts that follow this one in the order of the graph, or come before it, go over. */
static void shift_border(Walk *walk, int part, int unit)
{
    const MerLoadTables *tables = walk->loads.tables;
    int                  from = walk->loads.unit[part];
    int                  most = 1 + mer_rng_below(walk->rng, BLOCK);
    int                  step = mer_rng_below(walk->rng, 2) ? 1 : -1;
    for (int i = 0, p = part; i < REACH && p >= 0 && p < tables->part_count; i++, p += step) {
        if (walk->loads.unit[p] == from && may_take(tables, p, unit) && walk->moved_count < most) {
            move(walk, p, unit);
        }
    }
}

/* One random change; moved_count stays 0 if it would change nothing. */
static void change(Walk *walk)
{
    const MerLoadTables *tables = walk->loads.tables;
    double               kind = mer_rng_unit(walk->rng);
    int                  part = mer_rng_below(walk->rng, tables->part_count);
    int                  from = walk->loads.unit[part];
    walk->moved_count = 0;
    if (kind < 0.25) { /* exchange with another part */
        int other = mer_rng_below(walk->rng, tables->part_count);
        int unit = walk->loads.unit[other];
        if (unit != from && may_take(tables, part, unit) && may_take(tables, other, from)) {
            move(walk, part, unit);
            move(walk, other, from);
        }
        return;
    }
    int count = tables->choice_start[part + 1] - tables->choice_start[part];
    int unit = kind < 0.7
                   ? unit_nearby(walk, part)
                   : tables->choices[tables->choice_start[part] + mer_rng_below(walk->rng, count)];
    if (unit == from || !may_take(tables, part, unit)) {
        return;
    }
    if (kind < 0.4) {
        shift_border(walk, part, unit);
    } else {
        move(walk, part, unit);
    }
}

static void keep_best(Walk *walk)
{
    MerPlaceValue value = mer_unit_loads_value(&walk->loads);
    if (mer_place_is_better(&value, &walk->best_value)) {
        walk->best_value = value;
        memcpy(walk->best, walk->loads.unit,
               (size_t)walk->loads.tables->part_count * sizeof *walk->best);
    }
}

/* The threshold of acceptance is drawn first, as list_annealing of `schedule` does. */
static void step(Walk *walk, double temperature)
{
    double threshold = walk->score - temperature * log(1 - mer_rng_unit(walk->rng));
    change(walk);
    if (walk->moved_count == 0) {
        return;
    }
    double score = score_of(walk, mer_unit_loads_excess(&walk->loads));
    if (score > threshold) {
        undo(walk);
        return;
    }
    walk->score = score;
    keep_best(walk);
}

/* Geometric cooling over `moves`; the number that was made. */
static int64_t cool(Walk *walk, int64_t moves, double hot, double cold, MerNotes *notes)
{
    double temperature = 0;
    for (int64_t i = 0; i < moves; i++) {
        if (i % COOL_EVERY == 0) {
            temperature = walk->scale * hot * pow(cold / hot, (double)i / (double)moves);
        }
        if (i % CHECK_EVERY == CHECK_EVERY - 1 && mer_is_cancelled(notes)) {
            return i;
        }
        step(walk, temperature);
    }
    return moves;
}

/* All work over all units that take it. */
static double mean_load(const MerLoadTables *tables)
{
    const MerPlace *place = tables->place;
    double          all = 0;
    for (int p = 0; p < tables->part_count; p++) {
        const int64_t *row = tables->part_ticks + (size_t)p * (size_t)place->unit_count;
        int64_t        least = INT64_MAX;
        for (int i = tables->choice_start[p]; i < tables->choice_start[p + 1]; i++) {
            least = row[tables->choices[i]] < least ? row[tables->choices[i]] : least;
        }
        all += (double)least;
    }
    all /= place->accelerator_count > 0 ? place->accelerator_count : place->unit_count;
    return fmax(1, all); /* memory counts even where nothing takes time */
}

static void begin_walk(Walk *walk, const MerLoadTables *tables, const int *unit, MerRng *rng,
                       MerArena *arena)
{
    double memory = 0;
    int    limited = 0;
    int   *of_part = MER_ARRAY(arena, int, tables->part_count + 1);
    *walk = (Walk){.rng = rng,
                   .scale = mean_load(tables),
                   .best = MER_ARRAY(arena, int, tables->part_count + 1),
                   .best_value = {INFINITY, INFINITY}};
    for (int u = 0; u < tables->place->unit_count; u++) {
        if (isfinite(tables->place->limit[u])) {
            memory += tables->place->limit[u];
            limited++;
        }
    }
    /* a tenth of a unit's memory too much weighs as much as its whole load */
    walk->bytes_scale = memory > 0 ? 10 * walk->scale * limited / memory : 0;
    for (int g = 0; g < tables->place->group_count; g++) {
        of_part[tables->part_of[g]] = unit[g];
    }
    mer_unit_loads_begin(&walk->loads, tables, arena);
    mer_unit_loads_set(&walk->loads, of_part);
    walk->score = score_of(walk, mer_unit_loads_excess(&walk->loads));
    keep_best(walk);
}

static void scatter(const MerLoadTables *tables, MerRng *rng, int *unit, MerArena *arena)
{
    int *of_part = MER_ARRAY(arena, int, tables->part_count + 1);
    for (int p = 0; p < tables->part_count; p++) {
        int first = tables->choice_start[p];
        of_part[p] =
            tables->choices[first + mer_rng_below(rng, tables->choice_start[p + 1] - first)];
    }
    for (int g = 0; g < tables->place->group_count; g++) {
        unit[g] = of_part[tables->part_of[g]];
    }
}

/* Finer levels have more to decide: moves by the root of the number of parts. */
static double weight_of(const MerLoadTables *tables)
{
    return sqrt(tables->part_count);
}

/* The first temperature of a level: the coarsest begins hot, the finest three tenths above the end, on a logarithmic scale. */
static double first_temperature(const MerLoadAnnealing *a, int level, int levels)
{
    double done = levels > 1 ? 0.7 * (levels - 1 - level) / (levels - 1) : 0;
    return a->hot * pow(a->cold / a->hot, done);
}

int64_t mer_load_anneal(const MerLoadAnnealing *a, MerRng *rng, int *unit, MerPlaceValue *value)
{
    MerArena     *arena = mer_arena_new();
    MerLoadLevels levels;
    double        all = 0;
    int64_t       made = 0;
    mer_load_levels_build(&levels, a->tables, a->rules, a->has_start ? unit : NULL, rng, arena);
    if (!a->has_start) {
        scatter(levels.tables[levels.count - 1], rng, unit, arena);
    }
    for (int k = 0; k < levels.count; k++) {
        all += weight_of(levels.tables[k]);
    }
    for (int k = levels.count; k-- > 0;) {
        const MerLoadTables *tables = levels.tables[k];
        double               hot = first_temperature(a, k, levels.count);
        double               cold = k == 0 ? a->cold : fmax(a->cold, 0.02 * hot);
        MerArena            *memory = mer_arena_new();
        Walk                 walk;
        begin_walk(&walk, tables, unit, rng, memory);
        made +=
            cool(&walk, (int64_t)((double)a->moves * weight_of(tables) / all), hot, cold, a->notes);
        for (int g = 0; g < tables->place->group_count; g++) {
            unit[g] = walk.best[tables->part_of[g]];
        }
        *value = walk.best_value;
        mer_arena_free(memory);
    }
    mer_arena_free(arena);
    return made;
}
