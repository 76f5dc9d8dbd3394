/* Every plug-in of Mercator: one line each. */
#include "mercator/registry.h"

#include "import/import.h"

/* clang-format off */
#define PROBLEMS(X) \
    X(map) \
    X(schedule)
/* clang-format on */

/* clang-format off */
#define EVALUATORS(X) \
    X(loopnest) \
    X(datacentric) \
    X(bandwidth)
/* clang-format on */

/* clang-format off */
#define OPTIMIZERS(X) \
    X(random) \
    X(genetic) \
    X(gamma) \
    X(magma) \
    X(annealing) \
    X(de) \
    X(pso) \
    X(cmaes) \
    X(tbpsa) \
    X(aco) \
    X(bayes) \
    X(reinforce) \
    X(a2c) \
    X(ppo) \
    X(marl) \
    X(exact_nest) \
    X(fcfs) \
    X(lpt) \
    X(edf) \
    X(herald_like) \
    X(aimt_like) \
    X(lp_round) \
    X(exact_schedule) \
    X(online) \
    X(list_annealing)
/* clang-format on */

/* clang-format off */
#define IMPORTERS(X) \
    X(onnx) \
    X(m3e) \
    X(jobs) \
    X(xrbench) \
    X(timeloop) \
    X(maestro) \
    X(layers_csv)
/* clang-format on */

#define DECLARE_PROBLEM(name) extern const MerProblemClass mer_problem_##name;
#define DECLARE_EVALUATOR(name) extern const MerEvaluatorClass mer_evaluator_##name;
#define DECLARE_OPTIMIZER(name) extern const MerOptimizerClass mer_optimizer_##name;
#define DECLARE_IMPORTER(name) extern const MerImporterClass mer_importer_##name;
PROBLEMS(DECLARE_PROBLEM)
EVALUATORS(DECLARE_EVALUATOR)
OPTIMIZERS(DECLARE_OPTIMIZER)
IMPORTERS(DECLARE_IMPORTER)

#define LIST_PROBLEM(name) &mer_problem_##name,
#define LIST_EVALUATOR(name) &mer_evaluator_##name,
#define LIST_OPTIMIZER(name) &mer_optimizer_##name,
#define LIST_IMPORTER(name) &mer_importer_##name,
static const MerProblemClass *const   problems[] = {PROBLEMS(LIST_PROBLEM) NULL};
static const MerEvaluatorClass *const evaluators[] = {EVALUATORS(LIST_EVALUATOR) NULL};
static const MerOptimizerClass *const optimizers[] = {OPTIMIZERS(LIST_OPTIMIZER) NULL};
static const MerImporterClass *const  importers[] = {IMPORTERS(LIST_IMPORTER) NULL};

const MerProblemClass *const *mer_problems(void)
{
    return problems;
}

const MerEvaluatorClass *const *mer_evaluators(void)
{
    return evaluators;
}

const MerOptimizerClass *const *mer_optimizers(void)
{
    return optimizers;
}

const MerImporterClass *const *mer_importers(void)
{
    return importers;
}

/* Every class begins with its name, so that one look-up serves all lists. */
typedef struct Named {
    const char *name;
} Named;

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

const MerProblemClass *mer_problem_find(const char *name, MerError *error)
{
    return find(problems, "problem", name, error);
}

const MerEvaluatorClass *mer_evaluator_find(const char *name, MerError *error)
{
    return find(evaluators, "evaluator", name, error);
}

const MerOptimizerClass *mer_optimizer_find(const char *name, MerError *error)
{
    return find(optimizers, "optimizer", name, error);
}

MerStatus mer_graph_import(const char *name_or_path, const MerImportOptions *options,
                           MerArena *arena, MerGraph **graph, MerError *error)
{
    return mer_graph_import_with(importers, name_or_path, options, arena, graph, error);
}
