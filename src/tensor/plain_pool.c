/* Pooling, for images in plain order and in layouts with lanes. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <string.h>

typedef struct Pool { /* a pooling at work, kept for its backward pass */
    const MerPooling *op;
    const int        *in, *out; /* rows and columns */
    MerPlanes         from, to;
    const float      *x, *dy;
    float            *y, *dx;
    int              *winner; /* of each number of y, a pixel of x */
} Pool;

typedef struct Window { /* the real pixels under one output pixel: first, one past the last */
    int row[2], column[2], count;
} Window;

static Window window_of(const Pool *pool, int64_t pixel)
{
    int    at[2] = {(int)(pixel / pool->out[1]), (int)(pixel % pool->out[1])};
    Window w;
    for (int i = 0; i < 2; i++) {
        int  first = at[i] * pool->op->stride[i] - pool->op->padding[i];
        int  end = first + pool->op->window[i];
        int *range = i == 0 ? w.row : w.column;
        range[0] = first < 0 ? 0 : first;
        range[1] = end > pool->in[i] ? pool->in[i] : end;
    }
    w.count = (w.row[1] - w.row[0]) * (w.column[1] - w.column[0]);
    return w;
}

/* One output pixel, `lanes` numbers of a known number at a time. */
MER_BODY pool_pixel(const Pool *pool, const Window *w, const float *x, int lanes, float *y,
                    int *winner)
{
    float value[MER_MOST_LANES];
    int   at[MER_MOST_LANES];
    bool  is_max = pool->op->kind == MER_POOLING_MAX;
    int   first = w->row[0] * pool->in[1] + w->column[0];
    for (int l = 0; l < lanes; l++) {
        value[l] = is_max ? x[(int64_t)first * lanes + l] : 0;
        at[l] = first;
    }
    for (int r = w->row[0]; r < w->row[1]; r++) {
        for (int c = w->column[0]; c < w->column[1]; c++) {
            int          pixel = r * pool->in[1] + c;
            const float *here = x + (int64_t)pixel * lanes;
            for (int l = 0; is_max && l < lanes; l++) {
                at[l] = here[l] > value[l] ? pixel : at[l];
                value[l] = here[l] > value[l] ? here[l] : value[l];
            }
            for (int l = 0; !is_max && l < lanes; l++) {
                value[l] += here[l];
            }
        }
    }
    for (int l = 0; l < lanes; l++) {
        y[l] = is_max ? value[l] : value[l] / (float)w->count;
        winner[l] = at[l];
    }
}

static void pool_planes(void *context, int64_t first, int64_t end)
{
    const Pool *pool = context;
    int         lanes = pool->from.lanes;
    for (int64_t i = first * pool->to.pixels; i < end * pool->to.pixels; i++) {
        Window       w = window_of(pool, i % pool->to.pixels);
        const float *x = pool->x + i / pool->to.pixels * pool->from.pixels * lanes;
        float       *y = pool->y + i * lanes;
        int         *winner = pool->winner + i * lanes;
        if (lanes == 16) {
            pool_pixel(pool, &w, x, 16, y, winner);
        } else {
            pool_pixel(pool, &w, x, lanes, y, winner);
        }
    }
}

void *mer_plain_pool(MerTape *tape, const MerPooling *op, MerTensor *x, MerTensor *y)
{
    const MerLayout *from = mer_planes_layout(x), *to = NULL;
    if (from != NULL) {
        to = tape->backend.layout(tape, y->shape, from->lanes);
        from = to != NULL ? from : NULL;
    }
    size_t size = (size_t)mer_form_size(y, (MerBlocked){NULL, to});
    Pool  *pool = mer_workspace_alloc(tape->workspace, sizeof *pool);
    *pool = (Pool){.op = op,
                   .in = x->shape + 2,
                   .out = y->shape + 2,
                   .from = mer_planes(x, from),
                   .to = mer_planes(y, to),
                   .x = mer_form_convert(tape, x, mer_data_form(x), from),
                   .y = mer_form_memory(tape, y, to)};
    pool->winner = mer_workspace_alloc(tape->workspace, size * sizeof *pool->winner);
    mer_planes_split(tape, &pool->from, pool_planes, pool); /* the larger ones, as a rule */
    mer_data_set(y, (MerBlocked){pool->y, to});
    return pool;
}

static void pool_back_planes(void *context, int64_t first, int64_t end)
{
    const Pool *pool = context;
    int         lanes = pool->from.lanes;
    int64_t     n = pool->from.pixels * lanes;
    memset(pool->dx + first * n, 0, (size_t)((end - first) * n) * sizeof *pool->dx);
    for (int64_t i = first * pool->to.pixels; i < end * pool->to.pixels; i++) {
        Window       w = window_of(pool, i % pool->to.pixels);
        const float *dy = pool->dy + i * lanes;
        float       *dx = pool->dx + i / pool->to.pixels * n;
        for (int l = 0; pool->op->kind == MER_POOLING_MAX && l < lanes; l++) {
            dx[(int64_t)pool->winner[i * lanes + l] * lanes + l] += dy[l];
        }
        for (int r = w.row[0]; pool->op->kind != MER_POOLING_MAX && r < w.row[1]; r++) {
            for (int c = w.column[0]; c < w.column[1]; c++) {
                float *to = dx + ((int64_t)r * pool->in[1] + c) * lanes;
                for (int l = 0; l < lanes; l++) {
                    to[l] += dy[l] / (float)w.count;
                }
            }
        }
    }
}

void mer_plain_pool_backward(MerTape *tape, const MerPooling *op, MerTensor *x, MerTensor *y,
                             void *kept)
{
    Pool             pool = *(const Pool *)kept;
    const MerLayout *from = pool.from.layout;
    pool.op = op; /* the caller's of the forward pass may be gone */
    pool.dy = mer_form_convert(tape, y, mer_grad_form(y), pool.to.layout);
    pool.dx = mer_form_memory(tape, x, from);
    mer_planes_split(tape, &pool.from, pool_back_planes, &pool);
    mer_grad_give(tape, x, (MerBlocked){pool.dx, from}, false);
}
