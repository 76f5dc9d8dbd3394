/* MAESTRO directives as a plan: names of dims become loops of the operator, Sz(D) becomes a number.
 * Sizes are checked here; what a mapping must do beyond that is the evaluator's to say. */
#include "map/export/maestro_plan.h"

#include "layer/directive_format.h"

#include <limits.h>
#include <string.h>

typedef struct Reader {
    const char            *path;
    const MerMaestroLayer *layer; /* whose sizes Sz(D) asks for */
    const MerOp           *op;
    MerError              *error;
} Reader;

static MerStatus fail(const Reader *reader, const MerMaestroDirective *directive, const char *what,
                      const char *found)
{
    return mer_error_set(reader->error, MER_INVALID, "%s:%d:%d: layer %.60s: %s%.60s", reader->path,
                         directive->place.line, directive->place.column, reader->layer->name, what,
                         found);
}

/* GEMM has letters of its own: M rows, N columns, K inner, B matrices. */
static MerStatus read_dim(const Reader *reader, const MerMaestroDirective *from,
                          MerDirective *directive)
{
    bool product = reader->op->kind == MER_OP_GEMM || reader->op->kind == MER_OP_BATCHED_GEMM;
    bool has_window = mer_maestro_find(reader->layer->dims, reader->layer->dim_count, "M") == NULL;
    const char *letters = product && !has_window ? ".NKM...B" : MER_DIM_LETTERS;
    const char *letter = from->dim[0] && from->dim[0] != '.' ? strchr(letters, from->dim[0]) : NULL;
    bool        output = letter && from->dim[1] == '\'';

    if (!letter || from->dim[1 + output] != '\0')
        return fail(reader, from, "expected a dimension of the layer, found ", from->dim);
    directive->dim = (int)(letter - letters);
    directive->output = output;
    if (output && directive->dim != MER_DIM_Y && directive->dim != MER_DIM_X)
        return fail(reader, from, "expected Y' or X', found ", from->dim);
    return MER_OK;
}

static MerStatus read_value(const Reader *reader, const MerMaestroDirective *from,
                            const MerMaestroValue *value, int *number)
{
    int64_t size = value->number;

    for (int i = 0; i < value->term_count; i++) {
        const MerMaestroTerm *term = &value->terms[i];
        const MerMaestroSize *found =
            mer_maestro_find(reader->layer->dims, reader->layer->dim_count, term->size_of);

        if (!found)
            return fail(reader, from, "Sz of a size that Dimensions lack: ", term->size_of);
        size += term->sign * found->value;
    }
    if (size < 1 || size > INT_MAX)
        return mer_error_set(reader->error, MER_INVALID,
                             "%s:%d:%d: layer %.60s: a size is %lld, expected 1 .. 2^31-1",
                             reader->path, from->place.line, from->place.column,
                             reader->layer->name, (long long)size);
    *number = (int)size;
    return MER_OK;
}

static MerStatus read_directive(const Reader *reader, const MerMaestroDirective *from,
                                MerDirectivePlan *plan)
{
    int          *count = &plan->start[plan->level_count];
    MerDirective *directive = &plan->directives[*count];

    if (from->kind == MER_MAESTRO_CLUSTER) {
        plan->start[++plan->level_count] = *count;
        return read_value(reader, from, &from->size, &plan->cluster[plan->level_count - 2]);
    }
    *directive = (MerDirective){.spatial = from->kind == MER_MAESTRO_SPATIAL};
    ++*count;
    MER_TRY(read_dim(reader, from, directive));
    MER_TRY(read_value(reader, from, &from->size, &directive->size));
    return read_value(reader, from, &from->offset, &directive->offset);
}

MerStatus mer_maestro_plan(const char *path, const MerMaestroLayer *layer,
                           const MerMaestroLayer *inherited, const MerOp *op,
                           MerDirectivePlan *plan, MerArena *arena, MerError *error)
{
    const MerMaestroLayer *source = layer->has_dataflow ? layer : inherited;
    Reader                 reader = {path, layer, op, error};

    if (!source || !source->has_dataflow)
        return mer_error_set(error, MER_INVALID,
                             "%s:%d:%d: layer %.60s has no Dataflow, nor has one before it", path,
                             layer->place.line, layer->place.column, layer->name);
    mer_directives_begin(plan, op, source->directive_count, arena);
    for (int i = 0; i < source->directive_count; i++)
        MER_TRY(read_directive(&reader, &source->directives[i], plan));
    return MER_OK;
}
