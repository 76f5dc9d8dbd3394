/* Divisors and prime factors of sizes, n >= 1. */
#ifndef MERCATOR_MAP_NEST_DIVISORS_H
#define MERCATOR_MAP_NEST_DIVISORS_H

enum { MER_MOST_DIVISORS = 1536, MER_MOST_PRIMES = 31 }; /* of any number below 2^31 */

int mer_divisor_count(int n);
/* Rising; gives their number. */
int mer_divisors(int n, int divisors[MER_MOST_DIVISORS]);
/* Rising, as often as they divide; gives their number. */
int mer_primes(int n, int primes[MER_MOST_PRIMES]);

#endif
