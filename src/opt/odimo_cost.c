#include "opt/odimo_cost.h"

#include "tensor/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MEMORY = 20; /* draws that the baseline is the mean of */
/* Of a step, where nothing was said and there is no gradient: one draw says little of hundreds of channels. */
enum { USUAL_DRAWS = 8 };

int mer_draws_of(const char *text, const char *word, int most)
{
    size_t length = strlen(word);
    char  *end = "";
    long   draws = strncmp(text, word, length) == 0 && text[length] == ':'
                       ? strtol(text + length + 1, &end, 10)
                       : 0;
    return draws >= 1 && draws <= most && *end == '\0' ? (int)draws : 0;
}

static MerStatus parse(MerChoiceCost *cost, const char *text, MerError *error)
{
    bool is_model = strcmp(text, "model") == 0;
    cost->draws = strcmp(text, "score") == 0 ? 1 : mer_draws_of(text, "score", 1024);
    return is_model || cost->draws > 0
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "odimo: cost_gradient is \"%s\", expected model, score or score:K "
                               "with K in 1 .. 1024; exact, chord, expected and ste are `gradient` "
                               "of the evaluator",
                               text);
}

/* A thermometer is what it is: there is nothing to draw. */
static MerStatus check_gates(const MerChoiceCost *cost, MerError *error)
{
    for (int g = 0; g < cost->gates->count; g++) {
        const MerGate *gate = &cost->gates->gates[g];
        if (gate->kind == MER_GATE_THERMOMETER) {
            return mer_error_set(
                error, MER_UNSUPPORTED,
                "odimo: costs that are only numbers (cost_gradient=score) are learned from drawn "
                "choices, and %s is a thermometer: expected %s",
                cost->search->space->knobs[gate->first_knob].name,
                gate->is_count ? "an evaluator with a gradient, such as soc"
                               : "gate softmax, gumbel or sigmoid");
        }
    }
    return MER_OK;
}

/* Whether there are prices at all is said before hours of training. */
static MerStatus check_prices(MerChoiceCost *cost, MerError *error)
{
    const MerPointCost *numbers = cost->search->numbers;
    double              value;
    if (cost->search->soft) {
        return MER_OK;
    }
    mer_gates_point(cost->gates, cost->point);
    MerStatus status = numbers->share(numbers->state, cost->point, &value, NULL, error);
    return status == MER_NOT_FOUND || status == MER_CANCELLED ? status : MER_OK;
}

MerStatus mer_choice_cost_open(MerChoiceCost *cost, const MerSearch *search, const MerGates *gates,
                               const char *text, MerError *error)
{
    *cost = (MerChoiceCost){.search = search, .gates = gates};
    MER_TRY(parse(cost, text ? text : "", error));
    if (cost->draws == 0 && search->soft && !search->soft->is_number) {
        return MER_OK;
    }
    cost->draws = cost->draws > 0 ? cost->draws : USUAL_DRAWS;
    cost->point = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
    MER_TRY(check_gates(cost, error));
    return check_prices(cost, error);
}

void mer_choice_cost_reset(MerChoiceCost *cost)
{
    cost->baseline = cost->seen = 0;
}

void mer_choice_cost_begin_epoch(MerChoiceCost *cost)
{
    cost->priced = cost->refused = 0;
    cost->is_cut = false;
}

static MerTensor *soft_cost(const MerChoiceCost *cost, MerTape *tape, MerTensor *const *choice)
{
    const MerSoftCost *soft = cost->search->soft;
    return soft->expected(soft->state, tape, choice, cost->search->objective);
}

/* false: refused */
static bool price(MerChoiceCost *cost, const MerIndex *point, double *value)
{
    const MerPointCost *numbers = cost->search->numbers;
    cost->priced++;
    mer_cost_clear(&cost->cost);
    MerStatus status = numbers->share(numbers->state, point, value, &cost->cost, &cost->reason);
    if (status == MER_OK) {
        return true;
    }
    cost->is_cut = cost->is_cut || status == MER_CANCELLED;
    cost->refused++;
    *value = 2 * fmax(1, cost->baseline);
    return false;
}

/* What a draw costs; false: it is refused, and the baseline does not count it. */
static bool price_drawn(MerChoiceCost *cost, MerTape *tape, MerTensor *const *drawn, double *value)
{
    if (cost->search->soft) {
        *value = soft_cost(cost, tape, drawn)->data[0];
        return true;
    }
    mer_gates_drawn_point(cost->gates, drawn, cost->point);
    return price(cost, cost->point, value);
}

/* (c - b) d log p: right in the mean whatever the cost is, if only it can be computed for a decision. */
static MerTensor *score_draw(MerChoiceCost *cost, MerTape *tape, MerTensor *const *shares,
                             double *value)
{
    MerTensor **drawn = mer_gates_draw(cost->gates, tape, shares, cost->search->rng, false);
    bool        is_priced = price_drawn(cost, tape, drawn, value);
    double      advantage = cost->seen > 0 ? *value - cost->baseline : 0;
    if (is_priced) {
        cost->baseline += (*value - cost->baseline) / fmin(++cost->seen, MEMORY);
    }
    MerTensor *log = mer_gates_log_probability(cost->gates, tape, shares, drawn);
    return mer_tensor_affine(tape, log, (float)(advantage / cost->draws), 0);
}

MerTensor *mer_choice_cost_term(MerChoiceCost *cost, MerTape *tape, MerTensor *const *choice,
                                MerTensor *const *shares, double *value)
{
    MerTensor *sum = NULL;
    double     mean = 0;
    if (cost->draws == 0) {
        sum = soft_cost(cost, tape, choice);
        *value = sum->data[0];
        return sum;
    }
    for (int d = 0; d < cost->draws; d++) {
        double     own;
        MerTensor *term = score_draw(cost, tape, shares, &own);
        sum = sum == NULL ? term : mer_tensor_add(tape, sum, term);
        mean += own / cost->draws;
    }
    *value = mean;
    return sum;
}

double mer_choice_cost_of(MerChoiceCost *cost, MerTape *tape, const MerIndex *point)
{
    double value;
    if (!cost->search->soft) {
        price(cost, point, &value);
        return value;
    }
    if (cost->search->numbers) {
        price(cost, point, &value);
    }
    mer_tape_reset(tape);
    mer_tape_record(tape, false);
    value = soft_cost(cost, tape, mer_gates_decided(cost->gates, tape, point))->data[0];
    mer_tape_record(tape, true);
    return value;
}

MerStatus mer_choice_cost_check(const MerChoiceCost *cost, MerError *error)
{
    return cost->priced > 0 && cost->refused == cost->priced
               ? mer_error_set(error, MER_INVALID,
                               "nothing that was drawn in this epoch has a price: %s",
                               cost->reason.message)
               : MER_OK;
}

void mer_choice_cost_write(const MerChoiceCost *cost, FILE *file)
{
    const char *between = "";
    fputs("\"price\": {", file);
    for (int m = 0; cost->search->numbers && m < MER_METRIC_COUNT; m++) {
        if (isfinite(cost->cost.value[m])) {
            fprintf(file, "%s\"%s\": %.9g", between, mer_metric_info((MerMetric)m)->name,
                    cost->cost.value[m]);
            between = ", ";
        }
    }
    fputs("}", file);
}
