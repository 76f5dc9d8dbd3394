/* Warm starts: the k best distinct points of the same task in an earlier log. */
#include "run/warm.h"

#include "base/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFAULT_COUNT = 64 };

typedef struct Candidate {
    double   score;
    int64_t  index;
    MerIndex point[]; /* all knobs */
} Candidate;

typedef struct Pool { /* the best so far, best first */
    Candidate **list;
    int         count, room, knobs;
} Pool;

/* RUN:k -> path of the log and k. A RUN may itself contain colons. */
static const char *split_name(const char *warm, int *count, MerArena *arena)
{
    const char *colon = strrchr(warm, ':');
    int64_t number;
    size_t length = strlen(warm);
    *count = DEFAULT_COUNT;
    if (colon && mer_parse_int(colon + 1, &number) && number >= 1 && number <= 1000000) {
        *count = (int)number;
        length = (size_t)(colon - warm);
    }
    const char *path = mer_arena_text_n(arena, warm, length);
    struct stat info;
    bool is_directory = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return is_directory ? mer_arena_format(arena, "%s/run.jsonl", path) : path;
}

/* Which task of the old log has the same space? -1 if none. */
static int match_task(const cJSON *header, uint64_t space_hash)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, space_hash);
    int index = 0;
    const cJSON *task;
    cJSON_ArrayForEach(task, cJSON_GetObjectItemCaseSensitive(header, "tasks"))
    {
        const cJSON *known = cJSON_GetObjectItemCaseSensitive(task, "hash");
        if (cJSON_IsString(known) && strcmp(known->valuestring, hash) == 0) {
            return index;
        }
        index++;
    }
    return -1;
}

static bool read_candidate(const cJSON *line, const MerRunState *run, int old_task, int knobs, Candidate *candidate)
{
    MerCost cost;
    int64_t same_as;
    double spent[MER_SPENT_COUNT];
    const cJSON *task = cJSON_GetObjectItemCaseSensitive(line, "task");
    if (!cJSON_IsNumber(task) || task->valueint != old_task || !mer_trial_read(line, &cost, &same_as, spent)) {
        return false;
    }
    candidate->score = mer_objective_score(&run->objective, &cost);
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(line, "index");
    candidate->index = cJSON_IsNumber(index) ? (int64_t)index->valuedouble : 0;
    int k = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(line, "point"))
    {
        if (k < knobs && cJSON_IsNumber(item)) {
            candidate->point[k++] = item->valueint;
        }
    }
    return k == knobs && isfinite(candidate->score) && !cost.cut;
}

/* Insertion into the sorted pool; equal points are kept once. */
static void keep(Pool *pool, const Candidate *candidate, MerArena *arena)
{
    size_t bytes = (size_t)pool->knobs * sizeof(MerIndex);
    int at = pool->count;
    for (int i = 0; i < pool->count; i++) {
        if (memcmp(pool->list[i]->point, candidate->point, bytes) == 0) {
            return;
        }
    }
    while (at > 0 && pool->list[at - 1]->score > candidate->score) {
        at--;
    }
    if (at == pool->room) {
        return;
    }
    Candidate *slot = pool->count == pool->room ? pool->list[--pool->count]
                                                : mer_arena_alloc(arena, sizeof(Candidate) + bytes);
    memcpy(slot, candidate, sizeof(Candidate) + bytes);
    memmove(pool->list + at + 1, pool->list + at, (size_t)(pool->count - at) * sizeof *pool->list);
    pool->list[at] = slot;
    pool->count++;
}

static MerStatus read_log(FILE *file, const char *path, MerRunState *run, MerRunTask *task, Pool *pool, MerError *error)
{
    char *text = NULL;
    size_t room = 0;
    int old_task = -1;
    MerStatus status = MER_OK;
    Candidate *candidate = mer_arena_alloc(run->arena, sizeof(Candidate) + (size_t)(pool->knobs + 1) * sizeof(MerIndex));
    for (int64_t number = 1; status == MER_OK && getline(&text, &room, file) > 0; number++) {
        cJSON *line = cJSON_Parse(text);
        if (number == 1) {
            old_task = match_task(line, mer_space_hash(&task->problem.space));
            if (old_task < 0) {
                status = mer_error_set(error, MER_INVALID, "%s:1: no task of this run has the space of %s", path,
                                       task->result->task.name);
            }
        } else if (read_candidate(line, run, old_task, pool->knobs, candidate) &&
                   mer_space_contains(&task->problem.space, candidate->point)) {
            keep(pool, candidate, run->arena);
        }
        cJSON_Delete(line);
    }
    free(text);
    return status;
}

MerStatus mer_warm_read(MerRunState *run, MerRunTask *task, MerIndex **points, int *count, MerError *error)
{
    *count = 0;
    if (!run->spec->warm) {
        return MER_OK;
    }
    Pool pool = {.knobs = task->problem.space.knob_count};
    const char *path = split_name(run->spec->warm, &pool.room, run->arena);
    FILE *file = fopen(path, "r");
    if (!file) {
        return mer_error_set(error, MER_NOT_FOUND, "%s: cannot read: %s", path, strerror(errno));
    }
    pool.list = MER_ARRAY(run->arena, Candidate *, pool.room + 1);
    MerStatus status = read_log(file, path, run, task, &pool, error);
    fclose(file);
    int seen = task->view.knob_count;
    *points = MER_ARRAY(run->arena, MerIndex, (size_t)pool.count * (size_t)seen + 1);
    for (int i = 0; i < pool.count; i++) {
        for (int k = 0; k < seen; k++) {
            (*points)[i * seen + k] = pool.list[i]->point[task->free_knobs ? task->free_knobs[k] : k];
        }
    }
    *count = pool.count;
    return status;
}
