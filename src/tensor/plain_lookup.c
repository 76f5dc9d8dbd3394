/* Numbers found by index, and numbers that only move. */
#include "tensor/plain_inside.h"

#include <string.h>

static void add_row(float *restrict to, const float *restrict from, int64_t width, float factor)
{
    for (int64_t j = 0; j < width; j++) {
        to[j] += factor * from[j];
    }
}

static void scatter_max(const MerLookup *op)
{
    int64_t width = op->width;
    int    *winner = op->kept;
    for (int64_t i = 0; i < op->rows * width; i++) {
        winner[i] = -1;
        op->y[i] = 0;
    }
    for (int i = 0; i < op->count; i++) {
        for (int64_t j = 0; j < width; j++) {
            int64_t to = op->index[i] * width + j;
            if (winner[to] < 0 || op->x[i * width + j] > op->y[to]) {
                winner[to] = i;
                op->y[to] = op->x[i * width + j];
            }
        }
    }
}

static void scatter_mean(const MerLookup *op)
{
    float *share = op->kept;
    memset(share, 0, (size_t)op->rows * sizeof *share);
    memset(op->y, 0, (size_t)(op->rows * op->width) * sizeof *op->y);
    for (int i = 0; i < op->count; i++) {
        share[op->index[i]] += 1;
    }
    for (int r = 0; r < op->rows; r++) {
        share[r] = share[r] > 0 ? 1 / share[r] : 0;
    }
    for (int i = 0; i < op->count; i++) {
        add_row(op->y + op->index[i] * op->width, op->x + i * op->width, op->width,
                share[op->index[i]]);
    }
}

void mer_plain_lookup(MerTape *tape, const MerLookup *op)
{
    (void)tape;
    switch (op->kind) {
    case MER_LOOKUP_GATHER:
        for (int i = 0; i < op->count; i++) {
            memcpy(op->y + i * op->width, op->x + op->index[i] * op->width,
                   (size_t)op->width * sizeof *op->y);
        }
        break;
    case MER_LOOKUP_SCATTER_MAX:
        scatter_max(op);
        break;
    case MER_LOOKUP_SCATTER_MEAN:
        scatter_mean(op);
        break;
    case MER_LOOKUP_PICK:
        for (int64_t i = 0; i < (int64_t)op->rows * op->count; i++) {
            op->y[i] = op->x[i / op->count * op->width + op->index[i]];
        }
        break;
    }
}

void mer_plain_lookup_backward(MerTape *tape, const MerLookup *op)
{
    (void)tape;
    int64_t      width = op->width;
    const int   *winner = op->kept;
    const float *share = op->kept;
    switch (op->kind) {
    case MER_LOOKUP_GATHER:
        for (int i = 0; i < op->count; i++) {
            add_row(op->dx + op->index[i] * width, op->dy + i * width, width, 1);
        }
        break;
    case MER_LOOKUP_SCATTER_MAX:
        for (int64_t i = 0; i < op->rows * width; i++) {
            if (winner[i] >= 0) {
                op->dx[winner[i] * width + i % width] += op->dy[i];
            }
        }
        break;
    case MER_LOOKUP_SCATTER_MEAN:
        for (int i = 0; i < op->count; i++) {
            int row = op->index[i];
            add_row(op->dx + i * width, op->dy + row * width, width, share[row]);
        }
        break;
    case MER_LOOKUP_PICK:
        for (int64_t i = 0; i < (int64_t)op->rows * op->count; i++) {
            op->dx[i / op->count * width + op->index[i]] += op->dy[i];
        }
        break;
    }
}

/* One run along the innermost axis. */
static void move_run(const MerMove *op, const float *restrict from, float *restrict to)
{
    int     last = MER_TENSOR_RANK - 1;
    int64_t n = op->size[last], sf = op->step[0][last], st = op->step[1][last];
    if (op->is_added && sf == 1 && st == 1) {
        for (int64_t i = 0; i < n; i++) {
            to[i] += from[i];
        }
    } else if (op->is_added) {
        for (int64_t i = 0; i < n; i++) {
            to[i * st] += from[i * sf];
        }
    } else if (sf == 1 && st == 1) {
        memcpy(to, from, (size_t)n * sizeof *to);
    } else {
        for (int64_t i = 0; i < n; i++) {
            to[i * st] = from[i * sf];
        }
    }
}

bool mer_walk_next(MerWalk *walk, const int size[MER_TENSOR_RANK],
                   const int64_t step[2][MER_TENSOR_RANK])
{
    for (int i = MER_TENSOR_RANK - 2; i >= 0; i--) {
        bool is_inside = ++walk->index[i] < size[i];
        for (int w = 0; w < 2; w++) {
            walk->offset[w] += is_inside ? step[w][i] : -step[w][i] * (size[i] - 1);
        }
        if (is_inside) {
            return true;
        }
        walk->index[i] = 0;
    }
    return false;
}

void mer_plain_move(MerTape *tape, const MerMove *op)
{
    (void)tape;
    MerWalk walk = {0};
    for (int i = 0; i < MER_TENSOR_RANK; i++) {
        if (op->size[i] == 0) {
            return;
        }
    }
    do {
        move_run(op, op->from + walk.offset[0], op->to + walk.offset[1]);
    } while (mer_walk_next(&walk, op->size, op->step));
}
