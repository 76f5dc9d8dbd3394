/* What became of the requests of a schedule, so that a run can count them over all its groups: one that is cut has
 * layers in several. */
#include "schedule/cost/bandwidth.h"

#include "schedule/jobs/schedule_deadlines.h"

int mer_bandwidth_requests(const MerBandwidthState *state, const MerPlan *plan, MerArena *arena,
                           MerServed **requests)
{
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    bool               is_played =
        state->schedule->has_deadlines &&
        mer_bandwidth_simulate(state, mer_jobs_plan(plan), arena, &times, NULL, &output);
    return is_played ? mer_schedule_serve(state->schedule, times.end, arena, requests) : 0;
}
