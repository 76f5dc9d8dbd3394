/* The list schedulers on no-stall latencies (docs/optimizers.md, "List schedulers"): first come, first served,
 * longest processing time first, and earliest deadline first, which differ in the order they begin with; after
 * Herald, models in turn and cores kept in balance; and the rounded relaxation of the bound. */
#include "base/option_rows.h"
#include "schedule/cost/bandwidth.h"
#include "schedule/solve/list_schedule.h"

static void make_list(const MerSchedule *schedule, const MerSearch *search,
                      const MerEvaluator *evaluator, const void *options, MerJobsPlan *plan)
{
    MerListOptions list = *(const MerListOptions *)options;
    (void)evaluator;
    list.rng = search->rng;
    mer_schedule_list(schedule, &list, search->arena, plan);
}

/* Each job goes to the core where it ends first, unless options say otherwise. */
typedef MerListOptions Options;

#define PLAIN_SOLVER(solver, first_order, words)                                                   \
    static const MerOption solver##_options[] = {                                                  \
        MER_CHOICE(                                                                                \
            order, first_order, "input|lpt|sjf|random|deadline",                                   \
            "jobs as given, longest first, shortest first, in random order, or by deadline"),      \
        MER_CHOICE(rule, "mct", "mct|least_loaded|round_robin|met|random",                         \
                   "the core of a job: least completion time, least load, in turn, least "         \
                   "latency, or any"),                                                             \
        {0}};                                                                                      \
    MER_LIST_SOLVER(                                                                               \
        solver, make_list, .summary = "list scheduling: " words ", each where it ends first",      \
        .reference =                                                                               \
            "Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969",    \
        .options = solver##_options, .options_size = sizeof(MerListOptions));

PLAIN_SOLVER(fcfs, "input", "jobs in input order")
PLAIN_SOLVER(lpt, "lpt", "longest job first")
PLAIN_SOLVER(edf, "deadline", "earliest deadline first")

static const MerOption herald_options[] = {
    MER_REAL(imbalance, "1.5", 1, 1e6, "largest load over smallest load that is accepted"),
    MER_REAL(slowdown, "2", 1, 1e6,
             "how much slower than the best core one may be to take a job for balance"),
    {0}};

/* Our reading of Kwon et al., HPCA 2021: each job where it ends first, unless the loads of the cores drift apart. */
static void make_balanced(const MerSchedule *schedule, const MerSearch *search,
                          const MerEvaluator *evaluator, const void *options, MerJobsPlan *plan)
{
    MerListOptions list = *(const MerListOptions *)options;
    list.order = MER_LIST_ROUND_ROBIN;
    list.rule = MER_LIST_BALANCED;
    make_list(schedule, search, evaluator, &list, plan);
}

MER_LIST_SOLVER(
    herald_like, make_balanced,
    .summary = "list scheduling for unequal cores: ends first, kept in balance",
    .reference =
        "after Kwon et al., Heterogeneous Dataflow Accelerators for Multi-DNN Workloads, HPCA 2021",
    .options = herald_options, .options_size = sizeof(MerListOptions));

/* Each job on the kind of core where most of it lies, longest first. */
static void make_rounded(const MerSchedule *schedule, const MerSearch *search,
                         const MerEvaluator *evaluator, const void *options, MerJobsPlan *plan)
{
    (void)options;
    mer_list_round(schedule, mer_bandwidth_rules(evaluator), search->notes, search->arena, plan);
}

MER_LIST_SOLVER(
    lp_round, make_rounded,
    .summary = "the linear relaxation, rounded: each job on the kind of core where most of it lies",
    .reference = "after Lenstra, Shmoys and Tardos, Mathematical Programming 46, 1990");
