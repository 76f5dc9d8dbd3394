/* Solver `grid`: prices every schedule of every core, so that its answer is the optimum. With one geometry for
 * all layers it looks at the whole network once and gives each layer its part. */
#include "codesign/codesign.h"

#include "base/memory.h"
#include "mercator/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Part { /* one layer of the network, opened */
    MerProblem   problem;
    MerEvaluator evaluator;
    double       count;
} Part;

typedef struct Best {
    double         score;    /* smaller is better; INFINITY: none */
    MerVtaSchedule schedule; /* a legal one that the evaluator refused, where there is no other */
    bool           is_legal;
} Best;

/* What every core is worth for every layer. */
typedef struct Table {
    MerMetric      metric; /* that adds up over layers */
    const MerGoal *goal;   /* where that is not the objective; NULL: it is */
    int            part_count;
    Part          *parts;
    MerCores       cores;
    Best          *best;   /* (cores, parts) */
    int            chosen; /* the core with the least sum; -1: none runs all layers */
    int            usual;  /* that of the platform; -1: not among them */
    int64_t        points;
    bool           is_cut; /* the search was stopped */
    MerNotes      *notes;
} Table;

typedef struct Solver {
    const MerProblem *problem;
    Table            *table;
    int               part; /* of the table */
    int               core;
    bool              is_done;
    MerIndex         *point; /* of the whole space */
    const MerSearch  *search;
} Solver;

static double score_of(const Table *table, const MerCost *cost)
{
    return cost->feasible ? -mer_metric_info(table->metric)->direction * cost->value[table->metric]
                          : INFINITY;
}

static MerMetric priced_as(MerMetric objective)
{
    return objective == MER_METRIC_THROUGHPUT || objective == MER_METRIC_COUNT ? MER_METRIC_LATENCY
                                                                               : objective;
}

/* The objective for so many operations in so much time on a core. */
static double goal_value(const MerGoal *goal, const MerVtaCore *core, double macs, double seconds)
{
    double values[MER_METRIC_COUNT] = {0};
    values[MER_METRIC_LATENCY] = seconds;
    values[MER_METRIC_THROUGHPUT] = 2 * macs / seconds;
    values[MER_METRIC_MAC_UNITS] = (double)mer_vta_core_macs(core);
    values[MER_METRIC_SRAM_BYTES] = (double)mer_vta_core_bytes(core);
    return goal->value(goal->state, values);
}

/* An expression of time and of what a core has, which on any core is a power of time that is better for less: then the
 * fastest schedules are the best ones. */
static bool is_of_time(const MerGoal *goal, const MerVtaCore *core)
{
    const uint64_t known =
        UINT64_C(1) << MER_METRIC_LATENCY | UINT64_C(1) << MER_METRIC_THROUGHPUT |
        UINT64_C(1) << MER_METRIC_MAC_UNITS | UINT64_C(1) << MER_METRIC_SRAM_BYTES;
    if (!goal || (goal->metrics & ~known) != 0) {
        return false;
    }
    double ratio = 0;
    for (int i = -4; i < 4; i++) {
        double now = goal_value(goal, core, 1e6, pow(4, i));
        double slower = goal_value(goal, core, 1e6, pow(4, i + 1));
        bool   is_worse = goal->direction > 0 ? slower < now : slower > now;
        if (!is_worse || now <= 0 || (i > -4 && fabs(slower / now - ratio) > 1e-9 * ratio)) {
            return false;
        }
        ratio = slower / now;
    }
    return true;
}

/* The best schedule of a layer on a core, or the first that will do. */
static void fill_cell(Table *table, int index, bool takes_first)
{
    const Part            *part = &table->parts[index % table->part_count];
    const MerVtaCore      *core = &table->cores.list[index / table->part_count];
    const MerCodesignTask *task = mer_codesign_task(&part->problem);
    Best                  *best = &table->best[index];
    MerVtaPlan             content = {.core = *core};
    MerPlan                plan = {&mer_plan_vta, &content};
    MerVtaTask             vta;
    int                   *tiles[4], counts[4];
    *best = (Best){.score = INFINITY};
    mer_codesign_vta_task(task, core, &vta);
    for (int a = 0; a < 4; a++) {
        tiles[a] = mer_heap_zeroed((size_t)task->counts[MER_KNOB_TILE_H + a] + 1, sizeof(int));
        counts[a] = mer_codesign_tiles(task, &vta, a, tiles[a]);
    }
    int h_threads = task->counts[MER_KNOB_H_THREADS],
        oc_threads = task->counts[MER_KNOB_OC_THREADS];
    int64_t total = (int64_t)counts[0] * counts[1] * counts[2] * counts[3] * h_threads * oc_threads;
    bool    is_enough = false;
    for (int64_t n = total - 1; n >= 0 && !is_enough; n--) { /* large tiles first: seldom bad */
        int64_t   rest = n;
        int       at[6];
        const int extents[6] = {oc_threads, h_threads, counts[3], counts[2], counts[1], counts[0]};
        for (int k = 0; k < 6; k++) {
            at[k] = (int)(rest % extents[k]);
            rest /= extents[k];
        }
        content.schedule = (MerVtaSchedule){tiles[0][at[5]], tiles[1][at[4]], tiles[2][at[3]],
                                            tiles[3][at[2]], 1 + at[1],       1 + at[0]};
        if (!mer_vta_check(&vta.core, &vta.shape, &content.schedule, &vta.rules, NULL)) {
            continue;
        }
        MerCost cost;
        MerCall call = {.limit_metric = table->metric,
                        .limit = table->metric == MER_METRIC_LATENCY ? best->score : INFINITY};
        part->evaluator.type->evaluate(part->evaluator.state, &plan, &call, &cost);
        double score = cost.cut ? INFINITY : score_of(table, &cost);
        /* of equals the one with the smallest tiles; of refused ones that with the largest */
        if (isfinite(score) ? score <= best->score : !best->is_legal && !cost.cut) {
            *best = (Best){score, content.schedule, true};
        }
        is_enough = takes_first && isfinite(score);
    }
    for (int a = 0; a < 4; a++) {
        free(tiles[a]);
    }
}

static void solve_cell(void *context, int index, int worker)
{
    Table *table = context;
    (void)worker;
    table->best[index] = (Best){.score = INFINITY};
    if (table->is_cut || mer_is_cancelled(table->notes)) {
        table->is_cut = true;
        return;
    }
    fill_cell(table, index, false);
}

static double total_of(const Table *table, int core)
{
    double sum = 0;
    for (int p = 0; p < table->part_count; p++) {
        sum += table->parts[p].count * table->best[core * table->part_count + p].score;
    }
    return sum;
}

static double macs_of(const Table *table)
{
    double macs = 0;
    for (int p = 0; p < table->part_count; p++) {
        macs += table->parts[p].count * table->parts[p].problem.task->macs;
    }
    return macs;
}

/* What is minimised over cores. */
static double score_of_core(const Table *table, int core)
{
    double total = total_of(table, core);
    if (!table->goal || total == INFINITY) {
        return total;
    }
    return -table->goal->direction *
           goal_value(table->goal, &table->cores.list[core], macs_of(table), total);
}

static void choose(Table *table, const MerVtaCore *usual)
{
    double least = INFINITY;
    table->chosen = table->usual = -1;
    for (int c = 0; c < table->cores.count; c++) {
        double score = score_of_core(table, c);
        if (score < least) {
            least = score;
            table->chosen = c;
        }
        if (mer_vta_core_equal(&table->cores.list[c], usual)) {
            table->usual = c;
        }
    }
}

static MerStatus open_part(Part *part, const MerProblem *problem, const MerEvaluator *evaluator,
                           const MerTask *task, MerArena *arena, MerError *error)
{
    const MerEvaluatorClass *type = evaluator->type;
    part->problem = *problem;
    part->problem.task = task;
    part->problem.state = mer_arena_alloc(arena, problem->type->state_size);
    part->count = (double)task->count;
    MER_TRY(problem->type->open(&part->problem, arena, error));
    part->evaluator =
        (MerEvaluator){type, mer_arena_alloc(arena, type->state_size), evaluator->options};
    return type->open(part->evaluator.state, &part->problem, evaluator->options, arena, error);
}

static MerStatus make_table(Table *table, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const MerTask *tasks, int count,
                            MerArena *arena, MerError *error)
{
    const MerCodesignTask *task = mer_codesign_task(problem);
    *table = (Table){.metric = priced_as(search->objective),
                     .goal = search->objective == MER_METRIC_COUNT ? search->goal : NULL,
                     .part_count = count,
                     .parts = MER_ARRAY(arena, Part, count),
                     .notes = search->notes};
    for (int t = 0; t < count; t++) {
        MER_TRY(open_part(&table->parts[t], problem, evaluator, &tasks[t], arena, error));
    }
    mer_codesign_cores(task, arena, &table->cores);
    int cells = table->cores.count * count;
    table->best = MER_ARRAY(arena, Best, cells + 1);
    if (search->pool) {
        mer_pool_run(search->pool, cells, solve_cell, table);
    } else {
        for (int c = 0; c < cells; c++) {
            solve_cell(table, c, 0);
        }
    }
    choose(table, &task->usual);
    return MER_OK;
}

static void show_cores(const Table *table, MerNotes *notes)
{
    MerArena     *arena = mer_arena_new();
    int           count = table->cores.count;
    MerViewPoint *points = MER_ARRAY(arena, MerViewPoint, count + 1);
    double        macs = macs_of(table);
    int           shown = 0;
    for (int c = 0; c < count; c++) {
        const MerVtaCore *core = &table->cores.list[c];
        double           *values = MER_ARRAY(arena, double, 3), total = total_of(table, c);
        values[0] = (double)mer_vta_core_macs(core);
        values[1] = 2 * macs / total;
        values[2] = (double)mer_vta_core_bytes(core);
        if (total < INFINITY) {
            points[shown++] =
                (MerViewPoint){.name = mer_arena_format(arena, "%dx%dx%d", core->batch,
                                                        core->block_in, core->block_out),
                               .group = c == table->chosen  ? "chosen"
                                        : c == table->usual ? "platform"
                                                            : "other",
                               .values = values,
                               .is_marked = c == table->chosen || c == table->usual};
        }
    }
    MerViewAxis axes[] = {{.name = "multipliers", .unit = "1", .better = -1},
                          {.name = "throughput", .unit = "op/s", .better = 1},
                          {.name = "SRAM", .unit = "B", .better = -1}};
    MerView     view = {.id = "geometries",
                        .title = "Geometries",
                        .help = "Every core that the budget allows, each with the best schedule of "
                                    "every layer."};
    if (table->metric == MER_METRIC_LATENCY && shown > 1) {
        mer_view_scatter(
            notes, &view,
            &(MerViewScatter){
                .axes = axes, .axis_count = 3, .points = points, .point_count = shown});
    }
    mer_arena_free(arena);
}

/* The table of the whole network, made by the first layer that asks. */
static MerStatus need_table(Solver *s, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, MerError *error)
{
    const MerCodesignTask *task = mer_codesign_task(problem);
    MerCodesignShared     *shared = problem->task->shared;
    if (task->mode != MER_HARDWARE_SHARED || !shared) {
        s->table = MER_NEW(search->arena, Table);
        return make_table(s->table, search, problem, evaluator, problem->task, 1, search->arena,
                          error);
    }
    if (!shared->solved) {
        Table *table = MER_NEW(shared->arena, Table);
        MER_TRY(make_table(table, search, problem, evaluator, shared->tasks, shared->count,
                           shared->arena, error));
        shared->solved = table->is_cut ? NULL : table;
        if (!table->is_cut && table->usual >= 0 && table->metric == MER_METRIC_LATENCY) {
            shared->usual_seconds = total_of(table, table->usual);
        }
        s->table = table;
    } else {
        s->table = shared->solved;
    }
    while (strcmp(shared->tasks[s->part].name, problem->task->name) != 0) {
        s->part++;
    }
    return MER_OK;
}

/* However short the time, there is an answer: the best schedule on the first core that runs all layers, that of the
 * platform before others. It does not depend on what was finished, so that layers that are cut off agree on the core. */
static void take_any(Table *table, int part)
{
    table->chosen = -1;
    for (int c = -1; c < table->cores.count && table->chosen < 0; c++) {
        int core = c < 0 ? table->usual : c;
        for (int p = 0; core >= 0 && p < table->part_count; p++) {
            fill_cell(table, core * table->part_count + p, true);
        }
        table->chosen = core >= 0 && total_of(table, core) < INFINITY ? core : -1;
    }
    if (table->chosen >= 0) {
        fill_cell(table, table->chosen * table->part_count + part, false);
    }
}

static MerStatus open_grid(void *state, const MerSearch *search, const MerProblem *problem,
                           const MerEvaluator *evaluator, const void *options, MerError *error)
{
    Solver                *s = state;
    const MerCodesignTask *task = mer_codesign_task(problem);
    (void)options;
    if (!task) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "grid enumerates a VTA-class core; kernels are measured: annealing, "
                             "genetic and others search them");
    }
    if (!evaluator->type->rules) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "grid prices every schedule and wants a model for it, found %s",
                             evaluator->type->name);
    }
    bool is_sum =
        search->objective == MER_METRIC_LATENCY || search->objective == MER_METRIC_CYCLES ||
        search->objective == MER_METRIC_THROUGHPUT || search->objective == MER_METRIC_ENERGY;
    bool is_quotient =
        search->objective == MER_METRIC_COUNT && is_of_time(search->goal, &task->usual);
    if (!is_quotient &&
        (search->objective == MER_METRIC_COUNT || (task->mode == MER_HARDWARE_SHARED && !is_sum))) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "grid solves single metrics, those of them that add up (throughput, "
                             "latency, cycles, energy) "
                             "with one geometry for all layers, and products and quotients of "
                             "throughput, latency, mac_units "
                             "and sram_bytes");
    }
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED, "grid cannot work with fixed knobs");
    }
    *s = (Solver){.problem = problem,
                  .search = search,
                  .point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1)};
    MER_TRY(need_table(s, search, problem, evaluator, error));
    if (s->table->is_cut) {
        take_any(s->table, s->part);
    }
    s->core = s->table->chosen;
    if (s->core < 0 &&
        !s->table->is_cut) { /* a layer that no core can run: the others still have one */
        for (int c = 0; c < s->table->cores.count && s->core < 0; c++) {
            s->core = s->table->best[c * s->table->part_count + s->part].score < INFINITY ? c : -1;
        }
    }
    return MER_OK;
}

static const Best *best_of(const Solver *s)
{
    return s->core < 0 ? NULL : &s->table->best[s->core * s->table->part_count + s->part];
}

/* A core on which the layer is legal, so that the evaluator says what is wrong with it; -1: none. */
static int refused_core(const Solver *s)
{
    for (int c = s->table->cores.count - 1; c >= 0; c--) {
        if (s->table->best[c * s->table->part_count + s->part].is_legal) {
            return c;
        }
    }
    return -1;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    Solver     *s = state;
    const Best *best = best_of(s);
    (void)capacity;
    if (s->is_done || (s->table->is_cut && s->core < 0)) {
        return 0;
    }
    s->is_done = true;
    if (!s->table->is_cut && mer_codesign_task(s->problem)->mode == MER_HARDWARE_SHARED) {
        show_cores(s->table, s->search->notes);
    }
    int core = best && best->score < INFINITY ? s->core : refused_core(s);
    if (core < 0) { /* any point tells why */
        memset(proposals[0].point, 0, (size_t)s->search->space->knob_count * sizeof(MerIndex));
        return 1;
    }
    best = &s->table->best[core * s->table->part_count + s->part];
    MerVtaPlan content = {s->table->cores.list[core], best->schedule};
    MerPlan    plan = {&mer_plan_vta, &content};
    return s->problem->type->encode(s->problem, &plan, proposals[0].point) ? 1 : 0;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count; /* it knows the price already */
}

static bool proof(const void *state, MerBound *bound)
{
    const Solver *s = state;
    const Best   *best = best_of(s);
    if (!s->is_done || s->table->is_cut || !best || best->score == INFINITY ||
        s->table->chosen < 0) {
        return false;
    }
    bool   is_rate = s->search->objective == MER_METRIC_THROUGHPUT;
    double sign = -mer_metric_info(s->table->metric)->direction;
    double macs = mer_codesign_task(s->problem)->macs;
    *bound = (MerBound){s->table->goal ? goal_value(s->table->goal, &s->table->cores.list[s->core],
                                                    macs, best->score)
                        : is_rate      ? 2 * macs / best->score
                                       : sign * best->score,
                        "optimum", ""};
    return true;
}

const MerOptimizerClass mer_optimizer_grid = {
    .name = "grid",
    .summary = "every schedule of every core that the budget allows, pruned by bounds: the optimum",
    .reference = "exhaustive",
    .state_size = sizeof(Solver),
    .problem = "codesign",
    .makes_own_plan = true,
    .open_problem = open_grid,
    .ask = ask,
    .tell = tell,
    .proof = proof,
};
