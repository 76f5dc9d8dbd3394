/* Piper's profiles (JSON; Tarnawski, Narayanan and Phanishayee, NeurIPS 2021): layers with times and bytes for each
 * degree of tensor parallelism, each plain and with activations computed again. Degree 1 is read. The file's devices
 * and their links are attached as a platform. */
#include "place/inputs/op_names.h"
#include "place/inputs/profile_build.h"

#include "base/key_table.h"
#include "base/name_table.h"
#include "mercator/platform.h"
#include "mercator/yaml.h"

#include <string.h>

enum { PLAIN, RECOMPUTE, VARIANT_COUNT };
static const char *const variant_names[] = {"vanilla", "activation recomp"};
/* More are left out, with a warning: their links alone would fill the memory. */
enum { MAX_DEVICES = 1000 };

typedef struct Reader {
    MerArena       *arena; /* of the graph */
    MerArena       *scratch;
    MerError       *error;
    MerKeyTable     index; /* of nodes by their ids */
    int             node_count;
    MerProfileNode *nodes[VARIANT_COUNT];
} Reader;

static MerStatus need_real(MerYaml *map, const char *key, double minimum, double maximum,
                           double *value, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_real(node, minimum, maximum, value, error);
}

static MerStatus read_variant(MerYaml *map, MerProfileNode *node, MerError *error)
{
    double time_ms, per_batch, fixed;
    MER_TRY(need_real(map, "timePerSample", 0, MER_PROFILE_MAX_MS, &time_ms, error));
    MER_TRY(need_real(map, "parameterSize", 0, MER_PROFILE_MAX_BYTES, &node->weight_bytes, error));
    MER_TRY(need_real(map, "memoryUsageA", 0, MER_PROFILE_MAX_BYTES, &per_batch, error));
    MER_TRY(need_real(map, "memoryUsageB", 0, MER_PROFILE_MAX_BYTES, &fixed, error));
    node->time_us = 1000 * time_ms;
    /* A counts for every microbatch that is under way: at least one is. */
    node->size = per_batch + fixed;
    return MER_OK;
}

/* The list of degree 1; what it lacks of the second variant is the first. */
static MerStatus read_variants(MerYaml *list, MerProfileNode *const variants[VARIANT_COUNT],
                               MerError *error)
{
    bool found[VARIANT_COUNT] = {false, false};
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        const char *id;
        MerYaml    *node;
        int         which = 0;
        MER_TRY(mer_yaml_check_kind(list->items[i], MER_YAML_MAP, error));
        MER_TRY(mer_yaml_need(list->items[i], "id", &node, error));
        MER_TRY(mer_yaml_text(node, &id, error));
        while (which < VARIANT_COUNT && strcmp(id, variant_names[which]) != 0) {
            which++;
        }
        if (which < VARIANT_COUNT) { /* a variant may have any name */
            MER_TRY(read_variant(list->items[i], variants[which], error));
            found[which] = true;
        }
    }
    if (!found[PLAIN]) {
        return mer_yaml_error(list, error, "%s has no entry with the id \"vanilla\", expected one",
                              list->path);
    }
    if (!found[RECOMPUTE]) {
        *variants[RECOMPUTE] = *variants[PLAIN];
    }
    return MER_OK;
}

/* Ids of a file may follow any pattern; the table wants its keys spread. */
static uint64_t spread(int64_t id)
{
    return (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
}

static MerStatus read_node(Reader *reader, MerYaml *map)
{
    MerError   *error = reader->error;
    MerYaml    *id, *degrees, *list;
    const char *text = NULL;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(map, "id", &id, error));
    MER_TRY(mer_yaml_need(map, "TMPCs", &degrees, error));
    MER_TRY(mer_yaml_check_kind(degrees, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(degrees, "1", &list, error));
    int            at = reader->node_count++;
    MerProfileNode node = {.file_index = at};
    MER_TRY(mer_yaml_int(id, INT64_MIN / 2, INT64_MAX / 2, &node.id, error));
    MER_TRY(mer_yaml_get_text(map, "name", &text, error)); /* for people: may be absent */
    text = text ? text : mer_arena_format(reader->scratch, "node%lld", (long long)node.id);
    if (mer_key_table_add(&reader->index, spread(node.id), at) != at) {
        return mer_yaml_expected(id, error, "an id that no node before has");
    }
    node.name = mer_arena_text(reader->arena, text);
    node.source = "profile";
    node.kind = mer_place_guess_kind(text);
    MerProfileNode *variants[VARIANT_COUNT];
    for (int v = 0; v < VARIANT_COUNT; v++) {
        variants[v] = &reader->nodes[v][at];
        *variants[v] = node;
    }
    return read_variants(list, variants, error);
}

static MerStatus read_nodes(Reader *reader, MerYaml *root)
{
    MerYaml *list;
    MER_TRY(mer_yaml_need(root, "nodes", &list, reader->error));
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, reader->error));
    if (list->count == 0) {
        return mer_yaml_error(list, reader->error, "nodes is empty, expected at least one node");
    }
    for (int v = 0; v < VARIANT_COUNT; v++) {
        reader->nodes[v] = MER_ARRAY(reader->scratch, MerProfileNode, list->count);
    }
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_node(reader, list->items[i]));
    }
    return MER_OK;
}

static MerStatus read_end(const Reader *reader, MerYaml *map, const char *key, int *node)
{
    MerYaml *value;
    int64_t  id;
    MER_TRY(mer_yaml_need(map, key, &value, reader->error));
    MER_TRY(mer_yaml_int(value, INT64_MIN / 2, INT64_MAX / 2, &id, reader->error));
    *node = mer_key_table_find(&reader->index, spread(id));
    return *node >= 0 ? MER_OK : mer_yaml_expected(value, reader->error, "the id of a node");
}

/* A result is as large as the largest of its edges says. */
static MerStatus read_edges(Reader *reader, MerYaml *list, MerProfileEdge *edges)
{
    for (int i = 0; i < list->count; i++) {
        double bytes;
        MER_TRY(mer_yaml_check_kind(list->items[i], MER_YAML_MAP, reader->error));
        MER_TRY(read_end(reader, list->items[i], "sourceId", &edges[i].from));
        MER_TRY(read_end(reader, list->items[i], "destId", &edges[i].to));
        MER_TRY(need_real(list->items[i], "communicationCost", 0, MER_PROFILE_MAX_BYTES, &bytes,
                          reader->error));
        for (int v = 0; v < VARIANT_COUNT; v++) {
            MerProfileNode *node = &reader->nodes[v][edges[i].from];
            node->output_bytes = fmax(node->output_bytes, bytes);
        }
    }
    return MER_OK;
}

/* A name that an earlier node has gets the id behind it. */
static void part_names(Reader *reader)
{
    MerNameTable known = {.arena = reader->scratch};
    for (int i = 0; i < reader->node_count; i++) {
        MerProfileNode *node = &reader->nodes[PLAIN][i];
        while (mer_name_table_find(&known, node->name)) {
            node->name =
                mer_arena_format(reader->arena, "%s (%lld)", node->name, (long long)node->id);
        }
        mer_name_table_set(&known, node->name, node);
    }
}

/* The devices that the file counts on, every pair joined by a link of its own. */
static MerStatus attach_platform(Reader *reader, const MerImportFile *file, MerYaml *root,
                                 MerGraph *graph)
{
    MerYaml *count;
    int64_t  devices;
    double   bytes, bytes_per_s;
    MER_TRY(mer_yaml_need(root, "maxDevices", &count, reader->error));
    MER_TRY(mer_yaml_int(count, 1, INT32_MAX, &devices, reader->error));
    MER_TRY(need_real(root, "maxMemoryPerDevice", 1, MER_PROFILE_MAX_BYTES, &bytes, reader->error));
    MER_TRY(need_real(root, "bandwidth", 1, MER_PROFILE_MAX_BYTES, &bytes_per_s, reader->error));
    if (devices > MAX_DEVICES) {
        mer_graph_warn(graph, "maxDevices is %lld: the first %d are used", (long long)devices,
                       MAX_DEVICES);
        devices = MAX_DEVICES;
    }
    const char *links = mer_arena_format(
        reader->scratch, "links: [{from: \"acc*\", to: \"acc*\", bytes_per_s: %.17g}]\n",
        bytes_per_s);
    const char *text = mer_arena_format(
        reader->scratch,
        "format: mercator-platform/1\nkind: cluster\nname: implied\n"
        "summary: the devices of the profile\nsource: the profile\ncalibrated: false\n"
        "units: [{name: acc%s, count: %lld, memory_bytes: %.17g}]\n%s",
        devices == 1 ? "0" : "", (long long)devices, bytes, devices > 1 ? links : "");
    const MerPlatform *platform;
    MER_TRY(mer_platform_parse(file->path, text, strlen(text), reader->arena, &platform,
                               reader->error));
    mer_graph_attach(graph, "platform", platform);
    return MER_OK;
}

static MerStatus read_graph(Reader *reader, const MerImportFile *file, MerGraph **graph)
{
    MerError *error = reader->error;
    MerYaml  *root, *list;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, reader->scratch, &root, error));
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    MER_TRY(read_nodes(reader, root));
    MER_TRY(mer_yaml_need(root, "edges", &list, error));
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    MerProfileEdge *edges = MER_ARRAY(reader->scratch, MerProfileEdge, list->count);
    MER_TRY(read_edges(reader, list, edges));
    part_names(reader);
    MER_TRY(mer_profile_graph(file, mer_importer_piper.name, reader->nodes[PLAIN],
                              reader->node_count, edges, list->count, reader->arena, graph, error));
    mer_profile_attach(*graph, MER_PLACE_PROFILE, reader->nodes[PLAIN]);
    mer_profile_attach(*graph, MER_PLACE_RECOMPUTE, reader->nodes[RECOMPUTE]);
    return attach_platform(reader, file, root, *graph);
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    (void)options;
    MerArena *scratch = mer_arena_new();
    Reader    reader = {
           .arena = arena, .scratch = scratch, .error = error, .index = {.arena = scratch}};
    MerStatus status = read_graph(&reader, file, graph);
    mer_arena_free(scratch);
    return status;
}

static bool probe(const MerImportFile *file)
{
    return file->data[strspn(file->data, " \t\r\n")] == '{' && strstr(file->data, "\"TMPCs\"");
}

const MerImporterClass mer_importer_piper = {
    .name = "piper",
    .summary = "Piper's profiles of layers (JSON)",
    .endings = "json",
    .probe = probe,
    .read = read,
};
