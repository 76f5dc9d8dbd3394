/* Files with measured schedules. */
#include "codesign/records/vta_records.h"

#include "base/json_read.h"
#include "mercator/text.h"

#include <math.h>
#include <string.h>

double mer_vta_record_products(const MerVtaRecord *record)
{
    const MerVtaShape *s = &record->task.shape;
    return (double)s->batches * s->groups * s->co * s->ci * s->rows * s->columns * s->kernel[0] *
           s->kernel[1];
}

bool mer_vta_record_beats_peak(const MerVtaRecord *record, double clock_hz)
{
    return record->error == 0 && record->seconds * clock_hz < mer_vta_record_products(record);
}

static bool is_equal(const cJSON *item, const char *value)
{
    double number;
    if (cJSON_IsNumber(item)) {
        return mer_parse_real(value, &number) && number == item->valuedouble;
    }
    return cJSON_IsString(item) && strcmp(item->valuestring, value) == 0;
}

/* Of a log: `task`, `model`, or a member of the line. */
static bool is_wanted(const cJSON *line, const MerVtaRecord *record, const MerReference *where)
{
    for (int i = 0; where && i < where->count; i++) {
        const cJSON *task = cJSON_GetArrayItem(mer_json_get(line, "input"), 1);
        bool         is_model = strcmp(where->keys[i], "model") == 0;
        const cJSON *item =
            strcmp(where->keys[i], "task") == 0 ? task : mer_json_get(line, where->keys[i]);
        if (is_model ? strcmp(record->model, where->values[i]) != 0
                     : !is_equal(item, where->values[i])) {
            return false;
        }
    }
    return true;
}

/* Sizes that a core can address; products of them stay far from what an int holds. */
static bool is_sane(const MerVtaRecord *record)
{
    const double       most = 1 << 28;
    const MerVtaShape *s = &record->task.shape;
    int                threads = record->schedule.h_threads > record->schedule.oc_threads
                                     ? record->schedule.h_threads
                                     : record->schedule.oc_threads;
    double             groups = (double)s->batches * s->groups, ci = s->ci, co = s->co;
    double             kernel = (double)s->kernel[0] * s->kernel[1];
    double             rows = s->height + (double)s->pad[0] + s->pad[2] + s->stride[0];
    double             columns = s->width + (double)s->pad[1] + s->pad[3] + s->stride[1];
    return threads <= 2 && groups * ci * rows * columns <= most &&
           groups * co * ci * kernel <= most && groups * co * s->rows * s->columns <= most &&
           kernel <= rows * columns;
}

static void take_line(cJSON *line, const MerVtaCore *usual, const MerReference *where,
                      MerVtaRecords *records, MerArena *arena)
{
    MerVtaRecord record;
    if (!mer_autotvm_read(line, usual, &record, arena) || !is_sane(&record)) {
        records->unknown++;
    } else if (!is_wanted(line, &record, where)) {
        records->others++;
    } else {
        record.index = records->line_count;
        MER_GROW(arena, records->list, records->count);
        records->list[records->count++] = record;
    }
    records->line_count++;
}

/* One JSON object per line; `#` opens a comment. */
static MerStatus read_lines(const char *path, char *text, const MerVtaCore *usual,
                            const MerReference *where, MerVtaRecords *records, MerArena *arena,
                            MerError *error)
{
    int64_t number = 0;
    for (char *at = text, *end; *at; at = end) {
        size_t length = strcspn(at, "\n");
        end = at + length + (at[length] == '\n');
        number++;
        if (*at == '#' || strspn(at, " \t\r") >= length) {
            continue;
        }
        cJSON *line = cJSON_ParseWithLength(at, length);
        bool   is_record = mer_json_get(line, "input") && mer_json_get(line, "config");
        if (is_record) {
            take_line(line, usual, where, records, arena);
        } else if (line && records->line_count == 0) {
            cJSON_Delete(line);
            return mer_error_set(error, MER_UNSUPPORTED, "%s: not a log of AutoTVM", path);
        } else {
            records->first_damaged = records->damaged++ ? records->first_damaged : number;
        }
        cJSON_Delete(line);
    }
    return records->line_count > 0
               ? MER_OK
               : mer_error_set(error, MER_UNSUPPORTED, "%s: no records of AutoTVM", path);
}

typedef struct Field {
    const char *name;
    double      least;
    double      otherwise; /* NAN: it must be there */
} Field;

static MerStatus read_fields(const char *path, int64_t index, const cJSON *map, const Field *fields,
                             int count, int *values, MerError *error)
{
    for (int f = 0; f < count; f++) {
        double value = mer_json_get_real(map, fields[f].name, fields[f].otherwise);
        if (!(value >= fields[f].least && value <= 1e6) || value != floor(value)) {
            return mer_error_set(error, MER_INVALID,
                                 "%s: %s of record %lld is not a whole number of at least %g", path,
                                 fields[f].name, (long long)index, fields[f].least);
        }
        values[f] = (int)value;
    }
    return MER_OK;
}

static MerStatus read_hardware(const char *path, int64_t index, const cJSON *table,
                               const char *name, MerVtaCore *core, MerError *error)
{
    enum { BATCH, IN, OUT, UOP, INP, WGT, ACC, COUNT };
    static const Field fields[] = {{"BATCH", 1, NAN},   {"BLOCK_IN", 1, NAN}, {"BLOCK_OUT", 1, NAN},
                                   {"log_uop", 2, NAN}, {"log_inp", 2, NAN},  {"log_wgt", 2, NAN},
                                   {"log_acc", 2, NAN}};
    const cJSON       *entry = mer_json_get(table, name);
    int                v[COUNT] = {0};
    MerVtaReason       reason;
    if (!entry) {
        return mer_error_set(error, MER_INVALID,
                             "%s: hw \"%.80s\" of record %lld is not in `hardware`", path, name,
                             (long long)index);
    }
    MER_TRY(read_fields(path, index, entry, fields, COUNT, v, error));
    for (int i = UOP; i < COUNT; i++) {
        v[i] = v[i] < 30 ? v[i] : 30;
    }
    if (v[BATCH] > 4096 || v[IN] > 4096 || v[OUT] > 4096) {
        return mer_error_set(error, MER_INVALID, "%s: blocks of hw \"%.80s\" are above 4096", path,
                             name);
    }
    mer_vta_core_make(core, v[BATCH], v[IN], v[OUT], INT64_C(1) << v[UOP], INT64_C(1) << v[INP],
                      INT64_C(1) << v[WGT], INT64_C(1) << v[ACC]);
    return mer_vta_core_check(core, &reason)
               ? MER_OK
               : mer_error_set(error, MER_INVALID, "%s: hw \"%.80s\": %s", path, name, reason.text);
}

static int blocks(int count, int block)
{
    return (count + block - 1) / block;
}

static MerStatus read_layer(const char *path, const cJSON *item, MerVtaRecord *r, MerError *error)
{
    enum { IMAGES, H, W, CI, CO, KH, KW, PAD, STRIDE, COUNT };
    static const Field fields[] = {{"batch", 1, 1}, {"H", 1, NAN},  {"W", 1, NAN},
                                   {"CI", 1, NAN},  {"CO", 1, NAN}, {"KH", 1, NAN},
                                   {"KW", 1, NAN},  {"pad", 0, 0},  {"stride", 1, 1}};
    const MerVtaCore  *core = &r->task.core;
    int                v[COUNT] = {0};
    MER_TRY(read_fields(path, r->index, item, fields, COUNT, v, error));
    if (v[H] + 2 * v[PAD] < v[KH] || v[W] + 2 * v[PAD] < v[KW]) {
        return mer_error_set(error, MER_INVALID, "%s: the kernel of record %lld is above its image",
                             path, (long long)r->index);
    }
    r->task.shape = (MerVtaShape){.batches = blocks(v[IMAGES], core->batch),
                                  .groups = 1,
                                  .ci = blocks(v[CI], core->block_in),
                                  .co = blocks(v[CO], core->block_out),
                                  .height = v[H],
                                  .width = v[W],
                                  .rows = (v[H] + 2 * v[PAD] - v[KH]) / v[STRIDE] + 1,
                                  .columns = (v[W] + 2 * v[PAD] - v[KW]) / v[STRIDE] + 1,
                                  .kernel = {v[KH], v[KW]},
                                  .stride = {v[STRIDE], v[STRIDE]},
                                  .dilation = {1, 1},
                                  .pad = {v[PAD], v[PAD], v[PAD], v[PAD]},
                                  .repeat = 1};
    return MER_OK;
}

static MerStatus read_record(const char *path, const cJSON *hardware, const cJSON *item,
                             MerVtaRecord *r, MerArena *arena, MerError *error)
{
    static const Field knobs[] = {{"tile_h", 1, 1},  {"tile_w", 1, 1},    {"tile_ci", 1, 1},
                                  {"tile_co", 1, 1}, {"h_nthread", 1, 1}, {"oc_nthread", 1, 1}};
    const char        *hw = mer_json_get_text(item, "hw", "");
    int                v[6] = {0};
    MER_TRY(read_hardware(path, r->index, hardware, hw, &r->task.core, error));
    MER_TRY(read_layer(path, item, r, error));
    MER_TRY(read_fields(path, r->index, mer_json_get(item, "knobs"), knobs, 6, v, error));
    r->schedule = (MerVtaSchedule){v[0], v[1], v[2], v[3], v[4], v[5]};
    r->seconds = mer_json_get_real(item, "seconds", NAN);
    r->model = mer_vta_model("pynq", &r->task.core, arena);
    if (!is_sane(r)) {
        return mer_error_set(error, MER_INVALID, "%s: record %lld is larger than any layer", path,
                             (long long)r->index);
    }
    return r->seconds > 0 && r->seconds < 1e6
               ? MER_OK
               : mer_error_set(error, MER_INVALID, "%s: seconds of record %lld is not above 0",
                               path, (long long)r->index);
}

/* `vta-pynq-measured/1`: a table of machines, and records with layer, knobs and seconds. */
static MerStatus read_measured(const char *path, const cJSON *root, const MerReference *where,
                               MerVtaRecords *records, MerArena *arena, MerError *error)
{
    const cJSON *list = mer_json_get(root, "records"), *item;
    const char  *format = mer_json_get_text(root, "format", "");
    if (strcmp(format, "vta-pynq-measured/1") != 0 || !cJSON_IsArray(list)) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: neither a log of AutoTVM nor of format vta-pynq-measured/1",
                             path);
    }
    cJSON_ArrayForEach(item, list)
    {
        MerVtaRecord record = {.index = records->line_count++};
        bool         is_other = false;
        for (int i = 0; where && i < where->count; i++) {
            is_other = is_other || !is_equal(mer_json_get(item, where->keys[i]), where->values[i]);
        }
        if (is_other) {
            records->others++;
            continue;
        }
        MER_TRY(read_record(path, mer_json_get(root, "hardware"), item, &record, arena, error));
        MER_GROW(arena, records->list, records->count);
        records->list[records->count++] = record;
    }
    return MER_OK;
}

MerStatus mer_vta_records_read(const char *path, const MerVtaCore *usual, const MerReference *where,
                               MerVtaRecords *records, MerArena *arena, MerError *error)
{
    enum { MOST_BYTES = 1 << 29 };
    char  *text;
    size_t size;
    *records = (MerVtaRecords){.list = MER_ARRAY(arena, MerVtaRecord, 1)};
    MER_TRY(mer_file_read(path, MOST_BYTES, arena, &text, &size, error));
    cJSON *first = cJSON_ParseWithOpts(text, NULL, 0);
    bool   is_list = mer_json_get(first, "records") != NULL;
    if (is_list) {
        MerStatus status = read_measured(path, first, where, records, arena, error);
        cJSON_Delete(first);
        return status;
    }
    cJSON_Delete(first);
    return read_lines(path, text, usual, where, records, arena, error);
}
