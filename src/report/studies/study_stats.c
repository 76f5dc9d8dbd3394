/* Medians over seeds and tasks, intervals, and the sign test. */
#include "report/studies/study_stats.h"

#include <math.h>

enum { ROUNDS = 2000, MOST = 4096 };

double mer_trace_best(const MerStudyTrace *trace, int64_t samples)
{
    double best = INFINITY;
    for (int i = 0; i < trace->curve.count && trace->curve.evaluations[i] <= samples; i++) {
        best = trace->curve.scores[i];
    }
    return best;
}

double mer_trace_reach(const MerStudyTrace *trace, double score)
{
    for (int i = 0; i < trace->curve.count; i++) {
        if (trace->curve.scores[i] <= score) {
            return (double)trace->curve.evaluations[i];
        }
    }
    return INFINITY;
}

int mer_study_most_seeds(const MerStudyGroup *group)
{
    int most = 0;
    for (int i = 0; i < group->task_count * group->method_count; i++) {
        most = group->cells[i].count > most ? group->cells[i].count : most;
    }
    return most;
}

int mer_cell_best(const MerStudyCell *cell, int64_t samples, double *scores)
{
    for (int s = 0; s < cell->count; s++) {
        scores[s] = mer_trace_best(&cell->traces[s], samples);
    }
    return cell->count;
}

int mer_cell_reach(const MerStudyCell *cell, double score, double *samples)
{
    for (int s = 0; s < cell->count; s++) {
        samples[s] = mer_trace_reach(&cell->traces[s], score);
    }
    return cell->count;
}

double mer_study_median(const double *x, int n)
{
    double median = mer_median(x, n);
    return isnan(median) && n > 0 ? INFINITY : median; /* between two infinite values */
}

double mer_cell_median(const MerStudyCell *cell, int64_t samples)
{
    double scores[MOST];
    return cell->count > MOST ? NAN
                              : mer_study_median(scores, mer_cell_best(cell, samples, scores));
}

double mer_cell_samples(const MerStudyCell *cell)
{
    double samples[MOST];
    for (int s = 0; s < cell->count && s < MOST; s++) {
        samples[s] = (double)cell->traces[s].samples;
    }
    return cell->count > MOST ? NAN : mer_median(samples, cell->count);
}

double mer_method_samples(const MerStudyGroup *group, int method, MerArena *arena)
{
    double *samples = MER_ARRAY(arena, double, group->task_count + 1);
    int     count = 0;
    for (int t = 0; t < group->task_count; t++) {
        const MerStudyCell *cell = mer_study_cell(group, t, method);
        samples[count] = mer_cell_samples(cell);
        count += cell->count > 0;
    }
    return mer_median(samples, count);
}

int64_t mer_cell_until(const MerStudyCell *cell)
{
    int64_t until = INT64_MAX;
    for (int s = 0; s < cell->count; s++) {
        until = cell->traces[s].until < until ? cell->traces[s].until : until;
    }
    return until;
}

int64_t mer_method_until(const MerStudyGroup *group, int method)
{
    int64_t most = 0;
    for (int t = 0; t < group->task_count; t++) {
        const MerStudyCell *cell = mer_study_cell(group, t, method);
        int64_t             until = mer_cell_until(cell);
        most = cell->count > 0 && until > most ? until : most;
    }
    return most;
}

double mer_study_ratio(double score, double best)
{
    return score < 0 ? best / score : score / best;
}

MerInterval mer_study_interval(const double *x, int n)
{
    MerRng rng = mer_rng_make(1, 0);
    return n < 2 ? (MerInterval){NAN, NAN}
                 : mer_bootstrap(x, n, mer_study_median, 0.95, ROUNDS, &rng);
}

double mer_sign_test(int wins, int losses)
{
    int    n = wins + losses, fewer = wins < losses ? wins : losses;
    double tail = 0;
    for (int k = 0; k <= fewer; k++) {
        tail += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2));
    }
    return n == 0 ? 1 : fmin(1, 2 * tail);
}
