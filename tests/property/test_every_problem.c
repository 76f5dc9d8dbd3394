/* What every problem, evaluator, plan kind and exporter owes the rest. A new one is checked as soon as it
 * is registered: it needs a row in the table `rows` below, and nothing else here.
 * The problem of docs/how-to-add-a-problem.md is registered beside Mercator's own. */
#include "one_arena.h"
#include "run_support.h"

#include "cli/evaluate_input.h"
#include "mercator/json.h"
#include "mercator/yaml.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <sys/stat.h>

extern const MerImporterClass   mer_importer_assign;
extern const MerProblemClass    mer_problem_assign;
extern const MerEvaluatorClass  mer_evaluator_bins;
extern const MerOptimizerClass  mer_optimizer_exact_assign;
extern const MerExporterClass   mer_exporter_labels;
extern const MerPlanReaderClass mer_plan_reader_labels;

typedef struct Row {                 /* inputs on which a problem can be opened and priced */
    const char *problem, *evaluator; /* with options: "map:genome=primes" */
    const char *workload;    /* built-in, made by name, or the text of a file: see `ending` */
    const char *ending;      /* of that file, ".yaml"; NULL: `workload` is a name */
    const char *platform;    /* built-in, or a map as text; NULL: the problem uses none */
    bool        is_hopeless; /* nothing is feasible there */
} Row;

#define LAYERS                                                                                     \
    "name,type,K,C,Y,X,R,S,stride\n"                                                               \
    "a,conv,12,8,9,8,3,3,1\n"                                                                      \
    "b,dsconv,1,16,10,10,3,3,1\n"                                                                  \
    "c,conv,16,8,14,14,1,1,2\n"
#define JOBS                                                                                       \
    "format: mercator-jobs/1\n"                                                                    \
    "jobs:\n"                                                                                      \
    "  - {name: a, op: gemm, dims: [64, 64, 64], deadline_cycles: 5000}\n"                         \
    "  - {name: b, op: gemm, dims: [64, 32, 128], release_cycles: 300}\n"                          \
    "  - {name: c, op: gemm, dims: [32, 64, 32], after: [a]}\n"                                    \
    "  - {name: d, op: gemm, dims: [256, 64, 32]}\n"
#define NO_CAPACITY                                                                                \
    "{format: mercator-platform/1, kind: pe-array, name: tiny, units: [{name: MAC, mac_pj: 1}],"   \
    " memories: [{name: DRAM, access_pj: 200, keep: [W, I, O]},"                                   \
    " {name: RF, words: 2, keep: [W, I, O], access_pj: 1}]}"
#define QUICK_COMPILER                                                                             \
    "{format: mercator-platform/1, kind: native, name: quick, flags: -O0,"                         \
    " units: [{name: cpu, threads: 2}]}"
/* three pairs of operators that share a unit, one of them without a kernel on the accelerators */
/* clang-format off */
#define NODE(id, runs, slow, fast, class_of) \
    "{\"id\": " id ", \"name\": \"n" id "\", \"supportedOnFpga\": " runs ", \"cpuLatency\": " slow ", " \
    "\"fpgaLatency\": " fast ", \"isBackwardNode\": 0, \"size\": 10.0, \"colorClass\": " class_of "}"
#define EDGE(from, to) "{\"sourceId\": " from ", \"destId\": " to ", \"cost\": 0.25, \"size\": 1000}"
#define GRAPH(memory) \
    "{\"maxSizePerFPGA\": " memory ", \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": [" \
    NODE("5", "true", "3", "1.5", "1") "," NODE("9", "1", "4", "2", "2") "," NODE("7", "0", "2", "1", "3") "," \
    NODE("1", "true", "6", "3", "1") "," NODE("2", "true", "5", "2.5", "2") "," NODE("4", "0", "1", "0.5", "3") \
    "], \"edges\": [" EDGE("5", "9") "," EDGE("9", "7") "," EDGE("5", "7") "," EDGE("7", "4") "," EDGE("4", "2") "," \
    EDGE("2", "1") "]}"
/* clang-format on */
#define TWO_GPUS(memory)                                                                           \
    "{format: mercator-platform/1, kind: cluster, name: two, classes: {gpu: {gap_us: 5}, cpu: "    \
    "{}},"                                                                                         \
    " units: [{name: gpu, count: 2, class: gpu, memory_bytes: " memory                             \
    "}, {name: cpu, class: cpu, memory_bytes: " memory                                             \
    "}], links: [{from: \"gpu*\", to: cpu, bytes_per_s: 1M, latency_us: 3}]}"
#define THREE_UNITS                                                                                \
    "{format: mercator-platform/1, kind: soc, name: three, clock_hz: 100M, reference: cpu,"        \
    " memories: [{name: L1, bytes: 60000}], units: [{name: cpu, memory_bytes: 900, options:"       \
    " [{operator: conv, weights: int8}, {operator: depthwise, weights: int8}],"                    \
    " cost: {formula: mac-rate, rate: 4}}, {name: npu, memory_bytes: 5000, options:"               \
    " [{operator: conv, weights: ternary}], cost: {formula: table, cycles: [[8, 900], [12, "       \
    "4000]]}},"                                                                                    \
    " {name: dwe, options: [{operator: depthwise, weights: int8}], cost: {formula: dw-engine}}],"  \
    " power_mw: {formula: by-set, cpu: 10, npu: 4, dwe: 3, cpu+npu: 12}}"
#define NO_WEIGHT_MEMORY                                                                           \
    "{format: mercator-platform/1, kind: soc, name: bare, clock_hz: 100M, units: [{name: cpu,"     \
    " memory_bytes: 3, options: [{operator: conv, weights: int8}, {operator: depthwise,"           \
    " weights: int8}], cost: {formula: mac-rate, rate: 4}}]}"
#define PARCELS                                                                                    \
    "format: mercator-assign/1\n"                                                                  \
    "bins: {van: {speed: 4, capacity: 40, pj: 5}, bike: {capacity: 8, pj: 1}, car: {speed: 2}}\n"  \
    "loads:\n"                                                                                     \
    "  monday: {items: {crate: 9, box: 5, letter: 0.1, desk: 14, lamp: 3, chair: 7}}\n"            \
    "  tuesday: {count: 4, items: {piano: 30, box: 5, letter: 0.1}}\n"

/* clang-format off */
static const Row rows[] = {
    {"map:select=2-3", "loopnest:axes=exclusive", "resnet18", NULL, "s256", false},
    {"map", "loopnest:axes=exclusive", LAYERS, ".csv", "eyeriss-like", false},
    {"map:genome=divisors", "loopnest:axes=exclusive", LAYERS, ".csv", "s256", false},
    {"map:factors=padded", "loopnest:axes=exclusive", LAYERS, ".csv", "s256", false},
    {"map", "datacentric", LAYERS, ".csv", "edge", false},
    {"map:genome=ten", "datacentric", LAYERS, ".csv", "edge", false},
    {"map", "loopnest:axes=exclusive", LAYERS, ".csv", NO_CAPACITY, true},
    {"schedule", "bandwidth", "synthetic:60:3", NULL, "s2", false},
    {"schedule:bandwidth=4", "bandwidth", JOBS, ".yaml", "s1", false},
    {"codesign:hardware=fixed,select=2-4", "vta", "resnet18", NULL, "vta-pynq-4x8", false},
    {"codesign", "vta:uops=exact", LAYERS, ".csv", "vta-pynq-b", false},
    {"codesign:hardware=per-task,buffers=search,bias=true,batch_size=3", "vta", LAYERS, ".csv", "vta-energy", false},
    {"codesign:select=2-4,restrict=tvm", "vta", "bert_base", NULL, "vta-pynq-a", false},
    {"codesign:mac_budget=8", "vta", LAYERS, ".csv", "vta-pynq-b", true},
    {"codesign", "native:repeat=1,min_ms=0", LAYERS, ".csv", QUICK_COMPILER, false},
    {"place", "maxload", GRAPH("30.0"), ".json", NULL, false},
    {"place:replication=true", "maxload:transfer=max", GRAPH("40"), ".json", NULL, false},
    {"place:pin=[n5=acc0]", "maxload", GRAPH("15"), ".json", NULL, true},
    {"place", "calls:max_calls=2", GRAPH("40.0"), ".json", NULL, false},
    {"place", "cluster", GRAPH("40"), ".json", TWO_GPUS("100k"), false},
    {"place:decide=[place,order,fuse]", "cluster:link_model=path", GRAPH("40"), ".json", TWO_GPUS("4100"), false},
    {"place:decide=[place,order]", "cluster:link_model=both_ends,overlap=false", GRAPH("40"), ".json", TWO_GPUS("100k"), false},
    {"place", "cluster:preset=placeto", GRAPH("3000"), ".json", NULL, false},
    {"split", "soc", "resnet8", NULL, "diana", false},
    {"split:granularity=channel,tie=true", "soc:scope=searchable", "ds_cnn", NULL, "darkside", false},
    {"split:pin=[a=npu]", "soc", LAYERS, ".csv", THREE_UNITS, false},
    {"split:granularity=channel", "soc:memory=check,residency=network", LAYERS, ".csv", THREE_UNITS, false},
    {"split", "soc:memory=price", LAYERS, ".csv", "diana", false},
    {"split", "soc:memory=check", LAYERS, ".csv", NO_WEIGHT_MEMORY, true},
    {"split:dataset=digits8x8,samples=50,warmup_epochs=0", "split_train:finetune_epochs=0", "resnet8", NULL, "diana", false},
    {"assign", "bins", PARCELS, ".yaml", NULL, false},
    {"assign", "command:while read -r line; do echo '{\"cycles\": 5, \"makespan\": 5, \"energy\": 7}'; done", PARCELS, ".yaml", NULL, false},
    {"assign", "bins",
     "{format: mercator-assign/1, bins: {cup: {capacity: 1}, mug: {capacity: 3}},\n"
     " loads: {all: {items: {a: 2, b: 5, c: 1}}}}", ".yaml", NULL, true},
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0], TASKS = 3, POINTS = 4000, FEASIBLE = 30 };

/* No two measurements agree, and each takes its time: fewer are made, and values are not compared. */
static bool is_measured(const Row *row)
{
    return mer_evaluator_find(name_in(row->evaluator, arena), NULL)->mode == MER_EVALUATE_MEASURED;
}

/* An evaluation takes measurements, or a pass over all images. */
static bool is_slow(const Row *row)
{
    return is_measured(row) || strncmp(row->evaluator, "split_train", 11) == 0;
}

static int some(const Row *row, int count)
{
    return is_slow(row) ? 3 : count;
}

/* A row that was read: all of a run but its optimizer. */
static MerRunSpec spec_of(const Row *row)
{
    MerRunSpec  spec = {.seed = 1, .threads = 1, .budget = is_slow(row) ? 10 : 200};
    const char *path = row->workload;
    if (row->ending) {
        path = mer_arena_format(arena, "row%d%s", (int)(row - rows), row->ending);
        write_text(path, row->workload);
    }
    spec.graph = graph_named(path, arena);
    spec.name = spec.graph->name;
    if (row->platform) {
        spec.platform = row->platform[0] == '{' ? platform_from(row->platform, arena)
                                                : platform_named(row->platform, arena);
    } else {
        spec.platform = mer_graph_attachment(spec.graph, "platform");
    }
    spec.problem = mer_problem_find(name_in(row->problem, arena), NULL);
    spec.evaluator = mer_evaluator_find(name_in(row->evaluator, arena), NULL);
    assert_non_null(spec.problem);
    assert_non_null(spec.evaluator);
    if (spec.problem->choose_default) {
        spec.objective = spec.problem->choose_default(MER_DEFAULT_OBJECTIVE,
                                                      &(MerInputs){.evaluator = spec.evaluator});
    }
    if (spec.problem->options) {
        spec.problem_options =
            options_from(row->problem, spec.problem->options, spec.problem->options_size, arena);
    }
    if (spec.evaluator->options) {
        spec.evaluator_options = options_from(row->evaluator, spec.evaluator->options,
                                              spec.evaluator->options_size, arena);
    }
    return spec;
}

typedef struct Opened {
    const Row   *row;
    MerTask      task;
    MerProblem   problem;
    MerEvaluator evaluator;
} Opened;

static const MerPlanKind *kind_of(const MerRunSpec *spec)
{
    for (const MerPlanKind *const *made = spec->problem->plans; *made; made++) {
        if (mer_evaluator_prices(spec->evaluator, *made)) {
            return *made;
        }
    }
    return NULL;
}

static void open_task(const Row *row, const MerRunSpec *spec, const MerTask *task, Opened *opened)
{
    MerError error = {0};
    *opened = (Opened){.row = row, .task = *task};
    opened->problem = (MerProblem){.type = spec->problem,
                                   .options = spec->problem_options,
                                   .graph = spec->graph,
                                   .platform = spec->platform,
                                   .task = &opened->task,
                                   .plan = kind_of(spec),
                                   .state = mer_arena_alloc(arena, spec->problem->state_size + 1)};
    assert_non_null(opened->problem.plan);
    opened->evaluator =
        (MerEvaluator){spec->evaluator, mer_arena_alloc(arena, spec->evaluator->state_size + 1),
                       spec->evaluator_options};
    if (spec->problem->open(&opened->problem, arena, &error) != MER_OK ||
        spec->evaluator->open(opened->evaluator.state, &opened->problem, spec->evaluator_options,
                              arena, &error) != MER_OK) {
        fail_msg("%s on %s: %s", row->problem, spec->graph->name, error.message);
    }
}

static void close_task(Opened *opened)
{
    if (opened->evaluator.type->close) {
        opened->evaluator.type->close(opened->evaluator.state);
    }
    if (opened->problem.type->close) {
        opened->problem.type->close(&opened->problem);
    }
}

/* Calls `check` with the first tasks of every row. */
static void for_every_task(void (*check)(const Opened *opened, MerRng *rng))
{
    for (int r = 0; r < ROW_COUNT; r++) {
        MerRunSpec     spec = spec_of(&rows[r]);
        MerProblem     blank = {.type = spec.problem,
                                .graph = spec.graph,
                                .platform = spec.platform,
                                .options = spec.problem_options};
        MerTask        whole = {.name = spec.name, .count = 1, .op = -1};
        const MerTask *tasks = &whole;
        int            count = 1;
        MerError       error = {0};
        if (spec.problem->tasks &&
            spec.problem->tasks(&blank, arena, &tasks, &count, &error) != MER_OK) {
            fail_msg("%s: %s", rows[r].problem, error.message);
        }
        for (int t = 0; t < count && t < TASKS; t++) {
            Opened opened;
            MerRng rng = mer_rng_make(7, (uint64_t)r);
            open_task(&rows[r], &spec, &tasks[t], &opened);
            check(&opened, &rng);
            close_task(&opened);
        }
    }
}

static MerIndex *new_point(const Opened *opened)
{
    return MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
}

static MerPlan plan_of(const Opened *opened, const MerIndex *point)
{
    MerPlan plan;
    opened->problem.type->decode(&opened->problem, point, &plan, arena);
    assert_ptr_equal(plan.kind, opened->problem.plan);
    return plan;
}

static MerCost price_with(const Opened *opened, const MerPlan *plan, MerCall call)
{
    MerCost cost;
    call.scratch = mer_arena_new();
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    mer_arena_free(call.scratch);
    return cost;
}

static MerCost price(const Opened *opened, const MerPlan *plan)
{
    return price_with(opened, plan, (MerCall){.limit = INFINITY, .limit_metric = MER_METRIC_COUNT});
}

/* The next random point whose plan is feasible, of rows with hope; its plan and cost. */
static bool next_feasible(const Opened *opened, MerRng *rng, MerIndex *point, MerPlan *plan,
                          MerCost *cost)
{
    for (int i = 0; i < POINTS && !opened->row->is_hopeless; i++) {
        mer_space_sample(&opened->problem.space, rng, point);
        *plan = plan_of(opened, point);
        *cost = price(opened, plan);
        if (cost->feasible) {
            return true;
        }
    }
    if (!opened->row->is_hopeless) {
        fail_msg("%s: none of %d random points of task %s is feasible, the test says nothing",
                 opened->row->problem, POINTS, opened->task.name);
    }
    return false;
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void assert_same_cost(const Opened *opened, const MerCost *a, const MerCost *b,
                             const char *what)
{
    bool is_equal =
        a->feasible == b->feasible && (a->feasible || strcmp(a->reason, b->reason) == 0);
    for (int m = 0; a->feasible && m < MER_METRIC_COUNT && !is_measured(opened->row); m++) {
        if (!is_same(a->value[m], b->value[m])) {
            fail_msg("%s: %s is %.17g, and %.17g %s", opened->row->problem,
                     mer_metric_info((MerMetric)m)->name, a->value[m], b->value[m], what);
        }
    }
    if (!is_equal) {
        fail_msg("%s: \"%s\", but \"%s\" %s", opened->row->problem, a->reason, b->reason, what);
    }
}

/* Every plug-in is in the table, and has what it must have. */

static bool has_row(const char *problem, const char *evaluator, bool needs_hope)
{
    for (int r = 0; r < ROW_COUNT; r++) {
        bool is_it = (!problem || mer_name_equal(name_in(rows[r].problem, arena), problem)) &&
                     (!evaluator || mer_name_equal(name_in(rows[r].evaluator, arena), evaluator));
        if (is_it && !(needs_hope && rows[r].is_hopeless)) {
            return true;
        }
    }
    return false;
}

static void test_every_problem_and_evaluator_has_a_row(void **state)
{
    (void)state;
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        if (!has_row((*problem)->name, NULL, true)) {
            fail_msg("problem %s is not tested: add inputs for it to `rows` in "
                     "tests/property/test_every_problem.c",
                     (*problem)->name);
        }
    }
    for (const MerEvaluatorClass *const *evaluator = mer_evaluators(); *evaluator; evaluator++) {
        if (!has_row(NULL, (*evaluator)->name, true)) {
            fail_msg("evaluator %s is not tested: add inputs for it to `rows` in "
                     "tests/property/test_every_problem.c",
                     (*evaluator)->name);
        }
    }
}

static void check_kinds(const char *owner, const MerPlanKind *const *kinds)
{
    if (!kinds || !*kinds) {
        fail_msg("%s has no plan kinds", owner);
    }
    for (; *kinds; kinds++) {
        const MerPlanKind *kind = *kinds;
        if (!kind->name || !kind->hash || !kind->write || !kind->read || !kind->print) {
            fail_msg("plan kind %s of %s lacks one of name, hash, write, read and print",
                     kind->name ? kind->name : "?", owner);
        }
    }
}

static void test_every_plan_kind_can_be_hashed_written_read_and_printed(void **state)
{
    (void)state;
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        check_kinds((*problem)->name, (*problem)->plans);
    }
    for (const MerEvaluatorClass *const *evaluator = mer_evaluators(); *evaluator; evaluator++) {
        if ((*evaluator)->plans) {
            check_kinds((*evaluator)->name, (*evaluator)->plans);
        }
    }
}

static void test_defaults_of_every_problem_exist_and_fit(void **state)
{
    (void)state;
    for (const MerProblemClass *const *list = mer_problems(); *list; list++) {
        const MerProblemClass *problem = *list;
        MerRunSpec             spec = {.problem = problem};
        spec.evaluator = mer_evaluator_find(problem->evaluator, NULL);
        const MerOptimizerClass *exact =
            problem->exact ? mer_optimizer_find(problem->exact, NULL) : NULL;
        MerMetric objective = mer_metric_find(problem->objective);
        if (!spec.evaluator || !kind_of(&spec) || !mer_optimizer_find(problem->optimizer, NULL) ||
            (problem->exact && !exact) || problem->budget < 1 || objective == MER_METRIC_COUNT ||
            !(spec.evaluator->metrics >> objective & 1)) {
            fail_msg("a default of problem %s does not exist, or does not fit", problem->name);
        }
        const MerPlatform *platform =
            problem->platform ? platform_named(problem->platform, arena) : NULL;
        assert_true(!platform || (problem->platforms >> platform->kind & 1));
    }
}

/* Spaces and points */

static void check_space(const Opened *opened, MerRng *rng)
{
    const MerSpace *space = &opened->problem.space;
    (void)rng;
    assert_true(space->knob_count > 0);
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        if (knob->choices < 1 || knob->agent < 0 || knob->role >= MER_ROLE_COUNT || !knob->name) {
            fail_msg("%s: knob %d is not complete", opened->row->problem, k);
        }
        for (int other = 0; other < k; other++) {
            if (strcmp(space->knobs[other].name, knob->name) == 0) {
                fail_msg("%s: two knobs are called %s, so that --fix cannot tell them apart",
                         opened->row->problem, knob->name);
            }
        }
    }
}

static void test_every_knob_has_a_name_of_its_own_and_choices(void **state)
{
    (void)state;
    for_every_task(check_space);
}

static void check_points(const Opened *opened, MerRng *rng)
{
    const MerProblemClass *type = opened->problem.type;
    MerIndex              *point = new_point(opened);
    for (int i = 0; i < some(opened->row, 300); i++) {
        mer_space_sample(&opened->problem.space, rng, point);
        MerPlan plan = plan_of(opened, point);
        MerCost cost = price(opened, &plan);
        if (!cost.feasible && !strchr(cost.reason, ':')) {
            fail_msg("%s: the reason \"%s\" has no class before a colon", opened->row->problem,
                     cost.reason);
        }
        assert_false(cost.feasible && opened->row->is_hopeless);
        assert_false(cost.feasible && type->is_legal && !type->is_legal(&opened->problem, point));
        for (int m = 0; cost.feasible && m < MER_METRIC_COUNT; m++) {
            bool is_declared = opened->evaluator.type->metrics >> m & 1;
            if (!isnan(cost.value[m]) && !is_declared) {
                fail_msg("%s fills %s, which it does not declare", opened->row->evaluator,
                         mer_metric_info((MerMetric)m)->name);
            }
        }
    }
}

static void test_every_random_point_decodes_and_has_a_price_or_a_reason(void **state)
{
    (void)state;
    for_every_task(check_points);
}

static void check_encode(const Opened *opened, MerRng *rng)
{
    const MerProblemClass *type = opened->problem.type;
    MerIndex              *point = new_point(opened), *back = new_point(opened);
    MerPlan                plan;
    MerCost                cost;
    for (int i = 0;
         i < some(opened->row, FEASIBLE) && next_feasible(opened, rng, point, &plan, &cost); i++) {
        if (!type->encode(&opened->problem, &plan, back) ||
            !mer_space_contains(&opened->problem.space, back)) {
            fail_msg("%s: no point says a plan that was decoded", opened->row->problem);
        }
        MerPlan again = plan_of(opened, back);
        MerCost other = price(opened, &again);
        assert_same_cost(opened, &cost, &other, "after encode and decode");
        if (type->canonical) {
            type->canonical(&opened->problem, &again);
            uint64_t hash = mer_plan_hash(&again);
            type->canonical(&opened->problem, &again);
            assert_int_equal(hash, mer_plan_hash(&again));
            other = price(opened, &again);
            for (int m = 0; m < MER_METRIC_COUNT; m++) { /* sums may be in another order */
                assert_false(fabs(cost.value[m] - other.value[m]) > 1e-12 * fabs(cost.value[m]));
            }
        }
    }
}

static void test_encode_gives_a_point_of_the_same_plan(void **state)
{
    (void)state;
    for_every_task(check_encode);
}

static void check_file(const Opened *opened, MerRng *rng)
{
    const MerPlanKind *kind = opened->problem.plan;
    MerIndex          *point = new_point(opened);
    MerPlan            plan, again;
    MerCost            cost;
    for (int i = 0;
         i < some(opened->row, FEASIBLE) && next_feasible(opened, rng, point, &plan, &cost); i++) {
        MerJson     json = {0};
        MerYaml    *body;
        MerError    error = {0};
        const char *text = kind->print ? kind->print(&opened->problem, &plan, arena) : "\n";
        assert_true(*text && text[strlen(text) - 1] == '\n');
        mer_json_object(&json, NULL);
        kind->write(&opened->problem, &plan, &json);
        mer_json_end_object(&json);
        if (mer_yaml_parse("plan", json.text, json.size, arena, &body, &error) != MER_OK ||
            kind->read(&opened->problem, body, &again, arena, &error) != MER_OK) {
            fail_msg("%s: %s in %s", opened->row->problem, error.message, json.text);
        }
        MerCost other = price(opened, &again);
        assert_same_cost(opened, &cost, &other, "once written and read");
        mer_json_free(&json);
    }
}

static void test_written_plans_read_back_with_the_same_cost(void **state)
{
    (void)state;
    for_every_task(check_file);
}

/* Bounds */

static void check_bounds(const Opened *opened, MerRng *rng)
{
    const MerEvaluator *evaluator = &opened->evaluator;
    const void *rules = evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MerIndex   *point = new_point(opened);
    MerPlan     plan;
    MerCost     cost;
    MerBound    bounds[MER_METRIC_COUNT];
    for (int m = 0; rules && m < MER_METRIC_COUNT; m++) {
        bounds[m] = (MerBound){NAN, "none", ""};
        opened->problem.type->bound(&opened->problem, rules, (MerMetric)m, &bounds[m]);
        assert_non_null(bounds[m].kind);
        assert_non_null(bounds[m].scope);
        assert_int_equal(isnan(bounds[m].value), strcmp(bounds[m].kind, "none") == 0);
    }
    for (int i = 0; i < some(opened->row, FEASIBLE) && rules &&
                    next_feasible(opened, rng, point, &plan, &cost);
         i++) {
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            const MerMetricInfo *info = mer_metric_info((MerMetric)m);
            double               beyond = info->direction < 0 ? bounds[m].value - cost.value[m]
                                                              : cost.value[m] - bounds[m].value;
            if (beyond > 1e-9 * fabs(bounds[m].value)) {
                fail_msg("%s: %s is %.17g, beyond the %s bound of %.17g", opened->row->problem,
                         info->name, cost.value[m], bounds[m].kind, bounds[m].value);
            }
        }
    }
}

static void test_no_random_point_beats_a_bound(void **state)
{
    (void)state;
    for_every_task(check_bounds);
}

/* Evaluators: one price, however it was asked for */

static void check_limits(const Opened *opened, MerRng *rng)
{
    MerIndex *point = new_point(opened);
    MerPlan   plan;
    MerCost   cost;
    for (int i = 0;
         i < some(opened->row, FEASIBLE) && next_feasible(opened, rng, point, &plan, &cost); i++) {
        MerCost again = price(opened, &plan);
        assert_same_cost(opened, &cost, &again, "the second time");
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            double value = cost.value[m];
            bool   is_minimised = mer_metric_info((MerMetric)m)->direction < 0;
            if (!is_minimised || !(value > 0) || isinf(value)) {
                continue;
            }
            again = price_with(opened, &plan, (MerCall){.limit = value * 1.5, .limit_metric = m});
            assert_false(again.cut);
            assert_same_cost(opened, &cost, &again, "with a limit above it");
            again = price_with(opened, &plan, (MerCall){.limit = value / 2, .limit_metric = m});
            if (!again.cut) {
                assert_same_cost(opened, &cost, &again, "with a limit below it");
            } else if (!(again.value[m] > value / 2 && again.value[m] <= value * (1 + 1e-12))) {
                fail_msg("%s: a cut %s is %.17g, expected more than %.17g and at most %.17g",
                         opened->row->evaluator, mer_metric_info((MerMetric)m)->name,
                         again.value[m], value / 2, value);
            }
        }
    }
}

static void test_prices_do_not_depend_on_limits(void **state)
{
    (void)state;
    for_every_task(check_limits);
}

/* A walk of small steps, each priced from the snapshot of the one before. */
static void check_snapshots(const Opened *opened, MerRng *rng)
{
    const MerEvaluator *evaluator = &opened->evaluator;
    const MerSpace     *space = &opened->problem.space;
    size_t              size =
        evaluator->type->snapshot_size ? evaluator->type->snapshot_size(evaluator->state) : 0;
    void       *snapshots[2] = {mer_arena_alloc(arena, size + 1), mer_arena_alloc(arena, size + 1)};
    const void *base = NULL;
    MerIndex   *point = new_point(opened);
    mer_space_sample(space, rng, point);
    for (int i = 0; size > 0 && i < 200; i++) {
        MerPlan plan = plan_of(opened, point);
        MerCost cost = price(opened, &plan);
        MerCost again = price_with(opened, &plan,
                                   (MerCall){.limit = INFINITY,
                                             .limit_metric = MER_METRIC_COUNT,
                                             .base = base,
                                             .snapshot = snapshots[i % 2]});
        assert_same_cost(opened, &cost, &again, "from a snapshot");
        base = snapshots[i % 2];
        mer_space_step(space, rng, mer_rng_below(rng, space->knob_count), point);
    }
}

static void test_prices_do_not_depend_on_snapshots(void **state)
{
    (void)state;
    for_every_task(check_snapshots);
}

static void check_batches(const Opened *opened, MerRng *rng)
{
    enum { COUNT = 21 };
    const MerEvaluator *evaluator = &opened->evaluator;
    MerPlan             plans[COUNT];
    MerCall             calls[COUNT];
    MerCost             costs[COUNT];
    MerIndex           *point = new_point(opened);
    for (int i = 0; i < COUNT; i++) {
        mer_space_sample(&opened->problem.space, rng, point);
        plans[i] = plan_of(opened, point);
        calls[i] = (MerCall){.scratch = arena, .limit = INFINITY, .limit_metric = MER_METRIC_COUNT};
    }
    if (evaluator->type->evaluate_batch) {
        evaluator->type->evaluate_batch(evaluator->state, plans, COUNT, calls, costs);
    }
    for (int i = 0; evaluator->type->evaluate_batch && i < COUNT; i++) {
        MerCost alone = price(opened, &plans[i]);
        assert_same_cost(opened, &alone, &costs[i], "in a batch");
    }
}

static void test_prices_do_not_depend_on_batches(void **state)
{
    (void)state;
    for_every_task(check_batches);
}

static void check_note(void *state, const char *name, const char *json)
{
    cJSON *parsed = cJSON_Parse(json);
    if (!parsed) {
        fail_msg("%s: note %s is no JSON: %s", (const char *)state, name, json);
    }
    cJSON_Delete(parsed);
}

static void check_detail(const Opened *opened, MerRng *rng)
{
    const MerEvaluatorClass *type = opened->evaluator.type;
    MerNotes                 notes = {.state = (void *)type->name, .note = check_note};
    MerIndex                *point = new_point(opened);
    for (int i = 0; i < 20; i++) { /* of plans that are refused, too: `evaluate` asks for them */
        mer_space_sample(&opened->problem.space, rng, point);
        MerPlan plan = plan_of(opened, point);
        if (type->detail) {
            type->detail(opened->evaluator.state, &plan, &notes);
        }
        if (type->print) {
            type->print(opened->evaluator.state, &plan, arena);
        }
    }
}

static void test_notes_are_json(void **state)
{
    (void)state;
    for_every_task(check_detail);
}

/* Runs */

static MerRunResult run_with(const Row *row, const char *optimizer, int threads, const char *folder,
                             const MerExportRequest *exports, int export_count)
{
    MerRunSpec spec = spec_of(row);
    spec.optimizer = mer_optimizer_find(optimizer, NULL);
    spec.threads = threads;
    spec.directory = folder;
    spec.exports = exports;
    spec.export_count = export_count;
    return run_or_fail(&spec, NULL, arena);
}

static void test_logs_are_the_same_on_one_and_two_threads(void **state)
{
    (void)state;
    for (int r = 0; r < ROW_COUNT; r++) {
        const char *optimizers[] = {"random", "genetic", "annealing", NULL};
        optimizers[3] = mer_problem_find(name_in(rows[r].problem, arena), NULL)->optimizer;
        for (int o = 0; o < 4 && !is_measured(&rows[r]); o++) {
            run_with(&rows[r], optimizers[o], 1, "one", NULL, 0);
            run_with(&rows[r], optimizers[o], 2, "two", NULL, 0);
            size_t one_size, two_size;
            char  *one = file_bytes("one", "run.jsonl", &one_size, arena);
            char  *two = file_bytes("two", "run.jsonl", &two_size, arena);
            if (one_size != two_size || memcmp(one, two, one_size) != 0) {
                fail_msg("%s with %s: the logs of one and two threads differ", rows[r].problem,
                         optimizers[o]);
            }
        }
    }
}

static void test_where_nothing_fits_runs_end_with_reasons(void **state)
{
    (void)state;
    for (int r = 0; r < ROW_COUNT; r++) {
        const MerProblemClass *problem = mer_problem_find(name_in(rows[r].problem, arena), NULL);
        const char *optimizers[] = {"random", "annealing", problem->optimizer, problem->exact};
        for (int o = 0; rows[r].is_hopeless && o < 4 && optimizers[o]; o++) {
            MerRunResult result = run_with(&rows[r], optimizers[o], 1, "hopeless", NULL, 0);
            assert_false(result.is_feasible);
            for (int t = 0; t < result.task_count; t++) {
                assert_null(result.tasks[t].point);
                assert_true(result.tasks[t].reason_count > 0);
                assert_true(result.tasks[t].closest[0] != '\0');
            }
            mer_test_contains(result.summary, "\"feasible\":false");
        }
    }
}

/* Plan files and exporters, through what `mercator evaluate` does */

static MerRunResult evaluate_file(const Row *row, const char *path)
{
    MerEvaluation      job = {.arena = arena};
    MerEvaluateRequest request = {.input_count = 1, .inputs = {path}, .evaluator = row->evaluator};
    MerRunResult       result = {0};
    MerError           error = {0};
    /* files of other tools name neither options nor platform */
    assert_int_equal(mer_reference_parse(row->problem, &request.options, arena, NULL), MER_OK);
    if (row->platform) {
        request.platform = "platform.yaml";
        FILE *file = fopen(request.platform, "w");
        assert_non_null(file);
        mer_platform_write(spec_of(row).platform, file);
        fclose(file);
    }
    MerStatus status = mer_evaluate_open(&job, &request, &error);
    if (status == MER_OK) {
        status = mer_run_given(&job.spec, job.given, job.count, arena, &result, &error);
    }
    if (status != MER_OK) {
        fail_msg("%s: %s", row->problem, error.message);
    }
    return result;
}

/* All tasks, or, where a format has no words for some plans, those that are not left out. */
static void assert_reads_back(const Row *row, const char *path, const MerRunResult *run,
                              bool is_all)
{
    MerRunResult result = evaluate_file(row, path);
    Opened       opened = {.row = row};
    int          from = 0;
    assert_in_range(result.task_count, is_all ? run->task_count : 0, run->task_count);
    for (int t = 0; t < result.task_count; t++, from++) {
        while (!is_all && from < run->task_count &&
               strcmp(run->tasks[from].task.name, result.tasks[t].task.name) != 0) {
            from++;
        }
        assert_true(from < run->task_count);
        assert_same_cost(&opened, &run->tasks[from].best, &result.tasks[t].best,
                         mer_arena_format(arena, "when %s is evaluated", path));
    }
}

static bool is_written(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size > 0;
}

static void test_plan_files_are_evaluated_with_the_same_cost(void **state)
{
    (void)state;
    for (int r = 0; r < ROW_COUNT; r++) {
        const MerProblemClass *problem = mer_problem_find(name_in(rows[r].problem, arena), NULL);
        const char            *path = mer_arena_format(arena, "run/%s", problem->plan_file);
        if (!rows[r].is_hopeless) {
            MerRunResult run = run_with(&rows[r], "random", 1, "run", NULL, 0);
            assert_true(run.is_feasible);
            assert_true(is_written(path));
            assert_reads_back(&rows[r], path, &run, true);
        }
    }
}

static void test_every_exporter_writes_what_its_reader_reads(void **state)
{
    (void)state;
    for (const MerExporterClass *const *list = mer_exporters(); *list; list++) {
        const MerExporterClass *type = *list;
        int                     written = 0;
        for (int r = 0; r < ROW_COUNT; r++) {
            const char      *path = "exported";
            MerRunSpec       spec = spec_of(&rows[r]);
            MerExportRequest request = {type, path};
            MerRunResult     result;
            if (rows[r].is_hopeless ||
                (type->problem && !mer_name_equal(type->problem, spec.problem->name))) {
                continue;
            }
            spec.optimizer = mer_optimizer_find("random", NULL);
            spec.exports = &request;
            spec.export_count = 1;
            MerError  error = {0};
            MerStatus status = mer_run(&spec, NULL, arena, &result, &error);
            if (status == MER_UNSUPPORTED) { /* plans of a kind that it does not write */
                continue;
            }
            if (status != MER_OK) {
                fail_msg("%s: %s", type->name, error.message);
            }
            assert_true(is_written(path));
            written++;
            if (type->is_plan) {
                bool is_padded = strstr(rows[r].problem, "factors=padded") != NULL;
                assert_reads_back(&rows[r], path, &result, !is_padded);
            }
            remove_folder(path);
        }
        if (written == 0) {
            fail_msg("exporter %s wrote nothing: add inputs for its plans to `rows` in "
                     "tests/property/test_every_problem.c",
                     type->name);
        }
    }
}

static int set_up_all(void **state)
{
    MerError error = {0};
    set_up(state);
    assert_int_equal(mer_register_importer(&mer_importer_assign, &error), MER_OK);
    assert_int_equal(mer_register_problem(&mer_problem_assign, &error), MER_OK);
    assert_int_equal(mer_register_evaluator(&mer_evaluator_bins, &error), MER_OK);
    assert_int_equal(mer_register_optimizer(&mer_optimizer_exact_assign, &error), MER_OK);
    assert_int_equal(mer_register_exporter(&mer_exporter_labels, &error), MER_OK);
    assert_int_equal(mer_register_plan_reader(&mer_plan_reader_labels, &error), MER_OK);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_problem_and_evaluator_has_a_row),
        cmocka_unit_test(test_every_plan_kind_can_be_hashed_written_read_and_printed),
        cmocka_unit_test(test_defaults_of_every_problem_exist_and_fit),
        cmocka_unit_test(test_every_knob_has_a_name_of_its_own_and_choices),
        cmocka_unit_test(test_every_random_point_decodes_and_has_a_price_or_a_reason),
        cmocka_unit_test(test_encode_gives_a_point_of_the_same_plan),
        cmocka_unit_test(test_written_plans_read_back_with_the_same_cost),
        cmocka_unit_test(test_no_random_point_beats_a_bound),
        cmocka_unit_test(test_prices_do_not_depend_on_limits),
        cmocka_unit_test(test_prices_do_not_depend_on_snapshots),
        cmocka_unit_test(test_prices_do_not_depend_on_batches),
        cmocka_unit_test(test_notes_are_json),
        cmocka_unit_test(test_logs_are_the_same_on_one_and_two_threads),
        cmocka_unit_test(test_where_nothing_fits_runs_end_with_reasons),
        cmocka_unit_test(test_plan_files_are_evaluated_with_the_same_cost),
        cmocka_unit_test(test_every_exporter_writes_what_its_reader_reads),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down);
}
