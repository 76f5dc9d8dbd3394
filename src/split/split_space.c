/* The space of splits, by counts or by channels.
 *
 * By counts: one ordered knob per searchable layer and option but the last. Knob o says how many of the channels that options before it
 * left go to option o, in parts of c_out, so that every point is legal. By channels: one category knob per channel of a searchable
 * layer, or, tied, per channel of a class of layers that share their order. */
#include "split/split_parts.h"

#include <string.h>

/* The layer whose knobs decide for `l`: with ties the first searchable layer of its class with as many channels and options. */
int mer_split_owner(const MerSplit *split, int l)
{
    const MerSplitLayer *layer = &split->layers[l];
    for (int k = 0; split->is_tied && k < l; k++) {
        const MerSplitLayer *other = &split->layers[k];
        if (other->is_searchable && other->tie == layer->tie && other->c_out == layer->c_out &&
            other->option_count == layer->option_count) {
            return k;
        }
    }
    return l;
}

static int knobs_of(const MerSplit *split, int l)
{
    const MerSplitLayer *layer = &split->layers[l];
    return !layer->is_searchable || mer_split_owner(split, l) != l ? 0
           : split->is_by_channel && !layer->is_ordered            ? layer->c_out
                                                                   : layer->option_count - 1;
}

static bool has_count_knobs(const MerSplit *split, const MerSplitLayer *layer)
{
    return !split->is_by_channel || layer->is_ordered;
}

static MerKnob *add_count_knobs(const MerSplitLayer *layer, int l, MerKnob *knob, MerArena *arena)
{
    for (int o = 0; o < layer->option_count - 1; o++) {
        *knob++ = (MerKnob){
            .name = mer_arena_format(arena, "channels.%s.%s", layer->name, layer->options[o].name),
            .kind = MER_KNOB_ORDERED,
            .role = MER_ROLE_CHANNELS,
            .level = -1,
            .dim = -1,
            .op = l,
            .choices = layer->c_out + 1};
    }
    return knob;
}

static MerKnob *add_channel_knobs(const MerSplitLayer *layer, int l, MerKnob *knob, MerArena *arena)
{
    for (int c = 0; c < layer->c_out; c++) {
        *knob++ = (MerKnob){.name = mer_arena_format(arena, "channels.%s.%d", layer->name, c),
                            .kind = MER_KNOB_CATEGORY,
                            .role = MER_ROLE_CHANNELS,
                            .level = -1,
                            .dim = -1,
                            .op = l,
                            .choices = layer->option_count};
    }
    return knob;
}

MerSpace mer_split_space(const MerSplit *split, MerArena *arena)
{
    int count = 0;
    for (int l = 0; l < split->layer_count; l++) {
        count += knobs_of(split, l);
    }
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, count + 1), *next = knobs;
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        if (knobs_of(split, l) > 0) {
            next = has_count_knobs(split, layer) ? add_count_knobs(layer, l, next, arena)
                                                 : add_channel_knobs(layer, l, next, arena);
        }
    }
    if (count == 0) { /* nothing to decide: a knob with one choice says so */
        const MerSplitLayer *layer = &split->layers[0];
        *next = (MerKnob){.name = mer_arena_format(arena, "channels.%s.%s", layer->name,
                                                   layer->options[layer->fixed].name),
                          .kind = MER_KNOB_ORDERED,
                          .role = MER_ROLE_CHANNELS,
                          .level = -1,
                          .dim = -1,
                          .choices = 1};
    }
    return (MerSpace){.knob_count = count > 0 ? count : 1, .knobs = knobs};
}

/* Successive shares of what is left. */
static void decode_counts(const MerSplitLayer *layer, const MerIndex *point, int *counts)
{
    int left = layer->c_out;
    for (int o = 0; o < layer->option_count - 1; o++) {
        counts[o] = (int)(((int64_t)left * point[o] + layer->c_out / 2) / layer->c_out);
        left -= counts[o];
    }
    counts[layer->option_count - 1] = left;
}

static void encode_counts(const MerSplitLayer *layer, const int *counts, MerIndex *point)
{
    int left = layer->c_out;
    for (int o = 0; o < layer->option_count - 1; o++) {
        /* the rounding above gives the same count back: a share of the rest in parts of c_out is at least as fine */
        point[o] = left > 0 ? (int)(((int64_t)counts[o] * layer->c_out + left / 2) / left) : 0;
        left -= counts[o];
    }
}

static void decode_layer(const MerSplit *split, int l, const MerIndex *point, MerSplitPlan *plan)
{
    const MerSplitLayer *layer = &split->layers[l];
    int                 *counts = plan->counts + layer->option_start;
    unsigned char       *assignment = plan->assignment + layer->channel_start;
    memset(counts, 0, (size_t)layer->option_count * sizeof *counts);
    if (has_count_knobs(split, layer)) {
        decode_counts(layer, point, counts);
        mer_split_assign_layer(layer, counts, assignment);
        return;
    }
    for (int c = 0; c < layer->c_out; c++) {
        assignment[c] = (unsigned char)point[c];
        counts[point[c]]++;
    }
}

void mer_split_decode(const MerSplit *split, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    MerSplitPlan *made = mer_split_new_plan(split, plan, arena);
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        int                  owner = layer->is_searchable ? mer_split_owner(split, l) : l;
        if (owner != l) {
            const MerSplitLayer *from = &split->layers[owner];
            memcpy(made->counts + layer->option_start, made->counts + from->option_start,
                   (size_t)layer->option_count * sizeof(int));
            memcpy(made->assignment + layer->channel_start, made->assignment + from->channel_start,
                   (size_t)layer->c_out);
        } else if (layer->is_searchable) {
            decode_layer(split, l, point, made);
            point += knobs_of(split, l);
        }
    }
}

/* A point that decodes to the plan, if there is one. */
bool mer_split_encode(const MerSplit *split, const MerSplitPlan *plan, MerIndex *point)
{
    MerIndex *next = point;
    point[0] = 0; /* of a space without decisions */
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        const int           *counts = plan->counts + layer->option_start;
        const unsigned char *assignment = plan->assignment + layer->channel_start;
        if (knobs_of(split, l) == 0) {
            continue;
        }
        if (has_count_knobs(split, layer)) {
            encode_counts(layer, counts, next);
        } else {
            for (int c = 0; c < layer->c_out; c++) {
                next[c] = assignment[c];
            }
        }
        next += knobs_of(split, l);
    }
    MerArena *arena = mer_arena_new();
    MerPlan   again;
    mer_split_decode(split, point, &again, arena);
    const MerSplitPlan *made = mer_split_plan(&again);
    bool same = memcmp(made->counts, plan->counts, (size_t)plan->option_count * sizeof(int)) == 0 &&
                memcmp(made->assignment, plan->assignment, (size_t)plan->channel_count) == 0;
    mer_arena_free(arena);
    return same;
}
