/* PipeDream's profiles (graph.txt; Narayanan et al., SOSP 2019):
 *
 *     node4 -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=0.1, backward_compute_time=0.2,
 *         activation_size=[8.0; 4.0], parameter_size=16.0     (one line: ms, ms, bytes, bytes)
 *     <TAB>node4 -- node5
 *
 * As its optimizer does, inputs of the network and unused results of tuples are left out. */
#include "place/inputs/op_names.h"
#include "place/inputs/profile_build.h"

#include "base/expect.h"
#include "base/name_table.h"
#include "mercator/text.h"

#include <ctype.h>
#include <string.h>

#define SEPARATOR " -- "
enum { SEPARATOR_LENGTH = 4, MAX_SHOWN = 60, MAX_NUMBER = 40 };

typedef struct Edge {
    const char *from, *to; /* names */
    int         line;
} Edge;

typedef struct Reader {
    const MerImportFile *file;
    MerArena            *arena; /* of the reader, not of the graph */
    MerError            *error;
    int                  line;
    MerNameTable         index; /* of nodes by their names: a node */
    int                  node_count, edge_count;
    MerProfileNode      *nodes;
    Edge                *edges;
} Reader;

static MerStatus fail(const Reader *reader, int line, const char *what, const char *found,
                      size_t length, const char *expected)
{
    char text[MAX_SHOWN + 1], shown[MER_SHOWN_SIZE];
    snprintf(text, sizeof text, "%.*s", length < MAX_SHOWN ? (int)length : MAX_SHOWN, found);
    return mer_error_set(reader->error, MER_INVALID, "%s:%d: %s is %s, expected %s",
                         reader->file->path, line, what, mer_shown_text(shown, text, false),
                         expected);
}

/* A number from `text`, at most `limit`; false: it is none. */
static bool parse_number(const char *text, size_t length, double limit, double *value)
{
    char copy[MAX_NUMBER];
    while (length > 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    if (length == 0 || length >= sizeof copy || !isdigit((unsigned char)text[length - 1])) {
        return false; /* a last letter would be a unit */
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return mer_parse_real(copy, value) && *value >= 0 && *value <= limit;
}

/* "8.0", or the sum of a tuple: "[8.0; 4.0]". */
static bool parse_sum(const char *text, size_t length, double limit, double *value)
{
    if (length < 2 || text[0] != '[' || text[length - 1] != ']') {
        return parse_number(text, length, limit, value);
    }
    const char *end = text + length - 1;
    *value = 0;
    for (text++; text < end; text++) {
        size_t part = strcspn(text, ";]");
        double number;
        if (!parse_number(text, part, limit, &number)) {
            return false;
        }
        *value += number;
        text += part;
    }
    return *value <= limit;
}

/* The value of `key` in "key=value, key=value". */
static MerStatus read_field(const Reader *reader, const char *fields, const char *key, double limit,
                            double *value)
{
    size_t key_length = strlen(key);
    for (const char *at = fields; *at != '\0';) {
        at += strspn(at, " ,");
        size_t length = strcspn(at, ",");
        if (strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
            const char *text = at + key_length + 1;
            length -= key_length + 1;
            return parse_sum(text, length, limit, value)
                       ? MER_OK
                       : fail(reader, reader->line, key, text, length,
                              limit == MER_PROFILE_MAX_MS ? "milliseconds >= 0, at most 1e12"
                                                          : "bytes >= 0, at most 1e15");
        }
        at += length;
    }
    return mer_error_set(reader->error, MER_INVALID, "%s:%d: there is no %s, expected it",
                         reader->file->path, reader->line, key);
}

static char *find_last(char *text, const char *part)
{
    char *last = NULL;
    for (char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
        last = at;
    }
    return last;
}

/* The number of "node12"; -1: it is called otherwise. */
static int64_t node_number(const char *name)
{
    int64_t number;
    bool    is_node = strncmp(name, "node", 4) == 0 && isdigit((unsigned char)name[4]);
    return is_node && mer_parse_int(name + 4, &number) ? number : -1;
}

/* The operator's own word: "Conv2d" of "Conv2d(3, 64)". */
static const char *leading_word(const char *text, MerArena *arena)
{
    size_t length = strcspn(text, "( ");
    return length > 0 ? mer_arena_text_n(arena, text, length) : "?";
}

static MerStatus add_node(Reader *reader, const char *name, const char *text, const char *fields)
{
    MerProfileNode node = {.name = name, .source = text, .kind = mer_place_guess_kind(text)};
    double         forward_ms, backward_ms;
    MER_TRY(read_field(reader, fields, "forward_compute_time", MER_PROFILE_MAX_MS, &forward_ms));
    MER_TRY(read_field(reader, fields, "backward_compute_time", MER_PROFILE_MAX_MS, &backward_ms));
    MER_TRY(
        read_field(reader, fields, "activation_size", MER_PROFILE_MAX_BYTES, &node.output_bytes));
    MER_TRY(read_field(reader, fields, "parameter_size", MER_PROFILE_MAX_BYTES, &node.size));
    if (mer_name_table_find(&reader->index, name)) {
        return fail(reader, reader->line, "the node", name, strlen(name),
                    "a name that no line before has");
    }
    if (reader->node_count == MER_PROFILE_MAX_NODES) {
        return mer_error_set(reader->error, MER_INVALID, "%s:%d: more than %d nodes",
                             reader->file->path, reader->line, MER_PROFILE_MAX_NODES);
    }
    node.time_us = 1000 * (forward_ms + backward_ms);
    node.weight_bytes = node.size;
    node.file_index = reader->node_count;
    MER_GROW(reader->arena, reader->nodes, reader->node_count);
    reader->nodes[reader->node_count++] = node;
    int *index = MER_NEW(reader->arena, int);
    *index = node.file_index;
    mer_name_table_set(&reader->index, name, index);
    return MER_OK;
}

/* `line` without its end; a TAB before it makes it an edge. */
static MerStatus read_line(Reader *reader, char *line)
{
    bool  is_edge = line[0] == '\t';
    char *name = line + is_edge;
    char *text = strstr(name, SEPARATOR);
    if (!text || text == name) {
        return fail(reader, reader->line, "the line", name, strlen(name),
                    is_edge ? "an edge \"nodeI -- nodeJ\""
                            : "\"NODE -- OPERATOR -- forward_compute_time=..\"");
    }
    *text = '\0';
    text += SEPARATOR_LENGTH;
    if (is_edge) {
        MER_GROW(reader->arena, reader->edges, reader->edge_count);
        reader->edges[reader->edge_count++] = (Edge){name, text, reader->line};
        return MER_OK;
    }
    char *stage = find_last(text, SEPARATOR "stage_id="); /* of files that were split already */
    if (stage) {
        *stage = '\0';
    }
    char *fields = find_last(text, SEPARATOR);
    if (!fields) {
        return fail(reader, reader->line, "the line of the node", text, strlen(text),
                    "two parts behind its name: \"OPERATOR -- forward_compute_time=..\"");
    }
    *fields = '\0';
    return add_node(reader, name, text, fields + SEPARATOR_LENGTH);
}

static MerStatus read_lines(Reader *reader)
{
    const char *at = reader->file->data, *end = at + reader->file->size;
    for (reader->line = 1; at < end; reader->line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t      length = (size_t)((next ? next : end) - at);
        char       *line = mer_arena_text_n(reader->arena, at, length);
        if (length > 0 && line[length - 1] == '\r') {
            line[length - 1] = '\0';
        }
        if (line[strspn(line, " \t")] != '\0') {
            MER_TRY(read_line(reader, line));
        }
        at += length + 1;
    }
    return MER_OK;
}

static MerStatus find_node(const Reader *reader, const Edge *edge, const char *name, int *node)
{
    const int *index = mer_name_table_find(&reader->index, name);
    if (!index) {
        return fail(reader, edge->line, "an end of the edge", name, strlen(name),
                    "a node of the file");
    }
    *node = *index;
    return MER_OK;
}

static MerStatus resolve_edges(const Reader *reader, MerProfileEdge *edges)
{
    for (int e = 0; e < reader->edge_count; e++) {
        const Edge *edge = &reader->edges[e];
        MER_TRY(find_node(reader, edge, edge->from, &edges[e].from));
        MER_TRY(find_node(reader, edge, edge->to, &edges[e].to));
    }
    return MER_OK;
}

/* Leaves out sources called Input.. and sinks called __getitem__..; nodes and edges move together. */
static void drop_ends(Reader *reader, MerProfileEdge *edges)
{
    int *inputs = MER_ARRAY(reader->arena, int, reader->node_count);
    int *outputs = MER_ARRAY(reader->arena, int, reader->node_count);
    int *moved_to = MER_ARRAY(reader->arena, int, reader->node_count);
    int  kept = 0;
    for (int e = 0; e < reader->edge_count; e++) {
        outputs[edges[e].from]++;
        inputs[edges[e].to]++;
    }
    for (int v = 0; v < reader->node_count; v++) {
        const char *text = reader->nodes[v].source;
        bool        is_input = inputs[v] == 0 && strncmp(text, "Input", 5) == 0;
        bool        is_unused = outputs[v] == 0 && strncmp(text, "__getitem__", 11) == 0;
        moved_to[v] = is_input || is_unused ? -1 : kept;
        reader->nodes[kept] = reader->nodes[v];
        kept += moved_to[v] >= 0;
    }
    reader->node_count = kept;
    kept = 0;
    for (int e = 0; e < reader->edge_count; e++) {
        MerProfileEdge edge = {moved_to[edges[e].from], moved_to[edges[e].to]};
        edges[kept] = edge;
        kept += edge.from >= 0 && edge.to >= 0;
    }
    reader->edge_count = kept;
}

/* Names say what the node is called and what it does; ids are its numbers, or its places if one has none. */
static void name_nodes(Reader *reader, MerArena *arena)
{
    bool has_numbers = true;
    for (int v = 0; v < reader->node_count; v++) {
        MerProfileNode *node = &reader->nodes[v];
        node->id = node_number(node->name);
        has_numbers &= node->id >= 0;
        node->source = leading_word(node->source, arena);
        node->name = mer_arena_format(arena, "%s %s", node->name, node->source);
    }
    for (int v = 0; !has_numbers && v < reader->node_count; v++) {
        reader->nodes[v].id = reader->nodes[v].file_index;
    }
}

static MerStatus read_graph(Reader *reader, MerArena *arena, MerGraph **graph)
{
    MER_TRY(read_lines(reader));
    MerProfileEdge *edges = MER_ARRAY(reader->arena, MerProfileEdge, reader->edge_count);
    MER_TRY(resolve_edges(reader, edges));
    drop_ends(reader, edges);
    if (reader->node_count == 0) {
        return mer_error_set(reader->error, MER_INVALID,
                             "%s: found no nodes besides inputs, expected at least one",
                             reader->file->path);
    }
    name_nodes(reader, arena);
    MER_TRY(mer_profile_graph(reader->file, mer_importer_pipedream.name, reader->nodes,
                              reader->node_count, edges, reader->edge_count, arena, graph,
                              reader->error));
    mer_profile_attach(*graph, MER_PLACE_PROFILE, reader->nodes);
    return MER_OK;
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    (void)options;
    MerArena *own = mer_arena_new();
    Reader    reader = {.file = file, .arena = own, .error = error, .index = {.arena = own}};
    MerStatus status = read_graph(&reader, arena, graph);
    mer_arena_free(own);
    return status;
}

/* Its first line names a node and its time. */
static bool probe(const MerImportFile *file)
{
    size_t      length = strcspn(file->data, "\n");
    const char *separator = strstr(file->data, SEPARATOR);
    const char *key = strstr(file->data, "forward_compute_time=");
    return file->data[0] != '\t' && separator && key && separator < key &&
           key < file->data + length;
}

const MerImporterClass mer_importer_pipedream = {
    .name = "pipedream",
    .summary = "PipeDream's profiles of layers (graph.txt)",
    .endings = "txt",
    .probe = probe,
    .read = read,
};
