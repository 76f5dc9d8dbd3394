/* Every plug-in by name. src/registry.c has one line for each. */
#ifndef MERCATOR_REGISTRY_H
#define MERCATOR_REGISTRY_H

#include "mercator/evaluator.h"
#include "mercator/import.h"
#include "mercator/problem.h"
#include "mercator/search.h"

/* Lists end with NULL. */
const MerProblemClass *const   *mer_problems(void);
const MerEvaluatorClass *const *mer_evaluators(void);
const MerOptimizerClass *const *mer_optimizers(void); /* solvers included */
const MerImporterClass *const  *mer_importers(void);

/* NULL and a message with the nearest name if there is none. */
const MerProblemClass   *mer_problem_find(const char *name, MerError *error);
const MerEvaluatorClass *mer_evaluator_find(const char *name, MerError *error);
const MerOptimizerClass *mer_optimizer_find(const char *name, MerError *error);

#endif
