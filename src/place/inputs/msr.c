/* Graphs of "Efficient Algorithms for Device Placement of DNN Graph Operators" (Tarnawski et al., NeurIPS 2020) as JSON:
 * nodes with times on a processor and on an accelerator, edges with the time to move a result. A file implies its platform.
 * docs/placement.md, "Inputs", has the format and its traps. */
#include "base/name_table.h"
#include "base/stats.h"
#include "mercator/import.h"
#include "mercator/text.h"
#include "place/inputs/op_names.h"
#include "place/inputs/profile_build.h"

#include <inttypes.h>
#include <string.h>

#define MOST_CLASS INT64_C(9000000000000000) /* negative classes come behind it */
#define GIBIBYTES_PER_S 2147483648.0         /* 2 GiB/s: the rate behind the published edge costs */

typedef struct Node {
    const char *name;
    int64_t     id, class_of; /* -1: no class */
    double      host_ms, unit_ms, size;
    bool        is_backward;
    double      transfer_ms; /* NaN: no edge leaves it */
    double      output_bytes;
} Node;

typedef struct Reader {
    MerArena *arena;
    int       count, edge_count,
        cheap_edges; /* cheap: cost is size at 2 GiB/s in seconds, not in milliseconds */
    Node           *nodes;
    int            *order; /* positions, by rising id */
    MerProfileEdge *edges;
    bool            has_uneven_costs;
    const char     *ignored; /* the first key that nobody knows; NULL: there is none */
} Reader;

static const char *const root_keys[] = {"maxSizePerFPGA", "maxFPGAs", "maxCPUs",
                                        "nodes",          "edges",    NULL};
static const char *const node_keys[] = {
    "id",   "name",       "supportedOnFpga", "cpuLatency", "fpgaLatency", "isBackwardNode",
    "size", "colorClass", "layerId",         NULL};
static const char *const edge_keys[] = {"sourceId", "destId", "cost", "size", NULL};

/* The format allows further information, for people and other tools. */
static void ignore_unknown(Reader *r, const MerYaml *map, const char *const *known)
{
    for (int i = 0; i < map->count && !r->ignored; i++) {
        int k = 0;
        while (known[k] && strcmp(known[k], map->keys[i]) != 0) {
            k++;
        }
        if (!known[k]) {
            r->ignored = mer_arena_format(r->arena, "%s%s%s", map->path, *map->path ? "." : "",
                                          map->keys[i]);
        }
    }
}

/* true, false, 0 or 1: both spellings are in the published files. */
static MerStatus read_flag(MerYaml *map, const char *key, bool *value, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    if (node->kind == MER_YAML_SCALAR && (node->text[0] == '0' || node->text[0] == '1')) {
        double number;
        MER_TRY(mer_yaml_real(node, 0, 1, &number, error));
        *value = number != 0;
        return MER_OK;
    }
    return mer_yaml_bool(node, value, error);
}

static MerStatus need_real(MerYaml *map, const char *key, double least, double most, double *value,
                           MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_real(node, least, most, value, error);
}

/* Whole numbers may be written as reals. */
static MerStatus need_whole(MerYaml *map, const char *key, double least, double most,
                            int64_t *value, MerError *error)
{
    MerYaml *node;
    double   number;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    MER_TRY(mer_yaml_real(node, least, most, &number, error));
    *value = (int64_t)number;
    return (double)*value == number ? MER_OK : mer_yaml_expected(node, error, "a whole number");
}

static MerStatus read_node(Reader *r, MerYaml *map, int position, MerError *error)
{
    Node    *node = &r->nodes[position];
    MerYaml *colour = NULL;
    bool     is_supported;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    *node = (Node){.class_of = -1, .transfer_ms = NAN};
    MER_TRY(need_whole(map, "id", -9e15, 9e15, &node->id, error));
    MER_TRY(mer_yaml_get_text(map, "name", &node->name, error));
    MER_TRY(read_flag(map, "supportedOnFpga", &is_supported, error));
    MER_TRY(read_flag(map, "isBackwardNode", &node->is_backward, error));
    MER_TRY(need_real(map, "cpuLatency", 0, 1e15, &node->host_ms, error));
    MER_TRY(need_real(map, "fpgaLatency", 0, 1e15, &node->unit_ms, error));
    MER_TRY(need_real(map, "size", 0, 1e18, &node->size, error));
    colour = mer_yaml_get(map, "colorClass");
    if (colour && !mer_yaml_is_null(colour)) {
        MER_TRY(need_whole(map, "colorClass", -9e15, 9e15, &node->class_of, error));
        node->class_of = node->class_of < 0 ? MOST_CLASS - node->class_of : node->class_of;
    }
    node->unit_ms = is_supported ? node->unit_ms : INFINITY;
    node->name = node->name ? node->name : mer_arena_format(r->arena, "node%d", position);
    ignore_unknown(r, map, node_keys);
    return MER_OK;
}

static MerStatus read_nodes(MerYaml *list, Reader *r, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    if (list->count == 0) {
        return mer_yaml_expected(list, error, "at least one node");
    }
    r->count = list->count;
    r->nodes = MER_ARRAY(r->arena, Node, r->count);
    r->order = MER_ARRAY(r->arena, int, r->count);
    double *ids = MER_ARRAY(r->arena, double, r->count);
    for (int i = 0; i < r->count; i++) {
        MER_TRY(read_node(r, list->items[i], i, error));
        ids[i] = (double)r->nodes[i].id; /* at most 9e15: exact */
    }
    mer_sort_order(ids, r->count, r->order);
    for (int i = 1; i < r->count; i++) {
        const Node *node = &r->nodes[r->order[i]];
        if (node->id == r->nodes[r->order[i - 1]].id) {
            return mer_yaml_error(list, error, "two nodes have the id %" PRId64 ", expected one",
                                  node->id);
        }
    }
    return MER_OK;
}

static MerStatus read_end(const Reader *r, MerYaml *edge, const char *key, int *position,
                          MerError *error)
{
    int64_t id;
    int     low = 0, high = r->count - 1;
    MER_TRY(need_whole(edge, key, -9e15, 9e15, &id, error));
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (r->nodes[r->order[middle]].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *position = r->order[low];
    return r->nodes[*position].id == id
               ? MER_OK
               : mer_yaml_expected(mer_yaml_get(edge, key), error, "the id of a node");
}

static MerStatus read_edge(Reader *r, int index, MerYaml *edge, MerError *error)
{
    MerProfileEdge *ends = &r->edges[index];
    double          cost, size = 0;
    MER_TRY(mer_yaml_check_kind(edge, MER_YAML_MAP, error));
    MER_TRY(read_end(r, edge, "sourceId", &ends->from, error));
    MER_TRY(read_end(r, edge, "destId", &ends->to, error));
    MER_TRY(need_real(edge, "cost", 0, 1e15, &cost, error));
    MER_TRY(mer_yaml_get_real(edge, "size", 0, 1e18, &size, error));
    ignore_unknown(r, edge, edge_keys);
    if (ends->from == ends->to) {
        return mer_yaml_error(edge, error, "the edge goes from a node to itself");
    }
    Node *source = &r->nodes[ends->from];
    r->has_uneven_costs =
        r->has_uneven_costs || fabs(cost - source->transfer_ms) > 1e-6 * fmax(1, cost);
    source->transfer_ms = fmax(cost, source->transfer_ms);
    source->output_bytes = fmax(size, source->output_bytes);
    r->cheap_edges += size > 0 && fabs(cost * GIBIBYTES_PER_S / size - 1) < 1e-3;
    return MER_OK;
}

static MerStatus read_edges(MerYaml *list, Reader *r, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    r->edge_count = list->count;
    r->edges = MER_ARRAY(r->arena, MerProfileEdge, list->count + 1);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_edge(r, i, list->items[i], error));
    }
    return MER_OK;
}

/* Names are for people and may repeat: a second node of a name gets its id. */
static void make_names_unique(Reader *r)
{
    MerNameTable names = {.arena = r->arena};
    for (int i = 0; i < r->count; i++) {
        Node *node = &r->nodes[i];
        while (mer_name_table_find(&names, node->name)) {
            node->name = mer_arena_format(r->arena, "%s#%" PRId64, node->name, node->id);
        }
        mer_name_table_set(&names, node->name, node);
    }
}

static MerStatus make_graph(const MerImportFile *file, const Reader *r, MerGraph **graph,
                            MerError *error)
{
    MerProfileNode *nodes = MER_ARRAY(r->arena, MerProfileNode, r->count);
    for (int i = 0; i < r->count; i++) {
        nodes[i] = (MerProfileNode){
            .name = r->nodes[i].name, .source = "node", .output_bytes = r->nodes[i].output_bytes};
    }
    return mer_profile_graph(file, "msr", nodes, r->count, r->edges, r->edge_count, r->arena, graph,
                             error);
}

static const MerPlaceProfile *make_profile(const MerGraph *graph, const Reader *r)
{
    MerPlaceProfile *profile = MER_NEW(r->arena, MerPlaceProfile);
    size_t           count = (size_t)r->count;
    double *host = MER_ARRAY(r->arena, double, count), *unit = MER_ARRAY(r->arena, double, count),
           *size = MER_ARRAY(r->arena, double, count), *bytes = MER_ARRAY(r->arena, double, count),
           *transfer = MER_ARRAY(r->arena, double, count);
    bool    *is_backward = MER_ARRAY(r->arena, bool, count);
    int64_t *class_of = MER_ARRAY(r->arena, int64_t, count),
            *ids = MER_ARRAY(r->arena, int64_t, count);
    int       *position = MER_ARRAY(r->arena, int, count);
    MerOpKind *kinds = MER_ARRAY(r->arena, MerOpKind, count);
    for (int o = 0; o < r->count; o++) {
        const Node *node = &r->nodes[position[o] = graph->ops[o].outputs[0]];
        host[o] = 1000 * node->host_ms;
        unit[o] = 1000 * node->unit_ms;
        size[o] = node->size;
        bytes[o] = node->output_bytes;
        transfer[o] = isnan(node->transfer_ms) ? 0 : 1000 * node->transfer_ms;
        is_backward[o] = node->is_backward;
        class_of[o] = node->class_of;
        ids[o] = node->id;
        kinds[o] = mer_place_guess_kind(node->name);
    }
    *profile = (MerPlaceProfile){.host_us = host,
                                 .unit_us = unit,
                                 .size = size,
                                 .output_bytes = bytes,
                                 .transfer_us = transfer,
                                 .is_backward = is_backward,
                                 .class_of = class_of,
                                 .ids = ids,
                                 .file_index = position,
                                 .kinds = kinds};
    return profile;
}

/* Accelerators acc0 .. with the file's memory, and processors cpu0 .. without a limit. */
static MerStatus imply_platform(MerYaml *root, MerGraph *graph, MerArena *arena, MerError *error)
{
    double             memory;
    int64_t            accelerators, hosts;
    const MerPlatform *platform;
    MER_TRY(need_real(root, "maxSizePerFPGA", 0, 1e18, &memory, error));
    MER_TRY(need_whole(root, "maxFPGAs", 0, 1024, &accelerators, error));
    MER_TRY(need_whole(root, "maxCPUs", 0, 1024, &hosts, error));
    if (accelerators + hosts == 0) {
        return mer_yaml_error(root, error, "maxFPGAs and maxCPUs are 0, expected a unit");
    }
    char *text = mer_arena_format(arena,
                                  "{format: mercator-platform/1, kind: cluster, name: %" PRId64
                                  "acc-%" PRId64 "cpu, classes: {acc: {memory_bytes: %.17g}, "
                                  "cpu: {}}, units: [",
                                  accelerators, hosts, memory);
    for (int64_t u = 0; u < accelerators + hosts; u++) {
        bool is_host = u >= accelerators;
        text =
            mer_arena_format(arena, "%s{name: %s%" PRId64 ", class: %s}%s", text,
                             is_host ? "cpu" : "acc", is_host ? u - accelerators : u,
                             is_host ? "cpu" : "acc", u + 1 < accelerators + hosts ? ", " : "]}");
    }
    MER_TRY(mer_platform_parse(graph->name, text, strlen(text), arena, &platform, error));
    mer_graph_attach(graph, "platform", platform);
    return MER_OK;
}

static void warn(const Reader *r, MerGraph *graph)
{
    if (r->edge_count > 0 && 2 * r->cheap_edges > r->edge_count) {
        mer_graph_warn(graph, "edge costs are seconds at 2 GiB/s beside times in milliseconds: "
                              "transfers count 1000 times too little; --msr-cost-scale 1000 "
                              "mends it");
    }
    if (r->has_uneven_costs) {
        mer_graph_warn(graph, "edges of one node have different costs: the largest counts");
    }
    if (r->ignored) {
        mer_graph_warn(graph, "keys without a meaning here are ignored: %s is the first",
                       r->ignored);
    }
}

static MerStatus read_msr(const MerImportFile *file, const MerImportOptions *options,
                          MerArena *arena, MerGraph **graph, MerError *error)
{
    MerYaml *root, *nodes, *edges;
    Reader   r = {.arena = arena};
    (void)options;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_need(root, "nodes", &nodes, error));
    MER_TRY(mer_yaml_need(root, "edges", &edges, error));
    MER_TRY(read_nodes(nodes, &r, error));
    MER_TRY(read_edges(edges, &r, error));
    make_names_unique(&r);
    MER_TRY(make_graph(file, &r, graph, error));
    MER_TRY(imply_platform(root, *graph, arena, error));
    ignore_unknown(&r, root, root_keys);
    mer_graph_attach(*graph, MER_PLACE_PROFILE, make_profile(*graph, &r));
    (*graph)->hash = mer_hash_bytes((*graph)->hash, file->data, file->size);
    warn(&r, *graph);
    return MER_OK;
}

static bool is_msr(const MerImportFile *file)
{
    return strstr(file->data, "\"maxFPGAs\"") != NULL && strstr(file->data, "\"nodes\"") != NULL;
}

const MerImporterClass mer_importer_msr = {
    .name = "msr",
    .summary = "operator graphs with measured times of Tarnawski et al. (.json)",
    .endings = "json",
    .probe = is_msr,
    .read = read_msr,
};
