/* The report reads logs that are whole, half-written, sparse or broken, and writes files that appear
 * whole or not at all. */
#include "support.h"

#include "base/file.h"
#include "report/pages/html.h"
#include "report/pages/run_reader.h"
#include "report/tables/csv.h"
#include "report/tables/table.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define HEADER                                                                                     \
    "{\"type\":\"header\",\"format\":\"mercator-run/1\",\"version\":\"0.1.0\",\"objective\":"      \
    "\"edp\",\"seed\":1,\"budget\":100,\"tasks\":[{\"name\":\"a\"},{\"name\":\"b\"}]}\n"

typedef struct Fixture {
    char         folder[64];
    MerArena    *arena;
    MerReportRun run;
    MerError     error;
} Fixture;

static int set_up(void **state)
{
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = mer_arena_new();
    strcpy(fixture->folder, "report-XXXXXX");
    *state = fixture;
    return mkdtemp(fixture->folder) == NULL;
}

static int tear_down(void **state)
{
    Fixture       *fixture = *state;
    DIR           *folder = opendir(fixture->folder);
    struct dirent *entry;
    char           path[512];
    while ((entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", fixture->folder, entry->d_name);
        remove(path);
    }
    closedir(folder);
    rmdir(fixture->folder);
    mer_arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static const char *in_folder(Fixture *fixture, const char *name)
{
    return mer_arena_format(fixture->arena, "%s/%s", fixture->folder, name);
}

static void write_file(Fixture *fixture, const char *name, const char *text)
{
    write_text(in_folder(fixture, name), text);
}

static char *read_file(Fixture *fixture, const char *name)
{
    char  *data = mer_arena_text(fixture->arena, "");
    size_t size;
    assert_int_equal(
        mer_file_read(in_folder(fixture, name), 1 << 26, fixture->arena, &data, &size, NULL),
        MER_OK);
    return data;
}

static int count_files(Fixture *fixture)
{
    DIR           *folder = opendir(fixture->folder);
    struct dirent *entry;
    int            count = 0;
    while ((entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static MerStatus read_run(Fixture *fixture, const char *log)
{
    write_file(fixture, "run.jsonl", log);
    return mer_report_read(fixture->folder, &fixture->run, fixture->arena, &fixture->error);
}

static const char trials[] =
    HEADER "{\"type\":\"trial\",\"index\":0,\"task\":0,\"point\":[3],\"score\":10,\"cost\":{"
           "\"cycles\":5}}\n"
           "{\"type\":\"trial\",\"index\":1,\"task\":0,\"point\":[1],\"score\":12,\"cost\":{"
           "\"cycles\":6}}\n"
           "{\"type\":\"trial\",\"index\":2,\"task\":0,\"point\":[2],\"score\":null,"
           "\"reason\":\"capacity: RF needs 400 words, has 256\"}\n"
           "{\"type\":\"trial\",\"index\":3,\"task\":0,\"point\":[2],\"score\":null,"
           "\"reason\":\"capacity: RF needs 257 words, has 256\"}\n"
           "{\"type\":\"trial\",\"index\":4,\"task\":0,\"point\":[2],\"score\":null,"
           "\"reason\":\"fan-out: x needs 17 units, has \\\"16\\\"\"}\n"
           "{\"type\":\"trial\",\"index\":5,\"task\":0,\"point\":[2],\"score\":8.5,\"cost\":{"
           "\"energy\":2}}\n"
           "{\"type\":\"trial\",\"index\":6,\"task\":0,\"point\":[2],\"score\":9,\"cost\":{"
           "\"cycles\":7}}\n"
           "{\"type\":\"trial\",\"index\":7,\"task\":1,\"point\":[2],\"score\":4,\"cost\":{"
           "\"cycles\":7}}\n";

static void test_curve_keeps_improvements_and_its_end(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture, trials), MER_OK);
    const MerReportRun *run = &fixture->run;
    assert_int_equal(run->trials, 8);
    assert_int_equal(run->curve_count, 2);
    const MerReportCurve *curve = &run->curves[0];
    assert_int_equal(curve->count, 3);
    assert_int_equal(curve->evaluations[0], 1);
    assert_int_equal(curve->evaluations[1], 6);
    assert_int_equal(curve->evaluations[2], 7);
    assert_true(curve->scores[0] == 10 && curve->scores[1] == 8.5 && curve->scores[2] == 8.5);
    assert_int_equal(run->curves[1].count, 1);
    assert_string_equal(run->name, fixture->folder);
    assert_null(run->summary);
}

static void test_reasons_are_counted_and_nearest_misses_come_first(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture, trials), MER_OK);
    const MerReportRun *run = &fixture->run;
    assert_int_equal(run->infeasible, 3);
    assert_int_equal(run->reason_count, 2);
    assert_string_equal(run->reasons[0].name, "capacity");
    assert_int_equal(run->reasons[0].count, 2);
    assert_int_equal(run->example_count, 3);
    assert_string_equal(run->examples[0].text, "RF needs 257 words, has 256");
    assert_int_equal(run->examples[0].index, 3);
    assert_string_equal(run->examples[2].text, "x needs 17 units, has \"16\"");
}

/* Views have one name: the newest of each id stays. */
static void test_newest_view_of_each_id_is_kept(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture, HEADER
                              "{\"type\":\"note\",\"index\":1,\"task\":0,\"source\":\"s\","
                              "\"name\":\"view\",\"value\":{\"panel\":\"facts\",\"id\":\"a\"}}\n"
                              "{\"type\":\"note\",\"index\":2,\"task\":0,\"source\":\"s\","
                              "\"name\":\"view\",\"value\":{\"panel\":\"facts\",\"id\":\"b\"}}\n"
                              "{\"type\":\"note\",\"index\":3,\"task\":0,\"source\":\"s\","
                              "\"name\":\"view\",\"value\":{\"panel\":\"table\",\"id\":\"a\"}}\n"),
                     MER_OK);
    const MerReportRun *run = &fixture->run;
    assert_int_equal(run->note_count, 2);
    assert_string_equal(run->notes[0].value, "{\"panel\":\"table\",\"id\":\"a\"}");
    assert_string_equal(run->notes[1].value, "{\"panel\":\"facts\",\"id\":\"b\"}");
}

static void test_newest_note_and_every_warning_are_kept(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture,
                              HEADER "{\"type\":\"note\",\"index\":1,\"task\":0,\"source\":\"s\","
                                     "\"name\":\"n\",\"value\":1}\n"
                                     "{\"type\":\"note\",\"index\":2,\"task\":1,\"source\":\"s\","
                                     "\"name\":\"n\",\"value\":2}\n"
                                     "{\"type\":\"note\",\"index\":3,\"task\":0,\"source\":\"s\","
                                     "\"name\":\"n\",\"value\":[3]}\n"
                                     "{\"type\":\"note\",\"index\":3,\"task\":null,\"source\":"
                                     "\"h\",\"name\":\"warning\",\"value\":\"x\"}\n"
                                     "{\"type\":\"note\",\"index\":3,\"task\":null,\"source\":"
                                     "\"h\",\"name\":\"warning\",\"value\":\"y\"}\n"
                                     "{\"type\":\"note\",\"index\":4,\"task\":1,\"source\":\"run\","
                                     "\"name\":\"plan\",\"value\":{\"kind\":\"nest\"}}\n"),
                     MER_OK);
    const MerReportRun *run = &fixture->run;
    assert_int_equal(run->note_count, 4);
    assert_string_equal(run->notes[0].value, "[3]");
    assert_int_equal(run->notes[0].index, 3);
    assert_string_equal(run->notes[1].value, "2");
    assert_int_equal(run->notes[2].task, -1);
    assert_string_equal(run->notes[3].value, "\"y\"");
    assert_int_equal(run->plan_count, 1);
    assert_string_equal(run->plans[0], "{\"kind\":\"nest\",\"task\":1}");
}

static void test_half_written_last_line_is_left_out(void **state)
{
    Fixture *fixture = *state;
    char *log = mer_arena_format(fixture->arena, "%s{\"type\":\"trial\",\"index\":8,\"ta", trials);
    assert_int_equal(read_run(fixture, log), MER_OK);
    assert_true(fixture->run.was_cut);
    assert_int_equal(fixture->run.trials, 8);
}

static void test_unknown_lines_epochs_and_blank_lines_are_passed_over(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture, HEADER "\n{\"type\":\"later\",\"x\":{\"y\":[1,{}]}}\n"
                                              "{\"type\":\"epoch\",\"epoch\":1}\n{}\n"),
                     MER_OK);
    assert_int_equal(fixture->run.trials, 0);
    assert_false(fixture->run.was_cut);
}

static void test_warm_and_cut_trials_do_not_make_the_best(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(
        read_run(fixture,
                 HEADER "{\"type\":\"trial\",\"index\":0,\"task\":0,\"score\":1,\"warm\":true}\n"
                        "{\"type\":\"trial\",\"index\":0,\"task\":0,\"score\":2,\"cut\":true}\n"
                        "{\"type\":\"trial\",\"index\":1,\"task\":0,\"score\":7}\n"),
        MER_OK);
    assert_int_equal(fixture->run.trials, 2);
    assert_int_equal(fixture->run.curves[0].count, 1);
    assert_int_equal(fixture->run.curves[0].evaluations[0], 2);
    assert_true(fixture->run.curves[0].scores[0] == 7);
}

static void test_sparse_log_counts_the_trials_it_leaves_out(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture,
                              HEADER "{\"type\":\"trial\",\"index\":9,\"task\":0,\"score\":5}\n"
                                     "{\"type\":\"trial\",\"index\":120,\"task\":1,\"score\":3}\n"),
                     MER_OK);
    assert_int_equal(fixture->run.curves[0].evaluations[0], 10);
    assert_int_equal(fixture->run.curves[0].evaluations[1], 100); /* its budget */
    assert_int_equal(fixture->run.curves[1].evaluations[0], 21);
}

static void test_trials_before_the_end_of_a_task_are_its_own(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture,
                              HEADER "{\"type\":\"trial\",\"index\":9,\"task\":0,\"score\":5}\n"
                                     "{\"type\":\"end\",\"index\":40,\"task\":0}\n"
                                     "{\"type\":\"trial\",\"index\":40,\"task\":1,\"score\":3}\n"),
                     MER_OK);
    assert_int_equal(fixture->run.curves[0].evaluations[1], 40);
    assert_int_equal(fixture->run.curves[1].evaluations[0], 1);
}

static void test_long_curve_is_thinned_and_memory_stays_small(void **state)
{
    enum { COUNT = 100000 };
    Fixture *fixture = *state;
    FILE    *file = fopen(in_folder(fixture, "run.jsonl"), "w");
    fputs(HEADER, file);
    for (int i = 0; i < COUNT; i++) {
        fprintf(file, "{\"type\":\"trial\",\"index\":%d,\"task\":0,\"point\":[1,2],\"score\":%d}\n",
                i, COUNT - i);
    }
    fclose(file);
    size_t before = mer_arena_bytes(fixture->arena);
    assert_int_equal(mer_report_read(fixture->folder, &fixture->run, fixture->arena, NULL), MER_OK);
    const MerReportCurve *curve = &fixture->run.curves[0];
    assert_in_range(curve->count, MER_REPORT_POINTS / 2, MER_REPORT_POINTS + 1);
    assert_int_equal(curve->evaluations[0], 1);
    assert_int_equal(curve->evaluations[curve->count - 1], COUNT);
    assert_true(curve->scores[curve->count - 1] == 1);
    for (int i = 1; i < curve->count; i++) {
        assert_true(curve->evaluations[i] > curve->evaluations[i - 1]);
        assert_true(curve->scores[i] < curve->scores[i - 1]);
    }
    assert_true(mer_arena_bytes(fixture->arena) - before < 100000);
}

static void test_summary_file_wins_over_the_summary_line(void **state)
{
    Fixture *fixture = *state;
    write_file(fixture, "summary.json", "{\"wall_s\": 0.5}");
    write_file(fixture, "clock.jsonl", "{\"threads\":2}\n{\"trials\":1}\n{\"trials\":2}\n{\"tri");
    assert_int_equal(read_run(fixture, HEADER "{\"type\":\"summary\",\"trials\":0}\n"), MER_OK);
    assert_string_equal(fixture->run.summary, "{\"wall_s\":0.5}");
    assert_string_equal(fixture->run.clock, "{\"start\":{\"threads\":2},\"last\":{\"trials\":2}}");
    remove(in_folder(fixture, "summary.json"));
    assert_int_equal(read_run(fixture, HEADER "{\"type\":\"summary\",\"trials\":0}\n"), MER_OK);
    mer_test_contains(fixture->run.summary, "\"trials\":0");
}

static void expect_refusal(Fixture *fixture, const char *log, MerStatus status, const char *message)
{
    assert_int_equal(read_run(fixture, log), status);
    mer_test_contains(fixture->error.message, message);
}

static void test_broken_logs_are_refused_with_file_and_line(void **state)
{
    Fixture *fixture = *state;
    expect_refusal(fixture, "", MER_INVALID, "run.jsonl: the log is empty");
    expect_refusal(fixture, "{\"type\":\"trial\"}\n", MER_INVALID, "run.jsonl:1: found");
    expect_refusal(fixture, HEADER "not json\n" HEADER, MER_INVALID, "run.jsonl:2: found not json");
    expect_refusal(fixture, HEADER "{\"type\":\"trial\",\"index\":0,\"task\":[}\n", MER_INVALID,
                   "run.jsonl:2: found");
    expect_refusal(fixture, HEADER "{\"type\":\"trial\",\"index\":0,\"task\":-3,\"score\":1}\n",
                   MER_INVALID, "run.jsonl:2: a trial without a valid index and task");
    expect_refusal(fixture, HEADER "{\"type\":\"trial\",\"index\":0,\"task\":1e12,\"score\":1}\n",
                   MER_INVALID, "run.jsonl:2: a trial");
    expect_refusal(fixture, HEADER "{\"type\":\"note\",\"value\":[1 2]}\n", MER_INVALID,
                   "run.jsonl:2: the note line is not valid JSON");
    expect_refusal(fixture, "{\"type\":\"header\",\"format\":\"mercator-run/7\"}\n",
                   MER_UNSUPPORTED,
                   "run.jsonl:1: format is mercator-run/7, this program knows up to 2");
    expect_refusal(fixture, "{\"type\":\"header\",\"format\":\"x\"}\n", MER_INVALID, "format is x");
    write_file(fixture, "summary.json", "{\"a\":");
    expect_refusal(fixture, HEADER, MER_INVALID, "summary.json: not valid JSON");
}

static void test_deep_nesting_is_refused(void **state)
{
    enum { DEPTH = 10000 };
    Fixture *fixture = *state;
    char     deep[DEPTH + 1];
    memset(deep, '[', DEPTH);
    deep[DEPTH] = '\0';
    char *log =
        mer_arena_format(fixture->arena, "%s{\"type\":\"note\",\"value\":%s\n", HEADER, deep);
    expect_refusal(fixture, log, MER_INVALID, "run.jsonl:2:");
}

static void test_missing_directory_is_named(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(mer_report_read("no-such-run", &fixture->run, fixture->arena, &fixture->error),
                     MER_NOT_FOUND);
    mer_test_contains(fixture->error.message, "no-such-run/run.jsonl: No such file");
}

static void test_log_file_may_be_given_instead_of_its_directory(void **state)
{
    Fixture *fixture = *state;
    write_file(fixture, "run.jsonl", trials);
    assert_int_equal(
        mer_report_read(in_folder(fixture, "run.jsonl"), &fixture->run, fixture->arena, NULL),
        MER_OK);
    assert_int_equal(fixture->run.trials, 8);
}

static void test_page_holds_data_that_cannot_end_its_element(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(
        read_run(fixture,
                 HEADER "{\"type\":\"note\",\"index\":0,\"task\":0,\"source\":\"s\",\"name\":\"n\","
                        "\"value\":\"</script><script>alert(1)\"}\n"),
        MER_OK);
    assert_int_equal(mer_report_html(&fixture->run, 1, "a < b", in_folder(fixture, "report.html"),
                                     &fixture->error),
                     MER_OK);
    char *page = read_file(fixture, "report.html");
    char *data = strstr(page, "id=\"mercator-data\">");
    assert_non_null(data);
    assert_null(strstr(page, "__MERCATOR_DATA__"));
    assert_null(strstr(page, "<script>alert"));
    data += strlen("id=\"mercator-data\">");
    assert_memory_equal(data, "{\"format\":\"mercator-report/1\",\"title\":\"a \\u003c b\"", 48);
    *strstr(data, "</script>") = '\0';
    mer_test_contains(data, "\"value\":\"\\u003c/script>\\u003cscript>alert(1)\"");
    mer_test_contains(data, "\"edp\":{\"unit\":\"pJ.cycle\",\"direction\":-1");
    assert_int_equal(data[strlen(data) - 1], '}');
    assert_int_equal(count_files(fixture), 2);
}

static void test_page_of_several_runs_keeps_notes_apart(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(
        read_run(fixture,
                 "{\"type\":\"header\",\"format\":\"mercator-run/1\",\"tasks\":[{\"name\":"
                 "\"a\",\"knob_names\":[\"tile\"]}]}\n"
                 "{\"type\":\"note\",\"index\":0,\"task\":0,\"source\":\"s\",\"name\":\"n\","
                 "\"value\":\"</script>\"}\n"),
        MER_OK);
    MerReportRun runs[] = {fixture->run, fixture->run};
    assert_int_equal(
        mer_report_html(runs, 2, NULL, in_folder(fixture, "report.html"), &fixture->error), MER_OK);
    char *page = read_file(fixture, "report.html");
    char *data = strstr(page, "id=\"mercator-data\">");
    char *second = strstr(page, "<script type=\"application/json\" id=\"mercator-run-1\">");
    assert_non_null(data);
    assert_non_null(second);
    mer_test_contains(second, "\"notes\":[{\"index\":0,\"task\":0,\"source\":\"s\",\"name\":\"n\","
                              "\"value\":\"\\u003c/script>\"}],\"plans\":[]}</script>");
    *strstr(data, "</script>") = '\0';
    mer_test_contains(data, "\"details\":1,\"has_plans\":false}");
    assert_null(strstr(data, "\"notes\""));
    assert_null(strstr(data, "knob_names")); /* long, and not shown */
}

#define COSTLY(index, task, cost)                                                                  \
    "{\"type\":\"trial\",\"index\":" index ",\"task\":" task ",\"score\":1,\"cost\":" cost "}\n"

static void test_costs_of_trials_are_kept_where_there_is_a_front(void **state)
{
    Fixture *fixture = *state;
    write_file(fixture, "summary.json", "{\"front\":[{\"index\":0,\"cycles\":1}]}");
    assert_int_equal(read_run(fixture, HEADER COSTLY("0", "0", "{\"cycles\":1}")
                                           COSTLY("1", "0", "{\"cycles\" 2}") /* broken */
                              COSTLY("2", "0", "{\"cycles\":3}")),
                     MER_OK);
    assert_int_equal(fixture->run.cost_count, 2);
    assert_string_equal(fixture->run.costs[1], "{\"cycles\":3}");
    /* of several tasks they would not be comparable */
    assert_int_equal(read_run(fixture, HEADER COSTLY("0", "0", "{\"cycles\":1}")
                                           COSTLY("1", "1", "{\"cycles\":2}")),
                     MER_OK);
    assert_int_equal(fixture->run.cost_count, 0);
    write_file(fixture, "summary.json", "{\"front\":[]}");
    assert_int_equal(read_run(fixture, HEADER COSTLY("0", "0", "{\"cycles\":1}")
                                           COSTLY("1", "0", "{\"cycles\":2}")),
                     MER_OK);
    assert_int_equal(fixture->run.cost_count, 0);
}

static void test_costs_are_kept_of_a_task_that_occurs_more_than_once(void **state)
{
    Fixture    *fixture = *state;
    const char *log = HEADER COSTLY("0", "0", "{\"cycles\":1}") COSTLY("1", "0", "{\"cycles\":2}");
    write_file(fixture, "summary.json",
               "{\"front\":[],\"tasks\":[{\"count\":4,\"front\":[{\"index\":0,\"cycles\":1}]}]}");
    assert_int_equal(read_run(fixture, log), MER_OK);
    assert_int_equal(fixture->run.cost_count, 2);
    /* of the first of two tasks, the other one not begun, the page draws the front alone */
    write_file(
        fixture, "summary.json",
        "{\"front\":[],\"tasks\":[{\"front\":[{\"index\":0,\"cycles\":1}]},{\"front\":[]}]}");
    assert_int_equal(read_run(fixture, log), MER_OK);
    assert_int_equal(fixture->run.cost_count, 0);
}

static void test_of_many_costs_some_are_kept_at_even_distances(void **state)
{
    Fixture *fixture = *state;
    enum { TRIALS = 1000 };
    static char log[64 + 100 * TRIALS];
    size_t      used = (size_t)snprintf(log, sizeof log, "%s", HEADER);
    for (int i = 0; i < TRIALS; i++) {
        used += (size_t)snprintf(log + used, sizeof log - used,
                                 COSTLY("%d", "0", "{\"cycles\":%d}"), i, i);
    }
    write_file(fixture, "summary.json", "{\"front\":[{\"index\":0,\"cycles\":0}]}");
    assert_int_equal(read_run(fixture, log), MER_OK);
    assert_int_equal(fixture->run.cost_count, TRIALS / 4);
    assert_string_equal(fixture->run.costs[0], "{\"cycles\":0}");
    assert_string_equal(fixture->run.costs[TRIALS / 4 - 1], "{\"cycles\":996}");
}

static void test_page_for_a_missing_folder_is_refused(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(read_run(fixture, trials), MER_OK);
    assert_int_equal(mer_report_html(&fixture->run, 1, NULL, in_folder(fixture, "none/report.html"),
                                     &fixture->error),
                     MER_IO);
    mer_test_contains(fixture->error.message, "none/report.html: No such file or directory");
}

static void test_full_disk_keeps_the_old_page_and_leaves_nothing(void **state)
{
    Fixture      *fixture = *state;
    struct rlimit old, small;
    assert_int_equal(read_run(fixture, trials), MER_OK);
    write_file(fixture, "report.html", "old mercator-data");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    MerStatus page =
        mer_report_html(&fixture->run, 1, NULL, in_folder(fixture, "report.html"), &fixture->error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(page, MER_IO);
    mer_test_contains(fixture->error.message, "report.html: ");
    assert_string_equal(read_file(fixture, "report.html"), "old mercator-data");
    assert_int_equal(count_files(fixture), 2);
}

static void test_csv_has_every_metric_and_quotes_reasons(void **state)
{
    Fixture *fixture = *state;
    write_file(fixture, "run.jsonl", trials);
    assert_int_equal(mer_report_csv((const char *[]){fixture->folder}, 1,
                                    in_folder(fixture, "trials.csv"), fixture->arena,
                                    &fixture->error),
                     MER_OK);
    assert_string_equal(read_file(fixture, "trials.csv"),
                        "index,task,score,feasible,reason,cycles [cycle],energy [pJ]\n"
                        "0,0,10,1,,5,\n1,0,12,1,,6,\n"
                        "2,0,,0,\"capacity: RF needs 400 words, has 256\",,\n"
                        "3,0,,0,\"capacity: RF needs 257 words, has 256\",,\n"
                        "4,0,,0,\"fan-out: x needs 17 units, has \"\"16\"\"\",,\n"
                        "5,0,8.5,1,,,2\n6,0,9,1,,7,\n7,1,4,1,,7,\n");
}

static void test_csv_of_a_broken_log_writes_nothing(void **state)
{
    Fixture *fixture = *state;
    write_file(fixture, "run.jsonl", HEADER "broken\n");
    assert_int_equal(mer_report_csv((const char *[]){fixture->folder}, 1,
                                    in_folder(fixture, "trials.csv"), fixture->arena,
                                    &fixture->error),
                     MER_INVALID);
    mer_test_contains(fixture->error.message, "run.jsonl:2:");
    assert_int_equal(count_files(fixture), 1);
}

static void expect_number(double value, const char *unit, const char *wanted)
{
    char buffer[48];
    assert_int_equal(mer_print_engineering(buffer, value, unit), strlen(wanted));
    assert_string_equal(buffer, wanted);
}

static void test_numbers_get_four_digits_and_a_prefix(void **state)
{
    (void)state;
    expect_number(7.0618e8, "pJ", "706.2 uJ");
    expect_number(3.189e14, "pJ.cycle", "318.9 J.cycle");
    expect_number(451584, "cycle", "451.6 kcycle");
    expect_number(999.96, "cycle", "1.000 kcycle");
    expect_number(16, "cycle", "16 cycle");
    expect_number(0, "pJ", "0 J");
    expect_number(0.00123, "s", "1.230 ms");
    expect_number(0.9731, "1", "0.973");
    expect_number(1.23456e-9, "", "1.235e-09");
    expect_number(-0.00123, "1", "-0.00123");
    expect_number(0.25, "mW", "250.0 uW");
    expect_number(-2.5e3, "", "-2.500 k");
    expect_number(NAN, "pJ", "-");
    expect_number(1e300, "op/s", "1e+276 Yop/s");
}

static void test_table_aligns_columns_by_characters(void **state)
{
    Fixture      *fixture = *state;
    const char   *titles[] = {"layer", ">cycles", "note"};
    MerTextTable *table = mer_text_table_new(fixture->arena, 3, titles);
    mer_text_table_add(table, "größe");
    mer_text_table_add_int(table, 1234567);
    mer_text_table_add(table, "x");
    mer_text_table_add(table, "b");
    mer_text_table_add_int(table, -12);
    mer_text_table_add(table, NULL);
    mer_text_table_add(table, NULL);
    mer_text_table_add_percent(table, 0.0703);
    FILE *file = fopen(in_folder(fixture, "table.txt"), "w");
    mer_text_table_print(table, file);
    fclose(file);
    assert_string_equal(read_file(fixture, "table.txt"), "layer     cycles  note\n"
                                                         "größe  1,234,567  x\n"
                                                         "b            -12\n"
                                                         "          7.03 %\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_curve_keeps_improvements_and_its_end),
        TEST(test_reasons_are_counted_and_nearest_misses_come_first),
        TEST(test_newest_view_of_each_id_is_kept),
        TEST(test_newest_note_and_every_warning_are_kept),
        TEST(test_half_written_last_line_is_left_out),
        TEST(test_unknown_lines_epochs_and_blank_lines_are_passed_over),
        TEST(test_warm_and_cut_trials_do_not_make_the_best),
        TEST(test_sparse_log_counts_the_trials_it_leaves_out),
        TEST(test_trials_before_the_end_of_a_task_are_its_own),
        TEST(test_long_curve_is_thinned_and_memory_stays_small),
        TEST(test_summary_file_wins_over_the_summary_line),
        TEST(test_broken_logs_are_refused_with_file_and_line),
        TEST(test_deep_nesting_is_refused),
        TEST(test_missing_directory_is_named),
        TEST(test_log_file_may_be_given_instead_of_its_directory),
        TEST(test_page_holds_data_that_cannot_end_its_element),
        TEST(test_page_of_several_runs_keeps_notes_apart),
        TEST(test_costs_of_trials_are_kept_where_there_is_a_front),
        TEST(test_costs_are_kept_of_a_task_that_occurs_more_than_once),
        TEST(test_of_many_costs_some_are_kept_at_even_distances),
        TEST(test_page_for_a_missing_folder_is_refused),
        TEST(test_full_disk_keeps_the_old_page_and_leaves_nothing),
        TEST(test_csv_has_every_metric_and_quotes_reasons),
        TEST(test_csv_of_a_broken_log_writes_nothing),
        TEST(test_numbers_get_four_digits_and_a_prefix),
        TEST(test_table_aligns_columns_by_characters),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
