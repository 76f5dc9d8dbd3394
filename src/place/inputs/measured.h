/* Rows of measured times, from whatever file they come: collected, then put in the place of what was predicted. */
#ifndef MERCATOR_PLACE_INPUTS_MEASURED_H
#define MERCATOR_PLACE_INPUTS_MEASURED_H

#include "place/place_parts.h"

#include "base/name_table.h"

#define MER_MEASURED_MAX_US 1e15
#define MER_MEASURED_MAX_BYTES 1e15

typedef struct MerMeasuredRow {
    int    op;
    int    target; /* a class of units, or class_count + a unit */
    double time_us;
    double output_bytes, weight_bytes, workspace_bytes; /* NaN: not said */
} MerMeasuredRow;

typedef struct MerMeasured {
    const MerPlace *place;
    const char     *path;
    MerArena       *scratch;
    MerError       *error;
    MerNameTable    index;      /* of the first operator of each name: int */
    int            *same;       /* the next operator of the same name, -1: none */
    int            *first_unit; /* of each class */
    int             row_count;
    MerMeasuredRow *rows;
    int             unknown_count, foreign_count; /* rows of other operators, of other units */
    const char     *unknown, *foreign;            /* the first of each */
} MerMeasured;

/* Is this unit one of those that the word means? */
typedef bool (*MerUnitTest)(const MerPlace *place, int unit, const char *word);

/* Adds a row for every operator of that name and every class with a unit that passes the test; counts rows that
 * concern nothing here. `row` has no op and target. */
void mer_measured_add(MerMeasured *measured, const char *op, const char *word, MerUnitTest test,
                      MerMeasuredRow row);

MerStatus mer_measured_csv(MerMeasured *measured, const char *data,
                           size_t size); /* measured_csv.c */
/* measured_ort.c: ONNX Runtime's profile */
MerStatus mer_measured_ort(MerMeasured *measured, const char *data, size_t size);

/* A unit's class, or its name without number where it has none. */
bool mer_unit_is_of_class(const MerPlace *place, int unit, const char *word);

#endif
