/* From rewards to what a policy learns from. */
#ifndef MERCATOR_LEARN_RETURNS_H
#define MERCATOR_LEARN_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

/* Generalised advantage estimation (Schulman et al., ICLR 2016) over `steps` steps of `lanes`
 * side by side. rewards (steps, lanes); values (steps + 1, lanes), the last row being what
 * follows; ends (steps, lanes): nothing follows this step, NULL: no step is such. Fills advantages
 * and returns = advantages + values, both (steps, lanes). */
void mer_gae(int steps, int lanes, const double *rewards, const double *values, const bool *ends,
             double discount, double lambda, double *advantages, double *returns);

/* Mean 0 and deviation 1; all zero if they are all equal. */
void mer_standardise(double *values, int count);

/* Mean and deviation of all that was seen so far (Welford, 1962). */
typedef struct MerRunning {
    double count, mean, square;
} MerRunning;

void mer_running_add(MerRunning *running, double value);
double
mer_running_deviation(const MerRunning *running); /* 1 until two different values were seen */
double mer_running_normal(const MerRunning *running, double value); /* within -5 .. 5 */

#endif
