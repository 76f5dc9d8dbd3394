/* Parts of the wing that other files replace; removed once all of them are there. */
#include "place/place_parts.h"

#define WEAK __attribute__((weak))

WEAK MerStatus mer_place_find_routes(MerPlace *place, MerArena *arena, MerError *error)
{
    (void)error;
    place->routes = MER_ARRAY(arena, MerRoute, place->unit_count * place->unit_count);
    return MER_OK;
}

WEAK void mer_place_fuse(const MerPlace *place, const int *unit, const int *level, int *cluster,
                         MerArena *arena)
{
    (void)unit, (void)level, (void)arena;
    for (int o = 0; o < place->op_count; o++) {
        cluster[o] = o;
    }
}

WEAK double mer_place_noise(uint64_t hash, uint64_t seed, double sigma)
{
    (void)hash, (void)seed, (void)sigma;
    return 1;
}
