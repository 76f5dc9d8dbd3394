/* Favourite children of small communication times (Hanen and Munier, ETFA 1995), as Baechi's m-SCT uses them: the linear relaxation
 * decides after which operator its unit waits for which consumer. Solved with COIN-OR CLP. */
#include "place/solve/placements.h"

#include <Clp_C_Interface.h>
#include <string.h>

typedef struct Program { /* columns: start of each operator, x of each edge, the makespan */
    const MerPlace *place;
    MerArena       *arena;
    int             columns, rows, used;
    CoinBigIndex   *start; /* of each row */
    int            *index;
    double         *value, *lower, *upper;
    double         *time, *send; /* of each operator, as parts of all time */
} Program;

static void begin_row(Program *p, double lower, double upper)
{
    p->lower[p->rows] = lower;
    p->upper[p->rows] = upper;
    p->start[p->rows++] = p->used;
}

static void add(Program *p, int column, double value)
{
    p->index[p->used] = column;
    p->value[p->used++] = value;
}

static void measure(Program *p)
{
    const MerPlace *place = p->place;
    double          all = 0;
    p->time = MER_ARRAY(p->arena, double, place->op_count + 1);
    p->send = MER_ARRAY(p->arena, double, place->op_count + 1);
    for (int o = 0; o < place->op_count; o++) {
        int group = place->group[o], first = place->choice_start[group];
        int count = place->choice_start[group + 1] - first;
        for (int i = 0; i < count; i++) {
            p->time[o] += place->time_us[(size_t)o * (size_t)place->unit_count +
                                         (size_t)place->choices[first + i]] /
                          count;
        }
        p->send[o] = mer_place_mean_transfer_us(place, o);
        all += p->time[o] + p->send[o];
    }
    for (int o = 0; o < place->op_count && all > 0;
         o++) { /* the solver's tolerances are absolute */
        p->time[o] *= place->op_count / all;
        p->send[o] *= place->op_count / all;
    }
}

/* Edge e of operator o is number e of `after`. A consumer starts after its producer, and after the transfer unless it is
 * the favourite (x = 0); one favourite child at most, and of one parent at most. */
static void write_rows(Program *p)
{
    const MerPlace *place = p->place;
    int             ops = place->op_count, makespan = ops + place->edge_count;
    int            *incoming = MER_ARRAY(p->arena, int, place->edge_count + 1);
    int            *next = MER_ARRAY(p->arena, int, ops + 1);
    memcpy(next, place->before_start, (size_t)ops * sizeof *next);
    for (int o = 0; o < ops; o++) {
        int first = place->after_start[o], end = place->after_start[o + 1];
        begin_row(p, first == end ? -INFINITY : end - first - 1,
                  first == end ? -p->time[o] : INFINITY);
        if (first == end) { /* the last of its way: ends before the makespan */
            add(p, o, 1);
            add(p, makespan, -1);
        }
        for (int e = first; e < end; e++) {
            add(p, ops + e, 1);
            incoming[next[place->after[e]]++] = e;
        }
        for (int e = first; e < end; e++) {
            begin_row(p, -INFINITY, -p->time[o]);
            add(p, o, 1);
            add(p, place->after[e], -1);
            add(p, ops + e, p->send[o]);
        }
    }
    for (int o = 0; o < ops; o++) {
        int first = place->before_start[o], end = place->before_start[o + 1];
        if (end - first > 1) {
            begin_row(p, end - first - 1, INFINITY);
            for (int i = first; i < end; i++) {
                add(p, ops + incoming[i], 1);
            }
        }
    }
    p->start[p->rows] = p->used;
}

static Clp_Simplex *load(const Program *p)
{
    double *lower = MER_ARRAY(p->arena, double, p->columns);
    double *upper = MER_ARRAY(p->arena, double, p->columns);
    double *cost = MER_ARRAY(p->arena, double, p->columns);
    for (int c = 0; c < p->columns; c++) {
        bool is_edge = c >= p->place->op_count && c < p->columns - 1;
        upper[c] = is_edge ? 1 : INFINITY;
    }
    cost[p->columns - 1] = 1;
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_resize(model, 0, p->columns);
    Clp_chgColumnLower(model, lower);
    Clp_chgColumnUpper(model, upper);
    Clp_chgObjCoefficients(model, cost);
    Clp_addRows(model, p->rows, p->lower, p->upper, p->start, p->index, p->value);
    return model;
}

static void round_favourites(const MerPlace *place, const double *solution, int *favourite)
{
    for (int o = 0; o < place->op_count; o++) {
        favourite[o] = -1;
        for (int e = place->after_start[o]; e < place->after_start[o + 1]; e++) {
            if (solution[place->op_count + e] < 0.5) {
                favourite[o] = place->after[e];
            }
        }
    }
}

bool mer_place_favourites(const MerPlace *place, MerNotes *notes, int *favourite)
{
    Program p = {.place = place,
                 .arena = mer_arena_new(),
                 .columns = place->op_count + place->edge_count + 1};
    int     most_rows = 2 * place->op_count + place->edge_count + 1;
    int     most_used = 2 * place->op_count + 5 * place->edge_count + 1;
    p.start = MER_ARRAY(p.arena, CoinBigIndex, most_rows + 1);
    p.lower = MER_ARRAY(p.arena, double, most_rows);
    p.upper = MER_ARRAY(p.arena, double, most_rows);
    p.index = MER_ARRAY(p.arena, int, most_used);
    p.value = MER_ARRAY(p.arena, double, most_used);
    measure(&p);
    write_rows(&p);
    Clp_Simplex *model = load(&p);
    bool         is_solved = !mer_is_cancelled(notes) && Clp_dual(model, 0) == 0;
    if (is_solved) {
        round_favourites(place, Clp_primalColumnSolution(model), favourite);
    }
    Clp_deleteModel(model);
    mer_arena_free(p.arena);
    return is_solved;
}
