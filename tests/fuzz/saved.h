/* What the fuzzers of saved states and policies share: a small search, any bytes loaded into it with
 * the inner checksums made right, and some trials afterwards if they were taken. The corpora are what
 * fuzz_search_open and fuzz_search_run left, saved in the middle of a batch. */
#ifndef MERCATOR_TESTS_FUZZ_SAVED_H
#define MERCATOR_TESTS_FUZZ_SAVED_H

#include "mercator/registry.h"
#include "mercator/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_KNOBS = 4, FUZZ_BATCH = 2, FUZZ_BUDGET = 1000 };

typedef struct FuzzSearch {
    MerArena                *arena;
    MerKnob                  knobs[FUZZ_KNOBS];
    MerSpace                 space;
    MerRng                   rng;
    MerSearch                search;
    const MerOptimizerClass *type;
    void                    *optimizer;
} FuzzSearch;

/* Sizes, a category, an order and a knob of plain numbers. */
static inline void fuzz_fill_knobs(MerKnob *knobs)
{
    static const double sizes[] = {1, 2, 4, 8, 16};
    knobs[0] = (MerKnob){.name = "tile", .kind = MER_KNOB_ORDERED, .choices = 5, .values = sizes};
    knobs[1] = (MerKnob){.name = "unit", .kind = MER_KNOB_CATEGORY, .choices = 3};
    knobs[2] = (MerKnob){.name = "rank", .kind = MER_KNOB_RANK, .choices = 4};
    knobs[3] = (MerKnob){.name = "plain", .kind = MER_KNOB_ORDERED, .choices = 6};
}

static inline FuzzSearch *fuzz_search_open(const char *reference)
{
    FuzzSearch  *s = calloc(1, sizeof *s);
    MerReference parsed;
    if (s == NULL) {
        abort();
    }
    s->arena = mer_arena_new();
    s->rng = mer_rng_make(1, 0);
    fuzz_fill_knobs(s->knobs);
    s->space = (MerSpace){.knob_count = FUZZ_KNOBS, .knobs = s->knobs};
    s->search = (MerSearch){.space = &s->space,
                            .task_count = 1,
                            .objective = MER_METRIC_COUNT,
                            .budget = FUZZ_BUDGET,
                            .rng = &s->rng,
                            .arena = s->arena};
    if (mer_reference_parse(reference, &parsed, s->arena, NULL) != MER_OK) {
        abort();
    }
    s->type = mer_optimizer_find(parsed.name, NULL);
    void *options = mer_arena_alloc(s->arena, s->type->options_size);
    s->optimizer = mer_arena_alloc(s->arena, s->type->state_size);
    if (mer_options_fill(s->type->options, s->type->presets, options, &parsed, s->arena, NULL) !=
            MER_OK ||
        s->type->open(s->optimizer, &s->search, options, NULL) != MER_OK) {
        abort();
    }
    return s;
}

static inline void fuzz_search_run(FuzzSearch *s, int batches)
{
    MerIndex    points[FUZZ_BATCH][FUZZ_KNOBS];
    MerProposal proposals[FUZZ_BATCH];
    MerTrial    trials[FUZZ_BATCH];
    for (int b = 0; b < batches; b++) {
        for (int i = 0; i < FUZZ_BATCH; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        int count = s->type->ask(s->optimizer, proposals, FUZZ_BATCH);
        for (int i = 0; i < count; i++) {
            if (!mer_space_contains(&s->space, points[i])) {
                abort();
            }
            int    away = abs(points[i][0] - points[i][2]) + abs(points[i][3] - 4);
            double score = points[i][1] == 2 && away % 2 == 0 ? INFINITY : 1 + away;
            trials[i] = (MerTrial){.index = b, .point = points[i], .score = score};
        }
        s->type->tell(s->optimizer, trials, count);
    }
}

static inline void fuzz_search_close(FuzzSearch *s)
{
    if (s->type->close) {
        s->type->close(s->optimizer);
    }
    mer_arena_free(s->arena);
    free(s);
}

/* One set of parameters from `at` on: hashes what its lines say it holds and writes the checksum. */
static inline void fuzz_repair_set(char *data, size_t size, size_t at)
{
    uint64_t hash = MER_HASH_START;
    while (at < size) {
        char   line[512];
        size_t length = 0;
        while (at + length < size && data[at + length] != '\n' && length + 1 < sizeof line) {
            line[length] = data[at + length];
            length++;
        }
        line[length] = '\0';
        if (strncmp(line, "end ", 4) == 0 && length == 20) {
            char sum[17];
            snprintf(sum, sizeof sum, "%016" PRIx64, hash);
            memcpy(data + at + 4, sum, 16);
            return;
        }
        size_t      bytes = 4;
        const char *number = strchr(line, ' ');
        number = number ? strchr(number + 1, ' ') : NULL;
        for (; number && bytes <= size; number = strchr(number + 1, ' ')) {
            bytes *= (size_t)strtoul(number + 1, NULL, 10);
        }
        hash = mer_hash_text(hash, line);
        at += length + 1;
        if (bytes > size || at + bytes > size) {
            return;
        }
        hash = mer_hash_bytes(hash, data + at, bytes);
        at += bytes;
    }
}

/* Parameters carry checksums of their own, which no fuzzer would guess. */
static inline void fuzz_repair(char *data, size_t size)
{
    static const char FORMAT[] = "format: mercator-policy/1\n";
    for (size_t at = 0; at + sizeof FORMAT <= size; at++) {
        if (memcmp(data + at, FORMAT, sizeof FORMAT - 1) == 0) {
            fuzz_repair_set(data, size, at + sizeof FORMAT - 1);
        }
    }
}

/* Refused with one line, or taken: then the search goes on and can be saved again. */
static inline void fuzz_load(const char *reference, MerKeep what, const uint8_t *data, size_t size)
{
    FuzzSearch *s = fuzz_search_open(reference);
    MerError    error = {0};
    char       *copy = malloc(size + 1), *again = NULL;
    size_t      again_size = 0;
    FILE       *file = NULL;
    if (copy != NULL && size > 0) {
        memcpy(copy, data, size);
        fuzz_repair(copy, size);
        file = fmemopen(copy, size, "r");
    }
    if (file != NULL) {
        MerStatus status = s->type->load(s->optimizer, what, file, &error);
        fclose(file);
        if (status == MER_OK) {
            fuzz_search_run(s, 6);
            FILE *memory = open_memstream(&again, &again_size);
            if (memory == NULL || s->type->save(s->optimizer, what, memory, NULL) != MER_OK) {
                abort();
            }
            fclose(memory);
            free(again);
        } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
            abort();
        }
    }
    free(copy);
    fuzz_search_close(s);
}

#endif
