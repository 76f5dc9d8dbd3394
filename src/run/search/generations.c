/* Generations: what a run knows of optimizers that work by populations, and how far a stream of tasks was
 * after 0, 1, 30 and 100 of them (docs/scheduling-online.md, "Warm starts"). */
#include "run/internal.h"

#include <math.h>

static const int stages[MER_MAX_MILESTONES] = {0, 1, 30, 100};

int64_t mer_run_population(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    return type->population ? type->population(mer_run_optimizer_options(spec, arena)) : 0;
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
    bool        is_chain = warm && mer_warm_is_chain(warm);
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
