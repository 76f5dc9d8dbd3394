/* Clocks, progress lines and the notes of plug-ins. */
#include "base/log.h"
#include "base/terminal.h"
#include "mercator/notes.h"
#include "support.h"

static void clocks_only_go_forward(void **state)
{
    (void)state;
    double before = mer_clock(), cpu_before = mer_cpu_clock();
    for (volatile int i = 0; i < 100000; i++) {
    }
    assert_true(mer_clock() >= before);
    assert_true(mer_cpu_clock() > cpu_before);
}

/* What `updates` calls, `step` seconds apart by the progress's own reckoning, write. */
static void watch(bool is_terminal, int updates, double step, char *text, size_t size)
{
    MerProgress progress;
    FILE       *file = tmpfile();
    assert_non_null(file);
    mer_progress_begin(&progress, file);
    assert_false(progress.is_terminal);
    progress.is_terminal = is_terminal;
    for (int i = 0; i < updates; i++) {
        progress.last -= step;
        int64_t done = 1000 * (i + 1);
        mer_progress_update(&progress, &(MerProgressNow){.what = "map 1/2",
                                                         .name = "conv1",
                                                         .done = done,
                                                         .total = 20000,
                                                         .unit = "evaluations",
                                                         .rate = 12345,
                                                         .left_s = (double)(20000 - done) / 12345,
                                                         .best = "3.2 mJ"});
    }
    mer_progress_end(&progress);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void files_get_a_plain_line_every_ten_seconds(void **state)
{
    (void)state;
    char text[500];
    watch(false, 3, 10, text, sizeof text);
    assert_string_equal(text,
                        "map 1/2 conv1: 1000/20000 evaluations, best 3.2 mJ, 12.3k/s, 0:02 left\n"
                        "map 1/2 conv1: 2000/20000 evaluations, best 3.2 mJ, 12.3k/s, 0:01 left\n"
                        "map 1/2 conv1: 3000/20000 evaluations, best 3.2 mJ, 12.3k/s, 0:01 left\n");
    watch(false, 3, 1, text, sizeof text);
    assert_string_equal(text, "");
}

static void terminals_get_one_line_that_replaces_itself(void **state)
{
    (void)state;
    char text[1000];
    watch(true, 2, 1, text, sizeof text);
    assert_null(strchr(text, '\n'));
    mer_test_contains(text, "\rmap 1/2 conv1: 1000/20000");
    mer_test_contains(text, "\rmap 1/2 conv1: 2000/20000");
    assert_int_equal(text[strlen(text) - 1], '\r'); /* cleared at the end */
    assert_int_equal(text[strlen(text) - 2], ' ');
}

/* The line of a long name and large numbers, in every width from 40 to 200 columns. */
static void lines_fit_the_width_with_unit_rate_and_time_left(void **state)
{
    (void)state;
    MerProgressNow now = {.what = "codesign 102/128",
                          .name = "/layer2/layer2.0/downsample/downsample.0/Conv",
                          .done = 1234567,
                          .total = 30000000,
                          .unit = "evaluations",
                          .rate = 96234,
                          .left_s = 4000,
                          .best = "387.2 kJ.cycle",
                          .gap = "35.1 %",
                          .detail = "94 % infeasible"};
    char           line[400];
    for (int columns = 200; columns >= 39; columns--) {
        mer_progress_format(line, sizeof line, &now, columns);
        assert_true(strlen(line) <= (size_t)columns);
        mer_test_contains(line, "387.2 kJ.cycle");
        mer_test_contains(line, "1:06:40");
        if (columns >= 45) {
            mer_test_contains(line, "96.2k/s");
        }
    }
    mer_progress_format(line, sizeof line, &now, 199);
    assert_string_equal(line, "codesign 102/128 /layer2/layer2.0/downsample/downsample.0/Conv: "
                              "1234567/30000000 evaluations, best 387.2 kJ.cycle, gap 35.1 %, 94 % "
                              "infeasible, 96.2k/s, 1:06:40 left");
    mer_progress_format(line, sizeof line, &now, 79);
    assert_string_equal(
        line, "codesign 102/128 /la..e.0/Conv: 4 %, best 387.2 kJ.cycle, 96.2k/s, 1:06:40 left");
    now.left_s = 75;
    mer_progress_format(line, sizeof line, &now, 39);
    assert_string_equal(line, "102/128 4% 387.2 kJ.cycle 96.2k/s 1:15");
    now.total = 0; /* only the clock ends it */
    now.what = "codesign 1/2";
    mer_progress_format(line, sizeof line, &now, 39);
    assert_string_equal(line, "1/2 1.23M 387.2 kJ.cycle 96.2k/s 1:15");
}

static void texts_are_shortened_in_the_middle(void **state)
{
    (void)state;
    char text[64];
    mer_text_shorten(text, sizeof text, "/layer2/layer2.0/downsample/Conv", 14);
    assert_string_equal(text, "/lay..ple/Conv");
    mer_text_shorten(text, sizeof text, "short", 5);
    assert_string_equal(text, "short");
    mer_text_shorten(text, sizeof text, "äöüäöüäöü", 5); /* signs, not bytes */
    assert_string_equal(text, "ä..öü");
    mer_text_shorten(text, sizeof text, "abc", 1);
    assert_string_equal(text, ".");
}

static void silent_progress_writes_nothing(void **state)
{
    (void)state;
    MerProgress progress;
    mer_progress_begin(&progress, NULL);
    mer_progress_update(&progress, &(MerProgressNow){.what = "x", .done = 1, .unit = ""});
    mer_progress_end(&progress);
    assert_null(progress.file);
}

static void keep_spent(void *state, MerSpent what, double amount)
{
    ((double *)state)[what] += amount;
}

static bool always(void *state)
{
    (void)state;
    return true;
}

static void notes_reach_their_slots_and_empty_ones_are_fine(void **state)
{
    (void)state;
    double   spent[MER_SPENT_COUNT] = {0};
    MerNotes notes = {.state = spent, .spend = keep_spent, .is_cancelled = always};
    mer_spend(&notes, MER_SPENT_EPOCHS, 2);
    mer_spend(&notes, MER_SPENT_EPOCHS, 3);
    mer_note(&notes, "name", "1");
    mer_epoch(&notes, "train", 1, 2, "{}");
    mer_checkpoint(&notes);
    assert_true(spent[MER_SPENT_EPOCHS] == 5);
    assert_true(mer_is_cancelled(&notes));
    mer_note(NULL, "name", "1");
    mer_epoch(NULL, "train", 1, 2, "{}");
    mer_spend(NULL, MER_SPENT_IMAGES, 1);
    mer_checkpoint(NULL);
    assert_false(mer_is_cancelled(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_only_go_forward),
        cmocka_unit_test(files_get_a_plain_line_every_ten_seconds),
        cmocka_unit_test(terminals_get_one_line_that_replaces_itself),
        cmocka_unit_test(lines_fit_the_width_with_unit_rate_and_time_left),
        cmocka_unit_test(texts_are_shortened_in_the_middle),
        cmocka_unit_test(silent_progress_writes_nothing),
        cmocka_unit_test(notes_reach_their_slots_and_empty_ones_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
