/* Small real networks on a V100, without measurements: operations are two for each MAC and little more, every operator
 * has a time on some unit, and the whole takes about as long as its launches. */
#include "place_inputs_support.h"
#include "shared.h"

#include <math.h>

static void test_shared_models_take_sensible_times(void **state)
{
    static const struct {
        const char *path, *dims;
        double      least_mflops, most_mflops; /* MACs twice, and what element by element adds */
        double      most_ms;
    } cases[] = {
        {"models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
         "p2o.DynamicDimension.1=48 p2o.DynamicDimension.2=192", 32.6, 41, 1.5},
        {"models/ch_PP-OCRv4_det_infer.onnx",
         "p2o.DynamicDimension.1=640 p2o.DynamicDimension.2=640", 4604, 4850, 5},
        {"models/silero_vad_16k_op15.onnx", "sequence=512", 1.12, 1.3, 0.4},
        {"models/silero_vad_op18_ifless.onnx", "sequence=512", 1.12, 1.3, 0.4},
    };
    MerError           error = {0};
    const MerPlatform *platform;
    assert_int_equal(mer_platform_read("two-gpu-box", *state, &platform, &error), MER_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char     path[SHARED_PATH_SIZE];
        MerPlace place =
            open_place(graph_of(shared_path(path, cases[i].path), cases[i].dims, *state), platform,
                       NULL, NULL, *state);
        double ms = 0, mflops = 0, weights = 0;
        for (int o = 0; o < place.op_count; o++) {
            const double *times = place.time_us + o * place.unit_count;
            ms += (isinf(times[0]) ? times[2] : times[0]) / 1e3; /* a GPU, or the host for sizes */
            mflops += place.flops[o] / 1e6;
            weights += place.size[o];
        }
        if (mflops < cases[i].least_mflops || mflops > cases[i].most_mflops ||
            ms > cases[i].most_ms || !(ms > 0) || weights <= 0) {
            fail_msg("%s: %g MFLOP in %g ms", cases[i].path, mflops, ms);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shared_models_take_sensible_times, open_arena,
                                        close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
