/* Placements drawn from the policy of `go`, and what it learns from their scores (PPO). */
#ifndef MERCATOR_OPT_GO_LEARN_H
#define MERCATOR_OPT_GO_LEARN_H

#include "opt/go_policy.h"
#include "tensor/updater.h"

/* Decisions of several placements, and how likely they were: `old` are log-probabilities. */
typedef struct MerGoBatch {
    int     capacity, count, rounds;
    int     plain;    /* the first ones, which are first decisions alone */
    int     improved; /* the last ones, which begin from `best` in place of first decisions */
    int    *cuts;     /* (count, units - 1) */
    int    *rules;    /* (count, tasks) */
    int    *units;    /* (count, rounds + 1, groups); the first are those of the cuts */
    int    *levels[MER_GO_TASKS];       /* (count, ops), rows along the order; NULL: not decided */
    int    *first_levels[MER_GO_TASKS]; /* the same, as the rules say */
    float  *cuts_old, *rules_old, *units_old, *levels_old[MER_GO_TASKS];
    int    *best, *best_levels[MER_GO_TASKS]; /* of the best placement so far */
    double *scores;
} MerGoBatch;

typedef struct MerGoTeacher { /* how it learns */
    MerUpdater *updater;
    int         epochs;
    double      rate, clip, grad_norm, entropy, first_entropy;
} MerGoTeacher;

void mer_go_batch_make(MerGoBatch *batch, const MerGoGraph *graph, int capacity, int rounds,
                       MerArena *arena);
/* Draws `count` placements, or the most likely one when `rng` is NULL. The graph must be encoded. */
void mer_go_draw(MerGoView *view, MerGoBatch *batch, int count, MerRng *rng);
/* What was decided of placement `index` before `round`; of its end with round = rounds. */
MerGoDecided mer_go_decided(const MerGoGraph *graph, const MerGoBatch *batch, int index, int round);
/* Round `round` of placements first .. first + count - 1, of which there are at most mer_go_next_part. */
int         mer_go_next_part(const MerGoView *view, const MerGoBatch *batch, int first);
MerGoLogits mer_go_batch_logits(MerGoView *view, const MerGoBatch *batch, int round, int first,
                                int count, MerRng *dropout);
/* The point of placement `index`. */
void mer_go_point(const MerGoGraph *graph, const MerSpace *space, const MerGoBatch *batch,
                  int index, MerIndex *point);
/* And back: units of each group, levels along the order where they are decided. */
void mer_go_read_point(const MerGoGraph *graph, const MerSpace *space, const MerIndex *point,
                       int *units, int *const *levels);
/* Advantages of every placement: of its first decisions, of all others. */
MerStatus mer_go_learn(MerGoView *view, const MerGoTeacher *teacher, const MerGoBatch *batch,
                       const double *first_advantages, const double *advantages, MerRng *dropout,
                       MerError *error);

#endif
