/* Which requests of a schedule are missed, so that a run can count them over all its groups: one that is cut has
 * layers in several. */
#include "schedule/cost/bandwidth.h"

#include <math.h>

int mer_bandwidth_requests(const MerBandwidthState *state, const MerPlan *plan, MerArena *arena,
                           MerServed **requests)
{
    const MerSchedule *schedule = state->schedule;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    int                count = 0;
    *requests = MER_ARRAY(arena, MerServed, schedule->job_count + 1);
    if (!schedule->has_deadlines ||
        !mer_bandwidth_simulate(state, mer_jobs_plan(plan), arena, &times, NULL, &output)) {
        return 0;
    }
    for (int j = 0; j < schedule->job_count; j++) {
        if (schedule->deadline[j] < INFINITY) {
            int64_t model = schedule->model[j];
            (*requests)[count++] = (MerServed){
                .number = model < 0 ? -1 : model << 32 | schedule->request[j],
                .is_missed = !(times.end[j] <= schedule->deadline[j]), /* NAN: never ended */
            };
        }
    }
    return count;
}
