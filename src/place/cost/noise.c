/* Noisy measurement, to study what it does to a search: the told time is the true one times a log-normal factor with
 * median 1. Drawn from plan and seed alone, so that a plan that is measured twice gives the same. */
#include "place/place_parts.h"

#include "mercator/rng.h"

double mer_place_noise(uint64_t hash, uint64_t seed, double sigma)
{
    MerRng rng = mer_rng_make(seed, hash);
    return exp(sigma * mer_rng_normal(&rng));
}
