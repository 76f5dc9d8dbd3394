/* The tables of a study. Rows are optimizers (or layers), medians are over seeds first, then over layers;
 * intervals over layers are 95 % bootstrap intervals of the median. */
#include "report/study_stats.h"

#include "mercator/option.h"
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct Maker {
    const MerStudyGroup   *group;
    const MerStudyOptions *options;
    int                    reference, baseline; /* methods, -1: none */
    MerArena              *arena;
    MerStudyTable         *tables;
    int                    count;
    double                *values; /* (layers), scratch */
} Maker;

static MerStudyTable *begin(Maker *maker, const char *id, const char *title, const char *caption,
                            int columns)
{
    if (maker->count == MER_STUDY_TABLES) {
        maker->count--;
    }
    MerStudyTable *table = &maker->tables[maker->count++];
    *table = (MerStudyTable){.id = id,
                             .title = title,
                             .caption = caption,
                             .columns = columns,
                             .titles = MER_ARRAY(maker->arena, const char *, columns)};
    return table;
}

/* Fills the titles in order; NULL ends the list. */
static void titles(MerStudyTable *table, ...)
{
    va_list list;
    va_start(list, table);
    const char *title = va_arg(list, const char *);
    for (int c = 0; title && c < table->columns; c++, title = va_arg(list, const char *)) {
        table->titles[c] = title;
    }
    va_end(list);
}

static void add(Maker *maker, const char *text)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    if (table->row_count == table->room) {
        table->room = table->room * 2 + table->columns * 8;
        const char **grown = MER_ARRAY(maker->arena, const char *, table->room);
        for (int i = 0; i < table->row_count; i++) {
            grown[i] = table->cells[i];
        }
        table->cells = grown;
    }
    table->cells[table->row_count++] = text; /* counts cells until the table is finished */
}

static void finish(Maker *maker)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    table->row_count /= table->columns;
}

static const char *real(double value, MerArena *arena)
{
    if (isnan(value)) {
        return "-";
    }
    double size = fabs(value);
    int    places = size >= 100 ? 0 : size >= 10 ? 1 : size >= 2 ? 2 : 3;
    return isinf(value) ? "none" : mer_arena_format(arena, "%.*f", places, value);
}

static const char *with_interval(double value, MerInterval interval, MerArena *arena)
{
    return mer_arena_format(arena, "%s (%s-%s)", real(value, arena), real(interval.low, arena),
                            real(interval.high, arena));
}

static const char *whole(double value, MerArena *arena)
{
    return isfinite(value) ? mer_arena_format(arena, "%.0f", value) : "never";
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Median over the layers of values[0 .. layers-1], with its interval. */
static const char *over_layers(const Maker *maker)
{
    int n = maker->group->layer_count;
    return with_interval(mer_study_median(maker->values, n), mer_study_interval(maker->values, n),
                         maker->arena);
}

static double geomean(const Maker *maker)
{
    double sum = 0;
    for (int l = 0; l < maker->group->layer_count; l++) {
        sum += log(maker->values[l]);
    }
    return exp(sum / maker->group->layer_count);
}

static void extremes(const Maker *maker, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int l = 0; l < maker->group->layer_count; l++) {
        *low = fmin(*low, maker->values[l]);
        *high = fmax(*high, maker->values[l]);
    }
}

/* values[layer] = what the method's median has over the best known after so many samples. */
static void fill_quality(const Maker *maker, int method, int64_t samples)
{
    for (int l = 0; l < maker->group->layer_count; l++) {
        double score = mer_cell_median(mer_study_cell(maker->group, l, method), samples);
        maker->values[l] = mer_study_ratio(score, maker->group->layers[l].best);
    }
}

/* values[layer] = how many times better the first method's median is than the second's. */
static void fill_advantage(const Maker *maker, int method, int against, int64_t samples)
{
    for (int l = 0; l < maker->group->layer_count; l++) {
        double own = mer_cell_median(mer_study_cell(maker->group, l, method), samples);
        double other = mer_cell_median(mer_study_cell(maker->group, l, against), samples);
        bool   has_none = isinf(own) && isinf(other);
        maker->values[l] = has_none ? 1 : isinf(own) ? 0 : mer_study_ratio(other, own);
    }
}

static void count_signs(const Maker *maker, int *more, int *less)
{
    *more = *less = 0;
    for (int l = 0; l < maker->group->layer_count; l++) {
        *more += maker->values[l] > 1 + 1e-12;
        *less += maker->values[l] < 1 - 1e-12;
    }
}

static void table_layers(Maker *maker)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = begin(maker, "layers", "Layers",
                                       "Best known: the least any run found, whatever its budget; "
                                             "proven where a method shows that nothing is better.",
                                       9);
    titles(table, ">#", "network", "layer", ">MACs", ">knobs", ">points", ">best known", "found by",
           "proven", NULL);
    for (int l = 0; l < group->layer_count; l++) {
        const MerStudyLayer *layer = &group->layers[l];
        char                 macs[48], best[48];
        mer_print_engineering(macs, layer->macs, "");
        mer_print_engineering(best, fabs(layer->best), group->unit);
        add(maker, mer_arena_format(maker->arena, "%d", l + 1));
        add(maker, layer->network);
        add(maker, layer->name);
        add(maker, mer_arena_text(maker->arena, macs));
        add(maker, mer_arena_format(maker->arena, "%d", layer->knobs));
        add(maker, mer_arena_format(maker->arena, "1e%.1f", layer->log10_size));
        add(maker, mer_arena_text(maker->arena, best));
        add(maker, layer->best_by ? layer->best_by : "-");
        add(maker, layer->is_proven ? "yes" : "no");
    }
    finish(maker);
}

static const char *layer_label(const Maker *maker, int layer)
{
    const MerStudyLayer *about = &maker->group->layers[layer];
    return mer_arena_format(maker->arena, "%d %s %s", layer + 1, about->network, about->name);
}

static void table_final(Maker *maker)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table =
        begin(maker, "final", "Final quality",
              "Objective over the best known of the layer (1 is best) "
              "at the end of the budget: the median of the seeds, then over the layers.",
              6);
    titles(table, "optimizer", ">samples", ">median (95 % interval)", ">geometric mean",
           ">worst layer", ">layers within 1 %", NULL);
    for (int m = 0; m < group->method_count; m++) {
        double low, high;
        int    close = 0;
        fill_quality(maker, m, INT64_MAX);
        extremes(maker, &low, &high);
        for (int l = 0; l < group->layer_count; l++) {
            close += maker->values[l] <= 1.01;
        }
        add(maker, group->methods[m].name);
        add(maker, mer_arena_format(maker->arena, "%lld", (long long)group->methods[m].samples));
        add(maker, over_layers(maker));
        add(maker, real(geomean(maker), maker->arena));
        add(maker, real(high, maker->arena));
        add(maker, mer_arena_format(maker->arena, "%d of %d", close, group->layer_count));
    }
    finish(maker);
}

/* Titles of a table with one column per optimizer. */
static MerStudyTable *begin_by_layer(Maker *maker, const char *id, const char *title,
                                     const char *caption)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = begin(maker, id, title, caption, group->method_count + 1);
    table->titles[0] = "layer";
    for (int m = 0; m < group->method_count; m++) {
        table->titles[m + 1] = mer_arena_format(maker->arena, ">%s", group->methods[m].name);
    }
    return table;
}

static void table_final_by_layer(Maker *maker)
{
    const MerStudyGroup *group = maker->group;
    begin_by_layer(maker, "final-by-layer", "Final quality by layer",
                   "Objective over the best known: median of the seeds (quartiles).");
    for (int l = 0; l < group->layer_count; l++) {
        add(maker, layer_label(maker, l));
        for (int m = 0; m < group->method_count; m++) {
            const MerStudyCell *cell = mer_study_cell(group, l, m);
            double             *scores = MER_ARRAY(maker->arena, double, cell->count + 1);
            int                 n = mer_cell_best(cell, INT64_MAX, scores);
            for (int s = 0; s < n; s++) {
                scores[s] = mer_study_ratio(scores[s], group->layers[l].best);
            }
            MerInterval quartiles = {mer_quantile(scores, n, 0.25), mer_quantile(scores, n, 0.75)};
            add(maker,
                n ? with_interval(mer_study_median(scores, n), quartiles, maker->arena) : "-");
        }
    }
    finish(maker);
}

typedef struct Reach { /* of one method on one layer, towards the reference's final median */
    double samples;    /* median of the seeds; infinite: half of them or more never came there */
    int    seeds, reached;
} Reach;

static Reach reach_of(const Maker *maker, int layer, int method)
{
    double target =
        mer_cell_median(mer_study_cell(maker->group, layer, maker->reference), INT64_MAX);
    const MerStudyCell *cell = mer_study_cell(maker->group, layer, method);
    double             *samples = MER_ARRAY(maker->arena, double, cell->count + 1);
    int                 n = mer_cell_reach(cell, isfinite(target) ? target : -INFINITY, samples);
    Reach               reach = {mer_study_median(samples, n), n, 0};
    for (int s = 0; s < n; s++) {
        reach.reached += isfinite(samples[s]);
    }
    return reach;
}

/* When each seed of the reference found what it ended with: median over its seeds. */
static double own_reach(const Maker *maker, int layer)
{
    const MerStudyCell *cell = mer_study_cell(maker->group, layer, maker->reference);
    double             *samples = MER_ARRAY(maker->arena, double, cell->count + 1);
    for (int s = 0; s < cell->count; s++) {
        samples[s] = mer_trace_reach(&cell->traces[s], mer_trace_best(&cell->traces[s], INT64_MAX));
    }
    return mer_study_median(samples, cell->count);
}

static void fill_saving(const Maker *maker, int method, bool is_own)
{
    double budget = (double)maker->group->methods[maker->reference].samples;
    for (int l = 0; l < maker->group->layer_count; l++) {
        double needed = reach_of(maker, l, method).samples;
        maker->values[l] = isfinite(needed) ? (is_own ? own_reach(maker, l) : budget) / needed : 0;
    }
}

static void table_reach(Maker *maker)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *reference = &group->methods[maker->reference];
    const char           *caption =
        mer_arena_format(maker->arena,
                         "Target of a layer: the median of the final values of %s. Samples needed: "
                         "median of the seeds. Saving = samples of the "
                         "reference / samples needed, where the reference counts with its whole "
                         "budget (%lld), or with the sample at which its "
                         "own seeds found what they ended with (median). A layer that half of the "
                         "seeds or more never finish counts as 0.",
                         reference->name, (long long)reference->samples);
    MerStudyTable *table =
        begin(maker, "reach",
              mer_arena_format(maker->arena, "Samples to the final quality of %s", reference->name),
              caption, 7);
    titles(table, "optimizer", ">samples needed", ">saving on the whole budget (95 % interval)",
           ">largest", ">saving on its own last find (95 % interval)", ">layers reached",
           ">seeds reached", NULL);
    for (int m = 0; m < group->method_count; m++) {
        int    layers = 0, seeds = 0, reached = 0;
        double low, high;
        for (int l = 0; l < group->layer_count; l++) {
            Reach reach = reach_of(maker, l, m);
            maker->values[l] = reach.samples;
            layers += isfinite(reach.samples);
            seeds += reach.seeds;
            reached += reach.reached;
        }
        add(maker, group->methods[m].name);
        add(maker, whole(mer_study_median(maker->values, group->layer_count), maker->arena));
        fill_saving(maker, m, false);
        extremes(maker, &low, &high);
        add(maker, over_layers(maker));
        add(maker, real(high, maker->arena));
        fill_saving(maker, m, true);
        add(maker, over_layers(maker));
        add(maker, mer_arena_format(maker->arena, "%d of %d", layers, group->layer_count));
        add(maker, mer_arena_format(maker->arena, "%d of %d", reached, seeds));
    }
    finish(maker);
}

static void table_reach_by_layer(Maker *maker)
{
    const MerStudyGroup *group = maker->group;
    double               budget = (double)group->methods[maker->reference].samples;
    begin_by_layer(
        maker, "reach-by-layer", "Samples to that quality by layer",
        "Median of the seeds, and in brackets the saving on the reference's whole budget.");
    for (int l = 0; l < group->layer_count; l++) {
        add(maker, layer_label(maker, l));
        for (int m = 0; m < group->method_count; m++) {
            Reach reach = reach_of(maker, l, m);
            add(maker, isfinite(reach.samples)
                           ? mer_arena_format(maker->arena, "%.0f (%sx)", reach.samples,
                                              real(budget / reach.samples, maker->arena))
                           : mer_arena_format(maker->arena, "never (%d of %d seeds)", reach.reached,
                                              reach.seeds));
        }
    }
    finish(maker);
}

/* Layers on which the seeds of two methods differ by the rank test at 5 %. */
static void count_clear(const Maker *maker, int method, int against, int64_t samples, int *better,
                        int *worse)
{
    *better = *worse = 0;
    for (int l = 0; l < maker->group->layer_count; l++) {
        const MerStudyCell *own = mer_study_cell(maker->group, l, method);
        const MerStudyCell *other = mer_study_cell(maker->group, l, against);
        double             *x = MER_ARRAY(maker->arena, double, own->count + 1);
        double             *y = MER_ARRAY(maker->arena, double, other->count + 1);
        bool                is_clear = mer_rank_test(x, mer_cell_best(own, samples, x), y,
                                                     mer_cell_best(other, samples, y)) < 0.05;
        *better += is_clear && maker->values[l] > 1;
        *worse += is_clear && maker->values[l] < 1;
    }
}

static void table_baseline(Maker *maker)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *baseline = &group->methods[maker->baseline];
    MerStudyTable        *table =
        begin(maker, "baseline", mer_arena_format(maker->arena, "Against %s", baseline->name),
              "Layers on which the median of the seeds is better, at the smaller of the two "
              "budgets. p: two-sided sign test over the "
              "layers. Clear: the seeds differ by the rank test at 5 %.",
              7);
    titles(table, "optimizer", ">at samples", ">better on", ">share", ">worse on", ">p",
           ">clearly better, worse", NULL);
    for (int m = 0; m < group->method_count; m++) {
        int     more, less, better, worse;
        int64_t samples = least(group->methods[m].samples, baseline->samples);
        if (m == maker->baseline) {
            continue;
        }
        fill_advantage(maker, m, maker->baseline, samples);
        count_signs(maker, &more, &less);
        count_clear(maker, m, maker->baseline, samples, &better, &worse);
        add(maker, group->methods[m].name);
        add(maker, mer_arena_format(maker->arena, "%lld", (long long)samples));
        add(maker, mer_arena_format(maker->arena, "%d of %d", more, group->layer_count));
        add(maker, mer_arena_format(maker->arena, "%.0f %%", 100.0 * more / group->layer_count));
        add(maker, mer_arena_format(maker->arena, "%d", less));
        add(maker, mer_arena_format(maker->arena, "%.2g", mer_sign_test(more, less)));
        add(maker, mer_arena_format(maker->arena, "%d, %d", better, worse));
    }
    finish(maker);
}

static void table_at(Maker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table =
        begin(maker, mer_arena_format(maker->arena, "at-%lld", (long long)samples),
              mer_arena_format(maker->arena, "Quality at %lld samples", (long long)samples),
              "Objective over the best known of the layer: median of the seeds, then over the "
              "layers. Wins: layers on which the "
              "median is better, over all other optimizers, at equal samples.",
              5);
    titles(table, "optimizer", ">samples", ">median (95 % interval)", ">geometric mean",
           ">wins, losses", NULL);
    for (int m = 0; m < group->method_count; m++) {
        int     wins = 0, losses = 0;
        int64_t own = least(samples, group->methods[m].samples);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            fill_advantage(maker, m, o, least(own, group->methods[o].samples));
            count_signs(maker, &more, &less);
            wins += more;
            losses += less;
        }
        fill_quality(maker, m, own);
        add(maker, group->methods[m].name);
        add(maker, mer_arena_format(maker->arena, "%lld", (long long)own));
        add(maker, over_layers(maker));
        add(maker, real(geomean(maker), maker->arena));
        add(maker, mer_arena_format(maker->arena, "%d, %d", wins, losses));
    }
    finish(maker);
}

static void table_pairs(Maker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table =
        begin(maker, mer_arena_format(maker->arena, "pairs-%lld", (long long)samples),
              mer_arena_format(maker->arena, "Pairs at %lld samples", (long long)samples),
              "How many times better the optimizer of the row is than that of the column: median "
              "over the layers of the ratio of "
              "medians (layers won-lost), at the smallest of the budgets.",
              group->method_count + 1);
    table->titles[0] = "row / column";
    for (int m = 0; m < group->method_count; m++) {
        table->titles[m + 1] = mer_arena_format(maker->arena, ">%s", group->methods[m].name);
    }
    for (int m = 0; m < group->method_count; m++) {
        add(maker, group->methods[m].name);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            fill_advantage(
                maker, m, o,
                least(samples, least(group->methods[m].samples, group->methods[o].samples)));
            count_signs(maker, &more, &less);
            add(maker,
                m == o ? ""
                       : mer_arena_format(maker->arena, "%s (%d-%d)",
                                          real(mer_study_median(maker->values, group->layer_count),
                                               maker->arena),
                                          more, less));
        }
    }
    finish(maker);
}

static void table_ratios(Maker *maker, int64_t samples)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *reference = &group->methods[maker->reference];
    bool                  is_final = samples == INT64_MAX;
    const char           *when =
        is_final ? "the end" : mer_arena_format(maker->arena, "%lld samples", (long long)samples);
    MerStudyTable *table = begin(
        maker,
        is_final ? "ratio-end" : mer_arena_format(maker->arena, "ratio-%lld", (long long)samples),
        mer_arena_format(maker->arena, "%s of %s over the optimizer's at %s", group->objective,
                         reference->name, when),
        "Ratio of the medians of the seeds at equal samples; above 1 the optimizer is better than "
        "the reference. Interval: 95 % "
        "bootstrap of the median over the layers.",
        6);
    titles(table, "optimizer", ">at samples", ">median (95 % interval)", ">geometric mean",
           ">least", ">largest", NULL);
    for (int m = 0; m < group->method_count; m++) {
        double  low, high;
        int64_t at = least(samples, least(group->methods[m].samples, reference->samples));
        if (m == maker->reference) {
            continue;
        }
        fill_advantage(maker, m, maker->reference, at);
        extremes(maker, &low, &high);
        add(maker, group->methods[m].name);
        add(maker, mer_arena_format(maker->arena, "%lld", (long long)at));
        add(maker, over_layers(maker));
        add(maker, real(geomean(maker), maker->arena));
        add(maker, real(low, maker->arena));
        add(maker, real(high, maker->arena));
    }
    finish(maker);
}

static void table_cost(Maker *maker)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = begin(maker, "cost", "Time, clustering and warnings",
                                       "Seconds of wall clock per layer and run (median); samples that "
                                             "went into the clusters and agents they gave "
                                             "(median); cells that warned.",
                                       7);
    titles(table, "optimizer", ">s per cell", ">samples/s", ">clustering samples", ">agents",
           ">sparse reward", ">correlation drift", NULL);
    for (int m = 0; m < group->method_count; m++) {
        int n = 0, sparse = 0, drifted = 0, room = 0;
        for (int l = 0; l < group->layer_count; l++) {
            room += mer_study_cell(group, l, m)->count;
        }
        double *seconds = MER_ARRAY(maker->arena, double, room + 1),
               *clustering = MER_ARRAY(maker->arena, double, room + 1);
        double *agents = MER_ARRAY(maker->arena, double, room + 1);
        for (int l = 0; l < group->layer_count; l++) {
            const MerStudyCell *cell = mer_study_cell(group, l, m);
            for (int s = 0; s < cell->count; s++, n++) {
                seconds[n] = cell->traces[s].wall_s;
                clustering[n] = (double)cell->traces[s].clustering;
                agents[n] = (double)cell->traces[s].agents;
                sparse += cell->traces[s].was_sparse;
                drifted += cell->traces[s].has_drifted;
            }
        }
        double median = mer_median(seconds, n);
        bool   has_agents = n > 0 && mer_median(agents, n) > 0;
        add(maker, group->methods[m].name);
        add(maker, mer_arena_format(maker->arena, "%.3f", median));
        add(maker,
            mer_arena_format(maker->arena, "%.0f", (double)group->methods[m].samples / median));
        add(maker, has_agents ? whole(mer_median(clustering, n), maker->arena) : "-");
        add(maker, has_agents ? whole(mer_median(agents, n), maker->arena) : "-");
        add(maker, mer_arena_format(maker->arena, "%d of %d", sparse, n));
        add(maker, mer_arena_format(maker->arena, "%d of %d", drifted, n));
    }
    finish(maker);
}

static MerStatus find_method(const MerStudyGroup *group, const char *name, const char *what,
                             int *method, MerError *error)
{
    const char *names[64] = {NULL};
    int         count = 0;
    for (*method = 0; *method < group->method_count; ++*method) {
        if (mer_name_equal(group->methods[*method].name, name)) {
            return MER_OK;
        }
        if (count < 64) {
            names[count++] = group->methods[*method].name;
        }
    }
    const char *nearest = mer_name_nearest(name, names, count);
    return mer_error_set(error, MER_NOT_FOUND, "%s: no run of %s \"%s\"%s%s, found %s and %d more",
                         group->title, what, name, nearest ? ", did you mean " : "",
                         nearest ? nearest : "", count ? names[0] : "none",
                         group->method_count > 1 ? group->method_count - 1 : 0);
}

static MerStatus choose(Maker *maker, MerError *error)
{
    const MerStudyOptions *options = maker->options;
    MerStatus              status = MER_OK;
    if (options->reference) {
        status = find_method(maker->group, options->reference, "the reference", &maker->reference,
                             error);
    }
    if (status == MER_OK && options->baseline) {
        status =
            find_method(maker->group, options->baseline, "the baseline", &maker->baseline, error);
    } else if (status == MER_OK && find_method(maker->group, "random", "the baseline",
                                               &maker->baseline, NULL) != MER_OK) {
        maker->baseline = -1;
    }
    return status;
}

MerStatus mer_study_tables(const MerStudyGroup *group, const MerStudyOptions *options,
                           MerArena *arena, MerStudyTable *tables, int *count, MerError *error)
{
    Maker maker = {.group = group,
                   .options = options,
                   .arena = arena,
                   .tables = tables,
                   .values = MER_ARRAY(arena, double, group->layer_count + 1)};
    *count = 0;
    if (group->method_count == 0 || group->layer_count == 0) {
        return MER_OK;
    }
    MerStatus status = choose(&maker, error);
    if (status != MER_OK) {
        return status;
    }
    table_layers(&maker);
    table_final(&maker);
    table_final_by_layer(&maker);
    table_reach(&maker);
    table_reach_by_layer(&maker);
    if (maker.baseline >= 0) {
        table_baseline(&maker);
    }
    for (int a = 0; a < options->at_count; a++) {
        table_at(&maker, options->at[a]);
        table_pairs(&maker, options->at[a]);
        table_ratios(&maker, options->at[a]);
    }
    table_ratios(&maker, INT64_MAX);
    table_cost(&maker);
    *count = maker.count;
    return MER_OK;
}
