/* Random numbers of MAGMA, from the library's generator or as the public program gets them. */
#include "opt/magma.h"

MerMagmaDraws mer_magma_draws(MerRng *rng)
{
    return (MerMagmaDraws){.rng = rng};
}

MerMagmaDraws mer_magma_draws_as_shipped(uint64_t seed)
{
    return (MerMagmaDraws){.python = mer_twister_python(seed),
                           .numpy = mer_twister_numpy((uint32_t)seed)};
}

double mer_magma_unit(MerMagmaDraws *draws)
{
    return draws->rng ? mer_rng_unit(draws->rng) : mer_twister_unit(&draws->python);
}

int mer_magma_below(MerMagmaDraws *draws, int n)
{
    return draws->rng ? mer_rng_below(draws->rng, n) : mer_twister_python_below(&draws->python, n);
}

double mer_magma_first_unit(MerMagmaDraws *draws)
{
    return draws->rng ? mer_rng_unit(draws->rng) : mer_twister_unit(&draws->numpy);
}

int mer_magma_first_below(MerMagmaDraws *draws, int n)
{
    return draws->rng ? mer_rng_below(draws->rng, n) : mer_twister_numpy_below(&draws->numpy, n);
}

static int draw_one(MerRng *rng, const double *weights, int count, int except)
{
    double at = mer_rng_unit(rng) * (except < 0 ? 1 : 1 - weights[except]);
    int    last = -1;
    for (int i = 0; i < count; i++) {
        if (i == except || weights[i] <= 0) {
            continue;
        }
        last = i;
        at -= weights[i];
        if (at < 0) {
            break;
        }
    }
    return last; /* also where rounding leaves a little of `at` */
}

void mer_magma_draw_pair(MerMagmaDraws *draws, const double *weights, const double *sums, int count,
                         int pair[2])
{
    if (draws->rng) {
        pair[0] = draw_one(draws->rng, weights, count, -1);
        pair[1] = draw_one(draws->rng, weights, count, pair[0]);
    } else {
        mer_twister_choose_pair(&draws->numpy, weights, sums, count, pair);
    }
}
