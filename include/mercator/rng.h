/* Random numbers: xoshiro256** seeded by (seed, stream). Passed, never fetched. */
#ifndef MERCATOR_RNG_H
#define MERCATOR_RNG_H

#include <assert.h>
#include <stdint.h>

typedef struct MerRng {
    uint64_t state[4];
} MerRng;

MerRng mer_rng_make(uint64_t seed, uint64_t stream); /* streams of one seed are independent */
double mer_rng_normal(MerRng *rng);                  /* mean 0, deviation 1 */
void   mer_rng_shuffle(MerRng *rng, int *values, int count);

/* Inline: optimizers draw dozens of numbers per point, and a call takes longer than a draw. */
inline uint64_t mer_rng_next(MerRng *rng)
{
    uint64_t      *s = rng->state;
    const uint64_t times_5 = s[1] * 5;
    const uint64_t result = (times_5 << 7 | times_5 >> 57) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* uniform in 0 .. n-1, n >= 1, no bias */
inline int mer_rng_below(MerRng *rng, int n)
{
    assert(n >= 1);
    const uint32_t range = (uint32_t)n;
    uint64_t       product = (mer_rng_next(rng) >> 32) * range;
    if ((uint32_t)product < range) {
        const uint32_t threshold = (0u - range) % range;
        while ((uint32_t)product < threshold) {
            product = (mer_rng_next(rng) >> 32) * range;
        }
    }
    return (int)(product >> 32);
}

/* uniform in [0, 1) */
inline double mer_rng_unit(MerRng *rng)
{
    return (double)(mer_rng_next(rng) >> 11) * 0x1.0p-53;
}

#endif
