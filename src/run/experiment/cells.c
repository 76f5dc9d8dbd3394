/* Running the cells of an experiment. */
#include "run/experiment/cells.h"

#include "base/memory.h"
#include "base/text.h"
#include "mercator/threads.h"
#include "run/search/objective.h"

#include <cjson/cJSON.h>
#include <dirent.h>
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

typedef struct Job {
    MerCells       *cells;
    MerArena       *arena;
    Old            *old;
    int             old_count;
    bool           *is_begun, *is_new; /* by spec: has a log to look at; is run whatever it says */
    int            *todo;              /* specs of this round */
    int             todo_count, next, threads_each;
    Outcome        *outcomes;
    int             told, finished;
    MerTexts        warnings;
    pthread_mutex_t lock;
} Job;

static const char *first_line(const char *path)
{
    char  *line = NULL;
    size_t capacity = 0;
    FILE  *file = fopen(path, "r");
    if (file && getline(&line, &capacity, file) < 1) {
        free(line);
        line = NULL;
    }
    if (file) {
        fclose(file);
    }
    return line;
}

static int by_identity(const void *a, const void *b)
{
    return strcmp(((const Old *)a)->identity, ((const Old *)b)->identity);
}

/* Finds the folders of earlier cells, sorted by what they ran. */
static void look_around(Job *job)
{
    DIR *folder = opendir(job->cells->root);
    int  capacity = 0;
    Old *found = NULL;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        const char *directory =
            mer_arena_format(job->arena, "%s/%s", job->cells->root, entry->d_name);
        const char *header =
            entry->d_name[0] == '.'
                ? NULL
                : first_line(mer_arena_format(job->arena, "%s/run.jsonl", directory));
        const char *identity = header ? mer_cell_identity_of(header, job->arena) : NULL;
        free((char *)header);
        if (!identity) {
            continue;
        }
        if (job->old_count == capacity) {
            capacity = capacity * 2 + 64;
            found = mer_heap_resize(found, (size_t)capacity, sizeof *found);
        }
        found[job->old_count++] = (Old){identity, directory, false};
    }
    if (folder) {
        closedir(folder);
    }
    job->old = MER_ARRAY(job->arena, Old, job->old_count + 1);
    if (job->old_count > 0) {
        memcpy(job->old, found, (size_t)job->old_count * sizeof *found);
        qsort(job->old, (size_t)job->old_count, sizeof *job->old, by_identity);
    }
    free(found);
}

static Old *find_old(Job *job, const char *identity)
{
    Old  wanted = {.identity = identity};
    Old *at = job->old_count > 0 ? bsearch(&wanted, job->old, (size_t)job->old_count,
                                           sizeof *job->old, by_identity)
                                 : NULL;
    while (at && at > job->old && strcmp(at[-1].identity, identity) == 0) {
        at--;
    }
    for (; at && at < job->old + job->old_count && strcmp(at->identity, identity) == 0; at++) {
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

/* Known cells keep their folder; the others take the number of their place, or the next free one. */
static void give_folders(Job *job)
{
    MerCells *cells = job->cells;
    int       next = cells->count;
    for (int i = 0; i < cells->count; i++) {
        Old *old = find_old(job, mer_cell_identity(&cells->specs[i], job->arena));
        job->is_begun[i] = old != NULL;
        job->is_new[i] = is_redone(cells, &cells->specs[i]);
        cells->specs[i].directory = old ? old->directory : NULL;
        if (old) {
            old->is_used = true;
        }
    }
    for (int i = 0; i < cells->count; i++) {
        int number = i;
        while (!cells->specs[i].directory) {
            const char *directory =
                mer_arena_format(job->arena, "%s/%03d", cells->root, number + 1);
            const char *log = mer_arena_format(job->arena, "%s/run.jsonl", directory);
            const char *header =
                access(log, F_OK) == 0 ? first_line(log) : NULL; /* an empty log is no cell */
            cells->specs[i].directory = header ? NULL : directory;
            free((char *)header);
            number = next;
            next += !cells->specs[i].directory;
        }
    }
}

/* The last line of a log that was written to its end is the summary. */
static bool is_whole(const char *log, MerArena *arena)
{
    static const char summary[] = "{\"type\":\"summary\"";
    FILE             *file = fopen(log, "r");
    char             *tail = mer_arena_alloc(arena, TAIL + 1);
    long              size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    long              skipped = size > TAIL ? size - TAIL : 0;
    size_t            length =
        size > 0 && fseek(file, skipped, SEEK_SET) == 0 ? fread(tail, 1, TAIL, file) : 0;
    if (file) {
        fclose(file);
    }
    if (length == 0 || tail[length - 1] != '\n') {
        return false;
    }
    size_t start = length - 1;
    while (start > 0 && tail[start - 1] != '\n') {
        start--;
    }
    return strncmp(tail + start, summary, sizeof summary - 1) == 0;
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
    cJSON      *summary = cJSON_Parse(text);
    const char *stopped =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(summary, "stopped"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(summary, "objective"));
    MerObjective objective;
    bool         is_finished = stopped && name && strcmp(stopped, "interrupted") != 0 &&
                       mer_objective_parse(name, &objective, arena, NULL) == MER_OK;
    if (is_finished) {
        const cJSON *best = cJSON_GetObjectItemCaseSensitive(summary, "best");
        const cJSON *bound = cJSON_GetObjectItemCaseSensitive(summary, "bound");
        *result = (MerRunResult){
            .objective = objective.metric, .objective_text = objective.text, .summary = text};
        MerTaskResult *total = &result->total;
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            const cJSON *value =
                cJSON_GetObjectItemCaseSensitive(best, mer_metric_info((MerMetric)m)->name);
            total->best.value[m] = cJSON_IsNumber(value) ? value->valuedouble : NAN;
        }
        const cJSON *score = cJSON_GetObjectItemCaseSensitive(best, "score");
        const cJSON *gap = cJSON_GetObjectItemCaseSensitive(bound, "gap");
        bool         is_feasible = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(best, "feasible"));
        result->is_feasible = total->best.feasible = is_feasible;
        total->score = cJSON_IsNumber(score) ? score->valuedouble : is_feasible ? NAN : INFINITY;
        total->value = cJSON_IsNumber(score) ? -objective.direction * score->valuedouble : NAN;
        total->gap = cJSON_IsNumber(gap) ? gap->valuedouble : NAN;
        total->evaluations =
            (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(summary, "evaluations"));
        total->stopped = mer_arena_text(arena, stopped);
        result->wall_s = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(summary, "wall_s"));
    }
    cJSON_Delete(summary);
    return is_finished;
}

static void warn_once(void *state, const char *text)
{
    Job *job = state;
    pthread_mutex_lock(&job->lock);
    bool is_known = false;
    for (int i = 0; i < job->warnings.count; i++) {
        is_known |= strcmp(job->warnings.values[i], text) == 0;
    }
    if (!is_known) {
        const char **grown = MER_ARRAY(job->arena, const char *, job->warnings.count + 1);
        for (int i = 0; i < job->warnings.count; i++) {
            grown[i] = job->warnings.values[i];
        }
        grown[job->warnings.count] = mer_arena_text(job->arena, text);
        job->warnings = (MerTexts){job->warnings.count + 1, grown};
        if (job->cells->warn) {
            job->cells->warn(job->cells->state, text);
        }
    }
    pthread_mutex_unlock(&job->lock);
}

static bool is_cancelled(void *state)
{
    const MerCells *cells = ((Job *)state)->cells;
    return cells->is_cancelled && cells->is_cancelled(cells->state);
}

static void tell_in_order(Job *job)
{
    while (job->told < job->cells->count && job->outcomes[job->told].arena) {
        Outcome *outcome = &job->outcomes[job->told];
        if (job->cells->done) {
            job->cells->done(job->cells->state, job->told, &outcome->result,
                             outcome->has_failed ? &outcome->error : NULL);
        }
        mer_arena_free(outcome->arena); /* points and plans of a cell are not needed afterwards */
        outcome->arena = NULL;
        job->told++;
    }
}

static void run_cell(Job *job, int index)
{
    MerRunSpec *spec = &job->cells->specs[index];
    Outcome     outcome = {.arena = mer_arena_new()};
    bool        is_known = job->is_begun[index] && !job->is_new[index];
    if (!is_known || !take_finished(spec, outcome.arena, &outcome.result)) {
        MerRunHooks hooks = {job, is_cancelled, NULL, warn_once};
        spec->command = job->cells->command;
        spec->resume = is_known;
        spec->threads = job->threads_each;
        MerStatus status = mer_run(spec, &hooks, outcome.arena, &outcome.result, &outcome.error);
        if (status == MER_INVALID && is_known) { /* the log of another version: it begins anew */
            spec->resume = false;
            status = mer_run(spec, &hooks, outcome.arena, &outcome.result, &outcome.error);
        }
        outcome.has_failed = status != MER_OK;
    }
    pthread_mutex_lock(&job->lock);
    job->outcomes[index] = outcome;
    job->finished++;
    if (job->cells->tick) {
        job->cells->tick(job->cells->state, job->finished, spec);
    }
    tell_in_order(job);
    pthread_mutex_unlock(&job->lock);
}

/* One at a time: the pool's own chunks would leave a thread idle at the end. */
static void take_cells(void *context, int index, int worker)
{
    Job *job = context;
    (void)index;
    (void)worker;
    while (!is_cancelled(job)) {
        pthread_mutex_lock(&job->lock);
        int at = job->next < job->todo_count ? job->next++ : -1;
        pthread_mutex_unlock(&job->lock);
        if (at < 0) {
            return;
        }
        run_cell(job, job->todo[at]);
    }
}

/* Cells side by side, each on few threads; cells that the clock ends one by one on all of them, since
 * neighbours would take from their time. */
static void run_round(Job *job, bool is_timed, int threads)
{
    const MerCells *cells = job->cells;
    job->todo_count = job->next = 0;
    for (int i = 0; i < cells->count; i++) {
        if ((cells->specs[i].time_s > 0) == is_timed) {
            job->todo[job->todo_count++] = i;
        }
    }
    int beside = is_timed ? 1 : threads < job->todo_count ? threads : job->todo_count;
    if (job->todo_count > 0) {
        MerPool *pool = mer_pool_new(beside);
        job->threads_each = threads / beside;
        mer_pool_run(pool, beside, take_cells, job);
        mer_pool_free(pool);
    }
}

MerStatus mer_cells_run(MerCells *cells, MerArena *arena, MerError *error)
{
    Job job = {.cells = cells,
               .arena = arena,
               .outcomes = mer_heap_zeroed((size_t)cells->count + 1, sizeof(Outcome)),
               .is_begun = MER_ARRAY(arena, bool, cells->count + 1),
               .is_new = MER_ARRAY(arena, bool, cells->count + 1),
               .todo = MER_ARRAY(arena, int, cells->count + 1)};
    if (pthread_mutex_init(&job.lock, NULL) != 0) {
        free(job.outcomes);
        return mer_error_set(error, MER_IO, "no lock for the cells of %s", cells->root);
    }
    int threads = cells->threads > 0 ? cells->threads : mer_cpu_count();
    look_around(&job);
    give_folders(&job);
    run_round(&job, false, threads);
    run_round(&job, true, threads);
    for (int i = job.told; i < cells->count; i++) {
        if (job.outcomes[i].arena) {
            mer_arena_free(job.outcomes[i].arena);
        }
    }
    free(job.outcomes);
    pthread_mutex_destroy(&job.lock);
    return MER_OK;
}
