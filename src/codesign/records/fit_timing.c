/* Fits the timing constants of a core to measured records (docs/codesign-files.md, "Calibration"): the mean over records
 * of |log(model/measured)| + log^2, plus a prior that keeps constants that the records do not tell near usual values.
 * Nelder-Mead in log space with coefficients that follow the dimension (Gao and Han, Computational Optimization and
 * Applications 51, 2012), from several starts. */
#include "codesign/codesign.h"
#include "codesign/cost/timing.h"
#include "codesign/records/vta_records.h"
#include "mercator/rng.h"
#include "mercator/threads.h"

#include <math.h>
#include <string.h>

enum { CONSTANTS = 11, STARTS = 6, RESTARTS = 4, STEPS = 800, LEAST_RECORDS = 5 };

typedef struct Point { /* log of the constants; a smaller one than the bound counts as the bound */
    double u[CONSTANTS];
    double cost;
} Point;

typedef struct Fit {
    const MerVtaConstant *free[CONSTANTS];
    int                   count;
    const MerVtaRecord   *records;
    MerVtaTiming          timing; /* what is not fitted is as in the platform */
    double                prior;
    int                   folds;
    uint64_t              seed;
    Point                *results; /* of all records, then without each fold */
} Fit;

static void set_constants(const Fit *fit, const Point *point, MerVtaTiming *timing)
{
    *timing = fit->timing;
    for (int k = 0; k < CONSTANTS; k++) {
        double value = fmax(exp(point->u[k]), fit->free[k]->least);
        *(double *)(void *)((char *)timing + fit->free[k]->offset) = value;
    }
}

static double seconds_of(const MerVtaRecord *record, const MerVtaTiming *timing)
{
    MerVtaTime time;
    mer_vta_price(&record->task, &record->schedule, timing, INFINITY, &time);
    return mer_vta_seconds(timing, &time);
}

/* Of the records that are not in fold `without`. */
static void price(const Fit *fit, int without, Point *point)
{
    MerVtaTiming timing;
    double       sum = 0, far = 0;
    int          used = 0;
    set_constants(fit, point, &timing);
    for (int r = 0; r < fit->count; r++) {
        const MerVtaRecord *record = &fit->records[r];
        if (record->index % fit->folds != without) {
            double miss = log(seconds_of(record, &timing) / record->seconds);
            sum += fabs(miss) + miss * miss;
            used++;
        }
    }
    for (int k = 0; k < CONSTANTS; k++) {
        const MerVtaConstant *c = fit->free[k];
        double                distance =
            fmax(point->u[k], c->least > 0 ? log(c->least) : -INFINITY) - log(c->usual);
        far += fit->prior * distance * distance;
        /* beyond what any machine has nothing changes: lead the search back */
        far += 1e-3 * fmax(0, fabs(point->u[k] - log(c->usual)) - 8);
    }
    point->cost = sum / (used > 0 ? used : 1) + far;
}

static void sort_points(Point *points)
{
    for (int i = 1; i <= CONSTANTS; i++) {
        Point now = points[i];
        int   at = i;
        for (; at > 0 && points[at - 1].cost > now.cost; at--) {
            points[at] = points[at - 1];
        }
        points[at] = now;
    }
}

/* On the line from the centre through `from`. */
static Point probe(const Fit *fit, int without, const double *centre, const Point *from,
                   double factor)
{
    Point point;
    for (int k = 0; k < CONSTANTS; k++) {
        point.u[k] = centre[k] + factor * (from->u[k] - centre[k]);
    }
    price(fit, without, &point);
    return point;
}

static void shrink(const Fit *fit, int without, Point *points)
{
    for (int i = 1; i <= CONSTANTS; i++) {
        points[i] = probe(fit, without, points[0].u, &points[i], 1 - 1.0 / CONSTANTS);
    }
}

static void descend(const Fit *fit, int without, Point *best, double step)
{
    const double expand = 1 + 2.0 / CONSTANTS, contract = 0.75 - 0.5 / CONSTANTS;
    Point        points[CONSTANTS + 1], *worst = &points[CONSTANTS];
    for (int i = 0; i <= CONSTANTS; i++) {
        points[i] = *best;
        if (i > 0) {
            points[i].u[i - 1] += step;
        }
        price(fit, without, &points[i]);
    }
    for (int s = 0; s < STEPS; s++) {
        double centre[CONSTANTS] = {0};
        sort_points(points);
        if (worst->cost - points[0].cost < 1e-10) {
            break;
        }
        for (int i = 0; i < CONSTANTS; i++) {
            for (int k = 0; k < CONSTANTS; k++) {
                centre[k] += points[i].u[k] / CONSTANTS;
            }
        }
        Point mirrored = probe(fit, without, centre, worst, -1);
        if (mirrored.cost < points[0].cost) {
            Point further = probe(fit, without, centre, &mirrored, expand);
            *worst = further.cost < mirrored.cost ? further : mirrored;
        } else if (mirrored.cost < worst[-1].cost) {
            *worst = mirrored;
        } else {
            bool  is_outside = mirrored.cost < worst->cost;
            Point nearer = probe(fit, without, centre, is_outside ? &mirrored : worst, contract);
            if (nearer.cost < (is_outside ? mirrored.cost : worst->cost)) {
                *worst = nearer;
            } else {
                shrink(fit, without, points);
            }
        }
    }
    sort_points(points);
    *best = points[0];
}

/* Index 0: all records; index i: without fold i - 1. No start knows the constants of the platform, which may come from
 * the very records that are held out. */
static void fit_part(void *context, int index, int worker)
{
    Fit  *fit = context;
    Point best = {.cost = INFINITY};
    (void)worker;
    for (int s = 0; s < STARTS; s++) {
        MerRng rng = mer_rng_make(fit->seed, (uint64_t)s);
        Point  point;
        for (int k = 0; k < CONSTANTS; k++) {
            point.u[k] = log(fit->free[k]->usual) + (s > 0 ? mer_rng_normal(&rng) : 0);
        }
        for (int r = 0; r < RESTARTS; r++) {
            descend(fit, index - 1, &point, r % 2 == 0 ? 0.5 : -0.3);
        }
        best = point.cost < best.cost ? point : best;
    }
    fit->results[index] = best;
}

/* What the user did not ask to leave out. */
static const char *describe(const char *path, const MerVtaRecords *all, int failed, int fast,
                            int illegal, MerArena *arena)
{
    int64_t left_out = all->unknown + all->damaged + failed + fast + illegal;
    return left_out == 0
               ? NULL
               : mer_arena_format(arena,
                                  "%s: %lld records are left out: %lld of other tasks or machines, "
                                  "%d that failed, %d above the peak of their machine, %d that the "
                                  "hardware cannot run, %lld damaged",
                                  path, (long long)left_out, (long long)all->unknown, failed, fast,
                                  illegal, (long long)all->damaged);
}

/* Records that tell something of the timing. */
static MerStatus read_records(const MerCalibration *request, Fit *fit, const char **remark,
                              MerArena *arena, MerError *error)
{
    MerVtaRecords all;
    MerVtaCore    usual;
    int           failed = 0, fast = 0, illegal = 0;
    mer_vta_core_of(request->platform, &usual);
    MER_TRY(mer_vta_records_read(request->records, &usual, &request->where, &all, arena, error));
    MerVtaRecord *used = MER_ARRAY(arena, MerVtaRecord, all.count + 1);
    for (int r = 0; r < all.count; r++) {
        const MerVtaRecord *record = &all.list[r];
        const MerVtaTask   *task = &record->task;
        if (record->error) {
            failed++;
        } else if (mer_vta_record_beats_peak(record, request->platform->clock_hz)) {
            fast++;
        } else if (!mer_vta_check(&task->core, &task->shape, &record->schedule, &task->rules,
                                  NULL)) {
            illegal++;
        } else {
            used[fit->count++] = *record;
        }
    }
    fit->records = used;
    *remark = describe(request->records, &all, failed, fast, illegal, arena);
    return fit->count >= LEAST_RECORDS
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "%s: %d records can be used, expected at least %d", request->records,
                               fit->count, LEAST_RECORDS);
}

static void fill_answer(const Fit *fit, MerFit *answer, MerArena *arena)
{
    MerFitRecord   *records = MER_ARRAY(arena, MerFitRecord, fit->count);
    MerFitConstant *constants = MER_ARRAY(arena, MerFitConstant, CONSTANTS);
    MerVtaTiming    fitted, held_out;
    set_constants(fit, &fit->results[0], &fitted);
    for (int r = 0; r < fit->count; r++) {
        const MerVtaRecord *record = &fit->records[r];
        set_constants(fit, &fit->results[1 + record->index % fit->folds], &held_out);
        records[r] =
            (MerFitRecord){record->index, record->seconds, seconds_of(record, &fit->timing),
                           seconds_of(record, &fitted), seconds_of(record, &held_out)};
    }
    for (int k = 0; k < CONSTANTS; k++) {
        const MerVtaConstant *c = fit->free[k];
        constants[k] = (MerFitConstant){
            mer_arena_format(arena, "timing.%s", c->name),
            *(const double *)(const void *)((const char *)&fit->timing + c->offset),
            *(const double *)(const void *)((const char *)&fitted + c->offset), c->least};
    }
    answer->record_count = fit->count;
    answer->records = records;
    answer->constant_count = CONSTANTS;
    answer->constants = constants;
}

MerStatus mer_codesign_calibrate(const MerCalibration *request, MerFit *answer, MerArena *arena,
                                 MerError *error)
{
    Fit fit = {.prior = request->prior, .folds = request->folds, .seed = request->seed};
    int free_count = 0;
    if (request->platform->kind != MER_PLATFORM_VTA) {
        return mer_error_set(error, MER_INVALID, "platform %s is of kind %s, expected vta",
                             request->platform->name,
                             mer_platform_kind_name(request->platform->kind));
    }
    if (isnan(request->platform->clock_hz)) {
        return mer_error_set(error, MER_INVALID, "platform %s has no clock_hz",
                             request->platform->name);
    }
    mer_vta_timing_of(request->platform, &fit.timing);
    for (const MerVtaConstant *c = mer_vta_constants; c->name; c++) {
        if (!isnan(c->least) && free_count < CONSTANTS) {
            fit.free[free_count++] = c;
        }
    }
    MER_TRY(read_records(request, &fit, &answer->remark, arena, error));
    fit.results = MER_ARRAY(arena, Point, fit.folds + 1);
    MerPool *pool = mer_pool_new(request->threads);
    mer_pool_run(pool, fit.folds + 1, fit_part, &fit);
    mer_pool_free(pool);
    fill_answer(&fit, answer, arena);
    return MER_OK;
}
