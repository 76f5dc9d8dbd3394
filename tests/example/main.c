/* The program `mercator` with the problem `assign` added. */
#include "mercator/program.h"
#include "mercator/registry.h"

#include <stdio.h>

extern const MerImporterClass   mer_importer_assign;
extern const MerProblemClass    mer_problem_assign;
extern const MerEvaluatorClass  mer_evaluator_bins;
extern const MerOptimizerClass  mer_optimizer_exact_assign;
extern const MerExporterClass   mer_exporter_labels;
extern const MerPlanReaderClass mer_plan_reader_labels;

static MerStatus add_plugins(MerError *error)
{
    MER_TRY(mer_register_importer(&mer_importer_assign, error));
    MER_TRY(mer_register_problem(&mer_problem_assign, error));
    MER_TRY(mer_register_evaluator(&mer_evaluator_bins, error));
    MER_TRY(mer_register_optimizer(&mer_optimizer_exact_assign, error));
    MER_TRY(mer_register_exporter(&mer_exporter_labels, error));
    return mer_register_plan_reader(&mer_plan_reader_labels, error);
}

int main(int count, char **arguments)
{
    MerError error = {0};
    if (add_plugins(&error) != MER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    return mer_program(count, arguments);
}
