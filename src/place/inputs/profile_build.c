/* Graphs of measured profiles (profile_build.h). */
#include "place/inputs/profile_build.h"

#include "mercator/text.h"

static void add_values(MerGraph *graph, const MerProfileNode *nodes, int count,
                       const int *consumer_count)
{
    for (int v = 0; v < count; v++) {
        mer_graph_add_value(graph, &(MerValue){.name = nodes[v].name,
                                               .type = MER_TYPE_INT8,
                                               .rank = 1,
                                               .dims = {llround(nodes[v].output_bytes)},
                                               .is_output = consumer_count[v] == 0});
    }
}

static void add_ops(MerGraph *graph, const MerProfileNode *nodes, int count,
                    const MerProfileEdge *edges, int edge_count, MerArena *scratch)
{
    int *start = MER_ARRAY(scratch, int, count + 2);
    int *inputs = MER_ARRAY(scratch, int, edge_count + 1);
    for (int e = 0; e < edge_count; e++) {
        start[edges[e].to + 2]++;
    }
    for (int v = 0; v < count; v++) {
        start[v + 2] += start[v + 1];
    }
    for (int e = 0; e < edge_count; e++) { /* start[v + 1] moves on to where v + 1 begins */
        inputs[start[edges[e].to + 1]++] = edges[e].from;
    }
    for (int v = 0; v < count; v++) {
        MerOp op = mer_op_make(nodes[v].name, nodes[v].source, MER_OP_MOVE);
        op.input_count = start[v + 1] - start[v];
        op.inputs = inputs + start[v];
        op.output_count = 1;
        op.outputs = &v;
        mer_graph_add_op(graph, &op);
    }
}

MerStatus mer_profile_graph(const MerImportFile *file, const char *format,
                            const MerProfileNode *nodes, int node_count,
                            const MerProfileEdge *edges, int edge_count, MerArena *arena,
                            MerGraph **graph, MerError *error)
{
    MerArena *scratch = mer_arena_new();
    MerGraph *made = mer_graph_new(file->name, arena);
    MerError  why = {0};
    int      *consumer_count = MER_ARRAY(scratch, int, node_count + 1);
    made->format = format;
    for (int e = 0; e < edge_count; e++) {
        consumer_count[edges[e].from]++;
    }
    add_values(made, nodes, node_count, consumer_count);
    add_ops(made, nodes, node_count, edges, edge_count, scratch);
    mer_arena_free(scratch);
    MerStatus status = mer_graph_finish(made, &why);
    if (status != MER_OK) {
        return mer_error_set(error, status, "%s: %s", file->path, why.message);
    }
    *graph = made;
    return MER_OK;
}

static uint64_t hash_profile(uint64_t hash, const MerPlaceProfile *profile, int count)
{
    for (int o = 0; o < count; o++) {
        hash = mer_hash_real(hash, profile->unit_us[o]);
        hash = mer_hash_real(hash, profile->size[o]);
        hash = mer_hash_real(hash, profile->weight_bytes[o]);
        hash = mer_hash_real(hash, profile->output_bytes[o]);
        hash = mer_hash_int(hash, profile->ids[o]);
    }
    return hash;
}

void mer_profile_attach(MerGraph *graph, const char *type, const MerProfileNode *nodes)
{
    MerArena  *arena = graph->arena;
    int        count = graph->op_count;
    double    *numbers = MER_ARRAY(arena, double, 5 * (size_t)count);
    double    *host_us = numbers, *unit_us = host_us + count, *size = unit_us + count;
    double    *output_bytes = size + count, *weight_bytes = output_bytes + count;
    int64_t   *ids = MER_ARRAY(arena, int64_t, count);
    int       *file_index = MER_ARRAY(arena, int, count);
    MerOpKind *kinds = MER_ARRAY(arena, MerOpKind, count);
    for (int o = 0; o < count; o++) {
        const MerProfileNode *node = &nodes[graph->ops[o].outputs[0]];
        host_us[o] = INFINITY;
        unit_us[o] = node->time_us;
        size[o] = node->size;
        weight_bytes[o] = node->weight_bytes;
        output_bytes[o] = node->output_bytes;
        ids[o] = node->id;
        file_index[o] = node->file_index;
        kinds[o] = node->kind;
    }
    MerPlaceProfile *profile = MER_NEW(arena, MerPlaceProfile);
    *profile = (MerPlaceProfile){.host_us = host_us,
                                 .unit_us = unit_us,
                                 .size = size,
                                 .weight_bytes = weight_bytes,
                                 .output_bytes = output_bytes,
                                 .ids = ids,
                                 .file_index = file_index,
                                 .kinds = kinds,
                                 .is_pipeline = true};
    graph->hash = hash_profile(graph->hash, profile, count);
    mer_graph_attach(graph, type, profile);
}
