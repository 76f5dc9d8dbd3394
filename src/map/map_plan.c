/* The kinds of plans of `map`: how they are hashed, written, read and shown. */
#include "layer/directive_format.h"
#include "map/directives/directives.h"
#include "map/map.h"
#include "map/nest/nest_format.h"
#include "mercator/text.h"

static uint64_t hash_ints(uint64_t hash, const int *values, int count)
{
    return mer_hash_bytes(hash, values, (size_t)count * sizeof *values);
}

static uint64_t hash_nest(const MerPlan *plan, uint64_t hash)
{
    const MerNestPlan *nest = mer_nest_plan(plan);
    for (int l = 0; l < nest->level_count; l++) {
        const MerNestLevel *level = &nest->levels[l];
        hash = mer_hash_bytes(hash, level->factors, sizeof level->factors);
        for (int i = 0; i < MER_DIM_COUNT; i++) { /* where a loop of one turn stands is no choice */
            bool is_loop = level->temporal[level->order[i]] > 1;
            hash = is_loop ? mer_hash_int(hash, level->order[i]) : hash;
        }
        hash = mer_hash_int(hash, level->keep);
    }
    return hash;
}

static void write_nest(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    mer_nest_write(mer_nest_plan(plan), problem->platform, json);
}

static MerStatus read_nest(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    *plan = (MerPlan){&mer_plan_nest, MER_NEW(arena, MerNestPlan)};
    return mer_nest_read(body, &problem->graph->ops[problem->task->op], problem->platform,
                         mer_map_is_padded(problem), plan->content, arena, error);
}

static const char *print_nest(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    return mer_nest_print(mer_nest_plan(plan), problem->platform, arena);
}

const MerPlanKind mer_plan_nest = {
    .name = "nest",
    .hash = hash_nest,
    .write = write_nest,
    .read = read_nest,
    .print = print_nest,
};

static uint64_t hash_directives(const MerPlan *plan, uint64_t hash)
{
    const MerDirectivePlan *mapping = mer_directive_plan(plan);
    hash = hash_ints(hash, mapping->cluster, mapping->level_count - 1);
    hash = hash_ints(hash, mapping->start, mapping->level_count + 1);
    for (int i = 0; i < mapping->start[mapping->level_count]; i++) {
        const MerDirective *d = &mapping->directives[i];
        int                 fields[5] = {d->spatial, d->output, d->dim, d->size, d->offset};
        hash = hash_ints(hash, fields, 5);
    }
    return hash;
}

static void write_directives(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    (void)problem;
    mer_directives_write(mer_directive_plan(plan), json);
}

static MerStatus read_directives(const MerProblem *problem, MerYaml *body, MerPlan *plan,
                                 MerArena *arena, MerError *error)
{
    *plan = (MerPlan){&mer_plan_directives, MER_NEW(arena, MerDirectivePlan)};
    return mer_directives_read(body, &problem->graph->ops[problem->task->op], plan->content, arena,
                               error);
}

static const char *print_directives(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    (void)problem;
    return mer_directives_print(mer_directive_plan(plan), arena);
}

const MerPlanKind mer_plan_directives = {
    .name = "directives",
    .hash = hash_directives,
    .write = write_directives,
    .read = read_directives,
    .print = print_directives,
};
