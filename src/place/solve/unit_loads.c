/* Loads after moves of single groups: of each result and unit is known how many groups there read it. */
#include "place/solve/unit_loads.h"

#include <string.h>

static int part_of_op(const MerLoadTables *tables, int op)
{
    return tables->part_of[tables->place->group[op]];
}

/* Results that never cost a transfer cannot change a load. */
static bool is_free(const MerLoadTables *tables, int op)
{
    const MerPlace *place = tables->place;
    for (int u = 0; tables->has_transfers && u < place->unit_count; u++) {
        if (place->transfer_us[(size_t)op * (size_t)place->unit_count + (size_t)u] > 0) {
            return false;
        }
    }
    return true;
}

/* The largest finite value of a row of unit times. */
static double largest(const double *row, int units)
{
    double most = 0;
    for (int u = 0; u < units; u++) {
        most = isfinite(row[u]) && row[u] > most ? row[u] : most;
    }
    return most;
}

/* A power of two such that no load can leave 61 bits: all groups and all transfers at their longest. */
static double choose_tick(const MerPlace *place)
{
    size_t units = (size_t)place->unit_count;
    double all = 1e-9;
    for (int g = 0; g < place->group_count; g++) {
        all += largest(place->group_us + (size_t)g * units, place->unit_count);
    }
    for (int o = 0; o < place->op_count; o++) {
        all += largest(place->transfer_us + (size_t)o * units, place->unit_count);
    }
    int exponent;
    frexp(all, &exponent);
    return ldexp(1, exponent - 60);
}

static int64_t ticks_of(const MerLoadTables *tables, double us)
{
    return isfinite(us) ? llrint(us / tables->us_per_tick) : 0;
}

/* Lists of lists: counts at start[key + 2] become starts at start[key + 1], which run to those of the next key while the
 * lists are filled. */
static void add_up(int *start, int keys)
{
    for (int k = 0; k < keys; k++) {
        start[k + 2] += start[k + 1];
    }
}

/* Operators of each part, in the order of the graph: start[part] .. start[part + 1] - 1. */
static int *list_ops(const MerLoadTables *tables, int *start, MerArena *arena)
{
    int  count = tables->place->op_count;
    int *ops = MER_ARRAY(arena, int, count + 1);
    for (int o = 0; o < count; o++) {
        start[part_of_op(tables, o) + 2]++;
    }
    add_up(start, tables->part_count);
    for (int o = 0; o < count; o++) {
        ops[start[part_of_op(tables, o) + 1]++] = o;
    }
    return ops;
}

/* Parts that read the result of an operator, its own left out, each once; how many. `seen` remembers by operator. */
static int find_users(const MerLoadTables *tables, int op, int *seen, int *users)
{
    const MerPlace *place = tables->place;
    int             count = 0, home = part_of_op(tables, op);
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int part = part_of_op(tables, place->after[i]);
        if (part != home && seen[part] != op + 1) {
            seen[part] = op + 1;
            users[count++] = part;
        }
    }
    return count;
}

/* Results in the order of their makers, so that those of one part lie together. */
static void list_results(MerLoadTables *tables, int *op_of, MerArena *scratch)
{
    int *start = MER_ARRAY(scratch, int, tables->part_count + 2);
    int *seen = MER_ARRAY(scratch, int, tables->part_count + 1);
    int *ops = list_ops(tables, start, scratch);
    for (int p = 0; p < tables->part_count; p++) {
        tables->made_start[p] = tables->result_count;
        for (int i = start[p]; i < start[p + 1]; i++) {
            int end = tables->user_start[tables->result_count];
            int count =
                is_free(tables, ops[i]) ? 0 : find_users(tables, ops[i], seen, tables->users + end);
            if (count > 0) {
                tables->maker[tables->result_count] = p;
                op_of[tables->result_count] = ops[i];
                tables->user_start[++tables->result_count] = end + count;
            }
        }
    }
    tables->made_start[tables->part_count] = tables->result_count;
}

static void list_used(MerLoadTables *tables, MerArena *arena)
{
    int count = tables->user_start[tables->result_count];
    tables->used_start = MER_ARRAY(arena, int, tables->part_count + 2);
    tables->used = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        tables->used_start[tables->users[i] + 2]++;
    }
    add_up(tables->used_start, tables->part_count);
    for (int r = 0; r < tables->result_count; r++) {
        for (int i = tables->user_start[r]; i < tables->user_start[r + 1]; i++) {
            tables->used[tables->used_start[tables->users[i] + 1]++] = r;
        }
    }
}

static void fill_moves(MerLoadTables *tables, const int *op_of, MerArena *arena)
{
    const MerPlace *place = tables->place;
    size_t          units = (size_t)place->unit_count;
    tables->move_ticks = MER_ARRAY(arena, int64_t, (size_t)tables->result_count * units + 1);
    for (size_t r = 0; r < (size_t)tables->result_count; r++) {
        for (size_t u = 0; u < units; u++) {
            tables->move_ticks[r * units + u] =
                ticks_of(tables, place->transfer_us[(size_t)op_of[r] * units + u]);
        }
    }
}

/* Parts joined by an edge, whether it costs anything or not. */
static void list_near(MerLoadTables *tables, MerArena *arena, MerArena *scratch)
{
    const MerPlace *place = tables->place;
    int             count = 0;
    int            *start = MER_ARRAY(scratch, int, tables->part_count + 2);
    int            *ops = list_ops(tables, start, scratch);
    int            *seen = MER_ARRAY(scratch, int, tables->part_count + 1);
    tables->near_start = MER_ARRAY(arena, int, tables->part_count + 1);
    tables->near = MER_ARRAY(arena, int, 2 * (size_t)place->edge_count + 1);
    for (int p = 0; p < tables->part_count; p++) {
        tables->near_start[p] = count;
        seen[p] = p + 1;
        for (int i = start[p]; i < start[p + 1]; i++) {
            int after = place->after_start[ops[i] + 1] - place->after_start[ops[i]];
            int both = after + place->before_start[ops[i] + 1] - place->before_start[ops[i]];
            for (int e = 0; e < both; e++) {
                int other = e < after ? place->after[place->after_start[ops[i]] + e]
                                      : place->before[place->before_start[ops[i]] + e - after];
                int part = part_of_op(tables, other);
                if (seen[part] != p + 1) {
                    seen[part] = p + 1;
                    tables->near[count++] = part;
                }
            }
        }
    }
    tables->near_start[tables->part_count] = count;
}

/* Time and bytes of a part are those of its groups; it may go where all of them may. */
static void fill_parts(MerLoadTables *tables, MerArena *arena, MerArena *scratch)
{
    const MerPlace *place = tables->place;
    size_t          units = (size_t)place->unit_count;
    int            *allowed = MER_ARRAY(scratch, int, (size_t)tables->part_count *units + 1);
    int            *sizes = MER_ARRAY(scratch, int, tables->part_count + 1);
    for (int g = 0; g < place->group_count; g++) {
        size_t part = (size_t)tables->part_of[g];
        tables->bytes[part] += place->group_size[g];
        sizes[part]++;
        for (size_t u = 0; u < units; u++) {
            tables->part_ticks[part * units + u] +=
                ticks_of(tables, place->group_us[(size_t)g * units + u]);
        }
        for (int c = place->choice_start[g]; c < place->choice_start[g + 1]; c++) {
            allowed[part * units + (size_t)place->choices[c]]++;
        }
    }
    tables->choice_start = MER_ARRAY(arena, int, tables->part_count + 1);
    tables->choices = MER_ARRAY(arena, int, (size_t)tables->part_count *units + 1);
    int count = 0;
    for (int p = 0; p < tables->part_count; p++) {
        tables->choice_start[p] = count;
        for (size_t u = 0; u < units; u++) {
            if (allowed[(size_t)p * units + u] == sizes[p]) {
                tables->choices[count++] = (int)u;
            }
        }
    }
    tables->choice_start[tables->part_count] = count;
}

static void number_parts(MerLoadTables *tables, const int *part_of, MerArena *arena)
{
    int groups = tables->place->group_count;
    tables->part_of = MER_ARRAY(arena, int, groups + 1);
    for (int g = 0; g < groups; g++) {
        tables->part_of[g] = part_of ? part_of[g] : g;
        tables->part_count =
            tables->part_of[g] >= tables->part_count ? tables->part_of[g] + 1 : tables->part_count;
    }
}

MerLoadTables *mer_load_tables_new(const MerPlace *place, const MerPlaceRules *rules,
                                   const int *part_of, MerArena *arena)
{
    MerLoadTables *tables = MER_NEW(arena, MerLoadTables);
    MerArena      *scratch = mer_arena_new();
    size_t         units = (size_t)place->unit_count;
    *tables = (MerLoadTables){.place = place,
                              .overlaps = rules->overlaps || place->is_pipeline,
                              .has_transfers = !place->is_pipeline || rules->charges_activations,
                              .has_limits = !rules->ignores_limits,
                              .us_per_tick = choose_tick(place)};
    number_parts(tables, part_of, arena);
    int  parts = tables->part_count;
    int *op_of = MER_ARRAY(scratch, int, place->op_count + 1);
    tables->bytes = MER_ARRAY(arena, double, parts + 1);
    tables->part_ticks = MER_ARRAY(arena, int64_t, (size_t)parts * units + 1);
    tables->made_start = MER_ARRAY(arena, int, parts + 1);
    tables->maker = MER_ARRAY(arena, int, place->op_count + 1);
    tables->user_start = MER_ARRAY(arena, int, place->op_count + 1);
    tables->users = MER_ARRAY(arena, int, place->edge_count + 1);
    fill_parts(tables, arena, scratch);
    list_results(tables, op_of, scratch);
    list_used(tables, arena);
    fill_moves(tables, op_of, arena);
    list_near(tables, arena, scratch);
    mer_arena_free(scratch);
    return tables;
}

void mer_unit_loads_begin(MerUnitLoads *loads, const MerLoadTables *tables, MerArena *arena)
{
    size_t units = (size_t)tables->place->unit_count;
    *loads = (MerUnitLoads){.tables = tables,
                            .unit = MER_ARRAY(arena, int, tables->part_count + 1),
                            .users = MER_ARRAY(arena, int, (size_t)tables->result_count *units + 1),
                            .compute = MER_ARRAY(arena, int64_t, units),
                            .transfer = MER_ARRAY(arena, int64_t, units),
                            .bytes = MER_ARRAY(arena, double, units)};
}

/* The transfers of a result whose maker is on `home`. */
static void add_transfers(MerUnitLoads *loads, int result, int home)
{
    size_t         units = (size_t)loads->tables->place->unit_count;
    const int     *users = loads->users + (size_t)result * units;
    const int64_t *ticks = loads->tables->move_ticks + (size_t)result * units;
    for (int u = 0; u < (int)units; u++) {
        bool crosses =
            u == home ? users[u] < mer_result_users(loads->tables, result) : users[u] > 0;
        loads->transfer[u] += crosses ? ticks[u] : 0;
    }
}

void mer_unit_loads_set(MerUnitLoads *loads, const int *unit)
{
    const MerLoadTables *tables = loads->tables;
    size_t               units = (size_t)tables->place->unit_count;
    memcpy(loads->unit, unit, (size_t)tables->part_count * sizeof *unit);
    memset(loads->users, 0, (size_t)tables->result_count * units * sizeof *loads->users);
    memset(loads->compute, 0, units * sizeof *loads->compute);
    memset(loads->transfer, 0, units * sizeof *loads->transfer);
    memset(loads->bytes, 0, units * sizeof *loads->bytes);
    for (int p = 0; p < tables->part_count; p++) {
        loads->compute[unit[p]] += tables->part_ticks[(size_t)p * units + (size_t)unit[p]];
        loads->bytes[unit[p]] += tables->bytes[p];
        for (int i = tables->used_start[p]; i < tables->used_start[p + 1]; i++) {
            loads->users[(size_t)tables->used[i] * units + (size_t)unit[p]]++;
        }
    }
    for (int r = 0; r < tables->result_count; r++) {
        add_transfers(loads, r, unit[tables->maker[r]]);
    }
}

/* The maker of a result goes from unit `from` to unit `to`. */
static void move_maker(MerUnitLoads *loads, int result, int from, int to)
{
    size_t         units = (size_t)loads->tables->place->unit_count;
    const int     *users = loads->users + (size_t)result * units;
    const int64_t *ticks = loads->tables->move_ticks + (size_t)result * units;
    int            all = mer_result_users(loads->tables, result);
    loads->transfer[from] += ((users[from] > 0) - (users[from] < all)) * ticks[from];
    loads->transfer[to] += ((users[to] < all) - (users[to] > 0)) * ticks[to];
}

/* A reader of a result does; its maker stays at `home`. */
static void move_user(MerUnitLoads *loads, int result, int home, int from, int to)
{
    size_t         units = (size_t)loads->tables->place->unit_count;
    int           *users = loads->users + (size_t)result * units;
    const int64_t *ticks = loads->tables->move_ticks + (size_t)result * units;
    int            all = mer_result_users(loads->tables, result);
    if (from != home) {
        loads->transfer[from] -= users[from] == 1 ? ticks[from] : 0;
    } else if (users[from] == all) { /* the first to leave */
        loads->transfer[from] += ticks[from];
    }
    users[from]--;
    users[to]++;
    if (to != home) {
        loads->transfer[to] += users[to] == 1 ? ticks[to] : 0;
    } else if (users[to] == all) { /* the last to come back */
        loads->transfer[to] -= ticks[to];
    }
}

void mer_unit_loads_move(MerUnitLoads *loads, int part, int unit)
{
    const MerLoadTables *tables = loads->tables;
    int                  from = loads->unit[part];
    const int64_t *ticks = tables->part_ticks + (size_t)part * (size_t)tables->place->unit_count;
    if (from == unit) {
        return;
    }
    loads->compute[from] -= ticks[from];
    loads->compute[unit] += ticks[unit];
    loads->bytes[from] -= tables->bytes[part];
    loads->bytes[unit] += tables->bytes[part];
    for (int r = tables->made_start[part]; r < tables->made_start[part + 1]; r++) {
        move_maker(loads, r, from, unit);
    }
    loads->unit[part] = unit;
    for (int i = tables->used_start[part]; i < tables->used_start[part + 1]; i++) {
        int result = tables->used[i];
        move_user(loads, result, loads->unit[tables->maker[result]], from, unit);
    }
}

int64_t mer_unit_loads_period(const MerUnitLoads *loads)
{
    int64_t period = 0;
    for (int u = 0; u < loads->tables->place->unit_count; u++) {
        int64_t load = mer_unit_load(loads, u);
        period = load > period ? load : period;
    }
    return period;
}

double mer_unit_loads_excess(const MerUnitLoads *loads)
{
    const MerPlace *place = loads->tables->place;
    double          excess = 0;
    for (int u = 0; loads->tables->has_limits && u < place->unit_count; u++) {
        excess += fmax(0, loads->bytes[u] - place->limit[u]);
    }
    return excess;
}

MerPlaceValue mer_unit_loads_value(const MerUnitLoads *loads)
{
    double ticks = (double)mer_unit_loads_period(loads);
    return (MerPlaceValue){mer_unit_loads_excess(loads), ticks * loads->tables->us_per_tick};
}
