/* Divisors and primes by trying all numbers up to the square root; padded factors in closed form. */
#include "map/nest/factors.h"

#include <math.h>

int mer_primes(int n, int primes[MER_MOST_PRIMES])
{
    int count = 0;
    for (int p = 2; n > 1; p++) {
        p = p > n / p ? n : p;
        for (; n % p == 0; n /= p) {
            primes[count++] = p;
        }
    }
    return count;
}

int mer_divisors(int n, int divisors[MER_MOST_DIVISORS])
{
    int count = 0;
    for (int d = 1; d <= n / d; d++) {
        if (n % d == 0) {
            divisors[count++] = d;
        }
    }
    for (int i = count - 1; i >= 0; i--) {
        if (divisors[i] != n / divisors[i]) {
            divisors[count++] = n / divisors[i];
        }
    }
    return count;
}

int mer_divisor_count(int n)
{
    int primes[MER_MOST_PRIMES];
    int primes_count = mer_primes(n, primes);
    int count = 1;
    for (int i = 0, power = 0; i < primes_count; i++) {
        power++;
        if (i + 1 == primes_count || primes[i + 1] != primes[i]) {
            count *= power + 1;
            power = 0;
        }
    }
    return count;
}

/* The numbers ceil(n / k) = floor((n - 1) / k) + 1: with m = n - 1 and q = floor(sqrt(m)) the floors
 * are 0, 1, ..., q and then m / k for k falling from q (or q - 1, if m / q is q itself) to 1. */
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
