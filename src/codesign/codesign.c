/* Problem `codesign`: the geometry of a VTA-class core and, layer by layer, tiles and virtual threads
 * (docs/codesign.md). One task per distinct layer that the core can run. On a platform of kind native plans are
 * kernels for the processor that runs us (docs/codesign-native.md). */
#include "codesign/codesign_parts.h"

#include "base/option_rows.h"
#include "codesign/cost/timing.h"
#include "layer/op_format.h"
#include "layer/task_select.h"
#include "mercator/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int         hardware, buffers, restrict_to, first_layer;
    const char *mac_budget, *sram_budget;
    int64_t     batch_size, min_element_bytes;
    bool        bias;
    const char *select;
} Options;

static const MerOption options[] = {
    MER_CHOICE(hardware, "shared", "shared|per-task|fixed",
               "one geometry for all layers, one for each layer (what no shared one can beat), or "
               "that of the platform"),
    MER_CHOICE(buffers, "follow", "follow|search",
               "sizes of the SRAMs: follow the geometry within the budget, or are knobs"),
    MER_TEXT(mac_budget, "1x", "most multipliers: a number, or times those of the platform (2x)"),
    MER_TEXT(sram_budget, "1x",
             "most bytes of SRAM: a number, or times those of the platform (2x)"),
    MER_INT(batch_size, "1", 1, 4096, "images at a time"),
    MER_INT(min_element_bytes, "1", 1, 4096, "least size of an entry of inp, wgt and out"),
    MER_CHOICE_AT("restrict", restrict_to, "none", "none|tvm",
                  "tvm: only tiles whose data one 2-D transfer brings, as in TVM's templates"),
    MER_CHOICE(first_layer, "core", "core|host",
               "where layers with fewer than 4 input channels run"),
    MER_BOOL(bias, "false", "price the addition of a bias too"),
    MER_TEXT(select, "", "layers to tune, counted from 1: 1,3-5; or a layer's name"),
    {0}};

extern const MerProblemClass mer_problem_codesign;

const MerCodesignTask *mer_codesign_task(const MerProblem *problem)
{
    return problem->type == &mer_problem_codesign && problem->plan == &mer_plan_vta ? problem->state
                                                                                    : NULL;
}

/* Same operator as far as a core sees it. */
static bool is_same(const MerOp *a, const MerOp *b)
{
    return a->kind == b->kind && a->repeat == b->repeat && a->input_rows == b->input_rows &&
           a->input_columns == b->input_columns && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 &&
           memcmp(a->pad, b->pad, sizeof a->pad) == 0;
}

static bool is_native(const MerProblem *problem)
{
    return problem->platform && problem->platform->kind == MER_PLATFORM_NATIVE;
}

static bool is_on_core(const MerProblem *problem, const MerOp *op)
{
    const Options *chosen = problem->options;
    if (is_native(problem)) {
        return !mer_kernel_host_reason(op);
    }
    return !mer_vta_host_reason(op) &&
           (chosen->first_layer == 0 || op->kind != MER_OP_CONV || op->dims[MER_DIM_C] >= 4);
}

static const char *host_reason(const MerProblem *problem, const MerOp *op)
{
    const char *reason = is_native(problem) ? mer_kernel_host_reason(op) : mer_vta_host_reason(op);
    return reason ? reason : "fewer than 4 input channels, first_layer=host";
}

/* Has it multiplications, is asked for, and yet not tuned? */
static bool is_on_host(const MerProblem *problem, const MerOp *op)
{
    const Options *chosen = problem->options;
    return mer_op_kind_has_macs(op->kind) && !is_on_core(problem, op) &&
           mer_task_is_selected(chosen->select, op->layer + 1, op->name);
}

/* What is not tuned, and why: a line for each reason. */
static const char *describe_host(const MerProblem *problem, MerArena *arena)
{
    const MerGraph *graph = problem->graph;
    const char     *text = "";
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        const char  *reason = is_on_host(problem, op) ? host_reason(problem, op) : NULL;
        int          more = 0;
        for (int other = 0; reason && other < graph->op_count; other++) {
            const MerOp *its = &graph->ops[other];
            bool         is_alike = other != o && is_on_host(problem, its) &&
                            strcmp(host_reason(problem, its), reason) == 0;
            more += is_alike;
            reason = is_alike && other < o ? NULL : reason; /* its line is there */
        }
        if (reason && more > 0) {
            text = mer_arena_format(arena, "%s%s and %d more stay on the host: %s\n", text,
                                    op->name, more, reason);
        } else if (reason) {
            text = mer_arena_format(arena, "%s%s stays on the host: %s\n", text, op->name, reason);
        }
    }
    return text;
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    const Options     *chosen = problem->options;
    const MerGraph    *graph = problem->graph;
    MerTask           *list = MER_ARRAY(arena, MerTask, graph->op_count + 1);
    MerCodesignShared *shared = MER_NEW(arena, MerCodesignShared);
    int                found = 0, kept = 0;
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        int          t = 0;
        if (!is_on_core(problem, op)) {
            continue;
        }
        while (t < found && !is_same(&graph->ops[list[t].op], op)) {
            t++;
        }
        if (t == found) {
            list[found++] =
                (MerTask){.name = op->name, .macs = (double)op->macs, .op = o, .shared = shared};
        }
        list[t].count++;
    }
    if (found == 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s has no convolution or matrix product that a core can run",
                             graph->name);
    }
    MER_TRY(mer_task_select_check(chosen->select, graph, error));
    for (int t = 0; t < found; t++) {
        int number = graph->ops[list[t].op].layer + 1; /* as `inspect` counts */
        if (mer_task_is_selected(chosen->select, number, list[t].name)) {
            list[kept] = list[t];
            list[kept++].macs *= (double)chosen->batch_size;
        }
    }
    if (kept == 0) {
        const char *host = describe_host(problem, arena);
        return mer_error_set(error, MER_INVALID, "--select is \"%s\": %.*s", chosen->select,
                             (int)strcspn(host, "\n"), *host ? host : "no layer of its own");
    }
    *shared = (MerCodesignShared){.count = kept, .tasks = list, .graph = graph, .arena = arena};
    *tasks = list;
    *count = kept;
    return MER_OK;
}

/* "2x" of `usual`, or a number. */
static MerStatus read_budget(const char *name, const char *text, int64_t usual, int64_t *budget,
                             MerError *error)
{
    size_t length = strlen(text);
    double value;
    char   number[32] = "";
    bool   is_factor = length > 1 && text[length - 1] == 'x';
    snprintf(number, sizeof number, "%.*s", (int)(length - is_factor), text);
    if (length >= sizeof number || !mer_parse_real(number, &value) || value <= 0 || value > 1e12) {
        return mer_error_set(error, MER_INVALID,
                             "%s is \"%s\", expected a number, or a factor such as 2x", name, text);
    }
    *budget = (int64_t)(is_factor ? value * (double)usual : value);
    return MER_OK;
}

static MerStatus open_kernels(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options   *chosen = problem->options;
    MerCodesignTask *task = problem->state;
    const MerUnit   *cpu = &problem->platform->units[0];
    if (chosen->batch_size != 1) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "batch_size is %lld, native kernels work on one image",
                             (long long)chosen->batch_size);
    }
    mer_kernel_space_open(&task->kernels, &problem->graph->ops[problem->task->op],
                          cpu->vector_bits > 0 ? cpu->vector_bits : mer_kernel_host_bits(),
                          cpu->threads, &problem->space, arena);
    return MER_OK;
}

static MerStatus open_codesign(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options   *chosen = problem->options;
    MerCodesignTask *task = problem->state;
    if (is_native(problem) != (problem->plan == &mer_plan_kernel)) {
        return mer_error_set(error, MER_INVALID,
                             "plans of kind %s do not run on platform %s of kind %s",
                             problem->plan->name, problem->platform->name,
                             mer_platform_kind_name(problem->platform->kind));
    }
    if (is_native(problem)) {
        return open_kernels(problem, arena, error);
    }
    *task = (MerCodesignTask){.op = &problem->graph->ops[problem->task->op],
                              .images = chosen->batch_size,
                              .macs = (double)problem->graph->ops[problem->task->op].macs *
                                      (double)chosen->batch_size,
                              .rules = {chosen->bias, chosen->restrict_to == 1},
                              .mode = (MerHardwareMode)chosen->hardware,
                              .least_element = chosen->min_element_bytes,
                              .has_buffers = chosen->buffers == 1};
    mer_vta_core_of(problem->platform, &task->usual);
    MER_TRY(read_budget("mac_budget", chosen->mac_budget, mer_vta_core_macs(&task->usual),
                        &task->mac_budget, error));
    MER_TRY(read_budget("sram_budget", chosen->sram_budget, mer_vta_core_bytes(&task->usual),
                        &task->sram_budget, error));
    mer_codesign_space_make(problem, task, arena);
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const MerCodesignTask *task = problem->state;
    plan->kind = problem->plan;
    if (is_native(problem)) {
        plan->content = MER_NEW(arena, MerKernel);
        mer_kernel_decode(&task->kernels, point, plan->content);
    } else {
        plan->content = MER_NEW(arena, MerVtaPlan);
        mer_codesign_decode(task, point, plan->content);
    }
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const MerCodesignTask *task = problem->state;
    if (is_native(problem)) {
        return mer_kernel_encode(&task->kernels, plan->content, point);
    }
    return mer_codesign_encode(problem, plan->content, point);
}

static bool is_legal(const MerProblem *problem, const MerIndex *point)
{
    const MerCodesignTask *task = problem->state;
    MerVtaPlan             plan;
    MerVtaTask             vta;
    MerKernel              kernel;
    if (is_native(problem)) {
        mer_kernel_decode(&task->kernels, point, &kernel);
        return mer_kernel_check(&task->kernels.shape, &kernel, NULL);
    }
    mer_codesign_decode(task, point, &plan);
    mer_codesign_vta_task(task, &plan.core, &vta);
    return mer_codesign_core_check(task, &plan.core, NULL) &&
           mer_vta_check(&vta.core, &vta.shape, &plan.schedule, &vta.rules, NULL);
}

/* No schedule takes less than the products and the ALU alone, the weights and outputs moved once, on the core
 * that suits the layer best. */
static double least_seconds(const MerCodesignTask *task, const MerVtaTiming *timing,
                            const MerVtaCore *core)
{
    MerVtaTask vta;
    mer_codesign_vta_task(task, core, &vta);
    const MerVtaShape *s = &vta.shape;
    double             outputs = (double)s->batches * s->groups * s->co * s->rows * s->columns;
    double             kernel = (double)s->kernel[0] * s->kernel[1];
    double weights = (double)s->groups * s->co * s->ci * kernel * core->element[MER_VTA_WGT];
    double compute = outputs * ((s->ci * kernel + 1) * timing->gemm_interval +
                                (vta.rules.has_bias ? 4 : 3) * timing->alu_interval);
    double load = weights * timing->load_per_byte;
    double store = outputs * core->element[MER_VTA_OUT] * timing->store_per_byte;
    return (double)s->repeat *
           (fmax(compute, fmax(load, store)) / timing->clock_hz + 1e-6 * timing->host_us);
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    const MerCodesignTask *task = problem->state;
    const MerVtaTiming    *timing = rules;
    MerArena              *arena = mer_arena_new();
    MerCores               cores;
    double                 least = INFINITY;
    mer_codesign_cores(task, arena, &cores);
    for (int c = 0; c < cores.count; c++) {
        least = fmin(least, least_seconds(task, timing, &cores.list[c]));
    }
    mer_arena_free(arena);
    double host = (double)task->op->repeat * 1e-6 * timing->host_us;
    *result = (MerBound){NAN, "none", ""};
    if (cores.count == 0) {
        return;
    }
    switch (metric) {
    case MER_METRIC_LATENCY:
        *result = (MerBound){least, "roofline", ""};
        break;
    case MER_METRIC_CYCLES:
        *result = (MerBound){(least - host) * timing->clock_hz, "roofline", ""};
        break;
    case MER_METRIC_THROUGHPUT:
        *result = (MerBound){2 * task->macs / least, "roofline", ""};
        break;
    default:
        break;
    }
}

/* Operations add up and so do times: the rate of the network, and what bounds of its layers say of it. */
static void combine(const MerWhole *whole, MerCost *total, MerBound *result)
{
    double work = 0, least = 0;
    (void)total;
    if (whole->objective == MER_METRIC_COUNT && mer_codesign_is_proven(whole)) {
        *result = (MerBound){whole->value, "search", ""};
    }
    for (int p = 0; p < whole->count && whole->objective == MER_METRIC_THROUGHPUT; p++) {
        const MerPart *part = &whole->parts[p];
        double         done = 2 * part->task->macs * (double)part->task->count;
        work += done;
        least += done / part->bound.value;
    }
    if (least > 0) {
        *result = (MerBound){work / least, "search", ""};
    }
}

static MerStatus read_graph(MerYaml *tasks, MerGraph **graph, MerReference *implied,
                            MerArena *arena, MerError *error)
{
    (void)implied;
    return mer_ops_read(tasks, arena, graph, error);
}

static const char *describe(const MerWhole *whole, MerArena *arena)
{
    const MerProblem *problem = whole->parts[0].problem;
    const char       *host = describe_host(problem, arena);
    const char       *core = is_native(problem) ? "" : mer_codesign_describe(whole, arena);
    return *core || *host ? mer_arena_format(arena, "%s%s", core, host) : NULL;
}

static const char *advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "budget: ", 8) == 0
               ? "a larger --mac-budget or --sram-budget, or --hardware fixed"
           : strncmp(reason, "limit: ", 7) == 0
               ? "a higher --max-power-mw or --max-energy-mj, or --over penalty"
           : strncmp(reason, "capacity: ", 10) == 0 ? "smaller tiles, or a larger --sram-budget"
                                                    : NULL;
}

static const char *covers(const MerProblem *problem)
{
    const MerCodesignTask *task = problem->state;
    return is_native(problem)                  ? NULL
           : task->mode == MER_HARDWARE_SHARED ? "tiles that divide, one geometry for all layers"
                                               : "tiles that divide";
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    (void)arena;
    return is_native(problem) && mer_kernel_fields[knob].role == MER_ROLE_ORDER
               ? mer_kernel_order(choice)
               : NULL;
}

/* Kernels are measured: there is nothing to enumerate. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    bool is_native = inputs->platform && inputs->platform->kind == MER_PLATFORM_NATIVE;
    if (what ==
        MER_DEFAULT_OPTIMIZER) { /* a model can be asked for every point, a processor cannot */
        bool is_model = inputs->evaluator && inputs->evaluator->rules;
        return is_native || !is_model || inputs->refused || inputs->has_fixed_knobs ? "dcoc"
                                                                                    : "grid";
    }
    return what == MER_DEFAULT_EVALUATOR && is_native ? "native" : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_vta, &mer_plan_kernel, NULL};

const MerProblemClass mer_problem_codesign = {
    .name = "codesign",
    .summary = "geometry of an accelerator core, tiles and virtual threads of each layer",
    .evaluator = "vta",
    .optimizer = "dcoc",
    .objective = "throughput",
    .platform = "vta-pynq-b",
    .exact = "grid",
    .subset = "select",
    .plan_file = "mapping.yaml",
    .budget = 256,
    .counts_distinct = true,
    .platforms = 1u << MER_PLATFORM_VTA | 1u << MER_PLATFORM_NATIVE,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerCodesignTask),
    .open = open_codesign,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .tasks = list_tasks,
    .is_legal = is_legal,
    .combine = combine,
    .rounds = MER_CODESIGN_ROUNDS,
    .next_round = mer_codesign_next_round,
    .round_share = mer_codesign_round_share,
    .pick_rounds = mer_codesign_pick_rounds,
    .describe = describe,
    .read_log = mer_codesign_read_log,
    .calibrate = mer_codesign_calibrate,
    .choice_name = choice_name,
    .choose_default = choose_default,
    .read_graph = read_graph,
    .advise = advise,
    .covers = covers,
    .demo = "resnet18",
    .demo_summary =
        "ResNet-18 on a VTA-class core: one geometry for the network, tiles and virtual "
        "threads of each layer.",
};
