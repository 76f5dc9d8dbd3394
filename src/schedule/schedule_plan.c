/* Plans of jobs as people read them and as `schedule.yaml` keeps them: a queue of job names per core. */
#include "schedule/schedule_parts.h"

#include "mercator/text.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobsPlan *jobs = mer_jobs_plan(plan);
    mer_json_object(json, "queues");
    for (int u = 0; u < jobs->unit_count; u++) {
        mer_json_array(json, schedule->unit_names[u]);
        for (int i = jobs->start[u]; i < jobs->start[u + 1]; i++) {
            mer_json_text(json, NULL, schedule->job_names[jobs->queue[i]]);
        }
        mer_json_end_array(json);
    }
    mer_json_end_object(json);
}

static int find_job(const MerSchedule *schedule, const char *name)
{
    for (int j = 0; j < schedule->job_count; j++) {
        if (strcmp(schedule->job_names[j], name) == 0) {
            return j;
        }
    }
    return -1;
}

static MerStatus read_queue(const MerSchedule *schedule, const MerYaml *list, int *queue, int *used,
                            bool *is_placed, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        const char *name;
        MER_TRY(mer_yaml_text(list->items[i], &name, error));
        int job = find_job(schedule, name);
        if (job < 0 || is_placed[job]) {
            return mer_yaml_expected(list->items[i], error,
                                     job < 0 ? "a job of the group" : "every job once");
        }
        is_placed[job] = true;
        queue[(*used)++] = job;
    }
    return MER_OK;
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    MerJobsPlan       *jobs = MER_NEW(arena, MerJobsPlan);
    MerYaml           *queues;
    bool              *is_placed = MER_ARRAY(arena, bool, schedule->job_count + 1);
    int                used = 0;
    *plan = (MerPlan){&mer_plan_jobs, jobs};
    mer_schedule_new_plan(schedule, arena, jobs);
    MER_TRY(mer_yaml_need(body, "queues", &queues, error));
    MER_TRY(mer_yaml_check_kind(queues, MER_YAML_MAP, error));
    for (int u = 0; u < schedule->unit_count; u++) {
        const MerYaml *list = mer_yaml_get(queues, schedule->unit_names[u]);
        jobs->start[u] = used;
        if (list) {
            MER_TRY(read_queue(schedule, list, jobs->queue, &used, is_placed, error));
        }
        for (int i = jobs->start[u]; i < used; i++) {
            jobs->unit[jobs->queue[i]] = u;
        }
    }
    jobs->start[schedule->unit_count] = used;
    MER_TRY(mer_yaml_finish(queues, error)); /* cores that are not there */
    if (used < schedule->job_count) {
        int missing = 0;
        while (is_placed[missing]) {
            missing++;
        }
        return mer_yaml_error(queues, error,
                              "queues have %d of %d jobs, expected all of them; %s is missing",
                              used, schedule->job_count, schedule->job_names[missing]);
    }
    return MER_OK;
}

int mer_schedule_longest_job(const MerSchedule *schedule, double *cycles)
{
    int longest = 0;
    *cycles = -1;
    for (int j = 0; j < schedule->job_count; j++) {
        double best = INFINITY;
        for (int u = 0; u < schedule->unit_count; u++) {
            int at = j * schedule->unit_count + u;
            best = fmin(best,
                        fmax(schedule->latency[at], schedule->traffic[at] / schedule->bandwidth));
        }
        longest = best > *cycles ? j : longest;
        *cycles = fmax(*cycles, best);
    }
    return longest;
}

/* Where the numbers come from, the job that no schedule shortens, and the queues. */
static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobTable *table = mer_schedule_table(problem);
    const MerJobsPlan *jobs = mer_jobs_plan(plan);
    double             cycles;
    int                longest = mer_schedule_longest_job(schedule, &cycles);
    const char        *clock = "";
    if (!isnan(schedule->clock_hz)) {
        clock = mer_arena_format(arena, " (%g GB/s at %g MHz)",
                                 schedule->bandwidth * schedule->clock_hz * 1e-9,
                                 schedule->clock_hz * 1e-6);
    }
    const char *text =
        mer_arena_format(arena,
                         "%g bytes/cycle shared by %d cores%s\ntable %s (%016" PRIx64
                         "), longest job %s: %.6g cycles at best\n",
                         schedule->bandwidth, schedule->unit_count, clock, table->source,
                         table->hash, schedule->job_names[longest], cycles);
    /* a queue whose jobs wait for others says nothing of when they run */
    bool has_order = schedule->before_start && schedule->before_start[schedule->job_count] > 0;
    for (int u = 0; u < jobs->unit_count; u++) {
        int length = jobs->start[u + 1] - jobs->start[u];
        text = mer_arena_format(arena, "%s%-8s %4d jobs%s", text, schedule->unit_names[u], length,
                                has_order ? "" : ":");
        for (int i = 0; i < length && i < 8 && !has_order; i++) {
            text = mer_arena_format(arena, "%s %s", text,
                                    schedule->job_names[jobs->queue[jobs->start[u] + i]]);
        }
        text = mer_arena_format(arena, "%s%s\n", text, length > 8 && !has_order ? " ..." : "");
    }
    return text;
}

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const MerJobsPlan *jobs = mer_jobs_plan(plan);
    hash = mer_hash_bytes(hash, jobs->start, (size_t)(jobs->unit_count + 1) * sizeof *jobs->start);
    return mer_hash_bytes(hash, jobs->queue, (size_t)jobs->job_count * sizeof *jobs->queue);
}

const MerPlanKind mer_plan_jobs = {
    .name = "jobs",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};

/* Layers that a flexible core runs in its own shape because no other fitted (docs/bandwidth-model.md,
 * "Core styles"). */
static int count_fallbacks(const MerJobTable *table, int *first)
{
    int count = 0;
    for (int r = table->row_count - 1; r >= 0; r--) {
        bool is_any = false;
        for (int c = 0; c < table->class_count; c++) {
            is_any = is_any || table->entries[r * table->class_count + c].is_fallback;
        }
        count += is_any;
        *first = is_any ? r : *first;
    }
    return count;
}

/* Objectives that get better when jobs do not run. */
static bool is_shortened_by_drops(MerMetric objective)
{
    return objective == MER_METRIC_CYCLES || objective == MER_METRIC_LATENCY ||
           objective == MER_METRIC_MAKESPAN || objective == MER_METRIC_ENERGY ||
           objective == MER_METRIC_EDP || objective == MER_METRIC_TRAFFIC_BYTES ||
           objective == MER_METRIC_LATENESS || objective == MER_METRIC_TARDINESS;
}

/* The first periodic model without deadlines, NULL if there is none. */
static const char *model_without_deadline(const MerSchedule *schedule)
{
    for (int j = 0; j < schedule->job_count; j++) {
        int model = schedule->model[j];
        if (model >= 0 && schedule->models[model].fps > 0 && schedule->deadline[j] == INFINITY) {
            return schedule->models[model].name;
        }
    }
    return NULL;
}

/* Options of arrivals that change nothing, NULL if there are none. */
static const char *find_idle_arrivals(const MerSchedule *schedule)
{
    bool is_periodic = false, is_uncertain = false;
    for (int m = 0; m < schedule->model_count; m++) {
        is_periodic = is_periodic || schedule->models[m].fps > 0;
        is_uncertain = is_uncertain || schedule->models[m].probability < 1;
    }
    bool is_drawn = is_uncertain || (is_periodic && schedule->has_random_arrivals);
    return schedule->has_other_arrivals && !is_periodic
               ? "arrivals, rate and jitter_ms have no effect: no model is periodic (fps)"
           : schedule->has_other_seed && !is_drawn
               ? "arrival_seed has no effect: neither arrivals nor requests are random"
               : NULL;
}

/* Adds a line. */
static void warn(MerArena *arena, const char **text, const char *line)
{
    *text = mer_arena_format(arena, "%s%s\n", *text ? *text : "", line);
}

const char *mer_schedule_warnings(const MerProblem *problem, const void *evaluator_rules,
                                  MerMetric objective, MerArena *arena)
{
    const MerScheduleRules *rules = evaluator_rules;
    const MerSchedule      *schedule = mer_schedule_of(problem);
    const MerJobTable      *table = mer_schedule_table(problem);
    const char             *text = NULL;
    const char             *name = problem->task->name;
    const char *metric = objective < MER_METRIC_COUNT ? mer_metric_info(objective)->name : NULL;
    int         first = 0;
    int         fallbacks = count_fallbacks(table, &first);
    if (schedule->job_count < schedule->unit_count) {
        warn(arena, &text,
             mer_arena_format(arena, "%s has %d jobs for %d cores, so some stay idle", name,
                              schedule->job_count, schedule->unit_count));
    }
    if (fallbacks > 0) {
        warn(arena, &text,
             mer_arena_format(arena,
                              "%d layers of %s (%s, ...) fit no shape of a flexible core "
                              "within flexible_limit_bytes and run in its own",
                              fallbacks, name, table->row_names[first]));
    }
    if (schedule->left_out) {
        warn(arena, &text, schedule->left_out);
    }
    if (schedule->lacks_clock) {
        warn(arena, &text,
             "the platform has no clock_hz: fps, releases and deadlines in ms cannot "
             "be counted in cycles, and results with them mean nothing");
    } else if (schedule->has_own_deadlines && metric &&
               !mer_schedule_is_about_deadlines(objective)) { /* an expression may be */
        warn(arena, &text,
             mer_arena_format(arena,
                              "objective %s does not look at deadlines; "
                              "tardiness, lateness and miss_rate do",
                              metric));
    }
    if (find_idle_arrivals(schedule)) {
        warn(arena, &text, find_idle_arrivals(schedule));
    }
    if (schedule->has_deadlines && rules && rules->drops_jobs && is_shortened_by_drops(objective)) {
        warn(arena, &text,
             mer_arena_format(arena,
                              "late=drop: %s falls with every job of %s that is dropped; "
                              "miss_rate, violations, xr_score or %s*(1+drop_rate) count them",
                              metric, name, metric));
    }
    if (objective == MER_METRIC_XR_SCORE && schedule->has_deadlines &&
        model_without_deadline(schedule)) {
        warn(arena, &text,
             mer_arena_format(arena,
                              "xr_score leaves out %s, which has fps but no "
                              "deadline",
                              model_without_deadline(schedule)));
    }
    bool is_energy = objective == MER_METRIC_ENERGY || objective == MER_METRIC_EDP ||
                     objective == MER_METRIC_POWER;
    if (schedule->is_compat && is_energy) { /* docs/bandwidth-model.md, "Job analysis table" */
        warn(arena, &text,
             "energy of the artifact's table leaves out most accesses; optimise it "
             "with --table own");
    }
    return text;
}
