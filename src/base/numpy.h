/* Numbers to the bit as Python programs get them from `random` and NumPy, for replaying such programs. */
#ifndef MERCATOR_BASE_NUMPY_H
#define MERCATOR_BASE_NUMPY_H

#include <stdint.h>

typedef struct MerTwister { /* Matsumoto and Nishimura, Mersenne twister, 1998: MT19937 */
    uint32_t words[624];
    int      used;
} MerTwister;

MerTwister mer_twister_python(uint64_t seed); /* random.seed(seed) */
MerTwister mer_twister_numpy(uint32_t seed);  /* numpy.random.seed(seed) */
/* random() of either: 53 bits in [0, 1) */
double mer_twister_unit(MerTwister *twister);
int    mer_twister_python_below(MerTwister *twister, int n); /* random.randint(0, n - 1) */
int    mer_twister_numpy_below(MerTwister *twister, int n);  /* numpy.random.randint(0, n) */

/* numpy.random.choice(count, 2, p=weights, replace=False); at least two weights are above 0, and they add up to
 * 1. `sums` are their running sums (numpy.cumsum). */
void mer_twister_choose_pair(MerTwister *twister, const double *weights, const double *sums,
                             int count, int pair[2]);

double mer_numpy_sum(const double *values, int count);
/* numpy.argsort(keys): ascending; the order of equal keys is that of NumPy's quicksort (before 2.0, without the
 * vector sort that 1.25 brought for AVX-512). */
void mer_numpy_argsort(const double *keys, int count, int *order);

#endif
