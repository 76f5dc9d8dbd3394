/* Job lists: what mercator-jobs/1 means, job by job, and how it says no. */
#include "support.h"

#include "importer.h"
#include "mercator/rng.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/jobs/schedule_jobs.h"

#include <math.h>

static MerArena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mer_arena_new();
    write_text("net.csv", "name,type,K,C,Y,X,R,S,stride\n"
                          "a,conv,16,3,18,18,3,3,1\n"
                          "b,conv,32,16,16,16,3,3,1\n"
                          "c,conv,64,32,14,14,3,3,2\n");
    write_text("self.yaml", "format: mercator-jobs/1\nmodels: [{name: me, file: self.yaml}]\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mer_arena_free(arena);
    return 0;
}

static const MerJobSet *read_set(const char *text, const MerGraph **graph)
{
    MerImportFile file =
        text_file("toy.yaml", mer_arena_format(arena, "format: mercator-jobs/1\n%s", text));
    MerGraph *made = must_import(&mer_importer_jobs, &file, NULL, arena);
    if (graph) {
        *graph = made;
    }
    assert_non_null(mer_job_set(made));
    return mer_job_set(made);
}

static const MerJob *job_named(const MerJobSet *set, const char *name)
{
    for (int j = 0; j < set->job_count; j++) {
        if (strcmp(set->jobs[j].name, name) == 0) {
            return &set->jobs[j];
        }
    }
    fail_msg("there is no job %s", name);
    return NULL;
}

/* "a b c": the names of the jobs that `name` waits for. */
static const char *waits_for(const MerJobSet *set, const char *name)
{
    const MerJob *job = job_named(set, name);
    const char   *text = "";
    for (int i = 0; i < job->after_count; i++) {
        text = mer_arena_format(arena, "%s%s%s", text, i > 0 ? " " : "",
                                set->jobs[job->after[i]].name);
    }
    return text;
}

static void test_a_batch_becomes_one_job_per_layer_and_mini_batch(void **state)
{
    (void)state;
    const MerGraph  *graph;
    const MerJobSet *set = read_set("models: [{name: cam, file: net.csv, batch: 8, mini_batch: 2, "
                                    "dependencies: chain, tenant: vision, weight: 3}]",
                                    &graph);
    assert_int_equal(set->job_count, 12);
    assert_int_equal(set->model_count, 1);
    assert_int_equal(graph->op_count, 3); /* layers are shared by the mini-batches */
    assert_string_equal(graph->ops[1].name, "cam.b");
    const MerJob *job = job_named(set, "cam#3.1");
    assert_int_equal(job->images, 2);
    assert_int_equal(job->request, 3);
    assert_int_equal(job->op, 1);
    assert_string_equal(waits_for(set, "cam#3.1"), "cam#3.0");
    assert_string_equal(waits_for(set, "cam#3.0"), "");
    assert_string_equal(set->tenants[job->tenant].name, "vision");
    assert_true(set->tenants[job->tenant].weight == 3);
    assert_true(job->release_s == 0 && isinf(job->deadline_s));
    assert_int_equal(set->group_size, 0);
}

static void test_dependencies_are_none_a_chain_or_the_graph(void **state)
{
    (void)state;
    const MerJobSet *none =
        read_set("models: [{name: n, file: net.csv, dependencies: none}]", NULL);
    assert_string_equal(waits_for(none, "n.2"), "");
    /* resnet18: the first block's convolutions, and the shortcut that leaves the stem again */
    const MerJobSet *graph = read_set("models: [{name: r, file: resnet18}]", NULL);
    const MerJobSet *chain =
        read_set("models: [{name: r, file: resnet18, dependencies: chain}]", NULL);
    assert_int_equal(graph->job_count, 21);
    int joins = 0;
    for (int j = 1; j < 21; j++) {
        assert_int_equal(chain->jobs[j].after_count, 1);
        assert_int_equal(chain->jobs[j].after[0], j - 1);
        joins += graph->jobs[j].after_count > 1;
    }
    assert_true(joins >= 3);
}

static void test_periodic_models_release_at_periods_and_follow_by_request(void **state)
{
    (void)state;
    const MerJobSet *set =
        read_set("models:\n"
                 "  - {name: gaze, file: net.csv, fps: 50, deadline: period, after: [eyes]}\n"
                 "  - {name: eyes, file: net.csv, fps: 100, deadline: period}\n"
                 "horizon_ms: 40",
                 NULL);
    assert_int_equal(set->job_count, 3 * (4 + 2));
    const MerJob *job = job_named(set, "eyes#3.0");
    assert_true(fabs(job->release_s - 0.03) < 1e-15 && fabs(job->deadline_s - 0.04) < 1e-15);
    job = job_named(set, "gaze#1.0");
    assert_true(fabs(job->release_s - 0.02) < 1e-15 && fabs(job->deadline_s - 0.04) < 1e-15);
    assert_string_equal(waits_for(set, "gaze#1.0"), "eyes#1.2"); /* the last layer */
    assert_string_equal(waits_for(set, "gaze#1.1"), "gaze#1.0");
    assert_string_equal(set->models[0].name, "gaze");
    assert_int_equal(set->models[0].after[0], 1);
    assert_true(set->horizon_s == 0.04);
}

static const MerJobSet *draw(const MerJobSet *set, uint64_t seed)
{
    const MerJobSet *drawn;
    assert_int_equal(mer_schedule_draw_requests("toy", set, seed, arena, &drawn, NULL), MER_OK);
    return drawn;
}

static void test_a_probability_leaves_some_requests_out_by_seed(void **state)
{
    (void)state;
    const MerJobSet *set = read_set(
        "models: [{name: n, file: net.csv, fps: 1000, probability: 0.5}]\nhorizon_ms: 200", NULL);
    const MerJobSet *one = draw(set, 1), *two = draw(set, 2);
    bool             differs = one->job_count != two->job_count;
    assert_int_equal(set->job_count, 3 * 200);
    assert_in_range(one->job_count, 3 * 70, 3 * 130);
    assert_in_range(two->job_count, 3 * 70, 3 * 130);
    assert_int_equal(one->job_count, draw(set, 1)->job_count);
    for (int j = 0; j < one->job_count && !differs; j++) {
        differs = strcmp(one->jobs[j].name, two->jobs[j].name) != 0;
    }
    assert_true(differs);
    for (int j = 0; j < one->job_count; j++) { /* whole requests */
        assert_int_equal(one->jobs[j].request, one->jobs[j - j % 3].request);
        assert_int_equal(one->jobs[j].after_count, j % 3 > 0);
        assert_true(j % 3 == 0 || one->jobs[j].after[0] == j - 1);
    }
}

static void test_nobody_waits_for_a_request_that_does_not_exist(void **state)
{
    (void)state;
    const MerJobSet *set =
        read_set("models:\n"
                 "  - {name: a, file: net.csv, fps: 1000, probability: 0}\n"
                 "  - {name: b, file: net.csv, fps: 1000, after: [a]}\n"
                 "jobs: [{name: last, op: fc, dims: [8, 4], after: [a.1, b.2]}]\nhorizon_ms: 2",
                 NULL);
    assert_string_equal(waits_for(set, "b#1.0"), "a#1.2");
    const MerJobSet *drawn = draw(set, 1);
    assert_int_equal(drawn->job_count, 7);
    assert_string_equal(waits_for(drawn, "b#1.0"), "");
    assert_string_equal(waits_for(drawn, "b#1.1"), "b#1.0");
    assert_string_equal(waits_for(drawn, "last"), "b#0.2 b#1.2");
}

static const MerJobSet *scale(const MerJobSet *set, double rate)
{
    const MerJobSet *scaled;
    assert_int_equal(mer_schedule_scale_requests("toy", set, rate, arena, &scaled, NULL), MER_OK);
    return scaled;
}

static void test_a_rate_makes_more_requests_over_the_same_time(void **state)
{
    (void)state;
    const MerJobSet *set =
        read_set("models:\n"
                 "  - {name: gaze, file: net.csv, fps: 50, deadline: period, after: [eyes]}\n"
                 "  - {name: eyes, file: net.csv, fps: 100, deadline: period}\n"
                 "  - {name: cam, file: net.csv, batch: 2}\n"
                 "jobs: [{name: all, op: fc, dims: [8, 4], after: [eyes, cam]},\n"
                 "       {name: one, op: fc, dims: [8, 4], after: [\"eyes#3.1\"]}]\n"
                 "horizon_ms: 40",
                 NULL);
    const MerJobSet *same = scale(set, 1), *more = scale(set, 2.5), *less = scale(set, 0.3);
    assert_ptr_equal(same, set);
    assert_int_equal(more->job_count, 3 * (10 + 5 + 2) + 2);
    const MerJob *job = job_named(more, "eyes#9.0");
    assert_true(fabs(job->release_s - 0.036) < 1e-15 && fabs(job->deadline_s - 0.046) < 1e-15);
    job = job_named(more, "gaze#4.2");
    assert_true(fabs(job->release_s - 0.032) < 1e-15 && fabs(job->deadline_s - 0.052) < 1e-15);
    assert_string_equal(waits_for(more, "gaze#4.0"), "eyes#4.2");
    assert_string_equal(waits_for(more, "gaze#4.1"), "gaze#4.0");
    assert_string_equal(waits_for(more, "eyes#9.2"), "eyes#9.1");
    assert_string_equal(waits_for(more, "cam#1.1"), "cam#1.0");
    assert_string_equal(waits_for(more, "one"), "eyes#3.1");
    assert_int_equal(job_named(more, "all")->after_count, 10 + 2);
    assert_int_equal(less->job_count, 3 * (1 + 1 + 2) + 2);
    assert_string_equal(waits_for(less, "gaze#0.0"), "eyes#0.2");
    assert_string_equal(waits_for(less, "one"), "");
    assert_int_equal(job_named(less, "all")->after_count, 1 + 2);
    /* a model with one request has no number in its names until it has several */
    const MerJobSet *once =
        scale(read_set("models: [{name: n, file: net.csv, fps: 10}]\nhorizon_ms: 100", NULL), 2);
    assert_string_equal(waits_for(once, "n#1.2"), "n#1.1");
    assert_string_equal(waits_for(once, "n#0.1"), "n#0.0");
    MerError error;
    assert_int_equal(mer_schedule_scale_requests("toy", set, 1e6, arena, &more, &error),
                     MER_INVALID);
    assert_string_equal(error.message,
                        "toy: rate 1e+06 makes 18000008 jobs, expected at most 1000000");
}

static void test_a_draw_without_any_request_is_refused(void **state)
{
    (void)state;
    const MerJobSet *set =
        read_set("models: [{name: a, file: net.csv, fps: 10, probability: 0}]", NULL);
    const MerJobSet *drawn;
    MerError         error;
    assert_int_equal(mer_schedule_draw_requests("toy", set, 7, arena, &drawn, &error), MER_INVALID);
    assert_string_equal(error.message,
                        "toy: no request exists with arrival_seed 7, expected at least one");
}

static void test_single_jobs_wait_for_jobs_layers_models_and_jobs_further_down(void **state)
{
    (void)state;
    const MerGraph  *graph;
    const MerJobSet *set = read_set(
        "models: [{name: cam, file: net.csv, batch: 2, mini_batch: 1}]\n"
        "jobs:\n"
        "  - {name: early, op: fc, dims: [10, 20], after: [late]}\n"
        "  - {name: late, op: gemm, dims: [20, 768, 512], release_cycles: 5, deadline_cycles: 2k, "
        "after: [\"cam#1.0\"], tenant: lang}\n"
        "  - {name: all, op: conv, dims: [8, 4, 10, 9, 3, 2], after: [cam]}\n"
        "  - {name: both, op: depthwise, dims: [1, 4, 10, 10, 3, 3], after: [cam.1]}\n",
        &graph);
    assert_int_equal(set->job_count, 10);
    assert_string_equal(waits_for(set, "early"), "late");
    assert_string_equal(waits_for(set, "late"), "cam#1.0");
    assert_string_equal(waits_for(set, "all"), "cam#0.2 cam#1.2");
    assert_string_equal(waits_for(set, "both"), "cam#0.1 cam#1.1");
    const MerJob *late = job_named(set, "late");
    assert_true(late->release_cycles == 5 && late->deadline_cycles == 2000);
    assert_string_equal(set->tenants[late->tenant].name, "lang");
    assert_string_equal(set->tenants[job_named(set, "all")->tenant].name, "jobs");
    char text[200];
    assert_string_equal(describe(&graph->ops[late->op], text), "gemm K768 C512 Y20");
    assert_string_equal(describe(&graph->ops[job_named(set, "early")->op], text), "gemm K10 C20");
    assert_string_equal(describe(&graph->ops[job_named(set, "all")->op], text),
                        "conv K8 C4 Y8 X8 R3 S2");
    assert_string_equal(describe(&graph->ops[job_named(set, "both")->op], text),
                        "depthwise C4 Y8 X8 R3 S3");
}

static void test_groups_and_their_order_are_read(void **state)
{
    (void)state;
    const MerJobSet *set =
        read_set("models: [{name: n, file: net.csv}]\ngroups: {size: 7, order: shuffle(12)}", NULL);
    assert_int_equal(set->group_size, 7);
    assert_true(set->is_shuffled && set->shuffle_seed == 12);
    set = read_set("models: [{name: n, file: net.csv}]\ngroups: {size: 7, order: input}", NULL);
    assert_false(set->is_shuffled);
}

static void test_every_change_of_the_list_changes_its_hash(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "models: [{name: n, file: net.csv}]",
        "models: [{name: n, file: net.csv, batch: 2}]",
        "models: [{name: n, file: net.csv, batch: 2, mini_batch: 2}]",
        "models: [{name: n, file: net.csv, dependencies: none}]",
        "models: [{name: n, file: net.csv, weight: 2}]",
        "models: [{name: n, file: net.csv, fps: 1}]",
        "models: [{name: n, file: net.csv, fps: 1, deadline: period}]",
        "models: [{name: n, file: net.csv}]\ngroups: {size: 2}",
        "models: [{name: n, file: net.csv}]\ngroups: {size: 2, order: shuffle(3)}",
        "models: [{name: m, file: net.csv}]",
        "models: [{name: n, file: net.csv, tenant: t}]",
    };
    enum { COUNT = sizeof texts / sizeof texts[0] };
    uint64_t hashes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const MerGraph *graph;
        read_set(texts[i], &graph);
        hashes[i] = graph->hash;
        for (int k = 0; k < i; k++) {
            if (hashes[k] == hashes[i]) {
                fail_msg("\"%s\" and \"%s\" have one hash", texts[k], texts[i]);
            }
        }
    }
}

typedef struct Refusal {
    const char *text, *message;
} Refusal;

static void assert_refused(const MerImporterClass *importer, const char *path, const char *text,
                           const char *message)
{
    MerImportFile file = text_file(path, text);
    MerGraph     *graph = NULL;
    MerError      error = {0};
    if (importer->read(&file, NULL, arena, &graph, &error) == MER_OK) {
        fail_msg("accepted: %s", text);
    }
    mer_test_contains(error.message, message);
    assert_null(strchr(error.message, '\n'));
}

static void test_bad_lists_are_refused_with_their_place(void **state)
{
    (void)state;
    static const Refusal refusals[] = {
        {"models: []", "toy.yaml:1:1: found no jobs, expected `models` or `jobs`"},
        {"horizon_ms: 5", "found no jobs"},
        {"models: {name: n}", "toy.yaml:2:9: models is a map, expected a list"},
        {"models: [7]", "toy.yaml:2:10: models[0] is 7, expected a map"},
        {"models: [{file: net.csv}]", "toy.yaml:2:10: models[0] has no key \"name\""},
        {"models: [{name: n}]", "models[0] has no key \"file\""},
        {"models: [{name: n, file: net.csv, batch: -3}]",
         "toy.yaml:2:42: models[0].batch is -3, expected"},
        {"models: [{name: n, file: net.csv, batch: 0}]", "models[0].batch is 0, expected"},
        {"models: [{name: n, file: net.csv, batch: 1e30}]", "models[0].batch is 1e30, expected"},
        {"models: [{name: n, file: net.csv, batch: 3, mini_batch: 2}]",
         "models[0].batch is 3, expected batch a multiple of mini_batch: 3 of 2"},
        {"models: [{name: n, file: net.csv, mini_batch: 2}]",
         "models[0].mini_batch is 2, expected batch a multiple of mini_batch: 1 of 2"},
        {"models: [{name: n, file: net.csv, bacth: 3}]", "did you mean \"batch\""},
        {"models: [{name: n, file: net.csv, fps: -1}]", "models[0].fps is -1, expected"},
        {"models: [{name: n, file: net.csv, fps: 60, batch: 8, mini_batch: 2}]",
         "models[0].batch is 8, expected no batch beside fps"},
        {"models: [{name: n, file: net.csv, deadline: period}]",
         "models[0].deadline is \"period\", expected fps beside it"},
        {"models: [{name: n, file: net.csv, deadline: soon}]", "expected none or period"},
        {"models: [{name: n, file: net.csv, probability: 2}]", "models[0].probability is 2"},
        {"models: [{name: n, file: net.csv, weight: 0}]", "models[0].weight is 0, expected"},
        {"models: [{name: n, file: net.csv, dependencies: some}]", "expected none, chain or graph"},
        {"models: [{name: n, file: resnet81}]",
         "toy.yaml:2:26: there is no model or file \"resnet81\", did you mean resnet18?"},
        {"models: [{name: n, file: none.onnx}]", "toy.yaml:2:26: none.onnx"},
        {"models: [{name: n, file: mix}]", "is a list of jobs, expected a network"},
        {"models: [{name: n, file: self.yaml}]",
         "toy.yaml:2:26: self.yaml is a list of jobs, expected a network"},
        {"models: [{name: n, file: \"synthetic:5:1\"}]", "expected a network, not a list of jobs"},
        {"models: [{name: n, file: net.csv}, {name: n, file: net.csv}]",
         "models[1].name is \"n\", expected a name that no other model has"},
        {"models: [{name: n, file: resnet18, dims: {nowhere: 3}}]", "toy.yaml:2:26: "},
        {"models: [{name: n, file: resnet18, dims: {batch: 0}}]", "models[0].dims.batch is 0"},
        {"models: [{name: n, file: net.csv, after: [m]}]",
         "models[0].after[0] is \"m\", expected the name of a model"},
        {"models: [{name: n, file: net.csv, after: [n]}]",
         "models wait for each other in a circle: n after n"},
        {"models:\n  - {name: x, file: net.csv, after: [a]}\n"
         "  - {name: a, file: net.csv, after: [b]}\n  - {name: b, file: net.csv, after: [a]}",
         "in a circle: a after b after a"},
        {"models: [{name: n, file: net.csv, fps: 1e6}]\nhorizon_ms: 1e9",
         "toy.yaml:2:10: n makes 1000000000000 requests of 3 jobs, expected at most 1000000 jobs"},
        {"models: [{name: n, file: net.csv, tenant: t, weight: 2}, "
         "{name: m, file: net.csv, tenant: t, weight: 3}]",
         "models[1].weight is 3, expected 2, the weight of tenant t in line 2"},
        {"models:\n  - {name: n, file: net.csv, batch: 2}\n  - {name: \"n#0\", file: net.csv}",
         "two jobs are called n#0.0"},
        {"jobs: [{name: j, op: gemm, dims: [1, 2]}]",
         "jobs[0].dims has 2 sizes, expected 3 of a gemm"},
        {"jobs: [{name: j, op: gemm, dims: [1, 2, -3]}]", "jobs[0].dims[2] is -3, expected"},
        {"jobs: [{name: j, op: gemm, dims: [1, 2, 99999999999999999999]}]", "jobs[0].dims[2] is"},
        {"jobs: [{name: j, op: gemm, dims: [2147483647, 2147483647, 2147483647]}]",
         "toy.yaml: the size of value \"j.input\" is out of range, expected smaller layers"},
        {"jobs: [{name: j, op: conv, dims: [1, 2, 3, 3, 5, 1]}]",
         "expected a filter within its image"},
        {"jobs: [{name: j, op: pool, dims: [1, 2]}]", "jobs[0].op is \"pool\", expected"},
        {"jobs: [{op: fc, dims: [1, 2]}]", "jobs[0] has no key \"name\""},
        {"jobs: [{name: j, dims: [1, 2]}]", "jobs[0] has no key \"op\""},
        {"jobs: [{name: j, op: fc, dims: [1, 2], deadline_cycles: -1}]",
         "jobs[0].deadline_cycles is -1"},
        {"jobs: [{name: j, op: fc, dims: [1, 2]}, {name: j, op: fc, dims: [1, 2]}]",
         "two jobs are called j"},
        {"jobs: [{name: j, op: fc, dims: [1, 2], after: [k]}]",
         "jobs[0].after[0] is \"k\", expected the name of a job, a model, or MODEL.LAYER"},
        {"jobs:\n  - {name: j, op: fc, dims: [1, 2], after: [l]}\n"
         "  - {name: k, op: fc, dims: [1, 2], after: [j]}\n"
         "  - {name: l, op: fc, dims: [1, 2], after: [k]}",
         "toy.yaml:3:5: jobs wait for each other in a circle: j after l after k after j"},
        {"models: [{name: n, file: net.csv}]\ngroups: {size: 0}", "groups.size is 0, expected"},
        {"models: [{name: n, file: net.csv}]\ngroups: {order: shuffle(x)}",
         "groups.order is \"shuffle(x)\", expected input or shuffle(SEED)"},
        {"models: [{name: n, file: net.csv}]\nhorizon_ms: 0", "horizon_ms is 0, expected"},
        {"model: [{name: n, file: net.csv}]", "did you mean \"models\""},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        assert_refused(&mer_importer_jobs, "toy.yaml",
                       mer_arena_format(arena, "format: mercator-jobs/1\n%s", refusals[i].text),
                       refusals[i].message);
    }
    assert_refused(&mer_importer_jobs, "toy.yaml", "format: mercator-jobs/2\nmodels: []",
                   "mercator-jobs/2");
    assert_refused(&mer_importer_jobs, "toy.yaml", "[",
                   "toy.yaml:2:1: flow sequence without a closing bracket");
}

static void test_bad_scenarios_are_refused_with_their_place(void **state)
{
    (void)state;
    static const Refusal refusals[] = {
        {"\"models\":{}", "has no key \"scenarios\""},
        {"\"models\":[],\"scenarios\":{}", "models is a list, expected a map"},
        {"\"models\":{},\"scenarios\":{}", "found no jobs, expected at least one"},
        {"\"models\":{\"M\":[]},\"scenarios\":{}",
         "models.M is a list, expected at least one layer"},
        {"\"models\":{\"M\":[[\"CONV\",[1,2,3]]]},\"scenarios\":{}", "N, K, C, Y, X, R, S"},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,0]]]},\"scenarios\":{}",
         "models.M[0][1][6] is 0"},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,1]]]},\"scenarios\":{\"S\":[]}",
         "scenario S has no requests"},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,1]]]},\"scenarios\":{\"S\":[{\"model\":\"N\","
         "\"fps\":3}]}",
         "scenarios.S[0].model is \"N\", expected one of `models`"},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,1]]]},\"scenarios\":{\"S\":[{\"model\":\"M\"}]"
         "}",
         "scenarios.S[0] has no key \"fps\""},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,1]]]},\"scenarios\":{\"S\":[{\"model\":\"M\","
         "\"fps\":30,\"depends_on\":[\"M\"]}]}",
         "expected a model above in the scenario"},
        {"\"models\":{\"M\":[[\"CONV\",[1,1,1,1,1,1,1]],[\"CONV\",[1,1,1,1,1,1,1]]]},"
         "\"scenarios\":{\"S\":[{\"model\":\"M\",\"fps\":1e6}]}",
         "M makes 700000 requests of 2 jobs, expected at most 1000000"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        assert_refused(
            &mer_importer_xrbench, "xr.json",
            mer_arena_format(arena, "{\"format\":\"xrbench-scenarios/1\",%s}", refusals[i].text),
            refusals[i].message);
    }
}

static void test_bad_benchmarks_are_refused_with_their_place(void **state)
{
    (void)state;
    static const Refusal refusals[] = {
        {"\"tasks\":{}", "has no key \"layer_table\""},
        {"\"layer_table\":[],\"tasks\":{}", "found no jobs, expected at least one"},
        {"\"layer_table\":[{\"raw\":[1,1,1,1,1,1]}],\"tasks\":{}", "a row of 7 integers"},
        {"\"layer_table\":[{\"raw\":[1,1,1,1,1,1,9]}],\"tasks\":{}", "type 0 .. 3"},
        {"\"layer_table\":[{\"raw\":[1,1,1,1,3,1,1]}],\"tasks\":{}", "a filter within its image"},
        {"\"layer_table\":[{\"raw\":[1,1,1,1,1,1,0]}],\"tasks\":{\"mix\":{\"groups\":[[1]]}}",
         "tasks.mix.groups[0][0] is 1, expected"},
        {"\"layer_table\":[{\"raw\":[1,1,1,1,1,1,0]}],\"tasks\":{\"mix\":{\"groups\":[[]]}}",
         "expected at least one layer"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        assert_refused(
            &mer_importer_m3e, "m3e.json",
            mer_arena_format(arena, "{\"format\":\"m3e-benchmark/1\",%s}", refusals[i].text),
            refusals[i].message);
    }
    assert_refused(&mer_importer_m3e, "m3e.csv", "1,1,4,4,8,8,3,3,1\n1,1,4,4,8,8,9,3,1\n",
                   "m3e.csv:2: expected thread,layer,K,C,Y,X,R,S,T");
}

static void test_instruction_csv_needs_no_last_newline(void **state)
{
    (void)state;
    MerImportFile file = text_file("m3e.csv", "1,1,64,3,32,30,3,1,1\n1,1,20,30,40,1,1,1,3");
    MerGraph     *graph = must_import(&mer_importer_m3e, &file, NULL, arena);
    char          text[200];
    assert_int_equal(mer_job_set(graph)->job_count, 2);
    assert_string_equal(describe(&graph->ops[0], text), "conv K64 C3 Y30 X30 R3");
    assert_string_equal(describe(&graph->ops[1], text), "gemm K30 C40 Y20");
    assert_string_equal(mer_job_set(graph)->jobs[1].name, "1.gemm-20x30x40");
}

/* Jobs of a network that is no job file. */
static void test_networks_become_jobs_with_names_of_their_own(void **state)
{
    (void)state;
    MerGraph        *graph = mer_graph_new("twins", arena);
    const MerJobSet *set;
    MerError         error = {0};
    for (int i = 0; i < 3; i++) {
        MerOp op = mer_op_make("twin", "test", MER_OP_GEMM);
        op.dims[MER_DIM_K] = 2 + i;
        mer_graph_add_op(graph, &op);
    }
    assert_int_equal(mer_graph_finish(graph, &error), MER_OK);
    MerJobOptions options = {4, 2, MER_DEPENDENCIES_CHAIN};
    assert_int_equal(mer_schedule_jobs(graph, &options, arena, &set, &error), MER_OK);
    assert_int_equal(set->job_count, 6);
    assert_string_equal(set->jobs[0].name, "twin#0");
    assert_string_equal(set->jobs[1].name, "twin#0@1");
    assert_string_equal(waits_for(set, "twin#1@2"), "twin#1@1");
    options = (MerJobOptions){5, 2, MER_DEPENDENCIES_NONE};
    assert_int_equal(mer_schedule_jobs(graph, &options, arena, &set, &error), MER_INVALID);
    mer_test_contains(error.message, "batch_size is 5, expected a multiple of mini_batch 2");
    graph->op_count = 1000;
    options = (MerJobOptions){65536, 1, MER_DEPENDENCIES_NONE};
    assert_int_equal(mer_schedule_jobs(graph, &options, arena, &set, &error), MER_INVALID);
    mer_test_contains(error.message, "makes 65536000 jobs of twins, expected at most 1000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_batch_becomes_one_job_per_layer_and_mini_batch),
        cmocka_unit_test(test_dependencies_are_none_a_chain_or_the_graph),
        cmocka_unit_test(test_periodic_models_release_at_periods_and_follow_by_request),
        cmocka_unit_test(test_a_probability_leaves_some_requests_out_by_seed),
        cmocka_unit_test(test_nobody_waits_for_a_request_that_does_not_exist),
        cmocka_unit_test(test_a_rate_makes_more_requests_over_the_same_time),
        cmocka_unit_test(test_a_draw_without_any_request_is_refused),
        cmocka_unit_test(test_single_jobs_wait_for_jobs_layers_models_and_jobs_further_down),
        cmocka_unit_test(test_groups_and_their_order_are_read),
        cmocka_unit_test(test_every_change_of_the_list_changes_its_hash),
        cmocka_unit_test(test_bad_lists_are_refused_with_their_place),
        cmocka_unit_test(test_bad_scenarios_are_refused_with_their_place),
        cmocka_unit_test(test_bad_benchmarks_are_refused_with_their_place),
        cmocka_unit_test(test_instruction_csv_needs_no_last_newline),
        cmocka_unit_test(test_networks_become_jobs_with_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
