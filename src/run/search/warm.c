/* Warm starts: the k best distinct points of the same task in an earlier log, or, where the problem can carry
 * points over, of other tasks. */
#include "run/search/task_search.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Candidate {
    double   score;
    int64_t  index;
    MerIndex point[]; /* all knobs */
} Candidate;

typedef struct Pool { /* the best of one old task so far, best first */
    Candidate **list;
    int         count, capacity, knobs;
    int         share; /* of them are given at most */
    bool        is_read, is_wanted;
    const int  *from;    /* by knob of the new task: old knob; NULL: the same space */
    int        *choices; /* of all old knobs; NULL: the log has its points in full */
    int         choice_count;
} Pool;

/* Of the run's own log: what it holds up to here need not be read again for the next task. */
typedef struct MerWarmChain {
    Pool       *pools;
    int64_t     bytes, lines;
    MerLogWords words; /* of these lines */
} MerWarmChain;

typedef struct Reader {
    MerRunState *run;
    MerRunTask  *task;
    const char  *path;
    bool         is_chain; /* the log is this run's own: earlier tasks only */
    Pool        *pools;    /* by old task */
    int          pool_count, capacity;
    int64_t      damaged, first_damaged; /* lines, and the number of the first */
    const char  *refusal;                /* why it is no log of another tool; NULL: nobody said */
    MerLogWords *words;
    MerWordsText full; /* the line at hand */
} Reader;

/* RUN:k -> path of the log and k. A RUN may itself contain colons. */
static MerStatus split_name(Reader *reader, const char *warm, MerError *error)
{
    enum { MOST = 1000000, WITHOUT_POPULATION = 64 };
    MerArena   *arena = reader->run->arena;
    int64_t     population = mer_run_population(reader->run->spec, arena);
    const char *colon = strrchr(warm, ':');
    int64_t     number;
    size_t      length = strlen(warm);
    reader->capacity = population > 0 ? (int)population : WITHOUT_POPULATION;
    if (colon && mer_parse_int(colon + 1, &number)) {
        if (number < 1 || number > MOST) {
            return mer_error_set(error, MER_INVALID,
                                 "--warm is \"%s\", expected 1 to %d points after the colon", warm,
                                 MOST);
        }
        reader->capacity = (int)number;
        length = (size_t)(colon - warm);
    }
    const char *path = mer_arena_text_n(arena, warm, length);
    struct stat info;
    bool        is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    reader->is_chain = strcmp(path, "chain") == 0;
    reader->path = reader->is_chain ? reader->run->log.path
                   : is_directory   ? mer_arena_format(arena, "%s/run.jsonl", path)
                                    : path;
    return MER_OK;
}

bool mer_warm_is_chain(const char *warm)
{
    return strncmp(warm, "chain", 5) == 0 && (warm[5] == ':' || !warm[5]);
}

static bool has_hash(const cJSON *object, uint64_t hash)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return strcmp(mer_json_get_text(object, "hash", ""), text) == 0;
}

/* The options of a plug-in as a log header has them. */
static MerStatus read_options(const cJSON *options, const MerProblemClass *type,
                              const void **result, MerArena *arena, MerError *error)
{
    int          count = cJSON_GetArraySize(options);
    MerReference reference = {.name = type->name,
                              .keys = MER_ARRAY(arena, const char *, count + 1),
                              .values = MER_ARRAY(arena, const char *, count + 1)};
    const cJSON *item;
    cJSON_ArrayForEach(item, options)
    {
        if (!cJSON_IsNull(item)) {
            char *printed = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
            reference.keys[reference.count] = mer_arena_text(arena, item->string);
            reference.values[reference.count++] =
                mer_arena_text(arena, printed ? printed : item->valuestring);
            free(printed);
        }
    }
    void *filled = mer_arena_alloc(arena, type->options_size);
    *result = filled;
    return type->options ? mer_options_fill(type->options, NULL, filled, &reference, arena, error)
                         : MER_OK;
}

/* Opens the task of the old run again, to know its space; the workload must be the same file. */
static MerStatus open_old(Reader *reader, const cJSON *header, const char *name, MerProblem *old,
                          MerError *error)
{
    const MerRunSpec *spec = reader->run->spec;
    MerArena         *arena = reader->run->arena;
    const MerTask    *tasks;
    int               count;
    if (!has_hash(mer_json_get(header, "workload"), spec->graph->hash)) {
        return mer_error_set(
            error, MER_INVALID,
            "%s:1: its tasks are of another workload, expected %s; --warm-match rank does "
            "without them",
            reader->path, spec->name);
    }
    *old = (MerProblem){.type = spec->problem,
                        .graph = spec->graph,
                        .platform = spec->platform,
                        .plan = reader->task->problem.plan,
                        .state = mer_arena_alloc(arena, spec->problem->state_size)};
    MER_TRY(read_options(mer_json_get(mer_json_get(header, "problem"), "options"), spec->problem,
                         &old->options, arena, error));
    MER_TRY(spec->problem->tasks(old, arena, &tasks, &count, error));
    for (int t = 0; t < count; t++) {
        if (strcmp(tasks[t].name, name) == 0) {
            old->task = &tasks[t];
            return spec->problem->open(old, arena, error);
        }
    }
    return mer_error_set(error, MER_INVALID, "%s:1: there is no task %s any more", reader->path,
                         name);
}

static MerStatus carry(const Reader *reader, const MerSpace *other, int other_knobs, int *from,
                       MerError *error)
{
    const MerProblem *problem = &reader->task->problem;
    return problem->type->carry(problem, other, other_knobs, reader->run->spec->warm_match, from,
                                reader->run->arena, error);
}

static bool can_carry(const Reader *reader)
{
    const MerProblem *problem = &reader->task->problem;
    return problem->type->can_carry && problem->type->can_carry(problem);
}

/* How points of old task `index` become points of the new one. */
static MerStatus make_map(Reader *reader, const cJSON *header, int index, const cJSON *old_task,
                          Pool *pool, MerError *error)
{
    MerRunState    *run = reader->run;
    const MerSpace *space = &reader->task->problem.space;
    int            *from = MER_ARRAY(run->arena, int, space->knob_count + 1);
    pool->from = from;
    if (run->spec->warm_match == MER_MATCH_RANK) {
        return carry(reader, NULL, pool->knobs, from, error);
    }
    if (reader->is_chain) {
        return carry(reader, &run->tasks[index].problem.space, pool->knobs, from, error);
    }
    MerProblem old;
    MER_TRY(open_old(reader, header, mer_json_get_text(old_task, "name", ""), &old, error));
    MerStatus status = carry(reader, &old.space, pool->knobs, from, error);
    if (old.type->close) {
        old.type->close(&old);
    }
    return status;
}

static void open_pools(Reader *reader, int count)
{
    MerRunState *run = reader->run;
    reader->pool_count = count;
    if (reader->is_chain && !run->chain->pools) {
        run->chain->pools = MER_ARRAY(run->arena, Pool, count + 1);
    }
    reader->pools = reader->is_chain ? run->chain->pools : MER_ARRAY(run->arena, Pool, count + 1);
}

/* Later tasks of a chain take fewer points of each task, or all of them of one that is equal. */
static void reserve(const Reader *reader, Pool *pool)
{
    if (!pool->list && pool->is_read) {
        pool->capacity = reader->is_chain ? reader->capacity : pool->share;
        pool->list = MER_ARRAY(reader->run->arena, Candidate *, pool->capacity + 1);
    }
}

static void read_choices(Reader *reader, Pool *pool, const cJSON *choices)
{
    const cJSON *item;
    int          count = cJSON_GetArraySize(choices);
    pool->choice_count = 0;
    pool->choices = choices ? MER_ARRAY(reader->run->arena, int, count + 1) : NULL;
    cJSON_ArrayForEach(item, choices)
    {
        bool is_count = cJSON_IsNumber(item) && item->valuedouble >= 1;
        pool->choices[pool->choice_count++] = is_count ? item->valueint : 1;
    }
}

/* Which tasks of the old log give points, and how: the one with the same space, else all that can be carried
 * over, each its part. */
static MerStatus read_header(Reader *reader, const cJSON *header, MerError *error)
{
    MerRunState    *run = reader->run;
    const MerSpace *space = &reader->task->problem.space;
    const cJSON    *tasks = mer_json_get(header, "tasks");
    bool            is_same_platform = !run->spec->platform ||
                            has_hash(mer_json_get(header, "platform"), run->spec->platform->hash);
    bool is_carried = can_carry(reader) && is_same_platform &&
                      strcmp(mer_json_get_text(mer_json_get(header, "problem"), "name", ""),
                             run->spec->problem->name) == 0;
    int wanted = 0;
    int same = -1;
    if (!reader->is_chain &&
        strncmp(mer_json_get_text(header, "format", ""), "mercator-run/", 13) != 0) {
        return mer_error_set(error, MER_INVALID, "%s:1: no log of a run%s%s", reader->path,
                             reader->refusal ? "; " : "", reader->refusal ? reader->refusal : "");
    }
    open_pools(reader, cJSON_GetArraySize(tasks));
    for (int t = 0; t < reader->pool_count; t++) {
        const cJSON *task = cJSON_GetArrayItem(tasks, t);
        const cJSON *knobs = mer_json_get(task, "knobs");
        bool         is_before = !reader->is_chain || t < reader->task->index;
        Pool        *pool = &reader->pools[t];
        read_choices(reader, pool, mer_json_get(task, "choices"));
        pool->knobs = reader->is_chain        ? run->tasks[t].problem.space.knob_count
                      : cJSON_IsNumber(knobs) ? knobs->valueint
                                              : 0;
        same = is_before && same < 0 && has_hash(task, mer_space_hash(space)) ? t : same;
        pool->is_read = reader->is_chain && is_before;
        pool->is_wanted = is_before && is_carried && pool->knobs >= 2;
        wanted += pool->is_wanted;
    }
    if (same < 0 && wanted == 0 && !reader->is_chain) {
        return mer_error_set(error, MER_INVALID, "%s:1: no task of this run has the space of %s%s",
                             reader->path, reader->task->result->task.name,
                             can_carry(reader) && !is_same_platform
                                 ? ", and points are carried over on the same platform only"
                                 : "");
    }
    for (int t = 0; t < reader->pool_count; t++) {
        Pool *pool = &reader->pools[t];
        pool->is_wanted = same >= 0 ? t == same : pool->is_wanted;
        pool->knobs = t == same ? space->knob_count : pool->knobs;
        pool->is_read = pool->is_read || pool->is_wanted;
        pool->share =
            same >= 0 || wanted == 0 ? reader->capacity : (reader->capacity + wanted - 1) / wanted;
        pool->from = NULL;
        reserve(reader, pool);
        if (pool->is_wanted && same < 0) {
            MER_TRY(make_map(reader, header, t, cJSON_GetArrayItem(tasks, t), pool, error));
        }
    }
    return MER_OK;
}

/* Insertion into the sorted pool; equal points are kept once. */
static void keep(Pool *pool, const Candidate *candidate, MerArena *arena)
{
    size_t bytes = (size_t)pool->knobs * sizeof(MerIndex);
    int    at = pool->count;
    for (int i = 0; i < pool->count; i++) {
        if (memcmp(pool->list[i]->point, candidate->point, bytes) == 0) {
            return;
        }
    }
    while (at > 0 && pool->list[at - 1]->score > candidate->score) {
        at--;
    }
    if (at == pool->capacity) {
        return;
    }
    Candidate *slot = pool->count == pool->capacity
                          ? pool->list[--pool->count]
                          : mer_arena_alloc(arena, sizeof(Candidate) + bytes);
    memcpy(slot, candidate, sizeof(Candidate) + bytes);
    memmove(pool->list + at + 1, pool->list + at, (size_t)(pool->count - at) * sizeof *pool->list);
    pool->list[at] = slot;
    pool->count++;
}

/* False: the line says it is a trial and is not a whole one. */
static bool take_trial(Reader *reader, const cJSON *line, Candidate **memory)
{
    MerCost      cost;
    int64_t      same_as;
    double       spent[MER_SPENT_COUNT];
    const cJSON *task = mer_json_get(line, "task");
    const cJSON *index = mer_json_get(line, "index");
    const cJSON *point = mer_json_get(line, "point");
    if (!cJSON_IsNumber(task) || task->valueint < 0 || task->valueint >= reader->pool_count ||
        !cJSON_IsNumber(index)) {
        return false;
    }
    Pool *pool = &reader->pools[task->valueint];
    if (!pool->is_read) {
        return true;
    }
    if (!cJSON_IsArray(point) || !mer_trial_read(line, &cost, &same_as, spent)) {
        return false;
    }
    size_t size = sizeof(Candidate) + (size_t)(pool->knobs + 1) * sizeof(MerIndex);
    *memory = *memory ? *memory : mer_arena_alloc(reader->run->arena, size);
    Candidate *candidate = *memory;
    candidate->score = mer_objective_score(&reader->run->objective, &cost);
    candidate->index = (int64_t)index->valuedouble;
    int          k = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, point)
    {
        if (k == pool->knobs || !cJSON_IsNumber(item)) {
            return false;
        }
        candidate->point[k++] = item->valueint;
    }
    if (k == pool->knobs && isfinite(candidate->score) && !cost.cut) {
        keep(pool, candidate, reader->run->arena);
    }
    return k == pool->knobs;
}

/* False: the line is not a whole one. */
static bool take_line(Reader *reader, const cJSON *line, Candidate **candidates)
{
    const char  *type = mer_json_get_text(line, "type", "");
    const cJSON *task = mer_json_get(line, "task");
    int          t = cJSON_IsNumber(task) ? task->valueint : -1;
    if (strcmp(type, "trial") != 0) {
        return type[0] != '\0';
    }
    return t >= 0 && t < reader->pool_count && take_trial(reader, line, &candidates[t]);
}

/* The task of a trial line; -1: it names none. */
static int task_of(const char *line)
{
    const char *cursor = line;
    MerSlice    key, value;
    bool        is_valid;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        if (mer_slice_equals(key, "\"task\"")) {
            return *value.text >= '0' && *value.text <= '9' ? atoi(value.text) : -1;
        }
    }
    return -1;
}

/* A line in full; one that is not whole stays as it is. */
static const char *full_line(Reader *reader, const char *line)
{
    int         task = task_of(line);
    Pool       *pool = task >= 0 && task < reader->pool_count ? &reader->pools[task] : NULL;
    bool        has_points = pool && pool->is_read && pool->choices;
    const char *full = mer_words_full_line(reader->words, line, has_points ? pool->choices : NULL,
                                           has_points ? pool->choice_count : 0, &reader->full);
    return full ? full : line;
}

/* The run's own log is read from where the task before left off, to where the run is: a resumed one goes on. */
static MerStatus read_log(Reader *reader, FILE *file, MerError *error)
{
    MerRunState *run = reader->run;
    char        *text = NULL;
    size_t       capacity = 0;
    ssize_t      length;
    int64_t      number = 0;
    int64_t      bytes = 0;
    MerStatus    status = MER_OK;
    Candidate  **candidates = NULL; /* memory for the line at hand, by old task */
    while (status == MER_OK && (!reader->is_chain || bytes < run->log.bytes) &&
           (length = getline(&text, &capacity, file)) > 0) {
        number++;
        bytes += length;
        cJSON *line = cJSON_Parse(number == 1 ? text : full_line(reader, text));
        if (number == 1) {
            mer_words_take_header(reader->words, text);
            status = read_header(reader, line, error);
            candidates = MER_ARRAY(run->arena, Candidate *, reader->pool_count + 1);
            bool is_known = run->chain && reader->is_chain && run->chain->bytes > 0;
            if (is_known && fseeko(file, (off_t)run->chain->bytes, SEEK_SET) == 0) {
                bytes = run->chain->bytes;
                number = run->chain->lines;
            }
        } else if (!take_line(reader, line, candidates)) {
            reader->first_damaged = reader->damaged++ == 0 ? number : reader->first_damaged;
        }
        cJSON_Delete(line);
    }
    if (reader->is_chain && run->chain) {
        run->chain->bytes = bytes;
        run->chain->lines = number;
    }
    free(text);
    return status;
}

/* Every task reads the log; what is wrong with it is said once. */
static void warn_damaged(const Reader *reader)
{
    MerRunState *run = reader->run;
    if (reader->damaged > 0 && !run->has_warned_of_damage) {
        run->has_warned_of_damage = true;
        mer_run_warn(run, mer_arena_format(run->arena,
                                           "%s:%" PRId64 ": %" PRId64 " damaged line%s skipped, %s",
                                           reader->path, reader->first_damaged, reader->damaged,
                                           reader->damaged == 1 ? "" : "s",
                                           reader->damaged == 1 ? "this one" : "this one first"));
    }
}

/* A point as the optimizer sees it, unless it lies outside of the space. */
static void give(const Reader *reader, const MerIndex *whole, MerIndex *points, int *count)
{
    const MerRunTask *task = reader->task;
    int               seen = task->view.knob_count;
    if (mer_space_contains(&task->problem.space, whole)) {
        for (int k = 0; k < seen; k++) {
            points[*count * seen + k] = whole[task->free_knobs ? task->free_knobs[k] : k];
        }
        (*count)++;
    }
}

/* Best first of each old task, in turn: the optimizer may take only the first few. */
static void give_points(const Reader *reader, MerIndex **points, int *count)
{
    const MerRunTask *task = reader->task;
    int               knobs = task->problem.space.knob_count;
    size_t            total = 0;
    for (int t = 0; t < reader->pool_count; t++) {
        const Pool *pool = &reader->pools[t];
        int         given = pool->count < pool->share ? pool->count : pool->share;
        total += pool->is_wanted ? (size_t)given : 0;
    }
    MerIndex *whole = MER_ARRAY(reader->run->arena, MerIndex, knobs + 1);
    *points = MER_ARRAY(reader->run->arena, MerIndex, total * (size_t)task->view.knob_count + 1);
    for (int rank = 0; (size_t)*count < total && rank < reader->capacity; rank++) {
        for (int t = 0; t < reader->pool_count && *count < reader->capacity; t++) {
            const Pool *pool = &reader->pools[t];
            if (!pool->is_wanted || rank >= pool->count || rank >= pool->share) {
                continue;
            }
            for (int k = 0; k < knobs; k++) {
                whole[k] = pool->list[rank]->point[pool->from ? pool->from[k] : k];
            }
            give(reader, whole, *points, count);
        }
    }
}

/* The log of another tool, where the problem knows it: MER_UNSUPPORTED if it does not. */
static MerStatus read_foreign(const Reader *reader, MerIndex **points, int *count, MerError *error)
{
    const MerProblem *problem = &reader->task->problem;
    MerArena         *arena = reader->run->arena;
    MerIndex         *found = NULL;
    int               found_count = 0;
    const char       *remark = NULL;
    if (reader->is_chain || !problem->type->read_log) {
        return MER_UNSUPPORTED;
    }
    MER_TRY(problem->type->read_log(problem, reader->path, &found, &found_count, &remark, arena,
                                    error));
    if (remark && !reader->run->has_warned_of_damage) {
        reader->run->has_warned_of_damage = true;
        mer_run_warn(reader->run, remark);
    }
    *points =
        MER_ARRAY(arena, MerIndex, (size_t)found_count * (size_t)reader->task->view.knob_count + 1);
    for (int i = 0; i < found_count && *count < reader->capacity; i++) {
        give(reader, found + (size_t)i * (size_t)problem->space.knob_count, *points, count);
    }
    return MER_OK;
}

MerStatus mer_warm_read(MerRunState *run, MerRunTask *task, MerIndex **points, int *count,
                        MerError *error)
{
    *count = 0;
    if (!run->spec->warm) {
        return MER_OK;
    }
    Reader reader = {.run = run, .task = task};
    MER_TRY(split_name(&reader, run->spec->warm, error));
    if (reader.is_chain && (!run->log.file || task->index == 0)) {
        return MER_OK; /* nothing solved yet, or nothing written down */
    }
    if (reader.is_chain) {
        MER_TRY(mer_runlog_write(&run->log, error));
        run->chain = run->chain ? run->chain : MER_NEW(run->arena, MerWarmChain);
    }
    reader.words = reader.is_chain ? &run->chain->words : MER_NEW(run->arena, MerLogWords);
    MerError  refusal = {0};
    MerStatus status = read_foreign(&reader, points, count, &refusal);
    if (status != MER_UNSUPPORTED) {
        return status == MER_OK ? MER_OK : mer_error_set(error, status, "%s", refusal.message);
    }
    reader.refusal = *refusal.message ? refusal.message : NULL;
    FILE *file = mer_file_open(reader.path);
    if (!file) {
        return mer_error_set(error, MER_NOT_FOUND, "%s: cannot read: %s", reader.path,
                             strerror(errno));
    }
    status = read_log(&reader, file, error);
    fclose(file);
    free(reader.full.text);
    MER_TRY(status);
    warn_damaged(&reader);
    give_points(&reader, points, count);
    return MER_OK;
}
