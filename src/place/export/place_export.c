#include "place/export/place_export.h"

MerPlacement mer_placement(const MerExport *what, MerExportFiles *files)
{
    return (MerPlacement){mer_place_of(what->tasks[0].problem), mer_graph_plan(what->tasks[0].plan),
                          files->arena};
}

int mer_placement_accelerator(const MerPlace *place, int unit)
{
    int before = 0;
    for (int u = 0; u < unit; u++) {
        before += !place->is_host[u];
    }
    return place->is_host[unit] ? -1 : before;
}

const char *mer_placement_class(const MerPlace *place, int unit)
{
    const char *name = place->platform->units[unit].class_name;
    return name ? name : place->unit_names[unit];
}

/* Numbers of a network that are trained: not the shapes and scalars that ONNX keeps as constants, too. */
static bool is_tensor(const MerValue *value)
{
    return value->role == MER_VALUE_WEIGHT && value->consumer_count > 0 && value->rank > 0 &&
           value->name[0] != '\0' && value->type != MER_TYPE_BOOL &&
           (mer_type_is_float(value->type) || mer_type_bits(value->type) <= 8);
}

MerPlacedTensor *mer_placement_tensors(const MerPlacement *placement, int *count)
{
    const MerPlace  *place = placement->place;
    const MerGraph  *graph = place->graph;
    MerPlacedTensor *list = NULL;
    *count = 0;
    for (int v = 0; v < graph->value_count; v++) {
        const MerValue *value = &graph->values[v];
        if (is_tensor(value)) {
            int op = value->consumers[0];
            MER_GROW(placement->arena, list, *count);
            list[(*count)++] =
                (MerPlacedTensor){value->name, placement->plan->unit[op], op, value->rank};
        }
    }
    if (list) {
        return list;
    }
    *count = place->op_count;
    list = MER_ARRAY(placement->arena, MerPlacedTensor, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        list[o] = (MerPlacedTensor){place->names[o], placement->plan->unit[o], o, 0};
    }
    return list;
}
