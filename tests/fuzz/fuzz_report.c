/* Any bytes as a run log: refused with a message, or read into curves that only fall. */
#include "report/pages/run_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const MerReportRun *run)
{
    for (int task = 0; task < run->curve_count; task++) {
        const MerReportCurve *curve = &run->curves[task];
        for (int i = 1; i < curve->count; i++) {
            if (curve->scores[i] > curve->scores[i - 1] ||
                curve->evaluations[i] <= curve->evaluations[i - 1]) {
                abort();
            }
        }
    }
}

/* The reader takes files; a folder of its own lets several fuzzers run side by side. */
static void write_log(char folder[32], char path[64], const uint8_t *data, size_t size)
{
    strcpy(folder, "fuzz-report-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    snprintf(path, 64, "%s/run.jsonl", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char         folder[32], path[64];
    MerArena    *arena = mer_arena_new();
    MerReportRun run;
    MerError     error = {0};
    write_log(folder, path, data, size);
    if (mer_report_read(folder, &run, arena, &error) == MER_OK) {
        check(&run);
    } else if (error.message[0] == '\0') {
        abort();
    }
    unlink(path);
    rmdir(folder);
    mer_arena_free(arena);
    return 0;
}
