/* Every plug-in by name. src/registry.c has one line for each of Mercator's own; a program that links
 * the library adds its own before it uses anything else:
 *
 *     mer_register_problem(&my_problem, &error);
 *     mer_register_evaluator(&my_evaluator, &error);
 */
#ifndef MERCATOR_REGISTRY_H
#define MERCATOR_REGISTRY_H

#include "mercator/evaluator.h"
#include "mercator/export.h"
#include "mercator/import.h"
#include "mercator/problem.h"
#include "mercator/search.h"

/* Lists end with NULL. */
const MerProblemClass *const    *mer_problems(void);
const MerEvaluatorClass *const  *mer_evaluators(void);
const MerOptimizerClass *const  *mer_optimizers(void); /* solvers included */
const MerImporterClass *const   *mer_importers(void);
const MerExporterClass *const   *mer_exporters(void);
const MerPlanReaderClass *const *mer_plan_readers(void);
const MerInspectorClass *const  *mer_inspectors(void);

/* NULL and a message with the nearest name if there is none. */
const MerProblemClass   *mer_problem_find(const char *name, MerError *error);
const MerEvaluatorClass *mer_evaluator_find(const char *name, MerError *error);
const MerOptimizerClass *mer_optimizer_find(const char *name, MerError *error);
const MerExporterClass  *mer_exporter_find(const char *name, MerError *error);

/* Keeps the class, which must live as long as the program. A name that is taken, a slot that is needed
 * and empty, or too many classes, is an error. Not thread-safe: before the first run. */
MerStatus mer_register_problem(const MerProblemClass *type, MerError *error);
MerStatus mer_register_evaluator(const MerEvaluatorClass *type, MerError *error);
MerStatus mer_register_optimizer(const MerOptimizerClass *type, MerError *error);
MerStatus mer_register_importer(const MerImporterClass *type, MerError *error);
MerStatus mer_register_exporter(const MerExporterClass *type, MerError *error);
MerStatus mer_register_plan_reader(const MerPlanReaderClass *type, MerError *error);
MerStatus mer_register_inspector(const MerInspectorClass *type, MerError *error);

#endif
