/* Every plug-in of Mercator: one line each. */
#include "mercator/registry.h"

#include "import/import_find.h"

#include <string.h>

/* clang-format off */
#define PROBLEMS(X) \
    X(map) \
    X(schedule) \
    X(codesign) \
    X(place) \
    X(split)

#define EVALUATORS(X) \
    X(loopnest) \
    X(datacentric) \
    X(bandwidth) \
    X(vta) \
    X(native) \
    X(maxload) \
    X(calls) \
    X(cluster) \
    X(soc) \
    X(split_train) \
    X(command)

#define OPTIMIZERS(X) \
    X(random) \
    X(genetic) \
    X(gamma) \
    X(magma) \
    X(annealing) \
    X(cross_entropy) \
    X(de) \
    X(pso) \
    X(cmaes) \
    X(tbpsa) \
    X(aco) \
    X(bayes) \
    X(reinforce) \
    X(reinforce_lstm) \
    X(hdp) \
    X(go) \
    X(a2c) \
    X(ppo) \
    X(marl) \
    X(autotvm) \
    X(chameleon) \
    X(dcoc) \
    X(odimo) \
    X(exact_nest) \
    X(fcfs) \
    X(lpt) \
    X(edf) \
    X(herald_like) \
    X(aimt_like) \
    X(lp_round) \
    X(exact_schedule) \
    X(online) \
    X(list_annealing) \
    X(grid) \
    X(ideal_dp) \
    X(pipedream) \
    X(single) \
    X(round_robin) \
    X(expert) \
    X(greedy_fill) \
    X(heft) \
    X(m_topo) \
    X(m_etf) \
    X(m_sct) \
    X(least_cuts) \
    X(pipedream_bcc) \
    X(local_search) \
    X(place_annealing) \
    X(portfolio) \
    X(metis) \
    X(scotch) \
    X(exact_split) \
    X(min_latency) \
    X(min_energy) \
    X(all_8bit) \
    X(all_ternary) \
    X(io_8bit) \
    X(layer_wise) \
    X(half) \
    X(all_conv) \
    X(all_depthwise) \
    X(naive) \
    X(sensitivity) \
    X(polish)

#define IMPORTERS(X) \
    X(onnx) \
    X(layers_csv) \
    X(m3e) \
    X(jobs) \
    X(xrbench) \
    X(timeloop) \
    X(maestro) \
    X(msr) \
    X(pipedream) \
    X(piper) \
    X(network)

#define EXPORTERS(X) \
    X(nest_text) \
    X(timeloop_map) \
    X(maestro_m) \
    X(layers_table) \
    X(stats) \
    X(schedule_csv) \
    X(requests_csv) \
    X(models_csv) \
    X(schedule_trace) \
    X(job_table) \
    X(vta) \
    X(vta_listing) \
    X(vta_c) \
    X(codesign_trace) \
    X(autotvm_log) \
    X(kernels) \
    X(device_map) \
    X(ort_nodes) \
    X(ort_islands) \
    X(llama_override) \
    X(placement_trace) \
    X(placement_lp) \
    X(split_json) \
    X(split_csv) \
    X(split_c) \
    X(split_onnx)

#define PLAN_READERS(X) \
    X(maestro) \
    X(timeloop) \
    X(msr_split) \
    X(split_json)

#define INSPECTORS(X) \
    X(vta) \
    X(quantise)
/* clang-format on */

/* Lists with capacity for what programs add; the last entry stays NULL. */
enum { MAX_ADDED = 64 };

#define DECLARE(Class, kind, name) extern const Class mer_##kind##_##name;
#define LIST(Class, kind, name) &mer_##kind##_##name,
#define REGISTRY(Class, kind, NAMES)                                                               \
    NAMES(DECLARE_##kind)                                                                          \
    static const Class *kind##_list[(sizeof((const Class *const[]){NAMES(LIST_##kind) NULL}) /     \
                                     sizeof(const Class *)) +                                      \
                                    MAX_ADDED] = {NAMES(LIST_##kind) NULL};                        \
    const Class *const *mer_##kind##s(void)                                                        \
    {                                                                                              \
        return kind##_list;                                                                        \
    }                                                                                              \
    MerStatus mer_register_##kind(const Class *type, MerError *error)                              \
    {                                                                                              \
        return add((const void **)kind##_list, sizeof kind##_list / sizeof kind##_list[0], #kind,  \
                   type, missing_of_##kind(type), error);                                          \
    }

#define DECLARE_problem(name) DECLARE(MerProblemClass, problem, name)
#define DECLARE_evaluator(name) DECLARE(MerEvaluatorClass, evaluator, name)
#define DECLARE_optimizer(name) DECLARE(MerOptimizerClass, optimizer, name)
#define DECLARE_importer(name) DECLARE(MerImporterClass, importer, name)
#define DECLARE_exporter(name) DECLARE(MerExporterClass, exporter, name)
#define DECLARE_plan_reader(name) DECLARE(MerPlanReaderClass, plan_reader, name)
#define DECLARE_inspector(name) DECLARE(MerInspectorClass, inspector, name)
#define LIST_problem(name) LIST(MerProblemClass, problem, name)
#define LIST_evaluator(name) LIST(MerEvaluatorClass, evaluator, name)
#define LIST_optimizer(name) LIST(MerOptimizerClass, optimizer, name)
#define LIST_importer(name) LIST(MerImporterClass, importer, name)
#define LIST_exporter(name) LIST(MerExporterClass, exporter, name)
#define LIST_plan_reader(name) LIST(MerPlanReaderClass, plan_reader, name)
#define LIST_inspector(name) LIST(MerInspectorClass, inspector, name)

/* What a class cannot do without: the first slot that is empty, NULL if none is. */
#define MISSING(Class, kind, SLOTS)                                                                \
    static const char *missing_of_##kind(const Class *type)                                        \
    {                                                                                              \
        SLOTS(CHECK_SLOT)                                                                          \
        return NULL;                                                                               \
    }
#define CHECK_SLOT(slot)                                                                           \
    if (!type->slot) {                                                                             \
        return #slot;                                                                              \
    }

/* clang-format off */
#define PROBLEM_SLOTS(X) \
    X(name) X(summary) X(evaluator) X(optimizer) X(objective) X(budget) X(plans) \
    X(open) X(decode) X(encode) X(bound)
#define EVALUATOR_SLOTS(X) X(name) X(summary) X(metrics) X(open) X(evaluate)
#define OPTIMIZER_SLOTS(X) X(name) X(summary) X(ask) X(tell)
#define IMPORTER_SLOTS(X) X(name) X(summary) X(endings) X(probe) X(read)
#define EXPORTER_SLOTS(X) X(name) X(summary) X(write)
#define PLAN_READER_SLOTS(X) X(name) X(summary) X(problem) X(probe) X(read)
#define INSPECTOR_SLOTS(X) X(name) X(summary) X(endings) X(probe) X(print)
/* clang-format on */
MISSING(MerProblemClass, problem, PROBLEM_SLOTS)
MISSING(MerEvaluatorClass, evaluator, EVALUATOR_SLOTS)
MISSING(MerImporterClass, importer, IMPORTER_SLOTS)
MISSING(MerExporterClass, exporter, EXPORTER_SLOTS)
MISSING(MerPlanReaderClass, plan_reader, PLAN_READER_SLOTS)
MISSING(MerInspectorClass, inspector, INSPECTOR_SLOTS)
static const char *missing_of_optimizer(const MerOptimizerClass *type)
{
    OPTIMIZER_SLOTS(CHECK_SLOT)
    return type->open || type->open_problem ? NULL : "open";
}

/* Every class begins with its name, so that one look-up serves all lists. */
typedef struct Named {
    const char *name;
} Named;

static MerStatus add(const void **list, size_t capacity, const char *kind, const void *type,
                     const char *missing, MerError *error)
{
    const Named *named = type;
    size_t       count = 0;
    if (missing) {
        return mer_error_set(error, MER_INVALID, "%s \"%s\" has no %s", kind,
                             named->name ? named->name : "", missing);
    }
    for (; list[count]; count++) {
        const Named *other = list[count];
        if (mer_name_equal(other->name, named->name)) {
            return mer_error_set(error, MER_INVALID, "there is a %s \"%s\" already", kind,
                                 named->name);
        }
    }
    if (count + 1 >= capacity) {
        return mer_error_set(error, MER_INVALID, "more than %d %ss were added", MAX_ADDED - 1,
                             kind);
    }
    list[count] = type;
    return MER_OK;
}

static const void *find(const void *list, const char *kind, const char *name, MerError *error)
{
    enum { MAX_NAMES = 256 };
    const Named *const *classes = list;
    const char         *names[MAX_NAMES];
    int                 count = 0;
    for (; classes[count] && count < MAX_NAMES; count++) {
        if (mer_name_equal(classes[count]->name, name)) {
            return classes[count];
        }
        names[count] = classes[count]->name;
    }
    const char *nearest = mer_name_nearest(name, names, count);
    mer_error_set(error, MER_NOT_FOUND, "unknown %s \"%s\"%s%s; see mercator list %ss", kind, name,
                  nearest ? ", did you mean " : "", nearest ? nearest : "", kind);
    return NULL;
}

REGISTRY(MerProblemClass, problem, PROBLEMS)
REGISTRY(MerEvaluatorClass, evaluator, EVALUATORS)
REGISTRY(MerOptimizerClass, optimizer, OPTIMIZERS)
REGISTRY(MerImporterClass, importer, IMPORTERS)
REGISTRY(MerExporterClass, exporter, EXPORTERS)
REGISTRY(MerPlanReaderClass, plan_reader, PLAN_READERS)
REGISTRY(MerInspectorClass, inspector, INSPECTORS)

const MerProblemClass *mer_problem_find(const char *name, MerError *error)
{
    return find(problem_list, "problem", name, error);
}

const MerEvaluatorClass *mer_evaluator_find(const char *name, MerError *error)
{
    if (strpbrk(name, " /")) { /* no name of ours, so the line of a shell */
        mer_error_set(error, MER_NOT_FOUND,
                      "unknown evaluator \"%s\", expected command:LINE for a program of your own: "
                      "--evaluator 'command:%s'",
                      name, name);
        return NULL;
    }
    return find(evaluator_list, "evaluator", name, error);
}

const MerOptimizerClass *mer_optimizer_find(const char *name, MerError *error)
{
    return find(optimizer_list, "optimizer", name, error);
}

const MerExporterClass *mer_exporter_find(const char *name, MerError *error)
{
    return find(exporter_list, "exporter", name, error);
}

MerStatus mer_graph_import(const char *name_or_path, const MerImportOptions *options,
                           MerArena *arena, MerGraph **graph, MerError *error)
{
    return mer_graph_import_with(importer_list, name_or_path, options, arena, graph, error);
}
