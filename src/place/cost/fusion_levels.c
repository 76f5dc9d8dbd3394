/* Levels of fusion by rule, which learned ones are compared with (docs/placement.md, "Fusion"). */
#include "place/place_parts.h"

/* Results that an operator would not have to read from memory: those of producers on its unit. */
static double bytes_saved(const MerPlace *place, const int *unit, int op)
{
    double bytes = 0;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        int producer = place->before[i];
        bytes += unit[producer] == unit[op] ? place->output_bytes[producer] : 0;
    }
    return bytes;
}

void mer_place_fuse_greedy(const MerPlace *place, const int *unit, int *level)
{
    double most = 0;
    for (int o = 0; o < place->op_count; o++) {
        most = fmax(most, bytes_saved(place, unit, o));
    }
    for (int o = 0; o < place->op_count; o++) {
        double bytes = bytes_saved(place, unit, o);
        /* one level lower for every halving */
        double wanted = bytes > 0 ? place->levels - 1 - floor(log2(most / bytes)) : 0;
        level[o] = bytes > 0 ? (int)fmax(1, wanted) : 0;
    }
}
