/* Plans of kind `kernel`: the settings of one native kernel, in plan files `hardware` and `software`. */
#include "codesign/native/kernel.h"
#include "layer/op_format.h"
#include "mercator/problem.h"
#include "mercator/text.h"

#include <limits.h>

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    return mer_hash_bytes(hash, plan->content, sizeof(MerKernel));
}

static bool is_order(int field)
{
    return mer_kernel_fields[field].role == MER_ROLE_ORDER;
}

static void write_fields(const MerKernel *kernel, bool is_hardware, const char *name, MerJson *json)
{
    MerKernel copy = *kernel;
    mer_json_object(json, name);
    for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
        const MerKernelField *field = &mer_kernel_fields[f];
        if ((field->agent == 0) != is_hardware) {
            continue;
        }
        if (is_order(f)) {
            mer_json_text(json, field->name, mer_kernel_order(kernel->order));
        } else {
            mer_json_int(json, field->name, *mer_kernel_field(&copy, f));
        }
    }
    mer_json_end_object(json);
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    mer_op_write_image(&problem->graph->ops[problem->task->op], json);
    write_fields(plan->content, true, "hardware", json);
    write_fields(plan->content, false, "software", json);
}

static MerStatus read_order(MerYaml *node, int *order, MerError *error)
{
    const char *letters;
    MER_TRY(mer_yaml_text(node, &letters, error));
    *order = mer_kernel_order_find(letters);
    return *order < 0 ? mer_yaml_expected(node, error, "the letters K, Y and C in any order")
                      : MER_OK;
}

static MerStatus read_fields(MerYaml *body, bool is_hardware, const char *name, MerKernel *kernel,
                             MerError *error)
{
    MerYaml *map, *node;
    MER_TRY(mer_yaml_need(body, name, &map, error));
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
        int64_t value;
        if ((mer_kernel_fields[f].agent == 0) != is_hardware) {
            continue;
        }
        MER_TRY(mer_yaml_need(map, mer_kernel_fields[f].name, &node, error));
        if (is_order(f)) {
            MER_TRY(read_order(node, &kernel->order, error));
        } else {
            MER_TRY(mer_yaml_int(node, 0, INT_MAX, &value, error));
            *mer_kernel_field(kernel, f) = (int)value;
        }
    }
    return mer_yaml_finish(map, error);
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    MerKernel *kernel = MER_NEW(arena, MerKernel);
    (void)problem;
    *plan = (MerPlan){&mer_plan_kernel, kernel};
    mer_yaml_get(body, "op"); /* read by mer_ops_read */
    MER_TRY(read_fields(body, true, "hardware", kernel, error));
    return read_fields(body, false, "software", kernel, error);
}

static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerKernel *k = plan->content;
    (void)problem;
    return mer_arena_format(
        arena,
        "vectors of %d bits, %d thread%s\n"
        "register tile: %d vectors of output channels, %d rows, %d columns\n"
        "cache tiles: %d of these over channels, %d over rows; %d blocks of input channels\n"
        "loops over cache tiles %s; %d input channels per step%s\n",
        k->vector_bits, k->threads, k->threads == 1 ? "" : "s", k->tile_k, k->tile_y, k->tile_x,
        k->cache_k, k->cache_y, k->cache_c, mer_kernel_order(k->order), k->unroll,
        k->unroll_columns ? ", columns of the filter unrolled" : "");
}

const MerPlanKind mer_plan_kernel = {
    .name = "kernel",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};
