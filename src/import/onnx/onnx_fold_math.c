/* Constants through arithmetic, comparisons and reductions. An unknown integer is
 * ONNX_UNKNOWN_ELEMENT, an unknown real is NaN; both pass through. */
#include "import/onnx/onnx_fold.h"

#include <math.h>
#include <string.h>

typedef enum Calculation { ADD, SUB, MUL, DIV, MOD, POW, MIN, MAX } Calculation;

/* Of an operator that the table folds as arithmetic or as a reduction. */
static Calculation calculation_of(const char *name)
{
    static const struct {
        const char *name;
        Calculation calculation;
    } names[] = {{"Add", ADD}, {"Sum", ADD}, {"Sub", SUB}, {"Mul", MUL}, {"Prod", MUL},
                 {"Div", DIV}, {"Mod", MOD}, {"Pow", POW}, {"Min", MIN}};
    name += strncmp(name, "Reduce", 6) == 0 ? 6 : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0)
            return names[i].calculation;
    }
    return MAX;
}

static int64_t power(int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0 || exponent > 64)
        return ONNX_UNKNOWN_ELEMENT;
    for (int64_t i = 0; i < exponent; i++) {
        if (__builtin_mul_overflow(result, base, &result))
            return ONNX_UNKNOWN_ELEMENT;
    }
    return result;
}

static int64_t calculate_ints(Calculation calculation, int64_t a, int64_t b)
{
    int64_t result = 0;
    bool    overflows = false;
    if (a == ONNX_UNKNOWN_ELEMENT || b == ONNX_UNKNOWN_ELEMENT)
        return ONNX_UNKNOWN_ELEMENT;
    switch (calculation) {
    case ADD:
        overflows = __builtin_add_overflow(a, b, &result);
        break;
    case SUB:
        overflows = __builtin_sub_overflow(a, b, &result);
        break;
    case MUL:
        overflows = __builtin_mul_overflow(a, b, &result);
        break;
    case DIV:
        return b == 0 ? ONNX_UNKNOWN_ELEMENT : a / b;
    case MOD: /* the sign of the divisor, as in Python */
        if (b == 0)
            return ONNX_UNKNOWN_ELEMENT;
        result = b == -1 ? 0 : a % b;
        return result != 0 && (result < 0) != (b < 0) ? result + b : result;
    case POW:
        return power(a, b);
    case MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
    return overflows ? ONNX_UNKNOWN_ELEMENT : result;
}

static double calculate_reals(Calculation calculation, double a, double b)
{
    switch (calculation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MOD:
        return fmod(a, b);
    case POW:
        return pow(a, b);
    case MIN:
        return isnan(a) || isnan(b) ? NAN : fmin(a, b);
    default:
        return isnan(a) || isnan(b) ? NAN : fmax(a, b);
    }
}

/* Element `at` of `to` and element i of `from` to the former. */
static void combine(Calculation calculation, OnnxContent *to, int at, const OnnxContent *from,
                    int i)
{
    if (to->is_real)
        to->reals[at] = calculate_reals(calculation, to->reals[at], from->reals[i]);
    else
        to->ints[at] = calculate_ints(calculation, to->ints[at], from->ints[i]);
}

const OnnxContent *mer_onnx_fold_arithmetic(OnnxNode *node, int output)
{
    Calculation  calculation = calculation_of(node->op);
    OnnxContent *result = mer_onnx_spread(node, 0, output);
    for (int input = 1; result != NULL && input < node->input_count; input++) {
        const OnnxContent *other = mer_onnx_spread(node, input, output);
        if (other == NULL || other->is_real != result->is_real)
            return NULL;
        for (int i = 0; i < result->count; i++)
            combine(calculation, result, i, other, i);
    }
    return mer_onnx_seal(result);
}

static int64_t compare(const char *name, int order, int64_t a, int64_t b)
{
    if (strcmp(name, "Equal") == 0)
        return order == 0;
    if (strncmp(name, "Less", 4) == 0)
        return order < 0 || (order == 0 && name[4] != '\0');
    if (strncmp(name, "Greater", 7) == 0)
        return order > 0 || (order == 0 && name[7] != '\0');
    if (strcmp(name, "And") == 0)
        return a != 0 && b != 0;
    return strcmp(name, "Or") == 0 ? a != 0 || b != 0 : (a != 0) != (b != 0);
}

const OnnxContent *mer_onnx_fold_compare(OnnxNode *node, int output)
{
    const OnnxContent *a = mer_onnx_spread(node, 0, output);
    const OnnxContent *b = mer_onnx_spread(node, 1, output);
    if (a == NULL || b == NULL || a->is_real != b->is_real)
        return NULL;
    OnnxContent *result = mer_onnx_content_new(node->context, false, a->count);
    for (int i = 0; result != NULL && i < a->count; i++) {
        bool is_unknown = mer_onnx_is_unknown(a, i) || mer_onnx_is_unknown(b, i);
        int  order = a->is_real ? (a->reals[i] > b->reals[i]) - (a->reals[i] < b->reals[i])
                                : (a->ints[i] > b->ints[i]) - (a->ints[i] < b->ints[i]);
        result->ints[i] = is_unknown ? ONNX_UNKNOWN_ELEMENT
                                     : compare(node->op, order, a->is_real ? 0 : a->ints[i],
                                               a->is_real ? 0 : b->ints[i]);
    }
    return mer_onnx_seal(result);
}

static double unary_real(const char *name, double value)
{
    if (strcmp(name, "Neg") == 0)
        return -value;
    if (strcmp(name, "Floor") == 0)
        return floor(value);
    if (strcmp(name, "Ceil") == 0)
        return ceil(value);
    if (strcmp(name, "Round") == 0)
        return rint(value); /* half to even, as the operator does */
    if (strcmp(name, "Sqrt") == 0)
        return sqrt(value);
    if (strcmp(name, "Abs") == 0)
        return fabs(value);
    return strcmp(name, "Reciprocal") == 0 ? 1 / value : NAN;
}

static int64_t unary_int(const char *name, int64_t value)
{
    if (value == ONNX_UNKNOWN_ELEMENT)
        return value;
    if (strcmp(name, "Neg") == 0)
        return -value;
    if (strcmp(name, "Not") == 0)
        return value == 0;
    if (strcmp(name, "Abs") == 0)
        return value < 0 ? -value : value;
    return ONNX_UNKNOWN_ELEMENT;
}

const OnnxContent *mer_onnx_fold_unary(OnnxNode *node, int output)
{
    OnnxContent *result = mer_onnx_spread(node, 0, output);
    for (int i = 0; result != NULL && i < result->count; i++) {
        if (result->is_real)
            result->reals[i] = unary_real(node->op, result->reals[i]);
        else
            result->ints[i] = unary_int(node->op, result->ints[i]);
    }
    return mer_onnx_seal(result);
}

static int64_t real_to_int(double value, bool is_bool)
{
    if (isnan(value) || fabs(value) > 9e18)
        return ONNX_UNKNOWN_ELEMENT;
    return is_bool ? value != 0 : (int64_t)value;
}

const OnnxContent *mer_onnx_fold_cast(OnnxNode *node, int output)
{
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    MerType            type = node->outputs[output]->type;
    if (from == NULL || type == MER_TYPE_TEXT || type == MER_TYPE_UNKNOWN)
        return NULL;
    bool         to_real = mer_type_is_float(type), is_bool = type == MER_TYPE_BOOL;
    OnnxContent *result = mer_onnx_content_new(node->context, to_real, from->count);
    for (int i = 0; result != NULL && i < from->count; i++) {
        int64_t integer = from->is_real ? real_to_int(from->reals[i], is_bool) : from->ints[i];
        bool    is_unknown = integer == ONNX_UNKNOWN_ELEMENT;
        if (!to_real)
            result->ints[i] = is_bool && !is_unknown ? integer != 0 : integer;
        else if (from->is_real)
            result->reals[i] = from->reals[i];
        else
            result->reals[i] = is_unknown ? NAN : (double)integer;
    }
    return mer_onnx_seal(result);
}

const OnnxContent *mer_onnx_fold_where(OnnxNode *node, int output)
{
    const OnnxContent *condition = mer_onnx_spread(node, 0, output);
    const OnnxContent *yes = mer_onnx_spread(node, 1, output);
    OnnxContent       *result = mer_onnx_spread(node, 2, output);
    if (condition == NULL || yes == NULL || result == NULL || condition->is_real ||
        yes->is_real != result->is_real)
        return NULL;
    for (int i = 0; i < result->count; i++) {
        if (condition->ints[i] != 0)
            mer_onnx_copy_element(result, i, yes, i);
        if (mer_onnx_is_unknown(condition, i) && result->is_real)
            result->reals[i] = NAN;
        else if (mer_onnx_is_unknown(condition, i))
            result->ints[i] = ONNX_UNKNOWN_ELEMENT;
    }
    return mer_onnx_seal(result);
}

/* The place in the result of each element of the input. */
static int reduced_place(const OnnxShape *input, unsigned mask, int at)
{
    int64_t own[MER_MAX_RANK], place = 0;
    mer_onnx_strides(input, own);
    for (int axis = 0; axis < input->rank; axis++) {
        if ((mask & 1u << axis) == 0)
            place = place * input->dims[axis] + at / own[axis] % input->dims[axis];
    }
    return (int)place;
}

const OnnxContent *mer_onnx_fold_reduce(OnnxNode *node, int output)
{
    Calculation        calculation = calculation_of(node->op);
    const OnnxContent *from = mer_onnx_input_content(node, 0);
    const OnnxShape   *input = mer_onnx_shape(node, 0);
    unsigned           mask;
    if (from == NULL || !mer_onnx_reduced_axes(node, &mask) || from->count == 0)
        return NULL;
    OnnxContent *result = mer_onnx_output_content(node, output, from->is_real);
    if (result == NULL || result->count == 0)
        return NULL;
    bool *is_started = MER_ARRAY(node->context->scratch, bool, result->count);
    for (int i = 0; i < from->count; i++) {
        int at = reduced_place(input, mask, i);
        if (at >= result->count)
            return NULL;
        if (is_started[at])
            combine(calculation, result, at, from, i);
        else
            mer_onnx_copy_element(result, at, from, i);
        is_started[at] = true;
    }
    return mer_onnx_seal(result);
}

const OnnxContent *mer_onnx_fold_range(OnnxNode *node, int output)
{
    const OnnxContent *start = mer_onnx_input_content(node, 0);
    const OnnxContent *delta = mer_onnx_input_content(node, 2);
    if (start == NULL || delta == NULL || start->count != 1 || delta->count != 1 ||
        start->is_real != delta->is_real)
        return NULL;
    OnnxContent *result = mer_onnx_output_content(node, output, start->is_real);
    for (int i = 0; result != NULL && i < result->count; i++) {
        if (result->is_real)
            result->reals[i] = start->reals[0] + i * delta->reals[0];
        else
            result->ints[i] =
                calculate_ints(ADD, start->ints[0], calculate_ints(MUL, i, delta->ints[0]));
    }
    return mer_onnx_seal(result);
}

const OnnxContent *mer_onnx_fold_constant_of_shape(OnnxNode *node, int output)
{
    OnnxValue                  *made = node->outputs[output];
    const Onnx__AttributeProto *attribute = mer_onnx_attribute(node, "value");
    if (made->type == MER_TYPE_TEXT || made->type == MER_TYPE_UNKNOWN)
        return NULL;
    OnnxContent *result = mer_onnx_output_content(node, output, mer_type_is_float(made->type));
    if (result == NULL || attribute == NULL || attribute->t == NULL)
        return result;
    OnnxValue         *value = mer_onnx_value_of_tensor(node->context, node->name, attribute->t);
    const OnnxContent *element = mer_onnx_content(node->context, value);
    if (element == NULL || element->count != 1 || element->is_real != result->is_real)
        return NULL;
    for (int i = 0; i < result->count; i++)
        mer_onnx_copy_element(result, i, element, 0);
    return mer_onnx_seal(result);
}
