/* Running the cells of an experiment. */
#define _GNU_SOURCE /* memrchr */
#include "run/experiment/cells.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "mercator/threads.h"
#include "run/internal.h"
#include "run/search/objective.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUMMARY_LIMIT = 1 << 28, TAIL = 1 << 20 };

typedef struct Old { /* a folder with a log that was there before */
    const char *identity, *directory;
    bool        is_used;
} Old;

typedef struct Outcome {
    MerArena    *arena; /* NULL: not ended yet, or told already */
    MerRunResult result;
    MerError     error;
    bool         has_failed;
} Outcome;

typedef struct Batch {
    MerCells *cells;
    MerArena *arena;
    Old      *old;
    int       old_count;
    bool     *is_begun, *is_new; /* by MerRunSpec: has a log to look at; is run whatever it says */
    int      *todo;              /* MerRunSpecs of this round */
    int       todo_count, next, threads_each;
    Outcome  *outcomes;
    int       told, finished, warning_count;
    const char    **warnings;
    pthread_mutex_t lock;
} Batch;

static int by_identity(const void *a, const void *b)
{
    return strcmp(((const Old *)a)->identity, ((const Old *)b)->identity);
}

/* Half of a file that stands beside the cells, whose writer was killed. */
static void remove_left(Batch *batch, const char *name)
{
    static const char *const files[] = {"sweep.csv", "report.html"};
    const char              *whole = mer_folder_left_part(name, batch->arena);
    for (size_t i = 0; whole && i < sizeof files / sizeof *files; i++) {
        if (strcmp(whole, files[i]) == 0) {
            remove(mer_arena_format(batch->arena, "%s/%s", batch->cells->root, name));
        }
    }
}

/* Finds the folders of earlier cells, sorted by what they ran. */
static MerStatus look_around(Batch *batch, MerError *error)
{
    DIR      *folder = mer_folder_open(batch->cells->root);
    MerArena *scratch = mer_arena_new(); /* headers may be long */
    MerStatus status = MER_OK;
    if (!folder && errno != ENOENT) {
        status = mer_error_set(error, MER_IO, "%s: cannot read: %s", batch->cells->root,
                               strerror(errno));
    }
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && status == MER_OK;
         entry = readdir(folder)) {
        char       *header = NULL;
        bool        is_whole;
        const char *directory =
            mer_arena_format(batch->arena, "%s/%s", batch->cells->root, entry->d_name);
        const char *log = mer_arena_format(batch->arena, "%s/run.jsonl", directory);
        remove_left(batch, entry->d_name);
        if (entry->d_name[0] != '.') {
            status = mer_file_first_line(log, scratch, &header, &is_whole, error);
        }
        const char *identity = header ? mer_cell_identity_of(header, batch->arena) : NULL;
        mer_arena_reset(scratch);
        if (identity) {
            MER_GROW(batch->arena, batch->old, batch->old_count);
            batch->old[batch->old_count++] = (Old){identity, directory, false};
        }
    }
    mer_arena_free(scratch);
    if (folder) {
        closedir(folder);
    }
    if (batch->old_count > 0) {
        qsort(batch->old, (size_t)batch->old_count, sizeof *batch->old, by_identity);
    }
    return status;
}

static Old *find_old(Batch *batch, const char *identity)
{
    Old  wanted = {.identity = identity};
    Old *at = batch->old_count > 0 ? bsearch(&wanted, batch->old, (size_t)batch->old_count,
                                             sizeof *batch->old, by_identity)
                                   : NULL;
    while (at && at > batch->old && strcmp(at[-1].identity, identity) == 0) {
        at--;
    }
    for (; at && at < batch->old + batch->old_count && strcmp(at->identity, identity) == 0; at++) {
        if (!at->is_used) {
            return at;
        }
    }
    return NULL;
}

static bool is_redone(const MerCells *cells, const MerRunSpec *spec)
{
    const char *text = spec->optimizer_text ? spec->optimizer_text : spec->optimizer->name;
    return cells->redo && (strcmp(cells->redo, "all") == 0 || strcmp(cells->redo, text) == 0 ||
                           mer_name_equal(cells->redo, spec->optimizer->name));
}

/* An empty log is no cell. */
static bool has_log(const char *directory, MerArena *arena)
{
    char byte;
    return mer_file_peek(mer_arena_format(arena, "%s/run.jsonl", directory), &byte, 1) > 0;
}

/* Known cells keep their folder; the others take the number of their place, or the next free one. */
static void give_folders(Batch *batch)
{
    MerCells *cells = batch->cells;
    int       next = cells->count;
    for (int i = 0; i < cells->count; i++) {
        Old *old = find_old(batch, mer_cell_identity(&cells->specs[i], batch->arena));
        batch->is_begun[i] = old != NULL;
        batch->is_new[i] = is_redone(cells, &cells->specs[i]);
        cells->specs[i].directory = old ? old->directory : NULL;
        if (old) {
            old->is_used = true;
        }
    }
    for (int i = 0; i < cells->count; i++) {
        int number = i;
        while (!cells->specs[i].directory) {
            const char *directory =
                mer_arena_format(batch->arena, "%s/%03d", cells->root, number + 1);
            cells->specs[i].directory = has_log(directory, batch->arena) ? NULL : directory;
            number = next;
            next += !cells->specs[i].directory;
        }
    }
}

static void tell_of_others(const Batch *batch)
{
    int count = 0;
    for (int i = 0; i < batch->old_count; i++) {
        count += !batch->old[i].is_used;
    }
    if (count > 0) {
        batch->cells->warn(
            batch->cells->state,
            mer_arena_format(batch->arena,
                             "%s also holds %d run%s of other settings or inputs, which its report "
                             "shows, too; -o DIR keeps them apart",
                             batch->cells->root, count, count > 1 ? "s" : ""));
    }
}

/* The last line of a log that was written to its end is the summary. */
static bool is_whole(const char *log, MerArena *arena)
{
    static const char summary[] = "{\"type\":\"summary\"";
    FILE             *file = mer_file_open(log);
    char             *tail = mer_arena_alloc(arena, TAIL + 1);
    if (file && fseek(file, -TAIL, SEEK_END) != 0) {
        rewind(file); /* it is shorter */
    }
    size_t length = file ? fread(tail, 1, TAIL, file) : 0;
    if (file) {
        fclose(file);
    }
    if (length == 0 || tail[length - 1] != '\n') {
        return false;
    }
    const char *before = memrchr(tail, '\n', length - 1);
    return strncmp(before ? before + 1 : tail, summary, sizeof summary - 1) == 0;
}

/* The totals of a cell that had ended before. */
static bool take_finished(const MerRunSpec *spec, MerArena *arena, MerRunResult *result)
{
    char       *text;
    size_t      size;
    const char *path = mer_arena_format(arena, "%s/summary.json", spec->directory);
    if (!is_whole(mer_arena_format(arena, "%s/run.jsonl", spec->directory), arena) ||
        mer_file_read(path, SUMMARY_LIMIT, arena, &text, &size, NULL) != MER_OK) {
        return false;
    }
    cJSON       *summary = cJSON_Parse(text);
    const char  *stopped = mer_json_get_text(summary, "stopped", NULL);
    const char  *name = mer_json_get_text(summary, "objective", NULL);
    MerObjective objective;
    bool         is_finished = stopped && name && strcmp(stopped, "interrupted") != 0 &&
                       mer_objective_parse(name, &objective, arena, NULL) == MER_OK;
    if (is_finished) {
        const cJSON *best = mer_json_get(summary, "best");
        *result = (MerRunResult){
            .objective = objective.metric, .objective_text = objective.text, .summary = text};
        MerTaskResult *total = &result->total;
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            const char *metric = mer_metric_info((MerMetric)m)->name;
            total->best.value[m] = mer_json_get_real(best, metric, NAN);
        }
        bool is_feasible = cJSON_IsTrue(mer_json_get(best, "feasible"));
        result->is_feasible = total->best.feasible = is_feasible;
        total->score = mer_json_get_real(best, "score", is_feasible ? NAN : INFINITY);
        total->value = -objective.direction * mer_json_get_real(best, "score", NAN);
        total->gap = mer_json_get_real(mer_json_get(summary, "bound"), "gap", NAN);
        total->evaluations = (int64_t)mer_json_get_real(summary, "evaluations", 0);
        total->stopped = mer_arena_text(arena, stopped);
        result->wall_s = mer_json_get_real(summary, "wall_s", NAN);
    }
    cJSON_Delete(summary);
    return is_finished;
}

static void warn_once(void *state, const char *text)
{
    Batch *batch = state;
    pthread_mutex_lock(&batch->lock);
    bool is_known = false;
    for (int i = 0; i < batch->warning_count; i++) {
        is_known |= strcmp(batch->warnings[i], text) == 0;
    }
    if (!is_known) {
        MER_GROW(batch->arena, batch->warnings, batch->warning_count);
        batch->warnings[batch->warning_count++] = mer_arena_text(batch->arena, text);
        if (batch->cells->warn) {
            batch->cells->warn(batch->cells->state, text);
        }
    }
    pthread_mutex_unlock(&batch->lock);
}

static bool is_cancelled(void *state)
{
    const MerCells *cells = ((Batch *)state)->cells;
    return cells->is_cancelled && cells->is_cancelled(cells->state);
}

static void tell_in_order(Batch *batch)
{
    while (batch->told < batch->cells->count && batch->outcomes[batch->told].arena) {
        Outcome *outcome = &batch->outcomes[batch->told];
        if (batch->cells->done) {
            batch->cells->done(batch->cells->state, batch->told, &outcome->result,
                               outcome->has_failed ? &outcome->error : NULL);
        }
        mer_arena_free(outcome->arena); /* points and plans of a cell are not needed afterwards */
        outcome->arena = NULL;
        batch->told++;
    }
}

static void run_cell(Batch *batch, int index)
{
    MerRunSpec *spec = &batch->cells->specs[index];
    Outcome     outcome = {.arena = mer_arena_new()};
    bool        is_known = batch->is_begun[index] && !batch->is_new[index];
    /* files that were asked for may be missing, or wanted now only */
    if (!is_known || spec->export_count > 0 ||
        !take_finished(spec, outcome.arena, &outcome.result)) {
        MerRunHooks hooks = {batch, is_cancelled, NULL, warn_once};
        spec->command = batch->cells->command;
        spec->resume = is_known;
        spec->threads = batch->threads_each;
        MerStatus status = mer_run(spec, &hooks, outcome.arena, &outcome.result, &outcome.error);
        if (status == MER_INVALID && is_known &&
            !outcome.result.has_ended) { /* the log of another version: it begins anew */
            spec->resume = false;
            status = mer_run(spec, &hooks, outcome.arena, &outcome.result, &outcome.error);
        }
        outcome.has_failed = status != MER_OK;
    }
    pthread_mutex_lock(&batch->lock);
    batch->outcomes[index] = outcome;
    batch->finished++;
    if (batch->cells->tick) {
        batch->cells->tick(batch->cells->state, batch->finished, spec);
    }
    tell_in_order(batch);
    pthread_mutex_unlock(&batch->lock);
}

/* One at a time: the pool's own chunks would leave a thread idle at the end. */
static void take_cells(void *context, int index, int worker)
{
    Batch *batch = context;
    (void)index;
    (void)worker;
    while (!is_cancelled(batch)) {
        pthread_mutex_lock(&batch->lock);
        int at = batch->next < batch->todo_count ? batch->next++ : -1;
        pthread_mutex_unlock(&batch->lock);
        if (at < 0) {
            return;
        }
        run_cell(batch, batch->todo[at]);
    }
}

/* Cells side by side, each on few threads; cells that the clock ends one by one on all of them, since
 * neighbours would take from their time. */
static void run_round(Batch *batch, bool is_timed, int threads)
{
    const MerCells *cells = batch->cells;
    batch->todo_count = batch->next = 0;
    for (int i = 0; i < cells->count; i++) {
        if ((mer_run_time(&cells->specs[i]) > 0) == is_timed) {
            batch->todo[batch->todo_count++] = i;
        }
    }
    int beside = is_timed || cells->is_chain   ? 1
                 : threads < batch->todo_count ? threads
                                               : batch->todo_count;
    if (batch->todo_count > 0) {
        MerPool *pool = mer_pool_new(beside);
        batch->threads_each = threads / beside;
        mer_pool_run(pool, beside, take_cells, batch);
        mer_pool_free(pool);
    }
}

/* One file cannot hold what several runs write. */
static MerStatus check_files(const MerCells *cells, MerError *error)
{
    const MerRunSpec *first = cells->specs;
    for (int i = 1; i < cells->count; i++) {
        const char *policy = cells->specs[i].save_policy;
        if (policy && first->save_policy && strcmp(policy, first->save_policy) == 0) {
            return mer_error_set(
                error, MER_INVALID,
                "--save-policy %s: each of these %d runs would write it; give it to "
                "one run, or let --train make one policy",
                policy, cells->count);
        }
    }
    for (int e = 0; cells->count > 1 && e < first->export_count; e++) {
        const MerExportRequest *request = &first->exports[e];
        if (request->path) {
            return mer_error_set(
                error, MER_INVALID,
                "--export %s=%s: each of these %d runs would write it; --export %s "
                "writes a file into the folder of each run",
                request->type->name, request->path, cells->count, request->type->name);
        }
    }
    return MER_OK;
}

MerStatus mer_cells_run(MerCells *cells, MerArena *arena, MerError *error)
{
    MER_TRY(check_files(cells, error));
    Batch batch = {.cells = cells,
                   .arena = arena,
                   .outcomes = mer_heap_zeroed((size_t)cells->count + 1, sizeof(Outcome)),
                   .is_begun = MER_ARRAY(arena, bool, cells->count + 1),
                   .is_new = MER_ARRAY(arena, bool, cells->count + 1),
                   .todo = MER_ARRAY(arena, int, cells->count + 1)};
    if (pthread_mutex_init(&batch.lock, NULL) != 0) {
        free(batch.outcomes);
        return mer_error_set(error, MER_IO, "no lock for the cells of %s", cells->root);
    }
    int       threads = cells->threads > 0 ? cells->threads : mer_cpu_count();
    MerStatus status = MER_OK;
    if (access(mer_arena_format(arena, "%s/run.jsonl", cells->root), F_OK) == 0) {
        status = mer_error_set(error, MER_INVALID,
                               "%s holds a single run, expected an empty folder or one of several "
                               "runs; choose another with -o DIR",
                               cells->root);
    }
    status = status == MER_OK ? look_around(&batch, error) : status;
    if (status == MER_OK) {
        give_folders(&batch);
        tell_of_others(&batch);
        run_round(&batch, false, threads);
        run_round(&batch, true, threads);
    }
    for (int i = batch.told; i < cells->count; i++) {
        if (batch.outcomes[i].arena) {
            mer_arena_free(batch.outcomes[i].arena);
        }
    }
    free(batch.outcomes);
    pthread_mutex_destroy(&batch.lock);
    return status;
}
