/* Inside of the space of data-centric mappings, for the files that implement it. */
#ifndef MERCATOR_MAP_DIRECTIVES_DIRECTIVES_INSIDE_H
#define MERCATOR_MAP_DIRECTIVES_DIRECTIVES_INSIDE_H

#include "map/directives/directives.h"

enum { MER_DIRECTIVE_SCALES = 8 }; /* ten knobs: inner tiles are outer ones divided by 1 .. 2^7 */

static inline bool mer_directives_is_filter(int dim)
{
    return dim == MER_DIM_R || dim == MER_DIM_S;
}

static inline int mer_directives_factorial(int n)
{
    return n < 2 ? 1 : n * mer_directives_factorial(n - 1);
}

#endif
