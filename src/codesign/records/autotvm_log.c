/* Lines of AutoTVM's tuning logs, v0.2: {"input": [target, task, [args], {kwargs}], "config": {"index", "code_hash",
 * "entity": [[name, kind, value], ..]}, "result": [[costs], error, all, time], "version": 0.2, ..}. */
#include "codesign/records/vta_records.h"

#include "base/json_read.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DIM = 1 << 20, MOST_MODEL = 100, LEVELS = 7 }; /* MOST_MODEL: letters of a name */

static int64_t log2_of(int64_t value)
{
    int64_t bits = 0;
    while (value > 1) {
        value >>= 1;
        bits++;
    }
    return bits;
}

const char *mer_vta_model(const char *platform, const MerVtaCore *core, MerArena *arena)
{
    static const char *const targets[] = {"tsim",   "pynq",     "ultra96",
                                          "zcu104", "de10nano", "intelfocl"};
    const char              *target = "sim";
    char                     blocks[32];
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        target = strstr(platform, targets[t]) ? targets[t] : target;
    }
    if (core->block_in == core->block_out) {
        snprintf(blocks, sizeof blocks, "%d", core->block_in);
    } else {
        snprintf(blocks, sizeof blocks, "%dx%d", core->block_in, core->block_out);
    }
    return mer_arena_format(
        arena, "%s_%dx%s_i8w8a32_%d_%d_%d_%d", target, core->batch, blocks,
        (int)log2_of(core->bytes[MER_VTA_UOP]), (int)log2_of(core->bytes[MER_VTA_INP]),
        (int)log2_of(core->bytes[MER_VTA_WGT]), (int)log2_of(core->bytes[MER_VTA_ACC]));
}

static void write_ints(MerJson *json, const int *values, int count)
{
    mer_json_ints(json, NULL, values, count);
}

static void write_tensor(MerJson *json, const int *dims, int count)
{
    mer_json_array(json, NULL);
    mer_json_text(json, NULL, "TENSOR");
    write_ints(json, dims, count);
    mer_json_text(json, NULL, "int8");
    mer_json_end_array(json);
}

static void write_dense(const MerVtaRecord *r, MerJson *json)
{
    const MerVtaShape *s = &r->task.shape;
    const MerVtaCore  *c = &r->task.core;
    write_tensor(json, (const int[]){s->batches, s->ci, c->batch, c->block_in}, 4);
    write_tensor(json, (const int[]){s->co, s->ci, c->block_out, c->block_in}, 4);
    mer_json_null(json, NULL);
}

static void write_conv(const MerVtaRecord *r, MerJson *json)
{
    const MerVtaShape *s = &r->task.shape;
    const MerVtaCore  *c = &r->task.core;
    char               layout[48];
    write_tensor(
        json,
        (const int[]){s->batches, s->groups * s->ci, s->height, s->width, c->batch, c->block_in},
        6);
    write_tensor(json,
                 (const int[]){s->groups * s->co, s->ci, s->kernel[0], s->kernel[1], c->block_out,
                               c->block_in},
                 6);
    write_ints(json, s->stride, 2);
    write_ints(json, s->pad, 4);
    write_ints(json, s->dilation, 2);
    if (s->groups > 1) {
        mer_json_int(json, NULL, s->groups);
    } else {
        snprintf(layout, sizeof layout, "NCHW%dn%dc", c->batch, c->block_in);
        mer_json_text(json, NULL, layout);
    }
}

typedef struct Knob { /* in the order of AutoTVM's templates */
    const char *name;
    bool        is_split;
    int         size, value; /* what is split; the inner factor, or the option */
} Knob;

static int list_knobs(const MerVtaRecord *r, Knob knobs[LEVELS])
{
    const MerVtaShape    *s = &r->task.shape;
    const MerVtaSchedule *p = &r->schedule;
    const Knob            all[LEVELS] = {
                   {"tile_b", true, s->batches, 1},         {"tile_h", true, s->rows, p->tile_h},
                   {"tile_w", true, s->columns, p->tile_w}, {"tile_ci", true, s->ci, p->tile_ci},
                   {"tile_co", true, s->co, p->tile_co},    {"oc_nthread", false, 2, p->oc_threads},
                   {"h_nthread", false, 2, p->h_threads}};
    int count = 0;
    for (int k = 0; k < LEVELS; k++) {
        bool is_absent = r->is_dense && (k == 1 || k == 2 || k == 6);
        if (!is_absent) {
            knobs[count++] = all[k];
        }
    }
    return count;
}

/* Number of divisors of `size`, those up to `most`. */
static int64_t divisors(int size, int most)
{
    int64_t count = 0;
    for (int d = 1; d <= most; d++) {
        count += size % d == 0;
    }
    return count;
}

/* The configuration's number: a mixed radix, the first knob fastest. */
static int64_t index_of(const Knob *knobs, int count)
{
    int64_t index = 0, step = 1;
    for (int k = 0; k < count; k++) {
        const Knob *knob = &knobs[k];
        int64_t     at = knob->is_split ? divisors(knob->size, knob->value) - 1 : knob->value - 1;
        index += at * step;
        step *= knob->is_split ? divisors(knob->size, knob->size) : 2;
    }
    return index;
}

static void write_config(const MerVtaRecord *r, MerJson *json)
{
    Knob knobs[LEVELS];
    int  count = list_knobs(r, knobs);
    mer_json_object(json, "config");
    mer_json_int(json, "index", index_of(knobs, count));
    mer_json_null(json, "code_hash");
    mer_json_array(json, "entity");
    for (int k = 0; k < count; k++) {
        mer_json_array(json, NULL);
        mer_json_text(json, NULL, knobs[k].name);
        mer_json_text(json, NULL, knobs[k].is_split ? "sp" : "ot");
        if (knobs[k].is_split) {
            write_ints(json, (const int[]){-1, knobs[k].value}, 2);
        } else {
            mer_json_int(json, NULL, knobs[k].value);
        }
        mer_json_end_array(json);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

void mer_autotvm_write(const MerVtaRecord *r, MerJson *json)
{
    char target[MOST_MODEL + 60];
    snprintf(target, sizeof target, "ext_dev -device=vta -keys=cpu -model=%s", r->model);
    mer_json_object(json, NULL);
    mer_json_array(json, "input");
    mer_json_text(json, NULL, target);
    mer_json_text(json, NULL,
                  r->is_dense                ? "dense_packed.vta"
                  : r->task.shape.groups > 1 ? "group_conv2d_packed.vta"
                                             : "conv2d_packed.vta");
    mer_json_array(json, NULL);
    (r->is_dense ? write_dense : write_conv)(r, json);
    mer_json_text(json, NULL, "int32");
    mer_json_end_array(json);
    mer_json_object(json, NULL);
    mer_json_end_object(json);
    mer_json_end_array(json);
    write_config(r, json);
    mer_json_array(json, "result");
    mer_json_reals(json, NULL, (const double[]){r->error ? 1e9 : r->seconds}, 1);
    mer_json_int(json, NULL, r->error);
    mer_json_real(json, NULL, r->error ? 0 : r->seconds);
    mer_json_int(json, NULL, 0); /* no clock: the same run writes the same bytes */
    mer_json_end_array(json);
    mer_json_real(json, "version", 0.2);
    mer_json_text(json, "tvm_version", "mercator");
    mer_json_end_object(json);
}

/* Whole numbers of a list, at most `most`; gives how many, 0: not such a list. */
static int read_ints(const cJSON *list, int least, int *values, int most)
{
    int          count = 0;
    const cJSON *item;
    if (!cJSON_IsArray(list)) {
        return 0;
    }
    cJSON_ArrayForEach(item, list)
    {
        double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
        if (!(value >= least && value <= MOST_DIM) || value != floor(value) || count == most) {
            return 0;
        }
        values[count++] = (int)value;
    }
    return count;
}

static int read_tensor(const cJSON *tensor, int dims[6])
{
    return read_ints(cJSON_GetArrayItem(tensor, 1), 1, dims, 6);
}

/* `name_1x16_i8w8a32_15_15_18_17`, or with three numbers in front. */
static bool read_model(const char *model, MerVtaCore *core)
{
    int         batch, in, out, inp, wgt, acc, bytes[4], end = 0;
    const char *rest = strchr(model, '_');
    if (!rest) {
        return false;
    }
    if (sscanf(rest, "_%4dx%4dx%4d%n", &batch, &in, &out, &end) != 3) {
        out = 0;
        if (sscanf(rest, "_%4dx%4d%n", &batch, &in, &end) != 2) {
            return false;
        }
        out = in;
    }
    if (sscanf(rest + end, "_i%3dw%3da%3d_%3d_%3d_%3d_%3d", &inp, &wgt, &acc, &bytes[0], &bytes[1],
               &bytes[2], &bytes[3]) != 7 ||
        inp != 8 || wgt != 8 || acc != 32) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        if (bytes[i] < 0 || bytes[i] > 30) {
            return false;
        }
    }
    mer_vta_core_make(core, batch, in, out, INT64_C(1) << bytes[0], INT64_C(1) << bytes[1],
                      INT64_C(1) << bytes[2], INT64_C(1) << bytes[3]);
    return true;
}

/* Can the name be written as it was read? Those of real boards are letters, digits and underscores. */
static bool is_plain_name(const char *name, size_t length)
{
    size_t plain = 0;
    while (plain < length && name[plain] > ' ' && name[plain] <= '~') {
        plain++;
    }
    return plain == length && length <= MOST_MODEL;
}

/* The geometry is that of the tensors; the model says the sizes of SRAMs. */
static bool read_core(const cJSON *target, const MerVtaCore *usual, int batch, int in, int out,
                      MerVtaRecord *r, MerArena *arena)
{
    const char *text = cJSON_GetStringValue(target);
    const char *model = text ? strstr(text, "-model=") : NULL;
    MerVtaCore *core = &r->task.core;
    const char *name = model ? model + 7 : "";
    size_t      length = strcspn(name, " ,");
    if (!text || !strstr(text, "vta") || !is_plain_name(name, length) || batch > 4096 ||
        in > 4096 || out > 4096) {
        return false;
    }
    r->model = mer_arena_text_n(arena, name, length);
    if (!read_model(r->model, core)) {
        mer_vta_core_follow(usual, batch, in, out, mer_vta_core_bytes(usual), core);
    }
    return core->batch == batch && core->block_in == in && core->block_out == out &&
           mer_vta_core_check(core, NULL);
}

static bool read_dense(const cJSON *args, const cJSON *target, const MerVtaCore *usual,
                       MerVtaRecord *r, MerArena *arena)
{
    int data[6], kernel[6];
    if (read_tensor(cJSON_GetArrayItem(args, 0), data) != 4 ||
        read_tensor(cJSON_GetArrayItem(args, 1), kernel) != 4 || data[1] != kernel[1] ||
        data[3] != kernel[3]) {
        return false;
    }
    r->is_dense = true;
    r->task.shape = (MerVtaShape){.batches = data[0],
                                  .groups = 1,
                                  .ci = data[1],
                                  .co = kernel[0],
                                  .height = 1,
                                  .width = 1,
                                  .rows = 1,
                                  .columns = 1,
                                  .kernel = {1, 1},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .repeat = 1};
    return read_core(target, usual, data[2], data[3], kernel[2], r, arena);
}

/* Padding is [rows, columns] or [top, left, bottom, right]. */
static bool read_padding(const cJSON *item, int pad[4])
{
    int count = read_ints(item, 0, pad, 4);
    if (count == 2) {
        pad[2] = pad[0];
        pad[3] = pad[1];
    }
    return count == 2 || count == 4;
}

static bool read_conv(const cJSON *args, int groups, const cJSON *target, const MerVtaCore *usual,
                      MerVtaRecord *r, MerArena *arena)
{
    int          data[6], kernel[6];
    MerVtaShape *s = &r->task.shape;
    if (read_tensor(cJSON_GetArrayItem(args, 0), data) != 6 ||
        read_tensor(cJSON_GetArrayItem(args, 1), kernel) != 6 ||
        read_ints(cJSON_GetArrayItem(args, 2), 1, s->stride, 2) != 2 ||
        !read_padding(cJSON_GetArrayItem(args, 3), s->pad) ||
        read_ints(cJSON_GetArrayItem(args, 4), 1, s->dilation, 2) != 2 || groups < 1 ||
        data[1] != (int64_t)groups * kernel[1] || kernel[0] % groups != 0 || data[5] != kernel[5]) {
        return false;
    }
    s->batches = data[0];
    s->groups = groups;
    s->ci = kernel[1];
    s->co = kernel[0] / groups;
    s->height = data[2];
    s->width = data[3];
    s->kernel[0] = kernel[2];
    s->kernel[1] = kernel[3];
    s->repeat = 1;
    int64_t rows =
        (int64_t)s->height + s->pad[0] + s->pad[2] - (int64_t)(s->kernel[0] - 1) * s->dilation[0];
    int64_t columns =
        (int64_t)s->width + s->pad[1] + s->pad[3] - (int64_t)(s->kernel[1] - 1) * s->dilation[1];
    s->rows = (int)((rows - 1) / s->stride[0] + 1);
    s->columns = (int)((columns - 1) / s->stride[1] + 1);
    return rows > 0 && columns > 0 &&
           read_core(target, usual, data[4], data[5], kernel[4], r, arena);
}

/* Knobs go by their names: logs list them in more than one order. A split counts by its innermost size. */
static bool read_entity(const cJSON *entity, bool is_dense, MerVtaSchedule *schedule)
{
    const struct {
        const char *name;
        int        *value;
        bool        is_spatial; /* layers that are matrix products have none */
    } fields[] = {
        {"tile_h", &schedule->tile_h, true},       {"tile_w", &schedule->tile_w, true},
        {"h_nthread", &schedule->h_threads, true}, {"tile_ci", &schedule->tile_ci, false},
        {"tile_co", &schedule->tile_co, false},    {"oc_nthread", &schedule->oc_threads, false}};
    const cJSON *knob;
    *schedule = (MerVtaSchedule){1, 1, 1, 1, 1, 1};
    if (!cJSON_IsArray(entity)) {
        return false;
    }
    cJSON_ArrayForEach(knob, entity)
    {
        const char  *name = cJSON_GetStringValue(cJSON_GetArrayItem(knob, 0));
        const cJSON *value = cJSON_GetArrayItem(knob, 2);
        int          size = cJSON_GetArraySize(value);
        value = cJSON_IsArray(value) ? cJSON_GetArrayItem(value, size - 1) : value;
        for (size_t f = 0; name && f < sizeof fields / sizeof fields[0]; f++) {
            if (strcmp(name, fields[f].name) != 0 || (is_dense && fields[f].is_spatial)) {
                continue;
            }
            double number = cJSON_IsNumber(value) ? value->valuedouble : NAN;
            if (!(number >= 1 && number <= MOST_DIM) || number != floor(number)) {
                return false;
            }
            *fields[f].value = (int)number;
        }
    }
    return true;
}

static bool read_result(const cJSON *result, MerVtaRecord *r)
{
    const cJSON *costs = cJSON_GetArrayItem(result, 0), *cost;
    const cJSON *error = cJSON_GetArrayItem(result, 1);
    double       sum = 0;
    int          count = 0;
    cJSON_ArrayForEach(cost, costs)
    {
        sum += cJSON_IsNumber(cost) ? cost->valuedouble : NAN;
        count++;
    }
    r->error = cJSON_IsNumber(error) ? error->valueint : 8;
    r->seconds = count > 0 ? sum / count : NAN;
    if (r->error == 0 && !(r->seconds > 0 && r->seconds < 1e6)) {
        r->error = 8; /* "unknown", as AutoTVM counts */
    }
    return cJSON_IsArray(result);
}

bool mer_autotvm_read(const cJSON *line, const MerVtaCore *usual, MerVtaRecord *r, MerArena *arena)
{
    const cJSON *input = mer_json_get(line, "input");
    const cJSON *target = cJSON_GetArrayItem(input, 0), *args = cJSON_GetArrayItem(input, 2);
    const char  *task = cJSON_GetStringValue(cJSON_GetArrayItem(input, 1));
    bool         is_grouped = task && strcmp(task, "group_conv2d_packed.vta") == 0;
    const cJSON *groups = cJSON_GetArrayItem(args, 5);
    *r = (MerVtaRecord){0};
    if (!task) {
        return false;
    }
    bool is_known =
        strcmp(task, "dense_packed.vta") == 0 ? read_dense(args, target, usual, r, arena)
        : strcmp(task, "conv2d_packed.vta") == 0
            ? read_conv(args, 1, target, usual, r, arena)
            : is_grouped && read_conv(args, cJSON_IsNumber(groups) ? groups->valueint : 0, target,
                                      usual, r, arena);
    return is_known &&
           read_entity(mer_json_get(mer_json_get(line, "config"), "entity"), r->is_dense,
                       &r->schedule) &&
           read_result(mer_json_get(line, "result"), r);
}
