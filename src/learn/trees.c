/* Trees trained by libxgboost, walked by us. The library's own prediction costs a millisecond per call
 * however small the batch; a search makes thousands of calls. */
#include "learn/trees.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

enum { MOST_DEPTH = 12 };

MerTreeSpec mer_tree_spec(MerTreeLoss loss, int plan_size)
{
    return (MerTreeSpec){.loss = loss,
                         .depth = 3,
                         .gamma = 1e-4,
                         .eta = 0.3,
                         .rounds = 8000,
                         .patience = 20,
                         .recall_at = plan_size};
}

void mer_trees_clear(MerTrees *trees)
{
    free(trees->features);
    free(trees->thresholds);
    free(trees->leaves);
    *trees = (MerTrees){0};
}

typedef struct Ranking { /* of `count` rows, the highest value first */
    int     count;
    double *costs;
    int    *order, *truth, *said;
} Ranking;

static Ranking ranking_open(int count)
{
    size_t memory = (size_t)count + 1;
    int   *places = mer_heap_zeroed(3 * memory, sizeof *places);
    return (Ranking){count, mer_heap_zeroed(memory, sizeof(double)), places, places + memory,
                     places + 2 * memory};
}

static void ranking_close(Ranking *ranking)
{
    free(ranking->costs);
    free(ranking->order);
}

/* places[i] is the place of row i. */
static void rank(const Ranking *ranking, const float *values, int *places)
{
    for (int i = 0; i < ranking->count; i++) {
        ranking->costs[i] = -(double)values[i];
    }
    mer_sort_order(ranking->costs, ranking->count, ranking->order);
    for (int i = 0; i < ranking->count; i++) {
        places[ranking->order[i]] = i;
    }
}

/* A row is among both best i from the later of its two places on. */
static double recall_of(const Ranking *ranking, int at)
{
    double     sum = 0;
    int        common = 0, count = ranking->count;
    const int *truth = ranking->truth, *said = ranking->said;
    int       *joined = ranking->order;
    memset(joined, 0, (size_t)count * sizeof *joined);
    for (int i = 0; i < count; i++) {
        joined[truth[i] > said[i] ? truth[i] : said[i]]++;
    }
    at = at < count ? at : count;
    for (int i = 0; i < at; i++) {
        common += joined[i];
        sum += (double)common / (i + 1);
    }
    return at > 0 ? sum / at : 0;
}

double mer_average_recall(int count, const float *labels, const float *predictions, int at)
{
    Ranking ranking = ranking_open(count);
    rank(&ranking, labels, ranking.truth);
    rank(&ranking, predictions, ranking.said);
    double recall = recall_of(&ranking, at);
    ranking_close(&ranking);
    return recall;
}

/* The library's calls give 0 or leave a message. */
static MerStatus check(int result, MerError *error)
{
    if (result == 0) {
        return MER_OK;
    }
    const char *message = XGBGetLastError();
    return mer_error_set(error, MER_INVALID, "xgboost: %.*s", (int)strcspn(message, "\n"), message);
}

static MerStatus set_parameters(BoosterHandle booster, const MerTreeSpec *spec, MerError *error)
{
    char depth[16], gamma[32], eta[32];
    snprintf(depth, sizeof depth, "%d", spec->depth);
    snprintf(gamma, sizeof gamma, "%.9g", spec->gamma);
    snprintf(eta, sizeof eta, "%.9g", spec->eta);
    const char *const parameters[][2] = {
        {"objective", spec->loss == MER_TREES_RANK ? "rank:pairwise" : "reg:squarederror"},
        {"tree_method", "exact"},
        {"max_depth", depth},
        {"gamma", gamma},
        {"eta", eta},
        {"min_child_weight", "1"},
        {"subsample", "1.0"},
        {"lambda", "1.0"},
        {"alpha", "0"},
        {"base_score", "0.5"},
        {"nthread", "1"},
        {"seed", "0"},
        {"verbosity", "0"},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        MER_TRY(check(XGBoosterSetParam(booster, parameters[i][0], parameters[i][1]), error));
    }
    return MER_OK;
}

static MerStatus make_matrix(const MerTreeSpec *spec, const MerTreeData *data,
                             DMatrixHandle *matrix, MerError *error)
{
    bst_ulong rows = (bst_ulong)data->row_count;
    unsigned  group = (unsigned)data->row_count;
    MER_TRY(check(
        XGDMatrixCreateFromMat_omp(data->rows, rows, (bst_ulong)data->columns, NAN, matrix, 1),
        error));
    MER_TRY(check(XGDMatrixSetFloatInfo(*matrix, "label", data->labels, rows), error));
    if (data->margins != NULL) {
        MER_TRY(check(XGDMatrixSetFloatInfo(*matrix, "base_margin", data->margins, rows), error));
    }
    return spec->loss == MER_TREES_RANK
               ? check(XGDMatrixSetUIntInfo(*matrix, "group", &group, 1), error)
               : MER_OK;
}

/* The recall on what it learns from decides when to stop. The library keeps what it predicts for
 * these rows and adds one tree a round, so that looking is cheap. */
static MerStatus boost(BoosterHandle booster, DMatrixHandle matrix, const MerTreeSpec *spec,
                       const MerTreeData *data, MerError *error)
{
    Ranking   ranking = ranking_open(data->row_count);
    double    best = -1;
    int       best_round = 0;
    MerStatus status = MER_OK;
    rank(&ranking, data->labels, ranking.truth);
    for (int r = 0; r < spec->rounds && status == MER_OK && r - best_round <= spec->patience; r++) {
        bst_ulong    length;
        const float *values;
        status = check(XGBoosterUpdateOneIter(booster, r, matrix), error);
        if (status == MER_OK) {
            status = check(XGBoosterPredict(booster, matrix, 1, 0, 0, &length, &values), error);
        }
        if (status == MER_OK) {
            rank(&ranking, values, ranking.said);
            double recall = recall_of(&ranking, spec->recall_at);
            best_round = recall > best ? r : best_round;
            best = recall > best ? recall : best;
        }
    }
    ranking_close(&ranking);
    return status;
}

/* The subtree of `node` at place `at` of a complete tree: a leaf above the ground is repeated below. */
static bool place_node(MerTrees *trees, int tree, int at, const cJSON *node)
{
    int          inner = (1 << trees->depth) - 1;
    const cJSON *leaf = mer_json_get(node, "leaf"), *children = mer_json_get(node, "children");
    if (at >= inner) {
        trees->leaves[((int64_t)tree << trees->depth) + at - inner] =
            leaf != NULL ? (float)leaf->valuedouble : 0;
        return leaf != NULL;
    }
    int64_t place = (int64_t)tree * inner + at;
    if (leaf != NULL) {
        trees->features[place] = 0;
        trees->thresholds[place] = INFINITY;
        return place_node(trees, tree, 2 * at + 1, node) &&
               place_node(trees, tree, 2 * at + 2, node);
    }
    const char  *name = mer_json_get_text(node, "split", "");
    const cJSON *first = cJSON_GetArrayItem(children, 0), *second = cJSON_GetArrayItem(children, 1);
    double       yes = mer_json_get_real(node, "yes", -1);
    int          feature = name[0] == 'f' ? atoi(name + 1) : -1;
    if (first == NULL || second == NULL || feature < 0 || feature >= trees->columns) {
        return false;
    }
    bool is_first = mer_json_get_real(first, "nodeid", -2) == yes;
    trees->features[place] = feature;
    trees->thresholds[place] = (float)mer_json_get_real(node, "split_condition", 0);
    return place_node(trees, tree, 2 * at + 1, is_first ? first : second) &&
           place_node(trees, tree, 2 * at + 2, is_first ? second : first);
}

/* Reads the library's description of every tree. */
static MerStatus read_trees(BoosterHandle booster, int depth, int columns, MerTrees *trees,
                            MerError *error)
{
    bst_ulong    count;
    const char **texts;
    MER_TRY(check(XGBoosterDumpModelEx(booster, "", 0, "json", &count, &texts), error));
    *trees = (MerTrees){.count = (int)count, .depth = depth, .columns = columns, .base = 0.5f};
    trees->features = mer_heap_zeroed((size_t)(count << depth) + 1, sizeof *trees->features);
    trees->thresholds = mer_heap_zeroed((size_t)(count << depth) + 1, sizeof *trees->thresholds);
    trees->leaves = mer_heap_zeroed((size_t)(count << depth) + 1, sizeof *trees->leaves);
    for (int t = 0; t < trees->count; t++) {
        cJSON *root = cJSON_Parse(texts[t]);
        bool   is_read = root != NULL && place_node(trees, t, 0, root);
        cJSON_Delete(root);
        if (!is_read) {
            mer_trees_clear(trees);
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "xgboost: tree %d of the trained model cannot be read", t);
        }
    }
    return MER_OK;
}

/* Leaves the matrix and the booster to the caller, whatever happens. */
static MerStatus train(MerTrees *trees, const MerTreeSpec *spec, const MerTreeData *data,
                       DMatrixHandle *matrix, BoosterHandle *booster, MerError *error)
{
    MER_TRY(make_matrix(spec, data, matrix, error));
    MER_TRY(check(XGBoosterCreate(matrix, 1, booster), error));
    MER_TRY(set_parameters(*booster, spec, error));
    MER_TRY(boost(*booster, *matrix, spec, data, error));
    return read_trees(*booster, spec->depth, data->columns, trees, error);
}

MerStatus mer_trees_train(MerTrees *trees, const MerTreeSpec *spec, const MerTreeData *data,
                          MerError *error)
{
    DMatrixHandle matrix = NULL;
    BoosterHandle booster = NULL;
    mer_trees_clear(trees);
    if (data->row_count < 1 || data->columns < 1 || spec->depth < 1 || spec->depth > MOST_DEPTH) {
        return mer_error_set(error, MER_INVALID,
                             "trees: %d rows of %d columns and depth %d, expected at least one row "
                             "and column and depth 1 .. %d",
                             data->row_count, data->columns, spec->depth, MOST_DEPTH);
    }
    MerStatus status = train(trees, spec, data, &matrix, &booster, error);
    if (booster != NULL) {
        XGBoosterFree(booster);
    }
    if (matrix != NULL) {
        XGDMatrixFree(matrix);
    }
    return status;
}

/* Tree by tree, so that a tree's few numbers stay in registers and cache while the rows pass. */
void mer_trees_predict(const MerTrees *trees, int row_count, const float *rows, float *values)
{
    int inner = (1 << trees->depth) - 1;
    for (int i = 0; i < row_count; i++) {
        values[i] = trees->base;
    }
    for (int t = 0; t < trees->count; t++) {
        const int   *features = trees->features + (int64_t)t * inner;
        const float *thresholds = trees->thresholds + (int64_t)t * inner;
        const float *leaves = trees->leaves + ((int64_t)t << trees->depth);
        const float *row = rows;
        for (int i = 0; i < row_count; i++, row += trees->columns) {
            int at = 0;
            for (int d = 0; d < trees->depth; d++) {
                at = 2 * at + 1 + !(row[features[at]] < thresholds[at]);
            }
            values[i] += leaves[at - inner];
        }
    }
}
