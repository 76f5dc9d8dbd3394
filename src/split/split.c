/* Problem `split`: which compute unit of a system on chip computes which output channels of every layer (docs/channel-split.md). One task,
 * the whole network. */
#include "split/split_parts.h"

#include "base/option_rows.h"
#include "mercator/import.h"

#include <string.h>

enum { QUICK_EPOCHS = 10 };

typedef MerSplitOptions Options;

static const MerOption options[] = {
    MER_CHOICE(granularity, "auto", "auto|count|channel",
               "what a knob says: how many channels an option gets, or which option a channel "
               "gets; auto: channel with a dataset, else count"),
    MER_BOOL(tie, "false", "layers whose channels meet (Add, depthwise) share one assignment"),
    MER_CHOICE(operators, "replace", "replace|keep",
               "may a unit for depthwise layers stand in for 3x3 convolutions and "
               "depthwise-separable pairs"),
    MER_TEXTS(pin, "[]",
              "REGEX=UNIT or REGEX=OPTION: all channels of the layers that match go there"),
    MER_BOOL(reduced, "false",
             "search only layers where another option can keep up with the reference; the rest "
             "stays there"),
    MER_TEXT_AT("dataset", train.dataset, "",
                "images to train with: digits8x8 (built in), a folder, or a folder inside `data`; "
                "a built-in network takes their size"),
    MER_BOOL(quick, "false", "with a dataset: few epochs and three strengths, for a first look"),
    MER_CHOICE(missing, "refuse", "refuse|price",
               "a dataset that is not there is an error, or splits are priced without training"),
    MER_TEXT_AT("data", train.data, "", "folder with folders of images"),
    MER_INT_AT("samples", train.samples, "0", 0, 1e9,
               "images that are trained on; 0: all but those for validation"),
    MER_REAL_AT("validation", train.validation, "0.1", 0, 0.9,
                "share of the training images that is kept for validation, drawn by the seed"),
    MER_INT_AT("batch_size", train.batch, "100", 1, 65536, "images per step"),
    MER_INT_AT("warmup_epochs", train.warmup_epochs, "30", 0, 100000,
               "of the float network that every mapping starts from"),
    MER_REAL_AT("warmup_rate", train.warmup_rate, "0.1", 0, 100,
                "of its weights at the start; falls by a cosine"),
    MER_CHOICE_AT("warmup_updater", train.warmup_updater, "sgd", "sgd|adam",
                  "of its weights: with momentum 0.9, or Adam with decay beside the gradient"),
    MER_REAL_AT("weight_decay", train.weight_decay, "5e-4", 0, 1, "of the float network"),
    MER_BOOL_AT("flip", train.flip, "false", "turn every second image round, left and right"),
    MER_INT_AT("shift", train.shift, "0", 0, 1000,
               "move images by up to so many pixels (a crop of the padded image)"),
    MER_INT_AT("roll", train.roll, "0", 0, 1000, "roll images by up to so many rows"),
    MER_REAL_AT(
        "noise", train.noise, "0", 0, 100,
        "deviation of noise on all images, the same in every epoch, as a share of their range"),
    MER_REAL_AT("test_noise", train.test_noise, "0", 0, 100,
                "above 0: networks are also tried on test images with so much noise more"),
    MER_INT_AT("test_shift", train.test_shift, "0", 0, 1000,
               "above 0: and on test images moved by up to so many pixels"),
    MER_TEXT_AT("warmup_cache", train.warmup_cache, "",
                "folder that keeps float networks, so that runs with the same network, images and "
                "seed train it once; results do not change"),
    MER_BOOL_AT("normalise", train.normalise, "false",
                "mean 0 and deviation 1 in every channel of the images"),
    MER_BOOL_AT(
        "signed_add", train.form.signed_add, "false",
        "inputs of sums keep their sign; else they are cut at 0, as the integer sum has them"),
    MER_BOOL_AT("authors_ternary", train.form.authors_ternary, "false",
                "scales of ternary weights from the shape of the layer, as the authors start; else "
                "from its weights"),
    MER_INT_AT("training_seed", train.seed, "0", 0, 9e15,
               "of weights, order and images; 0: that of the run"),
    MER_BOOL_AT("train_scales", train.form.train_scales, "false", "scales of weights learn too"),
    MER_INT(golden_inputs, "1000", 1, 1e6,
            "inputs that are exported beside a network, with its results: test images first, then "
            "random bytes"),
    {0}};

extern const MerProblemClass mer_problem_split;

typedef struct State {
    MerSplit        split;
    MerSplitRemarks remarks;
    MerTrain       *train;
} State;

const char mer_split_no_weights[] =
    "the network's file has no weights: distortion is that of random ones (He, seeded)";

const MerSplit *mer_split_of(const MerProblem *problem)
{
    return problem->type == &mer_problem_split ? &((const State *)problem->state)->split : NULL;
}

/* Whether there is anything to train with. */
static bool has_images(const MerSplitOptions *given)
{
    const MerTrainOptions *train = &given->train;
    return train->dataset != NULL &&
           (given->missing == 0 || mer_dataset_is_there(train->dataset, train->data));
}

/* A built-in network named without a size (or classes) takes that of the images. */
static MerStatus fit_to_images(MerProblem *problem, MerArena *arena, MerError *error)
{
    const MerSplitOptions *given = problem->options;
    const char            *name = problem->graph->path;
    MerDatasetPair         data;
    MerGraph              *graph;
    if (!has_images(given) || !name || strcmp(problem->graph->format, "network") != 0 ||
        strcspn(name, "/.") < strcspn(name, "@")) {
        return MER_OK;
    }
    MerArena *images = mer_arena_new();
    MerStatus status =
        mer_dataset_open(given->train.dataset, given->train.data, images, &data, error);
    mer_arena_free(images);
    MER_TRY(status);
    const char *sized = name;
    if (!strstr(name, "@input=")) {
        sized = mer_arena_format(arena, "%s@input=%dx%dx%d", sized, data.train.channels,
                                 data.train.height, data.train.width);
    }
    if (!strstr(name, "@classes=")) {
        sized = mer_arena_format(arena, "%s@classes=%d", sized, data.train.classes);
    }
    MER_TRY(mer_graph_import(sized, NULL, arena, &graph, error));
    problem->graph = graph;
    return MER_OK;
}

static MerStatus open_split(MerProblem *problem, MerArena *arena, MerError *error)
{
    State                 *state = problem->state;
    const MerSplitOptions *given = problem->options;
    MerTrainOptions        train = given->train;
    MER_TRY(fit_to_images(problem, arena, error));
    MER_TRY(mer_split_open(problem, &state->split, &state->remarks, arena, error));
    problem->space = mer_split_space(&state->split, arena);
    if (given->quick && train.warmup_epochs > QUICK_EPOCHS) {
        train.warmup_epochs = QUICK_EPOCHS;
    }
    train.is_priced = train.dataset && !has_images(given);
    if (train.is_priced) {
        mer_split_remark(&state->remarks,
                         "dataset %s is not there: splits are priced, nothing is trained",
                         train.dataset);
    }
    train.dataset = train.dataset ? train.dataset : "digits8x8";
    state->train = mer_train_new(problem->graph, &state->split, &train, arena);
    return MER_OK;
}

static void close_split(MerProblem *problem)
{
    mer_train_free(((State *)problem->state)->train);
}

static void take_seed(void *given, uint64_t seed)
{
    MerSplitOptions *options_given = given;
    if (options_given->train.seed == 0) {
        options_given->train.seed = (int64_t)(seed & INT64_MAX);
    }
}

MerTrain *mer_split_training(const MerProblem *problem)
{
    return ((const State *)problem->state)->train;
}

/* Without a dataset there is nothing to train. */
static MerStatus trainable(const MerProblem *problem, MerTrainable *model, MerError *error)
{
    const MerSplitOptions *given = problem->options;
    MerTrain              *train = mer_split_training(problem);
    *model = (MerTrainable){0};
    if (has_images(given)) {
        MER_TRY(mer_train_open(train, error));
        *model = mer_train_knob_model(train);
    }
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    mer_split_decode(mer_split_of(problem), point, plan, arena);
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    return mer_split_encode(mer_split_of(problem), mer_split_plan(plan), point);
}

/* Everything on the reference unit. */
static void reference(const MerProblem *problem, MerPlan *plan, MerArena *arena)
{
    mer_split_new_plan(mer_split_of(problem), plan, arena);
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    *result = mer_split_lower_bound(mer_split_of(problem), rules, metric);
}

/* Where there is something to train with, splits are learned; else what the exact solver refuses, a general optimizer tries. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    const MerSplitOptions *given = inputs->options;
    if (given && has_images(given)) {
        const char *const full[] = {"split_train", "odimo", NULL};
        const char *const quick[] = {"split_train", "odimo:preset=quick", NULL};
        bool              is_refused = what == MER_DEFAULT_OPTIMIZER && inputs->refused;
        return is_refused ? "all_8bit" : given->quick ? quick[what] : full[what];
    }
    return what == MER_DEFAULT_OPTIMIZER && inputs->refused ? "genetic" : NULL;
}

static const char *warnings(const MerProblem *problem, const void *rules, MerMetric objective,
                            MerArena *arena)
{
    const State *state = problem->state;
    const char  *text = state->remarks.text;
    (void)rules;
    return objective == MER_METRIC_DISTORTION && !state->split.has_weights
               ? mer_arena_format(arena, "%s%s\n", text ? text : "", mer_split_no_weights)
               : text;
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    const MerSplit *split = mer_split_of(problem);
    const MerKnob  *which = &problem->space.knobs[knob];
    (void)arena;
    return which->kind == MER_KNOB_CATEGORY ? split->layers[which->op].options[choice].name : NULL;
}

static const char *advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "memory", 6) == 0
               ? "memory=price adds the cycles of transfers instead, memory=off leaves memory out"
               : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_split, NULL};

const MerProblemClass mer_problem_split = {
    .name = "split",
    .summary = "which compute unit of a system on chip computes which channels of each layer",
    .evaluator = "soc",
    .optimizer = "exact_split",
    .objective = "latency",
    .exact = "exact_split",
    .platform = "diana",
    .plan_file = "split.yaml",
    .budget = 5000,
    .platforms = 1u << MER_PLATFORM_SOC,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(MerSplitOptions),
    .state_size = sizeof(State),
    .open = open_split,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .warnings = warnings,
    .choose_default = choose_default,
    .choice_name = choice_name,
    .advise = advise,
    .take_seed = take_seed,
    .trainable = trainable,
    .reference = reference,
    .close = close_split,
    .demo = "resnet8 --platform diana --dataset digits8x8 --quick true --pareto accuracy,latency",
    .demo_summary =
        "The channels of ResNet8 over a digital and an analog array, learned while it is trained.",
};
