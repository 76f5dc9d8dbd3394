/* xoshiro256** 1.0 and splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2018); bounded integers after Lemire, "Fast random integer generation in an
 * interval", 2019. */
#include "mercator/rng.h"

#include <assert.h>
#include <math.h>

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

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

uint64_t mer_rng_next(MerRng *rng)
{
    uint64_t      *s = rng->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

int mer_rng_below(MerRng *rng, int n)
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

double mer_rng_unit(MerRng *rng)
{
    return (double)(mer_rng_next(rng) >> 11) * 0x1.0p-53;
}

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
