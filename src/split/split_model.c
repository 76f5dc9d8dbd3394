/* The opened problem: layers of the graph, options of the platform for each, what the user pinned, and what weights lose. */
#include "split/split_parts.h"

#include "import/network_weights.h"
#include "mercator/option.h"

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mer_split_remark(MerSplitRemarks *remarks, const char *format, ...)
{
    char    line[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *before = remarks->text ? remarks->text : "";
    if (!strstr(before, line)) {
        remarks->text = mer_arena_format(remarks->arena, "%s%s\n", before, line);
    }
}

/* Elements of (c_out, c_in / groups, k_h, k_w) where the value has just that many, in that order. A product's weights are stored by
 * input, so that they are turned round. */
static const float *weights_of(const MerGraph *graph, const MerNetworkWeights *weights,
                               const MerSplitLayer *layer, MerArena *arena)
{
    const MerOp *op = &graph->ops[layer->op];
    int64_t      count = layer->weights * layer->c_out;
    for (int i = 1; weights && i < op->input_count && layer->pair_op < 0; i++) {
        const MerValue *value = &graph->values[op->inputs[i]];
        const float    *data = weights->values[op->inputs[i]];
        if (!data || value->elements != count || value->rank < 2) {
            continue;
        }
        if (op->kind != MER_OP_GEMM || value->dims[0] == layer->c_out) {
            return data;
        }
        float *turned = MER_ARRAY(arena, float, count);
        for (int64_t c = 0; c < layer->c_out; c++) {
            for (int64_t j = 0; j < layer->weights; j++) {
                turned[c * layer->weights + j] = data[j * layer->c_out + c];
            }
        }
        return turned;
    }
    return NULL;
}

const float *mer_split_layer_weights(const MerSplit *split, int layer)
{
    return split->layers[layer].data;
}

/* The option that a pin means: by its own name, else the first of the unit. */
static int option_named(const MerPlatform *platform, const MerSplitLayer *layer, const char *name)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int o = 0; o < layer->option_count; o++) {
            const MerSplitOption *option = &layer->options[o];
            if (mer_name_equal(pass ? platform->units[option->unit].name : option->name, name)) {
                return o;
            }
        }
    }
    return -1;
}

/* Of the unit with that name; NULL: there is none. */
static const char *refusal_of(const MerPlatform *platform, const MerSplitLayer *layer,
                              const char *name)
{
    const char *refusal = NULL;
    for (int u = 0; u < platform->unit_count; u++) {
        refusal = mer_name_equal(platform->units[u].name, name) ? layer->refusals[u] : refusal;
    }
    return refusal;
}

/* `REGEX=OPTION`: all channels of the layers that match go there. */
static MerStatus apply_pin(const MerPlatform *platform, const char *pin, MerSplitLayer *layers,
                           int count, MerError *error)
{
    const char *equals = strrchr(pin, '=');
    char        pattern[512];
    regex_t     regex;
    int         matched = 0;
    MerStatus   status = MER_OK;
    if (!equals || equals == pin || (size_t)(equals - pin) >= sizeof pattern) {
        return mer_error_set(error, MER_INVALID, "pin is \"%s\", expected REGEX=UNIT", pin);
    }
    memcpy(pattern, pin, (size_t)(equals - pin));
    pattern[equals - pin] = '\0';
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        return mer_error_set(error, MER_INVALID,
                             "pin \"%s\": \"%s\" is no extended regular expression", pin, pattern);
    }
    for (int l = 0; l < count && status == MER_OK; l++) {
        if (regexec(&regex, layers[l].name, 0, NULL, 0) == 0) {
            matched++;
            layers[l].fixed = option_named(platform, &layers[l], equals + 1);
            if (layers[l].fixed < 0) {
                const char *why = refusal_of(platform, &layers[l], equals + 1);
                status = mer_error_set(error, MER_INVALID,
                                       "pin \"%s\": %s has no unit or option %s for layer %s%s%s",
                                       pin, platform->name, equals + 1, layers[l].name,
                                       why ? ": " : "", why ? why : "");
            }
        }
    }
    regfree(&regex);
    return status != MER_OK || matched > 0
               ? status
               : mer_error_set(error, MER_INVALID, "pin \"%s\" matches no layer", pin);
}

/* Could another option be as fast as the reference for some share of the channels (option `reduced`)? */
static bool pays_to_split(const MerSplitLayer *layer)
{
    const MerSplitOption *reference = &layer->options[layer->reference];
    for (int o = 0; o < layer->option_count; o++) {
        for (int ch = 1; o != layer->reference && ch <= layer->c_out; ch++) {
            if (layer->options[o].cycles[layer->c_out - ch] <= reference->cycles[ch]) {
                return true;
            }
        }
    }
    return false;
}

static MerStatus fix_layers(const MerProblem *problem, MerSplitLayer *layers, int count,
                            MerError *error)
{
    const MerSplitOptions *options = problem->options;
    for (int i = 0; i < options->pin.count; i++) {
        MER_TRY(apply_pin(problem->platform, options->pin.values[i], layers, count, error));
    }
    for (int l = 0; l < count; l++) {
        MerSplitLayer *layer = &layers[l];
        layer->fixed = layer->option_count == 1 ? 0 : layer->fixed;
        if (layer->fixed < 0 && options->reduced && !pays_to_split(layer)) {
            layer->fixed = layer->reference;
        }
        layer->is_searchable = layer->fixed < 0;
    }
    return MER_OK;
}

static void find_losses(MerSplit *split, MerSplitLayer *layers, MerArena *arena)
{
    int known = 0;
    split->weights = mer_network_weights(split->graph, arena);
    for (int l = 0; l < split->layer_count; l++) {
        MerSplitLayer *layer = &layers[l];
        layer->data = weights_of(split->graph, split->weights, layer, arena);
        mer_split_find_errors(layer, layer->data, (uint64_t)l + 1, arena);
        known += layer->data != NULL;
    }
    split->has_weights = known == split->layer_count;
}

MerStatus mer_split_open(const MerProblem *problem, MerSplit *split, MerSplitRemarks *remarks,
                         MerArena *arena, MerError *error)
{
    const MerSplitOptions *options = problem->options;
    const MerPlatform     *platform = problem->platform;
    bool                   replaces = options->operators == MER_SPLIT_REPLACE;
    MerSplitLayer         *layers;
    if (platform->unit_count > MER_SPLIT_MAX_UNITS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s has %d units, expected at most %d", platform->name,
                             platform->unit_count, MER_SPLIT_MAX_UNITS);
    }
    *split = (MerSplit){
        .graph = problem->graph,
        .platform = platform,
        .unit_count = platform->unit_count,
        .clock_hz = platform->clock_hz,
        .is_by_channel = options->granularity == MER_SPLIT_BY_CHANNEL ||
                         (options->granularity == MER_SPLIT_AUTO && options->train.dataset != NULL),
        .is_tied = options->tie};
    remarks->arena = arena;
    MER_TRY(mer_split_find_layers(problem->graph,
                                  replaces && mer_split_has_depthwise_engine(platform), &layers,
                                  &split->layer_count, remarks, arena, error));
    split->power_mw = mer_split_power(platform, remarks, arena);
    for (int l = 0; l < split->layer_count; l++) {
        layers[l].channel_start = split->channel_count;
        layers[l].option_start = split->option_count;
        MER_TRY(mer_split_find_options(platform, &layers[l], replaces, remarks, arena, error));
        split->channel_count += layers[l].c_out;
        split->option_count += layers[l].option_count;
    }
    mer_split_find_ties(problem->graph, layers, split->layer_count, arena);
    MER_TRY(fix_layers(problem, layers, split->layer_count, error));
    split->layers = layers;
    find_losses(split, layers, arena);
    return MER_OK;
}
