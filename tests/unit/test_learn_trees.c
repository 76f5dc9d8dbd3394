/* Boosted trees: what we walk is what the library trained, and what it learns is the right order. */
#include "support.h"

#include "learn/trees.h"
#include "mercator/rng.h"

#include <math.h>
#include <string.h>
#include <xgboost/c_api.h>

enum { ROWS = 300, COLUMNS = 6 };

typedef struct Sample {
    float rows[ROWS * COLUMNS], labels[ROWS], margins[ROWS];
} Sample;

/* Tile sizes as rows: products and a capacity, as a cost model meets them. */
static void fill(Sample *sample, uint64_t seed)
{
    MerRng rng = mer_rng_make(seed, 0);
    for (int i = 0; i < ROWS; i++) {
        float *row = sample->rows + i * COLUMNS, product = 1;
        for (int c = 0; c < COLUMNS; c++) {
            row[c] = (float)(1 << mer_rng_below(&rng, 6));
            product *= row[c];
        }
        sample->labels[i] = product > 1e6f ? 0 : 1 / (1 + fabsf(log2f(product) - 15)) + row[0] / 64;
        sample->margins[i] = (float)mer_rng_unit(&rng);
    }
}

/* The library's own margins for the rows it was trained on, by the same calls without our walk. */
static void predict_by_library(const MerTreeSpec *spec, const Sample *sample, int rounds,
                               bool has_margins, float *values)
{
    DMatrixHandle matrix;
    BoosterHandle booster;
    unsigned      group = ROWS;
    bst_ulong     length;
    const float  *found;
    const char   *objective = spec->loss == MER_TREES_RANK ? "rank:pairwise" : "reg:squarederror";
    const char *const parameters[][2] = {
        {"objective", objective}, {"max_depth", "3"},       {"gamma", "1e-4"}, {"eta", "0.3"},
        {"nthread", "1"},         {"tree_method", "exact"}, {"verbosity", "0"}};
    assert_int_equal(XGDMatrixCreateFromMat(sample->rows, ROWS, COLUMNS, NAN, &matrix), 0);
    XGDMatrixSetFloatInfo(matrix, "label", sample->labels, ROWS);
    if (has_margins) {
        XGDMatrixSetFloatInfo(matrix, "base_margin", sample->margins, ROWS);
    }
    XGDMatrixSetUIntInfo(matrix, "group", &group, 1);
    assert_int_equal(XGBoosterCreate(&matrix, 1, &booster), 0);
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        assert_int_equal(XGBoosterSetParam(booster, parameters[i][0], parameters[i][1]), 0);
    }
    for (int r = 0; r < rounds; r++) {
        assert_int_equal(XGBoosterUpdateOneIter(booster, r, matrix), 0);
    }
    assert_int_equal(XGBoosterPredict(booster, matrix, 1, 0, 0, &length, &found), 0);
    assert_int_equal(length, ROWS);
    memcpy(values, found, ROWS * sizeof *values);
    XGBoosterFree(booster);
    XGDMatrixFree(matrix);
}

static void the_walk_equals_the_library(void **state)
{
    (void)state;
    static Sample sample;
    float         ours[ROWS], theirs[ROWS];
    for (int test = 0; test < 8; test++) {
        MerTreeSpec spec = mer_tree_spec(test % 2 ? MER_TREES_RANK : MER_TREES_REGRESSION, 64);
        bool        has_margins = test / 2 % 2;
        MerTrees    trees = {0};
        fill(&sample, (uint64_t)test);
        MerTreeData data = {ROWS, COLUMNS, sample.rows, sample.labels,
                            has_margins ? sample.margins : NULL};
        assert_int_equal(mer_trees_train(&trees, &spec, &data, NULL), MER_OK);
        assert_true(trees.count > 5);
        mer_trees_predict(&trees, ROWS, sample.rows, ours);
        predict_by_library(&spec, &sample, trees.count, has_margins, theirs);
        for (int i = 0; i < ROWS; i++) {
            double expected = ours[i] + (has_margins ? sample.margins[i] - trees.base : 0);
            assert_true(fabs(expected - theirs[i]) <= 1e-5 * fmax(1, fabs(theirs[i])));
        }
        mer_trees_clear(&trees);
    }
}

static void trees_order_rows_they_have_not_seen(void **state)
{
    (void)state;
    static Sample train, other;
    float         said[ROWS];
    fill(&train, 1);
    fill(&other, 2);
    for (int loss = 0; loss < 2; loss++) {
        MerTrees    trees = {0};
        MerTreeSpec spec = mer_tree_spec((MerTreeLoss)loss, 64);
        MerTreeData data = {ROWS, COLUMNS, train.rows, train.labels, NULL};
        assert_int_equal(mer_trees_train(&trees, &spec, &data, NULL), MER_OK);
        mer_trees_predict(&trees, ROWS, other.rows, said);
        double recall = mer_average_recall(ROWS, other.labels, said, 64);
        if (!(recall > 0.3)) {
            fail_msg("loss %d: recall %g, by chance 0.11", loss, recall);
        }
        mer_trees_clear(&trees);
    }
}

/* By hand: at 1 the two agree, at 2 one of two, at 3 two of three, at 4 all. */
static void recall_counts_common_rows(void **state)
{
    (void)state;
    const float labels[] = {4, 3, 2, 1}, said[] = {9, 1, 2, 5};
    assert_true(fabs(mer_average_recall(4, labels, said, 4) - (1 + 0.5 + 2 / 3.0 + 1) / 4) < 1e-12);
    assert_true(fabs(mer_average_recall(4, labels, said, 2) - 0.75) < 1e-12);
    assert_true(mer_average_recall(4, labels, labels, 64) == 1);
    assert_true(mer_average_recall(0, labels, labels, 64) == 0);
}

static void equal_labels_and_no_rows_are_survived(void **state)
{
    (void)state;
    float       rows[] = {1, 2, 3, 4}, labels[] = {1, 1, 1, 1}, bad[] = {1, NAN, 1, 1}, said[4];
    MerTrees    trees = {0};
    MerError    error = {0};
    MerTreeSpec spec = mer_tree_spec(MER_TREES_RANK, 64);
    MerTreeData data = {4, 1, rows, labels, NULL};
    assert_int_equal(mer_trees_train(&trees, &spec, &data, &error), MER_OK);
    mer_trees_predict(&trees, 4, rows, said);
    assert_true(said[0] == said[3]);
    data.labels = bad; /* the library refuses it, and says so in one line */
    assert_int_equal(mer_trees_train(&trees, &spec, &data, &error), MER_INVALID);
    assert_true(strncmp(error.message, "xgboost: ", 9) == 0);
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(trees.count, 0);
    data.row_count = 0;
    assert_int_equal(mer_trees_train(&trees, &spec, &data, &error), MER_INVALID);
    mer_trees_clear(&trees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walk_equals_the_library),
        cmocka_unit_test(trees_order_rows_they_have_not_seen),
        cmocka_unit_test(recall_counts_common_rows),
        cmocka_unit_test(equal_labels_and_no_rows_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
