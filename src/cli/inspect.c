/* inspect: what a network or a platform looks like after import, and files that inspectors of wings know. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/terminal.h"
#include "hw/foreign.h"
#include "import/import_find.h"
#include "mercator/import.h"
#include "mercator/json.h"
#include "mercator/option.h"
#include "mercator/registry.h"
#include "mercator/text.h"
#include "mercator/yaml.h"
#include "report/tables/table.h"
#include "run/experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Request {
    const char      *input, *platform;
    MerImportOptions import;
    bool             json, is_help;
} Request;

static void write_shape(const MerGraph *graph, const char *key, const int *values, int count,
                        MerJson *json)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        const MerValue *value = &graph->values[values[i]];
        mer_json_object(json, NULL);
        mer_json_text(json, "name", value->name);
        mer_json_text(json, "type", mer_type_name(value->type));
        mer_json_array(json, "shape");
        for (int d = 0; d < value->rank; d++) {
            mer_json_int(json, NULL, value->dims[d]);
        }
        mer_json_end_array(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_layer(const MerGraph *graph, const MerOp *op, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", op->name);
    mer_json_text(json, "kind", mer_op_kind_name(op->kind));
    mer_json_text(json, "source", op->source);
    mer_json_object(json, "dims");
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        mer_json_int(json, (char[]){MER_DIM_LETTERS[d], '\0'}, op->dims[d]);
    }
    mer_json_end_object(json);
    mer_json_ints(json, "stride", op->stride, 2);
    mer_json_ints(json, "dilation", op->dilation, 2);
    mer_json_ints(json, "pad", op->pad, 4);
    mer_json_int(json, "repeat", op->repeat);
    mer_json_int(json, "macs", op->macs);
    mer_json_int(json, "parameters", op->parameters);
    mer_json_int(json, "weight_bytes", op->weight_bytes);
    mer_json_int(json, "input_bytes", op->input_bytes);
    mer_json_int(json, "output_bytes", op->output_bytes);
    mer_json_int(json, "task", op->layer);
    mer_json_int(json, "count", graph->layers[op->layer].count);
    write_shape(graph, "inputs", op->inputs, op->input_count, json);
    write_shape(graph, "outputs", op->outputs, op->output_count, json);
    mer_json_end_object(json);
}

static int count_layers(const MerGraph *graph)
{
    int layers = 0;
    for (int o = 0; o < graph->op_count; o++) {
        layers += graph->ops[o].layer >= 0;
    }
    return layers;
}

static void write_kinds(const MerGraph *graph, MerJson *json)
{
    int counts[MER_OP_KIND_COUNT] = {0};
    for (int o = 0; o < graph->op_count; o++) {
        counts[graph->ops[o].kind]++;
    }
    mer_json_object(json, "kinds");
    for (int k = 0; k < MER_OP_KIND_COUNT; k++) {
        if (counts[k] > 0) {
            mer_json_int(json, mer_op_kind_name((MerOpKind)k), counts[k]);
        }
    }
    mer_json_end_object(json);
}

static void print_json(const MerGraph *graph)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "name", graph->name);
    mer_json_text(&json, "format", graph->format);
    mer_json_hash(&json, "hash", graph->hash);
    mer_json_object(&json, "summary");
    mer_json_int(&json, "macs", graph->macs);
    mer_json_int(&json, "parameters", graph->parameters);
    mer_json_int(&json, "operators", graph->op_count);
    mer_json_int(&json, "layers", count_layers(graph));
    mer_json_int(&json, "unique_layers", graph->layer_count);
    mer_json_int(&json, "activation_bytes", graph->activation_bytes);
    write_kinds(graph, &json);
    mer_json_end_object(&json);
    mer_json_array(&json, "layers");
    for (int o = 0; o < graph->op_count; o++) {
        if (graph->ops[o].layer >= 0) {
            write_layer(graph, &graph->ops[o], &json);
        }
    }
    mer_json_end_array(&json);
    mer_json_texts(&json, "warnings", (const char *const *)graph->warnings, graph->warning_count);
    mer_json_end_object(&json);
    printf("%s\n", json.text);
    mer_json_free(&json);
}

static const char *loop_text(const MerOp *op, MerArena *arena)
{
    const char *text = "";
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (op->dims[d] > 1) {
            text = mer_arena_format(arena, "%s%s%c%lld", text, *text ? " " : "", MER_DIM_LETTERS[d],
                                    (long long)op->dims[d]);
        }
    }
    if (op->stride[0] > 1 || op->stride[1] > 1) {
        text = mer_arena_format(arena, "%s /%d", text,
                                op->stride[0] > op->stride[1] ? op->stride[0] : op->stride[1]);
    }
    return op->repeat > 1 ? mer_arena_format(arena, "%s x%lld", text, (long long)op->repeat) : text;
}

static void print_text(const MerGraph *graph, MerArena *arena)
{
    char          macs[48], parameters[48], bytes[48];
    const char   *titles[] = {"~~>#",    "layer", "~kind",       "~=loops (Y X are outputs)",
                              "~>count", ">MACs", "~>parameters"};
    MerTextTable *table = mer_text_table_new(arena, 7, titles);
    for (int l = 0; l < graph->layer_count; l++) {
        const MerOp *op = &graph->ops[graph->layers[l].op];
        mer_text_table_add_int(table, l + 1);
        mer_text_table_add(table, op->name);
        mer_text_table_add(table, mer_op_kind_name(op->kind));
        mer_text_table_add(table, loop_text(op, arena));
        mer_text_table_add_int(table, graph->layers[l].count);
        mer_text_table_add_real(table, (double)op->macs, "");
        mer_text_table_add_real(table, (double)op->parameters, "");
    }
    mer_text_table_print(table, stdout);
    mer_print_engineering(macs, (double)graph->macs, "");
    mer_print_engineering(parameters, (double)graph->parameters, "");
    mer_print_engineering(bytes, (double)graph->activation_bytes, "B");
    const char *text = mer_arena_format(
        arena,
        "%s (%s): %s MACs, %s parameters, %d operators, %d layers of %d shapes, %s of activations",
        graph->name, graph->format, macs, parameters, graph->op_count, count_layers(graph),
        graph->layer_count, bytes);
    printf("\n");
    mer_print_words(stdout, text, 0, 0, mer_terminal_columns(stdout));
}

static void write_yaml(const MerYaml *node, const char *key, MerJson *json)
{
    double number;
    bool   is_bare = node->kind == MER_YAML_SCALAR && !node->quoted;
    if (node->kind == MER_YAML_MAP) {
        mer_json_object(json, key);
        for (int i = 0; i < node->count; i++) {
            write_yaml(node->items[i], node->keys[i], json);
        }
        mer_json_end_object(json);
    } else if (node->kind == MER_YAML_LIST) {
        mer_json_array(json, key);
        for (int i = 0; i < node->count; i++) {
            write_yaml(node->items[i], NULL, json);
        }
        mer_json_end_array(json);
    } else if (is_bare && mer_parse_real(node->text, &number)) {
        mer_json_real(json, key, number);
    } else if (is_bare && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)) {
        mer_json_bool(json, key, node->text[0] == 't');
    } else {
        mer_json_text(json, key, node->text);
    }
}

/* The resolved form again, by way of its text: there is one writer of platforms. */
static MerStatus print_platform_json(const MerPlatform *platform, MerArena *arena, MerError *error)
{
    char    *text = NULL;
    size_t   size = 0;
    MerYaml *root;
    MerJson  json = {0};
    FILE    *file = open_memstream(&text, &size);
    if (!file) {
        return mer_error_set(error, MER_IO, "%s: no memory for its text", platform->name);
    }
    mer_platform_write(platform, file);
    fclose(file);
    MerStatus status = mer_yaml_parse(platform->name, text, size, arena, &root, error);
    free(text);
    if (status == MER_OK) {
        write_yaml(root, NULL, &json);
        printf("%s\n", json.text);
        mer_json_free(&json);
    }
    return status;
}

static int inspect_platform(const Request *request, MerArena *arena)
{
    MerError           error = {0};
    const MerPlatform *platform;
    if (mer_platform_read(request->input, arena, &platform, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (request->json) {
        return print_platform_json(platform, arena, &error) == MER_OK ? MER_EXIT_DONE
                                                                      : mer_cli_fail(&error);
    }
    mer_platform_write(platform, stdout);
    return MER_EXIT_DONE;
}

static bool is_platform(const char *input, MerArena *arena)
{
    enum { MOST_BYTES = 1 << 20 };
    char  *data;
    size_t size;
    if (!strchr(input, '/') && mer_data_path("platforms", input, ".yaml", arena) &&
        !mer_data_path("models", input, ".onnx", arena)) {
        return true;
    }
    if (strchr(input, ',')) {
        return true; /* several Timeloop files */
    }
    if (mer_file_is_stream(input)) {
        return false;
    }
    data = mer_arena_alloc(arena, MOST_BYTES + 1);
    size = mer_file_peek(input, data, MOST_BYTES);
    return size < MOST_BYTES && strlen(data) == size && mer_platform_is_text(data, size);
}

static MerStatus read_whole(MerInspection *file, MerError *error)
{
    enum { MOST_BYTES = 1 << 30 };
    char *data;
    MER_TRY(mer_file_read(file->path, MOST_BYTES, file->arena, &data, &file->size, error));
    file->data = data;
    return MER_OK;
}

MerStatus mer_cli_print_file(const MerInspectorClass *type, MerInspection *file, MerError *error)
{
    MER_TRY(read_whole(file, error));
    return type->print(file, error);
}

/* MER_EXIT_OTHER: no inspector knows the file. */
static int inspect_file(const Request *request, MerArena *arena)
{
    MerError      error = {0};
    MerInspection file = {.arena = arena,
                          .path = request->input,
                          .platform = request->platform,
                          .is_json = request->json,
                          .out = stdout};
    for (const MerInspectorClass *const *type = mer_inspectors(); *type; type++) {
        if ((*type)->flag || !mer_path_has_ending(request->input, (*type)->endings)) {
            continue;
        }
        MerStatus status = read_whole(&file, &error);
        if (status == MER_OK && !(*type)->probe(&file)) {
            continue;
        }
        return status == MER_OK && (*type)->print(&file, &error) == MER_OK ? MER_EXIT_DONE
                                                                           : mer_cli_fail(&error);
    }
    return MER_EXIT_OTHER;
}

/* A name that is no file may be a platform with a slip in it. */
static const char *nearest_platform(const char *input, MerArena *arena)
{
    const char **names;
    bool         is_name = !strchr(input, '/') && !strchr(input, '.');
    int          count = mer_data_list("platforms", ".yaml", arena, &names, NULL);
    return is_name ? mer_name_nearest(input, names, count) : NULL;
}

static int parse(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                 Request *request)
{
    MerDimBinding   *dims = MER_ARRAY(arena, MerDimBinding, count + 1);
    const char      *dim = NULL;
    const MerCliFlag flags[] = {{"json", &request->json, NULL},
                                {"help", &request->is_help, NULL},
                                {"dim", NULL, &dim},
                                {"select", NULL, &request->import.select},
                                {"platform", NULL, &request->platform},
                                {0}};
    request->import.dims = dims;
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        int         code = mer_cli_take(verb, flags, count, arguments, &i);
        if (code == MER_EXIT_USAGE) {
            return code;
        }
        if (dim && !mer_experiment_dim(dim, &dims[request->import.dim_count++], arena)) {
            return mer_cli_usage(verb, "--dim is \"%s\", expected NAME=SIZE", dim);
        }
        dim = NULL;
        if (code == MER_EXIT_OTHER && ((argument[0] == '-' && argument[1]) || request->input)) {
            return mer_cli_usage(verb, "unexpected argument %s", argument);
        }
        request->input = code == MER_EXIT_OTHER ? argument : request->input;
    }
    return request->input || request->is_help
               ? MER_EXIT_DONE
               : mer_cli_usage(verb, "inspect needs a model, a platform or a file");
}

int mer_cli_inspect(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Request   request = {0};
    MerError  error = {0};
    MerGraph *graph;
    int       code = parse(verb, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        mer_print_lines(
            stdout,
            "usage: mercator inspect MODEL|PLATFORM|FILE [--json] [--dim NAME=SIZE ...] "
            "[--select NETWORK] [--platform P]\n\n"
            "A model: its layers, loop extents, MACs and parameters. A platform: its resolved "
            "form.\n"
            "What comes through a pipe (-, /dev/stdin) is a model.\n",
            0);
        for (const MerInspectorClass *const *type = mer_inspectors(); *type; type++) {
            if (!(*type)->flag) {
                mer_print_lines(
                    stdout,
                    mer_arena_format(arena,
                                     "A file .%s: %s; --platform says which machine it is for.",
                                     (*type)->endings, (*type)->summary),
                    0);
            }
        }
        return MER_EXIT_DONE;
    }
    code = inspect_file(&request, arena);
    if (code != MER_EXIT_OTHER) {
        return code;
    }
    if (request.platform) {
        return mer_cli_usage(verb, "--platform goes with a file that was made for a machine");
    }
    if (is_platform(request.input, arena)) {
        return inspect_platform(&request, arena);
    }
    if (mer_graph_import(request.input, &request.import, arena, &graph, &error) != MER_OK) {
        const char *platform = nearest_platform(request.input, arena);
        if (platform && !strstr(error.message, "did you mean")) {
            mer_error_set(&error, error.status, "%s; did you mean the platform %s", error.message,
                          platform);
        }
        return mer_cli_fail(&error);
    }
    for (int w = 0; w < graph->warning_count; w++) {
        fprintf(stderr, "mercator: warning: %s: %s\n", graph->name, graph->warnings[w]);
    }
    if (request.json) {
        print_json(graph);
    } else {
        print_text(graph, arena);
    }
    return MER_EXIT_DONE;
}
