/* Factors of sizes, n >= 1: divisors, primes, and those of padded loops. */
#ifndef MERCATOR_MAP_NEST_FACTORS_H
#define MERCATOR_MAP_NEST_FACTORS_H

enum { MER_MOST_DIVISORS = 1536, MER_MOST_PRIMES = 31 }; /* of any number below 2^31 */

int mer_divisor_count(int n);
/* Rising; gives their number. */
int mer_divisors(int n, int divisors[MER_MOST_DIVISORS]);
/* Rising, as often as they divide; gives their number. */
int mer_primes(int n, int primes[MER_MOST_PRIMES]);

/* Factors that need not divide (docs/loopnest-model.md, "Padded factors"). A slot that takes factor f of n
 * trips leaves ceil(n / f) to the slots outside it. Of all factors that leave the same, only the smallest
 * is worth having: it pads least. Those are the numbers ceil(n / k), about 2 sqrt(n) of them, among them
 * every divisor. All functions take constant time. */
int mer_padded_count(int n, int limit); /* how many there are, none larger than `limit` (>= 1) */
int mer_padded_at(int n, int rank);     /* the one at `rank` (0 = 1) in ascending order */
int mer_padded_rank(int n, int factor); /* -1 if it is none of them */
int mer_padded_rest(int n, int factor); /* what is left: ceil(n / factor) */

#endif
