/* Order of the nodes of a graph. Files should be sorted, not all are. A node waits for the nodes
 * that write its inputs and the names that its subgraphs take from outside. */
#include "import/onnx/onnx.h"

#include "graph/order.h"

typedef struct Names { /* defined in a subgraph that is being searched */
    const struct Names *outer;
    MerNameTable        defined;
} Names;

typedef struct Edges {
    MerArena    *arena;
    MerNameTable producers; /* 1 + index of the node, as a pointer into `marks` */
    const char  *marks;
    int         *before;
    int          count;
} Edges;

static void add_edge(Edges *edges, const char *name)
{
    const char *mark = name != NULL ? mer_name_table_find(&edges->producers, name) : NULL;
    if (mark == NULL)
        return;
    MER_GROW(edges->arena, edges->before, edges->count);
    edges->before[edges->count++] = (int)(mark - edges->marks);
}

static bool is_defined(const Names *names, const char *name)
{
    for (; names != NULL; names = names->outer) {
        if (mer_name_table_find(&names->defined, name) != NULL)
            return true;
    }
    return false;
}

static void define(Names *names, const char *name)
{
    if (name != NULL)
        mer_name_table_set(&names->defined, name, names);
}

static void add_captures(Edges *edges, const Onnx__NodeProto *node, const Names *outer);

static void add_subgraph(Edges *edges, const Onnx__GraphProto *graph, const Names *outer)
{
    Names names = {.outer = outer, .defined = {.arena = edges->arena}};
    for (size_t i = 0; i < graph->n_input; i++)
        define(&names, graph->input[i]->name);
    for (size_t i = 0; i < graph->n_initializer; i++)
        define(&names, graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            define(&names, graph->node[i]->output[k]);
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_input; k++) {
            if (!is_defined(&names, graph->node[i]->input[k]))
                add_edge(edges, graph->node[i]->input[k]);
        }
        add_captures(edges, graph->node[i], &names);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        if (graph->output[i]->name != NULL && !is_defined(&names, graph->output[i]->name))
            add_edge(edges, graph->output[i]->name);
    }
}

/* Recursion is as deep as the nesting that onnx_wire.c lets through. */
static void add_captures(Edges *edges, const Onnx__NodeProto *node, const Names *outer)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (node->attribute[i]->g != NULL)
            add_subgraph(edges, node->attribute[i]->g, outer);
    }
}

static const char *node_name(const void *items, int item)
{
    const Onnx__NodeProto *node = ((Onnx__NodeProto *const *)items)[item];
    if (node->name != NULL && node->name[0] != '\0')
        return node->name;
    return node->n_output > 0 ? node->output[0] : "";
}

const int *mer_onnx_order(OnnxContext *context, Onnx__NodeProto *const *nodes, size_t node_count)
{
    if (node_count > ONNX_MAX_NODES) {
        mer_onnx_fail_model(context, "the graph has %zu nodes, expected at most %d", node_count,
                            ONNX_MAX_NODES);
        return NULL;
    }
    int       count = (int)node_count;
    int      *order = MER_ARRAY(context->scratch, int, count + 1);
    MerArena *arena = mer_arena_new();
    Edges     edges = {.arena = arena,
                       .producers = {.arena = arena},
                       .marks = mer_arena_alloc(arena, node_count + 1)};
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < nodes[i]->n_output; k++) {
            /* A name that exists already is an error of its own, found when the node is walked. */
            if (nodes[i]->output[k][0] != '\0' &&
                mer_name_table_find(&context->scope->values, nodes[i]->output[k]) == NULL)
                mer_name_table_set(&edges.producers, nodes[i]->output[k],
                                   (void *)(edges.marks + i));
        }
    }
    int *first = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < nodes[i]->n_input; k++)
            add_edge(&edges, nodes[i]->input[k]);
        add_captures(&edges, nodes[i], NULL);
        first[i + 1] = edges.count;
    }
    int cycle_length;
    if (!mer_order_stable(count, first, edges.before, order, &cycle_length)) {
        char text[350];
        mer_order_cycle_text(text, sizeof text, order, cycle_length, node_name, nodes);
        mer_onnx_fail_model(context, "the nodes %s form a cycle", mer_onnx_clean(context, text));
        order = NULL;
    }
    mer_arena_free(arena);
    return order;
}
