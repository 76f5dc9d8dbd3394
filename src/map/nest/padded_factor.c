/* The numbers ceil(n / k) = floor((n - 1) / k) + 1: with m = n - 1 and q = floor(sqrt(m)) the floors
 * are 0, 1, ..., q and then m / k for k falling from q (or q - 1, if m / q is q itself) to 1. */
#include "map/nest/padded_factor.h"

#include <math.h>

static int square_root(int m)
{
    return (int)sqrt((double)m);
}

static int count_all(int m, int q)
{
    return m == 0 ? 1 : 2 * q + 1 - (m / q == q);
}

int mer_padded_count(int n, int limit)
{
    int m = n - 1;
    int q = square_root(m);
    if (limit >= n) {
        return count_all(m, q);
    }
    return limit <= q ? limit : count_all(m, q) - m / limit;
}

int mer_padded_at(int n, int rank)
{
    int m = n - 1;
    int q = square_root(m);
    return 1 + (rank <= q ? rank : m / (count_all(m, q) - rank));
}

int mer_padded_rank(int n, int factor)
{
    int m = n - 1;
    int q = square_root(m);
    int below = factor - 1;
    if (below <= q) {
        return below;
    }
    if (below > m) {
        return -1;
    }
    int k = m / below;
    return m / k == below ? count_all(m, q) - k : -1;
}

int mer_padded_rest(int n, int factor)
{
    return n / factor + (n % factor != 0);
}
