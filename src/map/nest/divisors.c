/* By trying all numbers up to the square root. */
#include "map/nest/divisors.h"

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
