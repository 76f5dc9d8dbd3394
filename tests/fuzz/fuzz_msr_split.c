/* Any bytes as an expert split: refused with a message, or a unit for every operator. */
#include "mercator/registry.h"
#include "place/place.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NODE(id, class, back)                                                                      \
    "{\"id\": " id ", \"supportedOnFpga\": 1, \"cpuLatency\": 2, \"fpgaLatency\": 1, "             \
    "\"isBackwardNode\": " back ", \"size\": 1, \"colorClass\": " class "}"
static const char graph_text[] =
    "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": [" NODE(
        "1", "5",
        "0") "," NODE("2", "6",
                      "0") "," NODE("7", "5",
                                    "1") "], \"edges\": [{\"sourceId\": 1, \"destId\": 2, "
                                         "\"cost\": 1}]}";

static MerStatus import(MerReadPlans *plans, MerError *error)
{
    MerImportFile file = {"graph.json", "graph", graph_text, strlen(graph_text)};
    MerGraph     *graph;
    for (const MerImporterClass *const *type = mer_importers(); *type; type++) {
        if (strcmp((*type)->name, "msr") == 0) {
            MER_TRY((*type)->read(&file, NULL, plans->arena, &graph, error));
            plans->graph = graph;
            return MER_OK;
        }
    }
    abort();
}

static MerStatus open_platform(MerReadPlans *plans, MerError *error)
{
    (void)error;
    plans->machine = mer_graph_attachment(plans->graph, "platform");
    return MER_OK;
}

static MerStatus read_plan(MerReadPlans *plans, MerPlan *plan, MerError *error)
{
    const MerProblemClass *type = mer_problem_find("place", NULL);
    void                  *options = mer_arena_alloc(plans->arena, type->options_size);
    mer_options_defaults(type->options, options, plans->arena);
    MerProblem problem = {.type = type,
                          .state = mer_arena_alloc(plans->arena, type->state_size),
                          .options = options,
                          .graph = plans->graph,
                          .platform = plans->machine,
                          .task = &plans->list[0].task,
                          .plan = type->plans[0]};
    if (type->open(&problem, plans->arena, NULL) != MER_OK) {
        abort();
    }
    *plan = plans->list[0].plan;
    MER_TRY(plans->list[0].read(&problem, plans->list[0].body, plan, plans->arena, error));
    for (int o = 0; o < mer_graph_plan(plan)->op_count; o++) {
        if (mer_graph_plan(plan)->unit[o] < 0 ||
            mer_graph_plan(plan)->unit[o] >= plans->machine->unit_count) {
            abort();
        }
    }
    return MER_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const MerPlanReaderClass *reader = NULL;
    MerArena                 *arena = mer_arena_new();
    MerError                  error = {0};
    MerReadPlans              plans = {
                     .arena = arena, .workload = "graph.json", .import = import, .open = open_platform};
    MerPlan plan;
    for (const MerPlanReaderClass *const *type = mer_plan_readers(); *type; type++) {
        reader = strcmp((*type)->name, "msr_split") == 0 ? *type : reader;
    }
    if (mer_yaml_parse("split", (const char *)data, size, arena, &plans.root, NULL) == MER_OK &&
        reader->probe(&plans) &&
        (reader->read(&plans, &error) != MER_OK || read_plan(&plans, &plan, &error) != MER_OK) &&
        error.message[0] == '\0') {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
