/* Any bytes as the body of a schedule: refused with a message, or a plan with every job once. */
#include "mercator/import.h"
#include "mercator/registry.h"
#include "mercator/yaml.h"
#include "schedule/schedule_parts.h"
#include "schedule/table/layer_pricer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const MerJobsPlan *plan)
{
    char is_there[64] = {0};
    if (plan->start[plan->unit_count] != plan->job_count || plan->job_count > 64) {
        abort();
    }
    for (int i = 0; i < plan->job_count; i++) {
        if (is_there[plan->queue[i]]++ || plan->unit[plan->queue[i]] >= plan->unit_count) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena              *arena = mer_arena_new();
    MerError               error = {0};
    const MerProblemClass *type = mer_problem_find("schedule", NULL);
    const char            *key = "cache";
    const char            *value = "off";
    MerReference           reference = {"schedule", 1, &key, &value};
    void                  *options = mer_arena_alloc(arena, type->options_size);
    const MerPlatform     *platform = NULL;
    MerGraph              *graph = NULL;
    MerYaml               *root;
    MerTask                task = {"synthetic:5:1", 1, 0, -1, 0, NULL};
    if (mer_options_fill(type->options, NULL, options, &reference, arena, &error) != MER_OK ||
        mer_platform_read("s2", arena, &platform, &error) != MER_OK ||
        mer_graph_import("synthetic:5:1", NULL, arena, &graph, &error) != MER_OK) {
        abort();
    }
    MerProblem problem = {.type = type,
                          .state = mer_arena_alloc(arena, type->state_size),
                          .options = options,
                          .graph = graph,
                          .platform = platform,
                          .task = &task,
                          .plan = type->plans[0]};
    if (type->open(&problem, arena, &error) != MER_OK) {
        abort();
    }
    if (mer_yaml_parse("plan", (const char *)data, size, arena, &root, &error) == MER_OK) {
        MerPlan plan;
        error.message[0] = '\0';
        if (problem.plan->read(&problem, root, &plan, arena, &error) == MER_OK) {
            check(mer_jobs_plan(&plan));
        } else if (error.message[0] == '\0') {
            abort();
        }
    }
    mer_arena_free(arena);
    return 0;
}
