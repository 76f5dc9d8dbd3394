/* Inside the data-centric model: cluster levels with completed directives and their tables.
 * Made by datacentric_resolve.c with what datacentric_layer.c and datacentric_sizes.c know, read by
 * the plain and the fast accounting. */
#ifndef MERCATOR_LAYER_DATACENTRIC_LEVELS_H
#define MERCATOR_LAYER_DATACENTRIC_LEVELS_H

#include "layer/datacentric_model.h"

#include <stddef.h>

enum {
    INPUT = MER_DATACENTRIC_INPUT,
    FILTER = MER_DATACENTRIC_FILTER,
    OUTPUT = MER_DATACENTRIC_OUTPUT
};

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sizes of one dim in one kind of coordinates: a whole tile and what moves into it per step, then
 * the same for the partial tile at the edge (M, U, Me, Ue of MAESTRO's static analysis). */
typedef struct MerDatacentricSizes {
    int64_t tile, step, edge_tile, edge_step;
} MerDatacentricSizes;

static inline int64_t step_or_one(const MerDatacentricSizes *sizes)
{
    return sizes->step == 0 ? 1 : sizes->step;
}

typedef struct MerDatacentricRow { /* one directive of a completed level */
    bool                spatial;
    bool                written; /* in the mapping, not inherited or unrolled */
    int                 dim;
    unsigned            tensors; /* bit per tensor that the dim indexes */
    int64_t             size, offset, extent;
    MerDatacentricSizes in, out; /* out: Y' and X' of Y and X, else equal to in */
} MerDatacentricRow;

typedef struct MerDatacentricLevel {
    int     count, spatial_count;
    int     spatial[2];                            /* rows, outermost first */
    int     last_spatial[MER_DATACENTRIC_TENSORS]; /* row that speaks for a tensor, -1: none */
    int64_t units, edge_units;
    int64_t dims[MER_DATACENTRIC_DIMS];
    int     row_of[MER_DATACENTRIC_DIMS]; /* -1 if absent */
    MerDatacentricRow rows[MER_DATACENTRIC_ROWS];
} MerDatacentricLevel;

typedef struct MerDatacentricModel {
    int                 level_count;
    unsigned            dims; /* bit per dim of the layer */
    MerDatacentricLevel levels[MER_DATACENTRIC_LEVELS];
} MerDatacentricModel;

typedef enum MerDatacentricPosition {
    MER_DATACENTRIC_INIT,
    MER_DATACENTRIC_STEADY,
    MER_DATACENTRIC_EDGE
} MerDatacentricPosition;

typedef struct MerDatacentricState { /* where a directive stands in an iteration case */
    MerDatacentricPosition position;
    int64_t                count;
    bool unrolled, edge, see; /* see: the last unit has a partial tile of its own */
} MerDatacentricState;

/* False: `result` says why, its status is infeasible. */
bool mer_datacentric_resolve(const MerDatacentricInput *input, MerDatacentricModel *model,
                             MerDatacentricResult *result);

/* The dims of the layer, a bit each; a batch of one is no dim of a convolution. */
unsigned mer_datacentric_layer_dims(const MerDatacentricLayer *layer);
/* False as above. */
bool mer_datacentric_check_layer(const MerDatacentricLayer *layer, unsigned dims,
                                 MerDatacentricResult *result);
/* Elements of a dim that the mapping covers. */
int64_t mer_datacentric_layer_extent(const MerDatacentricInput *input,
                                     const MerDatacentricModel *model, int dim);
/* Which tensors the rows of a level index. */
void mer_datacentric_couple(const MerDatacentricInput *input, MerDatacentricLevel *level);
/* Sizes and edges of the rows of level `index`, once all of them are there. */
void mer_datacentric_size_rows(const MerDatacentricInput *input, const MerDatacentricModel *model,
                               int index, MerDatacentricLevel *level);
/* Upper limits of everything the accounting multiplies: a mapping that keeps them below 2^62 can be
 * counted without a check per operation. */
bool mer_datacentric_fits(const MerDatacentricInput *input, const MerDatacentricModel *model);

/* The states of a directive over `extent` elements, at most 3; how many. */
int mer_datacentric_states(const MerDatacentricRow *row, int64_t extent, int64_t units,
                           MerDatacentricState *states);

/* Multiplications that a tile needs; extent i belongs to row i of `level`. */
int64_t mer_datacentric_tile_macs(const MerDatacentricInput *input,
                                  const MerDatacentricLevel *level, const int64_t *extents);

/* Sizes the buffers and what is known before the first case. */
void mer_datacentric_begin(const MerDatacentricInput *input, const MerDatacentricModel *model,
                           MerDatacentricResult *result);
/* Sums over tensors, energy, area, power; then, in strict mode, what makes it infeasible. */
void mer_datacentric_finish(const MerDatacentricInput *input, const MerDatacentricModel *model,
                            MerDatacentricWanted wanted, MerDatacentricResult *result);

/* Cycles of the cases of the first level: the network in, the network out, and the units. */
enum { INGRESS, EGRESS, COMPUTE, DELAYS };
typedef struct MerDatacentricDelay {
    int64_t least, largest, sum;
} MerDatacentricDelay;
void mer_datacentric_note_delay(MerDatacentricDelay *delay, int64_t cycles, int64_t count,
                                bool is_first);
void mer_datacentric_report_delays(const MerDatacentricDelay delays[DELAYS], int64_t cases,
                                   MerDatacentricResult *result);

/* A cluster without work, where MAESTRO divides by zero: no counts, only the reason. */
void mer_datacentric_stall(MerDatacentricResult *result);

/* Always false. */
bool mer_datacentric_refuse(MerDatacentricResult *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { MER_DATACENTRIC_NO_FILTER = -1 };

/* The filter dim that slides along a dim of the input. */
static inline int mer_datacentric_filter(const MerDatacentricModel *model, int dim)
{
    if (!((model->dims >> MER_DATACENTRIC_R) & 1))
        return MER_DATACENTRIC_NO_FILTER;
    return dim == MER_DATACENTRIC_Y   ? MER_DATACENTRIC_R
           : dim == MER_DATACENTRIC_X ? MER_DATACENTRIC_S
                                      : MER_DATACENTRIC_NO_FILTER;
}

/* NULL: the level has no such row. */
static inline MerDatacentricRow *mer_datacentric_row(MerDatacentricLevel *level, int dim)
{
    return level->row_of[dim] < 0 ? NULL : &level->rows[level->row_of[dim]];
}

static inline bool mer_datacentric_uses(const MerDatacentricRow *row, int tensor)
{
    return (row->tensors >> tensor) & 1;
}

/* What one unit holds of a spatial row in the very first case; `see`: it has the partial tile. */
static inline int64_t mer_datacentric_held(const MerDatacentricLevel *level,
                                           const MerDatacentricRow *row, bool edge, bool first,
                                           bool see)
{
    if (edge && level->edge_units == 1)
        return first || see ? row->in.edge_tile : 1;
    return edge && see ? row->in.edge_tile : row->in.tile;
}

/* Share of a spatial row in what one unit computes, at an edge that it `moved` to or began with. With one unit at the
 * edge MAESTRO takes the input size where the output size is meant. */
static inline int64_t mer_datacentric_computed(const MerDatacentricLevel *level,
                                               const MerDatacentricRow *row, bool edge, bool moved,
                                               bool first, bool see, bool reuse)
{
    bool                       is_output = mer_datacentric_uses(row, MER_DATACENTRIC_OUTPUT);
    const MerDatacentricSizes *sizes = is_output ? &row->out : &row->in;
    bool                       one = level->edge_units == 1;

    if (edge && moved && one)
        return first || see ? row->in.edge_tile : 1;
    if (edge && moved && see)
        return sizes->edge_step;
    if (edge && !moved && see)
        return is_output && !one && reuse ? sizes->edge_step : sizes->edge_tile;
    return first ? sizes->tile : step_or_one(sizes);
}

/* Head latency, then one cycle per noc_bw elements. */
static inline int64_t mer_datacentric_noc(const MerDatacentricHardware *hardware, int64_t elements)
{
    int64_t bandwidth = hardware->noc_bw;
    int64_t cycles = elements <= 0 ? elements / bandwidth : 1;

    if (elements > bandwidth)
        cycles = (elements - 1) / bandwidth + 1;
    return hardware->noc_latency + cycles - 1;
}

#endif
