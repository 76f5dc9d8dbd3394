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

enum { MOST_PARTS = 8, PART_PRODUCTS = 4 << 20, ROWS = 8, COLUMNS = 48 };

typedef struct Job {
    const MerProduct *product;
    MerMultiply       multiply;
    int               parts, grain; /* of the batch, of rows or of columns */
    bool              is_by_batch, is_by_row;
    int               status[MOST_PARTS];
} Job;

/* Where row or column `at` of a matrix begins. */
static MerMatrix from_row(MerMatrix x, bool is_row, int64_t at)
{
    x.data += is_row != x.is_transposed ? at * x.row : at;
    return x;
}

static void do_part(void *context, int part, int worker)
{
    (void)worker;
    Job       *job = context;
    MerProduct p = *job->product;
    int        first = part * job->grain, end = first + job->grain;
    int        limit = job->is_by_batch ? p.batch : job->is_by_row ? p.m : p.n;
    end = end < limit ? end : limit;
    if (!job->is_by_batch && job->is_by_row) {
        p.a = from_row(p.a, true, first);
        p.c = from_row(p.c, true, first);
        p.m = end - first;
    } else if (!job->is_by_batch) {
        p.b = from_row(p.b, false, first);
        p.c = from_row(p.c, false, first);
        p.n = end - first;
    }
    int from = job->is_by_batch ? first : 0, to = job->is_by_batch ? end : p.batch;
    for (int i = from; i < to && job->status[part] == 0; i++) {
        MerProduct one = p;
        one.a.data += i * p.a.step;
        one.b.data += i * p.b.step;
        one.c.data += i * p.c.step;
        one.beta = i > 0 && p.c.step == 0 ? 1 : p.beta;
        job->status[part] = job->multiply(&one);
    }
}

/* Up to MOST_PARTS parts: of the batch, or of the longer side of the result. */
int mer_product_split(MerTape *tape, const MerProduct *p, MerMultiply multiply)
{
    Job    job = {.product = p, .multiply = multiply, .is_by_row = p->m >= p->n};
    double products = (double)p->batch * p->m * p->n * p->k;
    int    parts = products >= (double)MOST_PARTS * PART_PRODUCTS ? MOST_PARTS
                                                                  : (int)(products / PART_PRODUCTS);
    job.is_by_batch = p->batch >= parts && p->batch > 1 && p->c.step > 0;
    int length = job.is_by_batch ? p->batch : job.is_by_row ? p->m : p->n;
    int unit = job.is_by_batch ? 1 : job.is_by_row ? ROWS : COLUMNS;
    parts = parts > 1 ? parts : 1;
    job.grain = ((length + parts - 1) / parts + unit - 1) / unit * unit;
    job.parts = job.grain > 0 ? (length + job.grain - 1) / job.grain : 0;
    mer_tape_parts(tape, job.parts, do_part, &job);
    for (int i = 0; i < job.parts; i++) {
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
    .lookup = mer_plain_lookup,
    .lookup_backward = mer_plain_lookup_backward,
    .move = mer_plain_move,
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
