/* Advantages and running statistics. */
#include "learn/returns.h"

#include <math.h>
#include <stddef.h>

void mer_gae(int steps, int lanes, const double *rewards, const double *values, const bool *ends,
             double discount, double lambda, double *advantages, double *returns)
{
    for (int lane = 0; lane < lanes; lane++) {
        double after = 0;
        for (int t = steps - 1; t >= 0; t--) {
            int    at = t * lanes + lane;
            double share = ends != NULL && ends[at] ? 0 : discount;
            double surprise = rewards[at] + share * values[at + lanes] - values[at];
            after = surprise + share * lambda * after;
            advantages[at] = after;
            returns[at] = after + values[at];
        }
    }
}

void mer_standardise(double *values, int count)
{
    double mean = 0, square = 0;
    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        square += (values[i] - mean) * (values[i] - mean) / count;
    }
    double scale = square > 1e-24 ? 1 / sqrt(square) : 0;
    for (int i = 0; i < count; i++) {
        values[i] = (values[i] - mean) * scale;
    }
}

void mer_running_add(MerRunning *running, double value)
{
    running->count += 1;
    double before = value - running->mean;
    running->mean += before / running->count;
    running->square += before * (value - running->mean);
}

double mer_running_deviation(const MerRunning *running)
{
    double variance = running->count > 1 ? running->square / (running->count - 1) : 0;
    return variance > 1e-24 ? sqrt(variance) : 1;
}

double mer_running_normal(const MerRunning *running, double value)
{
    double normal = (value - running->mean) / mer_running_deviation(running);
    return normal > 5 ? 5 : normal < -5 ? -5 : normal;
}
