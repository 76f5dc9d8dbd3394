/* Trial lines said short come back as they were in full, whoever reads them, and points as text as they were. */
#include "base/log_words.h"
#include "mercator/rng.h"
#include "run/log/trial.h"
#include "support.h"

#include <math.h>

enum { KNOBS = 40, TRIALS = 3000 };

static void points_come_back(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(1, 0);
    for (int round = 0; round < 2000; round++) {
        static const int sizes[] = {1, 2, 3, 5, 8, 63, 64, 65, 4096, 4097, 1 << 24, 2147483647};
        int              choices[KNOBS], point[KNOBS], again[KNOBS];
        char             text[KNOBS * 6 + 1];
        int              knobs = mer_rng_below(&rng, KNOBS + 1);
        for (int k = 0; k < knobs; k++) {
            choices[k] = sizes[mer_rng_below(&rng, round % 2 ? 12 : 6)];
            point[k] =
                mer_rng_below(&rng, 3) == 0 ? choices[k] - 1 : mer_rng_below(&rng, choices[k]);
        }
        int length = mer_point_write(point, choices, knobs, text);
        assert_int_equal(length, mer_point_length(choices, knobs));
        assert_true(mer_point_read(text, (size_t)length, choices, knobs, again));
        assert_memory_equal(point, again, (size_t)knobs * sizeof *point);
        assert_false(mer_point_read(text, (size_t)length + 1, choices, knobs, again));
        assert_true(length == 0 ||
                    !mer_point_read(text, (size_t)length - 1, choices, knobs, again));
    }
    int five[] = {5, 5}, out[2];
    assert_false(mer_point_read("Z", 1, five, 2, out)); /* 35 of 25 */
    assert_false(mer_point_read("?", 1, five, 2, out));
}

/* As many kinds of trial as a search can have. */
static void make_trial(MerRng *rng, int index, const int *choices, MerRunTrial *trial)
{
    trial->index = 1000000 + index;
    trial->same_as = mer_rng_below(rng, 20) == 0 ? index : -1;
    trial->base = mer_rng_below(rng, 20) == 0 ? index : -1;
    trial->is_warm = mer_rng_below(rng, 50) == 0;
    trial->spent[0] = mer_rng_below(rng, 50) == 0 ? 0.1 * index : 0;
    for (int k = 0; k < KNOBS; k++) {
        trial->point[k] = mer_rng_below(rng, choices[k]);
    }
    mer_cost_clear(&trial->cost);
    trial->score = INFINITY;
    switch (mer_rng_below(rng, 8)) {
    case 0:
        mer_cost_refuse(&trial->cost, "capacity: RF needs %d words, has 256", 257 + index);
        break;
    case 1:
        mer_cost_refuse(&trial->cost, "fan-out: GLB needs %d instances on x, has 16", index);
        break;
    case 2: /* more kinds than are kept */
        mer_cost_refuse(&trial->cost, "memory: gpu%d is full", mer_rng_below(rng, 200));
        break;
    case 3: /* JSON writes it otherwise */
        mer_cost_refuse(&trial->cost, "encoding: \"%d\" needs 007 \\ \xff", index % 3);
        break;
    default:
        trial->cost.value[MER_METRIC_CYCLES] = 1000 + index;
        trial->cost.value[MER_METRIC_ENERGY] = 0.1 * (index + 1);
        if (mer_rng_below(rng, 30) == 0) {
            trial->cost.value[MER_METRIC_TRAFFIC_BYTES] = INFINITY;
        }
        trial->cost.cut = mer_rng_below(rng, 30) == 0;
        trial->score = -trial->cost.value[MER_METRIC_ENERGY];
    }
}

static void short_lines_come_back_in_full(void **state)
{
    (void)state;
    MerRng       rng = mer_rng_make(3, 0);
    MerLogWords  written = {0}, read = {0};
    MerWordsText text = {0};
    int          choices[KNOBS];
    MerIndex     point[KNOBS];
    size_t       long_bytes = 0, short_bytes = 0;
    for (int k = 0; k < KNOBS; k++) {
        choices[k] = 1 + mer_rng_below(&rng, k % 5 ? 6 : 100000);
    }
    mer_words_take_header(&read, "{\"type\":\"header\",\"objective\":\"energy\",\"direction\":1}");
    MerTrialForm form = {.words = &written,
                         .choices = choices,
                         .knobs = KNOBS,
                         .point_length = mer_point_length(choices, KNOBS),
                         .objective = MER_METRIC_ENERGY,
                         .direction = 1};
    MerRunTrial  a = {.point = point}, b = {.point = point};
    for (int i = 0; i < TRIALS; i++) {
        make_trial(&rng, i, choices, &a);
        MerJson keep = b.json;
        b = a;
        b.json = keep;
        if (i % 3 == 0) {
            mer_trial_write(&a, &form); /* as a thread does, before its turn */
        } else {
            a.is_written = false;
        }
        mer_trial_settle(&a, &form);
        mer_trial_write_long(&b, KNOBS);
        const char *full = mer_words_full_line(&read, a.json.text, choices, KNOBS, &text);
        assert_non_null(full);
        assert_string_equal(full, b.json.text);
        long_bytes += b.json.size;
        short_bytes += a.json.size;
    }
    assert_true(short_bytes < long_bytes * 6 / 10);
    mer_json_free(&a.json);
    mer_json_free(&b.json);
    free(text.text);
}

static void early_lines_are_in_full(void **state)
{
    (void)state;
    MerRng       rng = mer_rng_make(4, 0);
    MerLogWords  words = {0};
    int          choices[KNOBS];
    MerIndex     point[KNOBS];
    MerTrialForm form = {.words = &words,
                         .choices = choices,
                         .knobs = KNOBS,
                         .point_length = KNOBS,
                         .objective = MER_METRIC_ENERGY,
                         .direction = 1};
    MerRunTrial  a = {.point = point}, b = {.point = point};
    for (int k = 0; k < KNOBS; k++) {
        choices[k] = 4;
    }
    for (int i = 0; i < 200; i++) {
        make_trial(&rng, i, choices, &a);
        a.index = 9900 + i;
        MerJson keep = b.json;
        b = a;
        b.json = keep;
        a.is_written = false;
        mer_trial_settle(&a, &form);
        mer_trial_write_long(&b, KNOBS);
        assert_int_equal(strcmp(a.json.text, b.json.text) == 0, a.index < 10000);
    }
    mer_json_free(&a.json);
    mer_json_free(&b.json);
}

/* What a reader cannot know gives no line, and no crash. */
static void lists_without_words_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":\"0\",\"reason\":[0,3]}",
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":\"0\",\"reason\":[]}",
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":\"0\",\"reason\":[-1]}",
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":\"0\",\"score\":1,\"cost\":[1]}",
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":\"00\",\"score\":1}",
        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"po",
    };
    MerLogWords  words = {0};
    MerWordsText text = {0};
    int          choices[] = {4};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_null(mer_words_full_line(&words, lines[i], choices, 1, &text));
    }
    assert_string_equal(mer_words_full_line(&words, "{\"type\":\"note\"}", NULL, 0, &text),
                        "{\"type\":\"note\"}");
    free(text.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_come_back),
        cmocka_unit_test(short_lines_come_back_in_full),
        cmocka_unit_test(early_lines_are_in_full),
        cmocka_unit_test(lists_without_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
