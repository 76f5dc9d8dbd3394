/* Building a graph: values, operators, warnings, and the names of kinds and types. */
#include "mercator/graph.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WARNINGS = 200 };

MerGraph *mer_graph_new(const char *name, MerArena *arena)
{
    MerGraph *graph = MER_NEW(arena, MerGraph);
    graph->name = mer_arena_text(arena, name != NULL ? name : "");
    graph->format = "";
    graph->arena = arena;
    return graph;
}

int mer_graph_add_value(MerGraph *graph, const MerValue *value)
{
    MER_GROW(graph->arena, graph->values, graph->value_count);
    MerValue *copy = &graph->values[graph->value_count];
    *copy = *value;
    copy->name = mer_arena_text(graph->arena, value->name != NULL ? value->name : "");
    copy->producer = -1;
    copy->consumer_count = 0;
    copy->consumers = NULL;
    return graph->value_count++;
}

void mer_graph_attach(MerGraph *graph, const char *type, const void *content)
{
    for (int i = 0; i < graph->attachment_count; i++) {
        if (strcmp(graph->attachments[i].type, type) == 0) {
            graph->attachments[i].content = content;
            return;
        }
    }
    MER_GROW(graph->arena, graph->attachments, graph->attachment_count);
    graph->attachments[graph->attachment_count++] = (MerAttachment){type, content};
}

const void *mer_graph_attachment(const MerGraph *graph, const char *type)
{
    for (int i = 0; i < graph->attachment_count; i++) {
        if (strcmp(graph->attachments[i].type, type) == 0) {
            return graph->attachments[i].content;
        }
    }
    return NULL;
}

MerOp mer_op_make(const char *name, const char *source, MerOpKind kind)
{
    MerOp op = {.name = name, .source = source, .kind = kind, .repeat = 1, .layer = -1};
    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        op.dims[dim] = 1;
    for (int axis = 0; axis < 2; axis++) {
        op.stride[axis] = 1;
        op.dilation[axis] = 1;
    }
    return op;
}

/* Copies without the -1 entries that stand for absent optional inputs. */
static int *copy_indices(MerArena *arena, const int *indices, int *count)
{
    int  kept = 0;
    int *copy = *count > 0 ? MER_ARRAY(arena, int, *count) : NULL;
    for (int i = 0; i < *count; i++) {
        if (indices[i] != -1)
            copy[kept++] = indices[i];
    }
    *count = kept;
    return copy;
}

int mer_graph_add_op(MerGraph *graph, const MerOp *op)
{
    MER_GROW(graph->arena, graph->ops, graph->op_count);
    MerOp *copy = &graph->ops[graph->op_count];
    *copy = *op;
    copy->name = mer_arena_text(graph->arena, op->name != NULL ? op->name : "");
    copy->source = mer_arena_text(graph->arena, op->source != NULL ? op->source : "");
    copy->inputs = copy_indices(graph->arena, op->inputs, &copy->input_count);
    copy->outputs = copy_indices(graph->arena, op->outputs, &copy->output_count);
    copy->layer = -1;
    return graph->op_count++;
}

void mer_graph_warn(MerGraph *graph, const char *format, ...)
{
    char    text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* The limit keeps a hostile file from making this quadratic. */
    if (graph->warning_count > MAX_WARNINGS)
        return;
    if (graph->warning_count == MAX_WARNINGS)
        snprintf(text, sizeof text, "further warnings are left out");
    for (int i = 0; i < graph->warning_count; i++) {
        if (strcmp(graph->warnings[i], text) == 0)
            return;
    }
    MER_GROW(graph->arena, graph->warnings, graph->warning_count);
    graph->warnings[graph->warning_count++] = mer_arena_text(graph->arena, text);
}

static const struct {
    const char *name;
    bool        has_macs;
} op_kinds[MER_OP_KIND_COUNT] = {
#define X(id, name, macs) {name, macs},
    MER_OP_KIND_MAP(X)
#undef X
};

static const struct {
    const char *name;
    int         bits;
} types[MER_TYPE_COUNT] = {
#define X(id, name, bits) {name, bits},
    MER_TYPE_MAP(X)
#undef X
};

const char *mer_op_kind_name(MerOpKind kind)
{
    assert((int)kind >= 0 && kind < MER_OP_KIND_COUNT);
    return op_kinds[kind].name;
}

bool mer_op_kind_has_macs(MerOpKind kind)
{
    assert((int)kind >= 0 && kind < MER_OP_KIND_COUNT);
    return op_kinds[kind].has_macs;
}

const char *mer_type_name(MerType type)
{
    assert((int)type >= 0 && type < MER_TYPE_COUNT);
    return types[type].name;
}

int mer_type_bits(MerType type)
{
    assert((int)type >= 0 && type < MER_TYPE_COUNT);
    return types[type].bits;
}

bool mer_type_is_float(MerType type)
{
    return type == MER_TYPE_FLOAT32 || type == MER_TYPE_FLOAT16 || type == MER_TYPE_BFLOAT16 ||
           type == MER_TYPE_FLOAT64 || type == MER_TYPE_FLOAT8;
}

int *mer_graph_edges(const MerGraph *graph, MerArena *arena, int *count)
{
    size_t most = 0;
    for (int o = 0; o < graph->op_count; o++) {
        most += (size_t)graph->ops[o].input_count;
    }
    int *edges = MER_ARRAY(arena, int, 2 * most + 1);
    *count = 0;
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        for (int i = 0; i < op->input_count; i++) {
            int from = graph->values[op->inputs[i]].producer;
            if (from >= 0) {
                edges[2 * *count] = from;
                edges[2 * (*count)++ + 1] = o;
            }
        }
    }
    return edges;
}
