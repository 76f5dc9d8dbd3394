/* Plans of kind "split" as `split.yaml` keeps them and as people read them. */
#include "split/split_parts.h"

#include "base/yaml_need.h"
#include "mercator/evaluator.h"
#include "mercator/option.h"
#include "mercator/text.h"

#include <string.h>

MerSplitPlan *mer_split_new_plan(const MerSplit *split, MerPlan *plan, MerArena *arena)
{
    MerSplitPlan *made = MER_NEW(arena, MerSplitPlan);
    *made = (MerSplitPlan){.layer_count = split->layer_count,
                           .option_count = split->option_count,
                           .channel_count = split->channel_count,
                           .counts = MER_ARRAY(arena, int, split->option_count + 1),
                           .assignment = MER_ARRAY(arena, unsigned char, split->channel_count + 1)};
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        int                  option = layer->fixed >= 0 ? layer->fixed : layer->reference;
        made->counts[layer->option_start + option] = layer->c_out;
        memset(made->assignment + layer->channel_start, option, (size_t)layer->c_out);
    }
    *plan = (MerPlan){&mer_plan_split, made};
    return made;
}

/* Fine formats get the most sensitive channels. Where a depthwise option stands in, options follow each other in their own order. */
void mer_split_assign_layer(const MerSplitLayer *layer, const int *counts,
                            unsigned char *assignment)
{
    int order[MER_SPLIT_MAX_OPTIONS], next = 0;
    mer_split_by_precision(layer, order);
    for (int i = 0; i < layer->option_count; i++) {
        int o = layer->is_ordered ? i : order[i];
        for (int k = 0; k < counts[o]; k++, next++) {
            assignment[layer->is_ordered ? next : layer->ranking[next]] = (unsigned char)o;
        }
    }
}

void mer_split_assign(const MerSplit *split, MerSplitPlan *plan)
{
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        mer_split_assign_layer(layer, plan->counts + layer->option_start,
                               plan->assignment + layer->channel_start);
    }
}

void mer_split_count(const MerSplit *split, MerSplitPlan *plan)
{
    memset(plan->counts, 0, (size_t)plan->option_count * sizeof(int));
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        for (int c = 0; c < layer->c_out; c++) {
            plan->counts[layer->option_start + plan->assignment[layer->channel_start + c]]++;
        }
    }
}

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const MerSplitPlan *split = mer_split_plan(plan);
    hash = mer_hash_bytes(hash, split->counts, (size_t)split->option_count * sizeof(int));
    return mer_hash_bytes(hash, split->assignment, (size_t)split->channel_count);
}

/* Runs of equal options as "digital*12". */
static void write_assignment(const MerSplitLayer *layer, const unsigned char *assignment,
                             MerJson *json)
{
    char text[200];
    mer_json_array(json, "assignment");
    for (int c = 0, end; c < layer->c_out; c = end) {
        for (end = c; end < layer->c_out && assignment[end] == assignment[c]; end++) {
        }
        snprintf(text, sizeof text, "%s*%d", layer->options[assignment[c]].name, end - c);
        mer_json_text(json, NULL, text);
    }
    mer_json_end_array(json);
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const MerSplit     *split = mer_split_of(problem);
    const MerSplitPlan *content = mer_split_plan(plan);
    mer_json_array(json, "ops");
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        mer_json_object(json, NULL);
        mer_json_text(json, "name", layer->name);
        mer_json_object(json, "channels");
        for (int o = 0; o < layer->option_count; o++) {
            mer_json_int(json, layer->options[o].name, content->counts[layer->option_start + o]);
        }
        mer_json_end_object(json);
        write_assignment(layer, content->assignment + layer->channel_start, json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static MerStatus read_counts(const MerSplitLayer *layer, MerYaml *map, int *counts, MerError *error)
{
    int sum = 0;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int o = 0; o < layer->option_count; o++) {
        int64_t count = 0;
        MER_TRY(mer_yaml_get_int(map, layer->options[o].name, 0, layer->c_out, &count, error));
        counts[o] = (int)count;
        sum += (int)count;
    }
    MER_TRY(mer_yaml_finish(map, error));
    return sum == layer->c_out
               ? MER_OK
               : mer_yaml_error(map, error, "%s has %d channels, expected the %d of layer %s",
                                map->path, sum, layer->c_out, layer->name);
}

/* "digital*12" or "digital": an option and how often. */
static MerStatus read_run(const MerSplitLayer *layer, const MerYaml *node, int *option, int *count,
                          MerError *error)
{
    const char *text;
    MER_TRY(mer_yaml_text(node, &text, error));
    const char *star = strrchr(text, '*');
    size_t      length = star ? (size_t)(star - text) : strlen(text);
    int64_t     number = 1;
    if (star && (!mer_parse_int(star + 1, &number) || number < 1 || number > layer->c_out)) {
        return mer_yaml_expected(node, error, "OPTION*COUNT, 1 to %d channels", layer->c_out);
    }
    for (int o = 0; o < layer->option_count; o++) {
        const char *name = layer->options[o].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *option = o;
            *count = (int)number;
            return MER_OK;
        }
    }
    return mer_yaml_expected(node, error, "an option of layer %s", layer->name);
}

static MerStatus read_assignment(const MerSplitLayer *layer, const MerYaml *list, const int *counts,
                                 unsigned char *assignment, MerError *error)
{
    int next = 0, seen[MER_SPLIT_MAX_OPTIONS] = {0};
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        int option = 0, count = 0;
        MER_TRY(read_run(layer, list->items[i], &option, &count, error));
        if (count > layer->c_out - next) {
            return mer_yaml_expected(list->items[i], error, "%d channels in all", layer->c_out);
        }
        memset(assignment + next, option, (size_t)count);
        next += count;
        seen[option] += count;
    }
    return memcmp(seen, counts, (size_t)layer->option_count * sizeof(int)) == 0
               ? MER_OK
               : mer_yaml_error(list, error, "%s does not agree with channels of layer %s",
                                list->path, layer->name);
}

int mer_split_layer_named(const MerSplit *split, const char *name)
{
    for (int l = 0; l < split->layer_count; l++) {
        if (strcmp(split->layers[l].name, name) == 0) {
            return l;
        }
    }
    return -1;
}

static MerStatus read_layer(const MerSplit *split, MerYaml *map, MerSplitPlan *plan, bool *is_read,
                            MerError *error)
{
    MerYaml    *node, *channels;
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
    int                 *counts = plan->counts + layer->option_start;
    unsigned char       *assignment = plan->assignment + layer->channel_start;
    is_read[l] = true;
    MER_TRY(mer_yaml_need(map, "channels", &channels, error));
    MER_TRY(read_counts(layer, channels, counts, error));
    mer_split_assign_layer(layer, counts, assignment);
    if ((node = mer_yaml_get(map, "assignment")) != NULL) {
        MER_TRY(read_assignment(layer, node, counts, assignment, error));
    }
    mer_yaml_get(map, "scales");
    mer_yaml_get(map, "shifts");
    return mer_yaml_finish(map, error);
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
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
    for (int l = 0; l < split->layer_count; l++) {
        if (!is_read[l]) {
            return mer_yaml_error(list, error,
                                  "ops has %d of %d layers, expected all of them; %s is missing",
                                  list->count, split->layer_count, split->layers[l].name);
        }
    }
    return MER_OK;
}

/* One line per layer: channels of every option, and what the layer takes, unless somebody else prices. */
static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerSplit     *split = mer_split_of(problem);
    const MerSplitPlan *content = mer_split_plan(plan);
    const MerEvaluator *inner = problem->inner;
    bool        is_other = inner && !(inner->type->rules && inner->type->rules(inner->state));
    const char *text =
        is_other ? "channels of every layer:\n" : "channels of every layer, and what it takes:\n";
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        const int           *counts = content->counts + layer->option_start;
        MerSplitPrice        price = mer_split_layer_cost(split, l, counts);
        text = mer_arena_format(arena, "%s%-20s", text, layer->name);
        for (int o = 0; o < layer->option_count; o++) {
            text = mer_arena_format(arena, "%s %s %4d%s", text, layer->options[o].name, counts[o],
                                    layer->options[o].is_estimated ? " (estimated)" : "");
        }
        text = is_other ? mer_arena_format(arena, "%s\n", text)
                        : mer_arena_format(arena, "%s, %.8g cycles\n", text, price.cycles);
    }
    return text;
}

const MerPlanKind mer_plan_split = {
    .name = "split",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};
