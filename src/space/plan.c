/* Names and hashes of plans. */
#include "mercator/plan.h"

#include "base/text.h"

static const char *const kind_names[MER_PLAN_KIND_COUNT] = {
#define X(id, name) name,
    MER_PLAN_KIND_MAP(X)
#undef X
};

const char *mer_plan_kind_name(MerPlanKind kind)
{
    return kind_names[kind];
}

static uint64_t hash_ints(uint64_t hash, const int *values, int count)
{
    return values ? mer_hash_bytes(hash, values, (size_t)count * sizeof *values) : hash;
}

static uint64_t hash_nest(uint64_t hash, const MerNestPlan *nest)
{
    for (int l = 0; l < nest->level_count; l++) {
        const MerNestLevel *level = &nest->levels[l];
        hash = hash_ints(hash, level->temporal, MER_DIM_COUNT);
        hash = hash_ints(hash, level->x, MER_DIM_COUNT);
        hash = hash_ints(hash, level->y, MER_DIM_COUNT);
        hash = hash_ints(hash, level->order, MER_DIM_COUNT);
        hash = mer_hash_int(hash, level->keep);
    }
    return hash;
}

static uint64_t hash_directives(uint64_t hash, const MerDirectivePlan *plan)
{
    hash = hash_ints(hash, plan->cluster, plan->level_count - 1);
    hash = hash_ints(hash, plan->start, plan->level_count + 1);
    for (int i = 0; i < plan->start[plan->level_count]; i++) {
        const MerDirective *d = &plan->directives[i];
        int                 fields[5] = {d->spatial, d->output, d->dim, d->size, d->offset};
        hash = hash_ints(hash, fields, 5);
    }
    return hash;
}

static uint64_t hash_vta(uint64_t hash, const MerVtaPlan *p)
{
    int fields[12] = {p->batch,          p->block_in,       p->block_out, p->log2_inp_bytes,
                      p->log2_wgt_bytes, p->log2_acc_bytes, p->tile_h,    p->tile_w,
                      p->tile_ci,        p->tile_co,        p->h_threads, p->oc_threads};
    return hash_ints(hash, fields, 12);
}

static uint64_t hash_split(uint64_t hash, const MerSplitPlan *plan)
{
    hash = hash_ints(hash, plan->channels, plan->op_count * plan->option_count);
    for (int op = 0; plan->assignment && op < plan->op_count; op++) {
        int channels = 0;
        for (int o = 0; o < plan->option_count; o++) {
            channels += plan->channels[op * plan->option_count + o];
        }
        hash = hash_ints(hash, plan->assignment[op], channels);
    }
    return hash;
}

uint64_t mer_plan_hash(const MerPlan *plan)
{
    uint64_t hash = mer_hash_int(MER_HASH_START, plan->kind);
    switch (plan->kind) {
    case MER_PLAN_NEST:
        return hash_nest(hash, &plan->as.nest);
    case MER_PLAN_DIRECTIVES:
        return hash_directives(hash, &plan->as.directives);
    case MER_PLAN_VTA:
        return hash_vta(hash, &plan->as.vta);
    case MER_PLAN_JOBS:
        hash = hash_ints(hash, plan->as.jobs.start, plan->as.jobs.unit_count + 1);
        return hash_ints(hash, plan->as.jobs.queue, plan->as.jobs.job_count);
    case MER_PLAN_GRAPH:
        hash = hash_ints(hash, plan->as.graph.unit, plan->as.graph.op_count);
        hash = hash_ints(hash, plan->as.graph.priority, plan->as.graph.op_count);
        hash = hash_ints(hash, plan->as.graph.cluster, plan->as.graph.op_count);
        hash = hash_ints(hash, plan->as.graph.stage, plan->as.graph.op_count);
        return hash_ints(hash, plan->as.graph.replicas, plan->as.graph.stage_count);
    case MER_PLAN_SPLIT:
        return hash_split(hash, &plan->as.split);
    case MER_PLAN_KIND_COUNT:
        break;
    }
    return hash;
}
