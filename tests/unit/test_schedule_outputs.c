/* The files of a schedule agree with each other and with the metrics: times, sums of traffic and energy, shares
 * of cores and bandwidth, work per second. */
#include "one_arena.h"
#include "schedule_support.h"

#include <cjson/cJSON.h>

enum { MAX_ROWS = 4000, COLUMNS = 17 };
enum {
    JOB,
    MODEL,
    LAYER,
    TENANT,
    CORE,
    POSITION,
    START,
    END,
    NO_STALL,
    STALL,
    TRAFFIC,
    ENERGY,
    RELEASE,
    DEADLINE,
    LATENESS,
    GROUP,
    REQUEST
};

typedef struct Csv {
    int count;
    char *(*rows)[COLUMNS];
} Csv;

static Csv read_csv(char *text)
{
    Csv               csv = {0, mer_arena_alloc_array(arena, MAX_ROWS, sizeof *csv.rows)};
    static const char head[] =
        "job,model,layer,tenant,core,position,start_cycle,end_cycle,no_stall_cycles,"
        "stall_cycles,traffic_bytes,energy_nj,release_cycle,deadline_cycle,"
        "lateness_cycles,group,request\n";
    assert_int_equal(strncmp(text, head, sizeof head - 1), 0);
    for (char *line = strchr(text, '\n') + 1; *line; csv.count++) {
        char *end = strchr(line, '\n');
        *end = '\0';
        assert_true(csv.count < MAX_ROWS);
        for (int c = 0; c < COLUMNS; c++) {
            bool  is_quoted = *line == '"';
            char *close = is_quoted ? strstr(++line, c + 1 < COLUMNS ? "\"," : "\"")
                                    : line + strcspn(line, ",");
            assert_non_null(close);
            csv.rows[csv.count][c] = line;
            line = close + (is_quoted ? 2 : 1);
            *close = '\0';
        }
        line = end + 1;
    }
    return csv;
}

static double at(const Csv *csv, int row, int column)
{
    const char *text = csv->rows[row][column];
    return *text ? atof(text) : NAN;
}

static void assert_near(double value, double expected, const char *what)
{
    if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected)))) {
        fail_msg("%s is %.17g, expected %.17g", what, value, expected);
    }
}

static MerRunSpec spec_of(const char *workload, const char *problem, const char *evaluator)
{
    MerRunSpec spec =
        spec_from(problem, evaluator, "lpt", graph_named(workload, arena), "s2", arena);
    spec.objective = "cycles";
    spec.budget = 10;
    spec.directory = new_folder(arena);
    return spec;
}

/* The view `id` of task `task` in the log. */
static cJSON *view_of(const char *folder, const char *id, int task)
{
    char *text = file_text(folder, "run.jsonl", arena);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON      *json = cJSON_Parse(line);
        const char *found =
            cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "value"), "id"));
        if (found && strcmp(found, id) == 0 &&
            cJSON_GetObjectItem(json, "task")->valueint == task) {
            cJSON *value = cJSON_DetachItemFromObject(json, "value");
            cJSON_Delete(json);
            return value;
        }
        cJSON_Delete(json);
    }
    fail_msg("there is no view %s", id);
    return NULL;
}

static double real(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

/* Rows of one group: sums, order on each core, ends. */
static void check_rows(const Csv *csv, const MerTaskResult *task, int units, int jobs)
{
    double traffic = 0, energy = 0, end = 0, busy = 0, core_end = 0;
    int    count = 0;
    for (int r = 0; r < csv->count; r++) {
        if (strcmp(csv->rows[r][GROUP], task->task.name) != 0) {
            continue;
        }
        bool is_next = at(csv, r, POSITION) > 0;
        busy += at(csv, r, END) - at(csv, r, START);
        core_end = is_next ? core_end : 0;
        assert_true(at(csv, r, START) >= core_end * (1 - 1e-12));
        core_end = at(csv, r, END);
        assert_near(at(csv, r, END) - at(csv, r, START) - at(csv, r, NO_STALL), at(csv, r, STALL),
                    "stall");
        if (csv->rows[r][DEADLINE][0]) {
            assert_near(at(csv, r, LATENESS), at(csv, r, END) - at(csv, r, DEADLINE), "lateness");
        }
        assert_true(at(csv, r, START) >= at(csv, r, RELEASE));
        assert_true(csv->rows[r][LAYER][0] && csv->rows[r][TENANT][0]);
        traffic += at(csv, r, TRAFFIC);
        energy += at(csv, r, ENERGY) * 1000;
        end = fmax(end, core_end);
        count++;
    }
    const double *value = task->best.value;
    assert_int_equal(count, jobs);
    assert_near(end, value[MER_METRIC_CYCLES], "end of the last job");
    assert_near(traffic, value[MER_METRIC_TRAFFIC_BYTES], "traffic of all jobs");
    assert_near(busy / (units * end), value[MER_METRIC_UTILISATION], "utilisation");
    assert_near(energy, value[MER_METRIC_ENERGY], "energy of all jobs");
}

/* The bandwidth stack holds the traffic, never above the limit, and makes the share that is reported. */
static void check_stack(const char *folder, const MerTaskResult *task, int number, int units)
{
    cJSON       *timeline = view_of(folder, "timeline", number);
    const cJSON *bandwidth = cJSON_GetArrayItem(cJSON_GetObjectItem(timeline, "below"), 0);
    const cJSON *segment;
    double       limit = real(bandwidth, "limit");
    double       moved = 0, last = 0;
    cJSON_ArrayForEach(segment, cJSON_GetObjectItem(bandwidth, "segments"))
    {
        double start = cJSON_GetArrayItem(segment, 0)->valuedouble;
        double end = cJSON_GetArrayItem(segment, 1)->valuedouble;
        double use = 0;
        assert_int_equal(cJSON_GetArraySize(segment), units + 2);
        for (int u = 0; u < units; u++) {
            use += cJSON_GetArrayItem(segment, u + 2)->valuedouble;
        }
        assert_near(start, last, "start of a segment");
        assert_true(use <= limit * (1 + 1e-12));
        moved += use * (end - start);
        last = end;
    }
    const double *value = task->best.value;
    assert_near(last, value[MER_METRIC_CYCLES], "end of the stack");
    assert_near(moved, value[MER_METRIC_TRAFFIC_BYTES], "bytes under the stack");
    assert_near(moved / (limit * last), value[MER_METRIC_BANDWIDTH_USE], "share of the bandwidth");
    cJSON_Delete(timeline);
}

static double fact_of(const cJSON *view, const char *name)
{
    const cJSON *fact;
    cJSON_ArrayForEach(fact, cJSON_GetObjectItem(view, "facts"))
    {
        if (strcmp(cJSON_GetObjectItem(fact, "name")->valuestring, name) == 0) {
            return real(fact, "value");
        }
    }
    fail_msg("there is no fact %s", name);
    return NAN;
}

static void check_use(const char *folder, const MerTaskResult *task, int number)
{
    cJSON        *use = view_of(folder, "cores", number);
    const cJSON  *row, *share;
    const double *value = task->best.value;
    assert_near(fact_of(use, "throughput"), value[MER_METRIC_THROUGHPUT], "throughput");
    assert_near(fact_of(use, "throughput"),
                2 * task->task.macs / value[MER_METRIC_CYCLES] * fact_of(use, "clock"),
                "throughput");
    assert_near(fact_of(use, "bandwidth per second"),
                fact_of(use, "bandwidth") * fact_of(use, "clock"), "bandwidth");
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(use, "rows"))
    {
        double sum = 0;
        cJSON_ArrayForEach(share, cJSON_GetObjectItem(row, "values"))
        {
            sum += share->valuedouble;
        }
        assert_near(sum, 1, "shares");
    }
    cJSON_Delete(use);
}

/* Jobs of the trace are those of the table, in microseconds; its counter ends at 0. */
static void check_trace(const char *folder, const Csv *csv, double switch_cycles)
{
    cJSON       *trace = cJSON_Parse(file_text(folder, "trace.json", arena));
    const cJSON *events = cJSON_GetObjectItem(trace, "traceEvents");
    const cJSON *event;
    int          row = 0, switches = 0, later = 0;
    double       last_use = -1;
    cJSON_ArrayForEach(event, events)
    {
        const char *phase = cJSON_GetObjectItem(event, "ph")->valuestring;
        const char *name = cJSON_GetObjectItem(event, "name")->valuestring;
        if (strcmp(phase, "C") == 0) {
            const cJSON *value;
            last_use = 0;
            cJSON_ArrayForEach(value, cJSON_GetObjectItem(event, "args"))
            {
                last_use += value->valuedouble;
            }
        }
        if (strcmp(phase, "X") != 0) {
            continue;
        }
        double start = real(event, "ts") * 1000, length = real(event, "dur") * 1000; /* 1 GHz */
        if (strcmp(name, "switch") == 0) {
            assert_near(start + length, at(csv, row, START), "end of a switch");
            switches++;
        } else if (strcmp(name, "stall") == 0) {
            assert_near(length, at(csv, row - 1, STALL), "stall");
            assert_near(start + length, at(csv, row - 1, END), "end of a stall");
        } else {
            const cJSON *args = cJSON_GetObjectItem(event, "args");
            assert_string_equal(name, csv->rows[row][JOB]);
            assert_string_equal(cJSON_GetObjectItem(args, "layer")->valuestring,
                                csv->rows[row][LAYER]);
            assert_near(start, at(csv, row, START), "ts");
            assert_near(start + length, at(csv, row, END), "ts + dur");
            assert_near(real(args, "traffic_bytes"), at(csv, row, TRAFFIC), "traffic");
            later += at(csv, row, POSITION) > 0;
            row++;
        }
    }
    assert_int_equal(row, csv->count);
    assert_int_equal(switches, switch_cycles > 0 ? later : 0);
    assert_true(last_use == 0);
    cJSON_Delete(trace);
}

static void check_outputs(const char *workload, const char *problem, const char *evaluator,
                          double switch_cycles, int groups)
{
    MerRunSpec   spec = spec_of(workload, problem, evaluator);
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    int          units = spec.platform->unit_count;
    assert_int_equal(result.task_count, groups);
    Csv csv = read_csv(file_text(spec.directory, "schedule.csv", arena));
    for (int t = 0; t < groups; t++) {
        check_rows(&csv, &result.tasks[t], units, mer_jobs_plan(&result.tasks[t].plan)->job_count);
        check_stack(spec.directory, &result.tasks[t], t, units);
        check_use(spec.directory, &result.tasks[t], t);
    }
    check_trace(spec.directory, &csv, switch_cycles);
    static const char *const files[] = {"schedule.yaml", "jobtable.json", "platform.yaml",
                                        "summary.json", "run.jsonl"};
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        assert_true(strlen(file_text(spec.directory, files[f], arena)) > 0);
    }
    remove_folder(spec.directory);
}

static void test_plain_schedules_add_up(void **state)
{
    (void)state;
    check_outputs("synthetic:40:1", "schedule:bandwidth=4", "bandwidth", 0, 1);
    check_outputs("synthetic:40:1", "schedule:bandwidth=4", "bandwidth:share=maxmin", 0, 1);
}

static void test_several_groups_add_up_each(void **state)
{
    (void)state;
    check_outputs("synthetic:50:2", "schedule:bandwidth=8,group_size=20", "bandwidth", 0, 3);
}

static void test_switches_reuse_and_forwarding_add_up(void **state)
{
    (void)state;
    check_outputs("synthetic:40:1", "schedule:bandwidth=4", "bandwidth:switch_cycles=100", 100, 1);
    check_outputs("resnet18", "schedule:bandwidth=4,batch_size=2",
                  "bandwidth:weight_reuse=same_layer,forward=same_core", 0, 1);
}

enum { REQUESTS = 60 };
typedef struct Request {
    char name[40];
    bool is_missed;
} Request;

/* Adds the requests of the items to the list, each once. */
static int mark_requests(const cJSON *items, Request *requests, int count)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, items)
    {
        const cJSON *deadline = cJSON_GetObjectItem(item, "deadline");
        const cJSON *end = cJSON_GetObjectItem(item, "end");
        const char  *set = cJSON_GetStringValue(cJSON_GetObjectItem(item, "set"));
        int          at = 0;
        assert_true((set != NULL) == (deadline != NULL));
        if (!deadline) {
            continue;
        }
        while (at < count && strcmp(requests[at].name, set) != 0) {
            at++;
        }
        assert_true(at < REQUESTS);
        count = at == count ? count + 1 : count;
        snprintf(requests[at].name, sizeof requests[at].name, "%s", set);
        requests[at].is_missed =
            requests[at].is_missed || !end || end->valuedouble > deadline->valuedouble;
    }
    return count;
}

/* Two models whose deadlines fall together, and a single job: the chart tells their requests apart. */
static void test_requests_of_the_chart_are_those_of_the_miss_rate(void **state)
{
    (void)state;
    write_text("requests.yaml",
               "format: mercator-jobs/1\n"
               "models:\n"
               "  - {name: eyes, file: mobilenet_v2, fps: 600, deadline: period}\n"
               "  - {name: gaze, file: alexnet, fps: 600, deadline: period}\n"
               "jobs:\n"
               "  - {name: once, op: fc, dims: [64, 64], deadline_cycles: 50000000}\n"
               "horizon_ms: 10\n");
    Request            requests[REQUESTS] = {0};
    MerRunSpec         spec = spec_of("requests.yaml", "schedule", "bandwidth:late=drop");
    const MerRunResult result = run_or_fail(&spec, NULL, arena);
    cJSON             *timeline = view_of(spec.directory, "timeline", 0);
    const cJSON       *lane;
    int                all = 0, missed = 0;
    cJSON_ArrayForEach(lane, cJSON_GetObjectItem(timeline, "lanes"))
    {
        all = mark_requests(cJSON_GetObjectItem(lane, "items"), requests, all);
    }
    all = mark_requests(cJSON_GetObjectItem(timeline, "dropped"), requests, all);
    for (int i = 0; i < all; i++) {
        missed += requests[i].is_missed;
    }
    assert_int_equal(all, 13); /* six of each model, and the single job */
    assert_true(missed > 0 && missed < all);
    assert_near((double)missed / all, result.total.best.value[MER_METRIC_MISS_RATE], "miss rate");
    cJSON_Delete(timeline);
    remove_folder(spec.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_schedules_add_up),
        cmocka_unit_test(test_several_groups_add_up_each),
        cmocka_unit_test(test_switches_reuse_and_forwarding_add_up),
        cmocka_unit_test(test_requests_of_the_chart_are_those_of_the_miss_rate),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
