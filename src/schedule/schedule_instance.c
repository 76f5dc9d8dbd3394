/* A group of jobs on a platform as the arrays that evaluator, bound and solvers read. */
#include "schedule/schedule_parts.h"

#include "schedule/jobs/job_links.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>

/* Memory for a field that its makers fill and others read. */
static double *new_reals(const double **field, size_t count, MerArena *arena)
{
    double *values = MER_ARRAY(arena, double, count + 1);
    *field = values;
    return values;
}

static int *new_ints(const int **field, int count, MerArena *arena)
{
    int *values = MER_ARRAY(arena, int, count + 1);
    *field = values;
    return values;
}

/* Columns of the table, spread from core classes to cores. */
void mer_schedule_spread_table(const MerPlatform *platform, MerSchedule *schedule,
                               const MerJobTable *table, MerArena *arena)
{
    size_t  jobs = (size_t)schedule->job_count;
    size_t  size = jobs * (size_t)schedule->unit_count;
    double *latency = new_reals(&schedule->latency, size, arena);
    double *rate = new_reals(&schedule->rate, size, arena);
    double *traffic = new_reals(&schedule->traffic, size, arena);
    double *energy = new_reals(&schedule->energy, size, arena);
    double *weights = new_reals(&schedule->weight_bytes, jobs, arena);
    double *outputs = new_reals(&schedule->output_bytes, jobs, arena);
    for (int j = 0; j < schedule->job_count; j++) {
        for (int u = 0; u < schedule->unit_count; u++) {
            const MerJobTableEntry *entry =
                &table->entries[table->row_of_job[j] * table->class_count +
                                platform->units[u].class_index];
            int at = j * schedule->unit_count + u;
            latency[at] = entry->latency;
            rate[at] = entry->rate;
            traffic[at] = entry->traffic;
            energy[at] = entry->energy_pj;
            weights[j] = entry->weight_bytes;
            outputs[j] = entry->output_bytes;
            if (isnan(entry->energy_pj)) {
                schedule->energy = NULL;
            }
        }
    }
    schedule->dram_pj_per_byte = table->dram_pj_per_byte;
    schedule->table_hash = table->hash;
    schedule->is_compat = table->is_compat;
    schedule->layer = table->row_of_job;
}

void mer_schedule_describe_units(const MerPlatform *platform, MerSchedule *schedule,
                                 MerArena *arena)
{
    int          units = schedule->unit_count;
    const char **names = MER_ARRAY(arena, const char *, units);
    int         *classes = new_ints(&schedule->unit_class, units, arena);
    double      *power = new_reals(&schedule->static_pj_per_cycle, (size_t)units, arena);
    double      *bytes = new_reals(&schedule->unit_bytes, (size_t)units, arena);
    for (int u = 0; u < units; u++) {
        names[u] = platform->units[u].name;
        classes[u] = platform->units[u].class_index;
        power[u] = platform->units[u].static_pj_per_cycle;
        bytes[u] = platform->units[u].memory_bytes;
    }
    schedule->unit_names = names;
}

/* Predecessors within the group; those of earlier groups are done. */
void mer_schedule_link_jobs(const MerJobSet *set, const int *jobs, MerSchedule *schedule,
                            MerArena *arena)
{
    MerJobLinks links = mer_job_links(set->jobs, jobs, schedule->job_count, arena);
    schedule->has_dependencies = links.before_start[schedule->job_count] > 0;
    schedule->before_start = links.before_start;
    schedule->before = links.before;
    schedule->after_start = links.after_start;
    schedule->after = links.after;
}

void mer_schedule_describe_jobs(const MerProblem *problem, const MerJobSet *set, const int *jobs,
                                MerSchedule *schedule, MerArena *arena)
{
    int          count = schedule->job_count;
    const char **names = MER_ARRAY(arena, const char *, count + 1);
    const char **layers = MER_ARRAY(arena, const char *, count + 1);
    double      *macs = new_reals(&schedule->macs, (size_t)count, arena);
    double      *release = new_reals(&schedule->release, (size_t)count, arena);
    double      *deadline = new_reals(&schedule->deadline, (size_t)count, arena);
    double      *weight = new_reals(&schedule->weight, (size_t)count, arena);
    int         *tenant = new_ints(&schedule->tenant, count, arena);
    int         *model = new_ints(&schedule->model, count, arena);
    int         *request = new_ints(&schedule->request, count, arena);
    double       clock = isnan(schedule->clock_hz) ? 1 : schedule->clock_hz;
    for (int i = 0; i < count; i++) {
        const MerJob *job = &set->jobs[jobs[i]];
        names[i] = job->name;
        layers[i] = problem->graph->ops[job->op].name;
        macs[i] = (double)mer_job_op(problem->graph, job).macs;
        bool has_seconds =
            job->release_s > 0 || (job->deadline_s > 0 && job->deadline_s < INFINITY);
        schedule->lacks_clock = schedule->lacks_clock || (has_seconds && isnan(schedule->clock_hz));
        release[i] = job->release_cycles + job->release_s * clock;
        deadline[i] = job->deadline_cycles + job->deadline_s * clock;
        weight[i] = set->tenants[job->tenant].weight;
        tenant[i] = job->tenant;
        model[i] = job->model;
        request[i] = job->request;
        schedule->has_deadlines = schedule->has_deadlines || deadline[i] < INFINITY;
    }
    schedule->job_names = names;
    schedule->layer_names = layers;
    schedule->request_number = mer_schedule_number_requests(schedule, arena);
    mer_schedule_set_times(schedule, release, deadline, arena);
}

void mer_schedule_set_times(MerSchedule *schedule, const double *release, const double *deadline,
                            MerArena *arena)
{
    int count = schedule->job_count;
    schedule->has_releases = false;
    for (int j = 0; j < count; j++) {
        schedule->has_releases = schedule->has_releases || release[j] > 0;
    }
    schedule->release = release;
    schedule->deadline = deadline;
    schedule->release_order = mer_schedule_sorted(release, count, arena);
    schedule->deadline_order = mer_schedule_sorted(deadline, count, arena);
}

void mer_schedule_shift(MerSchedule *schedule, double start, MerArena *arena)
{
    int count = schedule->job_count;
    if (!(start > 0) || (!schedule->has_releases && !schedule->has_deadlines)) {
        return;
    }
    double *release = MER_ARRAY(arena, double, count + 1);
    double *deadline = MER_ARRAY(arena, double, count + 1);
    schedule->has_deadlines = schedule->has_deadlines && isfinite(start);
    for (int j = 0; j < count; j++) {
        release[j] = fmax(0, schedule->release[j] - start);
        deadline[j] = isfinite(start) ? schedule->deadline[j] - start : INFINITY;
    }
    mer_schedule_set_times(schedule, release, deadline, arena);
}
