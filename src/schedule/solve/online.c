/* Scheduling while jobs arrive (docs/scheduling-online.md, "The solver `online`"): at every release the
 * requests that are known are put into a new order of urgency, within a number of forecasts and a time per
 * decision; what has started stays. A free core takes the most urgent job that is ready and not much
 * slower there than elsewhere. Other jobs are invisible until their release. The plan that comes out is
 * the one that such a scheduler has followed, and is priced once, like any other. */
#include "schedule/solve/online.h"

#include "base/option_rows.h"
#include "mercator/view.h"
#include "schedule/solve/list_schedule.h"

#include <math.h>

typedef MerOnlineOptions Options;

static const MerOption options[] = {
    MER_INT(moves, "50", 0, 1e9, "plans tried at each arrival"),
    MER_INT(ahead, "2", 0, 1000,
            "requests of each periodic model that forecasts expect at its rate; 0: none"),
    MER_REAL_AT("ms", milliseconds, "0", 0, 1e9,
                "time for a decision; 0: no limit, and the same plan on every machine"),
    MER_CHOICE(rule, "search", "search|fcfs|sjf|edf|least_laxity",
               "what forecasts say is best, or one rule without forecasts"),
    MER_CHOICE(goal, "misses", "misses|tardiness|finish",
               "what a forecast is judged by: missed deadlines, lateness, or the time from release "
               "to end"),
    MER_REAL(patience, "8", 1, 1e9,
             "a core this many times slower than a job's best one is not used; a search also tries "
             "less"),
    {0}};

/* Jobs in the order they started, dropped ones last and where they would have been fastest. */
static void make_plan(const MerOnlinePlanner *p, const MerBandwidthTimes *times, MerArena *arena,
                      MerJobsPlan *plan)
{
    const MerSchedule *schedule = p->schedule;
    int                count = schedule->job_count;
    int                units = schedule->unit_count;
    double            *start = MER_ARRAY(arena, double, count + 1);
    int               *unit = MER_ARRAY(arena, int, count + 1);
    for (int j = 0; j < count; j++) {
        start[j] = isnan(times->start[j]) ? INFINITY : times->start[j];
        unit[j] = times->unit[j] < 0 ? mer_schedule_smallest(schedule->latency + j * units, units)
                                     : times->unit[j];
    }
    mer_schedule_new_plan(schedule, arena, plan);
    mer_schedule_make_queues(mer_schedule_sorted(start, count, arena), unit, plan);
}

static void view_decisions(const MerOnlinePlanner *p, MerNotes *notes)
{
    MerViewFact facts[] = {{.name = "decisions", .value = (double)p->decisions, .unit = "1"},
                           {.name = "forecasts", .value = (double)p->forecasts, .unit = "1"},
                           {.name = "better than rules", .value = (double)p->improved, .unit = "1"},
                           /* as it went; the plan must give the same */
                           {.name = "cycles", .value = p->cycles, .unit = "cycle"},
                           {.name = "dropped", .value = (double)p->dropped, .unit = "1"}};
    mer_view_facts(notes, &(MerView){.id = "online",
                                     .title = "Decisions while jobs arrive",
                                     .facts = facts,
                                     .fact_count = sizeof facts / sizeof *facts});
}

bool mer_online_plan(const MerOnlineOptions *chosen, const MerSearch *search,
                     const MerEvaluator *evaluator, MerJobsPlan *plan, MerOnlinePlanner *planner)
{
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    if (!bandwidth || bandwidth->input.rules.dispatch == MER_DISPATCH_POLICY) {
        return false;
    }
    *planner = (MerOnlinePlanner){.schedule = bandwidth->schedule,
                                  .rng = search->rng,
                                  .notes = search->notes,
                                  .scratch = mer_arena_new()};
    if (chosen) {
        planner->options = *chosen;
    } else {
        mer_options_defaults(options, &planner->options, search->arena);
    }
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    mer_online_prepare(planner, search->objective, search->arena);
    MerBandwidthPlanner hooks = {planner->urgency, planner->patience, INFINITY, planner,
                                 mer_online_arrived};
    MerBandwidthState   own = *bandwidth;
    own.input.rules.dispatch = MER_DISPATCH_POLICY;
    own.input.rules.policy = MER_POLICY_FCFS;
    own.input.planner = &hooks;
    /* Any queues: the policy does not read them. */
    mer_schedule_list(planner->schedule, &(MerListOptions){0}, search->arena, plan);
    mer_bandwidth_simulate(&own, plan, search->arena, &times, NULL, &output);
    make_plan(planner, &times, search->arena, plan);
    mer_arena_free(planner->scratch);
    planner->cycles = output.cycles;
    planner->dropped = times.dropped;
    return true;
}

static MerStatus open_online(void *state, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *given, MerError *error)
{
    const MerSchedule *schedule;
    MerJobsPlan        plan;
    MerOnlinePlanner   planner;
    MER_TRY(mer_list_begin("online", problem, &schedule, error));
    if (!mer_online_plan(given, search, evaluator, &plan, &planner)) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "online needs evaluator bandwidth with dispatch skip or strict, since it "
            "makes a plan");
    }
    mer_list_set(state, search, problem, &plan);
    if (planner.is_stopped) { /* not the plan that was asked for, and too late to price it */
        ((MerListState *)state)->is_asked = true;
        return MER_OK;
    }
    view_decisions(&planner, search->notes);
    mer_note_decisions(search->notes, &planner.taken); /* times stay out of the log */
    return MER_OK;
}

static bool is_clocked(const void *options)
{
    return ((const MerOnlineOptions *)options)->milliseconds > 0;
}

const MerOptimizerClass mer_optimizer_online = {
    .name = "online",
    .summary = "plans again at every arrival what has not started yet, without seeing later jobs",
    .reference =
        "after Graham et al., Optimization and Approximation in Deterministic Sequencing, 1979",
    .options = options,
    .options_size = sizeof(MerOnlineOptions),
    MER_LIST_CLASS,
    .open_problem = open_online,
    .is_clocked = is_clocked,
};
