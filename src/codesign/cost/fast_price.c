/* The time of a schedule without its instructions. All costs of a step (one tile of every thread) are
 * known beforehand, and a step is a max-plus map of the stages' clocks. Once an iteration of a loop moves
 * all clocks by the same amount, every further one does, so that the rest of the loop is one product. */
#include "codesign/cost/timing.h"

#include <string.h>

enum { MOST_THREADS = 4, MOST_H_THREADS = 2, MOST_RUNS = 64 };

typedef struct Clocks { /* ticks; tokens by thread: the time they were sent */
    int64_t load, compute, store;
    int64_t to_load[MOST_THREADS], to_compute[MOST_THREADS];
} Clocks;

typedef struct Run { /* iterations of a loop over rows or columns whose tiles cost the same */
    int first, count;
} Run;

typedef struct Range {
    int from, to;
} Range;

typedef struct Pricer {
    const MerVtaTask     *task;
    const MerVtaSchedule *schedule;
    const MerVtaTiming   *timing;
    int                   threads, rounds;
    int64_t               reset, gemm, alu, weights, store; /* ticks of one tile and thread */
    int                   alu_count, store_count;           /* instructions */
    int                   extent[4];
    Range                 range[4]; /* of the stream at hand */
    int                   row_count, column_count;
    Run                   rows[MOST_RUNS], columns[MOST_RUNS];
    /* of the input of one tile, by runs of rows and columns */
    int64_t input[MOST_RUNS][MOST_H_THREADS][MOST_RUNS];
    int     input_count[MOST_RUNS][MOST_H_THREADS][MOST_RUNS];
    int     row, column; /* runs of the step at hand */
} Pricer;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Did every clock move by the same amount? */
static bool is_moved(const Clocks *before, const Clocks *after, int threads, int64_t *by)
{
    *by = after->compute - before->compute;
    bool same = after->load - before->load == *by && after->store - before->store == *by;
    for (int t = 0; t < threads && same; t++) {
        same = after->to_load[t] - before->to_load[t] == *by &&
               after->to_compute[t] - before->to_compute[t] == *by;
    }
    return same;
}

static void move(Clocks *c, int threads, int64_t by)
{
    c->load += by;
    c->compute += by;
    c->store += by;
    for (int t = 0; t < threads; t++) {
        c->to_load[t] += by;
        c->to_compute[t] += by;
    }
}

static void repeat(Pricer *p, Clocks *c, int count, void (*body)(Pricer *p, Clocks *c))
{
    for (int i = 0; i < count; i++) {
        Clocks  before = *c;
        int64_t by;
        body(p, c);
        if (i + 1 < count && is_moved(&before, c, p->threads, &by)) {
            move(c, p->threads, by * (count - 1 - i));
            return;
        }
    }
}

/* Loads and products of one step; the store stage and its tokens rest. */
static void run_rounds(const Pricer *p, const int64_t *input, Clocks *c)
{
    int64_t loaded[MOST_THREADS];
    for (int r = 0; r < p->rounds; r++) {
        int64_t load = c->load, compute = c->compute;
        for (int t = 0; t < p->threads; t++) {
            c->load = later(c->load, c->to_load[t]) + input[t] + p->weights;
            loaded[t] = c->load;
        }
        int64_t by = c->load - load;
        bool    same = true;
        for (int t = 0; t < p->threads; t++) {
            int64_t before = c->to_load[t];
            c->compute = later(c->compute, loaded[t]) + p->gemm;
            c->to_load[t] = c->compute;
            same = same && c->compute - before == by;
        }
        if (same && c->compute - compute == by) {
            by *= p->rounds - 1 - r;
            c->load += by;
            c->compute += by;
            for (int t = 0; t < p->threads; t++) {
                c->to_load[t] += by;
            }
            return;
        }
    }
}

static void run_step(Pricer *p, Clocks *c)
{
    int64_t input[MOST_THREADS], done[MOST_THREADS];
    for (int t = 0; t < p->threads; t++) {
        input[t] = p->input[p->row][t % p->schedule->h_threads][p->column];
        c->compute = later(c->compute, c->to_compute[t]) + p->reset;
    }
    run_rounds(p, input, c);
    for (int t = 0; t < p->threads; t++) {
        c->compute += p->alu;
        done[t] = c->compute;
    }
    for (int t = 0; t < p->threads; t++) {
        c->store = later(c->store, done[t]) + p->store;
        c->to_compute[t] = c->store;
    }
}

/* Iterations of a run within a range. */
static int inside(const Run *run, const Range *range)
{
    int from = run->first > range->from ? run->first : range->from;
    int end = run->first + run->count, to = end < range->to ? end : range->to;
    return to > from ? to - from : 0;
}

static void run_columns(Pricer *p, Clocks *c)
{
    for (p->column = 0; p->column < p->column_count; p->column++) {
        repeat(p, c, inside(&p->columns[p->column], &p->range[3]), run_step);
    }
}

static void run_channels(Pricer *p, Clocks *c)
{
    repeat(p, c, p->range[2].to - p->range[2].from, run_columns);
}

static void run_rows(Pricer *p, Clocks *c)
{
    for (p->row = 0; p->row < p->row_count; p->row++) {
        repeat(p, c, inside(&p->rows[p->row], &p->range[1]), run_channels);
    }
}

static int64_t stream_ticks(Pricer *p)
{
    Clocks c = {.compute = mer_vta_uop_ticks(p->timing)};
    repeat(p, &c, p->range[0].to - p->range[0].from, run_rows);
    return later(c.load, later(c.compute, c.store));
}

/* The loop's run that holds the whole range, -1: none does. */
static int run_of(const Run *runs, int count, const Range *range)
{
    for (int r = 0; r < count; r++) {
        if (inside(&runs[r], range) == range->to - range->from) {
            return r;
        }
    }
    return -1;
}

/* Streams of `count` iterations of one loop each; of equal ones only the first is walked. */
static int64_t cut_ticks(Pricer *p, const MerVtaCut *cut, int *streams)
{
    Range  *range = &p->range[cut->loop];
    int     extent = p->extent[cut->loop], last_run = -1, last_size = 0;
    int64_t sum = 0, last = 0;
    for (range->from = 0; range->from < extent; range->from = range->to) {
        range->to = range->from + cut->count < extent ? range->from + cut->count : extent;
        int run = cut->loop == 1   ? run_of(p->rows, p->row_count, range)
                  : cut->loop == 3 ? run_of(p->columns, p->column_count, range)
                                   : 0;
        if (run < 0 || run != last_run || range->to - range->from != last_size) {
            last = stream_ticks(p);
        }
        last_run = run;
        last_size = range->to - range->from;
        sum += last;
        (*streams)++;
    }
    *range = (Range){0, extent};
    return sum;
}

static int64_t all_ticks(Pricer *p, const MerVtaCut *cut, int *streams)
{
    for (int l = 0; l < 4; l++) {
        p->range[l] = (Range){0, p->extent[l]};
    }
    if (cut->loop < 0) {
        *streams = 1;
        return stream_ticks(p);
    }
    int64_t times = cut->loop > 0 ? p->extent[0] : 1; /* that the loops outside run */
    int64_t sum = 0;
    *streams = 0;
    if (cut->loop > 0) {
        p->range[0].to = 1;
    }
    if (cut->loop > 2) {
        times *= p->extent[2];
        p->range[2].to = 1;
    }
    if (cut->loop <= 1) {
        sum = cut_ticks(p, cut, streams);
    }
    for (int r = 0; r < p->row_count && cut->loop > 1; r++) {
        int once = 0;
        p->range[1] = (Range){p->rows[r].first, p->rows[r].first + 1};
        sum += cut_ticks(p, cut, &once) * p->rows[r].count;
        *streams += once * p->rows[r].count;
    }
    *streams *= (int)times;
    return sum * times;
}

typedef struct Edge { /* what of a tile's input lies outside the image */
    int inside, before, after;
} Edge;

static Edge edge_of(int start, int count, int size)
{
    Edge edge = {.before = start < 0 ? (-start < count ? -start : count) : 0};
    int  end = start + count < size ? start + count : size;
    edge.inside = end > (start > 0 ? start : 0) ? end - (start > 0 ? start : 0) : 0;
    edge.after = count - edge.before - edge.inside;
    return edge;
}

/* Iterations of a loop, each over `together` tiles, whose tiles have the same edges. */
static int find_runs(int extent, int together, int step, int pad, int size, int count, Run *runs)
{
    int found = 0;
    for (int i = 0; i < extent; i++) {
        bool same = found > 0;
        for (int t = 0; t < together && same; t++) {
            Edge now = edge_of((i * together + t) * step - pad, count, size);
            Edge first = edge_of((runs[found - 1].first * together + t) * step - pad, count, size);
            same = memcmp(&now, &first, sizeof now) == 0;
        }
        /* tiles inside the image are alike up to the first that reaches its end */
        if (same && edge_of(i * together * step - pad, count, size).before == 0) {
            int last = (size - count + pad) / step / together - 1;
            int skip = last - i;
            if (skip > 0 && last < extent) {
                runs[found - 1].count += skip;
                i += skip;
            }
        }
        if (same) {
            runs[found - 1].count++;
        } else {
            runs[found++] = (Run){i, 1};
        }
    }
    return found;
}

/* Sums of what the stages do, whatever waits for what. */
static void add_up(Pricer *p, MerVtaTime *time)
{
    int64_t steps = (int64_t)p->extent[0] * p->extent[2]; /* for one place of rows and columns */
    int64_t threads = p->threads, oc = p->schedule->oc_threads, inputs = 0, count = 0, places = 0;
    for (int r = 0; r < p->row_count; r++) {
        for (int c = 0; c < p->column_count; c++) {
            int64_t times = (int64_t)p->rows[r].count * p->columns[c].count;
            places += times;
            for (int t = 0; t < p->schedule->h_threads; t++) {
                inputs += times * oc * p->input[r][t][c];
                count += times * oc * p->input_count[r][t][c];
            }
        }
    }
    steps *= places;
    time->busy[MER_VTA_LOAD_STAGE] =
        (inputs * (steps / places) + steps * threads * p->weights) * p->rounds;
    time->busy[MER_VTA_COMPUTE_STAGE] = steps * threads * (p->reset + p->rounds * p->gemm + p->alu);
    time->busy[MER_VTA_STORE_STAGE] = steps * threads * p->store;
    time->instructions = count * (steps / places) * p->rounds +
                         steps * threads * (1 + 2 * p->rounds + p->alu_count + p->store_count);
}

static void prepare(Pricer *p)
{
    const MerVtaTask     *task = p->task;
    const MerVtaShape    *shape = &task->shape;
    const MerVtaSchedule *s = p->schedule;
    const int            *element = task->core.element;
    int                   elements = s->tile_h * s->tile_w * s->tile_co;
    MerVtaTransfer        t;
    p->threads = s->h_threads * s->oc_threads;
    p->rounds = shape->ci / s->tile_ci;
    p->reset = mer_vta_gemm_ticks(p->timing, elements);
    p->gemm = mer_vta_gemm_ticks(p->timing, (int64_t)elements * s->tile_ci * shape->kernel[0] *
                                                shape->kernel[1]);
    p->alu = 3 * mer_vta_alu_ticks(p->timing, elements);
    p->alu_count = 3;
    if (task->rules.has_bias) {
        t = (MerVtaTransfer){.y = 1, .x = s->tile_co, .stride = s->tile_co};
        p->alu += mer_vta_alu_ticks(p->timing, elements) +
                  mer_vta_load_ticks(p->timing, &t, element[MER_VTA_ACC]);
        p->alu_count += 2;
    }
    mer_vta_weight_load(shape, s, &t);
    p->weights = mer_vta_load_ticks(p->timing, &t, element[MER_VTA_WGT]);
    mer_vta_output_store(shape, s, &t);
    p->store_count = t.count;
    p->store = t.count * mer_vta_store_ticks(p->timing, &t, element[MER_VTA_OUT]);
    mer_vta_extents(shape, s, p->extent);
    p->row_count = find_runs(p->extent[1], s->h_threads, s->tile_h * shape->stride[0],
                             shape->pad[0], shape->height, mer_vta_tile_rows(shape, s), p->rows);
    p->column_count = find_runs(p->extent[3], 1, s->tile_w * shape->stride[1], shape->pad[1],
                                shape->width, mer_vta_tile_columns(shape, s), p->columns);
    for (int r = 0; r < p->row_count; r++) {
        for (int h = 0; h < s->h_threads; h++) {
            for (int c = 0; c < p->column_count; c++) {
                int row = p->rows[r].first * s->h_threads + h;
                mer_vta_input_load(shape, s, row * s->tile_h, p->columns[c].first * s->tile_w, &t);
                p->input_count[r][h][c] = t.count;
                p->input[r][h][c] =
                    t.count * mer_vta_load_ticks(p->timing, &t, element[MER_VTA_INP]);
            }
        }
    }
}

/* Every LOAD UOP counts: the instructions themselves are walked over. */
static void price_exactly(const Pricer *p, MerVtaTime *time)
{
    MerVtaStream stream;
    mer_vta_generate(p->task, p->schedule, MER_VTA_STREAM_LIMIT, &stream, NULL);
    mer_vta_walk(&p->task->core, p->timing, stream.list, stream.count, time, NULL, NULL, NULL);
    mer_vta_stream_free(&stream);
}

bool mer_vta_price(const MerVtaTask *task, const MerVtaSchedule *schedule,
                   const MerVtaTiming *timing, double limit, MerVtaTime *time)
{
    Pricer       p; /* large: only what is used is filled */
    MerVtaKernel kernel;
    p.task = task;
    p.schedule = schedule;
    p.timing = timing;
    prepare(&p);
    mer_vta_kernel_make(&task->shape, schedule, &kernel, NULL);
    MerVtaCut cut = mer_vta_cut(p.extent, mer_vta_step_most(task, schedule, &kernel), p.threads,
                                MER_VTA_STREAM_LIMIT);
    *time = (MerVtaTime){.streams = 1};
    add_up(&p, time);
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        time->ticks = later(time->ticks, time->busy[s]);
    }
    if (mer_vta_seconds(timing, time) > limit) {
        return false;
    }
    if (timing->is_exact) {
        price_exactly(&p, time);
        return true;
    }
    time->ticks = all_ticks(&p, &cut, &time->streams);
    time->instructions += (int64_t)time->streams * (2 + 2 * p.threads);
    time->busy[MER_VTA_COMPUTE_STAGE] += time->streams * mer_vta_uop_ticks(timing);
    return true;
}

void mer_vta_count(const MerVtaTask *task, const MerVtaSchedule *s, MerVtaCounters *counters)
{
    const MerVtaShape *shape = &task->shape;
    const int         *element = task->core.element;
    MerVtaKernel       kernel;
    int                extent[4];
    mer_vta_extents(shape, s, extent);
    mer_vta_kernel_make(shape, s, &kernel, NULL);
    int64_t rows = 0, columns = 0; /* of the image that tiles read, edges left out */
    for (int i = 0; i < shape->rows / s->tile_h; i++) {
        rows += edge_of(i * s->tile_h * shape->stride[0] - shape->pad[0],
                        mer_vta_tile_rows(shape, s), shape->height)
                    .inside;
    }
    for (int j = 0; j < shape->columns / s->tile_w; j++) {
        columns += edge_of(j * s->tile_w * shape->stride[1] - shape->pad[1],
                           mer_vta_tile_columns(shape, s), shape->width)
                       .inside;
    }
    int64_t all = (int64_t)shape->batches * shape->groups, co_tiles = shape->co / s->tile_co;
    int64_t places = (int64_t)(shape->rows / s->tile_h) * (shape->columns / s->tile_w);
    int64_t outputs = all * shape->co * shape->rows * shape->columns;
    int64_t kernel_size = (int64_t)shape->kernel[0] * shape->kernel[1];
    int64_t alus = task->rules.has_bias ? 4 : 3;
    *counters = (MerVtaCounters){.store = outputs * element[MER_VTA_OUT],
                                 .gemm = outputs * shape->ci * kernel_size,
                                 .alu = outputs * alus};
    counters->load[MER_VTA_INP] =
        all * co_tiles * shape->ci * rows * columns * element[MER_VTA_INP];
    counters->load[MER_VTA_WGT] =
        all * places * shape->co * shape->ci * kernel_size * element[MER_VTA_WGT];
    counters->load[MER_VTA_ACC] =
        task->rules.has_bias ? all * places * shape->co * element[MER_VTA_ACC] : 0;
    counters->load[MER_VTA_UOP] =
        (int64_t)s->h_threads * s->oc_threads * (kernel.uops + 1 + alus) * 4;
}
