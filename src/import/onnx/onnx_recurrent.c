/* LSTM, GRU and RNN as their matrix products: per direction one over the whole sequence for the
 * inputs and one per step for the state, then the gates element by element. */
#include "import/onnx/onnx.h"

#include <string.h>

typedef struct Recurrence {
    int64_t gates, steps, batch, inputs, hidden, directions;
    bool    is_batch_first;
} Recurrence;

static int64_t known(int64_t a, int64_t b)
{
    return a != ONNX_UNKNOWN_DIM ? a : b;
}

static bool read_recurrence(OnnxNode *node, Recurrence *r)
{
    const OnnxShape *x = mer_onnx_shape(node, 0);
    const OnnxShape *w = mer_onnx_shape(node, 1);
    const OnnxShape *state = mer_onnx_shape(node, 2);
    const char      *direction = mer_onnx_text(node, "direction", "forward");
    r->gates = strcmp(node->op, "LSTM") == 0 ? 4 : strcmp(node->op, "GRU") == 0 ? 3 : 1;
    r->directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
    r->is_batch_first = mer_onnx_int(node, "layout", 0) != 0;
    r->hidden = mer_onnx_int(node, "hidden_size", ONNX_UNKNOWN_DIM);
    if (mer_onnx_has(node, "hidden_size") && (r->hidden < 1 || r->hidden > INT32_MAX))
        mer_onnx_fail(node, "hidden_size is %lld, expected at least 1", (long long)r->hidden);
    if ((x->rank >= 0 && x->rank != 3) || (w->rank >= 0 && w->rank != 3) ||
        (state->rank >= 0 && state->rank != 3))
        mer_onnx_fail(node, "input, weights and recurrent weights must have 3 axes");
    if (mer_onnx_failed(node->context) || x->rank < 0)
        return false;
    r->steps = x->dims[r->is_batch_first];
    r->batch = x->dims[!r->is_batch_first];
    r->inputs = known(x->dims[2], w->rank == 3 ? w->dims[2] : ONNX_UNKNOWN_DIM);
    r->hidden = known(r->hidden, state->rank == 3 ? state->dims[2] : ONNX_UNKNOWN_DIM);
    if (w->rank == 3 && w->dims[2] >= 0 && r->inputs >= 0 && w->dims[2] != r->inputs)
        mer_onnx_fail(node, "the input has %lld features, the weights expect %lld",
                      (long long)r->inputs, (long long)w->dims[2]);
    if (w->rank == 3 && w->dims[0] >= 0 && w->dims[0] != r->directions)
        mer_onnx_fail(node, "the weights have %lld directions, expected %lld",
                      (long long)w->dims[0], (long long)r->directions);
    if (w->rank == 3 && w->dims[1] >= 0 && r->hidden >= 0 && w->dims[1] != r->gates * r->hidden)
        mer_onnx_fail(node, "the weights have %lld rows, expected %lld x hidden_size %lld",
                      (long long)w->dims[1], (long long)r->gates, (long long)r->hidden);
    return !mer_onnx_failed(node->context);
}

OnnxShape mer_onnx_infer_recurrent(OnnxNode *node)
{
    Recurrence r;
    OnnxShape  all = mer_onnx_shape_unknown_dims(node, 4);
    OnnxShape  last = mer_onnx_shape_unknown_dims(node, 3);
    bool       is_known = read_recurrence(node, &r);
    if (is_known && r.is_batch_first) {
        all = (OnnxShape){.rank = 4, .dims = {r.batch, r.steps, r.directions, r.hidden}};
        last = (OnnxShape){.rank = 3, .dims = {r.batch, r.directions, r.hidden}};
    } else if (is_known) {
        all = (OnnxShape){.rank = 4, .dims = {r.steps, r.directions, r.batch, r.hidden}};
        last = (OnnxShape){.rank = 3, .dims = {r.directions, r.batch, r.hidden}};
    }
    mer_onnx_set(node, 1, node->result_type, last);
    mer_onnx_set(node, 2, node->result_type, last);
    return all;
}

/* The weights of one direction: of two, each gets its own half. */
static OnnxValue *half(OnnxNode *node, OnnxValue *weights, int direction, int64_t directions)
{
    if (directions == 1 || weights == NULL || weights->role != MER_VALUE_WEIGHT ||
        weights->shape.rank != 3)
        return weights;
    const char *name = mer_arena_format(node->context->scratch, "%s[%d]", weights->name, direction);
    OnnxValue  *value = mer_onnx_value_new(node->context, name, weights->type, MER_VALUE_WEIGHT);
    value->shape = mer_onnx_shape_of(2, weights->shape.dims + 1);
    return value;
}

/* Input product over all steps, then the recurrent product step by step; gives its result. */
static OnnxValue *emit_direction(OnnxNode *node, const Recurrence *r, int direction)
{
    MerArena   *scratch = node->context->scratch;
    MerType     type = mer_onnx_input_type(node, 0);
    const char *suffix = r->directions == 1 ? "" : direction == 0 ? "_forward" : "_reverse";
    int64_t     columns = mer_onnx_multiply(node, r->gates, r->hidden);
    OnnxShape   shape = {.rank = 3, .dims = {r->steps, r->batch, columns}};
    OnnxValue  *projected =
        mer_onnx_part_value(node, mer_arena_format(scratch, "input%s", suffix), type, shape);
    OnnxValue *gates =
        mer_onnx_part_value(node, mer_arena_format(scratch, "state%s", suffix), type, shape);

    MerOp op = mer_op_make(projected->name, node->op, MER_OP_GEMM);
    op.dims[MER_DIM_Y] = mer_onnx_multiply(node, r->steps, r->batch);
    op.dims[MER_DIM_C] = r->inputs;
    op.dims[MER_DIM_K] = columns;
    OnnxValue *input_factors[] = {node->inputs[0],
                                  half(node, node->inputs[1], direction, r->directions)};
    mer_onnx_emit_part(node, op, input_factors, 2, &projected, 1);

    op = mer_op_make(gates->name, node->op, MER_OP_GEMM);
    op.dims[MER_DIM_Y] = r->batch;
    op.dims[MER_DIM_C] = r->hidden;
    op.dims[MER_DIM_K] = columns;
    op.repeat = r->steps > 0 ? r->steps : 1;
    OnnxValue *state_factors[] = {projected, half(node, node->inputs[2], direction, r->directions)};
    mer_onnx_emit_part(node, op, state_factors, 2, &gates, 1);
    return gates;
}

void mer_onnx_emit_recurrent(OnnxNode *node)
{
    Recurrence r;
    if (!read_recurrence(node, &r)) {
        mer_onnx_emit_unknown(node);
        return;
    }
    /* What is left for the gates: bias, lengths, first states and peepholes. */
    OnnxValue **inputs = MER_ARRAY(node->context->scratch, OnnxValue *, node->input_count + 2);
    int         count = 0;
    for (int direction = 0; direction < r.directions; direction++)
        inputs[count++] = emit_direction(node, &r, direction);
    for (int i = 3; i < node->input_count; i++)
        inputs[count++] = node->inputs[i];
    mer_onnx_emit_part(node, mer_op_make(node->name, node->op, MER_OP_ELEMENTWISE), inputs, count,
                       node->outputs, node->output_count);
}
