/* `mercator inspect TASK.vta`: instructions with their tokens, what the independent checker says, and the stages
 * over time. */
#include "codesign/export/stream_files.h"

#include "codesign/cost/timing.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 96 }; /* of the chart */

typedef struct Look {
    MerVtaFiles        files;
    MerVtaInstruction *list;
    MerVtaTiming       timing;
    MerVtaTime         time;
    bool               is_legal, has_time;
    MerVtaReason       reason;
    double             busy[MER_VTA_STAGES][COLUMNS]; /* share of a column that a stage works */
} Look;

static void watch(void *state, const MerVtaInstruction *i, int64_t index, int64_t ready,
                  int64_t start, int64_t end)
{
    Look   *look = state;
    double *busy = look->busy[mer_vta_stage(i)];
    double  width = (double)look->time.ticks / COLUMNS, from = (double)start / width;
    double  to = (double)end / width;
    (void)index, (void)ready;
    for (int c = (int)from; c < COLUMNS && c < to; c++) {
        busy[c] += (to < c + 1 ? to : c + 1) - (from > c ? from : c);
    }
}

static MerStatus examine(const MerInspection *file, Look *look, MerError *error)
{
    const MerPlatform *platform;
    MerVtaFiles       *f = &look->files;
    MER_TRY(mer_vta_files_read(file->path, file->data, file->size, file->platform, f, &platform,
                               file->arena, error));
    MER_TRY(mer_vta_files_decode(f, &look->list, file->arena, error));
    mer_vta_timing_of(platform, &look->timing);
    look->is_legal =
        f->has_uops ? mer_vta_stream_check(&f->core, f->words, f->count, f->uops, f->uop_count,
                                           f->base[MER_VTA_UOP], &look->reason)
                    : mer_vta_refuse(&look->reason, "dram: the file of the micro-ops is missing");
    MerVtaReason waits;
    look->has_time = mer_vta_walk(&f->core, &look->timing, look->list, f->count, &look->time, NULL,
                                  NULL, &waits);
    if (look->is_legal && !look->has_time) {
        look->is_legal = false;
        look->reason = waits;
    }
    if (look->has_time && look->time.ticks > 0) { /* again, now that the width is known */
        MerVtaTime again = {0};
        mer_vta_walk(&f->core, &look->timing, look->list, f->count, &again, watch, look, NULL);
    }
    return MER_OK;
}

static double cycles(int64_t ticks)
{
    return (double)ticks / MER_VTA_TICKS;
}

static void print_time(const Look *look, FILE *out)
{
    double seconds = mer_vta_seconds(&look->timing, &look->time);
    fprintf(out, "%.1f cycles, %.6g ms with the host on %s, %lld instructions priced\n",
            cycles(look->time.ticks), 1e3 * seconds, look->files.platform,
            (long long)look->time.instructions);
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        fprintf(out, "%-7s %5.1f %% |", mer_vta_stage_name(s),
                100 * (double)look->time.busy[s] / (double)look->time.ticks);
        for (int c = 0; c < COLUMNS; c++) { /* idle, up to a third, two thirds, above */
            double busy = look->busy[s][c];
            fputc(busy <= 0.005 ? ' ' : busy < 1.0 / 3 ? '.' : busy < 2.0 / 3 ? '+' : '#', out);
        }
        fprintf(out, "|\n");
    }
}

static void print_text(const Look *look, FILE *out)
{
    const MerVtaFiles *f = &look->files;
    for (int64_t i = 0; i < f->count; i++) {
        char line[160];
        mer_vta_print(&look->list[i], line);
        fprintf(out, "%6lld %s\n", (long long)i, line);
    }
    fprintf(out, "\n%s: %lld instructions, %lld micro-ops, core %dx%dx%d\n", f->task,
            (long long)f->count, (long long)f->uop_count, f->core.batch, f->core.block_in,
            f->core.block_out);
    fprintf(out, "%s%s\n", look->is_legal ? "every rule of the hardware is kept" : "refused, ",
            look->is_legal ? "" : look->reason.text);
    if (look->has_time && look->time.ticks > 0) {
        print_time(look, out);
    }
}

static void write_hex(MerJson *json, const char *key, uint64_t value, int digits)
{
    char text[24];
    snprintf(text, sizeof text, "0x%0*llx", digits, (unsigned long long)value);
    mer_json_text(json, key, text);
}

static void write_instructions(const Look *look, MerJson *json)
{
    mer_json_array(json, "instructions");
    for (int64_t i = 0; i < look->files.count; i++) {
        mer_json_object(json, NULL);
        mer_json_text(json, "stage", mer_vta_stage_name(mer_vta_stage(&look->list[i])));
        mer_json_object(json, "fields");
        mer_vta_write_json(&look->list[i], json);
        mer_json_end_object(json);
        write_hex(json, "word0", look->files.words[i].low, 16);
        write_hex(json, "word1", look->files.words[i].high, 16);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
    mer_json_array(json, "uops");
    for (int64_t u = 0; u < look->files.uop_count; u++) {
        MerVtaUop uop = mer_vta_uop_decode(&look->files.core, look->files.uops[u]);
        mer_json_object(json, NULL);
        mer_json_int(json, "dst", uop.dst);
        mer_json_int(json, "src", uop.src);
        mer_json_int(json, "wgt", uop.wgt);
        write_hex(json, "word", look->files.uops[u], 8);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_time(const Look *look, MerJson *json)
{
    mer_json_object(json, "timing");
    mer_json_real(json, "cycles", cycles(look->time.ticks));
    mer_json_real(json, "seconds", mer_vta_seconds(&look->timing, &look->time));
    mer_json_int(json, "instructions", look->time.instructions);
    mer_json_int(json, "streams", look->time.streams);
    mer_json_object(json, "busy_cycles");
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        mer_json_real(json, mer_vta_stage_name(s), cycles(look->time.busy[s]));
    }
    mer_json_end_object(json);
    mer_json_end_object(json);
}

static void print_json(const Look *look, FILE *out)
{
    const MerVtaFiles *f = &look->files;
    MerJson            json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "task", f->task);
    mer_json_text(&json, "platform", f->platform);
    mer_json_ints(&json, "geometry",
                  (const int[]){f->core.batch, f->core.block_in, f->core.block_out}, 3);
    mer_json_bool(&json, "legal", look->is_legal);
    mer_json_text(&json, "reason", look->is_legal ? NULL : look->reason.text);
    if (look->has_time) {
        write_time(look, &json);
    }
    write_instructions(look, &json);
    mer_json_end_object(&json);
    fprintf(out, "%s\n", json.text);
    mer_json_free(&json);
}

static MerStatus print(const MerInspection *file, MerError *error)
{
    Look *look = MER_NEW(file->arena, Look);
    MER_TRY(examine(file, look, error));
    (file->is_json ? print_json : print_text)(look, file->out);
    return MER_OK;
}

static bool probe(const MerInspection *file)
{
    const char *end = strrchr(file->path, '.');
    return end && strcmp(end, ".vta") == 0;
}

const MerInspectorClass mer_inspector_vta = {
    .name = "vta",
    .summary = "instructions of a VTA-class core, checked and timed",
    .endings = "vta",
    .probe = probe,
    .print = print,
};
