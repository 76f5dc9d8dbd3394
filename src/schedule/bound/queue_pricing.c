/* The most valuable long jobs that one core can run within a time: a knapsack by dynamic programming over a grid
 * of times. Jobs are rounded down to it, so that the value found is never too low. */
#include "schedule/bound/configuration_program.h"

#include <math.h>
#include <string.h>

enum { GRID = 4096 };

void mer_core_queues_begin(CorePricer *pricer, const Relaxation *relaxation)
{
    MerArena *arena = relaxation->arena;
    size_t    items = 1;
    for (int r = 0; r < relaxation->rows; r++) {
        items += (size_t)(relaxation->count[r] < CORE_JOBS ? relaxation->count[r] : CORE_JOBS);
    }
    pricer->relaxation = relaxation;
    pricer->most = MER_ARRAY(arena, double, GRID + 1);
    pricer->taken = MER_ARRAY(arena, uint8_t, items * (GRID + 1));
    pricer->item_row = MER_ARRAY(arena, int, items);
    pricer->item_size = MER_ARRAY(arena, int, items);
    pricer->work = 0;
}

static void add_item(CorePricer *pricer, int item, double worth)
{
    uint8_t *taken = pricer->taken + (size_t)item * (GRID + 1);
    int      size = pricer->item_size[item];
    memset(taken, 0, GRID + 1);
    for (int at = GRID; at >= size; at--) {
        double with = pricer->most[at - size] + worth;
        taken[at] = with > pricer->most[at];
        pricer->most[at] = taken[at] ? with : pricer->most[at];
    }
    pricer->work += GRID / 32;
}

static void read_queue(const CorePricer *pricer, int items, double step, CoreQueue *queue)
{
    int left = GRID;
    queue->jobs = 0;
    for (int item = items - 1; item >= 0; item--) {
        if (pricer->taken[(size_t)item * (GRID + 1) + (size_t)left]) {
            left -= pricer->item_size[item];
            queue->row[queue->jobs++] = (int16_t)pricer->item_row[item];
        }
    }
    queue->cycles = queue->jobs > 0 ? (GRID - left) * step : 0;
}

double mer_core_queues_price(CorePricer *pricer, int class, const double *worth,
                             const bool *is_long, double limit, CoreQueue *best)
{
    const Relaxation *relaxation = pricer->relaxation;
    double            step = limit / GRID;
    int               items = 0;
    memset(pricer->most, 0, (GRID + 1) * sizeof *pricer->most);
    for (int r = 0; r < relaxation->rows; r++) {
        int    at = r * relaxation->classes + class;
        double load = relaxation->load[at];
        if (!is_long[at] || worth[r] <= 0) {
            continue;
        }
        for (int copy = 1; copy <= relaxation->count[r] && copy * load <= limit; copy++) {
            pricer->item_row[items] = r;
            pricer->item_size[items] = (int)floor(load / step * (1 - 1e-12));
            add_item(pricer, items++, worth[r]);
        }
    }
    best->class = class;
    read_queue(pricer, items, step, best);
    return pricer->most[GRID];
}
