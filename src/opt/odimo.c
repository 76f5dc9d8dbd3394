/* ODiMO: choices that learn by gradient descent together with the model that they are about (Risso et al., ISLPED 2023 and TCAD 2025,
 * arXiv 2306.05060 and 2409.18566). The loss is the model's plus a strength times the expected cost; the shares of the choices are
 * annealed until each is nearly 0 or 1. One ask is one such training, for the next strength or target, and proposes the decision that it
 * ends with. It sees knobs, a soft cost and a model that hides what it is. */
#include "opt/odimo_cost.h"
#include "opt/odimo_gates.h"

#include "base/option_rows.h"
#include "base/stream.h"
#include "learn/training.h"
#include "mercator/graph.h"
#include "mercator/json.h"
#include "opt/points.h"
#include "tensor/ops.h"
#include "tensor/updater.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    MerReals        lambda;
    double          target, alpha_rate, t_final;
    int64_t         search_epochs;
    int             gate, anneal, ramp;
    const char     *estimator, *cost_gradient;
    MerTrainingRule rule;
} Options;

static const MerOption options[] = {
    MER_REALS(lambda, "[0.001,0.003,0.01,0.03,0.1,0.3,1]", 0, 1e9,
              "strengths of the cost, as a share of the reference's; one training each"),
    MER_REAL(target, "0", 0, 1e9,
             "cost to stay below, as a share of the reference's, instead of a strength; 0: none"),
    MER_INT(search_epochs, "20", 1, 100000, "of one training"),
    MER_REAL(alpha_rate, "0.01", 0, 100, "of the logits of the choices (Adam)"),
    MER_CHOICE(gate, "softmax", "softmax|gumbel|sigmoid|thermometer",
               "how logits become shares; knobs that count are always thermometers"),
    MER_TEXT(estimator, "expectation",
             "expectation: the model mixed by its shares; montecarlo:K: mean of K models with "
             "drawn choices"),
    MER_TEXT(
        cost_gradient, "model",
        "of the cost: model, as the evaluator gives it; score or score:K, by the score function "
        "with a moving baseline, of K draws in a step; costs that are only numbers: score:8"),
    MER_TEXT_AT("gradient", cost_gradient, "model", NULL),
    MER_CHOICE(anneal, "final", "final|authors",
               "temperature: down to t_final in the last epoch, or by exp(-0.045) every epoch"),
    MER_REAL(t_final, "0.05", 1e-6, 1, "see anneal"),
    MER_CHOICE(
        ramp, "constant", "constant|linear",
        "the strength over the epochs: as it is, or rising from a hundredth over the first half"),
    MER_TRAINING_OPTIONS,
    {0}};

static const MerPreset presets[] = {
    {"quick", "lambda=[0.01,0.1,1],search_epochs=6,alpha_rate=0.05"}, {0}};

typedef struct Best { /* of the annealed epochs of one training */
    double    score;  /* infinite: none yet */
    MerIndex *point;
} Best;

typedef struct State {
    const MerSearch *search;
    Options          options;
    MerGates         gates;
    int              draws; /* of montecarlo, 0: expectation */
    int              run, run_count, epoch;
    MerTape         *tape;
    MerTraining     *training;
    MerUpdater      *updater; /* of the logits */
    double           strength, full_strength;
    MerChoiceCost    price;
    MerTensor      **shares; /* of the step */
    double           cost;   /* of the steps of an epoch */
    int64_t          steps;
    Best             best;
    MerIndex        *point;
} State;

static MerStatus parse_estimator(State *s, MerError *error)
{
    const char *text = s->options.estimator ? s->options.estimator : "";
    s->draws = mer_draws_of(text, "montecarlo", 64);
    return s->draws > 0 || strcmp(text, "expectation") == 0
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "odimo: estimator is \"%s\", expected expectation or montecarlo:K "
                               "with K in 1 .. 64",
                               text);
}

static int64_t points(const void *given)
{
    const Options *o = given;
    return o->target > 0 ? 1 : o->lambda.count;
}

static MerStatus open_odimo(void *state, const MerSearch *search, const void *given,
                            MerError *error)
{
    State *s = state;
    *s = (State){.search = search, .options = *(const Options *)given};
    if (!search->trainable || !search->trainable->start || (!search->soft && !search->numbers)) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "odimo learns choices by gradients, and there is no model to train or no cost of "
            "choices: expected problem split with a dataset, and an objective to be lowered");
    }
    MER_TRY(parse_estimator(s, error));
    s->run_count = (int)points(given);
    if (s->run_count == 0) {
        return mer_error_set(error, MER_INVALID,
                             "odimo: lambda is [], expected at least one strength");
    }
    s->point = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    s->best.point = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    int       ops = search->graph ? search->graph->op_count : 0;
    MerStatus status = mer_gates_open(&s->gates, search->space, (MerGateKind)s->options.gate, ops,
                                      search->arena, error);
    if (status == MER_OK) {
        status =
            mer_choice_cost_open(&s->price, search, &s->gates, s->options.cost_gradient, error);
    }
    if (status != MER_OK) { /* nobody closes what did not open */
        mer_gates_close(&s->gates);
    }
    return status;
}

/* ---- one training */

static void end_run(State *s)
{
    mer_training_free(s->training);
    mer_updater_free(s->updater);
    mer_tape_free(s->tape);
    s->training = NULL;
    s->updater = NULL;
    s->tape = NULL;
}

/* `notes`: of what start does the first time. */
static MerStatus begin_run(State *s, MerNotes *notes, MerError *error)
{
    const Options      *o = &s->options;
    const MerTrainable *model = s->search->trainable;
    MER_TRY(model->start(model->state, s->search->pool, notes, error));
    MerTrainingRule rule = o->rule;
    rule.epochs = (int)o->search_epochs;
    MerRule adam = mer_rule_adam(1e-8);
    s->tape = mer_tape_new(&mer_backend_dnnl, s->search->pool);
    s->training = mer_training_new(model, s->tape, &rule);
    s->updater = mer_updater_new(s->tape, s->gates.alphas, &adam);
    mer_gates_reset(&s->gates);
    s->epoch = 0;
    s->best.score = INFINITY;
    mer_choice_cost_reset(&s->price);
    s->full_strength =
        o->target > 0 ? -1 : o->lambda.values[s->run]; /* -1: set by the first step */
    return MER_OK;
}

/* Risso et al., TCAD 2025: from a hundredth to all of it in the first half of the epochs. */
static double ramped(const State *s, double full)
{
    double epochs = (double)s->options.search_epochs;
    return s->options.ramp == 0 ? full
                                : fmin(full / 100 + s->epoch * 0.99 * full / (epochs / 2), full);
}

static void anneal(State *s)
{
    double epochs = (double)s->options.search_epochs - 1;
    double rate =
        s->options.anneal == 1 ? -0.045 : log(s->options.t_final) / (epochs > 0 ? epochs : 1);
    s->gates.temperature = exp(rate * s->epoch);
}

static MerTensor *const *choose(void *context, MerTape *tape)
{
    State *s = context;
    s->shares = mer_gates_shares(&s->gates, tape, s->search->rng);
    return s->draws > 0 ? mer_gates_draw(&s->gates, tape, s->shares, s->search->rng, true)
                        : s->shares;
}

/* A target counts only what is above it (Burrello et al., DUCCIO, 2022, with a strength that stays finite). */
static MerTensor *weigh(State *s, MerTape *tape, MerTensor *cost, double value, double loss)
{
    double target = s->options.target;
    if (target <= 0) {
        return mer_tensor_affine(tape, cost, (float)s->strength, 0);
    }
    if (s->full_strength < 0) {
        s->full_strength = loss / fmax(value - target, 0.05);
        s->strength = ramped(s, s->full_strength);
    }
    return mer_tensor_affine(tape, cost, value > target ? (float)s->strength : 0, 0);
}

static MerTensor *total(void *context, MerTape *tape, MerTensor *loss, MerTensor *const *choice)
{
    State     *s = context;
    double     value;
    MerTensor *cost = mer_choice_cost_term(&s->price, tape, choice, s->shares, &value);
    s->cost += value;
    s->steps++;
    return mer_tensor_add(tape, loss, weigh(s, tape, cost, value, loss->data[0]));
}

static void update(void *context)
{
    State *s = context;
    mer_updater_step(s->updater, s->options.alpha_rate);
    mer_gates_limit(&s->gates);
    mer_parameters_clear(s->gates.alphas);
}

/* ---- what an epoch was worth */

static MerTensor *const *decided(void *context, MerTape *tape)
{
    State *s = context;
    return mer_gates_decided(&s->gates, tape, s->point);
}

static MerTensor *const *relaxed(void *context, MerTape *tape)
{
    State *s = context;
    return mer_gates_shares(&s->gates, tape, NULL);
}

typedef struct Verdict {
    MerTally train, soft, hard; /* validation with shares, and decided */
    double   settled, soft_cost, hard_cost;
} Verdict;

static double share(const MerTally *tally)
{
    return tally->examples > 0 ? (double)tally->correct / (double)tally->examples : NAN;
}

static MerStatus judge(State *s, Verdict *v, MerError *error)
{
    const MerTrainable *model = s->search->trainable;
    mer_gates_point(&s->gates, s->point);
    MER_TRY(mer_training_measure(model, s->tape, 1, relaxed, s, &v->soft, error));
    MER_TRY(mer_training_measure(model, s->tape, 1, decided, s, &v->hard, error));
    v->hard_cost = mer_choice_cost_of(&s->price, s->tape, s->point);
    v->settled = mer_gates_settled(&s->gates);
    v->soft_cost = s->steps > 0 ? s->cost / (double)s->steps : NAN;
    return mer_tape_status(s->tape, error);
}

static void note_epoch(State *s, const Verdict *v)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *memory = open_memstream(&text, &size);
    if (memory != NULL) {
        fprintf(memory,
                "{\"lambda\": %.9g, \"temperature\": %.9g, \"loss\": %.9g, \"soft_cost\": %.9g, "
                "\"hard_cost\": %.9g, "
                "\"train_accuracy\": %.9g, \"settled\": %.9g",
                s->full_strength, s->gates.temperature, v->train.loss, v->soft_cost, v->hard_cost,
                share(&v->train), v->settled);
        fputs(", ", memory);
        mer_gates_write_counts(&s->gates, s->point, memory);
        fputs(", ", memory);
        mer_choice_cost_write(&s->price, memory);
        if (v->soft.examples > 0) {
            fprintf(memory, ", \"soft_accuracy\": %.9g, \"accuracy\": %.9g", share(&v->soft),
                    share(&v->hard));
        }
        fputs("}", memory);
        fclose(memory);
        mer_epoch(s->search->notes, "search", s->epoch + 1, (int)s->options.search_epochs, text);
    }
    free(text);
}

/* Only what the last quarter of the epochs decided counts, and only if it is settled: before, a decision says little. */
static void keep_best(State *s, const Verdict *v)
{
    bool   is_tail = 4 * (s->epoch + 1) > 3 * s->options.search_epochs;
    bool   is_last = s->epoch + 1 == s->options.search_epochs;
    double score = (v->hard.examples > 0 ? v->hard.loss : v->train.loss) +
                   s->strength * (s->options.target > 0 ? fmax(0, v->hard_cost - s->options.target)
                                                        : v->hard_cost);
    bool is_kept = is_tail && v->settled >= 0.95 && score < s->best.score;
    if (is_kept || (is_last && isinf(s->best.score))) {
        s->best.score = score;
        mer_point_copy(s->search->space, s->best.point, s->point);
    }
}

static bool is_one_sided(const State *s)
{
    for (int g = 0; g < s->gates.count; g++) {
        const MerGate *gate = &s->gates.gates[g];
        for (int k = 0; k < gate->knob_count; k++) {
            if (s->best.point[gate->first_knob + k] !=
                s->best.point[s->gates.gates[0].first_knob]) {
                return false;
            }
        }
    }
    return s->gates.count > 0;
}

static void warn_of(State *s, const char *what)
{
    MerJson     json = {0};
    MerArena   *arena = s->search->arena;
    const char *at =
        s->options.target <= 0 ? mer_arena_format(arena, "lambda %g: ", s->full_strength) : "";
    mer_json_text(&json, NULL, mer_arena_format(arena, "%s%s", at, what));
    mer_note(s->search->notes, "warning", json.text);
    mer_json_free(&json);
}

/* Known ways in which such a search fails. */
static void warn(State *s, const Verdict *v)
{
    MerArena            *arena = s->search->arena;
    const MerChoiceCost *price = &s->price;
    double               target = s->options.target;
    if (v->settled < 0.95) {
        warn_of(s, mer_arena_format(arena,
                                    "choices have not settled (mean largest share %.3f): more "
                                    "epochs, or a lower t_final",
                                    v->settled));
    }
    if (is_one_sided(s)) {
        warn_of(s, "every channel takes the same choice: try another lambda");
    }
    if (v->soft.examples > 0 && share(&v->hard) < share(&v->soft) - 0.02) {
        warn_of(s, mer_arena_format(arena, "deciding lost %.1f points of accuracy",
                                    100 * (share(&v->soft) - share(&v->hard))));
    }
    if (price->priced > 0 && price->refused * 10 >= price->priced) { /* of the last epoch */
        warn_of(s, mer_arena_format(arena, "%lld of %lld drawn choices have no price: %.120s",
                                    (long long)price->refused, (long long)price->priced,
                                    price->reason.message));
    }
    double cost = target > 0 ? mer_choice_cost_of(&s->price, s->tape, s->best.point) : 0;
    if (cost > 1.005 * target) {
        warn_of(s, mer_arena_format(arena,
                                    "the target of %.3g of the reference's cost was missed: "
                                    "it ended at %.2f of it",
                                    target, cost));
    }
}

static MerStatus run_epoch(State *s, Verdict *v, MerError *error)
{
    MerTrainingHooks hooks = {s, choose, total, update, s->draws};
    s->cost = 0;
    s->steps = 0;
    mer_choice_cost_begin_epoch(&s->price);
    s->strength = s->full_strength >= 0 ? ramped(s, s->full_strength) : 0;
    anneal(s);
    MER_TRY(mer_training_epoch(s->training, s->epoch, &hooks, s->search->notes, &v->train, error));
    if (mer_training_is_cut(s->training) || s->price.is_cut) {
        return MER_OK;
    }
    MER_TRY(mer_choice_cost_check(&s->price, error));
    MER_TRY(judge(s, v, error));
    if (s->price.is_cut) {
        return MER_OK;
    }
    note_epoch(s, v);
    keep_best(s, v);
    s->epoch++;
    return MER_OK;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State   *s = state;
    MerError error = {0};
    Verdict  v = {.settled = 1};
    (void)capacity;
    if (s->run >= s->run_count) {
        return 0;
    }
    MerStatus status = s->training ? MER_OK : begin_run(s, s->search->notes, &error);
    while (status == MER_OK && s->epoch < s->options.search_epochs &&
           !mer_is_cancelled(s->search->notes)) {
        status = run_epoch(s, &v, &error);
        bool is_cut = s->price.is_cut || mer_training_is_cut(s->training);
        if (status == MER_OK && !is_cut && s->epoch < s->options.search_epochs) {
            mer_checkpoint(s->search->notes);
        }
    }
    if (status != MER_OK) {
        MerJson text = {0};
        mer_json_text(&text, NULL, error.message);
        mer_note(s->search->notes, "error", text.text);
        mer_json_free(&text);
    }
    if (status != MER_OK || mer_is_cancelled(s->search->notes)) {
        return 0;
    }
    warn(s, &v);
    mer_point_copy(s->search->space, proposals[0].point, s->best.point);
    end_run(s);
    s->run++;
    return 1;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count;
}

/* ---- going on later */

static void keep_numbers(State *s, MerStream *stream)
{
    s->run = (int)mer_stream_int(stream, s->run, 0, s->run_count);
    s->epoch = (int)mer_stream_int(stream, s->epoch, 0, s->options.search_epochs);
    s->full_strength = mer_stream_real(stream, s->full_strength);
    s->price.baseline = mer_stream_real(stream, s->price.baseline);
    s->price.seen = mer_stream_real(stream, s->price.seen);
    s->best.score = mer_stream_real(stream, s->best.score);
    mer_points_keep(s->search->space, s->best.point, 1, stream);
    mer_stream_bytes(stream, s->search->rng, sizeof *s->search->rng, 1);
}

static MerStatus keep(State *s, MerStream *stream, MerError *error)
{
    bool is_begun = mer_stream_int(stream, s->training != NULL || s->run > 0, 0, 1) == 1;
    bool is_running = mer_stream_int(stream, s->training != NULL, 0, 1) == 1;
    if (!stream->is_saving && is_begun && !s->training) { /* the log has been told already */
        const MerNotes *notes = s->search->notes;
        MerNotes        quiet = {.state = notes ? notes->state : NULL,
                                 .is_cancelled = notes ? notes->is_cancelled : NULL};
        MER_TRY(begin_run(s, &quiet, error));
        if (!is_running) {
            end_run(s);
        }
    }
    keep_numbers(s, stream);
    MER_TRY(mer_stream_status(stream, "odimo: the file", error));
    if (is_running) {
        MER_TRY(mer_parameters_keep(s->gates.alphas, stream, "odimo", error));
        MER_TRY(mer_parameters_keep(mer_updater_memory(s->updater), stream, "odimo", error));
        MER_TRY(mer_training_keep(s->training, stream, "odimo", error));
    }
    return mer_stream_status(stream, "odimo: the file", error);
}

static MerStatus save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    (void)what;
    return keep((State *)state, &stream, error);
}

static MerStatus load(void *state, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    (void)what;
    return keep(state, &stream, error);
}

static void close_odimo(void *state)
{
    State *s = state;
    end_run(s);
    mer_gates_close(&s->gates);
}

const MerOptimizerClass mer_optimizer_odimo = {
    .name = "odimo",
    .summary = "choices learned by gradient descent together with the model that they are about",
    .reference = "Risso et al., ISLPED 2023 and TCAD 2025 (arXiv 2306.05060, 2409.18566)",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .needs_model = true,
    .makes_own_plan = true,
    .has_no_policy = true, /* every training is of one model */
    .points = points,
    .open = open_odimo,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
    .close = close_odimo,
};
