/* All ways to share out the jobs, the weightiest first. Whether a part of them can lead to a better plan is asked
 * of the relaxation in which these jobs stay on their cores. */
#include "schedule/solve/exact_schedule.h"

typedef struct Walk {
    ExactSearch *search;
    uint32_t     given[MER_BANDWIDTH_UNITS]; /* jobs by unit */
} Walk;

static bool may_be_better(Walk *walk, uint32_t placed)
{
    ExactSearch *s = walk->search;
    ExactPhase  *phase = &s->relaxation.phase[0];
    exact_relax_root(s);
    for (int u = 0; u < s->jobs.units; u++) {
        phase->own[u] = walk->given[u];
        phase->others[u] &= ~placed;
    }
    return exact_relax(s, true) < exact_limit(s);
}

/* Of equal units without jobs the first is tried; of equal jobs a later one does not go to an earlier unit. */
static void place(Walk *walk, int depth, uint32_t placed, int previous_unit)
{
    ExactSearch     *s = walk->search;
    const ExactJobs *jobs = &s->jobs;
    if (depth == jobs->jobs) {
        exact_order(s, walk->given);
        return;
    }
    int      job = jobs->by_weight[depth];
    uint32_t bit = (uint32_t)1 << job;
    bool     is_repeat = depth > 0 && jobs->kind[jobs->by_weight[depth - 1]] == jobs->kind[job];
    uint64_t empty_classes = 0;
    for (int u = is_repeat ? previous_unit : 0; u < jobs->units && !exact_is_done(s); u++) {
        uint64_t class = (uint64_t)1 << jobs->unit_class[u];
        bool is_empty = !walk->given[u];
        if ((is_empty && empty_classes & class) || !(exact_possible_jobs(s, u) & bit)) {
            continue;
        }
        empty_classes |= is_empty ? class : 0;
        walk->given[u] |= bit;
        if (may_be_better(walk, placed | bit)) {
            place(walk, depth + 1, placed | bit, u);
        }
        walk->given[u] &= ~bit;
    }
}

void exact_place(ExactSearch *s)
{
    Walk walk = {.search = s};
    place(&walk, 0, 0, 0);
}
