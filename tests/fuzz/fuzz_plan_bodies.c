/* A letter for the problem, then any bytes as the body of a plan of it (j: as split.json): refused with one line, or a plan that is
 * printed, written and read back unchanged. */
#include "mercator/export.h"
#include "mercator/import.h"
#include "mercator/json.h"
#include "mercator/registry.h"
#include "mercator/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Setting {
    char        letter;
    const char *problem, *key, *value, *workload, *platform;
    MerProblem  opened; /* once, for all inputs */
} Setting;

static Setting settings[] = {
    {'c', "codesign", "select", "2", "resnet18", "vta-pynq-4x8", {0}},
    {'m', "map", "select", "3", "resnet18", "s256", {0}},
    {'p', "place", "decide", "[place,order,fuse]", "ds_cnn", "two-gpu-box", {0}},
    {'q', "schedule", "cache", "off", "synthetic:5:1", "s2", {0}},
    {'j', "split", "granularity", "channel", "resnet8", "diana", {0}},
    {'s', "split", "granularity", "channel", "resnet8", "diana", {0}},
};

static void must(MerStatus status, const MerError *error)
{
    if (status != MER_OK) {
        fprintf(stderr, "fuzz_plan_bodies: %s\n", error->message);
        abort();
    }
}

static void open_problem(Setting *setting)
{
    MerArena              *arena = mer_arena_new(); /* stays */
    MerError               error = {0};
    const MerProblemClass *type = mer_problem_find(setting->problem, &error);
    MerReference           reference = {setting->problem, 1, &setting->key, &setting->value};
    void                  *options = mer_arena_alloc(arena, type->options_size);
    const MerTask         *tasks;
    MerTask               *task = MER_ARRAY(arena, MerTask, 1);
    int                    count;
    MerGraph              *graph;
    MerProblem             problem = {.type = type, .options = options, .plan = type->plans[0]};
    must(mer_options_fill(type->options, NULL, options, &reference, arena, &error), &error);
    must(mer_platform_read(setting->platform, arena, &problem.platform, &error), &error);
    must(mer_graph_import(setting->workload, NULL, arena, &graph, &error), &error);
    problem.graph = graph;
    *task = (MerTask){.name = graph->name, .count = 1, .op = -1};
    if (type->tasks) {
        must(type->tasks(&problem, arena, &tasks, &count, &error), &error);
        *task = tasks[0];
    }
    problem.task = task;
    problem.state = mer_arena_alloc(arena, type->state_size);
    must(type->open(&problem, arena, &error), &error);
    setting->opened = problem;
}

static void check(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerPlanKind *kind = problem->plan;
    MerJson            json = {0};
    MerError           error = {0};
    MerYaml           *root;
    MerPlan            again;
    const char        *text = kind->print ? kind->print(problem, plan, arena) : "\n";
    mer_json_object(&json, NULL);
    kind->write(problem, plan, &json);
    mer_json_end_object(&json);
    must(mer_yaml_parse("again", json.text, json.size, arena, &root, &error), &error);
    must(kind->read(problem, root, &again, arena, &error), &error);
    if (mer_plan_hash(plan) != mer_plan_hash(&again) || text[strlen(text) - 1] != '\n') {
        fprintf(stderr, "not read back: %s\n", json.text);
        abort();
    }
    mer_json_free(&json);
}

static MerStatus read_json(const MerProblem *problem, MerYaml *root, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    MerReadPlans plans = {.arena = arena, .root = root, .workload = "resnet8"};
    for (const MerPlanReaderClass *const *type = mer_plan_readers(); *type; type++) {
        if (strcmp((*type)->name, "split_json") == 0) {
            if (!(*type)->probe(&plans)) {
                return mer_error_set(error, MER_INVALID, "not of this kind");
            }
            MER_TRY((*type)->read(&plans, error));
            *plan = plans.list[0].plan;
            return plans.list[0].read(problem, plans.list[0].body, plan, arena, error);
        }
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; size > 0 && i < sizeof settings / sizeof *settings; i++) {
        Setting *setting = &settings[i];
        if (setting->letter != data[0]) {
            continue;
        }
        if (setting->opened.type == NULL) {
            open_problem(setting);
        }
        MerArena *arena = mer_arena_new();
        MerError  error = {0};
        MerYaml  *root;
        MerPlan   plan;
        if (mer_yaml_parse("plan", (const char *)data + 1, size - 1, arena, &root, NULL) ==
            MER_OK) {
            MerPlanBodyReader read = data[0] == 'j' ? read_json : setting->opened.plan->read;
            if (read(&setting->opened, root, &plan, arena, &error) == MER_OK) {
                check(&setting->opened, &plan, arena);
            } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
                abort();
            }
        }
        mer_arena_free(arena);
    }
    return 0;
}
