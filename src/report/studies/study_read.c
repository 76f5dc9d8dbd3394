/* Reads the runs of a study, folders in the order of their numbers: one item for each task. */
#include "report/studies/study_items.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/option_json.h"
#include "mercator/text.h"
#include "report/pages/curve.h"
#include "report/pages/log_lines.h"
#include "report/pages/run_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    MerArena      *arena;
    MerStudy      *study;
    MerStudyLookup lookup;
    MerStudyItem  *items;
    int            count;
} Reader;

enum { MOST_FACTS = 32 };

typedef struct Facts { /* of one task */
    MerStudyFact list[MOST_FACTS];
    int          count;
} Facts;

/* Of what a header names with its options. */
static const char *name_of(const cJSON *header, const char *kind)
{
    return mer_json_get_text(mer_json_get(header, kind), "name", "");
}

/* The options of a header that differ from those of a preset (NULL: the defaults), after its name;
 * `count` is how many things the label says. */
static const char *label_from(const MerStudyPlugin *known, const cJSON *plugin, const char *preset,
                              int *count, MerArena *arena)
{
    const char  *name = mer_json_get_text(plugin, "name", ""), *label = mer_arena_text(arena, name);
    MerReference reference = {name, preset != NULL, (const char *[]){"preset"},
                              (const char *[]){preset}};
    MerJson      json = {0};
    void        *options = mer_arena_alloc(arena, known->size + 1);
    *count = 0;
    if (known->options) {
        mer_options_fill(known->options, known->presets, options, &reference, arena, NULL);
    }
    if (preset != NULL) {
        label = mer_arena_format(arena, "%s:preset=%s", label, preset);
        ++*count;
    }
    mer_options_write(known->options, options, &json, NULL);
    cJSON       *start = cJSON_Parse(json.text);
    const cJSON *item;
    cJSON_ArrayForEach(item, mer_json_get(plugin, "options"))
    {
        if (cJSON_Compare(item, mer_json_get(start, item->string), true) ||
            (known->subset && strcmp(item->string, known->subset) == 0)) {
            continue;
        }
        char *printed = cJSON_PrintUnformatted(item);
        char *to = printed;
        for (const char *from = printed; *from; from++) {
            *to = *from;
            to += *from != '"';
        }
        *to = '\0';
        label = mer_arena_format(arena, "%s%c%s=%s", label, *count == 0 ? ':' : ',', item->string,
                                 printed);
        cJSON_free(printed);
        ++*count;
    }
    cJSON_Delete(start);
    mer_json_free(&json);
    return label;
}

/* `name:option=1`: a plug-in of a header with the options that are not its defaults, or the preset
 * that says it shorter. */
static const char *label_of(Reader *reader, const cJSON *header, const char *kind)
{
    const cJSON   *plugin = mer_json_get(header, kind);
    MerStudyPlugin known = reader->lookup(kind, name_of(header, kind));
    int            least, count;
    const char    *best = label_from(&known, plugin, NULL, &least, reader->arena);
    for (const MerPreset *p = known.presets; p != NULL && p->name != NULL && least > 1; p++) {
        const char *label = label_from(&known, plugin, p->name, &count, reader->arena);
        if (count < least) {
            best = label;
            least = count;
        }
    }
    return best;
}

static const char *group_of(Reader *reader, const cJSON *header)
{
    const char *space = strchr(label_of(reader, header, "problem"), ':');
    return mer_arena_format(reader->arena, "%s on %s%s%s, objective %s",
                            label_of(reader, header, "evaluator"), name_of(header, "platform"),
                            space ? ", " : "", space ? space + 1 : "",
                            mer_json_get_text(header, "objective", ""));
}

/* /features/features.2/conv/conv.0/conv.0.0/Conv -> features.2/conv.0.0: a part that only opens the next
 * one, and the kind of operator, say nothing; of the rest the last three. */
static const char *short_name(const char *full, MerArena *arena)
{
    enum { PARTS = 32 };
    const char *parts[PARTS];
    int         count = 0;
    char       *rest = NULL;
    for (char *part = strtok_r(mer_arena_text(arena, full), "/", &rest); part && count < PARTS;
         part = strtok_r(NULL, "/", &rest)) {
        bool is_opening =
            count > 0 && strncmp(parts[count - 1], part, strlen(parts[count - 1])) == 0;
        count -= is_opening;
        parts[count++] = part;
    }
    bool is_kind = count > 1 &&
                   (strcmp(parts[count - 1], "Conv") == 0 || strcmp(parts[count - 1], "Gemm") == 0);
    count -= is_kind;
    const char *name = "";
    for (int p = count > 3 ? count - 3 : 0; p < count; p++) {
        name = mer_arena_format(arena, "%s%s%s", name, *name ? "/" : "", parts[p]);
    }
    return *name ? name : full;
}

/* The newest of a view counts; where two views have a number of one name, the first one's does. */
static void take_fact(Reader *reader, Facts *facts, const char *view, const char *name,
                      double value)
{
    int at = 0;
    while (at < facts->count && strcmp(facts->list[at].name, name) != 0) {
        at++;
    }
    bool is_other = at < facts->count && strcmp(facts->list[at].view, view) != 0;
    if (at == MOST_FACTS || is_other) {
        return;
    }
    facts->count = at == facts->count ? at + 1 : facts->count;
    facts->list[at] = (MerStudyFact){mer_arena_text(reader->arena, view),
                                     mer_arena_text(reader->arena, name), value};
}

/* Numbers and warnings that the optimizer itself shows (mercator/view.h). */
static void take_view(Reader *reader, const MerLogLine *line, const char *optimizer, Facts *facts)
{
    if (strstr(line->text, "\"name\":\"view\"") == NULL) {
        return;
    }
    cJSON       *object = cJSON_ParseWithLength(line->text, line->length);
    const cJSON *value = mer_json_get(object, "value");
    const cJSON *fact;
    const char  *id = mer_json_get_text(value, "id", "");
    if (strcmp(mer_json_get_text(object, "source", ""), optimizer) == 0) {
        if (strcmp(mer_json_get_text(value, "panel", ""), "warning") == 0) {
            const char *title = mer_json_get_text(value, "title", "");
            take_fact(reader, facts, id, *title ? title : id, NAN);
        }
        cJSON_ArrayForEach(fact, mer_json_get(value, "facts"))
        {
            if (cJSON_IsNumber(mer_json_get(fact, "value"))) {
                take_fact(reader, facts, id, mer_json_get_text(fact, "name", ""),
                          mer_json_get_real(fact, "value", 0));
            }
        }
    }
    cJSON_Delete(object);
}

static const MerStudyFact *copy_facts(const Facts *facts, MerArena *arena)
{
    MerStudyFact *copy = MER_ARRAY(arena, MerStudyFact, facts->count + 1);
    memcpy(copy, facts->list, (size_t)facts->count * sizeof *copy);
    return copy;
}

/* What stops a run that does not end by itself. */
static const char *limit_of(const cJSON *header, MerArena *arena)
{
    static const char *const keys[] = {"budget", "time_s", "total_time_s"};
    const char *units[] = {mer_json_get(header, "task_budget") ? " in all" : "", " s", " s in all"};
    const char *limit = "";
    for (int k = 0; k < 3; k++) {
        double value = mer_json_get_real(header, keys[k], 0);
        if (value > 0) {
            limit =
                mer_arena_format(arena, "%s%s%.15g%s", limit, *limit ? ", " : "", value, units[k]);
        }
    }
    return limit;
}

static MerStudyTrace make_trace(const cJSON *header, const cJSON *result)
{
    const char *stopped = mer_json_get_text(result, "stopped", "");
    bool        is_total = mer_json_get(header, "task_budget") != NULL;
    double      budget = is_total ? 0 : mer_json_get_real(header, "budget", 0);
    double      samples = mer_json_get_real(result, "evaluations", budget);
    bool        is_ended = strcmp(stopped, "budget") != 0 && strcmp(stopped, "time") != 0;
    return (MerStudyTrace){.seed = (uint64_t)mer_json_get_real(header, "seed", 0),
                           .samples = (int64_t)samples,
                           .until = (int64_t)(is_ended ? fmax(samples, budget) : samples),
                           .is_ended = is_ended};
}

static void add_tasks(Reader *reader, const cJSON *header, const cJSON *summary,
                      const MerReportRun *curves, const Facts *facts, double wall_s)
{
    MerArena    *arena = reader->arena;
    const cJSON *tasks = mer_json_get(header, "tasks"), *results = mer_json_get(summary, "tasks");
    int          task_count = cJSON_GetArraySize(tasks);
    const char  *optimizer = name_of(header, "optimizer");
    const char  *workload = mer_arena_text(arena, name_of(header, "workload"));
    MerStudyItem common = {.group = group_of(reader, header),
                           .method = label_of(reader, header, "optimizer"),
                           .objective =
                               mer_arena_text(arena, mer_json_get_text(header, "objective", "")),
                           .unit = mer_arena_text(arena, mer_json_get_text(header, "unit", "")),
                           .is_exact = reader->lookup("optimizer", optimizer).proves};
    common.method_key = mer_arena_format(arena, "%s @%s", common.method, limit_of(header, arena));
    for (int t = 0; t < task_count; t++) {
        const cJSON *task = cJSON_GetArrayItem(tasks, t), *result = cJSON_GetArrayItem(results, t);
        const cJSON *bound = mer_json_get(result, "bound");
        const char  *name = mer_arena_text(arena, mer_json_get_text(task, "name", ""));
        MerStudyItem item = common;
        item.task = (MerStudyTask){.workload = workload,
                                   .name = short_name(name, arena),
                                   .full_name = name,
                                   .macs = mer_json_get_real(task, "macs", NAN),
                                   .best = INFINITY,
                                   .log10_size = mer_json_get_real(task, "log10_size", NAN),
                                   .knobs = (int)mer_json_get_real(task, "knobs", 0)};
        item.task_key = mer_arena_format(arena, "%s|%s", workload, name);
        item.is_proven = cJSON_IsTrue(mer_json_get(bound, "proven"));
        item.trace = make_trace(header, result);
        item.trace.wall_s = wall_s / task_count;
        item.trace.facts = copy_facts(&facts[t], arena);
        item.trace.fact_count = facts[t].count;
        item.trace.curve = t < curves->curve_count ? curves->curves[t] : (MerReportCurve){0};
        MER_GROW(arena, reader->items, reader->count);
        reader->items[reader->count++] = item;
    }
}

static double wall_of(const char *directory, MerArena *arena)
{
    char  *text;
    size_t size;
    if (mer_file_read(mer_arena_format(arena, "%s/summary.json", directory), (size_t)1 << 28, arena,
                      &text, &size, NULL) != MER_OK) {
        return NAN;
    }
    cJSON *summary = cJSON_ParseWithLength(text, size);
    double wall_s = mer_json_get_real(summary, "wall_s", NAN);
    cJSON_Delete(summary);
    return wall_s;
}

/* A run that has not ended has no summary line, or one that says it was interrupted. */
static bool is_ended(const cJSON *summary)
{
    return summary && strcmp(mer_json_get_text(summary, "stopped", ""), "interrupted") != 0;
}

static MerStatus read_run(Reader *reader, const char *directory, MerError *error)
{
    MerLogFile   log;
    MerLogLine   line;
    cJSON       *header = NULL, *summary = NULL;
    Facts       *facts = NULL;
    int          task_count = 0;
    MerCurveSet  curves = {0};
    MerReportRun drawn = {0};
    const char  *path = mer_arena_format(reader->arena, "%s/run.jsonl", directory);
    MerStatus    status = MER_OK;
    MER_TRY(mer_log_open(&log, path, error));
    while ((status = mer_log_next(&log, &line, error)) == MER_OK && line.type != NULL) {
        if (header == NULL) {
            header = cJSON_ParseWithLength(line.text, line.length);
            task_count = cJSON_GetArraySize(mer_json_get(header, "tasks"));
            facts = mer_heap_zeroed((size_t)task_count + 1, sizeof *facts);
            curves.budget = (int64_t)mer_json_get_real(header, "budget", 0);
        } else if (strcmp(line.type, "trial") == 0 && !line.is_warm && line.task >= 0 &&
                   line.task < task_count) {
            mer_curve_add(&curves, line.index, line.task, line.is_cut ? NAN : line.score);
        } else if (strcmp(line.type, "end") == 0) {
            mer_curve_end(&curves, line.index, line.task);
        } else if (strcmp(line.type, "note") == 0 && line.task >= 0 && line.task < task_count) {
            take_view(reader, &line, name_of(header, "optimizer"), &facts[line.task]);
        } else if (strcmp(line.type, "summary") == 0) {
            cJSON_Delete(summary);
            summary = cJSON_ParseWithLength(line.text, line.length);
        }
    }
    if (status == MER_OK && is_ended(summary)) {
        mer_curve_finish(&curves, &drawn, reader->arena);
        add_tasks(reader, header, summary, &drawn, facts, wall_of(directory, reader->arena));
        reader->study->run_count++;
    } else {
        reader->study->unfinished++;
    }
    mer_curve_free(&curves);
    free(facts);
    cJSON_Delete(header);
    cJSON_Delete(summary);
    mer_log_close(&log);
    return status;
}

MerStatus mer_study_read(const char *const *paths, int count, MerStudyLookup lookup,
                         MerArena *arena, MerStudy *study, MerError *error)
{
    Reader reader = {.arena = arena, .study = study, .lookup = lookup};
    *study = (MerStudy){0};
    for (int i = 0; i < count; i++) {
        const char **runs = NULL;
        int          run_count = 0;
        MER_TRY(mer_report_find_runs(paths[i], arena, &runs, &run_count, error));
        for (int r = 0; r < run_count; r++) {
            MER_TRY(read_run(&reader, runs[r], error));
        }
    }
    if (reader.count == 0) {
        return mer_error_set(error, MER_NOT_FOUND, "%s: none of its runs has ended", paths[0]);
    }
    mer_study_group(reader.items, reader.count, arena, study);
    return MER_OK;
}
