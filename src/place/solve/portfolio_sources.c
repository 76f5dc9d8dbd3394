/* The list of what each source found, and the table of it. */
#include "place/solve/portfolio.h"

#include "base/stats.h"
#include "mercator/view.h"

#include <string.h>

MerSource *mer_sources_add(MerSources *s, const char *name, const char *detail,
                           const MerIndex *point)
{
    MER_GROW(s->search->arena, s->list, s->count);
    MerSource *source = &s->list[s->count++];
    *source = (MerSource){.name = name,
                          .detail = detail,
                          .point = MER_ARRAY(s->search->arena, MerIndex, s->knob_count + 1),
                          .score = NAN,
                          .value = NAN};
    memcpy(source->point, point, (size_t)s->knob_count * sizeof *point);
    return source;
}

MerSource *mer_sources_add_units(MerSources *s, const char *name, const char *detail,
                                 const int *unit)
{
    MerArena  *arena = mer_arena_new();
    MerIndex  *point = MER_ARRAY(arena, MerIndex, s->knob_count + 1);
    bool       is_point = mer_place_point(s->place, unit, point);
    MerSource *source = NULL;
    assert(is_point);
    if (is_point) {
        source = mer_sources_add(s, name, detail, point);
    }
    mer_arena_free(arena);
    return source;
}

int mer_sources_rank(const MerSources *s, int *order, int *legal)
{
    MerArena *arena = mer_arena_new();
    double   *scores = MER_ARRAY(arena, double, s->told + 1);
    int      *all = MER_ARRAY(arena, int, s->told + 1);
    int       count = 0;
    for (int i = 0; i < s->told; i++) {
        scores[i] = isnan(s->list[i].score) ? INFINITY : s->list[i].score;
    }
    mer_sort_order(scores, s->told, all);
    *legal = 0;
    for (int i = 0; i < s->told; i++) {
        bool is_same = false;
        for (int k = 0; k < count && !is_same; k++) {
            is_same = memcmp(s->list[order[k]].point, s->list[all[i]].point,
                             (size_t)s->knob_count * sizeof(MerIndex)) == 0;
        }
        if (!is_same) {
            order[count++] = all[i];
            *legal += isfinite(scores[all[i]]);
        }
    }
    mer_arena_free(arena);
    return count;
}

/* Of each name the best point, in the order of the names' first points, but `single` first. */
static int best_of_names(const MerSources *s, int *rows)
{
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->told; i++) {
            const MerSource *source = &s->list[i];
            int              row = 0;
            if ((strcmp(source->name, "single") == 0) != (pass == 0)) {
                continue;
            }
            while (row < count && strcmp(s->list[rows[row]].name, source->name) != 0) {
                row++;
            }
            bool is_better = row == count || source->score < s->list[rows[row]].score;
            rows[row] = is_better ? i : rows[row];
            count += row == count;
        }
    }
    return count;
}

static double best_value(const MerSources *s)
{
    int best = -1;
    for (int i = 0; i < s->told; i++) {
        if (isfinite(s->list[i].score) && (best < 0 || s->list[i].score < s->list[best].score)) {
            best = i;
        }
    }
    return best < 0 ? NAN : s->list[best].value;
}

void mer_sources_show(const MerSources *s, int64_t moves, bool by_loads)
{
    enum { COLUMNS = 4 };
    MerArena            *arena = mer_arena_new();
    int                 *rows = MER_ARRAY(arena, int, s->told + 1);
    int                  count = best_of_names(s, rows);
    bool                 is_metric = s->search->objective != MER_METRIC_COUNT;
    const MerMetricInfo *info = is_metric ? mer_metric_info(s->search->objective) : NULL;
    double               best = best_value(s);
    const MerViewColumn  columns[COLUMNS] = {
         {.name = "source"},
         {.name = is_metric ? info->name : "objective", .unit = is_metric ? info->unit : "1"},
         {.name = "off the best", .unit = "share"},
         {.name = "note"}};
    MerViewCell *cells = MER_ARRAY(arena, MerViewCell, count * COLUMNS + 1);
    for (int r = 0; r < count; r++) {
        const MerSource *source = &s->list[rows[r]];
        MerViewCell     *row = cells + r * COLUMNS;
        row[0].text = source->name;
        row[1].number = source->reason ? NAN : source->value;
        row[2].number = source->reason ? NAN : fabs(source->value / best - 1);
        row[3].text = source->reason ? source->reason : source->detail ? source->detail : "";
    }
    const MerViewFact fact = {.name = by_loads ? "moves of annealing" : "evaluations of annealing",
                              .value = (double)moves,
                              .unit = "1",
                              .help = "inside the solver, not counted as evaluations of the run"};
    MerView           view = {.id = "sources",
                              .title = "Where the answer comes from",
                              .help = "Every source that the portfolio tried, with its best placement.",
                              .facts = &fact,
                              .fact_count = moves >= 0};
    mer_view_table(s->search->notes, &view, &(MerViewTable){columns, COLUMNS, cells, count});
    mer_arena_free(arena);
}
