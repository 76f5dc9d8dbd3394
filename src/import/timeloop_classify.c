/* What a Timeloop problem computes: each dimension by the data-spaces that use it, rows and
 * columns by the ranks of the input that slide. */
#include "import/layer_list.h"
#include "import/timeloop.h"

#include <string.h>

enum { OUTPUT = 2 };

/* The bits of MerTimeloopDim.used. */
enum { IN_I = 1, IN_W = 2, IN_O = 4 };

MerStatus mer_timeloop_unsupported(const MerTimeloopProblem *problem, const MerYaml *place,
                                   const char *what, const char *name)
{
    return mer_error_set(problem->error, MER_UNSUPPORTED,
                         "%s:%d:%d: the problem is none of conv, depthwise, gemm and batched gemm: "
                         "%s%.60s",
                         place->file, place->line, place->column, what, name);
}

static bool is_sliding(const MerTimeloopRank *rank)
{
    return rank->term_count > 1 || rank->terms[0].coefficient != 1;
}

static bool slides(const MerTimeloopSpace *space)
{
    bool found = false;
    for (int i = 0; i < space->rank_count; i++) {
        found |= is_sliding(&space->ranks[i]);
    }
    return found;
}

static bool is_weights_name(const char *name)
{
    return strncmp(name, "W", 1) == 0 || strncmp(name, "w", 1) == 0 ||
           strncmp(name, "Filter", 6) == 0 || strncmp(name, "filter", 6) == 0;
}

static void swap(MerTimeloopSpace *a, MerTimeloopSpace *b)
{
    MerTimeloopSpace copy = *a;
    *a = *b;
    *b = copy;
}

/* I, W, O: the output is written, the input is the one that slides; without sliding the weights are
 * the one named so, else the second. */
static MerStatus sort_spaces(MerTimeloopProblem *problem)
{
    MerTimeloopSpace *spaces = problem->spaces;
    for (int i = 0; i < OUTPUT; i++) {
        if (spaces[i].is_output && spaces[OUTPUT].is_output) {
            return mer_timeloop_unsupported(problem, spaces[i].place,
                                            "two data-spaces are written: ", spaces[i].name);
        }
        if (spaces[i].is_output) {
            swap(&spaces[i], &spaces[OUTPUT]);
        }
    }
    if (!spaces[OUTPUT].is_output) {
        return mer_timeloop_unsupported(problem, problem->shape,
                                        "no data-space has read-write: True", "");
    }
    if (slides(&spaces[OUTPUT]) || (slides(&spaces[0]) && slides(&spaces[1]))) {
        return mer_timeloop_unsupported(problem, problem->shape, "ranks slide outside the input",
                                        "");
    }
    bool is_swapped =
        slides(&spaces[1]) || (!slides(&spaces[0]) && is_weights_name(spaces[0].name) &&
                               !is_weights_name(spaces[1].name));
    if (is_swapped) {
        swap(&spaces[0], &spaces[1]);
    }
    return MER_OK;
}

static MerStatus mark_uses(MerTimeloopProblem *problem)
{
    for (int s = 0; s < 3; s++) {
        unsigned seen = 0;
        for (int r = 0; r < problem->spaces[s].rank_count; r++) {
            const MerTimeloopRank *rank = &problem->spaces[s].ranks[r];
            for (int t = 0; t < rank->term_count; t++) {
                int dim = rank->terms[t].dim;
                if ((seen & (1u << dim)) != 0) {
                    return mer_timeloop_unsupported(
                        problem, problem->spaces[s].place,
                        "twice in one data-space: ", problem->dims[dim].name);
                }
                seen |= 1u << dim;
                problem->dims[dim].used |= 1u << s;
            }
        }
    }
    return MER_OK;
}

static MerStatus multiply(const MerTimeloopProblem *problem, int64_t *product, int64_t factor)
{
    if (*product > MER_LAYER_MAX_SIZE / factor) {
        return mer_yaml_error(problem->shape, problem->error, "a product of sizes is above %lld",
                              (long long)MER_LAYER_MAX_SIZE);
    }
    *product *= factor;
    return MER_OK;
}

/* A rank of the input that slides (stride * Y + dilation * R) or is strided (stride * Y). */
static MerStatus place_sliding(MerTimeloopProblem *problem, const MerTimeloopRank *rank, int axis,
                               MerOp *op)
{
    const MerYaml *place = problem->spaces[0].place;
    int            output = 0;
    if (axis == 2) {
        return mer_timeloop_unsupported(problem, place, "more than two ranks slide", "");
    }
    if (rank->term_count == 2) {
        output = (problem->dims[rank->terms[0].dim].used & IN_O) != 0 ? 0 : 1;
        MerTimeloopDim *filter = &problem->dims[rank->terms[1 - output].dim];
        if (filter->used != (IN_I | IN_W)) {
            return mer_timeloop_unsupported(
                problem, place,
                "a filter dimension is not of input and weights alone: ", filter->name);
        }
        op->dims[MER_DIM_R + axis] = filter->size;
        op->dilation[axis] = (int)rank->terms[1 - output].coefficient;
        filter->is_done = true;
    }
    MerTimeloopDim *slide = &problem->dims[rank->terms[output].dim];
    if (slide->used != (IN_I | IN_O)) {
        return mer_timeloop_unsupported(
            problem, place, "a sliding dimension is not of input and output alone: ", slide->name);
    }
    op->dims[MER_DIM_Y + axis] = slide->size;
    op->stride[axis] = (int)rank->terms[output].coefficient;
    slide->is_done = true;
    return MER_OK;
}

/* P and Q of layers whose window is 1 do not slide; they are still rows and columns. */
static void place_named(MerTimeloopProblem *problem, MerOp *op, bool *has_axis)
{
    static const char *const names[] = {"P", "Q"};
    for (int i = 0; i < problem->dim_count; i++) {
        MerTimeloopDim *dim = &problem->dims[i];
        for (int axis = 0; axis < 2; axis++) {
            if (!dim->is_done && dim->used == (IN_I | IN_O) && !has_axis[axis] &&
                strcmp(dim->name, names[axis]) == 0) {
                op->dims[MER_DIM_Y + axis] = dim->size;
                dim->is_done = has_axis[axis] = true;
            }
        }
    }
}

/* The dimensions without an axis, by who uses them. */
static MerStatus place_others(MerTimeloopProblem *problem, MerOp *op)
{
    for (int i = 0; i < problem->dim_count; i++) {
        const MerTimeloopDim *dim = &problem->dims[i];
        int                   target = dim->used == (IN_I | IN_O)          ? MER_DIM_N
                                       : dim->used == (IN_W | IN_O)        ? MER_DIM_K
                                       : dim->used == (IN_I | IN_W)        ? MER_DIM_C
                                       : dim->used == (IN_I | IN_W | IN_O) ? MER_DIM_G
                                                                           : -1;
        if (dim->is_done || (target < 0 && dim->size == 1)) {
            continue;
        }
        if (target < 0) {
            return mer_timeloop_unsupported(problem, problem->shape,
                                            "only one data-space, or none, uses ", dim->name);
        }
        MER_TRY(multiply(problem, &op->dims[target], dim->size));
    }
    return MER_OK;
}

static bool has_use(const MerTimeloopProblem *problem, unsigned use)
{
    bool found = false;
    for (int i = 0; i < problem->dim_count; i++) {
        found |= problem->dims[i].used == use && !problem->dims[i].is_done;
    }
    return found;
}

static MerStatus place_dims(MerTimeloopProblem *problem, MerOp *op)
{
    bool has_axis[2] = {false, false};
    int  axis = 0;
    for (int r = 0; r < problem->spaces[0].rank_count; r++) {
        const MerTimeloopRank *rank = &problem->spaces[0].ranks[r];
        if (is_sliding(rank)) {
            MER_TRY(place_sliding(problem, rank, axis, op));
            has_axis[axis++] = true;
        }
    }
    place_named(problem, op, has_axis);
    MER_TRY(place_others(problem, op));
    bool has_groups = has_use(problem, IN_I | IN_W | IN_O);
    if (has_axis[0] || has_axis[1]) {
        bool is_depthwise =
            has_groups && !has_use(problem, IN_I | IN_W) && !has_use(problem, IN_W | IN_O);
        op->kind = is_depthwise ? MER_OP_DEPTHWISE : MER_OP_CONV;
        if (is_depthwise) {
            op->dims[MER_DIM_C] = op->dims[MER_DIM_G];
            op->dims[MER_DIM_G] = 1;
        }
        return MER_OK;
    }
    op->kind = has_groups ? MER_OP_BATCHED_GEMM : MER_OP_GEMM;
    op->dims[MER_DIM_Y] = op->dims[MER_DIM_N];
    op->dims[MER_DIM_N] = 1;
    return MER_OK;
}

MerStatus mer_timeloop_classify(MerTimeloopProblem *problem, MerOp *op)
{
    MER_TRY(sort_spaces(problem));
    MER_TRY(mark_uses(problem));
    return place_dims(problem, op);
}
