/* One plan, asked once. */
#include "schedule/solve/list_schedule.h"

#include <string.h>

MerStatus mer_list_begin(const char *solver, const MerProblem *problem,
                         const MerSchedule **schedule, MerError *error)
{
    *schedule = mer_schedule_of(problem);
    return *schedule ? MER_OK
                     : mer_error_set(error, MER_UNSUPPORTED,
                                     "solver %s is made for problem schedule, not for %s", solver,
                                     problem->type->name);
}

void mer_list_set(MerListState *state, const MerSearch *search, const MerProblem *problem,
                  MerJobsPlan *plan)
{
    MerPlan whole = {&mer_plan_jobs, plan};
    state->space = search->space;
    state->point = MER_ARRAY(search->arena, MerIndex, problem->space.knob_count + 1);
    state->is_asked = false;
    problem->type->encode(problem, &whole, state->point);
}

MerStatus mer_list_open(const char *solver, MerListMaker *make, MerListState *state,
                        const MerSearch *search, const MerProblem *problem,
                        const MerEvaluator *evaluator, const void *options, MerError *error)
{
    const MerSchedule *schedule;
    MerJobsPlan        plan;
    MER_TRY(mer_list_begin(solver, problem, &schedule, error));
    make(schedule, search, evaluator, options, &plan);
    mer_list_set(state, search, problem, &plan);
    return MER_OK;
}

void mer_list_round(const MerSchedule *schedule, const MerScheduleRules *rules, MerNotes *notes,
                    MerArena *arena, MerJobsPlan *plan)
{
    int           *group = MER_ARRAY(arena, int, schedule->job_count + 1);
    int           *group_of_unit = MER_ARRAY(arena, int, schedule->unit_count);
    MerListOptions list = {
        .order = MER_LIST_LONGEST, .group = group, .group_of_unit = group_of_unit};
    mer_schedule_round(schedule, rules, group, group_of_unit, notes);
    mer_schedule_list(schedule, &list, arena, plan);
}

int mer_list_starts(const MerSchedule *schedule, const MerScheduleRules *rules, MerNotes *notes,
                    MerArena *arena, MerJobsPlan plans[MER_LIST_STARTS])
{
    const MerListOptions longest = {.order = MER_LIST_LONGEST};
    const MerListOptions input = {.order = MER_LIST_INPUT};
    const MerListOptions deadline = {.order = MER_LIST_DEADLINE};
    mer_schedule_list(schedule, &longest, arena, &plans[0]);
    mer_schedule_list(schedule, &input, arena, &plans[1]);
    mer_list_round(schedule, rules, notes, arena, &plans[2]);
    if (schedule->has_deadlines) {
        mer_schedule_list(schedule, &deadline, arena, &plans[3]);
    }
    return schedule->has_deadlines ? 4 : 3;
}

int mer_list_ask(void *opened, MerProposal *proposals, int capacity)
{
    MerListState *state = opened;
    if (state->is_asked || capacity < 1) {
        return 0;
    }
    memcpy(proposals[0].point, state->point,
           (size_t)state->space->knob_count * sizeof *state->point);
    state->is_asked = true;
    return 1;
}

void mer_list_tell(void *state, const MerTrial *trials, int count)
{
    (void)state;
    (void)trials;
    (void)count;
}
