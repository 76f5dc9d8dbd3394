/* What an optimizer may choose: a fixed list of knobs. A point gives each knob an index; every point
 * decodes to a plan. Tags (role, level, dim, op) let operators of a domain work without seeing plans. */
#ifndef MERCATOR_SPACE_H
#define MERCATOR_SPACE_H

#include "mercator/rng.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum MerKnobKind {
    MER_KNOB_CATEGORY, /* choices without order */
    MER_KNOB_ORDERED,  /* neighbouring choices mean similar plans; reals are quantised */
    MER_KNOB_RANK /* used for sorting only: index / choices in [0, 1), smaller first, ties by knob */
} MerKnobKind;

/* clang-format off */
#define MER_ROLE_MAP(X)                                                                            \
    X(TILE, "tile") X(PARALLEL, "parallel") X(ORDER, "order") X(CLUSTER, "cluster")                \
    X(LEVELS, "levels") X(BYPASS, "bypass")                 /* map; TILE also codesign */          \
    X(HARDWARE, "hardware") X(THREADS, "threads")           /* codesign */                         \
    X(UNIT, "unit") X(PRIORITY, "priority") X(FUSE, "fuse") X(REPLICAS, "replicas") /* schedule, place */ \
    X(CHANNELS, "channels") X(SETTING, "setting")           /* split; SETTING: tuning an optimizer */
/* clang-format on */
typedef enum MerRole {
#define X(id, name) MER_ROLE_##id,
    MER_ROLE_MAP(X)
#undef X
        MER_ROLE_COUNT
} MerRole;

typedef struct MerKnob {
    const char   *name; /* "tile.K.GLB", "unit.conv4", "priority.cam.3", "channels.fc.digital" */
    MerKnobKind   kind;
    MerRole       role;
    int           level; /* memory or cluster level, 0 = innermost; -1 if none */
    int           dim;   /* loop dimension; BYPASS: tensor W, I, O; -1 if none */
    int           op;    /* layer, job, operator or co-location group; -1 if none */
    int           agent; /* default owner when several policies share the space */
    int           choices;
    const double *values; /* meaning of each index, NULL: the index itself */
} MerKnob;

/* Hints: numbers of the problem by name, row = MerKnob.op, column = choice (or 1). May be ignored. */
typedef struct MerTable {
    const char   *name;
    int           rows, columns;
    const double *values;
} MerTable;

typedef struct MerSpace {
    int             knob_count, table_count;
    const MerKnob  *knobs;
    const MerTable *tables;
} MerSpace;

typedef int MerIndex; /* a point is MerIndex[knob_count] */

bool mer_space_contains(const MerSpace *space, const MerIndex *point);
/* The point after this one, the first knob fastest; false: that was the last, and the first one follows. */
bool            mer_space_next(const MerSpace *space, MerIndex *point);
double          mer_space_log10_size(const MerSpace *space);
uint64_t        mer_space_hash(const MerSpace *space);
const MerTable *mer_space_table(const MerSpace *space, const char *name); /* NULL if absent */
void            mer_space_sample(const MerSpace *space, MerRng *rng, MerIndex *point);
/* Changes one knob: ORDERED and RANK mostly to a near choice, CATEGORY to any other. */
void mer_space_step(const MerSpace *space, MerRng *rng, int knob, MerIndex *point);
/* Index from a position in [0, 1) and back (the middle of the choice). */
MerIndex mer_knob_index(const MerKnob *knob, double position);
double   mer_knob_position(const MerKnob *knob, MerIndex index);

const char *mer_role_name(MerRole role);

#endif
