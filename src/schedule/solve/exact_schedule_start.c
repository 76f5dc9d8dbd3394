/* Plans to begin with, from the list schedulers and by the moves of list_annealing, priced by the evaluator's own
 * loop. */
#include "schedule/solve/exact_schedule.h"

#include "schedule/solve/list_schedule.h"

#include <math.h>
#include <string.h>

static double price(ExactSearch *s, double limit)
{
    MerBandwidthOutput output;
    s->input.limit = limit;
    mer_bandwidth_plain(&s->input, &s->plan, NULL, NULL, &output);
    return output.is_cut ? INFINITY : output.cycles;
}

static void keep_best(ExactSearch *s, double cycles)
{
    s->best_cycles = cycles;
    memcpy(s->best.queue, s->plan.queue, (size_t)s->plan.job_count * sizeof(int));
    memcpy(s->best.start, s->plan.start, (size_t)(s->plan.unit_count + 1) * sizeof(int));
    for (int u = 0; u < s->best.unit_count; u++) {
        for (int i = s->best.start[u]; i < s->best.start[u + 1]; i++) {
            s->best.unit[s->best.queue[i]] = u;
        }
    }
}

void exact_keep_if_better(ExactSearch *s)
{
    double cycles = price(s, s->best_cycles);
    if (cycles < s->best_cycles) {
        keep_best(s, cycles);
    }
}

void exact_list_plans(ExactSearch *s, const MerScheduleRules *rules, MerArena *arena)
{
    MerJobsPlan plans[MER_LIST_STARTS];
    int         count = mer_list_starts(s->input.schedule, rules, s->stop.notes, arena, plans);
    for (int i = 0; i < count; i++) {
        s->plan = plans[i];
        exact_keep_if_better(s);
    }
}

void exact_anneal(ExactSearch *s, MerRng *rng, int64_t moves, double hot)
{
    const double cold = 1e-7;
    double       now = s->best_cycles;
    double       temperature = hot * now;
    double       cooling = pow(cold / hot, 1 / (double)moves);
    double       threshold;
    s->queues.rng = rng;
    mer_queues_read(&s->queues, &s->best);
    for (int64_t i = 0; i < moves && exact_limit(s) > s->bound && !exact_stop_soon(&s->stop); i++) {
        bool is_move = mer_queues_anneal(&s->queues, now, temperature, &threshold);
        mer_queues_write(&s->queues, &s->plan);
        double cycles = is_move ? price(s, threshold) : now;
        if (cycles <= threshold) {
            now = cycles;
        } else if (is_move) {
            mer_queues_undo(&s->queues);
        }
        if (now < s->best_cycles) {
            keep_best(s, now);
        }
        temperature *= cooling;
    }
}
