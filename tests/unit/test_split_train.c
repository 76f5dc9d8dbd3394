/* The training side of `split`: networks from graphs, quantisers that values share, folded batch norms, inputs in bytes, starting
 * scales, operators side by side, and trainings that begin where they should. */
#include "one_arena.h"
#include "onnx_builder.h"
#include "split_support.h"

#include "learn/training.h"
#include "split/train/split_train.h"
#include "split/train/split_training.h"
#include "tensor/ops.h"

#include <math.h>

static const MerTrainForm plain_form = {0};

static MerTrainNet *net_of(const MerGraph *graph, const MerSplit *split, MerTrainForm form)
{
    MerTrainNet *net;
    MerError     error = {0};
    MerRng       rng = mer_rng_make(1, 0);
    if (mer_train_net_new(graph, split, &form, arena, &net, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_train_net_fill(net, &rng);
    return net;
}

static const MerTrainNode *node_named(const MerTrainNet *net, const char *name)
{
    for (int n = 0; n < net->node_count; n++) {
        if (strcmp(net->nodes[n].name, name) == 0) {
            return &net->nodes[n];
        }
    }
    fail_msg("no node %s", name);
    return NULL;
}

static void test_what_is_added_shares_a_quantiser(void **state)
{
    (void)state;
    MerTrainNet *net = net_of(graph_named("resnet8@input=1x8x8", arena), NULL, plain_form);
    assert_int_equal(net->node_count, 10 + 3 + 1); /* layers, sums, the average */
    assert_int_equal(node_named(net, "conv1")->quantiser, node_named(net, "s1b0c2")->quantiser);
    assert_int_equal(node_named(net, "s2b0ds")->quantiser, node_named(net, "s2b0c2")->quantiser);
    assert_int_not_equal(node_named(net, "s2b0c1")->quantiser,
                         node_named(net, "s2b0c2")->quantiser);
    assert_int_equal(node_named(net, "fc")->quantiser, -1); /* logits stay as they are */
    assert_true(node_named(net, "s1b0c2")->has_relu);       /* integer sums have no signs */
    assert_false(node_named(net, "s1b0c2")->is_signed);
    assert_false(node_named(net, "s2b0ds")->branches[0].has_norm);
    mer_train_net_free(net);
    MerTrainForm form = {.signed_add = true};
    net = net_of(graph_named("resnet8@input=1x8x8", arena), NULL, form);
    assert_false(node_named(net, "s1b0c2")->has_relu);
    assert_true(node_named(net, "s1b0c2")->is_signed);
    mer_train_net_free(net);
}

static void run_logits(MerTrainNet *net, const float *images, int batch, float *logits)
{
    MerTape *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    mer_tape_record(tape, false);
    MerTensor *y = mer_train_net_run(net, tape, images, batch, NULL, false);
    memcpy(logits, mer_tensor_data(tape, y), (size_t)y->size * sizeof *logits);
    mer_tape_free(tape);
}

/* With 8-bit weights and 7-bit activations the folded network is nearly the float one; steps of 1/16 that are floored make the rest. */
static void test_a_folded_network_computes_nearly_the_same(void **state)
{
    (void)state;
    enum { BATCH = 16 };
    OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainNet *net = net_of(opened->problem.graph, opened->split, plain_form);
    MerRng       rng = mer_rng_make(5, 0);
    float        images[BATCH * 64], before[BATCH * 10], after[BATCH * 10];
    double       wrong = 0, right = 0, mean = 0;
    for (int i = 0; i < BATCH * 64; i++) {
        images[i] = (float)mer_rng_unit(&rng);
    }
    for (int n = 0; n < net->node_count; n++) { /* norms that do something */
        MerTrainBranch *branch = &net->nodes[n].branches[0];
        for (int c = 0; branch->has_norm && c < branch->weight->shape[0]; c++) {
            branch->norm.running_mean->data[c] = 0.1f * (float)mer_rng_normal(&rng);
            branch->norm.running_variance->data[c] = 0.1f + 0.2f * (float)mer_rng_unit(&rng);
            branch->norm.scale->data[c] = 0.5f + (float)mer_rng_unit(&rng);
            branch->norm.shift->data[c] = 0.2f * (float)mer_rng_normal(&rng);
        }
    }
    run_logits(net, images, BATCH, before);
    mer_train_net_fold(net);
    run_logits(net, images, BATCH, after);
    for (int i = 0; i < BATCH * 10; i++) {
        mean += before[i] / (BATCH * 10);
    }
    for (int i = 0; i < BATCH * 10; i++) {
        wrong += (after[i] - before[i]) * (after[i] - before[i]);
        right += (before[i] - mean) * (before[i] - mean);
    }
    print_message("relative error %.3f\n", sqrt(wrong / right));
    assert_true(right > 0 && wrong / right < 0.25 * 0.25);
    assert_true(wrong > 0);
    mer_train_net_free(net);
}

/* Its folded weights would be hundreds of times those of its neighbours, with which it shares a scale. */
static void test_a_channel_without_variance_leaves_the_scale_alone(void **state)
{
    (void)state;
    OpenedSplit  *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainNet  *net = net_of(opened->problem.graph, opened->split, plain_form);
    MerTrainNode *node = (MerTrainNode *)node_named(net, "s1b0c1");
    float         most = 0;
    node->branches[0].norm.running_variance->data[5] = 1e-7f;
    node->branches[0].norm.shift->data[5] = 0.25f;
    mer_train_net_fold(net);
    const MerTensor *w = node->branches[0].weight;
    for (int64_t i = 0; i < w->size; i++) {
        most = fabsf(w->data[i]) > most ? fabsf(w->data[i]) : most;
    }
    assert_true(most > 0 && most < 0.1f); /* uniform below 1 / sqrt(144), variance 1 */
    assert_float_equal(w->data[5 * 144], 0, 0);
    assert_float_equal(node->branches[0].bias->data[5], 0.25f, 0);
    const MerSplitLayer *layer = &opened->split->layers[node->layer];
    assert_true(net->formats[layer->option_start].scale->data[0] <= 0.2f);
    mer_train_net_free(net);
}

/* Values of the papers' code for layers of (16, 3x3), (64, 3x3) and (10, 1x1); and powers of two that hold twice the largest. */
static void test_scales_start_as_the_authors_or_the_weights_say(void **state)
{
    (void)state;
    float weights[64] = {0.3f, -0.26f, 0.02f, 0.1f}, scale[64], one;
    mer_train_start_scale("ternary", weights, 16, 1, 9, true, scale);
    assert_float_equal(scale[0], -2.28747f, 1e-5f);
    mer_train_start_scale("ternary", weights, 64, 1, 9, true, scale);
    assert_float_equal(scale[63], -2.98061f, 1e-5f);
    mer_train_start_scale("ternary", weights, 10, 1, 1, true, scale);
    assert_float_equal(scale[0], -0.95385f, 1e-5f);
    mer_train_start_scale("int8-pow2", weights, 1, 4, 1, false, &one);
    assert_float_equal(one, 0.5f, 0); /* 2^floor(log2 0.6) */
    mer_train_start_scale("int8", weights, 1, 4, 1, false, &one);
    assert_float_equal(one, logf(0.6f), 1e-6f);
    mer_train_start_scale("ternary", weights, 1, 4, 1, false, &one);
    assert_float_equal(expf(one), 0.28f, 1e-5f); /* the mean of what is above half of it */
}

static void test_both_operators_of_a_layer_learn(void **state)
{
    (void)state;
    OpenedSplit *opened = open_split(
        "split", "soc", "mobilenet_v1@width=0.25@input=1x16x16@stem_stride=1", "darkside", arena);
    MerTrainNet *net = net_of(opened->problem.graph, opened->split, plain_form);
    int          both = 0;
    for (int n = 0; n < net->node_count; n++) {
        both += net->nodes[n].branch_count == 2;
    }
    assert_int_equal(both, 8); /* L3, L5, L7 .. L11, L13 */
    for (int is_folded = 0; is_folded < 2; is_folded++) {
        MerTape    *tape = mer_tape_new(&mer_backend_dnnl, NULL);
        float       images[4 * 256];
        int         labels[4] = {0, 1, 2, 3};
        MerTensor **choice = MER_ARRAY(arena, MerTensor *, opened->split->layer_count);
        for (int i = 0; i < 4 * 256; i++) {
            images[i] = (float)(i % 13) / 13;
        }
        for (int l = 0; l < opened->split->layer_count; l++) {
            const MerSplitLayer *layer = &opened->split->layers[l];
            choice[l] = mer_tape_tensor(tape, 2, (int[]){layer->option_count, layer->c_out});
            mer_tensor_fill(choice[l], 1 / (float)layer->option_count);
        }
        MerTensor *y = mer_train_net_run(net, tape, images, 4, choice, true);
        assert_int_equal(
            mer_tape_backward(tape, mer_tensor_cross_entropy(tape, y, labels, 0), NULL), MER_OK);
        for (int n = 0; n < net->node_count; n++) {
            for (int k = 0; k < net->nodes[n].branch_count; k++) {
                assert_true(net->nodes[n].branches[k].weight->has_grad);
            }
        }
        mer_parameters_clear(net->weights);
        mer_parameters_clear(net->scales);
        mer_tape_free(tape);
        mer_train_net_fold(net);
    }
    mer_train_net_free(net);
}

static void test_sizes_that_do_not_fit_are_named(void **state)
{
    (void)state;
    MerTrainOptions options = {.dataset = "digits8x8", .batch = 100};
    MerError        error = {0};
    MerTrain       *train = mer_train_new(graph_named("resnet8", arena), NULL, &options, arena);
    assert_int_equal(mer_train_open(train, &error), MER_INVALID);
    mer_test_contains(error.message, "resnet8 takes images of 3x32x32 in 10 classes, dataset "
                                     "digits8x8 has 1x8x8 in 10: expected a "
                                     "network such as resnet8@input=1x8x8@classes=10");
    mer_train_free(train);
    train = mer_train_new(graph_named("bert_base", arena), NULL, &options, arena);
    assert_int_equal(mer_train_open(train, &error), MER_UNSUPPORTED);
    mer_train_free(train);
}

static void test_every_training_starts_from_the_same_weights(void **state)
{
    (void)state;
    OpenedSplit    *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainOptions options = {.dataset = "digits8x8",
                               .batch = 50,
                               .warmup_epochs = 1,
                               .warmup_rate = 0.1,
                               .samples = 200,
                               .validation = 0.1,
                               .seed = 3};
    MerTrain       *train = mer_train_new(opened->problem.graph, opened->split, &options, arena);
    MerTrainable    model = mer_train_model(train);
    MerTape        *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerTally        first, moved, again;
    assert_int_equal(model.start(model.state, NULL, NULL, NULL), MER_OK);
    assert_int_equal(model.batch_count(model.state, 0), 4);
    assert_int_equal(mer_training_measure(&model, tape, 1, NULL, NULL, &first, NULL), MER_OK);
    assert_int_equal(first.examples, 143);
    MerTrainingRule rule = {.epochs = 1, .rate = 0.05, .scale_rate = 1e-4};
    MerTraining    *training = mer_training_new(&model, tape, &rule);
    assert_int_equal(mer_training_epoch(training, 0, NULL, NULL, &moved, NULL), MER_OK);
    assert_int_equal(moved.examples, 200);
    mer_training_free(training);
    assert_int_equal(mer_training_measure(&model, tape, 1, NULL, NULL, &moved, NULL), MER_OK);
    assert_true(moved.loss != first.loss);
    assert_int_equal(model.start(model.state, NULL, NULL, NULL), MER_OK);
    assert_int_equal(mer_training_measure(&model, tape, 1, NULL, NULL, &again, NULL), MER_OK);
    assert_true(again.loss == first.loss && again.correct == first.correct);
    mer_tape_free(tape);
    mer_train_free(train);
}

/* The evaluator that trains in the place of the other one, as a run opens it. */
static void use_training(OpenedSplit *opened, const char *evaluator)
{
    MerError error = {0};
    opened->evaluator.type = mer_evaluator_find("split_train", NULL);
    const MerEvaluatorClass *type = opened->evaluator.type;
    opened->evaluator.state = mer_arena_alloc(arena, type->state_size);
    opened->evaluator.options = options_from(evaluator, type->options, type->options_size, arena);
    if (type->open(opened->evaluator.state, &opened->problem, opened->evaluator.options, arena,
                   &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
}

static OpenedSplit *open_training(const char *problem, const char *evaluator)
{
    OpenedSplit *opened = open_split(problem, "soc", "resnet8@input=1x8x8", "diana", arena);
    use_training(opened, evaluator);
    return opened;
}

static float *weights_of(const MerTrainNet *net, int64_t *count)
{
    float *all = MER_ARRAY(arena, float, 200000);
    *count = 0;
    for (int i = 0; i < mer_parameters_count(net->weights); i++) {
        const MerTensor *t = mer_parameters_get(net->weights, i);
        assert_true(*count + t->size <= 200000);
        memcpy(all + *count, t->data, (size_t)t->size * sizeof *all);
        *count += t->size;
    }
    return all;
}

static float *trained_weights(const OpenedSplit *opened, const MerPlan *plan, int64_t *count)
{
    MerTrainNet *net;
    MerError     error = {0};
    if (mer_split_trained_net(&opened->evaluator, &opened->problem, plan, NULL, &net, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(net->is_folded);
    return weights_of(net, count);
}

/* After its evaluation, after that of another one, and without any: always the same bits. */
static void test_the_network_of_a_plan_is_the_evaluated_one(void **state)
{
    (void)state;
    const char  *problem = "split:dataset=digits8x8,samples=100,warmup_epochs=1,training_seed=4";
    OpenedSplit *opened = open_training(problem, "split_train:finetune_epochs=1");
    OpenedSplit *fresh = open_training(problem, "split_train:finetune_epochs=1");
    MerPlan      digital = plan_by(opened, "all_8bit", MER_METRIC_CYCLES);
    MerPlan      analog = plan_by(opened, "all_ternary", MER_METRIC_CYCLES);
    int64_t      count, other;
    MerCost      cost = cost_of(opened, &digital);
    assert_true(cost.feasible && cost.value[MER_METRIC_INTEGER_ACCURACY] > 0 &&
                cost.value[MER_METRIC_FLOAT_ACCURACY] > 0);
    float *kept = weights_of(mer_train_network(mer_split_training(&opened->problem)), &count);
    float *first = trained_weights(opened, &digital, &other);
    assert_memory_equal(kept, first, (size_t)count * sizeof *kept);
    float *moved = trained_weights(opened, &analog, &other); /* trains */
    assert_int_equal(other, count);
    assert_true(memcmp(moved, first, (size_t)count * sizeof *first) != 0);
    float *again = trained_weights(opened, &digital, &other);
    assert_memory_equal(again, first, (size_t)count * sizeof *first);
    float *alone = trained_weights(fresh, &digital, &other);
    assert_memory_equal(alone, first, (size_t)count * sizeof *first);
    mer_train_free(mer_split_training(&opened->problem));
    mer_train_free(mer_split_training(&fresh->problem));
}

/* The float network that a mapping starts from has the operators of the mapping. */
static void test_float_accuracy_is_that_of_the_operators(void **state)
{
    (void)state;
    MerError     error = {0};
    OnnxBuilder *b = onnx_builder(17, arena);
    onnx_input(b, "x", "1 1 8 8");
    onnx_weight(b, "w1", "6 1 3 3");
    onnx_weight(b, "w2", "6 6 3 3");
    onnx_weight(b, "w3", "10 6");
    onnx_node(b, "Conv", "x w1", "a", "strides=[2,2]");
    onnx_node(b, "Relu", "a", "r", "");
    onnx_node(b, "Conv", "r w2", "c", "pads=[1,1,1,1]");
    onnx_node(b, "Relu", "c", "d", "");
    onnx_node(b, "GlobalAveragePool", "d", "p", "");
    onnx_node(b, "Flatten", "p", "f", "");
    onnx_node(b, "Gemm", "f w3", "y", "transB=1");
    onnx_output(b, "y", NULL);
    OpenedSplit *opened =
        open_split_graph("split:dataset=digits8x8,samples=200,batch_size=20,warmup_epochs=2", "soc",
                         onnx_import(b, NULL, &error), platform_named("darkside", arena), arena);
    use_training(opened, "split_train:finetune_epochs=0");
    double accuracy[2];
    for (int o = 0; o < 2; o++) {
        MerPlan              plan;
        MerSplitPlan        *made = mer_split_new_plan(opened->split, &plan, arena);
        const MerSplitLayer *layer = &opened->split->layers[1];
        assert_true(layer->is_ordered);
        memset(made->assignment + layer->channel_start, o, (size_t)layer->c_out);
        mer_split_count(opened->split, made);
        accuracy[o] = cost_of(opened, &plan).value[MER_METRIC_FLOAT_ACCURACY];
    }
    assert_true(accuracy[0] != accuracy[1]);
    mer_train_free(mer_split_training(&opened->problem));
}

static void test_only_a_training_evaluator_has_a_network(void **state)
{
    (void)state;
    OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerPlan      plan = plan_by(opened, "all_8bit", MER_METRIC_CYCLES);
    MerTrainNet *net;
    MerError     error = {0};
    assert_int_equal(
        mer_split_trained_net(&opened->evaluator, &opened->problem, &plan, NULL, &net, &error),
        MER_UNSUPPORTED);
    mer_test_contains(error.message, "evaluator soc trains no network");
    mer_test_contains(error.message, "--dataset");
}

static MerGraph *linear_network(const char *weights, const char *last, MerError *error)
{
    OnnxBuilder *b = onnx_builder(17, arena);
    onnx_input(b, "x", "1 1 4 4");
    onnx_weight(b, "w1", "3 1 3 3");
    onnx_weight(b, "w2", weights);
    onnx_node(b, "Conv", "x w1", "a", "");
    onnx_node(b, "Relu", "a", "r", "");
    if (last[0] == 'G') {
        onnx_node(b, "Flatten", "r", "f", "");
        onnx_node(b, "Gemm", "f w2", "y", "transB=1");
    } else {
        onnx_node(b, "Conv", "r w2", "y", "");
    }
    onnx_output(b, "y", NULL);
    return onnx_import(b, NULL, error);
}

/* A product with a 3x2x2 image: the kernel covers it, the weights in the order of the flattened image. */
static void test_a_product_may_read_a_whole_image(void **state)
{
    (void)state;
    MerError     error;
    MerTrainNet *net = net_of(linear_network("5 12", "Gemm", &error), NULL, plain_form);
    const int   *shape = net->nodes[1].branches[0].weight->shape;
    float        image[16], logits[5], sum = 0, hidden[12];
    assert_int_equal(shape[0], 5);
    assert_int_equal(shape[1], 3);
    assert_int_equal(shape[2], 2);
    assert_int_equal(shape[3], 2);
    for (int i = 0; i < 16; i++) {
        image[i] = (float)(i % 5) / 5;
    }
    run_logits(net, image, 1, logits);
    for (int i = 0; i < 12; i++) { /* channel, row, column */
        const float *w = net->nodes[0].branches[0].weight->data + i / 4 * 9;
        hidden[i] = 0;
        for (int k = 0; k < 9; k++) {
            hidden[i] += w[k] * image[(i / 2 % 2 + k / 3) * 4 + i % 2 + k % 3];
        }
        sum += fmaxf(hidden[i], 0) * net->nodes[1].branches[0].weight->data[4 * 12 + i];
    }
    assert_float_equal(logits[4], sum, 1e-5f);
    mer_train_net_free(net);
    MerTrainNet *none;
    assert_int_equal(mer_train_net_new(linear_network("5 3 1 1", "Conv", &error), NULL, &plain_form,
                                       arena, &none, &error),
                     MER_UNSUPPORTED);
    mer_test_contains(error.message, "the last output is an image of 5x2x2, expected one number");
}

static const MerTrainOptions small_training = {.dataset = "digits8x8",
                                               .batch = 200,
                                               .warmup_epochs = 1,
                                               .warmup_rate = 0.1,
                                               .samples = 200,
                                               .seed = 3};

/* All weights together move by the rate times the limit at most. */
static void test_long_gradients_are_cut(void **state)
{
    (void)state;
    OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrain *train = mer_train_new(opened->problem.graph, opened->split, &small_training, arena);
    MerTrainable    model = mer_train_model(train);
    MerTape        *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerTrainingRule rule = {.epochs = 1, .rate = 1, .gradient_limit = 1e-3};
    MerTally        tally;
    double          squares = 0;
    assert_int_equal(model.start(model.state, NULL, NULL, NULL), MER_OK);
    MerParameters *weights = model.parameters(model.state, 0);
    const float   *first[200];
    assert_true(mer_parameters_count(weights) < 200);
    for (int i = 0; i < mer_parameters_count(weights); i++) {
        const MerTensor *w = mer_parameters_get(weights, i);
        float           *copy = MER_ARRAY(arena, float, w->size);
        memcpy(copy, w->data, (size_t)w->size * sizeof *copy);
        first[i] = copy;
    }
    MerTraining *training = mer_training_new(&model, tape, &rule);
    assert_int_equal(mer_training_epoch(training, 0, NULL, NULL, &tally, NULL), MER_OK);
    for (int i = 0; i < mer_parameters_count(weights); i++) {
        const MerTensor *w = mer_parameters_get(weights, i);
        for (int64_t j = 0; j < w->size; j++) {
            squares += ((double)w->data[j] - first[i][j]) * ((double)w->data[j] - first[i][j]);
        }
    }
    assert_true(sqrt(squares) > 0.9e-3 && sqrt(squares) < 1.1e-3);
    mer_training_free(training);
    mer_tape_free(tape);
    mer_train_free(train);
}

/* Which answers were right, image by image, on the test part and on what is made of it. */
static void test_answers_and_changed_test_parts(void **state)
{
    (void)state;
    OpenedSplit    *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainOptions options = small_training;
    options.test_noise = 0.3;
    options.test_shift = 2;
    options.warmup_epochs = 4;
    MerTrain    *train = mer_train_new(opened->problem.graph, opened->split, &options, arena);
    MerTrainable model = mer_train_model(train);
    MerTape     *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerTally     tally[MER_TRAIN_PARTS];
    assert_int_equal(model.start(model.state, NULL, NULL, NULL), MER_OK);
    for (int part = MER_TRAIN_TEST; part < MER_TRAIN_PARTS; part++) {
        assert_int_equal(mer_training_measure(&model, tape, part, NULL, NULL, &tally[part], NULL),
                         MER_OK);
        const unsigned char *right = mer_train_answers(train);
        int                  sum = 0;
        for (int i = 0; i < 360; i++) {
            sum += right[i];
        }
        assert_int_equal(tally[part].examples, 360);
        assert_int_equal(tally[part].correct, sum);
        assert_true(part == MER_TRAIN_TEST || tally[part].loss != tally[MER_TRAIN_TEST].loss);
    }
    mer_tape_free(tape);
    mer_train_free(train);
    train = mer_train_new(opened->problem.graph, opened->split, &small_training, arena);
    model = mer_train_model(train);
    assert_int_equal(mer_train_open(train, NULL), MER_OK);
    assert_int_equal(model.batch_count(model.state, MER_TRAIN_NOISY), 0);
    mer_train_free(train);
}

typedef struct OneOperator { /* for all channels of every layer */
    const MerSplit *split;
    int             number;
} OneOperator;

static MerTensor *const *one_operator(void *context, MerTape *tape)
{
    const OneOperator *one = context;
    const MerSplit    *split = one->split;
    size_t             bytes = (size_t)(split->layer_count + 1) * sizeof(MerTensor *);
    MerTensor        **choice = mer_workspace_alloc(mer_tape_workspace(tape), bytes);
    for (int l = 0; l < split->layer_count; l++) {
        int channels = split->layers[l].c_out;
        choice[l] = mer_tape_tensor(tape, 2, (int[]){2, channels});
        for (int c = 0; c < 2 * channels; c++) {
            choice[l]->data[c] = c / channels == one->number ? 1 : 0;
        }
    }
    return choice;
}

/* The statistics of all norms, or of what else is constant. */
static double sum_of_norms(MerTrain *train)
{
    const MerTrainNet *net = mer_train_network(train);
    double             sum = 0;
    for (int n = 0; n < net->node_count; n++) {
        for (int k = 0; k < net->nodes[n].branch_count; k++) {
            const MerTrainBranch *branch = &net->nodes[n].branches[k];
            for (int c = 0; branch->has_norm && c < branch->weight->shape[0]; c++) {
                sum += branch->norm.running_mean->data[c] + branch->norm.running_variance->data[c];
            }
        }
    }
    return sum;
}

/* Those of the warm-up are of random operators. */
static void test_norms_are_those_of_the_chosen_operators(void **state)
{
    (void)state;
    static const char *const networks[] = {"resnet8@input=1x8x8",
                                           "mobilenet_v1@width=0.25@input=1x8x8@stem_stride=1"};
    static const char *const platforms[] = {"diana", "darkside"};
    MerTrainOptions          options = small_training;
    options.batch = 50;
    for (int i = 0; i < 2; i++) {
        OpenedSplit *opened = open_split("split", "soc", networks[i], platforms[i], arena);
        MerTrain    *train = mer_train_new(opened->problem.graph, opened->split, &options, arena);
        MerTape     *tape = mer_tape_new(&mer_backend_dnnl, NULL);
        double       sum[4];
        for (int j = 1; j < 4; j++) { /* the first, the second, the first again */
            OneOperator one = {opened->split, j == 2};
            assert_int_equal(mer_train_start_float(train, NULL, NULL, NULL), MER_OK);
            sum[0] = sum_of_norms(train);
            assert_int_equal(mer_train_measure_norms(train, tape, one_operator, &one, NULL),
                             MER_OK);
            sum[j] = sum_of_norms(train);
        }
        assert_true(sum[1] == sum[3]);
        assert_true((sum[0] == sum[1]) == (i == 0) && (sum[1] == sum[2]) == (i == 0));
        mer_tape_free(tape);
        mer_train_free(train);
    }
}

static void count_epochs(void *count, const char *phase, int epoch, int epochs, const char *json)
{
    (void)phase, (void)epoch, (void)epochs, (void)json;
    ++*(int *)count;
}

static double warm_loss(const MerTrainOptions *options, int *epochs, MerError *error)
{
    OpenedSplit *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrain    *train = mer_train_new(opened->problem.graph, opened->split, options, arena);
    MerNotes     notes = {.state = epochs, .epoch = count_epochs};
    MerTrainable model = mer_train_float_model(train);
    MerTape     *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerTally     tally = {.loss = -1};
    if (mer_train_warm_up(train, NULL, &notes, error) == MER_OK) {
        mer_training_measure(&model, tape, MER_TRAIN_TEST, NULL, NULL, &tally, NULL);
    }
    mer_tape_free(tape);
    mer_train_free(train);
    return tally.loss;
}

/* The second time a network comes from its file, with the same epochs; another seed has another file; half a file is named. */
static void test_a_warm_up_is_trained_once(void **state)
{
    (void)state;
    MerTrainOptions options = small_training;
    MerError        error = {0};
    int             epochs = 0;
    char            command[300];
    options.warmup_epochs = 2;
    double plain = warm_loss(&options, &epochs, &error);
    options.warmup_cache = mer_arena_format(arena, "%s/warm", new_folder(arena));
    assert_true(warm_loss(&options, &epochs, &error) == plain);
    assert_true(warm_loss(&options, &epochs, &error) == plain);
    assert_int_equal(epochs, 6);
    options.seed = 4;
    assert_true(warm_loss(&options, &epochs, &error) != plain);
    options.seed = 3;
    snprintf(command, sizeof command, "cd %s && ls | wc -l | grep -q '^2$' && truncate -s 900 *",
             options.warmup_cache);
    assert_int_equal(system(command), 0);
    assert_true(warm_loss(&options, &epochs, &error) == -1);
    mer_test_contains(error.message, "/warm/warmup-");
}

static MerTensor **first_four(const MerSplit *split, MerTape *tape, bool is_last)
{
    MerTensor **choice = MER_ARRAY(arena, MerTensor *, split->layer_count);
    for (int l = 0; l < split->layer_count; l++) {
        int n = split->layers[l].c_out;
        choice[l] = mer_tape_tensor(tape, 2, (int[]){2, n});
        for (int c = 0; c < n; c++) {
            choice[l]->data[c] = (is_last ? n - 1 - c : c) < 4 ? 1 : 0;
            choice[l]->data[n + c] = 1 - choice[l]->data[c];
        }
    }
    return choice;
}

/* Four channels on the finest weights are those that lose most, in a plan and while it is searched. */
static void test_counted_choices_go_by_the_ranking(void **state)
{
    (void)state;
    OpenedSplit    *opened = open_split("split", "soc", "resnet8@input=1x8x8", "diana", arena);
    MerTrainOptions options = {.dataset = "digits8x8",
                               .batch = 20,
                               .warmup_epochs = 2,
                               .warmup_rate = 0.1,
                               .samples = 200,
                               .seed = 3};
    for (int l = 0; l < opened->split->layer_count; l++) { /* the last channel loses most */
        MerSplitLayer *layer = (MerSplitLayer *)&opened->split->layers[l];
        int           *ranking = MER_ARRAY(arena, int, layer->c_out);
        for (int c = 0; c < layer->c_out; c++) {
            ranking[c] = layer->c_out - 1 - c;
        }
        layer->ranking = ranking;
    }
    MerTrain *train = mer_train_new(opened->problem.graph, opened->split, &options, arena);
    MerTape  *tape = mer_tape_new(&mer_backend_dnnl, NULL);
    MerTally  tally = {0};
    assert_int_equal(mer_train_open(train, NULL), MER_OK);
    MerTrainable by_knob = mer_train_knob_model(train), by_channel = mer_train_model(train);
    assert_int_equal(by_knob.start(by_knob.state, NULL, NULL, NULL), MER_OK);
    MerTensor **first = first_four(opened->split, tape, false);
    MerTensor **last = first_four(opened->split, tape, true);
    float       counted = by_knob.loss(by_knob.state, tape, first, 0, 0, 0, &tally)->data[0];
    float       wanted = by_channel.loss(by_channel.state, tape, last, 0, 0, 0, &tally)->data[0];
    float       other = by_channel.loss(by_channel.state, tape, first, 0, 0, 0, &tally)->data[0];
    assert_float_equal(counted, wanted, 0);
    assert_true(counted != other);
    mer_tape_free(tape);
    mer_train_free(train);
}

/* The slope of the soft cost on a tape is the one of the function behind it, as a share of the reference. */
static void test_the_soft_cost_has_its_slopes_on_the_tape(void **state)
{
    (void)state;
    OpenedSplit *opened =
        open_split("split:granularity=channel", "soc", "resnet8@input=1x8x8", "diana", arena);
    const MerSplit *split = opened->split;
    MerTape        *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerParameters  *shares = mer_parameters_new();
    MerTensor     **choice = MER_ARRAY(arena, MerTensor *, split->layer_count);
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        choice[l] =
            mer_parameters_add(shares, layer->name, 2, (int[]){layer->option_count, layer->c_out});
        for (int c = 0; c < layer->c_out; c++) {
            choice[l]->data[c] = 0.7f;
            choice[l]->data[layer->c_out + c] = 0.3f;
        }
    }
    const MerEvaluatorClass *soc = opened->evaluator.type;
    MerTensor *cost = soc->expected(opened->evaluator.state, tape, choice, MER_METRIC_LATENCY);
    assert_true(cost->data[0] > 0.5f && cost->data[0] < 2);
    assert_int_equal(mer_tape_backward(tape, cost, NULL), MER_OK);
    float slope = choice[1]->grad[0], before = cost->data[0], step = 0.05f;
    for (int c = 0; c < 16; c++) {
        choice[1]->data[c] += step;
    }
    mer_tape_reset(tape);
    cost = soc->expected(opened->evaluator.state, tape, choice, MER_METRIC_LATENCY);
    assert_true(fabsf(cost->data[0] - before - 16 * step * slope) < 1e-4f);
    for (int l = 0; l < split->layer_count; l++) { /* everything on the reference: 1 */
        const MerSplitLayer *layer = &split->layers[l];
        for (int c = 0; c < layer->c_out; c++) {
            choice[l]->data[c] = layer->reference == 0;
            choice[l]->data[layer->c_out + c] = layer->reference == 1;
        }
    }
    mer_tape_reset(tape);
    cost = soc->expected(opened->evaluator.state, tape, choice, MER_METRIC_ENERGY);
    assert_float_equal(cost->data[0], 1, 1e-5f);
    mer_parameters_free(shares);
    mer_tape_free(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_added_shares_a_quantiser),
        cmocka_unit_test(test_a_folded_network_computes_nearly_the_same),
        cmocka_unit_test(test_a_channel_without_variance_leaves_the_scale_alone),
        cmocka_unit_test(test_scales_start_as_the_authors_or_the_weights_say),
        cmocka_unit_test(test_both_operators_of_a_layer_learn),
        cmocka_unit_test(test_sizes_that_do_not_fit_are_named),
        cmocka_unit_test(test_every_training_starts_from_the_same_weights),
        cmocka_unit_test(test_the_network_of_a_plan_is_the_evaluated_one),
        cmocka_unit_test(test_float_accuracy_is_that_of_the_operators),
        cmocka_unit_test(test_only_a_training_evaluator_has_a_network),
        cmocka_unit_test(test_a_product_may_read_a_whole_image),
        cmocka_unit_test(test_long_gradients_are_cut),
        cmocka_unit_test(test_answers_and_changed_test_parts),
        cmocka_unit_test(test_norms_are_those_of_the_chosen_operators),
        cmocka_unit_test(test_a_warm_up_is_trained_once),
        cmocka_unit_test(test_counted_choices_go_by_the_ranking),
        cmocka_unit_test(test_the_soft_cost_has_its_slopes_on_the_tape),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
