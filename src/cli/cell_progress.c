/* Running many cells for a person who watches. */
#include "cli/request.h"

#include "base/json_read.h"
#include "base/log.h"
#include "base/name_table.h"
#include "report/tables/table.h"
#include "run/experiment/cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Watch {
    const MerRequest *request;
    const MerRunSpec *specs;
    MerCellTotal     *totals;
    int               count, code;
    bool              is_shown;
    double            started;
    MerProgress       progress;
    MerArena         *arena;
    MerNameTable      told;  /* messages that were shown */
    int               alike; /* runs with one of these that stands in no file */
} Watch;

static void tick(void *state, int finished, const MerRunSpec *spec)
{
    Watch *watch = state;
    char   name[160];
    double spent = mer_clock() - watch->started;
    snprintf(name, sizeof name, "%.40s, %.60s, seed %llu", spec->name, spec->optimizer_text,
             (unsigned long long)spec->seed);
    mer_progress_update(&watch->progress,
                        &(MerProgressNow){.what = spec->problem->name,
                                          .name = name,
                                          .done = finished,
                                          .total = watch->count,
                                          .unit = "runs",
                                          .rate = finished / fmax(spent, 1e-9),
                                          .left_s = (watch->count - finished) * spent / finished});
}

static void show_line(const MerRunSpec *spec, const MerRunResult *result, bool was_stopped)
{
    char      value[48], gap[48];
    MerArena *arena = mer_arena_new(); /* folders and platforms may have long names */
    mer_show_value(value, result->objective, result->total.value);
    mer_print_percent(gap, result->total.gap);
    const char *text = mer_arena_format(
        arena, "%s: %s%s%s, %s, seed %llu: %s %s, gap %s%s", spec->directory, spec->workload_text,
        spec->platform ? " on " : "", spec->platform ? spec->platform->name : "",
        spec->optimizer_text, (unsigned long long)spec->seed, result->objective_text, value, gap,
        was_stopped ? ", interrupted" : "");
    mer_print_lines(stdout, text, 2);
    mer_arena_free(arena);
}

/* Once, however many runs fail with it. The place in the experiment file, or which run it is; and where a policy of
 * --train does not fit, whose it is. */
static void show_error(Watch *watch, int index, const char *message)
{
    const MerRunSpec *spec = &watch->specs[index], *before = index > 0 ? spec - 1 : spec;
    const char       *place = mer_experiment_blamed(spec, message, watch->arena);
    const char       *said = mer_arena_format(watch->arena, "%s %s", place ? place : "", message);
    bool              is_told = strncmp(message, spec->directory, strlen(spec->directory)) == 0;
    bool              is_policy = watch->request->train && spec->policy && before->save_policy &&
                     strcmp(spec->policy, before->save_policy) == 0 &&
                     strstr(message, "it was learned on other knobs") != NULL;
    if (mer_name_table_find(&watch->told, said)) {
        watch->alike += place == NULL;
        return;
    }
    mer_name_table_set(&watch->told, said, watch);
    fprintf(stderr, "mercator: %s%s%s",
            is_told ? ""
            : place ? place
                    : spec->directory,
            is_told ? "" : ": ", message);
    if (is_policy) {
        fprintf(stderr, " (%s, not %s); policies of %s are for tasks with the same knobs",
                before->name, spec->name, spec->optimizer->name);
    }
    fputc('\n', stderr);
}

/* The first task without a plan, and why; of a run that had ended before the summary knows it, too. */
static void show_infeasible(const MerRunSpec *spec, const MerRunResult *result)
{
    cJSON       *summary = cJSON_Parse(result->summary);
    const cJSON *task, *best = NULL;
    const char  *name = "some task";
    cJSON_ArrayForEach(task, mer_json_get(summary, "tasks"))
    {
        best = mer_json_get(task, "best");
        if (cJSON_IsFalse(mer_json_get(best, "feasible"))) {
            name = mer_json_get_text(task, "name", name);
            break;
        }
    }
    fprintf(stderr, "mercator: %s: no feasible plan for %s of %s: %s\n", spec->directory, name,
            spec->workload_text, mer_json_get_text(best, "reason", "see its summary.json"));
    cJSON_Delete(summary);
}

static void done(void *state, int index, const MerRunResult *result, const MerError *error)
{
    Watch            *watch = state;
    const MerRunSpec *spec = &watch->specs[index];
    mer_progress_end(&watch->progress); /* both lines may go to one terminal */
    if (error) {
        show_error(watch, index, error->message);
        watch->code = MER_EXIT_BAD;
    }
    if (error && !result->has_ended) {
        watch->totals[index] =
            (MerCellTotal){.total = {.value = NAN, .gap = NAN}, .has_failed = true};
        return;
    }
    const MerTaskResult *total = &result->total;
    bool                 was_stopped = total->stopped && strcmp(total->stopped, "interrupted") == 0;
    /* without what lives in the cell's own memory */
    watch->totals[index] = (MerCellTotal){.total = {.best = total->best,
                                                    .score = total->score,
                                                    .value = total->value,
                                                    .gap = total->gap,
                                                    .evaluations = total->evaluations},
                                          .wall_s = result->wall_s,
                                          .is_feasible = result->is_feasible,
                                          .is_done = !was_stopped};
    watch->code = result->is_feasible || was_stopped ? watch->code : MER_EXIT_BAD;
    if (watch->is_shown && watch->request->json) {
        printf("%s\n", result->summary);
    } else if (watch->is_shown) {
        show_line(spec, result, was_stopped);
    }
    fflush(stdout);
    if (!result->is_feasible && !was_stopped) {
        show_infeasible(spec, result);
    }
}

static void warn(void *state, const char *text)
{
    Watch *watch = state;
    mer_progress_end(&watch->progress);
    mer_request_warn(NULL, text);
}

int mer_cli_cells(const MerRequest *request, MerRunSpec *specs, int count, const char *root,
                  bool is_shown, MerCellTotal *totals, MerArena *arena)
{
    MerError error = {0};
    Watch    watch = {.request = request,
                      .specs = specs,
                      .totals = totals,
                      .count = count,
                      .arena = arena,
                      .told = {.arena = arena},
                      .is_shown = is_shown,
                      .started = mer_clock()};
    MerCells cells = {.specs = specs,
                      .count = count,
                      .root = root,
                      .command = request->command,
                      .threads = specs[0].threads,
                      .redo = request->redo,
                      .is_chain = request->train,
                      .state = &watch,
                      .is_cancelled = mer_cli_is_interrupted,
                      .warn = warn,
                      .tick = tick,
                      .done = done};
    mer_progress_begin(&watch.progress, request->quiet ? NULL : stderr);
    mer_cli_catch_interrupts();
    MerStatus status = mer_cells_run(&cells, arena, &error);
    mer_progress_end(&watch.progress);
    if (watch.alike > 0) {
        fprintf(stderr, "mercator: %d more run%s failed in the same way\n", watch.alike,
                watch.alike > 1 ? "s" : "");
    }
    if (status != MER_OK) {
        for (int i = 0; i < count; i++) {
            totals[i].has_failed = true;
        }
        return mer_cli_fail(&error);
    }
    return mer_cli_is_interrupted(NULL) ? MER_EXIT_INTERRUPTED : watch.code;
}
