/* Plans to begin with: annealing of the queues (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983), priced by
 * the evaluator's own loop, which stops early at the threshold drawn before. */
#include "schedule/solve/exact_schedule.h"

#include <math.h>
#include <string.h>

static void copy_plan(MerJobsPlan *to, const MerJobsPlan *from)
{
    memcpy(to->queue, from->queue, (size_t)from->job_count * sizeof(int));
    memcpy(to->start, from->start, (size_t)(from->unit_count + 1) * sizeof(int));
}

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
    copy_plan(&s->best, &s->plan);
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

static int unit_at(const MerJobsPlan *plan, int at)
{
    int unit = 0;
    while (plan->start[unit + 1] <= at) {
        unit++;
    }
    return unit;
}

/* Takes the job at place `from` of all queues to some place of queue `unit`. */
static void move_job(MerJobsPlan *plan, int from, int unit, MerRng *rng)
{
    int *queue = plan->queue;
    int  job = queue[from];
    for (int u = unit_at(plan, from) + 1; u <= plan->unit_count; u++) {
        plan->start[u]--;
    }
    memmove(queue + from, queue + from + 1, (size_t)(plan->job_count - 1 - from) * sizeof *queue);
    int to = plan->start[unit] + mer_rng_below(rng, plan->start[unit + 1] - plan->start[unit] + 1);
    memmove(queue + to + 1, queue + to, (size_t)(plan->job_count - 1 - to) * sizeof *queue);
    queue[to] = job;
    for (int u = unit + 1; u <= plan->unit_count; u++) {
        plan->start[u]++;
    }
}

static void change(MerJobsPlan *plan, MerRng *rng)
{
    int at = mer_rng_below(rng, plan->job_count);
    if (mer_rng_unit(rng) < 0.5) {
        move_job(plan, at, mer_rng_below(rng, plan->unit_count), rng);
    } else {
        int other = mer_rng_below(rng, plan->job_count);
        int job = plan->queue[at];
        plan->queue[at] = plan->queue[other];
        plan->queue[other] = job;
    }
}

void exact_anneal(ExactSearch *s, MerRng *rng, int64_t moves, double hot)
{
    const double cold = 1e-7;
    int          queue[EXACT_JOBS], start[MER_BANDWIDTH_UNITS + 1];
    MerJobsPlan  old = {s->plan.job_count, s->plan.unit_count, NULL, queue, start};
    double       now = s->best_cycles;
    double       temperature = hot * now;
    double       cooling = pow(cold / hot, 1 / (double)moves);
    copy_plan(&s->plan, &s->best);
    for (int64_t i = 0; i < moves && exact_limit(s) > s->bound && !exact_stop_soon(&s->stop); i++) {
        double threshold = now - temperature * log(1 - mer_rng_unit(rng));
        copy_plan(&old, &s->plan);
        change(&s->plan, rng);
        double cycles = price(s, threshold);
        if (cycles <= threshold) {
            now = cycles;
        } else {
            copy_plan(&s->plan, &old);
        }
        if (now < s->best_cycles) {
            keep_best(s, now);
        }
        temperature *= cooling;
    }
}
