/* Plug-ins that a program adds: what is refused, and a workload that brings its platform. */
#include "one_arena.h"
#include "run_support.h"

#include "run/experiment/experiment.h"

static void refuses(MerStatus status, const MerError *error, const char *message)
{
    assert_int_equal(status, MER_INVALID);
    assert_string_equal(error->message, message);
}

static void test_a_class_without_what_it_needs_is_refused(void **state)
{
    MerError          error = {0};
    MerProblemClass   problem = *mer_problems()[0];
    MerEvaluatorClass evaluator = *mer_evaluators()[0];
    (void)state;
    problem.name = "other";
    problem.decode = NULL;
    refuses(mer_register_problem(&problem, &error), &error, "problem \"other\" has no decode");
    evaluator.name = "other";
    evaluator.evaluate = NULL;
    refuses(mer_register_evaluator(&evaluator, &error), &error,
            "evaluator \"other\" has no evaluate");
    refuses(mer_register_importer(&(MerImporterClass){.name = NULL}, &error), &error,
            "importer \"\" has no name");
    refuses(mer_register_optimizer(&(MerOptimizerClass){.name = "o", .summary = "s"}, &error),
            &error, "optimizer \"o\" has no ask");
    refuses(mer_register_exporter(&(MerExporterClass){.name = "e", .summary = "s"}, &error), &error,
            "exporter \"e\" has no write");
    refuses(mer_register_plan_reader(&(MerPlanReaderClass){.name = "r", .summary = "s"}, &error),
            &error, "plan_reader \"r\" has no problem");
}

/* Mercator's own have all they need: what is wrong with them is that they are there already. */
static void test_a_name_that_is_taken_is_refused(void **state)
{
    MerError error = {0};
    (void)state;
#define TRY_ALL(Class, kind)                                                                       \
    for (const Class *const *type = mer_##kind##s(); *type; type++) {                              \
        assert_int_equal(mer_register_##kind(*type, &error), MER_INVALID);                         \
        mer_test_contains(error.message, "already");                                               \
    }
    TRY_ALL(MerProblemClass, problem)
    TRY_ALL(MerEvaluatorClass, evaluator)
    TRY_ALL(MerOptimizerClass, optimizer)
    TRY_ALL(MerImporterClass, importer)
    TRY_ALL(MerExporterClass, exporter)
    TRY_ALL(MerPlanReaderClass, plan_reader)
}

static bool knows(const char *name)
{
    return strcmp(name, "boxed") == 0;
}

static bool is_none(const MerImportFile *file)
{
    (void)file;
    return false;
}

static MerStatus read_none(const MerImportFile *file, const MerImportOptions *options,
                           MerArena *into, MerGraph **graph, MerError *error)
{
    (void)options, (void)into, (void)graph;
    return mer_error_set(error, MER_UNSUPPORTED, "%s", file->path);
}

/* One layer, and the machine that it is meant for. */
static MerStatus make(const char *name, const MerImportOptions *options, MerArena *into,
                      MerGraph **graph, MerError *error)
{
    (void)options, (void)error;
    *graph = one_layer_graph(8, 8, 4, 4, 1, 1, into);
    (*graph)->name = name;
    mer_graph_attach(*graph, "platform", platform_named("eyeriss-like", into));
    return MER_OK;
}

static const MerImporterClass boxed = {.name = "boxed",
                                       .summary = "a layer with its machine",
                                       .endings = "boxed",
                                       .probe = is_none,
                                       .read = read_none,
                                       .knows = knows,
                                       .make = make};

static MerStatus expand(const char *problem, const char *platform, MerRunSpec **specs,
                        MerError *error)
{
    MerExperiment experiment;
    int           count;
    mer_experiment_init(&experiment, problem, arena);
    mer_experiment_add(&experiment, MER_AXIS_WORKLOAD, "boxed", false);
    if (platform) {
        mer_experiment_add(&experiment, MER_AXIS_PLATFORM, platform, false);
    }
    return mer_experiment_expand(&experiment, specs, &count, NULL, NULL, error);
}

static void test_a_workload_may_bring_its_platform(void **state)
{
    MerError        error = {0};
    MerRunSpec     *specs;
    MerProblemClass homeless = *mer_problem_find("map", NULL);
    (void)state;
    assert_int_equal(mer_register_importer(&boxed, &error), MER_OK);
    assert_int_equal(expand("map", NULL, &specs, &error), MER_OK);
    assert_string_equal(specs[0].platform->name, "eyeriss-like");
    assert_int_equal(expand("map", "s256", &specs, &error), MER_OK);
    assert_string_equal(specs[0].platform->name, "s256");

    /* of a problem without a default platform, too */
    homeless.name = "homeless";
    homeless.platform = NULL;
    assert_int_equal(mer_register_problem(&homeless, &error), MER_OK);
    assert_int_equal(expand("homeless", NULL, &specs, &error), MER_OK);
    assert_string_equal(specs[0].platform->name, "eyeriss-like");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_class_without_what_it_needs_is_refused),
        cmocka_unit_test(test_a_name_that_is_taken_is_refused),
        cmocka_unit_test(test_a_workload_may_bring_its_platform),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
