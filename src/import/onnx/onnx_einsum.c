/* Einsum: the equation is parsed, the operands are contracted from left to right, and each
 * contraction is one matrix product: labels of both sides that stay are the batch, those that go
 * are the inner size. */
#include "import/onnx/onnx.h"

#include <string.h>

enum { LETTERS = 52, LABELS = LETTERS + MER_MAX_RANK, MAX_OPERANDS = 16 };

typedef struct Term {
    int count; /* labels, the ellipsis expanded */
    int labels[MER_MAX_RANK];
} Term;

typedef struct Equation {
    int     operand_count;
    Term    operands[MAX_OPERANDS];
    Term    result;
    int64_t sizes[LABELS];
} Equation;

static int letter_label(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

static bool add_label(Term *term, int label)
{
    if (term->count == MER_MAX_RANK)
        return false;
    term->labels[term->count++] = label;
    return true;
}

/* One term of `length` characters; "..." stands for `dots` axes, labelled from the last one. */
static bool parse_term(const char *text, size_t length, int dots, Term *term)
{
    bool is_right = true;
    for (size_t i = 0; i < length && is_right; i++) {
        if (text[i] == ' ')
            continue;
        if (text[i] == '.') {
            is_right = i + 2 < length && text[i + 1] == '.' && text[i + 2] == '.' && dots >= 0;
            for (int axis = dots - 1; is_right && axis >= 0; axis--)
                is_right = add_label(term, LETTERS + axis);
            i += 2;
        } else {
            int label = letter_label(text[i]);
            is_right = label >= 0 && add_label(term, label);
        }
    }
    return is_right;
}

static int count_letters(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += letter_label(text[i]) >= 0;
    return count;
}

static void set_sizes(OnnxNode *node, Equation *equation, const Term *term, const OnnxShape *shape)
{
    for (int i = 0; i < term->count; i++) {
        int64_t *size = &equation->sizes[term->labels[i]];
        int64_t  found = shape->dims[i];
        if (*size == ONNX_UNKNOWN_DIM || *size == 1)
            *size = found == ONNX_UNKNOWN_DIM ? *size : found;
        else if (found != ONNX_UNKNOWN_DIM && found != 1 && found != *size)
            mer_onnx_fail(node, "one label of the equation stands for %lld and %lld",
                          (long long)*size, (long long)found);
    }
}

/* Without "->" the result has the ellipsis and every letter that occurs once, in order. */
static bool imply_result(Equation *equation, int dots)
{
    int uses[LABELS] = {0};
    for (int i = 0; i < equation->operand_count; i++) {
        for (int k = 0; k < equation->operands[i].count; k++)
            uses[equation->operands[i].labels[k]]++;
    }
    bool fits = true;
    for (int axis = dots - 1; axis >= 0; axis--)
        fits = fits && add_label(&equation->result, LETTERS + axis);
    for (int label = 0; label < LETTERS; label++) {
        /* Capital letters come first in the alphabet of the specification. */
        int at = (label + 26) % LETTERS;
        if (uses[at] == 1)
            fits = fits && add_label(&equation->result, at);
    }
    return fits;
}

/* False with or without a failure: not an equation, or an operand of unknown rank. */
static bool read_equation(OnnxNode *node, Equation *equation)
{
    const char *text = mer_onnx_text(node, "equation", "");
    const char *arrow = strstr(text, "->");
    const char *end = arrow != NULL ? arrow : text + strlen(text);
    int         dots = 0;
    memset(equation, 0, sizeof *equation);
    for (int label = 0; label < LABELS; label++)
        equation->sizes[label] = ONNX_UNKNOWN_DIM;
    bool is_right = true;
    for (const char *at = text; is_right && at <= end; equation->operand_count++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t      length = (size_t)((comma != NULL ? comma : end) - at);
        int         i = equation->operand_count;
        if (i >= node->input_count || i >= MAX_OPERANDS) {
            is_right = false;
            break;
        }
        const OnnxShape *shape = mer_onnx_shape(node, i);
        if (shape->rank < 0)
            return false;
        int hidden = shape->rank - count_letters(at, length);
        is_right = parse_term(at, length, hidden, &equation->operands[i]) &&
                   equation->operands[i].count == shape->rank;
        if (is_right)
            set_sizes(node, equation, &equation->operands[i], shape);
        dots = hidden > dots ? hidden : dots;
        at = (comma != NULL ? comma : end) + 1;
    }
    is_right = is_right && equation->operand_count == node->input_count &&
               (arrow != NULL ? parse_term(arrow + 2, strlen(arrow + 2), dots, &equation->result)
                              : imply_result(equation, dots));
    if (!is_right)
        mer_onnx_fail(node, "the equation \"%.80s\" does not fit %d inputs", text,
                      node->input_count);
    return is_right && !mer_onnx_failed(node->context);
}

OnnxShape mer_onnx_infer_einsum(OnnxNode *node)
{
    Equation  equation;
    OnnxShape shape = mer_onnx_unknown_shape;
    if (!mer_onnx_has(node, "equation"))
        mer_onnx_fail(node, "attribute equation is missing");
    if (read_equation(node, &equation)) {
        shape.rank = equation.result.count;
        for (int i = 0; i < shape.rank; i++)
            shape.dims[i] = equation.sizes[equation.result.labels[i]];
    }
    return shape;
}

static uint64_t labels_of(const Term *term)
{
    uint64_t labels = 0;
    for (int i = 0; i < term->count; i++)
        labels |= UINT64_C(1) << term->labels[i];
    return labels;
}

static int64_t size_of(OnnxNode *node, const Equation *equation, uint64_t labels)
{
    int64_t size = 1;
    for (int label = 0; label < LABELS; label++) {
        if ((labels & UINT64_C(1) << label) != 0)
            size = mer_onnx_multiply(node, size, equation->sizes[label]);
    }
    return size;
}

static MerOp contraction(OnnxNode *node, const Equation *equation, uint64_t left, uint64_t right,
                         uint64_t kept, const char *name)
{
    uint64_t both = left & right;
    MerOp    op = mer_op_make(name, node->op, MER_OP_ELEMENTWISE);
    if ((both & ~kept) == 0)
        return op;
    op.dims[MER_DIM_G] = size_of(node, equation, both & kept);
    op.dims[MER_DIM_Y] = size_of(node, equation, left & ~right & kept);
    op.dims[MER_DIM_K] = size_of(node, equation, right & ~left & kept);
    op.dims[MER_DIM_C] = size_of(node, equation, both & ~kept);
    op.kind = op.dims[MER_DIM_G] == 1 ? MER_OP_GEMM : MER_OP_BATCHED_GEMM;
    return op;
}

/* The shape of an intermediate result: the labels that stay, in alphabetical order. */
static OnnxShape shape_of_labels(const Equation *equation, uint64_t labels)
{
    OnnxShape shape = {.rank = 0};
    for (int label = 0; label < LABELS; label++) {
        if ((labels & UINT64_C(1) << label) == 0)
            continue;
        if (shape.rank == MER_MAX_RANK)
            return mer_onnx_unknown_shape;
        shape.dims[shape.rank++] = equation->sizes[label];
    }
    return shape;
}

void mer_onnx_emit_einsum(OnnxNode *node)
{
    Equation equation;
    if (!read_equation(node, &equation)) {
        mer_onnx_emit_unknown(node);
        return;
    }
    uint64_t left = labels_of(&equation.operands[0]), result = labels_of(&equation.result);
    if (equation.operand_count == 1) {
        mer_onnx_emit_plain(node, (left & ~result) != 0 ? MER_OP_REDUCE : MER_OP_MOVE);
        return;
    }
    OnnxValue *product = node->inputs[0];
    for (int i = 1; i < equation.operand_count; i++) {
        uint64_t right = labels_of(&equation.operands[i]), kept = result;
        for (int later = i + 1; later < equation.operand_count; later++)
            kept |= labels_of(&equation.operands[later]);
        bool       is_last = i == equation.operand_count - 1;
        OnnxValue *factors[] = {product, node->inputs[i]};
        OnnxValue *next = node->outputs[0];
        if (!is_last)
            next = mer_onnx_part_value(
                node, mer_arena_format(node->context->scratch, "product%d", i),
                mer_onnx_input_type(node, 0), shape_of_labels(&equation, (left | right) & kept));
        MerOp op = contraction(node, &equation, left, right, kept,
                               is_last || next == NULL ? node->name : next->name);
        mer_onnx_emit_part(node, op, factors, 2, &next, 1);
        product = next;
        left = (left | right) & kept;
    }
}
