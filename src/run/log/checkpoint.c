/* State files: DIR/state-N.bin holds the counters of the run at some place of the log, then what
 * the optimizer wrote, with a checksum over both. Logs never mention them, so when they are written may
 * depend on the clock. */
#include "run/search/task_search.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/json_read.h"
#include "base/log.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STATE_MAGIC = 0x3354534d }; /* "MST3" */

static const double DEFAULT_INTERVAL_S = 5;
static const size_t MOST_BYTES = (size_t)1 << 32;

typedef struct StateHeader {
    int64_t        magic;
    uint64_t       checksum; /* of all that follows */
    uint64_t       log_hash; /* of the first log_bytes of the log that the state belongs to */
    int64_t        run_trials, log_bytes, log_lines, counted;
    int64_t        trials, evaluations, infeasible;
    MerRng         rng;
    double         spent[MER_SPENT_COUNT];
    int64_t        reason_count;
    MerReasonCount reasons[MER_MAX_REASONS];
} StateHeader;

static const char *state_path(const MerRunState *run, const MerRunTask *task)
{
    return mer_arena_format(run->arena, "%s/state-%d.bin", run->spec->directory,
                            mer_run_search_number(run, task));
}

static StateHeader make_header(const MerTaskSearch *s)
{
    const MerRunState   *run = s->run;
    const MerTaskResult *result = s->task->result;
    StateHeader          header;
    memset(&header, 0, sizeof header);
    header.magic = STATE_MAGIC;
    header.run_trials = run->trials;
    header.log_bytes = run->log.bytes;
    header.log_lines = run->log.line_count;
    header.counted = s->counted;
    header.trials = result->trials;
    header.evaluations = result->evaluations;
    header.infeasible = result->infeasible;
    header.rng = s->rng;
    header.reason_count = result->reason_count;
    memcpy(header.spent, result->spent, sizeof header.spent);
    memcpy(header.reasons, result->reasons, sizeof header.reasons);
    return header;
}

static uint64_t checksum_of(const StateHeader *header, const char *content, size_t size)
{
    size_t   begin = offsetof(StateHeader, log_hash);
    uint64_t hash =
        mer_hash_bytes(MER_HASH_START, (const char *)header + begin, sizeof *header - begin);
    return mer_hash_bytes(hash, content, size);
}

/* The log's bytes from `begin` to `end`, continued from `hash`; false if they cannot be read. */
static bool hash_log(const char *path, int64_t begin, int64_t end, uint64_t *hash)
{
    FILE *file = mer_file_open(path);
    bool  is_read = file && fseeko(file, (off_t)begin, SEEK_SET) == 0;
    while (is_read && begin < end) {
        char   buffer[1 << 16];
        size_t wanted =
            end - begin < (int64_t)sizeof buffer ? (size_t)(end - begin) : sizeof buffer;
        is_read = fread(buffer, 1, wanted, file) == wanted;
        *hash = mer_hash_bytes(*hash, buffer, wanted);
        begin += (int64_t)wanted;
    }
    if (file) {
        fclose(file);
    }
    return is_read;
}

/* Of what was logged so far; only what came since the last state is read. */
static uint64_t log_hash(MerRunState *run)
{
    if (run->hashed_bytes == 0 || run->hashed_bytes > run->log.bytes) {
        run->hashed_bytes = 0;
        run->log_hash = MER_HASH_START;
    }
    if (!hash_log(run->log.path, run->hashed_bytes, run->log.bytes, &run->log_hash)) {
        run->log_hash = 0; /* of no log */
    }
    run->hashed_bytes = run->log.bytes;
    return run->log_hash;
}

static MerStatus save(MerTaskSearch *s, MerError *error)
{
    MerRunState *run = s->run;
    if (!s->type->save || !run->spec->directory || run->log.is_replay || s->assessment) {
        return MER_OK;
    }
    MER_TRY(mer_runlog_sync(&run->log, error));
    char             *data = NULL;
    size_t            size = 0;
    const StateHeader blank = {0}; /* filled in when all is known */
    MerStatus         status =
        mer_task_search_save(s, MER_KEEP_ALL, &blank, sizeof blank, &data, &size, error);
    if (status == MER_OK) {
        StateHeader header = make_header(s);
        header.log_hash = log_hash(run);
        header.checksum = checksum_of(&header, data + sizeof header, size - sizeof header);
        memcpy(data, &header, sizeof header);
        status = mer_file_write(state_path(run, s->task), data, size, error);
    }
    free(data);
    if (status == MER_UNSUPPORTED) {
        return MER_OK; /* no state yet: a restart asks again from the one before, or the seed */
    }
    MER_TRY(status);
    run->last_checkpoint = mer_clock();
    return MER_OK;
}

MerStatus mer_checkpoint_save(MerTaskSearch *s, MerError *error)
{
    const MerRunState *run = s->run;
    double interval = run->spec->checkpoint_s > 0 ? run->spec->checkpoint_s : DEFAULT_INTERVAL_S;
    return mer_clock() - run->last_checkpoint >= interval ? save(s, error) : MER_OK;
}

MerStatus mer_checkpoint_begin(MerTaskSearch *s, MerError *error)
{
    int  before = s->task->index - 1;
    bool is_carried = s->type->next_task && before >= 0 && s->run->result->tasks[before].stopped &&
                      strcmp(s->run->result->tasks[before].stopped, "time") == 0;
    return is_carried ? save(s, error) : MER_OK;
}

/* Takes the trials that the log holds up to the saved state. */
static MerStatus read_log_up_to(MerTaskSearch *s, int64_t bytes, MerError *error)
{
    MerRunState *run = s->run;
    MerRunTask  *task = s->task;
    int          knobs = task->problem.space.knob_count;
    MerRunTrial  trial = {.point = MER_ARRAY(run->arena, MerIndex, knobs + 1)};
    while (run->log.bytes < bytes) {
        const char *text = mer_runlog_next(&run->log);
        if (!text) {
            return mer_error_set(error, MER_INVALID, "%s is shorter than the saved state beside it",
                                 run->log.path);
        }
        const char *full = mer_trial_full_line(&s->form, &run->log, text);
        cJSON      *line = full ? cJSON_Parse(full) : NULL;
        if (mer_trial_read(line, &trial.cost, &trial.same_as, trial.spent)) {
            const cJSON *point = mer_json_get(line, "point");
            trial.index = (int64_t)mer_json_get_real(line, "index", 0);
            for (int k = 0; k < knobs; k++) {
                const cJSON *item = cJSON_GetArrayItem(point, k);
                trial.point[k] = cJSON_IsNumber(item) ? item->valueint : 0;
            }
            trial.score = mer_objective_score(&run->objective, &trial.cost);
            mer_task_keep(run, task, &trial);
            mer_task_count(run, task, &trial);
        }
        cJSON_Delete(line);
    }
    return MER_OK;
}

static void take_header(MerRunState *run, MerRunTask *task, const StateHeader *header)
{
    MerTaskResult *result = task->result;
    run->trials = header->run_trials;
    result->trials = header->trials;
    result->evaluations = header->evaluations;
    result->infeasible = header->infeasible;
    result->reason_count = (int)header->reason_count;
    memcpy(result->spent, header->spent, sizeof header->spent);
    memcpy(result->reasons, header->reasons, sizeof header->reasons);
}

/* A log that was cut short of its state is worth more than the state: it is replayed. */
static bool has_bytes(const char *path, int64_t bytes)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size >= bytes;
}

/* A state of another run in the same folder is not this run's. */
static bool is_of_log(const MerRunState *run, const StateHeader *header)
{
    uint64_t hash = MER_HASH_START;
    return hash_log(run->log.path, 0, header->log_bytes, &hash) && hash == header->log_hash;
}

/* A state that is whole, of this version and this log, and not ahead of it. */
static bool read_state(const MerRunState *run, const char *path, MerArena *arena,
                       StateHeader *header, char **content, size_t *size)
{
    char *data;
    if (mer_file_read(path, MOST_BYTES, arena, &data, size, NULL) != MER_OK ||
        *size <= sizeof *header) {
        return false;
    }
    memcpy(header, data, sizeof *header);
    *content = data + sizeof *header;
    *size -= sizeof *header;
    return header->magic == STATE_MAGIC &&
           header->checksum == checksum_of(header, *content, *size) &&
           header->log_bytes >= run->log.bytes && has_bytes(run->log.path, header->log_bytes) &&
           is_of_log(run, header) && header->reason_count >= 0 &&
           header->reason_count <= MER_MAX_REASONS;
}

static MerStatus load_state(MerTaskSearch *s, const StateHeader *header, char *content, size_t size,
                            MerError *error)
{
    MerRunState *run = s->run;
    MER_TRY(read_log_up_to(s, header->log_bytes, error));
    take_header(run, s->task, header);
    FILE *file = fmemopen(content, size, "r");
    if (!file) {
        return mer_error_set(error, MER_NO_MEMORY, "no memory for the optimizer's state");
    }
    MerStatus status = s->type->load(s->optimizer, MER_KEEP_ALL, file, error);
    fclose(file);
    return status;
}

MerStatus mer_checkpoint_restore(MerTaskSearch *s, bool *is_restored, MerError *error)
{
    MerRunState *run = s->run;
    StateHeader  header;
    char        *content;
    size_t       size;
    *is_restored = false;
    if (!run->log.is_replay || !s->type->load || !run->spec->directory) {
        return MER_OK;
    }
    MerArena *arena = mer_arena_new();
    MerStatus status = MER_OK; /* without a state the run is asked again from the seed */
    if (read_state(run, state_path(run, s->task), arena, &header, &content, &size)) {
        status = load_state(s, &header, content, size, error);
        s->rng = header.rng;
        s->counted = header.counted;
        *is_restored = status == MER_OK;
    }
    mer_arena_free(arena);
    return status;
}
