/* A landscape for tuners, with what makes tiling hard: divisors as choices, buffers that overflow, time
 * as a race of load, compute and store stages that virtual threads let overlap, and, in the joint form,
 * a matrix unit whose shape shares a budget. A loop-level sketch of such an accelerator; no wing knows
 * it. */
#ifndef MERCATOR_TESTS_TILING_LANDSCAPE_H
#define MERCATOR_TESTS_TILING_LANDSCAPE_H

#include "mercator/search.h"

#include <math.h>
#include <string.h>

typedef struct TilingLayer {
    int size, ci, co, kernel, stride;
} TilingLayer;

enum { TILING_MOST = 32, TILING_KNOBS = 9 };

typedef struct Tiling {
    TilingLayer layer;
    bool        is_joint; /* three knobs of hardware in front */
    int         out;      /* rows and columns of the output */
    double      values[TILING_KNOBS][TILING_MOST];
    MerKnob     knobs[TILING_KNOBS];
    MerSpace    space;
} Tiling;

typedef struct TilingPoint {
    int  batch, bi, bo, ht, ot, h, w, ci, co, blocks_in, blocks_out;
    bool is_legal;
} TilingPoint;

static inline void tiling_knob(Tiling *t, const char *name, MerRole role, int agent, int whole,
                               const int *list, int count)
{
    int k = t->space.knob_count++, choices = 0;
    for (int i = 0; i < count; i++) {
        t->values[k][choices++] = list[i];
    }
    for (int d = 1; list == NULL && d <= whole; d++) {
        if (whole % d == 0) {
            t->values[k][choices++] = d;
        }
    }
    t->knobs[k] = (MerKnob){.name = name,
                            .kind = MER_KNOB_ORDERED,
                            .role = role,
                            .level = -1,
                            .dim = -1,
                            .op = -1,
                            .agent = agent,
                            .choices = choices,
                            .values = t->values[k]};
}

static inline void tiling_make(Tiling *t, TilingLayer layer, bool is_joint)
{
    static const int batches[] = {1, 2, 4, 8, 16}, blocks[] = {4, 8, 16, 32, 64}, pair[] = {1, 2};
    *t = (Tiling){.layer = layer, .is_joint = is_joint};
    t->out = (layer.size + layer.kernel / 2 * 2 - layer.kernel) / layer.stride + 1;
    t->space.knobs = t->knobs;
    if (is_joint) {
        tiling_knob(t, "batch", MER_ROLE_HARDWARE, 0, 0, batches, 5);
        tiling_knob(t, "block_in", MER_ROLE_HARDWARE, 0, 0, blocks, 5);
        tiling_knob(t, "block_out", MER_ROLE_HARDWARE, 0, 0, blocks, 5);
    }
    int block = is_joint ? 4 : 16, ci = (layer.ci + block - 1) / block,
        co = (layer.co + block - 1) / block;
    tiling_knob(t, "h_threads", MER_ROLE_THREADS, 1, 0, pair, 2);
    tiling_knob(t, "oc_threads", MER_ROLE_THREADS, 1, 0, pair, 2);
    tiling_knob(t, "tile_h", MER_ROLE_TILE, 2, t->out, NULL, 0);
    tiling_knob(t, "tile_w", MER_ROLE_TILE, 2, t->out, NULL, 0);
    tiling_knob(t, "tile_ci", MER_ROLE_TILE, 2, ci, NULL, 0);
    tiling_knob(t, "tile_co", MER_ROLE_TILE, 2, co, NULL, 0);
}

/* The largest divisor of `whole` that is not above `most`. */
static inline int tiling_divisor(int whole, int most)
{
    int d = most > 1 ? (most < whole ? most : whole) : 1;
    while (whole % d != 0) {
        d--;
    }
    return d;
}

static inline TilingPoint tiling_decode(const Tiling *t, const MerIndex *index)
{
    int v[TILING_KNOBS], first = t->is_joint ? 3 : 0, k = t->layer.kernel, s = t->layer.stride;
    for (int i = 0; i < t->space.knob_count; i++) {
        v[i] = (int)t->values[i][index[i]];
    }
    TilingPoint p = {.batch = t->is_joint ? v[0] : 1,
                     .bi = t->is_joint ? v[1] : 16,
                     .bo = t->is_joint ? v[2] : 16,
                     .ht = v[first],
                     .ot = v[first + 1],
                     .h = v[first + 2],
                     .w = v[first + 3]};
    p.blocks_in = (t->layer.ci + p.bi - 1) / p.bi;
    p.blocks_out = (t->layer.co + p.bo - 1) / p.bo;
    p.ci = t->is_joint ? tiling_divisor(p.blocks_in, v[first + 4] * 4 / p.bi) : v[first + 4];
    p.co = t->is_joint ? tiling_divisor(p.blocks_out, v[first + 5] * 4 / p.bo) : v[first + 5];
    int64_t inp = 2048, wgt = 1024, acc = 2048;
    int     threads = p.ht * p.ot, ih = (p.h - 1) * s + k, iw = (p.w - 1) * s + k;
    for (;;) { /* buffers shrink, the largest first, until they fit the budget */
        int64_t a = inp * p.batch * p.bi, b = wgt * p.bi * p.bo, c = acc * p.batch * p.bo * 5;
        if (32768 + a + b + c <= 491520) {
            break;
        }
        if (b >= a && b >= c) {
            wgt /= 2;
        } else if (c >= a) {
            acc /= 2;
        } else {
            inp /= 2;
        }
    }
    p.is_legal = p.batch * p.bi * p.bo <= 256 && t->out / p.h % p.ht == 0 &&
                 p.blocks_out / p.co % p.ot == 0 && (int64_t)p.ci * ih * iw * threads <= inp &&
                 (int64_t)p.co * p.ci * k * k * threads <= wgt &&
                 (int64_t)p.co * p.h * p.w * threads <= acc;
    return p;
}

/* Cycles of the loads of one input tile: one instruction, or one per channel block. */
static inline double tiling_input(const Tiling *t, const TilingPoint *p, int row, int column,
                                  double *instructions)
{
    int  k = t->layer.kernel, s = t->layer.stride, size = t->layer.size;
    int  top = row * s - k / 2, left = column * s - k / 2;
    int  rows = (p->h - 1) * s + k, columns = (p->w - 1) * s + k;
    int  r0 = top > 0 ? top : 0, r1 = top + rows < size ? top + rows : size;
    int  c0 = left > 0 ? left : 0, c1 = left + columns < size ? left + columns : size;
    int  real = (r1 - r0) * (c1 - c0), padded = rows * columns - real;
    bool is_whole = c1 - c0 == size;
    bool is_merged = padded == 0 && (rows == 1 || is_whole || r1 - r0 == size);
    int  count = p->ci == 1 || is_merged ? 1 : p->ci;
    int  lines = is_merged && p->ci > 1 ? (rows == 1 || is_whole ? p->ci : p->ci * rows)
                                        : count * (is_whole ? 1 : r1 - r0);
    *instructions += count;
    return count * 184.9 + lines * 28.09 + 0.2132 * p->ci * real * p->batch * p->bi +
           (double)padded * p->ci;
}

/* Seconds; +inf where the point is not legal. */
static inline double tiling_seconds(const Tiling *t, const MerIndex *index)
{
    TilingPoint p = tiling_decode(t, index);
    if (!p.is_legal) {
        return INFINITY;
    }
    int    kk = t->layer.kernel * t->layer.kernel, threads = p.ht * p.ot, out = t->out;
    double elements = (double)p.co * p.h * p.w, count = 0;
    double weights =
        184.9 + 28.09 * (p.ci == p.blocks_in ? 1 : p.co) + 0.2132 * p.co * p.ci * kk * p.bi * p.bo;
    double gemm = 7.231 + elements * p.ci * kk, reset = 7.231 + elements,
           alu = 3 * (5 + 2 * elements);
    bool   is_one = p.h == 1 || p.w == out || p.h == out;
    int    lines = p.w == out ? (p.h == out ? 1 : p.co) : p.h == 1 ? p.co : p.co * p.h;
    double store = (is_one ? 1 : p.co) * 485.2 + 73.09 * lines + 0.125 * elements * p.batch * p.bo;
    double load_at = 0, compute_at = 0, store_at = 0;
    double loaded[4] = {0}, computed[4] = {0}, stored[4] = {0}, done[4] = {0};
    for (int i = 0; i < out / p.h / p.ht; i++) {
        for (int o = 0; o < p.blocks_out / p.co / p.ot; o++) {
            for (int j = 0; j < out / p.w; j++) {
                for (int h = 0; h < threads; h++) {
                    compute_at = fmax(compute_at, stored[h]) + reset;
                }
                for (int c = 0; c < p.blocks_in / p.ci; c++) {
                    for (int h = 0; h < threads; h++) {
                        int row = (i * p.ht + h % p.ht) * p.h;
                        load_at = fmax(load_at, computed[h]) + weights +
                                  tiling_input(t, &p, row, j * p.w, &count);
                        loaded[h] = load_at;
                    }
                    for (int h = 0; h < threads; h++) {
                        compute_at = fmax(compute_at, loaded[h]) + gemm;
                        computed[h] = compute_at;
                    }
                    count += 2 * threads;
                }
                for (int h = 0; h < threads; h++) {
                    done[h] = compute_at += alu;
                }
                for (int h = 0; h < threads; h++) {
                    store_at = fmax(store_at, done[h]) + store;
                    stored[h] = store_at;
                }
                count += threads * (4 + (is_one ? 1 : p.co));
            }
        }
    }
    double cycles = fmax(load_at, fmax(compute_at, store_at));
    return cycles * 1e-8 + 55.13e-6 + 0.5053e-6 * (count + 2 + 2 * threads);
}

/* Never above tiling_seconds, and quick: the matrix products and the host's part. */
static inline double tiling_bound(const Tiling *t, const MerIndex *index)
{
    TilingPoint p = tiling_decode(t, index);
    double      kk = t->layer.kernel * t->layer.kernel, out = t->out;
    double      tiles = out / p.h * (out / p.w) * (p.blocks_out / p.co), inner = p.blocks_in / p.ci;
    if (!p.is_legal) {
        return INFINITY;
    }
    return 1e-8 * out * out * p.blocks_in * p.blocks_out * kk + 55.13e-6 +
           0.5053e-6 * tiles * (5 + 3 * inner);
}

static inline bool tiling_is_legal(const void *state, const MerIndex *index)
{
    return tiling_decode(state, index).is_legal;
}

/* Layers of ResNet-18, VGG and AlexNet on which random points need long. */
static const TilingLayer tiling_layers[] = {
    {56, 64, 64, 3, 1},    {56, 64, 128, 3, 2},  {56, 64, 128, 1, 2},  {28, 128, 256, 3, 2},
    {28, 128, 256, 1, 2},  {14, 256, 256, 3, 1}, {224, 64, 64, 3, 1},  {112, 64, 128, 3, 1},
    {112, 128, 128, 3, 1}, {56, 256, 256, 3, 1}, {28, 256, 512, 3, 1}, {27, 64, 192, 5, 1}};
enum { TILING_LAYERS = sizeof tiling_layers / sizeof tiling_layers[0] };

#endif
