/* Numbers with engineering units, for people. */
#ifndef MERCATOR_BASE_ENGINEERING_H
#define MERCATOR_BASE_ENGINEERING_H

/* Four digits and a prefix: 7.0618e8 in pJ gives `706.2 uJ`, 451584 in cycle `451.6 kcycle`, "1" and
 * "" no unit. NaN and infinity give `-`. Returns the length. */
int mer_print_engineering(char buffer[48], double value, const char *unit);
/* 0.0703 gives `7.03 %`; what would be longer than people read gives `> 1000000 %`. */
enum { MER_MOST_PERCENT = 1000000 };
int mer_print_percent(char buffer[48], double share);

#endif
