/* Additive attention: the tanh of every pair is computed when it is needed, forwards and backwards. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

enum { LANES = 8, MOST_PARTS = 8 };

/* Sums in LANES lanes, so that a vector of any width adds in the same order. */
static inline __attribute__((always_inline)) float
score(const float *restrict query, const float *restrict key, const float *restrict v, int count)
{
    float sum[LANES] = {0}, total = 0;
    int   whole = count / LANES * LANES;
    for (int k = 0; k < whole; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            sum[l] += v[k + l] * mer_fast_tanh(query[k + l] + key[k + l]);
        }
    }
    for (int k = whole; k < count; k++) {
        total += v[k] * mer_fast_tanh(query[k] + key[k]);
    }
    for (int l = 0; l < LANES; l++) {
        total += sum[l];
    }
    return total;
}

MER_BODY forward_body(const MerAdditive *op, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) { /* row i of all queries, of batch i / m */
        const float *key = op->key + i / op->m * op->n * op->k;
        for (int j = 0; j < op->n; j++) {
            op->y[i * op->n + j] =
                score(op->query + i * op->k, key + (int64_t)j * op->k, op->v, op->k);
        }
    }
}
MER_WIDE(forward, (const MerAdditive *op, int64_t first, int64_t end), (op, first, end))

static void forward_range(void *context, int64_t first, int64_t end)
{
    forward(context, first, end);
}

void mer_plain_additive(MerTape *tape, const MerAdditive *op)
{
    int64_t row = (int64_t)op->n * op->k;
    mer_tape_split(tape, (int64_t)op->batch * op->m, 1 + MER_GRAIN / (row + 1), forward_range,
                   (void *)op);
}

/* One pair: dz = dy v (1 - t^2) goes to both sums, dy t to v. */
static inline __attribute__((always_inline)) void
back_pair(int count, float dy, const float *restrict query, const float *restrict key,
          const float *restrict v, float *restrict dquery, float *restrict dkey, float *restrict dv)
{
    for (int k = 0; k < count; k++) {
        float t = mer_fast_tanh(query[k] + key[k]);
        float dz = dy * v[k] * (1 - t * t);
        dquery[k] += dz;
        dkey[k] += dz;
        dv[k] += dy * t;
    }
}

/* The gradients here are complete (none is NULL), those of keys and v being a part's own. */
MER_BODY backward_body(const MerAdditive *op, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++) {
        int64_t batch = i / op->m * op->n * op->k;
        for (int j = 0; j < op->n; j++) {
            int64_t at = batch + (int64_t)j * op->k;
            back_pair(op->k, op->dy[i * op->n + j], op->query + i * op->k, op->key + at, op->v,
                      op->dquery + i * op->k, op->dkey + at, op->dv);
        }
    }
}
MER_WIDE(backward, (const MerAdditive *op, int64_t first, int64_t end), (op, first, end))

typedef struct Parts { /* sums over queries are made in parts and added in their order */
    MerAdditive op[MOST_PARTS];
    int64_t     rows, grain;
} Parts;

static void backward_part(void *context, int part, int worker)
{
    (void)worker;
    Parts  *parts = context;
    int64_t first = part * parts->grain, end = first + parts->grain;
    backward(&parts->op[part], first, end < parts->rows ? end : parts->rows);
}

void mer_plain_additive_backward(MerTape *tape, const MerAdditive *op)
{
    int64_t rows = (int64_t)op->batch * op->m, keys = (int64_t)op->batch * op->n * op->k;
    Parts   parts = {.rows = rows, .grain = (rows + MOST_PARTS - 1) / MOST_PARTS};
    int     count = rows > 0 ? (int)((rows + parts.grain - 1) / parts.grain) : 0;
    float  *dquery =
        op->dquery != NULL ? op->dquery : mer_workspace_zeros(tape->workspace, rows * op->k);
    for (int p = 0; p < count; p++) {
        parts.op[p] = *op;
        parts.op[p].dquery = dquery;
        parts.op[p].dkey = mer_workspace_zeros(tape->workspace, keys);
        parts.op[p].dv = mer_workspace_zeros(tape->workspace, op->k);
    }
    mer_tape_parts(tape, count, backward_part, &parts);
    for (int p = 0; p < count; p++) {
        if (op->dkey != NULL) {
            mer_add_scaled(tape, keys, 1, parts.op[p].dkey, op->dkey, false);
        }
        if (op->dv != NULL) {
            mer_add_scaled(tape, op->k, 1, parts.op[p].dv, op->dv, false);
        }
    }
}
