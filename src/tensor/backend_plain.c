/* Every kernel in plain C: the reference the others are checked against, what they fall back on, and
 * the way without oneDNN. */
#include "tensor/plain_inside.h"

static int multiply(const MerProduct *p)
{
    const float *a = p->a.data, *b = p->b.data;
    for (int i = 0; i < p->m; i++) {
        float *row = p->c.data + (int64_t)i * p->c.row;
        for (int j = 0; j < p->n; j++) {
            row[j] = p->beta == 0 ? 0 : p->beta * row[j];
        }
        for (int64_t l = 0; l < p->k; l++) {
            float x = p->a.is_transposed ? a[l * p->a.row + i] : a[(int64_t)i * p->a.row + l];
            for (int64_t j = 0; j < p->n; j++) {
                row[j] += x * (p->b.is_transposed ? b[j * p->b.row + l] : b[l * p->b.row + j]);
            }
        }
    }
    return 0;
}

enum { MOST_PARTS = 8, PART_PRODUCTS = 4 << 20, ROWS = 8, COLUMNS = 128 };

typedef struct Job {
    const MerProduct *product;
    MerMultiply       multiply;
    bool              is_by_row; /* parts are rows of the result, else columns */
    int               grain;
    int               status[MOST_PARTS];
} Job;

/* From row or column `at` on. */
static void cut(MerMatrix *x, bool is_by_row, int64_t at)
{
    x->data += is_by_row != x->is_transposed ? at * x->row : at;
}

static void do_part(void *context, int part, int worker)
{
    (void)worker;
    Job       *job = context;
    MerProduct p = *job->product;
    int        first = part * job->grain, *length = job->is_by_row ? &p.m : &p.n;
    *length = *length - first < job->grain ? *length - first : job->grain;
    cut(job->is_by_row ? &p.a : &p.b, job->is_by_row, first);
    cut(&p.c, job->is_by_row, first);
    for (int i = 0; i < p.batch && job->status[part] == 0; i++) {
        job->status[part] = job->multiply(&p);
        p.a.data += p.a.step;
        p.b.data += p.b.step;
        p.c.data += p.c.step;
        p.beta = p.c.step == 0 ? 1 : p.beta;
    }
}

/* Parts of the longer side of the result, in units that kernels like. 512 and 1024 columns are whole numbers of them:
 * otherwise one thread of two would have more to do, and parts of fewer columns cost more each. */
int mer_product_split(MerTape *tape, const MerProduct *p, MerMultiply multiply)
{
    double most = (double)p->batch * p->m * p->n * p->k / PART_PRODUCTS;
    if (most < 2 && p->batch == 1) {
        return multiply(p); /* most are small: no detour */
    }
    Job job = {.product = p, .multiply = multiply, .is_by_row = p->m >= p->n};
    int wanted = most < 1 ? 1 : most < MOST_PARTS ? (int)most : MOST_PARTS;
    int length = job.is_by_row ? p->m : p->n, unit = job.is_by_row ? ROWS : COLUMNS;
    job.grain = ((length + wanted - 1) / wanted + unit - 1) / unit * unit;
    int parts = length > 0 ? (length + job.grain - 1) / job.grain : 0;
    mer_tape_parts(tape, parts, do_part, &job);
    for (int i = 0; i < parts; i++) {
        if (job.status[i] != 0) {
            return job.status[i];
        }
    }
    return 0;
}

static void product(MerTape *tape, const MerProduct *p)
{
    mer_product_split(tape, p, multiply);
}

const MerBackend mer_backend_plain = {
    .name = "plain",
    .product = product,
    .pointwise = mer_plain_pointwise,
    .pointwise_backward = mer_plain_pointwise_backward,
    .pair = mer_plain_pair,
    .pair_backward = mer_plain_pair_backward,
    .reduce = mer_plain_reduce,
    .reduce_backward = mer_plain_reduce_backward,
    .rows = mer_plain_rows,
    .rows_backward = mer_plain_rows_backward,
    .additive = mer_plain_additive,
    .additive_backward = mer_plain_additive_backward,
    .lookup = mer_plain_lookup,
    .lookup_backward = mer_plain_lookup_backward,
    .move = mer_plain_move,
    .mixture = mer_plain_mixture,
    .mixture_backward = mer_plain_mixture_backward,
    .staircase = mer_plain_staircase,
    .staircase_backward = mer_plain_staircase_backward,
    .loss = mer_plain_loss,
    .update = mer_plain_update,
    .clip = mer_plain_clip,
    .conv = mer_plain_conv,
    .conv_backward = mer_plain_conv_backward,
    .batch_norm = mer_plain_batch_norm,
    .batch_norm_backward = mer_plain_batch_norm_backward,
    .pool = mer_plain_pool,
    .pool_backward = mer_plain_pool_backward,
};
