/* Batch norm, for images in plain order and in layouts with lanes. What belongs to a channel is added up
 * plane by plane, in the order of the images; oneDNN's own adds up by threads. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <math.h>
#include <string.h>

/* Numbers of a plane belong to channels in turn, so that a run of PERIOD is the same for all runs:
 * one loop for any number of lanes. */
enum { PERIOD = MER_MOST_LANES };

MerPlanes mer_planes(const MerTensor *x, const MerLayout *layout)
{
    MerPlanes p = {.layout = layout, .lanes = layout != NULL ? layout->lanes : 1};
    p.channels = x->shape[1];
    p.groups = (p.channels + p.lanes - 1) / p.lanes;
    p.count = (int64_t)x->shape[0] * p.groups;
    p.pixels = (int64_t)x->shape[2] * x->shape[3];
    return p;
}

const MerLayout *mer_planes_layout(const MerTensor *x)
{
    const MerLayout *layout = mer_data_form(x).layout;
    return layout != NULL && layout->lanes > 0 ? layout : NULL;
}

void mer_planes_split(MerTape *tape, const MerPlanes *p, MerRange work, void *context)
{
    int64_t most = 1 + MER_GRAIN / (p->pixels * p->lanes + 1);
    int64_t parts = (p->count + most - 1) / most;
    parts += parts > 1 ? parts % 2 : parts == 0; /* few ones: equal, and an even number of them */
    mer_tape_split(tape, p->count, (p->count + parts - 1) / parts, work, context);
}

/* The loops below go over a plane in runs of PERIOD and what is left; element j of a run belongs to
 * element j of the tables. */
enum { MEAN, ORIGIN, FACTOR, SHIFT, SLOPE, TABLES };

/* y = (x - mean) factor + shift. The way back finds from x where it was cut off, in the same steps: to read y
 * again would take longer. */
#define NORMALISED(j)                                                                              \
    ((x[j] - table[MEAN * PERIOD + (j)]) * table[FACTOR * PERIOD + (j)] +                          \
     table[SHIFT * PERIOD + (j)])

MER_BODY normalise_run(int n, const float *restrict x, const float *restrict table, bool has_relu,
                       float *restrict y)
{
    for (int j = 0; j < n; j++) {
        float z = NORMALISED(j);
        y[j] = has_relu && z <= 0 ? 0 : z;
    }
}

MER_BODY normalise_body(int64_t n, const float *x, const float *table, bool has_relu, float *y)
{
    for (; n >= PERIOD; n -= PERIOD, x += PERIOD, y += PERIOD) {
        normalise_run(PERIOD, x, table, has_relu, y);
    }
    normalise_run((int)n, x, table, has_relu, y);
}
MER_WIDE(normalise, (int64_t n, const float *x, const float *table, bool has_relu, float *y),
         (n, x, table, has_relu, y))

/* Adds dy - origin, and (dy - origin) (x - mean). */
MER_BODY slopes_run(int n, const float *restrict x, const float *restrict dy,
                    const float *restrict table, bool has_relu, float *restrict sum,
                    float *restrict along)
{
    for (int j = 0; j < n; j++) {
        float g = (has_relu && NORMALISED(j) <= 0 ? 0 : dy[j]) - table[ORIGIN * PERIOD + j];
        sum[j] += g;
        along[j] += g * (x[j] - table[MEAN * PERIOD + j]);
    }
}

MER_BODY add_slopes_body(int64_t n, const float *x, const float *dy, const float *table,
                         bool has_relu, float *sums)
{
    float s[PERIOD] = {0}, a[PERIOD] = {0};
    for (; n >= PERIOD; n -= PERIOD, x += PERIOD, dy += PERIOD) {
        slopes_run(PERIOD, x, dy, table, has_relu, s, a);
    }
    slopes_run((int)n, x, dy, table, has_relu, s, a);
    memcpy(sums, s, sizeof s);
    memcpy(sums + PERIOD, a, sizeof a);
}
MER_WIDE(add_slopes,
         (int64_t n, const float *x, const float *dy, const float *table, bool has_relu,
          float *sums),
         (n, x, dy, table, has_relu, sums))

/* dx = factor (dy - common - (x - mean) slope), which may be where dy is */
MER_BODY pass_run(int n, const float *x, const float *dy, const float *table, bool has_relu,
                  float *dx)
{
    const float *mean = table + MEAN * PERIOD, *factor = table + FACTOR * PERIOD;
    const float *common = table + ORIGIN * PERIOD, *slope = table + SLOPE * PERIOD;
    float        run[PERIOD];
    for (int j = 0; j < n; j++) {
        float g = has_relu && NORMALISED(j) <= 0 ? 0 : dy[j];
        run[j] = factor[j] * (g - common[j] - (x[j] - mean[j]) * slope[j]);
    }
    memcpy(dx, run, (size_t)n * sizeof *dx);
}

MER_BODY pass_norm_body(int64_t n, const float *x, const float *dy, const float *table,
                        bool has_relu, float *dx)
{
    for (; n >= PERIOD; n -= PERIOD, x += PERIOD, dy += PERIOD, dx += PERIOD) {
        pass_run(PERIOD, x, dy, table, has_relu, dx);
    }
    pass_run((int)n, x, dy, table, has_relu, dx);
}
MER_WIDE(pass_norm,
         (int64_t n, const float *x, const float *dy, const float *table, bool has_relu, float *dx),
         (n, x, dy, table, has_relu, dx))

typedef struct Norm { /* a batch norm at work */
    const MerBatchNorm *op;
    MerPlanes           planes;
    const float        *x, *dy;
    float              *y, *dx;
    float              *sums;   /* (2, count, lanes): two numbers of each plane and lane */
    float              *tables; /* (groups, TABLES, PERIOD): numbers of the channels, repeated */
    float              *dscale, *dshift; /* NULL: not wanted */
} Norm;

static Norm norm_of(MerTape *tape, const MerBatchNorm *op, const MerLayout *layout)
{
    Norm norm = {.op = op, .planes = mer_planes(op->x, layout)};
    norm.x = mer_form_convert(tape, op->x, mer_data_form(op->x), layout);
    norm.sums = mer_workspace_floats(tape->workspace, 2 * norm.planes.count * norm.planes.lanes);
    norm.tables =
        mer_workspace_floats(tape->workspace, (int64_t)norm.planes.groups * TABLES * PERIOD);
    return norm;
}

/* Adds up what a run has of each lane. */
static void fold(const MerPlanes *p, const float sums[PERIOD], float *lanes)
{
    memcpy(lanes, sums, (size_t)p->lanes * sizeof *lanes);
    for (int run = p->lanes; run < PERIOD; run += p->lanes) {
        for (int l = 0; l < p->lanes; l++) {
            lanes[l] += sums[run + l];
        }
    }
}

static int lanes_used(const MerPlanes *p, int64_t group)
{
    int64_t left = p->channels - group * p->lanes;
    return left < p->lanes ? (int)left : p->lanes;
}

/* A number for each of the first `count` lanes, again and again; zero for the others. */
static void repeat(const MerPlanes *p, int count, const float *values, float table[PERIOD])
{
    for (int run = 0; run < PERIOD; run += p->lanes) {
        for (int l = 0; l < p->lanes; l++) {
            table[run + l] = l < count ? values[l] : 0;
        }
    }
}

/* Table `which` of a group from numbers of its channels. */
static void fill_table(const Norm *norm, int64_t group, int which, const float *values)
{
    repeat(&norm->planes, lanes_used(&norm->planes, group), values,
           norm->tables + (group * TABLES + which) * PERIOD);
}

/* What makes y of x: the factor is scale / deviation. */
static void fill_tables(const Norm *norm, int64_t group)
{
    const MerBatchNorm *op = norm->op;
    int64_t             first = group * norm->planes.lanes;
    float               factors[MER_MOST_LANES];
    for (int l = 0; l < lanes_used(&norm->planes, group); l++) {
        factors[l] = op->scale->data[first + l] / sqrtf(op->variance[first + l] + op->epsilon);
    }
    fill_table(norm, group, MEAN, op->mean + first);
    fill_table(norm, group, FACTOR, factors);
    fill_table(norm, group, SHIFT, op->shift->data + first);
}

/* Mean of each plane and squares around it, by way of the first pixel: near enough to the mean that
 * little is lost (Chan et al., 1983). */
static void measure_planes(void *context, int64_t first, int64_t end)
{
    const Norm      *norm = context;
    const MerPlanes *p = &norm->planes;
    int64_t          n = p->pixels * p->lanes;
    for (int64_t i = first; i < end; i++) {
        const float *x = norm->x + i * n;
        float       *mean = norm->sums + i * p->lanes, *squares = mean + p->count * p->lanes;
        float        sums[2 * PERIOD], table[2 * PERIOD];
        repeat(p, p->lanes, x, table);
        memcpy(table + PERIOD, table, PERIOD * sizeof *table);
        add_slopes(n, x, x, table, false, sums);
        fold(p, sums, mean);
        fold(p, sums + PERIOD, squares);
        for (int l = 0; l < p->lanes; l++) {
            float away = mean[l] / (float)p->pixels, rest = squares[l] - mean[l] * away;
            squares[l] = rest > 0 ? rest : 0;
            mean[l] = x[l] + away;
        }
    }
}

/* What the planes of a group of channels add up to over the images, a number for each lane: their first
 * numbers, or their second ones. Lanes side by side: channel by channel the planes would be read from
 * memory again and again. */
static void sum_group(const Norm *norm, int which, int64_t group, double sums[MER_MOST_LANES])
{
    const MerPlanes *p = &norm->planes;
    const float     *numbers = norm->sums + which * p->count * p->lanes;
    memset(sums, 0, MER_MOST_LANES * sizeof *sums);
    for (int64_t i = group; i < p->count; i += p->groups) {
        for (int l = 0; l < p->lanes; l++) {
            sums[l] += numbers[i * p->lanes + l];
        }
    }
}

static void split_groups(MerTape *tape, Norm *norm, MerRange work)
{
    const MerPlanes *p = &norm->planes;
    int64_t          numbers = p->count / p->groups * p->lanes + 1;
    mer_tape_split(tape, p->groups, 1 + MER_GRAIN / 4 / numbers, work, norm);
}

/* Squares around the common mean from those around each plane's own. */
static void measure_group(const Norm *norm, int64_t g)
{
    const MerPlanes *p = &norm->planes;
    double           images = (double)p->count / p->groups, pixels = (double)p->pixels;
    double           mean[MER_MOST_LANES], squares[MER_MOST_LANES];
    sum_group(norm, 0, g, mean);
    sum_group(norm, 1, g, squares);
    for (int l = 0; l < p->lanes; l++) {
        mean[l] /= images;
    }
    for (int64_t i = g; i < p->count; i += p->groups) {
        for (int l = 0; l < p->lanes; l++) {
            double away = norm->sums[i * p->lanes + l] - mean[l];
            squares[l] += pixels * away * away;
        }
    }
    for (int l = 0; l < lanes_used(p, g); l++) {
        norm->op->mean[g * p->lanes + l] = (float)mean[l];
        norm->op->variance[g * p->lanes + l] = (float)(squares[l] / (images * pixels));
    }
}

static void finish_groups(void *context, int64_t first, int64_t end)
{
    const Norm *norm = context;
    for (int64_t g = first; g < end; g++) {
        if (norm->op->is_training) {
            measure_group(norm, g);
        }
        fill_tables(norm, g);
    }
}

static void normalise_planes(void *context, int64_t first, int64_t end)
{
    const Norm *norm = context;
    int64_t     n = norm->planes.pixels * norm->planes.lanes;
    for (int64_t i = first; i < end; i++) {
        const float *table = norm->tables + i % norm->planes.groups * TABLES * PERIOD;
        normalise(n, norm->x + i * n, table, norm->op->has_relu, norm->y + i * n);
    }
}

void mer_plain_batch_norm(MerTape *tape, const MerBatchNorm *op)
{
    const MerLayout *layout = mer_planes_layout(op->x);
    Norm             norm = norm_of(tape, op, layout);
    norm.y = mer_form_memory(tape, op->y, layout);
    if (op->is_training) {
        mer_planes_split(tape, &norm.planes, measure_planes, &norm);
    }
    split_groups(tape, &norm, finish_groups);
    mer_planes_split(tape, &norm.planes, normalise_planes, &norm);
    mer_data_set(op->y, (MerBlocked){norm.y, layout});
}

static void sum_slopes(void *context, int64_t first, int64_t end)
{
    const Norm      *norm = context;
    const MerPlanes *p = &norm->planes;
    int64_t          n = p->pixels * p->lanes;
    for (int64_t i = first; i < end; i++) {
        float        sums[2 * PERIOD];
        const float *table = norm->tables + i % p->groups * TABLES * PERIOD;
        add_slopes(n, norm->x + i * n, norm->dy + i * n, table, norm->op->has_relu, sums);
        fold(p, sums, norm->sums + i * p->lanes);
        fold(p, sums + PERIOD, norm->sums + (p->count + i) * p->lanes);
    }
}

static void pass_planes(void *context, int64_t first, int64_t end)
{
    const Norm *norm = context;
    int64_t     n = norm->planes.pixels * norm->planes.lanes;
    for (int64_t i = first; i < end; i++) {
        const float *table = norm->tables + i % norm->planes.groups * TABLES * PERIOD;
        pass_norm(n, norm->x + i * n, norm->dy + i * n, table, norm->op->has_relu,
                  norm->dx + i * n);
    }
}

/* The gradients of scale and shift, and what the batch's own statistics take away from that of x. */
static void add_up_slopes(void *context, int64_t first, int64_t end)
{
    const Norm         *norm = context;
    const MerBatchNorm *op = norm->op;
    double              count = (double)op->x->size / op->x->shape[1];
    for (int64_t g = first; g < end; g++) {
        double sum[MER_MOST_LANES], along[MER_MOST_LANES];
        float  common[MER_MOST_LANES], slope[MER_MOST_LANES];
        sum_group(norm, 0, g, sum);
        sum_group(norm, 1, g, along);
        for (int l = 0; l < lanes_used(&norm->planes, g); l++) {
            int64_t c = g * norm->planes.lanes + l;
            double  inverse = 1 / sqrt((double)op->variance[c] + op->epsilon);
            common[l] = op->is_training ? (float)(sum[l] / count) : 0;
            slope[l] = op->is_training ? (float)(along[l] * inverse * inverse / count) : 0;
            if (norm->dscale != NULL) {
                norm->dscale[c] += (float)(along[l] * inverse);
            }
            if (norm->dshift != NULL) {
                norm->dshift[c] += (float)sum[l];
            }
        }
        fill_table(norm, g, ORIGIN, common);
        fill_table(norm, g, SLOPE, slope);
    }
}

void mer_plain_batch_norm_backward(MerTape *tape, const MerBatchNorm *op)
{
    const MerLayout *layout = mer_planes_layout(op->y);
    MerBlocked       form = mer_grad_form(op->y);
    Norm             norm = norm_of(tape, op, layout);
    float           *dy = mer_form_convert(tape, op->y, form, layout);
    norm.dy = dy;
    norm.dscale = mer_grad_wanted(tape, op->scale);
    norm.dshift = mer_grad_wanted(tape, op->shift);
    for (int g = 0; g < norm.planes.groups; g++) {
        static const float zeros[MER_MOST_LANES] = {0};
        fill_tables(&norm, g);
        fill_table(&norm, g, ORIGIN, zeros);
    }
    mer_planes_split(tape, &norm.planes, sum_slopes, &norm);
    split_groups(tape, &norm, add_up_slopes);
    if (op->x->needs_grad) {
        bool is_free = !op->y->is_grad_lent || dy != form.data; /* nobody reads dy any more */
        norm.dx = is_free ? dy : mer_form_memory(tape, op->x, layout);
        mer_planes_split(tape, &norm.planes, pass_planes, &norm);
        mer_grad_give(tape, op->x, (MerBlocked){norm.dx, layout}, false);
    }
}
