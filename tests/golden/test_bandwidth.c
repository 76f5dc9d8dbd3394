/* The bandwidth simulation against the public MAGMA evaluator, through the plain and the extended loop: five
 * hand cases segment by segment, and full-size ones to the bit, 64 of M3E (tests/shared.h)
 * and 24 of our own (tests/data/own-points.json). */
#include "one_arena.h"
#include "schedule_support.h"

#include <cjson/cJSON.h>

enum { MOST_FILES = 16 };
static cJSON *opened_files[MOST_FILES]; /* kept until the end */

static int tear_down_all(void **state)
{
    for (int i = 0; i < MOST_FILES; i++) {
        cJSON_Delete(opened_files[i]);
    }
    return tear_down(state);
}

static const cJSON *list_in(const char *path, const char *list)
{
    int i = 0;
    while (i < MOST_FILES - 1 && opened_files[i]) {
        i++;
    }
    assert_null(opened_files[i]);
    opened_files[i] = cJSON_Parse(text_of(path, arena));
    assert_non_null(opened_files[i]);
    return cJSON_GetObjectItemCaseSensitive(opened_files[i], list);
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static double number(const cJSON *object, const char *name)
{
    return member(object, name)->valuedouble;
}

static double *matrix(const cJSON *rows)
{
    int     count = cJSON_GetArraySize(rows);
    int     columns = cJSON_GetArraySize(rows->child);
    double *values = MER_ARRAY(arena, double, count *columns);
    int     at = 0;
    for (const cJSON *row = rows->child; row; row = row->next) {
        for (const cJSON *value = row->child; value; value = value->next) {
            values[at++] = value->valuedouble;
        }
    }
    return values;
}

static MerJobsPlan hand_plan(const cJSON *test, const MerSchedule *schedule)
{
    MerJobsPlan plan;
    mer_schedule_new_plan(schedule, arena, &plan);
    int used = 0;
    int unit = 0;
    for (const cJSON *queue = member(test, "queues")->child; queue; queue = queue->next, unit++) {
        for (const cJSON *job = queue->child; job; job = job->next) {
            plan.queue[used++] = job->valueint;
            plan.unit[job->valueint] = unit;
        }
        plan.start[unit + 1] = used;
    }
    return plan;
}

typedef struct Walk {
    const cJSON *segment;
    int          units;
} Walk;

static void check_segment(void *state, const MerBandwidthSegment *found)
{
    Walk *walk = state;
    assert_non_null(walk->segment);
    double sum = 0;
    assert_true(found->t == number(walk->segment, "t"));
    assert_true(found->duration == number(walk->segment, "dt"));
    for (int u = 0; u < walk->units; u++) {
        sum += found->use[u];
        assert_true(sum == cJSON_GetArrayItem(member(walk->segment, "cum_bw"), u)->valuedouble);
        assert_int_equal(found->job[u],
                         cJSON_GetArrayItem(member(walk->segment, "job"), u)->valueint);
    }
    walk->segment = walk->segment->next;
}

static void check_output(const cJSON *test, const MerBandwidthOutput *output, int units,
                         double bandwidth)
{
    double busy = 0;
    double last = 0;
    if (output->cycles != number(test, "makespan")) {
        fail_msg("%.17g, expected %.17g", output->cycles, number(test, "makespan"));
    }
    for (int u = 0; u < units; u++) {
        assert_true(output->finish[u] ==
                    cJSON_GetArrayItem(member(test, "core_finish"), u)->valuedouble);
        busy += output->finish[u];
        last = fmax(last, output->finish[u]);
    }
    double use = 1 - output->waste / (bandwidth * output->cycles);
    assert_true(fabs(use - number(test, "bw_util")) <= 1e-12);
    assert_true(fabs(busy / (units * last) - number(test, "core_util")) <= 1e-12);
}

static void test_hand_cases_agree_segment_by_segment(void **state)
{
    (void)state;
    int          count = 0;
    const cJSON *cases = list_in(TEST_DATA("bandwidth-by-hand.json"), "cases");
    for (const cJSON *test = cases->child; test; test = test->next) {
        int          jobs = cJSON_GetArraySize(member(test, "latency"));
        int          units = cJSON_GetArraySize(member(test, "latency")->child);
        MerSchedule *schedule =
            hand_schedule(jobs, units, number(test, "bw"), matrix(member(test, "latency")),
                          matrix(member(test, "req_bw")), arena);
        MerBandwidthInput    input = hand_input(schedule, arena);
        MerJobsPlan          plan = hand_plan(test, schedule);
        MerBandwidthTimes    times = new_times(jobs, arena);
        MerBandwidthOutput   output;
        Walk                 walk = {member(test, "segments")->child, units};
        MerBandwidthRecorder recorder = {&walk, check_segment};
        assert_true(mer_bandwidth_extended(&input, &plan, arena, &times, &recorder, &output));
        assert_null(walk.segment);
        check_output(test, &output, units, input.bandwidth);
        mer_bandwidth_plain(&input, &plan, NULL, NULL, &output);
        check_output(test, &output, units, input.bandwidth);
        count++;
    }
    assert_int_equal(count, 5);
}

/* Core j mod A and priority ((37 j) mod 101) / 101, jobs in file order. */
static MerJobsPlan golden_plan(const MerSchedule *schedule)
{
    MerJobsPlan plan;
    int        *order = MER_ARRAY(arena, int, schedule->job_count);
    int        *unit = MER_ARRAY(arena, int, schedule->job_count);
    int         used = 0;
    for (int priority = 0; priority < 101; priority++) {
        for (int j = 0; j < schedule->job_count; j++) {
            unit[j] = j % schedule->unit_count;
            if (j * 37 % 101 == priority) {
                order[used++] = j;
            }
        }
    }
    mer_schedule_new_plan(schedule, arena, &plan);
    mer_schedule_make_queues(order, unit, &plan);
    return plan;
}

static const cJSON *full_size_cases(const ReferenceSet *set)
{
    return set->is_public
               ? list_in(reference_path(set, "golden/magma-bwalloc.json", arena), "cases")
               : list_in(set->points, "rows");
}

static void open_case(const ReferenceSet *set, const MerGraph *graph, const cJSON *test,
                      const char *evaluator, OpenedSchedule *opened)
{
    char platform[8];
    snprintf(platform, sizeof platform, "s%c", member(test, "setting")->valuestring[1]);
    open_reference(set, graph, member(test, "task")->valuestring, member(test, "group")->valueint,
                   platform, number(test, "bw"), evaluator, arena, opened);
}

static void test_full_size_cases_agree_in_every_bit(const ReferenceSet *set)
{
    const cJSON *cases = full_size_cases(set);
    MerGraph    *graph = reference_graph(set, arena);
    int          count = 0;
    for (const cJSON *test = cases->child; test; test = test->next) {
        if (member(test, "segments")) {
            continue;
        }
        OpenedSchedule opened;
        open_case(set, graph, test, "bandwidth", &opened);
        const MerBandwidthState *evaluator = mer_bandwidth_state(&opened.evaluator);
        MerJobsPlan              plan = golden_plan(opened.schedule);
        MerBandwidthTimes        times;
        MerBandwidthOutput       output;
        assert_true(evaluator->is_plain);
        mer_bandwidth_plain(&evaluator->input, &plan, NULL, NULL, &output);
        check_output(test, &output, plan.unit_count, number(test, "bw"));
        assert_true(mer_bandwidth_simulate(evaluator, &plan, arena, &times, NULL, &output));
        check_output(test, &output, plan.unit_count, number(test, "bw"));
        double fast = mer_bandwidth_virtual(&evaluator->input, &plan);
        assert_true(fabs(fast / output.cycles - 1) < 1e-12);
        count++;
    }
    assert_int_equal(count, set->is_public ? 64 : 24);
}

/* Water filling on the same queues, in M3E's groups between 0.776 and 1.0000009 of proportional sharing
 * (docs/bandwidth-model.md, "Sharing rules"). */
static void test_maxmin_gives_what_was_measured(const ReferenceSet *set)
{
    const cJSON *cases = full_size_cases(set);
    MerGraph    *graph = reference_graph(set, arena);
    double       logs = 0;
    int          count = 0;
    for (const cJSON *test = cases->child; test; test = test->next) {
        if (member(test, "segments")) {
            continue;
        }
        OpenedSchedule opened;
        open_case(set, graph, test, "bandwidth:share=maxmin", &opened);
        MerJobsPlan golden = golden_plan(opened.schedule);
        MerPlan     plan = {&mer_plan_jobs, &golden};
        double      ratio = price_schedule(&opened, &plan, arena).value[MER_METRIC_CYCLES] /
                       number(test, "makespan");
        if (set->is_public) {
            assert_true(ratio > 0.775 && ratio < 1.000001);
        } else {
            assert_true(fabs(ratio - number(test, "maxmin")) < 1e-12);
        }
        logs += log(ratio);
        count++;
    }
    assert_true(!set->is_public || fabs(exp(logs / count) - 0.979) < 0.003);
}

ON_BOTH_SETS(test_full_size_cases_agree_in_every_bit)
ON_BOTH_SETS(test_maxmin_gives_what_was_measured)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_cases_agree_segment_by_segment),
        BOTH_SETS(test_full_size_cases_agree_in_every_bit),
        BOTH_SETS(test_maxmin_gives_what_was_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down_all);
}
