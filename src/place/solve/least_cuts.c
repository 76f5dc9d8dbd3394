/* Cuts of one order of the groups that cost the least time in all: units work one after the other, each with what fits its memory, and every
 * result that crosses a cut is paid on both sides. What a single sample should do on units that cannot hold the whole network
 * (docs/placement.md, "Least cuts"). */
#include "place/solve/placements.h"

#include "place/solve/unit_loads.h"

#include <string.h>

enum { FROM_HOST = -1, FROM_IDLE = -2 };

typedef struct Cuts {
    const MerPlace      *place;
    const MerLoadTables *tables;
    const int           *order;   /* groups */
    int                  workers; /* units that take a stage each, in this order */
    int                 *worker;
    /* [stages * (groups + 1) + groups done]: least time, and where the last stage began or how else it came about */
    double *least;
    int    *from;
    /* of the stage that is being looked at */
    int    *inside;  /* of each result: users in the stage */
    bool   *is_made; /* of each result: its maker is in the stage */
    double *time;    /* of each worker, ticks */
    double  bytes;
} Cuts;

/* Adds what a result costs every worker, `sign` times. */
static void pay(Cuts *c, int result, double sign)
{
    const int64_t *ticks = c->tables->move_ticks + (size_t)result * (size_t)c->place->unit_count;
    for (int w = 0; w < c->workers; w++) {
        c->time[w] += sign * (double)ticks[c->worker[w]];
    }
}

/* One more group at the front of the stage. */
static void add_group(Cuts *c, int group)
{
    const MerLoadTables *tables = c->tables;
    for (int i = tables->used_start[group]; i < tables->used_start[group + 1]; i++) {
        int r = tables->used[i];
        c->inside[r]++;
        if (!c->is_made[r] && c->inside[r] == 1) {
            pay(c, r, 1); /* comes in */
        } else if (c->is_made[r] && c->inside[r] == mer_result_users(tables, r)) {
            pay(c, r, -1); /* does not go out any more */
        }
    }
    for (int r = tables->made_start[group]; r < tables->made_start[group + 1]; r++) {
        c->is_made[r] = true;
        pay(c, r, (c->inside[r] < mer_result_users(tables, r)) - (c->inside[r] > 0));
    }
    for (int w = 0; w < c->workers; w++) {
        size_t at = (size_t)group * (size_t)c->place->unit_count + (size_t)c->worker[w];
        c->time[w] += mer_place_may_take(c->place, group, c->worker[w])
                          ? (double)tables->part_ticks[at]
                          : INFINITY;
    }
    c->bytes += c->place->group_size[group];
}

static void clear_stage(Cuts *c, int first, int end)
{
    const MerLoadTables *tables = c->tables;
    for (int p = first; p < end; p++) {
        int group = c->order[p];
        for (int i = tables->used_start[group]; i < tables->used_start[group + 1]; i++) {
            c->inside[tables->used[i]] = 0;
        }
        for (int r = tables->made_start[group]; r < tables->made_start[group + 1]; r++) {
            c->is_made[r] = false;
        }
    }
    memset(c->time, 0, (size_t)c->workers * sizeof *c->time);
    c->bytes = 0;
}

static void offer(Cuts *c, int stages, int done, double least, int from)
{
    size_t at = (size_t)stages * (size_t)(c->place->group_count + 1) + (size_t)done;
    if (least < c->least[at]) {
        c->least[at] = least;
        c->from[at] = from;
    }
}

static double least_at(const Cuts *c, int stages, int done)
{
    return c->least[(size_t)stages * (size_t)(c->place->group_count + 1) + (size_t)done];
}

/* Ticks of a group on a host; INFINITY: it may not go to one. */
static double host_time(const Cuts *c, int group)
{
    int host = mer_place_instead(c->place, group);
    return c->place->is_host[host]
               ? (double)c->tables
                     ->part_ticks[(size_t)group * (size_t)c->place->unit_count + (size_t)host]
               : INFINITY;
}

/* The best ways to have done the first `done` groups: the last one on a host, or a last stage that begins anywhere. */
static void finish_at(Cuts *c, int done, double most_bytes)
{
    double on_host = host_time(c, c->order[done - 1]);
    int    first = done;
    bool   is_possible = true;
    for (int s = 0; s <= c->workers; s++) {
        offer(c, s, done, least_at(c, s, done - 1) + on_host, FROM_HOST);
    }
    while (first > 0 && is_possible) {
        add_group(c, c->order[--first]);
        is_possible = false;
        for (int w = 0; w < c->workers && c->bytes <= most_bytes; w++) {
            bool fits = c->bytes <= c->place->limit[c->worker[w]] && isfinite(c->time[w]);
            is_possible |= isfinite(c->time[w]);
            offer(c, w + 1, done, fits ? least_at(c, w, first) + c->time[w] : INFINITY, first);
        }
    }
    clear_stage(c, first, done);
    for (int s = 1; s <= c->workers; s++) {
        offer(c, s, done, least_at(c, s - 1, done), FROM_IDLE);
    }
}

static void read_units(const Cuts *c, int *unit)
{
    int stages = c->workers, done = c->place->group_count;
    while (done > 0) {
        int from = c->from[(size_t)stages * (size_t)(c->place->group_count + 1) + (size_t)done];
        if (from == FROM_IDLE) {
            stages--;
        } else if (from == FROM_HOST) {
            done--;
            unit[c->order[done]] = mer_place_instead(c->place, c->order[done]);
        } else {
            stages--;
            for (; done > from; done--) {
                unit[c->order[done - 1]] = c->worker[stages];
            }
        }
    }
}

bool mer_place_least_cuts(const MerPlace *place, const int *order, MerNotes *notes, int *unit)
{
    MerArena           *arena = mer_arena_new();
    const MerPlaceRules rules = {.form = MER_PLACE_MAXLOAD, .charges_activations = true};
    size_t              groups = (size_t)place->group_count;
    double              most_bytes = 0;
    Cuts                c = {.place = place,
                             .order = order,
                             .tables = mer_load_tables_new(place, &rules, NULL, arena),
                             .worker = MER_ARRAY(arena, int, place->unit_count)};
    c.workers = mer_place_workers(place, c.worker);
    size_t states = (size_t)(c.workers + 1) * (groups + 1);
    c.least = MER_ARRAY(arena, double, states);
    c.from = MER_ARRAY(arena, int, states);
    c.time = MER_ARRAY(arena, double, c.workers);
    c.inside = MER_ARRAY(arena, int, c.tables->result_count + 1);
    c.is_made = MER_ARRAY(arena, bool, c.tables->result_count + 1);
    for (size_t i = 0; i < states; i++) {
        c.least[i] = i % (groups + 1) == 0 ? 0 : INFINITY;
    }
    for (int w = 0; w < c.workers; w++) {
        most_bytes = fmax(most_bytes, place->limit[c.worker[w]]);
    }
    for (int done = 1; done <= place->group_count && !mer_is_cancelled(notes); done++) {
        finish_at(&c, done, most_bytes);
    }
    bool is_found = least_at(&c, c.workers, place->group_count) < INFINITY;
    if (is_found) {
        read_units(&c, unit);
    }
    mer_arena_free(arena);
    return is_found;
}
