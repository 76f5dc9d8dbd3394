/* xoshiro256** 1.0 and splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2018); bounded integers after Lemire, "Fast random integer generation in an
 * interval", 2019. */
#include "mercator/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

MerRng mer_rng_make(uint64_t seed, uint64_t stream)
{
    /* The seed is mixed before the stream joins it: (1, 2) and (2, 1) must not meet. */
    uint64_t state = splitmix(&seed) + stream;
    MerRng   rng;
    for (int i = 0; i < 4; i++) {
        rng.state[i] = splitmix(&state);
    }
    return rng;
}

/* Where the compiler does not put them inline, these are called. */
extern inline uint64_t mer_rng_next(MerRng *rng);
extern inline int      mer_rng_below(MerRng *rng, int n);
extern inline double   mer_rng_unit(MerRng *rng);

double mer_rng_normal(MerRng *rng)
{
    /* Box and Muller; the second value is dropped so that four words stay the whole state. */
    const double two_pi = 6.283185307179586476925;
    const double radius = sqrt(-2.0 * log(1.0 - mer_rng_unit(rng)));
    return radius * cos(two_pi * mer_rng_unit(rng));
}

void mer_rng_shuffle(MerRng *rng, int *values, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = mer_rng_below(rng, i + 1);
        int value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}
