/* Exporter `device_map`: the dictionary of Hugging Face's accelerate, {module: number of the GPU | "cpu" | "disk"}. Names
 * with dots are the tree of modules. A module whose operators all agree goes out whole, any other as its children, so that every
 * parameter has exactly one entry (docs/placement.md, "Files for other tools"). */
#include "place/export/place_export.h"

#include "base/name_table.h"

#include <string.h>

typedef struct Module {
    const char    *path; /* "encoder.layer.0"; "" is the whole model */
    int            unit; /* of all that lies in it; -1: nothing yet, -2: they differ */
    bool           has_parameters;
    bool           is_parameter; /* itself, not only something in it */
    struct Module *first, *last, *next;
} Module;

typedef struct Tree {
    MerArena    *arena;
    MerNameTable modules;
    Module      *root;
} Tree;

/* "/encoder/layer/layer.0/query/MatMul" of the exporter of PyTorch is encoder.layer.0.query.MatMul: a scope that the
 * next one repeats is left out. */
static const char *dotted(const char *name, MerArena *arena)
{
    const char *path = "";
    if (!strchr(name, '/')) {
        return name;
    }
    for (const char *from = name; *from;) {
        size_t      length = strcspn(from, "/");
        const char *next = from[length] ? from + length + 1 : "";
        bool        is_repeated = strncmp(next, from, length) == 0 && next[length] == '.';
        if (length > 0 && !is_repeated) {
            path = mer_arena_format(arena, "%s%s%.*s", path, *path ? "." : "", (int)length, from);
        }
        from = next;
    }
    return path;
}

static Module *add_module(Tree *tree, const char *path, Module *parent)
{
    Module *module = MER_NEW(tree->arena, Module);
    *module = (Module){.path = path, .unit = -1};
    mer_name_table_set(&tree->modules, path, module);
    *(parent->last ? &parent->last->next : &parent->first) = module;
    parent->last = module;
    return module;
}

static void join(Module *module, int unit, bool is_parameter)
{
    module->unit = module->unit == -1 || module->unit == unit ? unit : -2;
    module->has_parameters = module->has_parameters || is_parameter;
}

static void add(Tree *tree, const char *path, int unit, bool is_parameter)
{
    Module *module = tree->root;
    join(module, unit, is_parameter);
    for (size_t end = 0; path[end] != '\0';) {
        end += strcspn(path + end + 1, ".") + 1;
        const char *prefix = path[end] ? mer_arena_text_n(tree->arena, path, end) : path;
        Module     *known = mer_name_table_find(&tree->modules, prefix);
        module = known ? known : add_module(tree, prefix, module);
        join(module, unit, is_parameter);
    }
    module->is_parameter = module->is_parameter || is_parameter;
}

/* Names that the exporter of PyTorch made up ("onnx::MatMul_193") say nothing. */
static bool is_made_up(const char *name)
{
    return strstr(name, "::") != NULL || name[0] == '/';
}

/* The parameter that such a tensor must be: the weight or bias of its operator's module; where another tensor on another unit is that,
 * something of the operator alone. */
static const char *guess_parameter(const Tree *tree, const char *op, const MerPlacedTensor *tensor)
{
    const char   *path = dotted(op, tree->arena), *last = strrchr(path, '.');
    const char   *name = tensor->rank == 1 ? "bias" : "weight";
    const char   *made = mer_arena_format(tree->arena, "%.*s%s%s", last ? (int)(last - path) : 0,
                                          path, last ? "." : "", name);
    const Module *known = mer_name_table_find(&tree->modules, made);
    return known && known->unit != tensor->unit ? mer_arena_format(tree->arena, "%s.%s", path, name)
                                                : made;
}

static Tree build_tree(const MerPlacement *placement)
{
    Tree             tree = {.arena = placement->arena,
                             .modules = {.arena = placement->arena},
                             .root = MER_NEW(placement->arena, Module)};
    int              count;
    MerPlacedTensor *tensors = mer_placement_tensors(placement, &count);
    *tree.root = (Module){.path = "", .unit = -1};
    for (int o = 0; o < placement->place->op_count; o++) {
        add(&tree, dotted(placement->place->names[o], tree.arena), placement->plan->unit[o], false);
    }
    for (int t = 0; t < count; t++) {
        const MerPlacedTensor *tensor = &tensors[t];
        const char            *path = tensor->rank > 0 && is_made_up(tensor->name)
                                          ? guess_parameter(&tree, placement->place->names[tensor->op], tensor)
                                          : dotted(tensor->name, tree.arena);
        add(&tree, path, tensor->unit, true);
    }
    return tree;
}

static void write_unit(const MerPlace *place, const char *path, int unit, MerJson *json)
{
    int accelerator = mer_placement_accelerator(place, unit);
    if (strncmp(mer_placement_class(place, unit), "disk", 4) == 0) {
        mer_json_text(json, path, "disk");
    } else if (accelerator < 0) {
        mer_json_text(json, path, "cpu");
    } else {
        mer_json_int(json, path, accelerator);
    }
}

static MerStatus write_module(const MerPlace *place, const Module *module, MerJson *json,
                              MerError *error)
{
    if (!module->has_parameters) {
        return MER_OK;
    }
    if (module->unit >= 0) {
        write_unit(place, module->path, module->unit, json);
        return MER_OK;
    }
    if (module->is_parameter) { /* its entry would be one of what lies below it, too */
        return mer_error_set(error, MER_UNSUPPORTED,
                             "device_map: %s is a parameter and a module whose parts are on "
                             "different units",
                             module->path);
    }
    for (const Module *child = module->first; child; child = child->next) {
        MER_TRY(write_module(place, child, json, error));
    }
    return MER_OK;
}

static MerStatus write_map(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerPlacement placement = mer_placement(what, files);
    Tree         tree = build_tree(&placement);
    MerJson      json = {0};
    mer_json_object(&json, NULL);
    MerStatus status = write_module(placement.place, tree.root, &json, error);
    mer_json_end_object(&json);
    if (status == MER_OK) {
        mer_export_add(files, "device_map.json", json.text, json.size);
    }
    mer_json_free(&json);
    return status;
}

const MerExporterClass mer_exporter_device_map = {
    .name = "device_map",
    .summary = "device_map.json: module to GPU number, cpu or disk, for Hugging Face's accelerate",
    .problem = "place",
    .write = write_map,
};
