/* Problem `split`: which compute unit of a system on chip computes which output channels of every layer (docs/channel-split.md). One task,
 * the whole network. */
#include "split/split_parts.h"

#include "mercator/evaluator.h"
#include "mercator/import.h"

#include <stddef.h>
#include <string.h>

enum { QUICK_EPOCHS = 10 };

#define OPTION(name) offsetof(MerSplitOptions, name)
static const MerOption options[] = {
    {"granularity", MER_OPTION_CHOICE, OPTION(granularity), "auto", 0, 0, "auto|count|channel",
     "what a knob says: how many channels an option gets, or which option a channel gets; auto: "
     "channel with a dataset, else count"},
    {"tie", MER_OPTION_BOOL, OPTION(tie), "false", 0, 0, NULL,
     "layers whose channels meet (Add, depthwise) share one assignment"},
    {"operators", MER_OPTION_CHOICE, OPTION(operators), "replace", 0, 0, "replace|keep",
     "may a unit for depthwise layers stand in for 3x3 convolutions and depthwise-separable pairs"},
    {"pin", MER_OPTION_TEXTS, OPTION(pin), "[]", 0, 0, NULL,
     "REGEX=UNIT or REGEX=OPTION: all channels of the layers that match go there"},
    {"reduced", MER_OPTION_BOOL, OPTION(reduced), "false", 0, 0, NULL,
     "search only layers where another option can keep up with the reference; the rest stays "
     "there"},
    {"dataset", MER_OPTION_TEXT, OPTION(train.dataset), "", 0, 0, NULL,
     "images to train with: digits8x8 (built in), a folder, or a folder inside `data`; a built-in "
     "network takes their size"},
    {"quick", MER_OPTION_BOOL, OPTION(quick), "false", 0, 0, NULL,
     "with a dataset: few epochs and three strengths, for a first look"},
    {"missing", MER_OPTION_CHOICE, OPTION(missing), "refuse", 0, 0, "refuse|price",
     "a dataset that is not there is an error, or splits are priced without training"},
    {"data", MER_OPTION_TEXT, OPTION(train.data), "", 0, 0, NULL, "folder with folders of images"},
    {"samples", MER_OPTION_INT, OPTION(train.samples), "0", 0, 1e9, NULL,
     "images that are trained on; 0: all but those for validation"},
    {"validation", MER_OPTION_REAL, OPTION(train.validation), "0.1", 0, 0.9, NULL,
     "share of the training images that is kept for validation, drawn by the seed"},
    {"batch_size", MER_OPTION_INT, OPTION(train.batch), "100", 1, 65536, NULL, "images per step"},
    {"warmup_epochs", MER_OPTION_INT, OPTION(train.warmup_epochs), "30", 0, 100000, NULL,
     "of the float network that every mapping starts from"},
    {"warmup_rate", MER_OPTION_REAL, OPTION(train.warmup_rate), "0.1", 0, 100, NULL,
     "of its weights at the start; falls by a cosine"},
    {"warmup_updater", MER_OPTION_CHOICE, OPTION(train.warmup_updater), "sgd", 0, 0, "sgd|adam",
     "of its weights: with momentum 0.9, or Adam with decay beside the gradient"},
    {"weight_decay", MER_OPTION_REAL, OPTION(train.weight_decay), "5e-4", 0, 1, NULL,
     "of the float network"},
    {"flip", MER_OPTION_BOOL, OPTION(train.flip), "false", 0, 0, NULL,
     "turn every second image round, left and right"},
    {"shift", MER_OPTION_INT, OPTION(train.shift), "0", 0, 1000, NULL,
     "move images by up to so many pixels (a crop of the padded image)"},
    {"roll", MER_OPTION_INT, OPTION(train.roll), "0", 0, 1000, NULL,
     "roll images by up to so many rows"},
    {"noise", MER_OPTION_REAL, OPTION(train.noise), "0", 0, 100, NULL,
     "deviation of noise on all images, the same in every epoch, as a share of their range"},
    {"test_noise", MER_OPTION_REAL, OPTION(train.test_noise), "0", 0, 100, NULL,
     "above 0: networks are also tried on test images with so much noise more"},
    {"test_shift", MER_OPTION_INT, OPTION(train.test_shift), "0", 0, 1000, NULL,
     "above 0: and on test images moved by up to so many pixels"},
    {"warmup_cache", MER_OPTION_TEXT, OPTION(train.warmup_cache), "", 0, 0, NULL,
     "folder that keeps float networks, so that runs with the same network, images and seed train "
     "it once; results do not change"},
    {"normalise", MER_OPTION_BOOL, OPTION(train.normalise), "false", 0, 0, NULL,
     "mean 0 and deviation 1 in every channel of the images"},
    {"signed_add", MER_OPTION_BOOL, OPTION(train.form.signed_add), "false", 0, 0, NULL,
     "inputs of sums keep their sign; else they are cut at 0, as the integer sum has them"},
    {"authors_ternary", MER_OPTION_BOOL, OPTION(train.form.authors_ternary), "false", 0, 0, NULL,
     "scales of ternary weights from the shape of the layer, as the authors start; else from its "
     "weights"},
    {"training_seed", MER_OPTION_INT, OPTION(train.seed), "0", 0, 9e15, NULL,
     "of weights, order and images; 0: that of the run"},
    {"train_scales", MER_OPTION_BOOL, OPTION(train.form.train_scales), "false", 0, 0, NULL,
     "scales of weights learn too"},
    {"golden_inputs", MER_OPTION_INT, OPTION(golden_inputs), "1000", 1, 1e6, NULL,
     "inputs that are exported beside a network, with its results: test images first, then random "
     "bytes"},
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
