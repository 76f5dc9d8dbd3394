/* Evaluator `split_train`: what `soc`, or an inner evaluator, says of a split, and the accuracy of the network trained with it. Every mapping is trained
 * alike: from the same float network, with the assignment frozen, over the same batches for the same number of epochs. The test part is
 * looked at once, at the end. */
#include "split/train/split_train.h"

#include "learn/training.h"
#include "mercator/json.h"
#include "split/cost/soc.h"
#include "split/cost/soc_views.h"
#include "split/deploy/integer_net.h"
#include "split/split_parts.h"
#include "split/train/split_training.h"

#include <stdio.h>
#include <stdlib.h>

/* Deployed and trained networks should agree this well. */
static const double MOST_LOSS = 0.005 + 1e-9;

extern const MerEvaluatorClass mer_evaluator_split_train;

enum { USUAL_EPOCHS = 32, QUICK_EPOCHS = 8 };

typedef struct Options {
    MerSocOptions   soc;
    int64_t         finetune_epochs;
    MerTrainingRule rule;
    bool            answers;
} Options;

static const MerOption options[] = {
    MER_INT(finetune_epochs, "-1", -1, 100000,
            "epochs with the assignment frozen, for every mapping alike; -1: 32, with `quick` 8"),
    MER_BOOL(answers, "false",
             "note which images of the test part were answered right, four per hexadecimal digit"),
    MER_TRAINING_OPTIONS,
    MER_SOC_OPTIONS,
    {0}};

typedef struct State {
    const MerSplit     *split;
    const MerEvaluator *inner; /* prices; NULL: by `rules` */
    MerSplitRules       rules;
    Options             options;
    MerTrain           *train;
} State;

static MerStatus open_training(void *opened, const MerProblem *problem, const void *given,
                               MerArena *arena, MerError *error)
{
    State *state = opened;
    (void)arena;
    *state = (State){.split = mer_split_of(problem),
                     .inner = problem->inner,
                     .options = *(const Options *)given};
    state->rules = mer_soc_rules(&state->options.soc);
    state->train = mer_split_training(problem);
    if (state->options.finetune_epochs < 0) {
        const MerSplitOptions *chosen = problem->options;
        state->options.finetune_epochs = chosen->quick ? QUICK_EPOCHS : USUAL_EPOCHS;
    }
    return mer_train_is_priced(state->train) ? MER_OK : mer_train_open(state->train, error);
}

typedef struct Frozen { /* an assignment as choices that do not change */
    const MerSplit     *split;
    const MerSplitPlan *plan;
} Frozen;

static MerTensor *const *choose(void *context, MerTape *tape)
{
    const Frozen *frozen = context;
    int           layers = frozen->split->layer_count;
    MerTensor   **choice =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)(layers + 1) * sizeof(MerTensor *));
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &frozen->split->layers[l];
        int                  shape[2] = {layer->option_count, layer->c_out};
        choice[l] = mer_tape_tensor(tape, 2, shape);
        mer_tensor_fill(choice[l], 0);
        for (int c = 0; c < layer->c_out; c++) {
            int o = frozen->plan->assignment[layer->channel_start + c];
            choice[l]->data[o * layer->c_out + c] = 1;
        }
    }
    return choice;
}

/* Of the float network: the operators of layers that have two, (operators, channels). */
static MerTensor *const *choose_operators(void *context, MerTape *tape)
{
    const Frozen *frozen = context;
    int           layers = frozen->split->layer_count;
    MerTensor   **choice =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)(layers + 1) * sizeof(MerTensor *));
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &frozen->split->layers[l];
        choice[l] = mer_tape_tensor(tape, 2, (int[]){MER_TRAIN_BRANCHES, layer->c_out});
        mer_tensor_fill(choice[l], 0);
        for (int c = 0; c < layer->c_out; c++) {
            int o = frozen->plan->assignment[layer->channel_start + c];
            choice[l]->data[layer->options[o].branch * layer->c_out + c] = 1;
        }
    }
    return choice;
}

static double share(const MerTally *tally)
{
    return tally->examples > 0 ? (double)tally->correct / (double)tally->examples : 0;
}

static void note_epoch(MerNotes *notes, const MerTally *tally, int epoch, int epochs)
{
    char text[160];
    snprintf(text, sizeof text, "{\"loss\": %.9g, \"train_accuracy\": %.9g}", tally->loss,
             share(tally));
    mer_epoch(notes, "finetune", epoch, epochs, text);
}

static MerStatus run_epochs(const State *state, Frozen *frozen, const MerTrainable *model,
                            MerTape *tape, MerNotes *notes, MerError *error)
{
    MerTrainingRule  rule = state->options.rule;
    MerTrainingHooks hooks = {.context = frozen, .choose = choose};
    rule.epochs = (int)state->options.finetune_epochs;
    MerTraining *training = mer_training_new(model, tape, &rule);
    MerStatus    status = MER_OK;
    for (int e = 0; e < rule.epochs && status == MER_OK && !mer_is_cancelled(notes); e++) {
        MerTally tally;
        status = mer_training_epoch(training, e, &hooks, notes, &tally, error);
        note_epoch(notes, &tally, e + 1, rule.epochs);
    }
    mer_training_free(training);
    return status;
}

/* The float network with the operators of the plan; `plain` (NULL: nobody asks): what it is worth on the test part. */
static MerStatus begin(const State *state, Frozen *frozen, const MerTrainable *model, MerTape *tape,
                       MerTally *plain, MerError *error)
{
    MER_TRY(mer_train_measure_norms(state->train, tape, choose_operators, frozen, error));
    if (plain != NULL) {
        MER_TRY(mer_training_measure(model, tape, MER_TRAIN_TEST, choose_operators, frozen, plain,
                                     error));
    }
    mer_train_net_fold(mer_train_network(state->train));
    return MER_OK;
}

static MerStatus finetune(const State *state, Frozen *frozen, const MerTrainable *model,
                          MerTape *tape, MerNotes *notes, MerTally *plain, MerError *error)
{
    MER_TRY(begin(state, frozen, model, tape, plain, error));
    MER_TRY(run_epochs(state, frozen, model, tape, notes, error));
    if (!mer_is_cancelled(notes)) {
        mer_train_keep(state->train, state, frozen->plan->assignment, frozen->plan->channel_count);
    }
    return MER_OK;
}

/* Of each image of the part that was measured last whether the answer was right. */
static void note_answers(const State *state, MerNotes *notes, int part, const MerTally *tally)
{
    const unsigned char *right = mer_train_answers(state->train);
    char                *text = NULL;
    size_t               size = 0;
    FILE                *memory = state->options.answers ? open_memstream(&text, &size) : NULL;
    if (memory != NULL) {
        fprintf(memory, "{\"part\": \"%s\", \"right\": \"", mer_train_part_name(part));
        for (int64_t i = 0; i < tally->examples; i += 4) {
            int digit = 0;
            for (int64_t j = i; j < i + 4; j++) {
                digit = 2 * digit + (j < tally->examples ? right[j] : 0);
            }
            fprintf(memory, "%x", (unsigned)digit);
        }
        fputs("\"}", memory);
        fclose(memory);
        mer_note(notes, "answers", text);
    }
    free(text);
}

/* The same network on the test part made noisy, and on the one that is shifted. */
static MerStatus measure_changed(const State *state, Frozen *frozen, const MerTrainable *model,
                                 MerTape *tape, const MerCall *call, MerError *error)
{
    for (int part = MER_TRAIN_NOISY; part <= MER_TRAIN_SHIFTED; part++) {
        MerTally tally;
        char     text[80];
        if (model->batch_count(model->state, part) == 0) {
            continue;
        }
        MER_TRY(mer_training_measure(model, tape, part, choose, frozen, &tally, error));
        snprintf(text, sizeof text, "{\"part\": \"%s\", \"accuracy\": %.9g}",
                 mer_train_part_name(part), share(&tally));
        mer_note(call->notes, "changed_test", text);
        note_answers(state, call->notes, part, &tally);
    }
    return MER_OK;
}

/* The same network in whole numbers, and what that loses. NaN: the platform cannot. */
static MerStatus deploy(const State *state, const MerSplitPlan *plan, const MerCall *call,
                        MerCost *cost, MerError *failure)
{
    MerArena             *arena = mer_arena_new();
    const MerDatasetPair *data = mer_train_data(state->train);
    MerIntegerNet        *net;
    MerError              error = {0};
    char                  text[160];
    double                right;
    MerStatus             status = MER_OK;
    if (mer_integer_net_new(mer_train_network(state->train), plan, arena, &net, &error) != MER_OK) {
        MerJson json = {0};
        mer_json_text(&json, NULL, error.message);
        mer_note(call->notes, "not_deployed", json.text);
        mer_json_free(&json);
    } else if ((status = mer_integer_net_accuracy(net, &data->test, call->pool, NULL, &right,
                                                  failure)) == MER_OK) {
        double trained = cost->value[MER_METRIC_TEST_ACCURACY];
        cost->value[MER_METRIC_INTEGER_ACCURACY] = right;
        if (fabs(right - trained) > MOST_LOSS) {
            snprintf(text, sizeof text,
                     "\"%.2f %% of the test images are right in whole numbers, %.2f %% with "
                     "quantisers in training\"",
                     100 * right, 100 * trained);
            mer_note(call->notes, "warning", text);
        }
    }
    mer_arena_free(arena);
    return status;
}

static MerStatus train(const State *state, const MerSplitPlan *plan, const MerCall *call,
                       MerCost *cost, MerError *error)
{
    Frozen       frozen = {state->split, plan};
    MerTrainable model = mer_train_model(state->train);
    MerTally     validation = {0}, test = {0}, plain = {0};
    MerNotes     quiet = {.state = call->notes ? call->notes->state : NULL,
                          .is_cancelled = call->notes ? call->notes->is_cancelled : NULL};
    MER_TRY(mer_train_start_float(state->train, call->pool, call->is_told ? &quiet : call->notes,
                                  error));
    MerTape  *tape = mer_tape_new(&mer_backend_dnnl, call->pool);
    MerStatus status = finetune(state, &frozen, &model, tape, call->notes, &plain, error);
    if (status == MER_OK) {
        status = mer_training_measure(&model, tape, 1, choose, &frozen, &validation, error);
    }
    if (status == MER_OK) {
        status = mer_training_measure(&model, tape, MER_TRAIN_TEST, choose, &frozen, &test, error);
    }
    if (status == MER_OK) {
        note_answers(state, call->notes, MER_TRAIN_TEST, &test);
        status = measure_changed(state, &frozen, &model, tape, call, error);
    }
    cost->value[MER_METRIC_ACCURACY] = validation.examples > 0 ? share(&validation) : share(&test);
    cost->value[MER_METRIC_TEST_ACCURACY] = share(&test);
    cost->value[MER_METRIC_FLOAT_ACCURACY] = share(&plain);
    mer_tape_free(tape);
    if (status == MER_OK && !mer_is_cancelled(call->notes)) {
        status = deploy(state, plan, call, cost, error);
    }
    return status;
}

/* An inner evaluator is asked about splits that fit. Of what `soc` says nothing is left but the distortion, which is the weights' own:
 * a table with numbers of two models would mislead. */
static void price(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State *state = opened;
    MerCall      inner = {.scratch = call->scratch,
                          .notes = call->notes,
                          .limit_metric = MER_METRIC_COUNT,
                          .limit = INFINITY,
                          .exact = true};
    mer_soc_price(state->split, &state->rules, mer_split_plan(plan), cost);
    if (cost->feasible && state->inner) {
        double distortion = cost->value[MER_METRIC_DISTORTION];
        state->inner->type->evaluate(state->inner->state, plan, &inner, cost);
        cost->value[MER_METRIC_DISTORTION] = distortion;
    }
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State        *state = opened;
    const MerSplitPlan *content = mer_split_plan(plan);
    MerError            error = {0};
    price(state, plan, call, cost);
    if (cost->feasible && !mer_train_is_priced(state->train) &&
        train(state, content, call, cost, &error) != MER_OK) {
        mer_cost_refuse(cost, "training: %.100s", error.message);
    }
}

MerStatus mer_split_trained_net(const MerEvaluator *evaluator, const MerProblem *problem,
                                const MerPlan *plan, MerPool *pool, MerTrainNet **net,
                                MerError *error)
{
    if (evaluator->type != &mer_evaluator_split_train) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "evaluator %s trains no network, expected split_train: give images to "
                             "train with by --dataset NAME",
                             evaluator->type->name);
    }
    const State *state = evaluator->state;
    Frozen       frozen = {state->split, mer_split_plan(plan)};
    MerTrain    *trained = mer_split_training(problem);
    MerStatus    status = MER_OK;
    if (!mer_train_is_kept(trained, state, frozen.plan->assignment, frozen.plan->channel_count)) {
        MerTrainable model = mer_train_model(trained);
        MER_TRY(mer_train_start_float(trained, pool, NULL, error));
        MerTape *tape = mer_tape_new(&mer_backend_dnnl, pool);
        status = finetune(state, &frozen, &model, tape, NULL, NULL, error);
        mer_tape_free(tape);
    }
    *net = mer_train_network(trained);
    return status;
}

static MerTensor *expected(const void *opened, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric)
{
    const State *state = opened;
    return mer_soc_expected(state->split, &state->rules, tape, choice, metric);
}

static bool is_number(const void *state)
{
    return ((const State *)state)->rules.soft.gradient == MER_SPLIT_SCORE;
}

static const void *rules_of(const void *opened)
{
    const State        *state = opened;
    const MerEvaluator *inner = state->inner;
    return !inner ? &state->rules : inner->type->rules ? inner->type->rules(inner->state) : NULL;
}

/* What an inner evaluator knows, it says itself. */
static uint64_t unknown(const void *opened, const char **why)
{
    const State        *state = opened;
    const MerEvaluator *inner = state->inner;
    return !inner                 ? mer_soc_unknown(state->split, why)
           : inner->type->unknown ? inner->type->unknown(inner->state, why)
                                  : 0;
}

static void show(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const State *state = opened;
    mer_split_show(state->split, rules_of(state), mer_split_plan(plan), notes);
}

static const char *warnings(const void *opened, MerMetric objective, MerArena *arena)
{
    const State *state = opened;
    (void)objective;
    const char *remark =
        mer_train_is_priced(state->train) ? NULL : mer_train_data(state->train)->remark;
    return remark ? mer_arena_format(arena, "%s\n", remark) : NULL;
}

#define METRIC(name) UINT64_C(1) << MER_METRIC_##name
static const MerPlanKind *const plan_kinds[] = {&mer_plan_split, NULL};

const MerEvaluatorClass mer_evaluator_split_train = {
    .name = "split_train",
    .summary = "soc, and the accuracy of the network trained with the split frozen",
    .reference = "Risso et al., ODiMO, ISLPED 2023 and TCAD 2025 (arXiv 2306.05060, 2409.18566)",
    .plans = plan_kinds,
    .metrics = METRIC(CYCLES) | METRIC(LATENCY) | METRIC(ENERGY) | METRIC(EDP) |
               METRIC(UTILISATION) | METRIC(PEAK_BYTES) | METRIC(DISTORTION) | METRIC(ACCURACY) |
               METRIC(TEST_ACCURACY) | METRIC(FLOAT_ACCURACY) | METRIC(INTEGER_ACCURACY),
    .clocked = METRIC(LATENCY) | METRIC(ENERGY) | METRIC(EDP),
    .mode = MER_EVALUATE_ALONE,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .takes_inner = true,
    .open = open_training,
    .evaluate = evaluate,
    .price = price,
    .expected = expected,
    .is_number = is_number,
    .detail = show,
    .rules = rules_of,
    .unknown = unknown,
    .warnings = warnings,
};
