/* Knobs shared out among agents. */
#include "opt/partition.h"

#include "space/correlation.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MerSamples mer_samples_make(const MerSpace *space, int capacity, MerArena *arena)
{
    MerSamples samples = {.capacity = capacity};
    samples.points = MER_ARRAY(arena, MerIndex, (int64_t)capacity * space->knob_count + 1);
    samples.scores = MER_ARRAY(arena, double, capacity + 1);
    return samples;
}

void mer_samples_add(MerSamples *samples, const MerSpace *space, const MerIndex *point,
                     double score)
{
    if (samples->count < samples->capacity) {
        size_t knobs = (size_t)space->knob_count;
        memcpy(samples->points + (size_t)samples->count * knobs, point, knobs * sizeof *point);
        samples->scores[samples->count++] = score;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

MerSamples mer_samples_best(const MerSamples *samples, const MerSpace *space, double share,
                            MerArena *arena)
{
    double *sorted = MER_ARRAY(arena, double, samples->count + 1);
    int     feasible = 0;
    for (int i = 0; i < samples->count; i++) {
        if (isfinite(samples->scores[i])) {
            sorted[feasible++] = samples->scores[i];
        }
    }
    qsort(sorted, (size_t)feasible, sizeof *sorted, by_value);
    int        wanted = (int)ceil(share * feasible);
    MerSamples best = mer_samples_make(space, wanted, arena);
    for (int i = 0; i < samples->count && wanted > 0; i++) {
        if (samples->scores[i] <= sorted[wanted - 1]) {
            mer_samples_add(&best, space, samples->points + (size_t)i * (size_t)space->knob_count,
                            samples->scores[i]);
        }
    }
    return best;
}

/* Text that grows: a note may hold a large matrix. */
typedef struct Text {
    char  *data;
    size_t length, capacity;
} Text;

static void add_number(Text *text, const char *format, double value, const char *after)
{
    int wrote = snprintf(text->data + text->length, text->capacity - text->length, format, value);
    text->length += (size_t)wrote;
    wrote = snprintf(text->data + text->length, text->capacity - text->length, "%s", after);
    text->length += (size_t)wrote;
}

static void add_words(Text *text, const char *words)
{
    text->length +=
        (size_t)snprintf(text->data + text->length, text->capacity - text->length, "%s", words);
}

int mer_samples_feasible(const MerSamples *samples)
{
    int feasible = 0;
    for (int i = 0; i < samples->count; i++) {
        feasible += isfinite(samples->scores[i]) != 0;
    }
    return feasible;
}

void mer_partition_note(const char *name, MerNotes *notes, MerArena *arena, int knobs,
                        const MerSamples *samples, const double *matrix, const MerMerge *merges,
                        int agents, const int *owner)
{
    size_t numbers = (size_t)knobs * (size_t)(knobs + 4) + 16;
    Text   text = {mer_arena_alloc(arena, 32 * numbers + 256), 0, 32 * numbers + 256};
    add_number(&text, "{\"samples\": %.0f, ", samples ? samples->count : 0, "");
    if (samples != NULL && samples->is_warm) {
        add_number(&text, "\"warm\": %.0f, ", samples->count, "");
    }
    if (matrix != NULL) { /* what it rests on */
        add_number(&text, "\"feasible\": %.0f, ", mer_samples_feasible(samples), "");
    }
    add_number(&text, "\"agents\": %.0f, \"owner\": [", agents, "");
    for (int k = 0; k < knobs; k++) {
        add_number(&text, "%.0f", owner[k], k + 1 < knobs ? ", " : "]");
    }
    if (matrix != NULL) {
        add_words(&text, ", \"matrix\": [");
        for (int i = 0; i < knobs; i++) {
            add_words(&text, "[");
            for (int j = 0; j < knobs; j++) {
                add_number(&text, "%.4g", matrix[(size_t)i * (size_t)knobs + (size_t)j],
                           j + 1 < knobs ? ", " : "]");
            }
            add_words(&text, i + 1 < knobs ? ", " : "]");
        }
        add_words(&text, ", \"merges\": [");
        for (int m = 0; m + 1 < knobs; m++) {
            add_number(&text, "[%.0f, ", merges[m].a, "");
            add_number(&text, "%.0f, ", merges[m].b, "");
            add_number(&text, "%.6g]", merges[m].height, m + 2 < knobs ? ", " : "");
        }
        add_words(&text, "]");
    }
    add_words(&text, "}");
    mer_note(notes, name, text.data);
}

/* Clusters numbered by their first knob, whatever they were called before; done ones are
 * negative. */
static int renumber(int knobs, int *owner)
{
    int count = 0;
    for (int k = 0; k < knobs; k++) {
        int old = owner[k];
        if (old < 0) {
            continue;
        }
        count++;
        for (int j = k; j < knobs; j++) {
            owner[j] = owner[j] == old ? -count : owner[j];
        }
    }
    for (int k = 0; k < knobs; k++) {
        owner[k] = -owner[k] - 1;
    }
    return count;
}

static int divide_by_role(const MerSpace *space, int *owner)
{
    for (int k = 0; k < space->knob_count; k++) {
        owner[k] = (int)space->knobs[k].role;
    }
    return renumber(space->knob_count, owner);
}

static int divide_at_random(int knobs, int agents, MerRng *rng, MerArena *arena, int *owner)
{
    int *order = MER_ARRAY(arena, int, knobs + 1);
    for (int k = 0; k < knobs; k++) {
        order[k] = k;
    }
    mer_rng_shuffle(rng, order, knobs);
    for (int k = 0; k < knobs; k++) {
        owner[order[k]] = k % agents; /* equal sizes, but for one */
    }
    return renumber(knobs, owner);
}

void mer_partition_refuse(MerNotes *notes, int samples, int feasible, const char *used)
{
    char json[300];
    snprintf(json, sizeof json,
             "{\"samples\": %d, \"feasible\": %d, \"floor\": %d, \"used\": \"%s\", \"try\": \"more "
             "samples, or partition=role\"}",
             samples, feasible, MER_PARTITION_FLOOR, used);
    mer_note(notes, "cluster_floor", json);
}

static int divide_evenly(int knobs, int agents, int *owner)
{
    for (int k = 0; k < knobs; k++) {
        owner[k] = (int)((int64_t)k * agents / knobs);
    }
    return agents;
}

static int divide_by_samples(const MerPartitionRule *rule, const MerSpace *space,
                             const MerSamples *samples, const char *name, MerNotes *notes,
                             MerArena *arena, int *owner)
{
    int       knobs = space->knob_count, cells = knobs * knobs;
    double   *matrix = MER_ARRAY(arena, double, cells), *distance = MER_ARRAY(arena, double, cells);
    MerMerge *merges = MER_ARRAY(arena, MerMerge, knobs);
    if (rule->kind == MER_PARTITION_CORRELATION) {
        mer_correlation(space, samples->count, samples->points, samples->scores, matrix);
    } else {
        mer_interaction(space, samples->count, samples->points, samples->scores, matrix);
    }
    mer_correlation_distance(knobs, matrix, rule->is_signed, distance);
    mer_cluster(knobs, distance, rule->linkage, merges);
    int agents = rule->agents > 0 ? mer_cut_count(knobs, merges, rule->agents, owner)
                                  : mer_cut_threshold(knobs, merges, rule->threshold, owner);
    if (name != NULL) {
        mer_partition_note(name, notes, arena, knobs, samples, matrix, merges, agents, owner);
    }
    return agents;
}

int mer_partition(const MerPartitionRule *rule, const MerSpace *space, const MerSamples *samples,
                  MerRng *rng, const char *name, MerNotes *notes, MerArena *arena, int *owner)
{
    int knobs = space->knob_count, agents;
    if (knobs == 0) {
        return 1;
    }
    if (rule->agents == 1 || rule->agents >= knobs) {
        for (int k = 0; k < knobs; k++) {
            owner[k] = rule->agents == 1 ? 0 : k;
        }
        agents = renumber(knobs, owner);
    } else if (rule->kind == MER_PARTITION_ROLE) {
        agents = divide_by_role(space, owner);
    } else if (rule->kind == MER_PARTITION_RANDOM) {
        int wanted = rule->agents > 0 ? rule->agents : (int)ceil(sqrt(knobs));
        agents = divide_at_random(knobs, wanted, rng, arena, owner);
    } else if (mer_samples_feasible(samples) >= MER_PARTITION_FLOOR) {
        return divide_by_samples(rule, space, samples, name, notes, arena, owner);
    } else {
        agents = divide_evenly(knobs, rule->agents > 0 ? rule->agents : knobs, owner);
        mer_partition_refuse(notes, samples->count, mer_samples_feasible(samples),
                             rule->agents > 0 ? "neighbouring knobs" : "one agent per knob");
    }
    if (name != NULL) {
        mer_partition_note(name, notes, arena, knobs, samples, NULL, NULL, agents, owner);
    }
    return agents;
}
