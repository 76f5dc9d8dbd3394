/* Whole models: MACs, parameters and layers of the built-in networks (published figures of the
 * architectures), the small real models that tests/shared.h finds, and one of our own. */
#include "shared.h"
#include "support.h"

#include "import/import_find.h"

#include <math.h>

static const MerImporterClass *const importers[] = {&mer_importer_onnx, NULL};

typedef struct Model {
    const char *name, *dims;
    double      macs, parameters;
    int         operators, layers;
} Model;

static MerGraph *import(const char *name, const char *dims, MerArena *arena)
{
    MerDimBinding    bindings[8];
    MerImportOptions options = {.dims = bindings};
    char            *rest = NULL, *text = mer_arena_text(arena, dims != NULL ? dims : "");
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equal = strchr(word, '=');
        *equal = '\0';
        bindings[options.dim_count++] = (MerDimBinding){.name = word, .size = atoll(equal + 1)};
    }
    MerGraph *graph = NULL;
    MerError  error = {0};
    if (mer_graph_import_with(importers, name, &options, arena, &graph, &error) != MER_OK)
        fail_msg("%s", error.message);
    return graph;
}

static void check(const char *path, const Model *model)
{
    MerArena       *arena = mer_arena_new();
    const MerGraph *graph = import(path, model->dims, arena);
    if (fabs((double)graph->macs / model->macs - 1) > 0.005)
        fail_msg("%s: %lld MACs, expected %g", model->name, (long long)graph->macs, model->macs);
    if (fabs((double)graph->parameters / model->parameters - 1) > 0.01)
        fail_msg("%s: %lld parameters, expected %g", model->name, (long long)graph->parameters,
                 model->parameters);
    if (graph->op_count != model->operators || graph->layer_count != model->layers)
        fail_msg("%s: %d operators and %d layers, expected %d and %d", model->name, graph->op_count,
                 graph->layer_count, model->operators, model->layers);
    for (int i = 0; i < graph->value_count; i++) {
        if (graph->values[i].rank < 0)
            fail_msg("%s: the shape of %s is not known", model->name, graph->values[i].name);
    }
    mer_arena_free(arena);
}

static void test_built_in_models_have_the_published_macs_and_parameters(void **state)
{
    /* operators: nodes of the file without Constant, Identity and what folds away, an LSTM counting
     * three */
    static const Model models[] = {
        {"alexnet", NULL, 0.714e9, 61.1e6, 20, 8},
        {"vgg16", NULL, 15.470e9, 138.35e6, 38, 12},
        {"resnet18", NULL, 1.814e9, 11.68e6, 49, 12},
        {"resnet50", NULL, 4.089e9, 25.51e6, 122, 24},
        {"mobilenet_v2", NULL, 0.3008e9, 3.475e6, 100, 31},
        {"densenet121", NULL, 2.834e9, 7.93e6, 372, 67},
        {"bert_base", NULL, 11.17e9, 108.8e6, 418, 5},
        {"lstm_lm", NULL, 15.13e9, 37.28e6, 11, 3},
        {"dlrm", NULL, 0.0472e9, 17.33e6, 96, 6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check(models[i].name, &models[i]);
}

static void test_shared_models_import_with_every_shape_known(void **state)
{
    /* The shapes were compared with ONNX Runtime; silero's MACs were added up by hand. */
    static const Model models[] = {
        {"ch_ppocr_mobile_v2.0_cls_infer", "p2o.DynamicDimension.1=48 p2o.DynamicDimension.2=192",
         16.3e6, 133.7e3, 215, 42},
        {"ch_PP-OCRv4_det_infer", "p2o.DynamicDimension.1=640 p2o.DynamicDimension.2=640", 2.302e9,
         1.172e6, 330, 41},
        {"silero_vad_16k_op15", "sequence=512", 563968, 309.6e3, 47, 7},
        {"silero_vad_op18_ifless", "sequence=512", 563968, 309.6e3, 46, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[SHARED_PATH_SIZE], name[100];
        snprintf(name, sizeof name, "models/%s.onnx", models[i].name);
        check(shared_path(path, name), &models[i]);
    }
}

/* A stem of stride 2 and a head of 1 x 1: 4 x 320 x 320 outputs of 16 x 27 and of 4 x 16 MACs. */
static void test_our_own_model_imports_with_every_shape_known(void **state)
{
    static const Model model = {"open-sizes", "N=4 H=640 W=640", 4 * 320 * 320 * 496.0, 496, 3, 2};
    (void)state;
    check(TEST_DATA("open-sizes.onnx"), &model);
}

static void check_unbound(const char *path, const char *message)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = NULL;
    MerError  error = {0};
    assert_int_equal(mer_graph_import_with(importers, path, NULL, arena, &graph, &error),
                     MER_INVALID);
    mer_test_contains(error.message, message);
    mer_arena_free(arena);
}

static void test_unbound_sizes_of_a_shared_model_are_listed(void **state)
{
    char path[SHARED_PATH_SIZE];
    (void)state;
    check_unbound(
        shared_path(path, "models/ch_PP-OCRv4_det_infer.onnx"),
        "dimensions p2o.DynamicDimension.1, p2o.DynamicDimension.2 of input \"x\" are not "
        "bound");
}

static void test_unbound_sizes_of_our_own_model_are_listed(void **state)
{
    (void)state;
    check_unbound(TEST_DATA("open-sizes.onnx"), "dimensions H, W of input \"x\" are not bound");
}

static void test_resnet18_layers_are_the_known_ones(void **state)
{
    MerArena       *arena = mer_arena_new();
    const MerGraph *graph = import("resnet18", NULL, arena);
    (void)state;
    const MerOp *stem = &graph->ops[graph->layers[0].op];
    assert_int_equal(stem->dims[MER_DIM_K], 64);
    assert_int_equal(stem->dims[MER_DIM_C], 3);
    assert_int_equal(stem->dims[MER_DIM_Y], 112);
    assert_int_equal(stem->dims[MER_DIM_R], 7);
    assert_int_equal(stem->stride[0], 2);
    assert_int_equal(graph->layers[1].count, 4); /* 3x3 of 64 channels on 56x56 */
    assert_string_equal(graph->name, "resnet18");
    assert_string_equal(graph->format, "onnx");
    mer_arena_free(arena);
}

static void test_names_that_are_no_model_get_a_suggestion(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = NULL;
    MerError  error = {0};
    (void)state;
    assert_int_equal(mer_graph_import_with(importers, "resnet81", NULL, arena, &graph, &error),
                     MER_NOT_FOUND);
    mer_test_contains(error.message, "did you mean resnet18?");
    assert_int_equal(mer_graph_import_with(importers, "no/such.onnx", NULL, arena, &graph, &error),
                     MER_NOT_FOUND);
    mer_test_contains(error.message, "no/such.onnx");
    assert_int_not_equal(mer_graph_import_with(importers, "/", NULL, arena, &graph, &error),
                         MER_OK);
    mer_test_contains(error.message, "directory");
    mer_arena_free(arena);
}

static void test_other_files_are_refused_with_the_known_formats(void **state)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph = NULL;
    MerError  error = {0};
    (void)state;
    write_text("notes.txt", "version https://git-lfs.github.com/spec/v1\n");
    assert_int_equal(mer_graph_import_with(importers, "notes.txt", NULL, arena, &graph, &error),
                     MER_INVALID);
    mer_test_contains(error.message, "notes.txt is a Git LFS pointer");
    write_text("notes.txt", "just text\n");
    assert_int_equal(mer_graph_import_with(importers, "notes.txt", NULL, arena, &graph, &error),
                     MER_INVALID);
    mer_test_contains(error.message,
                      "notes.txt is not a known network format, expected one of onnx");
    remove("notes.txt");
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_models_have_the_published_macs_and_parameters),
        cmocka_unit_test(test_shared_models_import_with_every_shape_known),
        cmocka_unit_test(test_our_own_model_imports_with_every_shape_known),
        cmocka_unit_test(test_unbound_sizes_of_a_shared_model_are_listed),
        cmocka_unit_test(test_unbound_sizes_of_our_own_model_are_listed),
        cmocka_unit_test(test_resnet18_layers_are_the_known_ones),
        cmocka_unit_test(test_names_that_are_no_model_get_a_suggestion),
        cmocka_unit_test(test_other_files_are_refused_with_the_known_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
