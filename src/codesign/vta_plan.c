/* Plans of kind `vta`: a core and a schedule, in plan files `hardware` and `software`. */
#include "codesign/codesign.h"
#include "layer/op_format.h"
#include "mercator/text.h"

#include <limits.h>
#include <stddef.h>

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const MerVtaPlan *p = plan->content;
    const int         numbers[] = {p->core.batch,       p->core.block_in,      p->core.block_out,
                                   p->schedule.tile_h,  p->schedule.tile_w,    p->schedule.tile_ci,
                                   p->schedule.tile_co, p->schedule.h_threads, p->schedule.oc_threads};
    hash = mer_hash_bytes(hash, numbers, sizeof numbers);
    return mer_hash_bytes(hash, p->core.bytes, sizeof p->core.bytes);
}

typedef struct Row {
    const char *name;
    size_t      offset; /* of an int in MerVtaSchedule */
} Row;

static const Row software[] = {{"tile_h", offsetof(MerVtaSchedule, tile_h)},
                               {"tile_w", offsetof(MerVtaSchedule, tile_w)},
                               {"tile_ci", offsetof(MerVtaSchedule, tile_ci)},
                               {"tile_co", offsetof(MerVtaSchedule, tile_co)},
                               {"h_threads", offsetof(MerVtaSchedule, h_threads)},
                               {"oc_threads", offsetof(MerVtaSchedule, oc_threads)},
                               {0}};

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const MerVtaPlan *p = plan->content;
    mer_op_write_image(&problem->graph->ops[problem->task->op], json);
    mer_json_object(json, "hardware");
    mer_json_int(json, "batch", p->core.batch);
    mer_json_int(json, "block_in", p->core.block_in);
    mer_json_int(json, "block_out", p->core.block_out);
    mer_json_int(json, "uop_bytes", p->core.bytes[MER_VTA_UOP]);
    mer_json_int(json, "inp_bytes", p->core.bytes[MER_VTA_INP]);
    mer_json_int(json, "wgt_bytes", p->core.bytes[MER_VTA_WGT]);
    mer_json_int(json, "acc_bytes", p->core.bytes[MER_VTA_ACC]);
    mer_json_end_object(json);
    mer_json_object(json, "software");
    for (const Row *row = software; row->name; row++) {
        mer_json_int(json, row->name,
                     *(const int *)(const void *)((const char *)&p->schedule + row->offset));
    }
    mer_json_end_object(json);
}

static MerStatus read_number(MerYaml *map, const char *key, int64_t *value, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_int(node, 1, INT_MAX, value, error);
}

static MerStatus read_core(const MerProblem *problem, MerYaml *map, MerVtaCore *core,
                           MerError *error)
{
    const MerCodesignTask *task = mer_codesign_task(problem);
    int64_t                batch, in, out, uop = task->usual.bytes[MER_VTA_UOP], inp, wgt, acc;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(read_number(map, "batch", &batch, error));
    MER_TRY(read_number(map, "block_in", &in, error));
    MER_TRY(read_number(map, "block_out", &out, error));
    MER_TRY(read_number(map, "inp_bytes", &inp, error));
    MER_TRY(read_number(map, "wgt_bytes", &wgt, error));
    MER_TRY(read_number(map, "acc_bytes", &acc, error));
    MER_TRY(mer_yaml_get_int(map, "uop_bytes", 1, INT_MAX, &uop, error));
    MER_TRY(mer_yaml_finish(map, error));
    if (batch > 4096 || in > 4096 || out > 4096) {
        return mer_yaml_error(map, error, "the geometry is %lldx%lldx%lld, at most 4096 each",
                              (long long)batch, (long long)in, (long long)out);
    }
    mer_vta_core_make(core, (int)batch, (int)in, (int)out, uop, inp, wgt, acc);
    return MER_OK;
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    MerVtaPlan *p = MER_NEW(arena, MerVtaPlan);
    MerYaml    *map;
    *plan = (MerPlan){&mer_plan_vta, p};
    mer_yaml_get(body, "op"); /* read by mer_ops_read */
    MER_TRY(mer_yaml_need(body, "hardware", &map, error));
    MER_TRY(read_core(problem, map, &p->core, error));
    MER_TRY(mer_yaml_need(body, "software", &map, error));
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (const Row *row = software; row->name; row++) {
        int64_t value;
        MER_TRY(read_number(map, row->name, &value, error));
        *(int *)(void *)((char *)&p->schedule + row->offset) = (int)value;
    }
    return mer_yaml_finish(map, error);
}

static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerVtaPlan     *p = plan->content;
    const MerVtaSchedule *s = &p->schedule;
    (void)problem;
    return mer_arena_format(
        arena,
        "core %dx%dx%d (batch x block_in x block_out), SRAM inp %lld wgt %lld acc %lld uop %lld B\n"
        "tiles: %d rows, %d columns, %d blocks of input and %d of output channels\n"
        "virtual threads: %d over rows, %d over output channels\n",
        p->core.batch, p->core.block_in, p->core.block_out, (long long)p->core.bytes[MER_VTA_INP],
        (long long)p->core.bytes[MER_VTA_WGT], (long long)p->core.bytes[MER_VTA_ACC],
        (long long)p->core.bytes[MER_VTA_UOP], s->tile_h, s->tile_w, s->tile_ci, s->tile_co,
        s->h_threads, s->oc_threads);
}

const MerPlanKind mer_plan_vta = {
    .name = "vta",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};
