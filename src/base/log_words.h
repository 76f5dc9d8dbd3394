/* What the trial lines of a log have said in full, so that those after them can say it short (docs/formats.md, "Run
 * log"). Writer and readers go through the same lines in the same order and so have the same words.
 *
 * In full, and as every line of mercator-run/1:
 *   {"type":"trial","index":7,"task":0,"point":[3,0,7],"score":12,"cost":{"cycles":12,"energy":5}}
 *   {"type":"trial","index":8,"task":0,"point":[3,1,7],"score":null,"reason":"capacity: RF needs 301 words, has 256"}
 * Short, after these:
 *   {"type":"trial","index":9,"task":0,"point":"Lf","score":14,"cost":[4]}
 *   {"type":"trial","index":10,"task":0,"point":"Lg","reason":[0,299]} */
#ifndef MERCATOR_BASE_LOG_WORDS_H
#define MERCATOR_BASE_LOG_WORDS_H

#include "base/json_slice.h"

#include <stdint.h>

enum { MER_WORDS_NAMES = 64, MER_WORDS_REASONS = 64 };

typedef struct MerReasonWords { /* a reason without the number it needs */
    char before[120], after[120];
    int  before_length, after_length;
    bool has_number;
} MerReasonWords;

typedef struct MerLogWords {      /* zeroed = nothing said yet */
    bool           is_long;       /* the log is of version 1, which says everything in full */
    char           objective[32]; /* the metric that `score` tells; "": `score` is an expression */
    int            direction;     /* of the objective; -1: `score` is the value itself */
    char           names[MER_WORDS_NAMES][32]; /* of the metrics in the last cost given in full */
    int            name_count;
    bool           is_renamed; /* since the writer looked last */
    uint64_t       metrics;    /* the names as bits; kept by the writer */
    MerReasonWords reasons[MER_WORDS_REASONS];
    int            reason_count;
} MerLogWords;

/* The number of a reason among those given in full, and the digits it needs (none: length 0); -1: not among them. */
int mer_words_find_reason(const MerLogWords *words, const char *reason, MerSlice *digits);
/* Takes a reason that is given in full. Texts that JSON writes otherwise than they are are not taken. */
void mer_words_take_reason(MerLogWords *words, const char *reason, size_t length);
/* Takes the names of a cost that is given in full: a JSON object. */
void mer_words_take_cost(MerLogWords *words, MerSlice cost);
/* Takes the objective from a header line. */
void mer_words_take_header(MerLogWords *words, const char *line);

/* Growing text of a reader. */
typedef struct MerWordsText { /* zeroed = empty; give `text` back with free() */
    char  *text;
    size_t size, capacity;
} MerWordsText;

/* The long form of a list: a reason as JSON text with its quotes, a cost as an object; added to `text`. False: the list
 * refers to what was never said. */
bool mer_words_full_reason(const MerLogWords *words, MerSlice list, MerWordsText *text);
bool mer_words_full_cost(const MerLogWords *words, MerSlice list, MerSlice score,
                         MerWordsText *text);

/* The long form of a trial line, and its words are taken; other lines stay as they are. `choices`: of the knobs of a
 * point; NULL: points stay as they are. Gives NULL if the line is not whole. The result is kept in `text`, or is the line itself. */
const char *mer_words_full_line(MerLogWords *words, const char *line, const int *choices, int knobs,
                                MerWordsText *text);

/* Points as text of digits of base 64. Consecutive knobs share a digit as long as the product of their choices is at
 * most 64; one with more choices has as many digits as it needs. Writes no end; gives the length. */
int  mer_point_write(const int *point, const int *choices, int knobs, char *text);
int  mer_point_length(const int *choices, int knobs);
bool mer_point_read(const char *text, size_t length, const int *choices, int knobs, int *point);

#endif
