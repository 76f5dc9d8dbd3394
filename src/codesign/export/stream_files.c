/* Streams as bytes and back. */
#include "codesign/export/stream_files.h"

#include "base/json_read.h"
#include "mercator/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT "mercator-vta/1"
enum { MOST_BYTES = 1 << 30 };

/* No file begins like an option. Of tasks that become one name, later ones get a number. */
static const char *file_name(const MerExport *what, int index, MerArena *arena)
{
    char *name = NULL;
    int   same = 0;
    for (int t = index; t >= 0; t--) {
        const char *task = what->tasks[t].problem->task->name;
        const char *rest = task + strspn(task, "/-");
        char       *other = mer_arena_text(arena, *rest ? rest : "task");
        for (char *c = other; *c; c++) {
            *c = *c == '/' ? '-' : *c;
        }
        name = t == index ? other : name;
        same += strcmp(name, other) == 0;
    }
    return same > 1 ? mer_arena_format(arena, "%s-%d", name, same) : name;
}

static MerStatus encode(const MerVtaStream *stream, MerVtaFiles *files, MerArena *arena,
                        MerError *error)
{
    files->count = stream->count;
    files->words = MER_ARRAY(arena, MerVtaWord, stream->count);
    files->has_uops = true;
    files->uop_count = stream->uop_count;
    files->uops = MER_ARRAY(arena, uint32_t, stream->uop_count + 1);
    memcpy(files->base, stream->base, sizeof files->base);
    memcpy(files->entries, stream->entries, sizeof files->entries);
    for (int64_t i = 0; i < stream->count; i++) {
        const char *field = mer_vta_encode(&files->core, &stream->list[i], &files->words[i]);
        if (field) {
            return mer_error_set(error, MER_INVALID, "%s: %s of instruction %lld does not fit",
                                 files->task, field, (long long)i);
        }
    }
    for (int u = 0; u < stream->uop_count; u++) {
        if (!mer_vta_uop_encode(&files->core, &stream->uops[u], &files->uops[u])) {
            return mer_error_set(error, MER_INVALID, "%s: micro-op %d does not fit", files->task,
                                 u);
        }
    }
    return MER_OK;
}

MerStatus mer_vta_files_make(const MerExport *what, int index, MerVtaFiles *files, MerArena *arena,
                             MerError *error)
{
    const MerExportTask *task = &what->tasks[index];
    const MerVtaPlan    *plan = task->plan->content;
    MerVtaTask           vta;
    MerVtaStream         stream;
    mer_codesign_vta_task(mer_codesign_task(task->problem), &plan->core, &vta);
    *files = (MerVtaFiles){.task = task->problem->task->name,
                           .platform = task->problem->platform->name,
                           .name = file_name(what, index, arena),
                           .core = plan->core,
                           .repeat = vta.shape.repeat};
    MER_TRY(mer_vta_generate(&vta, &plan->schedule, MER_VTA_STREAM_LIMIT, &stream, error));
    MerStatus status = encode(&stream, files, arena, error);
    mer_vta_stream_free(&stream);
    return status;
}

static const struct {
    const char *name;
    int         memory;
} sizes[] = {{"uop_bytes", MER_VTA_UOP},
             {"inp_bytes", MER_VTA_INP},
             {"wgt_bytes", MER_VTA_WGT},
             {"acc_bytes", MER_VTA_ACC}};

void mer_vta_files_describe(const MerVtaFiles *files, MerJson *json)
{
    const MerVtaCore *core = &files->core;
    mer_json_object(json, NULL);
    mer_json_text(json, "format", FORMAT);
    mer_json_text(json, "task", files->task);
    mer_json_text(json, "platform", files->platform);
    mer_json_object(json, "hardware");
    mer_json_int(json, "batch", core->batch);
    mer_json_int(json, "block_in", core->block_in);
    mer_json_int(json, "block_out", core->block_out);
    for (int i = 0; i < 4; i++) {
        mer_json_int(json, sizes[i].name, core->bytes[sizes[i].memory]);
    }
    mer_json_end_object(json);
    mer_json_int(json, "instructions", files->count);
    mer_json_int(json, "uops", files->uop_count);
    mer_json_int(json, "repeat", files->repeat);
    mer_json_object(json, "dram"); /* in entries; times entry_bytes is the address */
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        mer_json_object(json, mer_vta_memory_name(m));
        mer_json_int(json, "first", files->base[m]);
        mer_json_int(json, "entries", files->entries[m]);
        mer_json_int(json, "entry_bytes", core->element[m]);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
    mer_json_end_object(json);
}

static MerStatus read_number(const char *path, const cJSON *map, const char *key, double least,
                             double most, int64_t *value, MerError *error)
{
    double number = mer_json_get_real(map, key, -1);
    if (!(number >= least && number <= most) || number != (double)(int64_t)number) {
        return mer_error_set(error, MER_INVALID, "%s: %s is not a whole number in %g .. %g", path,
                             key, least, most);
    }
    *value = (int64_t)number;
    return MER_OK;
}

static MerStatus read_core(const char *path, const cJSON *hardware, MerVtaCore *core,
                           MerError *error)
{
    int64_t      batch = 0, in = 0, out = 0, bytes[4];
    MerVtaReason reason;
    MER_TRY(read_number(path, hardware, "batch", 1, 4096, &batch, error));
    MER_TRY(read_number(path, hardware, "block_in", 1, 4096, &in, error));
    MER_TRY(read_number(path, hardware, "block_out", 1, 4096, &out, error));
    for (int i = 0; i < 4; i++) {
        MER_TRY(read_number(path, hardware, sizes[i].name, 1, INT_MAX, &bytes[i], error));
    }
    mer_vta_core_make(core, (int)batch, (int)in, (int)out, bytes[0], bytes[1], bytes[2], bytes[3]);
    return mer_vta_core_check(core, &reason)
               ? MER_OK
               : mer_error_set(error, MER_INVALID, "%s: %s", path, reason.text);
}

static MerStatus read_layout(const char *path, const cJSON *root, MerVtaFiles *files,
                             MerArena *arena, MerError *error)
{
    const cJSON *dram = mer_json_get(root, "dram");
    if (strcmp(mer_json_get_text(root, "format", ""), FORMAT) != 0) {
        return mer_error_set(error, MER_INVALID, "%s: format is not " FORMAT, path);
    }
    files->task = mer_arena_text(arena, mer_json_get_text(root, "task", files->task));
    files->platform = mer_arena_text(arena, mer_json_get_text(root, "platform", NULL));
    MER_TRY(read_core(path, mer_json_get(root, "hardware"), &files->core, error));
    MER_TRY(read_number(path, root, "repeat", 1, 1e15, &files->repeat, error));
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        const cJSON *region = mer_json_get(dram, mer_vta_memory_name(m));
        MER_TRY(read_number(path, region, "first", 0, UINT32_MAX, &files->base[m], error));
        MER_TRY(read_number(path, region, "entries", 0, UINT32_MAX, &files->entries[m], error));
    }
    return MER_OK;
}

static bool is_there(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 || errno != ENOENT;
}

static MerStatus read_description(const char *path, MerVtaFiles *files, MerArena *arena,
                                  MerError *error)
{
    char  *text;
    size_t size;
    MER_TRY(mer_file_read(path, 1 << 20, arena, &text, &size, error));
    cJSON    *root = cJSON_ParseWithLength(text, size);
    MerStatus status = root ? read_layout(path, root, files, arena, error)
                            : mer_error_set(error, MER_INVALID, "%s: not JSON", path);
    cJSON_Delete(root);
    return status;
}

static uint64_t little_endian(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static MerStatus read_uops(const char *path, MerVtaFiles *files, MerArena *arena, MerError *error)
{
    char  *data;
    size_t size;
    MER_TRY(mer_file_read(path, MOST_BYTES, arena, &data, &size, error));
    if (size % 4 != 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s has %zu bytes, expected micro-ops of 4 bytes each", path, size);
    }
    files->has_uops = true;
    files->uop_count = (int64_t)(size / 4);
    files->uops = MER_ARRAY(arena, uint32_t, files->uop_count);
    for (int64_t u = 0; u < files->uop_count; u++) {
        files->uops[u] = (uint32_t)little_endian((const unsigned char *)data + 4 * u, 4);
    }
    return MER_OK;
}

MerStatus mer_vta_files_read(const char *path, const char *data, size_t size, const char *platform,
                             MerVtaFiles *files, const MerPlatform **machine, MerArena *arena,
                             MerError *error)
{
    const unsigned char *bytes = (const unsigned char *)data;
    const char          *layout = mer_arena_format(arena, "%s.json", path);
    const char          *end = strrchr(path, '.');
    int                  stem = (int)(end ? end - path : (long)strlen(path));
    const char          *uops = mer_arena_format(arena, "%.*s.uop", stem, path);
    bool                 has_layout = is_there(layout);
    if (size % 16 != 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s has %zu bytes, expected instructions of 16 bytes each", path,
                             size);
    }
    *files = (MerVtaFiles){.task = path, .name = path, .repeat = 1};
    if (has_layout) {
        MER_TRY(read_description(layout, files, arena, error));
    }
    files->platform = platform ? platform : files->platform ? files->platform : "vta-pynq-b";
    MER_TRY(mer_platform_read(files->platform, arena, machine, error));
    if ((*machine)->kind != MER_PLATFORM_VTA) {
        return mer_error_set(error, MER_INVALID, "platform %s is of kind %s, expected vta",
                             (*machine)->name, mer_platform_kind_name((*machine)->kind));
    }
    if (!has_layout) {
        mer_vta_core_of(*machine, &files->core);
    }
    files->count = (int64_t)(size / 16);
    files->words = MER_ARRAY(arena, MerVtaWord, files->count);
    for (int64_t i = 0; i < files->count; i++) {
        files->words[i] =
            (MerVtaWord){little_endian(bytes + 16 * i, 8), little_endian(bytes + 16 * i + 8, 8)};
    }
    return is_there(uops) ? read_uops(uops, files, arena, error) : MER_OK;
}

MerStatus mer_vta_files_decode(const MerVtaFiles *files, MerVtaInstruction **list, MerArena *arena,
                               MerError *error)
{
    *list = MER_ARRAY(arena, MerVtaInstruction, files->count);
    for (int64_t i = 0; i < files->count; i++) {
        const char *wrong = mer_vta_decode(&files->core, files->words[i], &(*list)[i]);
        if (wrong) {
            return mer_error_set(error, MER_INVALID,
                                 "%s: instruction %lld has %s; is the core of --platform %s the "
                                 "one it was made for",
                                 files->task, (long long)i, wrong, files->platform);
        }
    }
    return MER_OK;
}
