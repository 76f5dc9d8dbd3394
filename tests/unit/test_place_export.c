/* Files of a placement for other tools: every parameter of a device_map is covered once, every tensor of an override list
 * matches once, islands are priced as by hand, a trace ends with the period, and a programme has the loads of the evaluator. */
#include "one_arena.h"
#include "place_support.h"

#include "base/json_read.h"
#include "base/note_list.h"
#include "mercator/export.h"
#include "mercator/rng.h"
#include "place/export/place_export.h"

#include <regex.h>

enum { LAYERS = 37, TENSORS = 4, HOSTS_FROM = 3, UNITS = 4 };
static const char *const tails[TENSORS] = {"attn_q.weight", "ffn_up.weight", "ffn_up.bias", "norm"};

typedef struct
    Model { /* a language model as llama.cpp names it: one operator per tensor, all with a weight of their own */
    MerPlace     place;
    MerProblem   problem;
    MerGraphPlan graph_plan;
    MerPlan      plan;
} Model;

static const char *const unit_names[UNITS] = {"gpu0", "gpu1", "gpu2", "cpu"};

static void add_tensor(MerGraph *graph, const char *name, int rank)
{
    int   count = graph->op_count;
    MerOp op = mer_op_make(mer_arena_format(arena, "op%d", count), "MatMul", MER_OP_MOVE);
    int   weight = mer_graph_add_value(graph, &(MerValue){.name = name,
                                                          .type = MER_TYPE_FLOAT16,
                                                          .rank = rank,
                                                          .dims = {8, 8},
                                                          .role = MER_VALUE_WEIGHT});
    int   result =
        mer_graph_add_value(graph, &(MerValue){.name = mer_arena_format(arena, "result%d", count),
                                               .type = MER_TYPE_FLOAT16,
                                               .rank = 1,
                                               .dims = {8}});
    op.input_count = 1;
    op.inputs = &weight;
    op.output_count = 1;
    op.outputs = &result;
    mer_graph_add_op(graph, &op);
}

static Model *new_model(void)
{
    Model    *model = MER_NEW(arena, Model);
    MerGraph *graph = mer_graph_new("model", arena);
    MerUnit  *units = MER_ARRAY(arena, MerUnit, UNITS);
    bool     *is_host = MER_ARRAY(arena, bool, UNITS);
    add_tensor(graph, "token_embd.weight", 2);
    for (int l = 0; l < LAYERS; l++) {
        for (int t = 0; t < TENSORS; t++) {
            add_tensor(graph, mer_arena_format(arena, "blk.%d.%s", l, tails[t]), 1);
        }
    }
    add_tensor(graph, "output.weight", 2);
    add_tensor(graph, "output_norm.weight", 1);
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    const char **names = MER_ARRAY(arena, const char *, graph->op_count);
    for (int o = 0; o < graph->op_count; o++) {
        names[o] = graph->ops[o].name;
    }
    for (int u = 0; u < UNITS; u++) {
        units[u] = (MerUnit){.name = unit_names[u], .class_name = u < HOSTS_FROM ? "gpu" : "cpu"};
        is_host[u] = u >= HOSTS_FROM;
    }
    MerPlatform *platform = MER_NEW(arena, MerPlatform);
    *platform = (MerPlatform){.units = units, .unit_count = UNITS};
    model->place = (MerPlace){.graph = graph,
                              .platform = platform,
                              .op_count = graph->op_count,
                              .unit_count = UNITS,
                              .names = names,
                              .unit_names = unit_names,
                              .is_host = is_host};
    model->graph_plan =
        (MerGraphPlan){.op_count = graph->op_count, .unit = MER_ARRAY(arena, int, graph->op_count)};
    model->plan = (MerPlan){&mer_plan_graph, &model->graph_plan};
    model->problem =
        (MerProblem){.type = mer_problem_find("place", NULL), .state = MER_NEW(arena, Model)};
    return model;
}

static const char *export_by(const char *name, const MerProblem *problem, const MerPlan *plan,
                             const char *detail, MerError *error)
{
    MerExportTask  task = {.problem = problem, .plan = plan, .detail = detail};
    MerExport      what = {.workload = "model", .count = 1, .tasks = &task};
    MerExportFiles files = {.arena = arena};
    if (mer_exporter_find(name, NULL)->write(&what, &files, error) != MER_OK) {
        return NULL;
    }
    return files.count == 0 ? "" : files.list[0].data;
}

static const char *export_model(const char *name, Model *model, MerError *error)
{
    memcpy(model->problem.state, &model->place, sizeof model->place); /* it begins with the place */
    return export_by(name, &model->problem, &model->plan, NULL, error);
}

/* Layers whole on a unit, but a few; or everything anywhere. */
static void place_at_random(Model *model, MerRng *rng, bool is_by_layer)
{
    int border = mer_rng_below(rng, LAYERS), unit = 0;
    for (int o = 0; o < model->place.op_count; o++) {
        int layer = (o - 1) / TENSORS;
        unit = !is_by_layer                ? mer_rng_below(rng, UNITS)
               : (o - 1) % TENSORS != 0    ? unit
               : layer < border            ? 0
               : mer_rng_below(rng, 5) > 0 ? 2
                                           : mer_rng_below(rng, UNITS);
        model->graph_plan.unit[o] = unit;
        if (is_by_layer && mer_rng_below(rng, 40) == 0) {
            model->graph_plan.unit[o] = 3;
        }
    }
}

static void test_number_pattern_matches_exactly_its_numbers(void **state)
{
    MerRng rng = mer_rng_make(5, 0);
    (void)state;
    for (int run = 0; run < 300; run++) {
        int64_t numbers[400];
        bool    is_in[1300] = {false};
        int     count = 0, at = mer_rng_below(&rng, 130);
        while (at < 1250 && count < 390) {
            int length = 1 + mer_rng_below(&rng, run % 3 == 0 ? 250 : 12);
            for (int i = 0; i < length && at < 1250 && count < 390; i++) {
                is_in[at] = true;
                numbers[count++] = at++;
            }
            at += 1 + mer_rng_below(&rng, 40);
        }
        regex_t     regex;
        const char *pattern =
            mer_arena_format(arena, "^(%s)$", mer_number_pattern(numbers, count, arena));
        assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
        for (int n = 0; n < 1300; n++) {
            char text[16];
            snprintf(text, sizeof text, "%d", n);
            if ((regexec(&regex, text, 0, NULL, 0) == 0) != is_in[n]) {
                fail_msg("%s and %d", pattern, n);
            }
        }
        regfree(&regex);
    }
    int64_t few[] = {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
    assert_string_equal(mer_number_pattern(few, 12, arena), "1[2-9]|2[0-3]");
    int64_t zero[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    assert_string_equal(mer_number_pattern(zero, 12, arena), "[0-9]|1[01]");
}

/* The buffer of the one expression that matches; NULL: none, or several. */
static const char *buffer_of(const char *list, const char *tensor)
{
    char       *copy = mer_arena_text(arena, strchr(list, '\'') + 1), *rest = copy;
    const char *found = NULL;
    *strrchr(copy, '\'') = '\0';
    for (char *rule = strtok_r(copy, ",", &rest); rule; rule = strtok_r(NULL, ",", &rest)) {
        char   *equals = strchr(rule, '=');
        regex_t regex;
        *equals = '\0';
        assert_int_equal(rule[0], '^');
        assert_int_equal(equals[-1], '$');
        assert_int_equal(regcomp(&regex, rule, REG_EXTENDED | REG_NOSUB), 0);
        if (regexec(&regex, tensor, 0, NULL, 0) == 0) {
            assert_null(found);
            found = equals + 1;
        }
        regfree(&regex);
    }
    return found;
}

static void test_override_list_matches_each_tensor_once(void **state)
{
    static const char *const buffers[UNITS] = {"CUDA0", "CUDA1", "CUDA2", "CPU"};
    Model                   *model = new_model();
    MerRng                   rng = mer_rng_make(3, 0);
    int                      count;
    (void)state;
    for (int run = 0; run < 12; run++) {
        place_at_random(model, &rng, run % 3 != 0);
        const char      *list = export_model("llama_override", model, NULL);
        MerPlacement     placement = {&model->place, &model->graph_plan, arena};
        MerPlacedTensor *tensors = mer_placement_tensors(&placement, &count);
        assert_non_null(list);
        assert_int_equal(strncmp(list, "--override-tensor '", 19), 0);
        assert_int_equal(count, model->place.op_count);
        for (int t = 0; t < count; t++) {
            const char *found = buffer_of(list, tensors[t].name);
            assert_non_null(found);
            assert_string_equal(found, buffers[tensors[t].unit]);
        }
    }
}

static void test_whole_layers_are_one_range(void **state)
{
    Model *model = new_model();
    (void)state;
    for (int o = 0; o < model->place.op_count; o++) {
        int layer = (o - 1) / TENSORS;
        model->graph_plan.unit[o] = o > 0 && layer >= 12 && layer < 24 ? 3 : 0;
    }
    assert_string_equal(export_model("llama_override", model, NULL),
                        "--override-tensor '^blk\\.([0-9]|1[01]|2[4-9]|3[0-6])(\\..*)?$=CUDA0,"
                        "^blk\\.(1[2-9]|2[0-3])(\\..*)?$=CPU,"
                        "^(output\\.weight|output_norm\\.weight|token_embd\\.weight)$=CUDA0'\n");
}

/* What accelerate does: the entries that are the name, or a part of it up to a dot. */
static int entries_of(const cJSON *map, const char *name, const cJSON **entry)
{
    const cJSON *item;
    int          count = 0;
    cJSON_ArrayForEach(item, map)
    {
        size_t length = strlen(item->string);
        if (length == 0 || (strncmp(name, item->string, length) == 0 &&
                            (name[length] == '.' || name[length] == '\0'))) {
            *entry = item;
            count++;
        }
    }
    return count;
}

static void check_map(const cJSON *map, const MerPlace *place, const char *name, int unit)
{
    const cJSON *entry = NULL;
    if (entries_of(map, name, &entry) != 1) {
        fail_msg("%s has %d entries", name, entries_of(map, name, &entry));
    }
    if (place->is_host[unit]) {
        assert_string_equal(cJSON_GetStringValue(entry), "cpu");
    } else {
        assert_int_equal(entry->valueint, mer_placement_accelerator(place, unit));
    }
}

static void test_device_map_covers_each_parameter_once(void **state)
{
    Model *model = new_model();
    MerRng rng = mer_rng_make(4, 0);
    int    count;
    (void)state;
    for (int run = 0; run < 12; run++) {
        place_at_random(model, &rng, run % 3 != 0);
        MerPlacement     placement = {&model->place, &model->graph_plan, arena};
        MerPlacedTensor *tensors = mer_placement_tensors(&placement, &count);
        cJSON           *map = cJSON_Parse(export_model("device_map", model, NULL));
        assert_non_null(map);
        for (int t = 0; t < count; t++) {
            check_map(map, &model->place, tensors[t].name, tensors[t].unit);
        }
        cJSON_Delete(map);
    }
    memset(model->graph_plan.unit, 0, (size_t)model->place.op_count * sizeof(int));
    assert_string_equal(export_model("device_map", model, NULL), "{\"\":0}");
}

/* The last module is split: its weight has a made-up name, its bias is its own operator's. */
static void test_device_map_of_scopes_of_pytorch(void **state)
{
    static const char *const names[] = {"/layer1/layer1.0/conv1/Conv",
                                        "/layer1/layer1.0/conv2/Conv",
                                        "/layer1/layer1.1/conv1/Conv",
                                        "/fc/Gemm",
                                        "/dense/MatMul",
                                        "/dense/Add"};
    static const int         units[] = {0, 1, 1, 3, 0, 1};
    Model                   *model = new_model();
    MerGraph                *graph = mer_graph_new("scopes", arena);
    (void)state;
    for (int o = 0; o < 6; o++) {
        add_tensor(graph, o == 5 ? "dense.bias" : mer_arena_format(arena, "onnx::Conv_%d", o),
                   o == 5 ? 1 : 2);
        model->graph_plan.unit[o] = units[o];
    }
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    model->place.graph = graph;
    model->place.op_count = 6;
    model->place.names = names;
    assert_string_equal(export_model("device_map", model, NULL),
                        "{\"layer1.0.conv1\":0,\"layer1.0.conv2\":1,\"layer1.1\":1,\"fc\":\"cpu\","
                        "\"dense.weight\":0,\"dense.bias\":1}");
}

static OpenedPlace *open_tiny(const char *evaluator)
{
    return open_place("place", evaluator, TEST_DATA("place/tiny-inference.json"), NULL, arena);
}

/* Groups in three parts of the order, what does not run on an accelerator on the host. */
static MerPlan split_tiny(const OpenedPlace *opened)
{
    const MerPlace *place = opened->place;
    MerPlan         plan;
    MerGraphPlan   *graph = mer_place_new_plan(place, &plan, arena);
    for (int o = 0; o < place->op_count; o++) {
        int unit = 3 * place->members[place->member_start[place->group[o]]] / place->op_count;
        graph->unit[o] = unit;
        for (int i = place->member_start[place->group[o]];
             i < place->member_start[place->group[o] + 1]; i++) {
            if (place->time_us[place->members[i] * place->unit_count + unit] == INFINITY) {
                graph->unit[o] = place->unit_count - 1;
            }
        }
    }
    return plan;
}

static void test_nodes_have_the_providers_of_their_units(void **state)
{
    OpenedPlace *opened = open_tiny("maxload:price_infeasible=true");
    MerPlan      plan = split_tiny(opened);
    cJSON       *list = cJSON_Parse(export_by("ort_nodes", &opened->problem, &plan, NULL, NULL));
    const cJSON *item;
    int          count = 0;
    (void)state;
    cJSON_ArrayForEach(item, list)
    {
        int unit = mer_graph_plan(&plan)->unit[count];
        assert_string_equal(mer_json_get_text(item, "node", ""), opened->place->names[count]);
        assert_string_equal(mer_json_get_text(item, "provider", ""), opened->place->is_host[unit]
                                                                         ? "CPUExecutionProvider"
                                                                         : "CUDAExecutionProvider");
        assert_int_equal(mer_json_get_real(item, "device_id", -1),
                         opened->place->is_host[unit] ? -1 : unit);
        count++;
    }
    assert_int_equal(count, opened->place->op_count);
    cJSON_Delete(list);
}

/* a - b - c in a row on a host; b alone on the accelerator saves 3 ms and copies 1 + 2 ms, or 4 ms and is worth it. */
static const char *islands_of(double saved)
{
    const char *path = mer_arena_format(arena, "%s/row.json", new_folder(arena));
    FILE       *file = fopen(path, "w");
    fprintf(file,
            "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 1, \"maxCPUs\": 1, \"nodes\": ["
            "{\"id\": 1, \"name\": \"a\", \"supportedOnFpga\": false, \"cpuLatency\": 1, "
            "\"fpgaLatency\": 1, \"isBackwardNode\": 0, \"size\": 1},"
            "{\"id\": 2, \"name\": \"b\", \"supportedOnFpga\": true, \"cpuLatency\": %g, "
            "\"fpgaLatency\": 1, \"isBackwardNode\": 0, \"size\": 1},"
            "{\"id\": 3, \"name\": \"c\", \"supportedOnFpga\": false, \"cpuLatency\": 1, "
            "\"fpgaLatency\": 1, \"isBackwardNode\": 0, \"size\": 1}],"
            "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 1, \"size\": 7},"
            "{\"sourceId\": 2, \"destId\": 3, \"cost\": 2, \"size\": 9}]}",
            1 + saved);
    fclose(file);
    OpenedPlace  *opened = open_place("place", "maxload", path, NULL, arena);
    MerPlan       plan;
    MerGraphPlan *graph = mer_place_new_plan(opened->place, &plan, arena);
    graph->unit[0] = graph->unit[1] = graph->unit[2] = 1;
    return export_by("ort_islands", &opened->problem, &plan, NULL, NULL);
}

static void test_islands_are_held_against_their_copies(void **state)
{
    (void)state;
    cJSON *list = cJSON_Parse(islands_of(2.5));
    assert_int_equal(cJSON_GetArraySize(list), 1);
    const cJSON *island = cJSON_GetArrayItem(list, 0);
    assert_float_equal(mer_json_get_real(island, "copies_s", 0), 3e-3, 1e-12);
    assert_float_equal(mer_json_get_real(island, "saved_s", 0), 2.5e-3, 1e-12);
    assert_true(cJSON_IsFalse(mer_json_get(island, "is_claimed")));
    assert_string_equal(cJSON_GetArrayItem(mer_json_get(island, "nodes"), 0)->valuestring, "b");
    cJSON_Delete(list);
    assert_string_equal(islands_of(4), "[]");
}

/* The notes of an evaluator as a JSON object, as a run hands them to exporters. */
static const char *detail_of(const OpenedPlace *opened, const MerPlan *plan)
{
    MerNoteList list = {0};
    MerNotes    notes = mer_note_list_begin(&list);
    opened->evaluator.type->detail(opened->evaluator.state, plan, &notes);
    return mer_note_list_end(&list, arena);
}

static void check_trace(const OpenedPlace *opened, const MerPlan *plan)
{
    double end = 0, expected = 1e6 * price_plan(opened, plan).value[MER_METRIC_PERIOD];
    int    slices = 0;
    cJSON *trace = cJSON_Parse(
        export_by("placement_trace", &opened->problem, plan, detail_of(opened, plan), NULL));
    const cJSON *event;
    cJSON_ArrayForEach(event, mer_json_get(trace, "traceEvents"))
    {
        if (strcmp(mer_json_get_text(event, "ph", ""), "X") == 0) {
            int process = (int)mer_json_get_real(event, "pid", 0);
            assert_in_range(process, 1, opened->place->unit_count);
            end = fmax(end,
                       mer_json_get_real(event, "ts", NAN) + mer_json_get_real(event, "dur", NAN));
            slices++;
        }
    }
    assert_true(slices >= 10);
    assert_float_equal(end, expected, 1e-9 * expected);
    cJSON_Delete(trace);
}

static void test_trace_ends_with_the_period(void **state)
{
    static const char *const evaluators[] = {"maxload:price_infeasible=true",
                                             "maxload:price_infeasible=true,transfer=max"};
    (void)state;
    for (int e = 0; e < 2; e++) {
        OpenedPlace *opened = open_tiny(evaluators[e]);
        MerPlan      plan = split_tiny(opened);
        check_trace(opened, &plan);
    }
}

/* The value of a variable of the programme at a placement. */
static double variable(const char *name, const MerPlace *place, const int *unit, double period_us)
{
    int index, at;
    if (strcmp(name, "T") == 0) {
        return period_us;
    }
    if (sscanf(name, "x%d_%d", &index, &at) == 2) {
        return unit[place->members[place->member_start[index]]] == at;
    }
    bool is_in = sscanf(name, "in%d_%d", &index, &at) == 2;
    assert_true(is_in || sscanf(name, "out%d_%d", &index, &at) == 2);
    for (int i = place->after_start[index]; i < place->after_start[index + 1]; i++) {
        int reader = unit[place->after[i]];
        if (is_in ? reader == at && unit[index] != at : unit[index] == at && reader != at) {
            return 1;
        }
    }
    return 0;
}

/* Whether a placement satisfies every row of the programme. */
static bool satisfies(const char *lp, const MerPlace *place, const int *unit, double period_us)
{
    char  *text = mer_arena_text(arena, strstr(lp, "Subject To") + 10), *rest;
    double sum = 0, factor = 1;
    bool   holds = true;
    *strstr(text, "Binaries") = '\0';
    for (char *word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (word[strlen(word) - 1] == ':' || strcmp(word, "+") == 0) {
            continue;
        }
        if (strcmp(word, "-") == 0) {
            factor = -factor;
        } else if (strchr("<>=", word[0])) {
            double right = atof(strtok_r(NULL, " \n", &rest)),
                   slack = 1e-9 * fmax(1, fabs(right) + period_us);
            holds = holds && (word[0] == '<'   ? sum <= right + slack
                              : word[0] == '>' ? sum >= right - slack
                                               : fabs(sum - right) <= slack);
            sum = 0;
            factor = 1;
        } else if (word[0] >= '0' && word[0] <= '9') {
            factor *= atof(word);
        } else {
            sum += factor * variable(word, place, unit, period_us);
            factor = 1;
        }
    }
    return holds;
}

static void check_program(const char *evaluator, MerRng *rng)
{
    OpenedPlace    *opened = open_tiny(evaluator);
    const MerPlace *place = opened->place;
    MerIndex       *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    MerPlan         plan = split_tiny(opened);
    MerExportTask   task = {
          .problem = &opened->problem, .evaluator = &opened->evaluator, .plan = &plan};
    MerExport      what = {.workload = "tiny", .count = 1, .tasks = &task};
    MerExportFiles files = {.arena = arena};
    int            feasible = 0;
    assert_int_equal(mer_exporter_find("placement_lp", NULL)->write(&what, &files, NULL), MER_OK);
    for (int run = 0; run < 400; run++) {
        const char *lp = files.list[0].data;
        mer_space_sample(&opened->problem.space, rng, point);
        mer_place_decode(place, point, &plan, arena);
        MerCost    cost = price_plan(opened, &plan);
        const int *unit = mer_graph_plan(&plan)->unit;
        double     period_us = 1e6 * cost.value[MER_METRIC_PERIOD];
        assert_int_equal(satisfies(lp, place, unit, period_us), cost.feasible);
        assert_false(satisfies(lp, place, unit, period_us * 0.9999));
        feasible += cost.feasible;
    }
    assert_in_range(feasible, 20, 390);
}

static void test_programme_has_the_loads_of_maxload(void **state)
{
    MerRng rng = mer_rng_make(8, 0);
    (void)state;
    check_program("maxload:price_infeasible=true", &rng);
    check_program("maxload:price_infeasible=true,transfer=max", &rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_pattern_matches_exactly_its_numbers),
        cmocka_unit_test(test_override_list_matches_each_tensor_once),
        cmocka_unit_test(test_whole_layers_are_one_range),
        cmocka_unit_test(test_device_map_covers_each_parameter_once),
        cmocka_unit_test(test_device_map_of_scopes_of_pytorch),
        cmocka_unit_test(test_nodes_have_the_providers_of_their_units),
        cmocka_unit_test(test_islands_are_held_against_their_copies),
        cmocka_unit_test(test_trace_ends_with_the_period),
        cmocka_unit_test(test_programme_has_the_loads_of_maxload),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
