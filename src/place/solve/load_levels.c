/* Heavy-edge matching (Karypis and Kumar, 1998): each part, in random order, takes the free neighbour with which it would exchange most,
 * for its size. */
#include "place/solve/load_levels.h"

#include <string.h>

/* Parts are joined down to about this many per unit, and while each stays a small share of what a unit should do. */
enum { PARTS_PER_UNIT = 9, SHARES_PER_UNIT = 6 };

typedef struct Matching {
    const MerLoadTables *tables;
    const int           *unit;     /* of each part; NULL: any */
    double              *work;     /* least time of each part, ticks */
    double              *transfer; /* largest of each result, ticks */
    double               limit;    /* of the work of a joined part */
    int                 *mate;     /* of each part, -1: none */
    double              *weight;   /* of each neighbour, while one is chosen */
    int                 *met;
} Matching;

static double least_work(const MerLoadTables *tables, int part)
{
    const int64_t *row = tables->part_ticks + (size_t)part * (size_t)tables->place->unit_count;
    int64_t        least = INT64_MAX;
    for (int i = tables->choice_start[part]; i < tables->choice_start[part + 1]; i++) {
        least = row[tables->choices[i]] < least ? row[tables->choices[i]] : least;
    }
    return (double)least;
}

static double dearest(const MerLoadTables *tables, int result)
{
    const int64_t *row = tables->move_ticks + (size_t)result * (size_t)tables->place->unit_count;
    int64_t        most = 0;
    for (int u = 0; u < tables->place->unit_count; u++) {
        most = row[u] > most ? row[u] : most;
    }
    return (double)most;
}

/* A unit that both may take and whose memory they leave mostly free. */
static bool fit_together(const Matching *m, int a, int b)
{
    const MerLoadTables *tables = m->tables;
    int                  i = tables->choice_start[a], k = tables->choice_start[b];
    if (m->unit && m->unit[a] != m->unit[b]) {
        return false;
    }
    while (i < tables->choice_start[a + 1] && k < tables->choice_start[b + 1]) {
        int one = tables->choices[i], two = tables->choices[k];
        if (one == two && 4 * (tables->bytes[a] + tables->bytes[b]) <= tables->place->limit[one]) {
            return true;
        }
        i += one <= two;
        k += two <= one;
    }
    return false;
}

static void meet(Matching *m, int other, double weight, int *count)
{
    if (m->weight[other] == 0) {
        m->met[(*count)++] = other;
    }
    m->weight[other] += weight + 1;
}

static int choose_mate(Matching *m, int part)
{
    const MerLoadTables *tables = m->tables;
    int                  count = 0, best = -1;
    double               best_rate = 0;
    for (int r = tables->made_start[part]; r < tables->made_start[part + 1]; r++) {
        for (int i = tables->user_start[r]; i < tables->user_start[r + 1]; i++) {
            meet(m, tables->users[i], m->transfer[r] / mer_result_users(tables, r), &count);
        }
    }
    for (int i = tables->used_start[part]; i < tables->used_start[part + 1]; i++) {
        int r = tables->used[i];
        meet(m, tables->maker[r], m->transfer[r] / mer_result_users(tables, r), &count);
    }
    for (int i = 0; i < count; i++) {
        int    other = m->met[i];
        double rate = m->weight[other] / (1 + sqrt(m->work[other]));
        m->weight[other] = 0;
        if (rate > best_rate && m->mate[other] < 0 && m->work[part] + m->work[other] <= m->limit &&
            fit_together(m, part, other)) {
            best_rate = rate;
            best = other;
        }
    }
    return best;
}

/* The unit of each part, where all its groups have the same. */
static const int *part_units(const MerLoadTables *tables, const int *unit, MerArena *arena)
{
    int *of_part = unit ? MER_ARRAY(arena, int, tables->part_count + 1) : NULL;
    for (int g = 0; unit && g < tables->place->group_count; g++) {
        of_part[tables->part_of[g]] = unit[g];
    }
    return of_part;
}

static void prepare(Matching *m, MerArena *scratch)
{
    const MerLoadTables *tables = m->tables;
    int                  parts = tables->part_count, workers = tables->place->accelerator_count;
    double               all = 0;
    m->work = MER_ARRAY(scratch, double, parts + 1);
    m->weight = MER_ARRAY(scratch, double, parts + 1);
    m->mate = MER_ARRAY(scratch, int, parts + 1);
    m->met = MER_ARRAY(scratch, int, parts + 1);
    m->transfer = MER_ARRAY(scratch, double, tables->result_count + 1);
    for (int p = 0; p < parts; p++) {
        m->work[p] = least_work(tables, p);
        m->mate[p] = -1;
        all += m->work[p];
    }
    for (int r = 0; r < tables->result_count; r++) {
        m->transfer[r] = dearest(tables, r);
    }
    m->limit = all / (workers > 0 ? workers : tables->place->unit_count) / SHARES_PER_UNIT;
}

/* New parts of the groups, and how many; parts keep the order of their first groups. */
static int join(const Matching *m, int *part_of, MerArena *scratch)
{
    const MerLoadTables *tables = m->tables;
    int                 *joined = MER_ARRAY(scratch, int, tables->part_count + 1);
    int                  count = 0;
    for (int p = 0; p < tables->part_count; p++) {
        bool is_second = m->mate[p] >= 0 && m->mate[p] < p;
        joined[p] = is_second ? joined[m->mate[p]] : count++;
    }
    for (int g = 0; g < tables->place->group_count; g++) {
        part_of[g] = joined[tables->part_of[g]];
    }
    return count;
}

static int coarsen(const MerLoadTables *tables, const int *unit, MerRng *rng, int *part_of)
{
    MerArena *scratch = mer_arena_new();
    Matching  m = {.tables = tables, .unit = part_units(tables, unit, scratch)};
    int      *order = MER_ARRAY(scratch, int, tables->part_count + 1);
    prepare(&m, scratch);
    for (int p = 0; p < tables->part_count; p++) {
        order[p] = p;
    }
    mer_rng_shuffle(rng, order, tables->part_count);
    for (int i = 0; i < tables->part_count; i++) {
        int mate = m.mate[order[i]] < 0 ? choose_mate(&m, order[i]) : -1;
        if (mate >= 0) {
            m.mate[order[i]] = mate;
            m.mate[mate] = order[i];
        }
    }
    int count = join(&m, part_of, scratch);
    mer_arena_free(scratch);
    return count;
}

void mer_load_levels_build(MerLoadLevels *levels, const MerLoadTables *finest,
                           const MerPlaceRules *rules, const int *unit, MerRng *rng,
                           MerArena *arena)
{
    const MerPlace *place = finest->place;
    int            *part_of = MER_ARRAY(arena, int, place->group_count + 1);
    int             least = PARTS_PER_UNIT * place->unit_count;
    levels->count = 1;
    levels->tables[0] = finest;
    while (levels->count < MER_LOAD_LEVELS) {
        const MerLoadTables *last = levels->tables[levels->count - 1];
        if (last->part_count <= least ||
            coarsen(last, unit, rng, part_of) > 0.95 * last->part_count) {
            return;
        }
        levels->tables[levels->count++] = mer_load_tables_new(place, rules, part_of, arena);
    }
}
