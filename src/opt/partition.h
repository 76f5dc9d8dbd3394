/* How the knobs of a space are shared out among agents: by what samples say, by role, or by
 * chance. */
#ifndef MERCATOR_OPT_PARTITION_H
#define MERCATOR_OPT_PARTITION_H

#include "learn/clustering.h"
#include "mercator/view.h"
#include "opt/points.h"

typedef enum MerPartitionKind {
    MER_PARTITION_CORRELATION,
    MER_PARTITION_INTERACTION,
    MER_PARTITION_ROLE,
    MER_PARTITION_RANDOM
} MerPartitionKind;
#define MER_PARTITION_CHOICES "correlation|interaction|role|random"

typedef struct MerPartitionRule {
    MerPartitionKind kind;
    MerLinkage       linkage;
    double           threshold; /* cut here, */
    int              agents; /* or at this many clusters; 0: by threshold, INT_MAX: one per knob */
    bool             is_signed; /* knobs that move against each other are far apart */
} MerPartitionRule;

typedef struct MerSamples { /* priced points */
    int       count, capacity;
    bool      is_warm; /* of an earlier run: they cost no budget */
    MerIndex *points;  /* (capacity, knobs) */
    double   *scores;
} MerSamples;

MerSamples mer_samples_make(const MerSpace *space, int capacity, MerArena *arena);
void       mer_samples_add(MerSamples *samples, const MerSpace *space, const MerIndex *point,
                           double score);
/* The best share of the feasible samples, in the order they came. */
MerSamples mer_samples_best(const MerSamples *samples, const MerSpace *space, double share,
                            MerArena *arena);

/* Fewer feasible samples say nothing of clusters: with them two knobs that have nothing to do with
 * each other show a correlation of 0.2 on average and 0.6 at times. */
enum { MER_PARTITION_FLOOR = 100 };
int mer_samples_feasible(const MerSamples *samples);
/* Warns under "cluster_floor" that clusters were refused, and says what is done instead. */
void mer_partition_refuse(MerNotes *notes, int samples, int feasible, const char *instead);

/* Fills owner[knob] and gives the number of agents; where samples would decide and there are too few,
 * every knob has an agent, or as many neighbouring knobs as `agents` asks for share one. Shows the
 * matrix, the merges and the clusters as a view with this `id` unless it is NULL. */
int mer_partition(const MerPartitionRule *rule, const MerSpace *space, const MerSamples *samples,
                  MerRng *rng, const char *id, MerNotes *notes, MerArena *arena, int *owner);

/* Agents numbered by their first knob, whatever they were called before; gives how many there are. */
int mer_partition_number(int knobs, int *owner);
/* Every agent owns something, and nobody else does. */
bool mer_is_partition(int knobs, int agents, const int *owner);

typedef struct MerPartition {
    const char       *id;      /* "partition": the first of a task; else a later one */
    const MerSamples *samples; /* NULL: there were none */
    const double     *matrix;  /* NULL, as the merges: no samples decided */
    const MerMerge   *merges;
    int               agents;
    const int        *owner; /* agent of each knob */
} MerPartition;
void mer_partition_view(const MerPartition *found, const MerPartitionRule *rule,
                        const MerSpace *space, MerNotes *notes);

#endif
