/* Splits that must fit into memory as a whole: from the best split of each layer, channels leave units that are too full, those first
 * that cost least per byte. Greedy: what it finds fits, and nothing is proven of it. */
#include "split/solve/layer_split.h"

#include <string.h>

typedef struct Repair {
    const MerSplit      *split;
    const MerSplitRules *rules;
    const MerSplitAim   *aim;
    MerSplitPlan        *plan;
    MerArena            *scratch;
    double               bytes[MER_SPLIT_MAX_UNITS]; /* of all layers */
} Repair;

typedef struct Move {
    int    layer, from, to, count;
    double price; /* cost per byte that leaves the full unit */
} Move;

static double spare_of(const Repair *r, int unit)
{
    return r->split->platform->units[unit].memory_bytes - r->bytes[unit];
}

static void count_bytes(Repair *r)
{
    memset(r->bytes, 0, sizeof r->bytes);
    for (int l = 0; l < r->split->layer_count; l++) {
        double own[MER_SPLIT_MAX_UNITS];
        mer_split_weight_bytes(&r->split->layers[l],
                               r->plan->counts + r->split->layers[l].option_start, own);
        for (int u = 0; u < r->split->unit_count; u++) {
            r->bytes[u] += own[u];
        }
    }
}

/* The unit that lacks most bytes; -1: everything fits. */
static int fullest(const Repair *r)
{
    int worst = -1;
    for (int u = 0; u < r->split->unit_count; u++) {
        if (spare_of(r, u) < 0 && (worst < 0 || spare_of(r, u) < spare_of(r, worst))) {
            worst = u;
        }
    }
    return worst;
}

/* What a move costs per byte; INFINITY: it fills another unit beyond its memory, or frees nothing. */
static double price_of(const Repair *r, const Move *m, int full)
{
    const MerSplitLayer *layer = &r->split->layers[m->layer];
    const int           *counts = r->plan->counts + layer->option_start;
    int                  moved[MER_SPLIT_MAX_OPTIONS];
    double               before[MER_SPLIT_MAX_UNITS], after[MER_SPLIT_MAX_UNITS];
    memcpy(moved, counts, (size_t)layer->option_count * sizeof *moved);
    moved[m->from] -= m->count;
    moved[m->to] += m->count;
    mer_split_weight_bytes(layer, counts, before);
    mer_split_weight_bytes(layer, moved, after);
    for (int u = 0; u < r->split->unit_count; u++) {
        if (u != full && after[u] > before[u] && after[u] - before[u] > spare_of(r, u)) {
            return INFINITY;
        }
    }
    double freed = before[full] - after[full];
    double value = mer_split_layer_value(r->split, r->rules, m->layer, r->aim, moved, r->scratch) -
                   mer_split_layer_value(r->split, r->rules, m->layer, r->aim, counts, r->scratch);
    mer_arena_reset(r->scratch);
    /* bytes beyond what is too much are of no use */
    return freed > 0 ? value / fmin(freed, -spare_of(r, full)) : INFINITY;
}

/* Moves that end at a hardware step of either side, or take everything. */
static void try_moves(const Repair *r, int full, Move m, Move *best)
{
    const MerSplitLayer *layer = &r->split->layers[m.layer];
    const int           *counts = r->plan->counts + layer->option_start;
    int from_step = layer->options[m.from].step, to_step = layer->options[m.to].step;
    for (m.count = 1; m.count <= counts[m.from]; m.count++) {
        if ((counts[m.from] - m.count) % from_step == 0 ||
            (counts[m.to] + m.count) % to_step == 0) {
            m.price = price_of(r, &m, full);
            *best = m.price < best->price ? m : *best;
        }
    }
}

static bool free_bytes(Repair *r, int full)
{
    Move best = {.price = INFINITY};
    for (int l = 0; l < r->split->layer_count; l++) {
        const MerSplitLayer *layer = &r->split->layers[l];
        for (int pair = 0; layer->is_searchable && pair < layer->option_count * layer->option_count;
             pair++) {
            int from = pair / layer->option_count, to = pair % layer->option_count;
            if (from != to && layer->options[from].unit == full) {
                try_moves(r, full, (Move){.layer = l, .from = from, .to = to}, &best);
            }
        }
    }
    if (best.price == INFINITY) {
        return false;
    }
    int *counts = r->plan->counts + r->split->layers[best.layer].option_start;
    counts[best.from] -= best.count;
    counts[best.to] += best.count;
    return true;
}

bool mer_split_repair(const MerSplit *split, const MerSplitRules *rules, const MerSplitAim *aim,
                      MerSplitPlan *plan)
{
    Repair r = {split, rules, aim, plan, mer_arena_new(), {0}};
    int    full = 0;
    /* every move frees bytes of the fullest unit; channels bound their number */
    for (int step = 0; step <= split->channel_count && full >= 0; step++) {
        count_bytes(&r);
        full = fullest(&r);
        if (full >= 0 && !free_bytes(&r, full)) {
            break;
        }
    }
    mer_arena_free(r.scratch);
    return full < 0;
}
