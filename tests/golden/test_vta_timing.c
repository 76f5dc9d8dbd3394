/* The timing model against recorded figures (docs/codesign-model.md, "Check values"): 15 points on three
 * platforms, and the optima of ten layers of ResNet-18 with the number of legal schedules. */
#include "vta_support.h"

#include <math.h>

typedef struct Point {
    const char    *platform;
    int            size, ci, co, kernel, stride, images;
    MerVtaSchedule schedule; /* h w ci co, h_threads, oc_threads */
    double         ms, cycles;
    int            instructions, uops;
} Point;

/* clang-format off */
static const Point points[] = {
    {"vta-pynq-b", 14, 256, 512, 3, 2, 1, {7, 7, 1, 16, 1, 2}, 3.3074, 319566.1, 112, 336},
    {"vta-pynq-b", 7, 512, 512, 3, 1, 1, {7, 7, 1, 16, 1, 2}, 6.0463, 588604.1, 208, 336},
    {"vta-pynq-b", 28, 128, 256, 3, 2, 1, {14, 14, 1, 4, 1, 2}, 2.6683, 255149.7, 122, 168},
    {"vta-pynq-b", 14, 256, 256, 3, 1, 1, {14, 14, 1, 4, 1, 2}, 4.9570, 479170.3, 218, 168},
    {"vta-pynq-b", 56, 64, 128, 3, 2, 1, {7, 28, 1, 4, 1, 2}, 2.9344, 280751.8, 142, 84},
    {"vta-pynq-b", 28, 128, 128, 3, 1, 1, {14, 28, 1, 2, 2, 1}, 5.2144, 503899.2, 238, 84},
    {"vta-pynq-b", 56, 64, 64, 3, 1, 1, {8, 56, 1, 2, 1, 2}, 5.7092, 553077.7, 244, 48},
    {"vta-pynq-b", 56, 64, 128, 1, 2, 1, {7, 28, 1, 4, 2, 1}, 1.5886, 146167.6, 142, 7},
    {"vta-pynq-a", 56, 256, 512, 1, 2, 1, {1, 28, 8, 32, 2, 1}, 28.4246, 2836722.2, 314, 32},
    {"vta-pynq-a", 28, 128, 128, 3, 1, 1, {28, 7, 1, 4, 1, 2}, 9.9803, 993439.2, 238, 336},
    {"vta-pynq-a", 13, 384, 256, 3, 1, 1, {13, 13, 1, 4, 1, 2}, 8.4757, 841827.3, 314, 156},
    {"vta-pynq-a", 28, 256, 512, 3, 1, 1, {28, 4, 1, 8, 1, 2}, 58.6663, 5843076.0, 1490, 672},
    {"vta-pynq-4x8", 14, 256, 512, 3, 2, 4, {7, 7, 1, 16, 1, 2}, 9.6156, 935327.8, 410, 336},
    {"vta-pynq-4x8", 56, 256, 128, 1, 1, 4, {1, 56, 2, 16, 2, 1}, 24.7584, 2320051.6, 2974, 16},
    {"vta-pynq-4x8", 7, 512, 2048, 1, 1, 4, {7, 7, 8, 16, 1, 2}, 9.4887, 919606.8, 470, 112},
};
/* clang-format on */

static void test_recorded_points(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
        const Point       *point = &points[p];
        const MerPlatform *platform = vta_platform(point->platform);
        int                pad = point->kernel / 2;
        MerOp op = vta_conv(point->size, point->ci, point->co, point->kernel, point->stride, pad);
        MerVtaTask   task = vta_task(platform, &op, point->images);
        MerVtaTiming timing;
        MerVtaTime   time;
        MerVtaKernel kernel;
        MerVtaReason reason = {""};
        mer_vta_timing_of(platform, &timing);
        if (!mer_vta_check(&task.core, &task.shape, &point->schedule, &task.rules, &reason)) {
            fail_msg("point %zu: %s", p, reason.text);
        }
        assert_true(mer_vta_kernel_make(&task.shape, &point->schedule, &kernel, NULL));
        assert_true(mer_vta_price(&task, &point->schedule, &timing, INFINITY, &time));
        double ms = 1e3 * mer_vta_seconds(&timing, &time),
               cycles = (double)time.ticks / MER_VTA_TICKS;
        if (kernel.uops != point->uops || time.instructions != point->instructions ||
            fabs(cycles / point->cycles - 1) > 1e-6 || fabs(ms - point->ms) > 6e-5) {
            fail_msg("point %zu: %.4f ms, %.1f cycles, %lld instructions, %d micro-ops", p, ms,
                     cycles, (long long)time.instructions, kernel.uops);
        }
    }
}

typedef struct Layer {
    int            size, ci, co, kernel, stride;
    int            points, legal;
    double         best_ms;
    MerVtaSchedule best;
    int            within[3]; /* 1, 5, 10 % */
    double         tvm_ms;
    int            tvm_legal;
    int            count; /* of ResNet-18 */
} Layer;

/* clang-format off */
static const Layer layers[] = {
    {56, 64, 64, 3, 1, 2304, 1395, 5.7092, {8, 56, 1, 2, 1, 2}, {8, 26, 55}, 5.7092, 283, 4},
    {56, 64, 128, 3, 2, 1728, 975, 2.9344, {7, 28, 1, 4, 1, 2}, {2, 3, 3}, 2.9344, 202, 1},
    {56, 64, 128, 1, 2, 1728, 1043, 1.0190, {2, 28, 4, 8, 2, 1}, {1, 2, 3}, 1.1207, 362, 1},
    {28, 128, 128, 3, 1, 2304, 1404, 5.2066, {14, 28, 2, 2, 1, 2}, {9, 25, 49}, 5.2144, 215, 3},
    {28, 128, 256, 3, 2, 1280, 643, 2.6683, {14, 14, 1, 4, 1, 2}, {3, 5, 8}, 2.6683, 135, 1},
    {28, 128, 256, 1, 2, 1280, 729, 0.9590, {7, 14, 4, 16, 1, 1}, {1, 1, 2}, 1.1268, 329, 1},
    {14, 256, 256, 3, 1, 1600, 765, 4.9514, {14, 14, 2, 4, 1, 2}, {7, 25, 35}, 4.9570, 135, 3},
    {14, 256, 512, 3, 2, 480, 144, 3.2603, {7, 7, 2, 16, 1, 2}, {1, 2, 4}, 3.3074, 40, 1},
    {14, 256, 512, 1, 2, 480, 188, 0.9252, {7, 7, 4, 16, 1, 2}, {2, 4, 5}, 1.0782, 116, 1},
    {7, 512, 512, 3, 1, 576, 156, 5.8815, {7, 7, 2, 16, 1, 2}, {1, 4, 4}, 6.0463, 40, 3},
};
/* clang-format on */

typedef struct Found {
    int            points, legal;
    double         best;
    MerVtaSchedule schedule;
    double         all[16384];
} Found;

static void enumerate(const MerVtaTask *task, const MerVtaTiming *timing, Found *found)
{
    const MerVtaShape *s = &task->shape;
    *found = (Found){.best = INFINITY};
    for (int h = 1; h <= s->rows; h++) {
        for (int w = 1; w <= s->columns && s->rows % h == 0; w++) {
            for (int ci = 1; ci <= s->ci && s->columns % w == 0; ci++) {
                for (int co = 1; co <= s->co && s->ci % ci == 0; co++) {
                    for (int t = 0; t < 4 && s->co % co == 0; t++) {
                        MerVtaSchedule point = {h, w, ci, co, 1 + t % 2, 1 + t / 2};
                        MerVtaTime     time;
                        found->points++;
                        if (!mer_vta_check(&task->core, s, &point, &task->rules, NULL)) {
                            continue;
                        }
                        assert_true(mer_vta_price(task, &point, timing, INFINITY, &time));
                        double ms = 1e3 * mer_vta_seconds(timing, &time);
                        found->all[found->legal++] = ms;
                        if (ms < found->best) {
                            found->best = ms;
                            found->schedule = point;
                        }
                    }
                }
            }
        }
    }
}

static void test_recorded_optima(void **state)
{
    const MerPlatform *platform = vta_platform("vta-pynq-b");
    MerVtaTiming       timing;
    double             sum = 0, tvm_sum = 0;
    static Found       found;
    (void)state;
    mer_vta_timing_of(platform, &timing);
    for (size_t l = 0; l < sizeof layers / sizeof layers[0]; l++) {
        const Layer *layer = &layers[l];
        MerOp        op = vta_conv(layer->size, layer->ci, layer->co, layer->kernel, layer->stride,
                                   layer->kernel / 2);
        MerVtaTask   task = vta_task(platform, &op, 1);
        enumerate(&task, &timing, &found);
        int within[3] = {0, 0, 0};
        for (int i = 0; i < found.legal; i++) {
            within[0] += found.all[i] <= 1.01 * found.best;
            within[1] += found.all[i] <= 1.05 * found.best;
            within[2] += found.all[i] <= 1.10 * found.best;
        }
        if (found.points != layer->points || found.legal != layer->legal ||
            fabs(found.best / layer->best_ms - 1) > 1e-4 ||
            memcmp(within, layer->within, sizeof within) != 0) {
            fail_msg("layer %zu: %d points, %d legal, %.4f ms at %d %d %d %d %d %d, %d %d %d", l,
                     found.points, found.legal, found.best, found.schedule.tile_h,
                     found.schedule.tile_w, found.schedule.tile_ci, found.schedule.tile_co,
                     found.schedule.h_threads, found.schedule.oc_threads, within[0], within[1],
                     within[2]);
        }
        sum += layer->count * found.best;
        task.rules.is_tvm = true;
        enumerate(&task, &timing, &found);
        if (found.legal != layer->tvm_legal || fabs(found.best / layer->tvm_ms - 1) > 1e-4) {
            fail_msg("layer %zu with one transfer per tile: %d legal, %.4f ms", l, found.legal,
                     found.best);
        }
        tvm_sum += layer->count * found.best;
    }
    assert_true(fabs(sum - 82.722) < 2e-3);
    assert_true(fabs(tvm_sum - 83.725) < 2e-3);
}

/* The ten layers on another core, weighted: the geometries of docs/codesign-model.md. */
static double network_ms(const MerVtaCore *core, int images, const MerVtaTiming *timing)
{
    static Found found;
    double       sum = 0;
    for (size_t l = 0; l < sizeof layers / sizeof layers[0]; l++) {
        const Layer *layer = &layers[l];
        MerOp        op = vta_conv(layer->size, layer->ci, layer->co, layer->kernel, layer->stride,
                                   layer->kernel / 2);
        MerVtaTask   task = {.core = *core};
        mer_vta_shape_make(&op, images, core, &task.shape);
        enumerate(&task, timing, &found);
        sum += layer->count * found.best;
    }
    return sum;
}

static void test_recorded_geometries(void **state)
{
    static const struct {
        int    batch, in, out, images;
        double ms;
    } rows[] = {{1, 8, 32, 1, 80.717},  {1, 4, 64, 1, 82.472},  {1, 16, 16, 1, 82.722},
                {1, 32, 8, 1, 90.624},  {1, 64, 4, 1, 106.521}, {2, 8, 16, 1, 149.962},
                {4, 8, 8, 1, 292.079},  {4, 4, 16, 4, 289.404}, {4, 8, 8, 4, 292.079},
                {2, 8, 16, 4, 297.467}, {1, 8, 32, 4, 315.110}, {1, 16, 16, 4, 322.571}};
    const MerPlatform *platform = vta_platform("vta-pynq-b");
    MerVtaTiming       timing;
    MerVtaCore         usual, core;
    (void)state;
    mer_vta_timing_of(platform, &timing);
    mer_vta_core_of(platform, &usual);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        mer_vta_core_follow(&usual, rows[r].batch, rows[r].in, rows[r].out, 491520, &core);
        double ms = network_ms(&core, rows[r].images, &timing);
        if (fabs(ms / rows[r].ms - 1) > 1e-4) {
            fail_msg("%dx%dx%d, %d images: %.3f ms, recorded %.3f", rows[r].batch, rows[r].in,
                     rows[r].out, rows[r].images, ms, rows[r].ms);
        }
    }
    int legal = 0;
    for (int n = 0; n < 125; n++) {
        mer_vta_core_follow(&usual, 1 << n / 25, 4 << n / 5 % 5, 4 << n % 5, 491520, &core);
        legal += mer_vta_core_macs(&core) <= 256 && mer_vta_core_check(&core, NULL);
    }
    assert_int_equal(legal, 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recorded_points),
                                       cmocka_unit_test(test_recorded_optima),
                                       cmocka_unit_test(test_recorded_geometries)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
