/* AI-MT-like scheduling (our reading of Baek et al., ISCA 2020; docs/optimizers.md, "List schedulers"):
 * believes all cores to be equal to the first, and pairs jobs that need much bandwidth with jobs that need
 * little. */
#include "schedule/solve/list_schedule.h"

typedef struct Machine {
    const MerSchedule *schedule;
    double            *free_at, *need; /* by core */
    bool              *is_done;        /* by job */
} Machine;

static double latency_of(const Machine *machine, int job)
{
    return machine->schedule->latency[job * machine->schedule->unit_count];
}

static double need_of(const Machine *machine, int job)
{
    return machine->schedule->rate[job * machine->schedule->unit_count];
}

/* The hungriest job that fits the bandwidth left over; else the longest modest one; else the most modest. */
static int choose_job(const Machine *machine, double used)
{
    const MerSchedule *schedule = machine->schedule;
    double             left = schedule->bandwidth - used;
    double             modest = schedule->bandwidth / schedule->unit_count;
    int                fitting = -1, longest = -1, least = -1;
    for (int j = 0; j < schedule->job_count; j++) {
        if (machine->is_done[j]) {
            continue;
        }
        double need = need_of(machine, j);
        if (need <= left && (fitting < 0 || need > need_of(machine, fitting))) {
            fitting = j;
        }
        if (need <= modest &&
            (longest < 0 || latency_of(machine, j) > latency_of(machine, longest))) {
            longest = j;
        }
        if (least < 0 || need < need_of(machine, least)) {
            least = j;
        }
    }
    return used < schedule->bandwidth && fitting >= 0 ? fitting : longest >= 0 ? longest : least;
}

static void make_paired(const MerSchedule *schedule, const MerSearch *search,
                        const MerEvaluator *evaluator, const void *options, MerJobsPlan *plan)
{
    (void)evaluator;
    (void)options;
    MerArena *arena = search->arena;
    int       units = schedule->unit_count;
    int      *order = MER_ARRAY(arena, int, schedule->job_count + 1);
    int      *unit_of = MER_ARRAY(arena, int, schedule->job_count + 1);
    Machine   machine = {schedule, MER_ARRAY(arena, double, units), MER_ARRAY(arena, double, units),
                         MER_ARRAY(arena, bool, schedule->job_count + 1)};
    for (int i = 0; i < schedule->job_count; i++) {
        int    unit = mer_schedule_smallest(machine.free_at, units);
        double now = machine.free_at[unit];
        double used = 0;
        for (int u = 0; u < units; u++) {
            used += machine.free_at[u] > now ? machine.need[u] : 0;
        }
        int job = choose_job(&machine, used);
        machine.is_done[job] = true;
        machine.need[unit] = need_of(&machine, job);
        machine.free_at[unit] = now + latency_of(&machine, job);
        order[i] = job;
        unit_of[job] = unit;
    }
    mer_schedule_new_plan(schedule, arena, plan);
    mer_schedule_make_queues(order, unit_of, plan);
}

MER_LIST_SOLVER(
    aimt_like, make_paired,
    .summary = "list scheduling for equal cores: pairs jobs that need much bandwidth with jobs "
               "that need little",
    .reference = "after Baek et al., A Multi-Neural Network Acceleration Architecture, ISCA 2020");
