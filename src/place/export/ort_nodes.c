/* Exporters for ONNX Runtime, whose providers claim nodes in the order of a list and know no costs. `ort_nodes`: the provider
 * of each node. `ort_islands`: connected nodes that an accelerator could run and should not, because copying their inputs
 * and outputs takes longer than it saves (docs/placement.md, "Files for other tools"). */
#include "place/export/place_export.h"

#include <string.h>

/* A class may be named as the provider itself; otherwise the usual one for such hardware. */
static const char *provider_of(const MerPlace *place, int unit)
{
    static const char *const known[][2] = {{"npu", "QNNExecutionProvider"},
                                           {"fpga", "VitisAIExecutionProvider"},
                                           {"openvino", "OpenVINOExecutionProvider"},
                                           {"coreml", "CoreMLExecutionProvider"},
                                           {"rocm", "ROCMExecutionProvider"}};
    const char              *name = mer_placement_class(place, unit);
    if (place->is_host[unit]) {
        return "CPUExecutionProvider";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(name, known[i][0], strlen(known[i][0])) == 0) {
            return known[i][1];
        }
    }
    return strstr(name, "ExecutionProvider") ? name : "CUDAExecutionProvider";
}

static void write_provider(const MerPlace *place, int unit, MerJson *json)
{
    mer_json_text(json, "provider", provider_of(place, unit));
    if (!place->is_host[unit]) { /* number among the units of its provider */
        int number = 0;
        for (int u = 0; u < unit; u++) {
            number += strcmp(provider_of(place, u), provider_of(place, unit)) == 0;
        }
        mer_json_int(json, "device_id", number);
    }
}

static void finish(MerJson *json, const char *name, MerExportFiles *files)
{
    mer_json_end_array(json);
    mer_export_add(files, name, json->text, json->size);
    mer_json_free(json);
}

static MerStatus write_nodes(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerPlacement placement = mer_placement(what, files);
    MerJson      json = {0};
    (void)error;
    mer_json_array(&json, NULL);
    for (int o = 0; o < placement.place->op_count; o++) {
        mer_json_object(&json, NULL);
        mer_json_text(&json, "node", placement.place->names[o]);
        write_provider(placement.place, placement.plan->unit[o], &json);
        mer_json_end_object(&json);
    }
    finish(&json, "ort_nodes.json", files);
    return MER_OK;
}

const MerExporterClass mer_exporter_ort_nodes = {
    .name = "ort_nodes",
    .summary = "ort_nodes.json: the execution provider of each node, for ONNX Runtime",
    .problem = "place",
    .write = write_nodes,
};

typedef struct Island {
    int   *ops; /* connected, on one unit of the plan */
    int    count;
    int    host, accelerator;
    double saved_us, copies_us;
} Island;

typedef struct Islands {
    const MerPlace     *place;
    const MerGraphPlan *plan;
    int                *mark; /* operators of the island are marked with its number */
    int                 number;
    int                *counted, stamp;
} Islands;

/* Could some accelerator claim it? */
static bool is_claimable(const MerPlace *place, int op)
{
    const double *time = place->time_us + (size_t)op * (size_t)place->unit_count;
    for (int u = 0; u < place->unit_count; u++) {
        if (!place->is_host[u] && time[u] < INFINITY) {
            return true;
        }
    }
    return false;
}

/* The operators around `first` on the same unit that could be claimed. */
static void flood(Islands *all, int first, Island *island)
{
    const MerPlace *place = all->place;
    island->count = 0;
    island->ops[island->count++] = first;
    all->mark[first] = ++all->number;
    for (int i = 0; i < island->count; i++) {
        int        o = island->ops[i];
        const int *lists[2] = {place->after, place->before},
                  *starts[2] = {place->after_start, place->before_start};
        for (int side = 0; side < 2; side++) {
            for (int k = starts[side][o]; k < starts[side][o + 1]; k++) {
                int other = lists[side][k];
                if (all->mark[other] == 0 && all->plan->unit[other] == all->plan->unit[o] &&
                    is_claimable(place, other)) {
                    all->mark[other] = all->number;
                    island->ops[island->count++] = other;
                }
            }
        }
    }
}

/* Copies of an operator's result to the units that read it, once each, with the island on `unit`. */
static double copies_of(const Islands *all, int op, int unit, int *seen)
{
    const MerPlace *place = all->place;
    double          sum = 0;
    int             from = all->mark[op] == all->number ? unit : all->plan->unit[op];
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int reader = place->after[i];
        int to = all->mark[reader] == all->number ? unit : all->plan->unit[reader];
        if (seen[to] != op + 1) {
            seen[to] = op + 1;
            sum += mer_place_transfer(place, op, from, to);
        }
    }
    return sum;
}

/* All copies of results that the island makes or reads, with the island on `unit`. */
static double copies_on(Islands *all, const Island *island, int unit, MerArena *arena)
{
    const MerPlace *place = all->place;
    int            *seen = MER_ARRAY(arena, int, place->unit_count);
    double          sum = 0;
    all->stamp++;
    for (int i = 0; i < island->count; i++) {
        int o = island->ops[i];
        sum += copies_of(all, o, unit, seen);
        for (int k = place->before_start[o]; k < place->before_start[o + 1]; k++) {
            int producer = place->before[k];
            if (all->mark[producer] != all->number && all->counted[producer] != all->stamp) {
                all->counted[producer] = all->stamp;
                sum += copies_of(all, producer, unit, seen);
            }
        }
    }
    return sum;
}

/* The unit of the other kind that holds most of an island's neighbours; without any, the first; -1: there is none. */
static int nearest_unit(const Islands *all, const Island *island, bool is_host, MerArena *arena)
{
    const MerPlace *place = all->place;
    int            *near = MER_ARRAY(arena, int, place->unit_count), best = -1;
    for (int i = 0; i < island->count; i++) {
        int o = island->ops[i];
        for (int k = place->before_start[o]; k < place->before_start[o + 1]; k++) {
            near[all->plan->unit[place->before[k]]]++;
        }
        for (int k = place->after_start[o]; k < place->after_start[o + 1]; k++) {
            near[all->plan->unit[place->after[k]]]++;
        }
    }
    for (int u = 0; u < place->unit_count; u++) {
        if (place->is_host[u] == is_host && (best < 0 || near[u] > near[best])) {
            best = u;
        }
    }
    return best;
}

/* What claiming the island saves, and what its copies cost more. true: it is not worth that. */
static bool price(Islands *all, Island *island, MerArena *arena)
{
    const MerPlace *place = all->place;
    int             own = all->plan->unit[island->ops[0]];
    int             other = nearest_unit(all, island, !place->is_host[own], arena);
    island->host = place->is_host[own] ? own : other;
    island->accelerator = place->is_host[own] ? other : own;
    if (other < 0) {
        return false;
    }
    island->saved_us = 0;
    for (int i = 0; i < island->count; i++) {
        const double *time = place->time_us + (size_t)island->ops[i] * (size_t)place->unit_count;
        island->saved_us += time[island->host] - time[island->accelerator];
    }
    island->copies_us = copies_on(all, island, island->accelerator, arena) -
                        copies_on(all, island, island->host, arena);
    return isfinite(island->saved_us) && island->copies_us >= island->saved_us;
}

static void write_island(const Islands *all, const Island *island, MerJson *json)
{
    mer_json_object(json, NULL);
    write_provider(all->place, island->accelerator, json);
    mer_json_real(json, "copies_s", 1e-6 * island->copies_us);
    mer_json_real(json, "saved_s", 1e-6 * island->saved_us);
    mer_json_bool(json, "is_claimed", !all->place->is_host[all->plan->unit[island->ops[0]]]);
    mer_json_array(json, "nodes");
    for (int i = 0; i < island->count; i++) {
        mer_json_text(json, NULL, all->place->names[island->ops[i]]);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

static MerStatus write_islands(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerPlacement placement = mer_placement(what, files);
    int          count = placement.place->op_count;
    Islands      all = {.place = placement.place,
                        .plan = placement.plan,
                        .mark = MER_ARRAY(files->arena, int, count),
                        .counted = MER_ARRAY(files->arena, int, count)};
    Island       island = {.ops = MER_ARRAY(files->arena, int, count)};
    MerArena    *scratch = mer_arena_new();
    MerJson      json = {0};
    (void)error;
    mer_json_array(&json, NULL);
    for (int o = 0; o < count; o++) {
        if (all.mark[o] == 0 && is_claimable(all.place, o)) {
            flood(&all, o, &island);
            if (price(&all, &island, scratch)) {
                write_island(&all, &island, &json);
            }
            mer_arena_reset(scratch);
        }
    }
    mer_arena_free(scratch);
    finish(&json, "ort_islands.json", files);
    return MER_OK;
}

const MerExporterClass mer_exporter_ort_islands = {
    .name = "ort_islands",
    .summary = "ort_islands.json: nodes not worth claiming for an accelerator, with what their "
               "copies cost and what they save",
    .problem = "place",
    .write = write_islands,
};
