/* Random numbers: xoshiro256** seeded by (seed, stream). Passed, never fetched. */
#ifndef MERCATOR_RNG_H
#define MERCATOR_RNG_H

#include <stdint.h>

typedef struct MerRng {
    uint64_t state[4];
} MerRng;

MerRng   mer_rng_make(uint64_t seed, uint64_t stream); /* streams of one seed are independent */
uint64_t mer_rng_next(MerRng *rng);
int      mer_rng_below(MerRng *rng, int n); /* uniform in 0 .. n-1, n >= 1, no bias */
double   mer_rng_unit(MerRng *rng);         /* uniform in [0, 1) */
double   mer_rng_normal(MerRng *rng);       /* mean 0, deviation 1 */
void     mer_rng_shuffle(MerRng *rng, int *values, int count);

#endif
