/* What the policy of `go` learns from a batch: proximal policy optimisation (Schulman et al., 2017), with the ratio of every
 * decision clipped by itself. */
#include "opt/go_learn.h"

#include <math.h>
#include <string.h>

typedef struct Lesson {
    MerGoView          *view;
    const MerGoTeacher *teacher;
    const MerGoBatch   *batch;
    const double       *first_advantages, *advantages;
    MerRng             *dropout;
} Lesson;

typedef struct
    Choices { /* `rows` decisions over one set of logits, those of a placement in a row */
    MerTensor    *logits;
    const int    *chosen;
    const float  *old;
    const double *advantages;                  /* of each placement */
    int           placement, rows_each, count; /* the first one, decisions of each, placements */
    double        entropy;                     /* its weight */
} Choices;

/* -sum min(r A, clip(r) A) */
static MerTensor *surrogate(const Lesson *l, MerTensor *now, const Choices *c)
{
    MerTape *tape = l->view->tape;
    int64_t  rows = (int64_t)c->rows_each * c->count;
    float   *weight = mer_workspace_floats(mer_tape_workspace(tape), rows);
    float    clip = (float)l->teacher->clip;
    for (int64_t i = 0; i < rows; i++) {
        weight[i] = (float)c->advantages[c->placement + (int)(i / c->rows_each)];
    }
    MerTensor *advantage = mer_tape_input(tape, 2, (int[]){(int)rows, 1}, weight);
    MerTensor *old = mer_tape_input(tape, 2, (int[]){(int)rows, 1}, c->old);
    MerTensor *difference = mer_tensor_clamp(tape, mer_tensor_sub(tape, now, old), -20, 20);
    MerTensor *ratio = mer_tensor_exp(tape, difference);
    MerTensor *plain = mer_tensor_mul(tape, ratio, advantage);
    MerTensor *clipped =
        mer_tensor_mul(tape, mer_tensor_clamp(tape, ratio, 1 - clip, 1 + clip), advantage);
    return mer_tensor_sum(tape, mer_tensor_minimum(tape, plain, clipped));
}

/* sum p log p over rows and choices; what cannot be chosen has p = 0 and a finite log. */
static MerTensor *negative_entropy(MerTape *tape, MerTensor *log_probabilities)
{
    MerTensor *finite = mer_tensor_clamp(tape, log_probabilities, -1000, 0);
    return mer_tensor_sum(tape,
                          mer_tensor_mul(tape, mer_tensor_exp(tape, log_probabilities), finite));
}

/* Adds the loss of these decisions to `loss`; NULL at first. */
static MerTensor *add_loss(Lesson *l, MerTensor *loss, const Choices *c)
{
    MerTape   *tape = l->view->tape;
    MerTensor *all = mer_tensor_log_softmax(tape, c->logits);
    MerTensor *now = mer_tensor_pick(tape, all, 1, c->chosen);
    float      scale = -1 / (float)l->batch->count;
    MerTensor *part = mer_tensor_affine(tape, surrogate(l, now, c), scale, 0);
    if (c->entropy > 0) {
        MerTensor *order = negative_entropy(tape, all);
        part = mer_tensor_add(tape, part,
                              mer_tensor_affine(tape, order, -scale * (float)c->entropy, 0));
    }
    return loss != NULL ? mer_tensor_add(tape, loss, part) : part;
}

static void begin(const Lesson *l)
{
    mer_tape_reset(l->view->tape);
    mer_tape_record(l->view->tape, true);
}

static MerStatus end(const Lesson *l, MerTensor *loss, MerError *error)
{
    return loss != NULL ? mer_tape_backward(l->view->tape, loss, error)
                        : mer_tape_status(l->view->tape, error);
}

/* Logits that all placements share, a row for each of `rows_each` decisions. */
static MerTensor *add_shared(Lesson *l, MerTensor *loss, MerTensor *logits, const int *chosen,
                             const float *old)
{
    MerTape *tape = l->view->tape;
    int      rows_each = logits->shape[0], rows = rows_each * l->batch->count;
    int     *row = mer_workspace_alloc(mer_tape_workspace(tape), sizeof *row * (size_t)rows);
    for (int i = 0; i < rows; i++) {
        row[i] = i % rows_each;
    }
    Choices choices = {.logits = mer_tensor_gather(tape, logits, rows, row),
                       .chosen = chosen,
                       .old = old,
                       .advantages = l->first_advantages,
                       .rows_each = rows_each,
                       .count = l->batch->count,
                       .entropy = l->teacher->first_entropy};
    return add_loss(l, loss, &choices);
}

static MerStatus learn_first(Lesson *l, MerError *error)
{
    const MerGoBatch *b = l->batch;
    const MerGoGraph *g = l->view->graph;
    begin(l);
    MerGoFirst logits = mer_go_first_logits(l->view, l->dropout);
    MerTensor *loss = NULL;
    if (logits.cuts != NULL) {
        loss = add_shared(l, loss, logits.cuts, b->cuts, b->cuts_old);
    }
    if (g->levels[MER_GO_PRIORITY] > 0 || g->levels[MER_GO_FUSE] > 0) {
        loss = add_shared(l, loss, logits.rules, b->rules, b->rules_old);
    }
    return end(l, loss, error);
}

/* Decisions of placements first .. first + count - 1, copied together: they lie apart in the batch. */
static void gather_units(const Lesson *l, int round, int first, int count, int **chosen,
                         float **old)
{
    const MerGoBatch *b = l->batch;
    int64_t           groups = l->view->graph->group_count;
    MerWorkspace     *workspace = mer_tape_workspace(l->view->tape);
    *chosen = mer_workspace_alloc(workspace, sizeof **chosen * (size_t)(count * groups));
    *old = mer_workspace_floats(workspace, count * groups);
    for (int i = 0; i < count; i++) {
        int64_t at = first + i;
        memcpy(*chosen + i * groups, b->units + (at * (b->rounds + 1) + round + 1) * groups,
               sizeof **chosen * (size_t)groups);
        memcpy(*old + i * groups, b->units_old + (at * b->rounds + round) * groups,
               sizeof **old * (size_t)groups);
    }
}

static MerStatus learn_round(Lesson *l, int round, int first, int count, MerError *error)
{
    const MerGoBatch *b = l->batch;
    const MerGoGraph *g = l->view->graph;
    int              *chosen;
    float            *old;
    begin(l);
    MerGoLogits logits = mer_go_batch_logits(l->view, b, round, first, count, l->dropout);
    gather_units(l, round, first, count, &chosen, &old);
    Choices    choices = {.logits = logits.units,
                          .chosen = chosen,
                          .old = old,
                          .advantages = l->advantages,
                          .placement = first,
                          .rows_each = g->group_count,
                          .count = count,
                          .entropy = l->teacher->entropy};
    MerTensor *loss = add_loss(l, NULL, &choices);
    choices.rows_each = g->op_count;
    for (int t = 0; t < MER_GO_TASKS; t++) {
        if (logits.levels[t] != NULL) {
            choices.logits = logits.levels[t];
            choices.chosen = b->levels[t] + (int64_t)first * g->op_count;
            choices.old = b->levels_old[t] + (int64_t)first * g->op_count;
            loss = add_loss(l, loss, &choices);
        }
    }
    return end(l, loss, error);
}

static MerStatus go_through(Lesson *l, MerError *error)
{
    const MerGoBatch *b = l->batch;
    if (l->view->policy->shape.has_start) {
        MER_TRY(learn_first(l, error));
    }
    for (int round = 0; round < b->rounds; round++) {
        for (int first = b->plain, part; first < b->count; first += part) {
            part = mer_go_next_part(l->view, b, first);
            MER_TRY(learn_round(l, round, first, part, error));
        }
    }
    return MER_OK;
}

static MerStatus learn_once(Lesson *l, MerError *error)
{
    MerGoView     *v = l->view;
    MerParameters *parameters = v->policy->parameters;
    mer_go_encode(v, true);
    mer_parameters_clear(parameters);
    mer_parameters_clear(v->bridge);
    MER_TRY(go_through(l, error));
    MER_TRY(mer_go_encode_backward(v, error));
    if (l->teacher->grad_norm > 0) {
        mer_parameters_clip(v->encoder, parameters, l->teacher->grad_norm);
    }
    mer_updater_step(l->teacher->updater, l->teacher->rate);
    return MER_OK;
}

MerStatus mer_go_learn(MerGoView *view, const MerGoTeacher *teacher, const MerGoBatch *batch,
                       const double *first_advantages, const double *advantages, MerRng *dropout,
                       MerError *error)
{
    Lesson    lesson = {.view = view,
                        .teacher = teacher,
                        .batch = batch,
                        .first_advantages = first_advantages,
                        .advantages = advantages,
                        .dropout = view->policy->shape.net.dropout > 0 ? dropout : NULL};
    MerStatus status = MER_OK;
    for (int epoch = 0; epoch < teacher->epochs && status == MER_OK; epoch++) {
        status = learn_once(&lesson, error);
    }
    return status;
}
