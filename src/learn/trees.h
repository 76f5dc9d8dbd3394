/* Boosted decision trees: a cost model that learns from a few hundred priced points. XGBoost trains
 * them (Chen and Guestrin, KDD 2016); the trained trees are walked here, since a search asks for many
 * small batches. Higher predictions are better. */
#ifndef MERCATOR_LEARN_TREES_H
#define MERCATOR_LEARN_TREES_H

#include "mercator/error.h"

typedef enum MerTreeLoss {
    MER_TREES_RANK,      /* pairs in the right order; all rows are one group */
    MER_TREES_REGRESSION /* squared error */
} MerTreeLoss;
#define MER_TREE_LOSS_CHOICES "rank|reg"

typedef struct MerTreeSpec {
    MerTreeLoss loss;
    int         depth;
    double      gamma, eta;
    int         rounds, patience; /* trees at most; stop after so many without a better recall */
    int         recall_at;        /* its largest place */
} MerTreeSpec;

/* AutoTVM's settings (v0.9.0) for plans of this size. */
MerTreeSpec mer_tree_spec(MerTreeLoss loss, int plan_size);

/* Complete trees of one depth, the shallow parts filled up: node i has the children 2i + 1 (below the
 * threshold) and 2i + 2. Zeroed: no tree, which predicts `base`. */
typedef struct MerTrees {
    int    count, depth, columns;
    float  base;
    int   *features;   /* (count, 2^depth - 1) */
    float *thresholds; /* likewise */
    float *leaves;     /* (count, 2^depth) */
} MerTrees;

/* rows (row_count, columns), labels (row_count), margins (row_count) that the trees add to, or NULL:
 * then they add to `base`. Replaces what was in `trees`; on an error they are empty. */
typedef struct MerTreeData {
    int          row_count, columns;
    const float *rows, *labels, *margins;
} MerTreeData;
MerStatus mer_trees_train(MerTrees *trees, const MerTreeSpec *spec, const MerTreeData *data,
                          MerError *error);
void      mer_trees_predict(const MerTrees *trees, int row_count, const float *rows, float *values);
void      mer_trees_clear(MerTrees *trees);

/* For i = 1 .. at: the share of the true best i that are among the predicted best i; the mean of
 * these. Ties go to the earlier one. */
double mer_average_recall(int count, const float *labels, const float *predictions, int at);

#endif
