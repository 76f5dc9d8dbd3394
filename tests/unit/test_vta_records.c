/* Tuning logs of AutoTVM: written and read back, in the forms that logs come in, and as a warm start. */
#include "codesign/records/vta_records.h"
#include "mercator/rng.h"
#include "run_support.h"
#include "vta_support.h"

#include "shared.h"

static MerVtaCore usual_core(void)
{
    MerVtaCore core;
    mer_vta_core_make(&core, 1, 16, 16, 32768, 32768, 262144, 131072);
    return core;
}

static MerVtaRecords read_text(const char *text)
{
    MerVtaCore    usual = usual_core();
    MerVtaRecords records;
    MerError      error = {0};
    write_text("some.log", text);
    if (mer_vta_records_read("some.log", &usual, NULL, &records, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return records;
}

static const char *line_of(const MerVtaRecord *record)
{
    MerJson json = {0};
    mer_autotvm_write(record, &json);
    return mer_json_keep(&json, arena);
}

static void assert_same_record(const MerVtaRecord *a, const MerVtaRecord *b)
{
    assert_true(mer_vta_core_equal(&a->task.core, &b->task.core));
    assert_memory_equal(&a->task.shape, &b->task.shape, sizeof a->task.shape);
    assert_memory_equal(&a->schedule, &b->schedule, sizeof a->schedule);
    assert_int_equal(a->error, b->error);
    assert_string_equal(a->model, b->model);
    if (a->error == 0) {
        assert_true(a->seconds == b->seconds);
    }
}

static int divisor_of(MerRng *rng, int number)
{
    int d;
    do {
        d = 1 + mer_rng_below(rng, number);
    } while (number % d != 0);
    return d;
}

/* Any layer on any core, with any tiles. */
static MerVtaRecord random_record(MerRng *rng)
{
    static const char *const platforms[] = {"vta-pynq-b", "vta-ultra96", "mine"};
    int                      in = 4 << mer_rng_below(rng, 4), out = 4 << mer_rng_below(rng, 4);
    MerOp                    op = vta_conv(8 + mer_rng_below(rng, 50), 1 + mer_rng_below(rng, 200),
                                           1 + mer_rng_below(rng, 200), 1 + 2 * mer_rng_below(rng, 3),
                                           1 + mer_rng_below(rng, 2), mer_rng_below(rng, 3));
    MerVtaRecord record = {.error = mer_rng_below(rng, 4) == 0 ? 1 + mer_rng_below(rng, 8) : 0,
                           .seconds = 1e-2 * mer_rng_unit(rng)};
    op.pad[2] = mer_rng_below(rng, 4) > 0 ? op.pad[0] : 0;
    op.dims[MER_DIM_Y] =
        (op.input_rows + op.pad[0] + op.pad[2] - op.dims[MER_DIM_R]) / op.stride[0] + 1;
    op.dims[MER_DIM_G] = 1 + mer_rng_below(rng, 3);
    if (mer_rng_below(rng, 4) == 0) { /* a product of one row */
        op = vta_conv(1, 1 + mer_rng_below(rng, 500), 1 + mer_rng_below(rng, 500), 1, 1, 0);
        record.is_dense = true;
    }
    mer_vta_core_make(&record.task.core, 1 << mer_rng_below(rng, 3), in, out, 32768, 131072, 262144,
                      131072);
    mer_vta_shape_make(&op, 1 + mer_rng_below(rng, 4), &record.task.core, &record.task.shape);
    const MerVtaShape *s = &record.task.shape;
    record.schedule = (MerVtaSchedule){divisor_of(rng, s->rows),
                                       divisor_of(rng, s->columns),
                                       divisor_of(rng, s->ci),
                                       divisor_of(rng, s->co),
                                       record.is_dense ? 1 : 1 + mer_rng_below(rng, 2),
                                       1 + mer_rng_below(rng, 2)};
    record.model = mer_vta_model(platforms[mer_rng_below(rng, 3)], &record.task.core, arena);
    return record;
}

static void test_written_records_read_back(void **state)
{
    enum { COUNT = 500 };
    MerRng       rng = mer_rng_make(7, 0);
    MerVtaRecord written[COUNT];
    char        *text = mer_arena_alloc(arena, COUNT * 1000);
    size_t       size = 0;
    (void)state;
    for (int r = 0; r < COUNT; r++) {
        do {
            written[r] = random_record(&rng);
        } while (!mer_vta_core_check(&written[r].task.core, NULL));
        size += (size_t)sprintf(text + size, "%s\n", line_of(&written[r]));
    }
    MerVtaRecords records = read_text(text);
    assert_int_equal(records.count, COUNT);
    assert_int_equal(records.unknown + records.damaged, 0);
    for (int r = 0; r < COUNT; r++) {
        assert_same_record(&written[r], &records.list[r]);
        assert_int_equal(records.list[r].index, r);
        assert_string_equal(line_of(&written[r]), line_of(&records.list[r]));
    }
}

#define INPUT(model)                                                                               \
    "\"input\": [\"ext_dev -device=vta -keys=cpu -model=" model "\", \"conv2d_packed.vta\", "      \
    "[[\"TENSOR\", [1, 16, 14, 14, 1, 16], \"int8\"], [\"TENSOR\", [32, 16, 3, 3, 16, 16], "       \
    "\"int8\"], [2, 2], [1, 1, 1, 1], [1, 1], \"NCHW1n16c\", \"int32\"], {}]"
#define MODEL "pynq_1x16_i8w8a32_15_15_18_17"
#define TAIL ", \"version\": 0.2, \"tvm_version\": \"0.9.dev0\"}\n"

/* The order of knobs, what stands outside of a split, comments, other spellings of the target and two costs. */
static void test_forms_of_logs(void **state)
{
    static const char text[] =
        "# a comment\n\n"
        "{" INPUT(
            MODEL) ", \"config\": {\"index\": 1, \"code_hash\": null, \"entity\": "
                   "[[\"tile_b\", \"sp\", [-1, 1]], [\"tile_h\", \"sp\", [-1, 7]], [\"tile_w\", "
                   "\"sp\", [-1, 7]], "
                   "[\"tile_ci\", \"sp\", [-1, 2]], [\"tile_co\", \"sp\", [-1, 16]], "
                   "[\"oc_nthread\", \"ot\", 2], "
                   "[\"h_nthread\", \"ot\", 1]]}, \"result\": [[0.004, 0.002], 0, 3.5, "
                   "1563000000]" TAIL "{" INPUT(
                       "pynq") ", \"config\": {\"entity\": [[\"h_nthread\", \"ot\", 1], "
                               "[\"oc_nthread\", \"ot\", 2], [\"tile_co\", \"sp\", [2, 16]], "
                               "[\"tile_ci\", \"sp\", [8, 2]], "
                               "[\"tile_w\", \"sp\", [1, 7]], [\"tile_h\", \"sp\", [1, 7]]]}, "
                               "\"result\": [[0.003], 0, 3.5, 1563000000]" TAIL;
    MerVtaRecords records = read_text(text);
    MerVtaCore    usual = usual_core();
    (void)state;
    assert_int_equal(records.count, 2);
    for (int r = 0; r < 2; r++) {
        const MerVtaRecord *record = &records.list[r];
        assert_true(mer_vta_core_equal(&record->task.core, &usual));
        assert_true(record->seconds == 0.003);
        assert_memory_equal(&record->schedule, (&(MerVtaSchedule){7, 7, 2, 16, 1, 2}),
                            sizeof record->schedule);
        assert_int_equal(record->task.shape.rows, 7);
        assert_int_equal(record->task.shape.co, 32);
        assert_int_equal(record->task.shape.pad[3], 1);
    }
    /* tile_h 7 of 7 has the digit 1 of 2, tile_w the same, ci 2 of 16 is 1 of 5, co 16 of 32 is 4 of 6, threads 1 and 0 */
    assert_non_null(strstr(line_of(&records.list[0]), "\"index\":207,"));
}

static void test_what_is_no_record_is_counted(void **state)
{
    static const char text[] = "{" INPUT(
        MODEL) ", \"config\": {\"entity\": [[\"tile_h\", \"sp\", [-1, 7]]]}, "
               "\"result\": [[1e9], 4, 3.5, 1]" TAIL
               "{\"input\": [\"llvm -keys=cpu\", \"conv2d_NCHWc.x86\", [], {}], \"config\": {}, "
               "\"result\": [[0.1], 0, 1, 1]" TAIL "{" INPUT(
                   "pynq_1x32_i8w8a32_15_15_18_17") ", \"config\": {\"entity\": []}, "
                                                    "\"result\": [[0.1], 0, 1, 1]" TAIL
                                                    "{\"input\": [\"ext_dev -device=vta\", \n"
                                                    "{" INPUT(
                                                        MODEL) ", \"config\": {\"entity\": "
                                                               "[[\"tile_h\", \"sp\", [-1, 0]]]}, "
                                                               "\"result\": [[0.1], 0, 1, 1]" TAIL
                                                               "{" INPUT(
                                                                   MODEL) ", \"config\": "
                                                                          "{\"entity\": "
                                                                          "[[\"tile_h\", \"sp\", "
                                                                          "[-1, 7]]]}, "
                                                                          "\"result\": [[1e-4], 0, "
                                                                          "1, 1]" TAIL;
    MerVtaRecords records = read_text(text);
    (void)state;
    assert_int_equal(records.count, 2);
    assert_int_equal(records.unknown, 3);
    assert_int_equal(records.damaged, 1);
    assert_int_equal(records.first_damaged, 4);
    assert_int_equal(records.list[0].error, 4);
    assert_false(mer_vta_record_beats_peak(&records.list[0], 1e8));
    assert_true(
        mer_vta_record_beats_peak(&records.list[1], 1e8)); /* 225792 products in 10000 cycles */
}

static void test_other_files_are_refused(void **state)
{
    MerVtaCore    usual = usual_core();
    MerVtaRecords records;
    (void)state;
    static const char *const texts[] = {"{\"type\": \"header\"}\n", "nothing\n", "# only this\n",
                                        "{\"format\": \"other/1\", \"records\": []}"};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        write_text("other", texts[t]);
        assert_int_equal(mer_vta_records_read("other", &usual, NULL, &records, arena, NULL),
                         MER_UNSUPPORTED);
    }
    assert_int_equal(mer_vta_records_read("missing", &usual, NULL, &records, arena, NULL),
                     MER_NOT_FOUND);
}

typedef struct Messages {
    char text[1024];
    int  count;
} Messages;

static void remember(void *state, const char *text)
{
    Messages *messages = state;
    snprintf(messages->text, sizeof messages->text, "%s", text);
    messages->count++;
}

/* A run of two layers whose best schedules come from a log: nothing else is evaluated. */
static MerRunResult run_with(const char *options, const char *warm, const char *folder,
                             Messages *messages)
{
    MerExportRequest request = {mer_exporter_find("autotvm_log", NULL), NULL};
    MerGraph        *graph = mer_graph_new("two", arena);
    MerOp            a = vta_conv(14, 64, 64, 3, 1, 1), b = vta_conv(28, 32, 64, 3, 2, 1);
    a.name = "a";
    b.name = "b";
    mer_graph_add_op(graph, &a);
    mer_graph_add_op(graph, &b);
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    MerRunSpec spec =
        spec_from(options, "vta", warm ? "random" : "grid", graph, "vta-pynq-b", arena);
    spec.budget = 2;
    spec.warm = warm;
    spec.directory = folder;
    spec.exports = &request;
    spec.export_count = 1;
    return run_or_fail(&spec, &(MerRunHooks){.state = messages, .warn = remember}, arena);
}

static void test_logs_start_a_search(void **state)
{
    static const char *const modes[] = {"codesign:hardware=fixed", "codesign:min_element_bytes=8"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        Messages     messages = {.count = 0};
        MerRunResult best = run_with(modes[m], NULL, "first", &messages);
        MerRunResult warm = run_with(modes[m], "first/autotvm.log", "second", &messages);
        assert_int_equal(messages.count, 0);
        assert_int_equal(best.task_count, 2);
        for (int t = 0; t < 2; t++) {
            assert_true(best.tasks[t].best.value[MER_METRIC_LATENCY] ==
                        warm.tasks[t].best.value[MER_METRIC_LATENCY]);
        }
        assert_string_equal(file_text("first", "autotvm.log", arena),
                            file_text("second", "autotvm.log", arena));
    }
}

static void test_odd_logs_are_remarked_once(void **state)
{
    Messages messages = {.count = 0};
    (void)state;
    write_text("odd.log",
               "{" INPUT(MODEL) ", \"config\": {\"entity\": [[\"tile_h\", \"sp\", [-1, 7]]]}, "
                                "\"result\": [[1e-4], 0, 1, 1]" TAIL
                                "{\"input\": [\"llvm\", \"x\", [], {}], \"config\": {}}\n");
    run_with("codesign:hardware=fixed", "odd.log", "odd", &messages);
    assert_int_equal(messages.count, 1);
    assert_non_null(strstr(messages.text, "1 of other tasks or machines skipped"));
    assert_non_null(
        strstr(messages.text, "1 above the peak of their machine (record 1: 1156 of 51.2 Gop/s)"));
}

/* The public records of PYNQ boards, written as a log and read again (tests/data/README.md). */
static void test_board_records_survive_a_log(void **state)
{
    char          path[SHARED_PATH_SIZE];
    MerVtaCore    usual = usual_core();
    MerVtaRecords records;
    MerError      error = {0};
    char         *text = mer_arena_alloc(arena, 100000);
    size_t        size = 0;
    (void)state;
    shared_path(path, "golden/vta-pynq-measured.json");
    if (mer_vta_records_read(path, &usual, NULL, &records, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(records.count, 75);
    for (int r = 0; r < records.count; r++) {
        size += (size_t)sprintf(text + size, "%s\n", line_of(&records.list[r]));
    }
    MerVtaRecords again = read_text(text);
    assert_int_equal(again.count, 75);
    for (int r = 0; r < records.count; r++) {
        assert_same_record(&records.list[r], &again.list[r]);
        assert_false(mer_vta_record_beats_peak(&records.list[r], 1e8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_records_read_back),
        cmocka_unit_test(test_forms_of_logs),
        cmocka_unit_test(test_what_is_no_record_is_counted),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_logs_start_a_search),
        cmocka_unit_test(test_odd_logs_are_remarked_once),
        cmocka_unit_test(test_board_records_survive_a_log),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
