/* Up to three options: all splits are tried. More: the options of each unit are merged first (the least cycles of n channels on the unit),
 * since neither latency nor energy ever falls when a unit works longer; then latency is a dynamic programme over units, and energy
 * a search that stops where the units so far cost too much already. */
#include "split/solve/layer_split.h"

#include <string.h>

enum { TRIED_OPTIONS = 3 };

typedef struct Search {
    const MerSplit      *split;
    const MerSplitRules *rules;
    const MerSplitLayer *layer;
    int                  index;
    const MerSplitAim   *aim;
    int                  order[MER_SPLIT_MAX_OPTIONS]; /* options, the reference first */
    const double        *losses; /* prefix sums by rank: (options, c_out + 1) */
    MerArena            *scratch;
    int                  counts[MER_SPLIT_MAX_OPTIONS], best[MER_SPLIT_MAX_OPTIONS];
    double               least;
} Search;

/* losses[o * (c_out + 1) + r]: of the r most sensitive channels on option o. */
static const double *sum_losses(const MerSplitLayer *layer, MerArena *scratch)
{
    size_t  width = (size_t)layer->c_out + 1;
    double *sums = MER_ARRAY(scratch, double, width *(size_t)layer->option_count);
    for (int o = 0; o < layer->option_count; o++) {
        for (int r = 0; r < layer->c_out; r++) {
            int c = layer->is_ordered ? r : layer->ranking[r];
            sums[(size_t)o * width + (size_t)r + 1] =
                sums[(size_t)o * width + (size_t)r] +
                layer->errors[(size_t)o * (size_t)layer->c_out + (size_t)c];
        }
    }
    return sums;
}

static double loss_of(const MerSplitLayer *layer, const double *losses, const int *counts)
{
    int    order[MER_SPLIT_MAX_OPTIONS], rank = 0;
    double sum = 0;
    mer_split_by_precision(layer, order);
    for (int i = 0; i < layer->option_count; i++) {
        int           o = layer->is_ordered ? i : order[i];
        const double *own = losses + (size_t)o * ((size_t)layer->c_out + 1);
        sum += own[rank + counts[o]] - own[rank];
        rank += counts[o];
    }
    return sum;
}

static double value_of(const Search *s, const int *counts)
{
    if (!mer_split_layer_fits(s->split, s->rules, s->index, counts, NULL)) {
        return INFINITY;
    }
    double loss = s->losses ? loss_of(s->layer, s->losses, counts) : 0;
    if (s->aim->metric == MER_METRIC_DISTORTION) {
        return loss;
    }
    MerSplitPrice price = mer_split_layer_price(s->split, s->rules, s->index, counts);
    double        value = mer_split_value(s->split, &price, s->aim->metric);
    return s->aim->price > 0 ? value + s->aim->price * loss : value;
}

static Search start(const MerSplit *split, const MerSplitRules *rules, int l,
                    const MerSplitAim *aim, MerArena *scratch)
{
    const MerSplitLayer *layer = &split->layers[l];
    Search               s = {.split = split,
                              .rules = rules,
                              .layer = layer,
                              .index = l,
                              .aim = aim,
                              .scratch = scratch,
                              .least = INFINITY};
    bool                 weighs = aim->price > 0 || aim->metric == MER_METRIC_DISTORTION;
    s.losses = weighs ? sum_losses(layer, scratch) : NULL;
    s.order[0] = layer->reference;
    for (int o = 0, next = 1; o < layer->option_count; o++) {
        if (o != layer->reference) {
            s.order[next++] = o;
        }
    }
    return s;
}

double mer_split_layer_value(const MerSplit *split, const MerSplitRules *rules, int l,
                             const MerSplitAim *aim, const int *counts, MerArena *scratch)
{
    Search s = start(split, rules, l, aim, scratch);
    return value_of(&s, counts);
}

static void keep_if_better(Search *s)
{
    double value = value_of(s, s->counts);
    if (value < s->least) {
        s->least = value;
        memcpy(s->best, s->counts, sizeof s->best);
    }
}

/* All ways to share `left` channels out over the options from `place` on, many on the first ones first. */
static void try_all(Search *s, int place, int left)
{
    if (place == s->layer->option_count - 1) {
        s->counts[s->order[place]] = left;
        keep_if_better(s);
        return;
    }
    for (int k = left; k >= 0; k--) {
        s->counts[s->order[place]] = k;
        try_all(s, place + 1, left - k);
    }
}

/* ---- merged options */

typedef struct UnitTable { /* the least cycles of n channels on a unit, and the way to get them */
    int     unit, option_count, options[MER_SPLIT_MAX_OPTIONS];
    double *cycles; /* (c_out + 1) */
    int    *ways;   /* (options, c_out + 1): channels of option i when options 0 .. i share n */
} UnitTable;

static void add_to_table(const MerSplitLayer *layer, UnitTable *table, int option,
                         MerArena *scratch)
{
    size_t        width = (size_t)layer->c_out + 1;
    const double *own = layer->options[option].cycles;
    double       *merged = MER_ARRAY(scratch, double, width);
    int          *ways = table->ways + (size_t)table->option_count * width;
    for (int n = 0; n <= layer->c_out; n++) {
        merged[n] = INFINITY;
        for (int k = 0; k <= n; k++) {
            double before = table->option_count ? table->cycles[n - k] : n == k ? 0 : INFINITY;
            if (before + own[k] < merged[n]) {
                merged[n] = before + own[k];
                ways[n] = k;
            }
        }
    }
    table->options[table->option_count++] = option;
    table->cycles = merged;
}

/* Tables of the units that the layer can use, that of the reference first. */
static int merge_options(const Search *s, UnitTable *tables)
{
    const MerSplitLayer *layer = s->layer;
    int                  count = 0;
    for (int i = 0; i < layer->option_count; i++) {
        int unit = layer->options[s->order[i]].unit, t = 0;
        while (t < count && tables[t].unit != unit) {
            t++;
        }
        if (t == count) {
            tables[count++] = (UnitTable){
                .unit = unit,
                .ways = MER_ARRAY(s->scratch, int,
                                  (size_t)layer->option_count *((size_t)layer->c_out + 1))};
        }
        add_to_table(layer, &tables[t], s->order[i], s->scratch);
    }
    return count;
}

static void take_way(const Search *s, const UnitTable *table, int n, int *counts)
{
    size_t width = (size_t)s->layer->c_out + 1;
    for (int i = table->option_count - 1; i >= 0; i--) {
        int k = table->ways[(size_t)i * width + (size_t)n];
        counts[table->options[i]] = k;
        n -= k;
    }
}

/* latest[t][n]: the earliest end when units from t on share n channels. */
static void least_latency(const Search *s, const UnitTable *tables, int count, int *shares)
{
    int     c_out = s->layer->c_out;
    size_t  width = (size_t)c_out + 1;
    double *latest = MER_ARRAY(s->scratch, double, width *(size_t)count);
    int    *choice = MER_ARRAY(s->scratch, int, width *(size_t)count);
    for (int n = 0; n <= c_out; n++) {
        latest[(size_t)(count - 1) * width + (size_t)n] = tables[count - 1].cycles[n];
        choice[(size_t)(count - 1) * width + (size_t)n] = n;
    }
    for (int t = count - 2; t >= 0; t--) {
        double       *here = latest + (size_t)t * width;
        const double *rest = here + width;
        for (int n = 0; n <= c_out; n++) {
            here[n] = INFINITY;
            for (int k = n; k >= 0; k--) {
                double end = fmax(tables[t].cycles[k], rest[n - k]);
                if (end < here[n]) {
                    here[n] = end;
                    choice[(size_t)t * width + (size_t)n] = k;
                }
            }
        }
    }
    for (int t = 0, left = c_out; t < count; t++) {
        shares[t] = choice[(size_t)t * width + (size_t)left];
        left -= shares[t];
    }
}

typedef struct EnergySearch {
    const Search    *s;
    const UnitTable *tables;
    int              count, shares[MER_SPLIT_MAX_UNITS], best[MER_SPLIT_MAX_UNITS];
    double           busy[MER_SPLIT_MAX_UNITS], least;
    bool             is_monotone; /* more busy units never draw less */
} EnergySearch;

static void branch_energy(EnergySearch *e, int place, int left)
{
    const UnitTable *table = &e->tables[place];
    bool             is_last = place == e->count - 1;
    for (int k = left; k >= (is_last ? left : 0); k--) {
        e->shares[place] = k;
        e->busy[table->unit] = table->cycles[k];
        double energy = mer_split_energy(e->s->split, e->busy);
        if (is_last && energy < e->least) {
            e->least = energy;
            memcpy(e->best, e->shares, sizeof e->best);
        } else if (!is_last && (energy < e->least || !e->is_monotone)) {
            branch_energy(e, place + 1, left - k);
        }
    }
    e->busy[table->unit] = 0;
}

static bool is_monotone(const MerSplit *split)
{
    for (unsigned mask = 1; mask < 1u << split->unit_count; mask++) {
        for (int u = 0; u < split->unit_count; u++) {
            if (!(mask >> u & 1) && split->power_mw[mask | 1u << u] < split->power_mw[mask]) {
                return false;
            }
        }
    }
    return true;
}

static void by_units(Search *s)
{
    UnitTable tables[MER_SPLIT_MAX_UNITS];
    int       shares[MER_SPLIT_MAX_UNITS], count = merge_options(s, tables);
    if (s->aim->metric == MER_METRIC_ENERGY) {
        EnergySearch e = {.s = s,
                          .tables = tables,
                          .count = count,
                          .least = INFINITY,
                          .is_monotone = is_monotone(s->split)};
        branch_energy(&e, 0, s->layer->c_out);
        memcpy(shares, e.best, sizeof shares);
    } else {
        least_latency(s, tables, count, shares);
    }
    memset(s->counts, 0, sizeof s->counts);
    for (int t = 0; t < count; t++) {
        take_way(s, &tables[t], shares[t], s->counts);
    }
    keep_if_better(s);
}

/* Channels go from one option to another as long as that helps. */
static void improve(Search *s)
{
    int n = s->layer->option_count;
    for (bool moved = s->least < INFINITY; moved;) {
        moved = false;
        for (int pair = 0; pair < n * n; pair++) {
            int from = pair / n, to = pair % n;
            for (int k = 1; from != to && k <= s->best[from]; k++) {
                double before = s->least;
                memcpy(s->counts, s->best, sizeof s->counts);
                s->counts[from] -= k;
                s->counts[to] += k;
                keep_if_better(s);
                moved |= s->least < before;
            }
        }
    }
}

static void from_each_option(Search *s)
{
    for (int i = 0; i < s->layer->option_count; i++) {
        memset(s->counts, 0, sizeof s->counts);
        s->counts[s->order[i]] = s->layer->c_out;
        keep_if_better(s);
    }
    improve(s);
}

double mer_split_best_layer(const MerSplit *split, const MerSplitRules *rules, int l,
                            const MerSplitAim *aim, int *counts, MerArena *scratch)
{
    Search               s = start(split, rules, l, aim, scratch);
    const MerSplitLayer *layer = s.layer;
    bool                 weighs = s.losses != NULL;
    if (layer->fixed >= 0) {
        s.counts[layer->fixed] = layer->c_out;
        keep_if_better(&s);
    } else if (layer->option_count <= TRIED_OPTIONS &&
               (layer->option_count < TRIED_OPTIONS || layer->c_out <= 1024 || weighs ||
                rules->memory != MER_SPLIT_MEMORY_OFF)) {
        try_all(&s, 0, layer->c_out);
    } else if (!weighs && rules->memory != MER_SPLIT_MEMORY_PRICE) {
        by_units(&s);
        if (s.least == INFINITY) { /* it does not fit: look for what does */
            try_all(&s, 0, layer->c_out);
        }
    } else {
        from_each_option(&s);
    }
    memcpy(counts, s.best, (size_t)layer->option_count * sizeof *counts);
    return s.least;
}
