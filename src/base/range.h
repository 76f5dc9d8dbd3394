/* What a message says was expected of a number. */
#ifndef MERCATOR_BASE_RANGE_H
#define MERCATOR_BASE_RANGE_H

/* "an integer in 2 .. 1000000", "a number >= 0", "a number": `noun` and the finite ends, inclusive.
 * The smallest positive number as minimum reads "> 0". Returns `buffer`. */
const char *mer_range_text(char buffer[96], const char *noun, double minimum, double maximum);

#endif
