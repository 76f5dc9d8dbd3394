/* When a search ends by the clock: --time of a task, --total-time of a run; and how long all is going to take. */
#include "run/search/task_search.h"

#include "base/json_read.h"
#include "base/log.h"
#include "run/log/clock.h"

#include <math.h>

/* Half of the time is shared out by work, half evenly: a small task needs some, too. */
static double weight_of(const MerRunState *run, int task)
{
    double macs = 0;
    for (int t = 0; t < run->task_count; t++) {
        macs += run->result->tasks[t].task.macs;
    }
    double even = 1.0 / run->task_count;
    return macs > 0 ? (even + run->result->tasks[task].task.macs / macs) / 2 : even;
}

static double round_weight(const MerRunState *run, const MerRunTask *task, int round)
{
    const MerProblemClass *problem = run->spec->problem;
    return problem->round_share
               ? problem->round_share(&task->problem, round, mer_run_last_round(run))
               : 1;
}

/* The task's part of what is left, among the searches that have not begun. */
static double share_of(const MerRunState *run, const MerRunTask *task)
{
    double tasks = 0, rounds = 0;
    int    most = mer_run_last_round(run);
    for (int t = task->index; t < run->task_count; t++) {
        tasks += weight_of(run, t);
    }
    for (int r = run->round_number + 1; r <= most; r++) {
        rounds += round_weight(run, task, r);
    }
    double own = round_weight(run, task, run->round_number);
    double later = own > 0 ? rounds / own : 0; /* as multiples of this round */
    return weight_of(run, task->index) / (tasks + later);
}

/* The total time begins with the first search: inputs and bounds cannot be left out, and who asks for two seconds wants an
 * answer. That of a stopped run goes on, after what the log knows. */
static void begin_total(MerRunState *run, double now)
{
    if (run->spec->total_time_s > 0 && isinf(run->total_end)) {
        run->prepared_s = now - run->started;
        run->total_end = now + run->spec->total_time_s - run->before.searched_s;
    }
}

void mer_deadline_set(MerTaskSearch *s)
{
    MerRunState      *run = s->run;
    const MerRunSpec *spec = run->spec;
    bool              is_followed = run->log.is_replay || s->end;
    if (is_followed) { /* what the log says is done without looking at the clock */
        run->deadline = INFINITY;
        return;
    }
    if (!isinf(run->deadline)) {
        return;
    }
    double now = mer_clock();
    begin_total(run, now);
    double own = spec->time_s > 0 ? now + spec->time_s : INFINITY;
    double part = spec->total_time_s > 0
                      ? now + fmax(run->total_end - now, 0) * share_of(run, s->task)
                      : INFINITY;
    run->deadline = fmin(own, part);
}

double mer_deadline_left(const MerTaskSearch *s, double now)
{
    const MerRunState *run = s->run;
    double             spent = now - run->task_started, time_s = run->spec->time_s;
    double             left = INFINITY;
    if (s->expected < INT64_MAX && s->counted > 0) {
        bool   ends_before = s->expected < s->task->budget; /* so it will on the next tasks */
        double trials = (double)(s->expected - s->counted);
        for (int t = s->task->index + 1; t < run->task_count; t++) {
            int64_t budget = run->tasks[t].budget;
            trials += (double)(ends_before && s->expected < budget ? s->expected : budget);
        }
        left = trials * spent / (double)s->counted;
    }
    if (time_s > 0) {
        left = fmin(left, time_s * (run->task_count - s->task->index) - spent);
    }
    if (!isinf(run->total_end)) {
        left = fmin(left, run->total_end - now);
    }
    return isinf(left) ? NAN : fmax(left, 0);
}

typedef struct Used {
    MerSittings before, last; /* last: the sitting whose lines are read */
} Used;

static void take_line(void *context, const cJSON *line)
{
    Used  *used = context;
    double wall = mer_json_get_real(line, "wall_s", NAN);
    double followed = mer_json_get_real(line, "followed_s", 0);
    if (mer_json_get(line, "started")) { /* the next sitting */
        used->before.searched_s += used->last.searched_s;
        used->before.wall_s += used->last.wall_s;
        used->last = (MerSittings){0};
    } else if (!isnan(wall)) {
        used->last.searched_s = wall - fmax(mer_json_get_real(line, "prepared_s", 0), followed);
        used->last.wall_s = wall - followed;
    }
}

MerSittings mer_deadline_used(const char *clock_path)
{
    Used used = {0};
    mer_clock_read(clock_path, take_line, &used);
    return (MerSittings){used.before.searched_s + used.last.searched_s,
                         used.before.wall_s + used.last.wall_s};
}

double mer_deadline_followed(const MerRunState *run, double now)
{
    return !run->spec->resume ? 0 : (run->log.is_replay ? now : run->log.cut_at) - run->started;
}

void mer_deadline_tick(const MerRunState *run, double now)
{
    if (!run->clock_file) {
        return;
    }
    double followed = mer_deadline_followed(run, now);
    fprintf(run->clock_file, "{\"trials\":%lld,\"wall_s\":%.6f,\"cpu_s\":%.3f",
            (long long)run->trials, now - run->started, mer_cpu_clock());
    if (run->prepared_s > 0) {
        fprintf(run->clock_file, ",\"prepared_s\":%.6f", run->prepared_s);
    }
    if (followed > 0) {
        fprintf(run->clock_file, ",\"followed_s\":%.6f", followed);
    }
    fprintf(run->clock_file, "}\n");
    fflush(run->clock_file);
}
