/* Knobs shared out among agents. */
#include "opt/partition.h"

#include "base/memory.h"
#include "base/stats.h"
#include "space/correlation.h"

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
        mer_point_copy(space, mer_point_at(space, samples->points, samples->count), point);
        samples->scores[samples->count++] = score;
    }
}

MerSamples mer_samples_best(const MerSamples *samples, const MerSpace *space, double share,
                            MerArena *arena)
{
    int       *order = MER_ARRAY(arena, int, samples->count + 1);
    int        feasible = mer_sort_order(samples->scores, samples->count, order);
    int        wanted = (int)ceil(share * feasible);
    MerSamples best = mer_samples_make(space, wanted, arena);
    for (int i = 0; i < samples->count && wanted > 0; i++) {
        if (samples->scores[i] <= samples->scores[order[wanted - 1]]) {
            mer_samples_add(&best, space, mer_point_at(space, samples->points, i),
                            samples->scores[i]);
        }
    }
    return best;
}

int mer_samples_feasible(const MerSamples *samples)
{
    int feasible = 0;
    for (int i = 0; i < samples->count; i++) {
        feasible += isfinite(samples->scores[i]) != 0;
    }
    return feasible;
}

/* Where the tree falls into so many clusters: the threshold, if that is what was asked for. */
static double cut_height(const MerPartitionRule *rule, const double *heights, int knobs, int agents,
                         MerArena *arena)
{
    int count = knobs - 1, *order = MER_ARRAY(arena, int, knobs + 1);
    if (count == 0) { /* one knob: nothing to cut */
        return rule->threshold;
    }
    mer_sort_order(heights, count, order);
    double below = agents <= count ? heights[order[count - agents]] : 0;
    double above =
        agents > 1 ? heights[order[count + 1 - agents]] : heights[order[count - 1]] * 1.08;
    bool is_asked = rule->agents == 0 && rule->threshold >= below && rule->threshold <= above;
    return is_asked ? rule->threshold : (below + above) / 2;
}

/* The `number`-th of "a|b|c". */
static const char *choice_text(const char *choices, int number, MerArena *arena)
{
    for (; number > 0; number--) {
        choices = strchr(choices, '|') + 1;
    }
    return mer_arena_text_n(arena, choices, strcspn(choices, "|"));
}

static MerViewFact samples_fact(const MerSamples *samples, bool is_first, MerArena *arena)
{
    int         count = samples != NULL ? samples->count : 0;
    bool        is_warm = samples != NULL && samples->is_warm;
    MerViewFact fact = {.name = is_first ? "samples for clustering" : "best samples used",
                        .value = count,
                        .unit = is_first && !is_warm ? "evaluation" : "1"};
    fact.text = count == 0 ? "none"
                : is_warm  ? mer_arena_format(arena, "%d of an earlier run", count)
                           : NULL;
    return fact;
}

static void fill_names(const MerSpace *space, const char **names, MerArena *arena)
{
    for (int k = 0; k < space->knob_count; k++) {
        names[k] = space->knobs[k].name != NULL ? space->knobs[k].name
                                                : mer_arena_format(arena, "knob %d", k + 1);
    }
}

void mer_partition_view(const MerPartition *found, const MerPartitionRule *rule,
                        const MerSpace *space, MerNotes *notes)
{
    enum { FACTS = 7 };
    MerArena     *arena = mer_arena_new();
    bool          is_first = strcmp(found->id, "partition") == 0;
    int           knobs = space->knob_count, count = 0;
    const char  **names = MER_ARRAY(arena, const char *, knobs + 1);
    MerViewMerge *merges = MER_ARRAY(arena, MerViewMerge, knobs + 1);
    double       *heights = MER_ARRAY(arena, double, knobs + 1);
    MerViewFact   facts[FACTS] = {
          {.name = "agents", .value = found->agents, .unit = "1"},
          {.name = "knobs", .value = knobs, .unit = "1"},
          samples_fact(found->samples, is_first, arena),
    };
    MerView         view = {.id = found->id,
                            .title = is_first ? "Agents and their knobs"
                                              : "Agents and their knobs, newest clusters",
                            .facts = facts};
    MerViewClusters clusters = {.leaf_name = "knob",
                                .group_name = "agent",
                                .height_name = "distance",
                                .leaves = names,
                                .leaf_count = knobs,
                                .groups = found->owner};
    count = 3;
    fill_names(space, names, arena);
    if (found->matrix != NULL) {
        for (int m = 0; m + 1 < knobs; m++) {
            merges[m] =
                (MerViewMerge){found->merges[m].a, found->merges[m].b, found->merges[m].height};
            heights[m] = merges[m].height;
        }
        clusters.matrix = found->matrix;
        clusters.merges = merges;
        clusters.cut = cut_height(rule, heights, knobs, found->agents, arena);
        view.help = "Knobs that move together in good samples share an agent: correlation in the "
                    "order of the tree, the tree, and where it was cut.";
        facts[count++] = (MerViewFact){.name = "feasible samples",
                                       .value = mer_samples_feasible(found->samples),
                                       .unit = "1",
                                       .help = "what the correlation rests on"};
        facts[count++] = (MerViewFact){
            .name = "by", .text = choice_text(MER_PARTITION_CHOICES, (int)rule->kind, arena)};
        facts[count++] = (MerViewFact){
            .name = "linkage", .text = choice_text(MER_LINKAGE_CHOICES, (int)rule->linkage, arena)};
        facts[count++] =
            (MerViewFact){.name = "cut at distance", .value = clusters.cut, .unit = "1"};
    }
    if (is_first && found->samples != NULL && !found->samples->is_warm) {
        view.mark_at = found->samples->count;
        view.mark = mer_arena_format(arena, "%d samples for clustering", found->samples->count);
    }
    view.fact_count = count;
    mer_view_clusters(notes, &view, &clusters);
    mer_arena_free(arena);
}

/* Those that have their number are negative. */
int mer_partition_number(int knobs, int *owner)
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

bool mer_is_partition(int knobs, int agents, const int *owner)
{
    int *number = mer_heap_zeroed((size_t)knobs + 1, sizeof *number);
    memcpy(number, owner, (size_t)knobs * sizeof *number);
    bool is_whole = true;
    for (int k = 0; k < knobs && is_whole; k++) {
        is_whole = owner[k] >= 0 && owner[k] < agents;
    }
    is_whole = is_whole && mer_partition_number(knobs, number) == agents;
    free(number);
    return is_whole;
}

static int divide_by_role(const MerSpace *space, int *owner)
{
    for (int k = 0; k < space->knob_count; k++) {
        owner[k] = (int)space->knobs[k].role;
    }
    return mer_partition_number(space->knob_count, owner);
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
    return mer_partition_number(knobs, owner);
}

void mer_partition_refuse(MerNotes *notes, int samples, int feasible, const char *instead)
{
    char text[300];
    snprintf(text, sizeof text,
             "clusters were refused: %d feasible of %d samples, expected at least %d; %s", feasible,
             samples, MER_PARTITION_FLOOR, instead);
    mer_view_warning(notes,
                     &(MerView){.id = "cluster_floor", .title = "too few samples for clusters"},
                     text, "more samples, or partition=role");
}

static int divide_evenly(int knobs, int agents, int *owner)
{
    for (int k = 0; k < knobs; k++) {
        owner[k] = (int)((int64_t)k * agents / knobs);
    }
    return agents;
}

/* Fills the matrix and merges of what was found, and its owners. */
static int divide_by_samples(const MerPartitionRule *rule, const MerSpace *space,
                             MerPartition *found, MerArena *arena, int *owner)
{
    const MerSamples *samples = found->samples;
    int               knobs = space->knob_count, cells = knobs * knobs;
    double           *matrix = MER_ARRAY(arena, double, cells);
    double           *distance = MER_ARRAY(arena, double, cells);
    MerMerge         *merges = MER_ARRAY(arena, MerMerge, knobs);
    if (rule->kind == MER_PARTITION_CORRELATION) {
        mer_correlation(space, samples->count, samples->points, samples->scores, matrix);
    } else {
        mer_interaction(space, samples->count, samples->points, samples->scores, matrix);
    }
    mer_correlation_distance(knobs, matrix, rule->is_signed, distance);
    mer_cluster(knobs, distance, rule->linkage, merges);
    found->matrix = matrix;
    found->merges = merges;
    return rule->agents > 0 ? mer_cut_count(knobs, merges, rule->agents, owner)
                            : mer_cut_threshold(knobs, merges, rule->threshold, owner);
}

int mer_partition(const MerPartitionRule *rule, const MerSpace *space, const MerSamples *samples,
                  MerRng *rng, const char *id, MerNotes *notes, MerArena *arena, int *owner)
{
    int          knobs = space->knob_count;
    MerPartition found = {.id = id, .samples = samples, .owner = owner};
    if (knobs == 0) {
        return 1;
    }
    if (rule->agents == 1 || rule->agents >= knobs) {
        found.agents = divide_evenly(knobs, rule->agents == 1 ? 1 : knobs, owner);
    } else if (rule->kind == MER_PARTITION_ROLE) {
        found.agents = divide_by_role(space, owner);
    } else if (rule->kind == MER_PARTITION_RANDOM) {
        int wanted = rule->agents > 0 ? rule->agents : (int)ceil(sqrt(knobs));
        found.agents = divide_at_random(knobs, wanted, rng, arena, owner);
    } else if (mer_samples_feasible(samples) >= MER_PARTITION_FLOOR) {
        found.agents = divide_by_samples(rule, space, &found, arena, owner);
    } else {
        found.agents = divide_evenly(knobs, rule->agents > 0 ? rule->agents : knobs, owner);
        mer_partition_refuse(notes, samples->count, mer_samples_feasible(samples),
                             rule->agents > 0 ? "neighbouring knobs share an agent"
                                              : "every knob has an agent of its own");
    }
    if (id != NULL) {
        mer_partition_view(&found, rule, space, notes);
    }
    return found.agents;
}
