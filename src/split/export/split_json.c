/* Exporters of splits: `split.json` for compilers (channels, ranges and order of every layer, with its prices; of a trained network
 * also its numbers), `split.csv` for tables. */
#include "split/export/deployment.h"

#include "base/csv_cell.h"
#include "base/option_json.h"
#include "base/yaml_need.h"
#include "mercator/import.h"
#include "split/split_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 2 }; /* of split.json; 1 has one `range` per option, and no trained networks */

static const MerSplitRules *rules_of(const MerExportTask *task)
{
    static const MerSplitRules none;
    const void                *rules =
        task->evaluator->type->rules ? task->evaluator->type->rules(task->evaluator->state) : NULL;
    return rules ? rules : &none;
}

/* Output channels in the order that makes those of each option neighbours, stable inside an option. */
static void order_channels(const MerSplitLayer *layer, const unsigned char *assignment, int *order)
{
    int next = 0;
    for (int o = 0; o < layer->option_count; o++) {
        for (int c = 0; c < layer->c_out; c++) {
            if (assignment[c] == o) {
                order[next++] = c;
            }
        }
    }
}

/* Neighbouring channels in the order of `permutation`; of a trained network as they run. */
static void write_ranges(const MerIntegerNode *node, int option, int first, int count,
                         MerJson *json)
{
    mer_json_array(json, "ranges");
    for (int p = 0; node && p < node->part_count; p++) {
        const MerIntegerPart *part = &node->parts[p];
        if (part->option == option) {
            mer_json_ints(json, NULL, (int[]){part->first, part->first + part->count}, 2);
        }
    }
    if (!node && count > 0) {
        mer_json_ints(json, NULL, (int[]){first, first + count}, 2);
    }
    mer_json_end_array(json);
}

static void write_options(const MerSplit *split, const MerSplitLayer *layer, const int *counts,
                          const MerIntegerNode *node, MerJson *json)
{
    int first = 0;
    mer_json_array(json, "options");
    for (int o = 0; o < layer->option_count; o++) {
        const MerSplitOption *option = &layer->options[o];
        mer_json_object(json, NULL);
        mer_json_text(json, "name", option->name);
        mer_json_text(json, "unit", split->platform->units[option->unit].name);
        mer_json_text(json, "weights", option->weights);
        mer_json_int(json, "channels", counts[o]);
        write_ranges(node, o, first, counts[o], json);
        mer_json_real(json, "cycles", option->cycles[counts[o]]);
        if (option->is_estimated) {
            mer_json_bool(json, "estimated", true);
        }
        mer_json_end_object(json);
        first += counts[o];
    }
    mer_json_end_array(json);
}

static const MerIntegerNode *node_of(const MerIntegerNet *net, int layer)
{
    for (int n = 0; net && n < net->node_count; n++) {
        if (net->nodes[n].layer == layer) {
            return &net->nodes[n];
        }
    }
    return NULL;
}

typedef struct Writer {
    const MerSplit      *split;
    const MerSplitRules *rules;
    const MerSplitPlan  *plan;
    const MerIntegerNet *net; /* NULL: nothing was trained */
    MerArena            *arena;
    MerJson             *json;
} Writer;

static void write_layer(const Writer *w, int l)
{
    const MerSplitLayer  *layer = &w->split->layers[l];
    const int            *counts = w->plan->counts + layer->option_start;
    MerSplitPrice         price = mer_split_layer_price(w->split, w->rules, l, counts);
    const MerIntegerNode *node = node_of(w->net, l);
    int                  *order = MER_ARRAY(w->arena, int, layer->c_out);
    double                bytes[MER_SPLIT_MAX_UNITS];
    order_channels(layer, w->plan->assignment + layer->channel_start, order);
    mer_split_weight_bytes(layer, counts, bytes);
    mer_json_object(w->json, NULL);
    mer_json_text(w->json, "name", layer->name);
    mer_json_int(w->json, "c_in", layer->c_in);
    mer_json_int(w->json, "c_out", layer->c_out);
    mer_json_ints(w->json, "kernel", (int[]){layer->k_h, layer->k_w}, 2);
    mer_json_ints(w->json, "output", (int[]){layer->o_h, layer->o_w}, 2);
    write_options(w->split, layer, counts, node, w->json);
    mer_json_ints(w->json, "permutation", node ? w->net->order[node->out] : order, layer->c_out);
    mer_json_real(w->json, "cycles", price.cycles);
    mer_json_real(w->json, "energy_pj", price.energy_pj);
    mer_json_object(w->json, "weight_bytes");
    for (int u = 0; u < w->split->unit_count; u++) {
        mer_json_real(w->json, w->split->platform->units[u].name, bytes[u]);
    }
    mer_json_end_object(w->json);
    if (node) {
        mer_deployment_json_layer(w->net, node, w->arena, w->json);
    }
    mer_json_end_object(w->json);
}

void mer_split_write_json(const MerExport *what, const MerIntegerNet *net, const char *name,
                          MerExportFiles *files)
{
    const MerExportTask *task = &what->tasks[0];
    const MerSplit      *split = mer_split_of(task->problem);
    const MerGraph      *graph = task->problem->graph;
    MerJson              json = {0};
    Writer w = {split, rules_of(task), mer_split_plan(task->plan), net, files->arena, &json};
    mer_json_object(&json, NULL);
    mer_json_int(&json, "split_version", VERSION);
    mer_json_text(&json, "network", graph->path ? graph->path : graph->name);
    mer_json_text(&json, "platform", split->platform->name);
    mer_options_write(task->problem->type->options, task->problem->options, &json, "options");
    mer_json_text(&json, "evaluator", what->evaluator);
    mer_json_array(&json, "ops");
    for (int l = 0; l < split->layer_count; l++) {
        write_layer(&w, l);
    }
    mer_json_end_array(&json);
    if (net) {
        mer_deployment_json(net, files->arena, &json);
    }
    mer_json_end_object(&json);
    mer_export_add(files, name, json.text, json.size);
    mer_json_free(&json);
}

static MerStatus write_json(const MerExport *what, MerExportFiles *files, MerError *error)
{
    (void)error;
    mer_split_write_json(what, NULL, "split.json", files);
    return MER_OK;
}

const MerExporterClass mer_exporter_split_json = {
    .name = "split_json",
    .summary = "split.json: channels, ranges, order and prices of every layer",
    .problem = "split",
    .is_plan = true,
    .write = write_json,
};

static MerStatus write_csv(const MerExport *what, MerExportFiles *files, MerError *error)
{
    const MerExportTask *task = &what->tasks[0];
    const MerSplit      *split = mer_split_of(task->problem);
    const MerSplitPlan  *plan = mer_split_plan(task->plan);
    FILE                *file = mer_export_begin(files);
    if (file) {
        fprintf(file, "layer,option,unit,weights,channels,of,option_cycles,layer_cycles,layer_pj,"
                      "estimated\n");
        for (int l = 0; l < split->layer_count; l++) {
            const MerSplitLayer *layer = &split->layers[l];
            const int           *counts = plan->counts + layer->option_start;
            MerSplitPrice        price = mer_split_layer_price(split, rules_of(task), l, counts);
            for (int o = 0; o < layer->option_count; o++) {
                const MerSplitOption *option = &layer->options[o];
                const char           *unit = split->platform->units[option->unit].name;
                const char           *names[] = {layer->name, option->name, unit, option->weights};
                for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                    mer_csv_cell(file, names[i]);
                    fputc(',', file);
                }
                fprintf(file, "%d,%d,%.15g,%.15g,%.15g,%d\n", counts[o], layer->c_out,
                        option->cycles[counts[o]], price.cycles, price.energy_pj,
                        option->is_estimated);
            }
        }
    }
    return mer_export_end(files, file, "split.csv", error);
}

const MerExporterClass mer_exporter_split_csv = {
    .name = "split_csv",
    .summary = "split.csv: channels and cycles of every layer and option",
    .problem = "split",
    .is_default = true,
    .write = write_csv,
};

/* ---- split.json as a plan again */

static bool has_split(const MerReadPlans *plans)
{
    return plans->root && plans->root->kind == MER_YAML_MAP &&
           mer_yaml_get(plans->root, "split_version");
}

enum { NOBODY = 255 }; /* has the channel yet */

/* The channels of an option are `permutation[first .. end]`; `count` of them are added. */
static MerStatus read_range(const MerSplitLayer *layer, MerYaml *range, const MerYaml *order,
                            int option, unsigned char *assignment, int *count, MerError *error)
{
    int64_t from, to, channel;
    if (range->kind != MER_YAML_LIST || range->count != 2) {
        return mer_yaml_expected(range, error, "[first, end]");
    }
    MER_TRY(mer_yaml_int(range->items[0], 0, order->count, &from, error));
    MER_TRY(mer_yaml_int(range->items[1], from, order->count, &to, error));
    for (int64_t i = from; i < to; i++) {
        MER_TRY(mer_yaml_int(order->items[i], 0, layer->c_out - 1, &channel, error));
        if (assignment[channel] != NOBODY) {
            return mer_yaml_error(
                range, error, "channel %d of %s is in two ranges, expected every channel in one",
                (int)channel, layer->name);
        }
        assignment[channel] = (unsigned char)option;
    }
    *count += (int)(to - from);
    return MER_OK;
}

/* A number that follows from others: an edit that forgets one of them is no plan. */
static MerStatus check_number(MerYaml *map, const char *key, int wanted, const char *why,
                              MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    int64_t  value = wanted;
    if (node) {
        MER_TRY(mer_yaml_int(node, 0, INT_MAX, &value, error));
    }
    return value == wanted ? MER_OK : mer_yaml_expected(node, error, "%d, %s", wanted, why);
}

static MerStatus check_pair(MerYaml *map, const char *key, int first, int second, MerError *error)
{
    const MerYaml *node = mer_yaml_get(map, key);
    int64_t        found[2] = {first, second};
    if (node && (node->kind != MER_YAML_LIST || node->count != 2)) {
        return mer_yaml_expected(node, error, "[%d, %d]", first, second);
    }
    for (int i = 0; node && i < 2; i++) {
        MER_TRY(mer_yaml_int(node->items[i], 0, INT_MAX, &found[i], error));
    }
    return found[0] == first && found[1] == second
               ? MER_OK
               : mer_yaml_error(node, error,
                                "%s is [%d, %d], expected [%d, %d], as the network has", node->path,
                                (int)found[0], (int)found[1], first, second);
}

static MerStatus check_text(MerYaml *map, const char *key, const char *wanted, MerError *error)
{
    const char *text = wanted;
    MER_TRY(mer_yaml_get_text(map, key, &text, error));
    return strcmp(text, wanted) == 0 ? MER_OK
                                     : mer_yaml_expected(mer_yaml_get(map, key), error,
                                                         "%s, as the platform has", wanted);
}

static MerStatus read_option(const MerSplit *split, const MerSplitLayer *layer, MerYaml *map,
                             const MerYaml *order, unsigned char *assignment, MerError *error)
{
    MerYaml *node, *range;
    int      option = 0, count = 0;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(map, "name", &node, error));
    const char *names[MER_SPLIT_MAX_OPTIONS];
    for (int o = 0; o < layer->option_count; o++) {
        names[o] = layer->options[o].name;
    }
    MER_TRY(mer_yaml_word(node, names, layer->option_count, &option, error));
    MER_TRY(
        check_text(map, "unit", split->platform->units[layer->options[option].unit].name, error));
    MER_TRY(check_text(map, "weights", layer->options[option].weights, error));
    if ((range = mer_yaml_get(map, "range")) != NULL) { /* of version 1 */
        MER_TRY(read_range(layer, range, order, option, assignment, &count, error));
        return check_number(map, "channels", count, "as its range has", error);
    }
    MER_TRY(mer_yaml_need_kind(map, "ranges", MER_YAML_LIST, &node, error));
    for (int i = 0; i < node->count; i++) {
        MER_TRY(read_range(layer, node->items[i], order, option, assignment, &count, error));
    }
    return check_number(map, "channels", count, "as its ranges have", error);
}

/* Of a trained network: one whole number for each channel, in the order of `permutation`. */
static MerStatus check_channels(MerYaml *map, int channels, MerError *error)
{
    static const char *const keys[] = {"starts", "scales", "biases", "bias_shifts", "shifts", NULL};
    for (const char *const *key = keys; *key; key++) {
        MerYaml *list = mer_yaml_get(map, *key);
        if (list && (list->kind != MER_YAML_LIST || list->count != channels)) {
            return mer_yaml_expected(list, error, "%d numbers, one for each channel", channels);
        }
        for (int c = 0; list && c < channels; c++) {
            int64_t value;
            MER_TRY(mer_yaml_int(list->items[c], INT_MIN, INT_MAX, &value, error));
        }
    }
    return MER_OK;
}

/* Where operators differ, the first channels go to the first option: no plan says which ones. */
static MerStatus check_order(const MerSplitLayer *layer, const MerYaml *order,
                             const unsigned char *assignment, MerError *error)
{
    for (int c = 1; layer->is_ordered && c < layer->c_out; c++) {
        if (assignment[c] < assignment[c - 1]) {
            return mer_yaml_error(order, error,
                                  "channel %d of %s goes to %s and channel %d to %s, expected the "
                                  "first channels for %s",
                                  c - 1, layer->name, layer->options[assignment[c - 1]].name, c,
                                  layer->options[assignment[c]].name,
                                  layer->options[assignment[c]].name);
        }
    }
    return MER_OK;
}

static MerStatus read_layer(const MerSplit *split, MerYaml *map, MerSplitPlan *plan, bool *is_read,
                            MerError *error)
{
    MerYaml    *node, *list, *order;
    const char *name;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(map, "name", &node, error));
    MER_TRY(mer_yaml_text(node, &name, error));
    int l = mer_split_layer_named(split, name);
    if (l < 0 || is_read[l]) {
        return mer_yaml_expected(node, error, "%s",
                                 l < 0 ? "a layer of the network" : "every layer once");
    }
    const MerSplitLayer *layer = &split->layers[l];
    unsigned char       *assignment = plan->assignment + layer->channel_start;
    is_read[l] = true;
    MER_TRY(mer_yaml_need(map, "options", &list, error));
    MER_TRY(mer_yaml_need(map, "permutation", &order, error));
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    MER_TRY(mer_yaml_check_kind(order, MER_YAML_LIST, error));
    MER_TRY(check_number(map, "c_in", layer->c_in, "as the network has", error));
    MER_TRY(check_number(map, "c_out", layer->c_out, "as the network has", error));
    MER_TRY(check_pair(map, "kernel", layer->k_h, layer->k_w, error));
    MER_TRY(check_pair(map, "output", layer->o_h, layer->o_w, error));
    MER_TRY(check_channels(map, layer->c_out, error));
    if (order->count != layer->c_out) {
        return mer_yaml_error(order, error, "%s has %d channels, expected the %d of the layer",
                              order->path, order->count, layer->c_out);
    }
    memset(assignment, NOBODY, (size_t)layer->c_out);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_option(split, layer, list->items[i], order, assignment, error));
    }
    return memchr(assignment, NOBODY, (size_t)layer->c_out)
               ? mer_yaml_expected(order, error, "every channel of %d in one range", layer->c_out)
               : check_order(layer, order, assignment, error);
}

static MerStatus read_body(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    const MerSplit *split = mer_split_of(problem);
    MerSplitPlan   *made = mer_split_new_plan(split, plan, arena);
    bool           *is_read = MER_ARRAY(arena, bool, split->layer_count + 1);
    MerYaml        *list;
    MER_TRY(mer_yaml_need_kind(body, "ops", MER_YAML_LIST, &list, error));
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_layer(split, list->items[i], made, is_read, error));
    }
    if (list->count != split->layer_count) {
        return mer_yaml_error(list, error, "ops has %d items, expected the %d of the network",
                              list->count, split->layer_count);
    }
    mer_split_count(split, made);
    return MER_OK;
}

static MerStatus read_json(MerReadPlans *plans, MerError *error)
{
    const char *network, *platform;
    MerGraph   *graph;
    int64_t     version = VERSION;
    MER_TRY(mer_yaml_get_int(plans->root, "split_version", 1, VERSION, &version, error));
    MER_TRY(mer_yaml_need_text(plans->root, "network", &network, error));
    MER_TRY(mer_yaml_need_text(plans->root, "platform", &platform, error));
    mer_yaml_get(plans->root, "ops"); /* for read_body */
    mer_yaml_get(plans->root, "deployment");
    MER_TRY(mer_yaml_get_text(plans->root, "evaluator", &plans->own_evaluator, error));
    plans->own_options = mer_yaml_get(plans->root, "options");
    if (plans->own_options) {
        MER_TRY(mer_yaml_check_kind(plans->own_options, MER_YAML_MAP, error));
    }
    MER_TRY(mer_yaml_finish(plans->root, error));
    MER_TRY(mer_graph_import(plans->workload ? plans->workload : network, NULL, plans->arena,
                             &graph, error));
    plans->graph = graph;
    plans->own_platform = platform;
    plans->list = MER_ARRAY(plans->arena, MerReadPlan, 1);
    plans->count = 1;
    plans->list[0] = (MerReadPlan){.task = {.name = graph->name, .count = 1, .op = -1},
                                   .body = plans->root,
                                   .read = read_body};
    return MER_OK;
}

const MerPlanReaderClass mer_plan_reader_split_json = {
    .name = "split_json",
    .summary = "channels of every layer (split.json)",
    .problem = "split",
    .probe = has_split,
    .read = read_json,
};
