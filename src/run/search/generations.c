/* Generations: what a run knows of optimizers that work by populations, and how far a stream of tasks was
 * after 0, 1, 30 and 100 of them (docs/scheduling-online.md, "Warm starts"). */
#include "run/internal.h"

#include <math.h>
#include <string.h>

static const int stages[MER_MAX_MILESTONES] = {0, 1, 30, 100};

int64_t mer_run_population(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    const MerOption *option = type->options ? mer_options_find(type->options, "population") : NULL;
    if (!option || option->type != MER_OPTION_INT) {
        return 0;
    }
    const void *options = spec->optimizer_options;
    if (!options) {
        void *defaults = mer_arena_alloc(arena, type->options_size);
        mer_options_defaults(type->options, defaults, arena);
        options = defaults;
    }
    return *(const int64_t *)((const char *)options + option->offset);
}

static void add(MerRunTask *task)
{
    MerTaskResult *result = task->result;
    int            generations = stages[result->milestone_count];
    result->milestones[result->milestone_count++] = (MerMilestone){
        generations, generations * task->population, result->point ? result->value : NAN};
}

void mer_generations_begin(const MerRunState *run, MerRunTask *task)
{
    const char *warm = run->spec->warm;
    bool        is_chain = warm && strncmp(warm, "chain", 5) == 0 && (warm[5] == ':' || !warm[5]);
    task->population =
        is_chain && run->task_count > 1 ? mer_run_population(run->spec, run->arena) : 0;
    if (task->population > 0) {
        add(task);
    }
}

void mer_generations_count(MerRunTask *task)
{
    const MerTaskResult *result = task->result;
    while (task->population > 0 && result->milestone_count < MER_MAX_MILESTONES &&
           result->trials >= stages[result->milestone_count] * task->population) {
        add(task);
    }
}

void mer_generations_end(MerRunTask *task)
{
    while (task->population > 0 && task->result->is_proven &&
           task->result->milestone_count < MER_MAX_MILESTONES) {
        add(task); /* more generations would have found nothing better */
    }
}
