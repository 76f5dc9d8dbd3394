/* Plan reader: a MAESTRO network (.m) whose layers have Dataflows. */
#include "base/file.h"
#include "import/layer_list.h"
#include "import/maestro_text.h"
#include "map/directives/directives.h"
#include "map/export/maestro_plan.h"
#include "map/export/read_plans.h"

static bool is_maestro(const MerReadPlans *plans)
{
    MerImportFile file = {.path = plans->files[0]};
    char         *data;
    if (plans->plan_file || mer_file_is_stream(file.path) ||
        mer_file_read(file.path, (size_t)1 << 26, plans->arena, &data, &file.size, NULL) !=
            MER_OK) {
        return false;
    }
    file.data = data;
    return mer_importer_maestro.probe(&file);
}

/* The layers of the one network of the file; the importer has refused files with more. */
static MerStatus read_maestro(MerReadPlans *plans, MerError *error)
{
    const char    *path = plans->files[0];
    MerMaestroFile file;
    MerGraph      *graph;
    char          *data;
    size_t         size;
    MER_TRY(mer_graph_import(path, NULL, plans->arena, &graph, error));
    MER_TRY(mer_file_read(path, (size_t)1 << 26, plans->arena, &data, &size, error));
    MER_TRY(mer_maestro_parse(path, data, size, plans->arena, &file, error));
    plans->own_evaluator = "datacentric";
    plans->own_platform = "maestro-default";
    MER_TRY(plans->open(plans, error));
    mer_read_plans_of_graph(plans, graph);
    const MerMaestroLayer *inherited = NULL;
    for (int i = 0; i < graph->op_count; i++) {
        const MerMaestroLayer *layer = &file.networks[0].layers[i];
        MerDirectivePlan      *plan = MER_NEW(plans->arena, MerDirectivePlan);
        plans->list[i].plan = (MerPlan){&mer_plan_directives, plan};
        MER_TRY(
            mer_maestro_plan(path, layer, inherited, &graph->ops[i], plan, plans->arena, error));
        inherited = layer->has_dataflow ? layer : inherited;
    }
    return MER_OK;
}

const MerPlanReaderClass mer_plan_reader_maestro = {
    .name = "maestro",
    .summary = "MAESTRO networks with Dataflows (.m)",
    .problem = "map",
    .probe = is_maestro,
    .read = read_maestro,
};
