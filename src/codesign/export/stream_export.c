/* Exporters of streams: binary, readable, and as C arrays. */
#include "codesign/export/stream_files.h"

#include <ctype.h>

static bool is_known(const MerExport *what)
{
    return what->tasks[0].plan->kind == &mer_plan_vta;
}

static void put_little_endian(unsigned char *bytes, uint64_t value, int count)
{
    for (int i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(value >> 8 * i);
    }
}

static void add_binary(const MerVtaFiles *stream, MerExportFiles *files)
{
    MerArena      *arena = files->arena;
    const char    *name = stream->name;
    unsigned char *words = mer_arena_alloc_array(arena, (size_t)stream->count, 16);
    unsigned char *uops = mer_arena_alloc_array(arena, (size_t)stream->uop_count, 4);
    MerJson        layout = {0};
    for (int64_t i = 0; i < stream->count; i++) {
        put_little_endian(words + 16 * i, stream->words[i].low, 8);
        put_little_endian(words + 16 * i + 8, stream->words[i].high, 8);
    }
    for (int64_t u = 0; u < stream->uop_count; u++) {
        put_little_endian(uops + 4 * u, stream->uops[u], 4);
    }
    mer_vta_files_describe(stream, &layout);
    mer_export_add(files, mer_arena_format(arena, "%s.vta", name), words,
                   16 * (size_t)stream->count);
    mer_export_add(files, mer_arena_format(arena, "%s.uop", name), uops,
                   4 * (size_t)stream->uop_count);
    mer_export_add(files, mer_arena_format(arena, "%s.vta.json", name), layout.text, layout.size);
    mer_json_free(&layout);
}

static MerStatus export_binary(const MerExport *what, MerExportFiles *files, MerError *error)
{
    for (int t = 0; t < what->count && is_known(what); t++) {
        MerVtaFiles stream;
        MER_TRY(mer_vta_files_make(what, t, &stream, files->arena, error));
        add_binary(&stream, files);
    }
    return MER_OK;
}

const MerExporterClass mer_exporter_vta = {
    .name = "vta",
    .summary = "TASK.vta, TASK.uop, TASK.vta.json: instructions, micro-ops, and where data lies",
    .problem = "codesign",
    .is_default = true,
    .write = export_binary,
};

static MerStatus write_listing(const MerVtaFiles *stream, FILE *file, MerArena *arena,
                               MerError *error)
{
    MerVtaInstruction *list;
    MER_TRY(mer_vta_files_decode(stream, &list, arena, error));
    fprintf(file, "# %s: %lld instructions, %lld micro-ops, core %dx%dx%d\n", stream->task,
            (long long)stream->count, (long long)stream->uop_count, stream->core.batch,
            stream->core.block_in, stream->core.block_out);
    for (int64_t i = 0; i < stream->count; i++) {
        char line[160];
        mer_vta_print(&list[i], line);
        fprintf(file, "%6lld %s\n", (long long)i, line);
    }
    for (int64_t u = 0; u < stream->uop_count; u++) {
        MerVtaUop uop = mer_vta_uop_decode(&stream->core, stream->uops[u]);
        fprintf(file, "uop %lld dst %u src %u wgt %u\n", (long long)u, uop.dst, uop.src, uop.wgt);
    }
    return MER_OK;
}

static MerStatus export_listing(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerStatus status = MER_OK;
    for (int t = 0; t < what->count && is_known(what) && status == MER_OK; t++) {
        MerVtaFiles stream;
        MER_TRY(mer_vta_files_make(what, t, &stream, files->arena, error));
        FILE *file = mer_export_begin(files);
        if (file) {
            status = write_listing(&stream, file, files->arena, error);
        }
        MER_TRY(mer_export_end(files, file, mer_arena_format(files->arena, "%s.lst", stream.name),
                               error));
    }
    return status;
}

const MerExporterClass mer_exporter_vta_listing = {
    .name = "vta_listing",
    .summary = "TASK.lst: instructions with their tokens, one per line, then the micro-ops",
    .problem = "codesign",
    .write = export_listing,
};

/* A name that C takes; the number tells names apart that differ in other letters. */
static const char *identifier(const char *task, int number, MerArena *arena)
{
    char *name = mer_arena_format(arena, "vta_%d_%s", number, task);
    for (char *c = name; *c; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    return name;
}

static void write_header(const MerVtaFiles *streams, int count, FILE *file, MerArena *arena)
{
    fprintf(
        file,
        "/* Streams of a VTA-class core: instructions of 128 bits as {low, high}, micro-ops, and "
        "the layout of DRAM.\n * Addresses are entries; times entry_bytes they are bytes from "
        "the start of the buffer. */\n"
        "#ifndef VTA_STREAMS_H\n#define VTA_STREAMS_H\n\n#include <stdint.h>\n\n"
        "typedef struct VtaRegion {\n    uint32_t first, entries, entry_bytes;\n} VtaRegion;\n\n"
        "typedef struct VtaStream {\n    const char *task;\n"
        "    uint32_t batch, block_in, block_out;\n"
        "    uint32_t instruction_count, uop_count;\n    uint64_t repeat;\n"
        "    const uint64_t (*instructions)[2];\n    const uint32_t *uops;\n"
        "    VtaRegion uop, wgt, inp, acc, out; /* acc: the bias, if any */\n} VtaStream;\n\n"
        "#define VTA_STREAM_COUNT %d\nextern const VtaStream vta_streams[VTA_STREAM_COUNT];\n",
        count);
    for (int t = 0; t < count; t++) {
        const MerVtaFiles *s = &streams[t];
        const char        *name = identifier(s->name, t, arena);
        fprintf(file, "\n/* %s, core %dx%dx%d\n", s->name, s->core.batch, s->core.block_in,
                s->core.block_out);
        for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
            fprintf(file, " * %s: %lld entries of %d bytes from entry %lld on\n",
                    mer_vta_memory_name(m), (long long)s->entries[m], s->core.element[m],
                    (long long)s->base[m]);
        }
        fprintf(file, " */\nextern const uint64_t %s_instructions[%lld][2];\n", name,
                (long long)s->count);
        fprintf(file, "extern const uint32_t %s_uops[%lld];\n", name, (long long)s->uop_count);
    }
    fprintf(file, "\n#endif\n");
}

static void write_arrays(const MerVtaFiles *s, const char *name, FILE *file)
{
    fprintf(file, "\nconst uint64_t %s_instructions[%lld][2] = {", name, (long long)s->count);
    for (int64_t i = 0; i < s->count; i++) {
        fprintf(file, "%s{0x%016llx, 0x%016llx},", i % 2 == 0 ? "\n    " : " ",
                (unsigned long long)s->words[i].low, (unsigned long long)s->words[i].high);
    }
    fprintf(file, "\n};\n\nconst uint32_t %s_uops[%lld] = {", name, (long long)s->uop_count);
    for (int64_t u = 0; u < s->uop_count; u++) {
        fprintf(file, "%s0x%08x,", u % 8 == 0 ? "\n    " : " ", s->uops[u]);
    }
    fprintf(file, "\n};\n");
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        fprintf(file, c == '"' || c == '\\' ? "\\%c" : c < 32 || c > 126 ? "\\%03o" : "%c", c);
    }
    fputc('"', file);
}

static void write_source(const MerVtaFiles *streams, int count, FILE *file, MerArena *arena)
{
    fprintf(file, "#include \"vta_streams.h\"\n");
    for (int t = 0; t < count; t++) {
        write_arrays(&streams[t], identifier(streams[t].name, t, arena), file);
    }
    fprintf(file, "\nconst VtaStream vta_streams[VTA_STREAM_COUNT] = {\n");
    for (int t = 0; t < count; t++) {
        const MerVtaFiles *s = &streams[t];
        const char        *name = identifier(s->name, t, arena);
        fprintf(file, "    {");
        write_text(file, s->task);
        fprintf(file, ", %d, %d, %d, %lld, %lld, %lld, %s_instructions, %s_uops", s->core.batch,
                s->core.block_in, s->core.block_out, (long long)s->count, (long long)s->uop_count,
                (long long)s->repeat, name, name);
        for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
            fprintf(file, ", {%lld, %lld, %d}", (long long)s->base[m], (long long)s->entries[m],
                    s->core.element[m]);
        }
        fprintf(file, "},\n");
    }
    fprintf(file, "};\n");
}

static MerStatus export_c(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerVtaFiles *streams = MER_ARRAY(files->arena, MerVtaFiles, what->count);
    if (!is_known(what)) {
        return MER_OK;
    }
    for (int t = 0; t < what->count; t++) {
        MER_TRY(mer_vta_files_make(what, t, &streams[t], files->arena, error));
    }
    FILE *file = mer_export_begin(files);
    if (file) {
        write_header(streams, what->count, file, files->arena);
    }
    MER_TRY(mer_export_end(files, file, "vta_streams.h", error));
    file = mer_export_begin(files);
    if (file) {
        write_source(streams, what->count, file, files->arena);
    }
    return mer_export_end(files, file, "vta_streams.c", error);
}

const MerExporterClass mer_exporter_vta_c = {
    .name = "vta_c",
    .summary = "vta_streams.h and .c: instructions and micro-ops as C arrays, layout of DRAM",
    .problem = "codesign",
    .write = export_c,
};
