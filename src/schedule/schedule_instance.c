/* A group of jobs on a platform as the arrays that evaluator, bound and solvers read. */
#include "schedule/schedule_parts.h"

#include "schedule/jobs/job_links.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>

/* Columns of the table, spread from core classes to cores. */
void mer_schedule_spread_table(const MerPlatform *platform, MerSchedule *schedule,
                               const MerJobTable *table, MerArena *arena)
{
    size_t  size = (size_t)schedule->job_count * (size_t)schedule->unit_count + 1;
    double *latency = MER_ARRAY(arena, double, size);
    double *rate = MER_ARRAY(arena, double, size);
    double *traffic = MER_ARRAY(arena, double, size);
    double *energy = MER_ARRAY(arena, double, size);
    double *weights = MER_ARRAY(arena, double, schedule->job_count + 1);
    double *outputs = MER_ARRAY(arena, double, schedule->job_count + 1);
    bool    has_energy = true;
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
            has_energy = has_energy && !isnan(entry->energy_pj);
        }
    }
    schedule->latency = latency;
    schedule->rate = rate;
    schedule->traffic = traffic;
    schedule->energy = has_energy ? energy : NULL;
    schedule->dram_pj_per_byte = table->dram_pj_per_byte;
    schedule->weight_bytes = weights;
    schedule->output_bytes = outputs;
    schedule->table_hash = table->hash;
    schedule->is_compat = table->is_compat;
    schedule->layer = table->row_of_job;
}

void mer_schedule_describe_units(const MerPlatform *platform, MerSchedule *schedule,
                                 MerArena *arena)
{
    const char **names = MER_ARRAY(arena, const char *, schedule->unit_count);
    int         *classes = MER_ARRAY(arena, int, schedule->unit_count);
    double      *power = MER_ARRAY(arena, double, schedule->unit_count);
    double      *bytes = MER_ARRAY(arena, double, schedule->unit_count);
    for (int u = 0; u < schedule->unit_count; u++) {
        names[u] = platform->units[u].name;
        classes[u] = platform->units[u].class_index;
        power[u] = platform->units[u].static_pj_per_cycle;
        bytes[u] = platform->units[u].memory_bytes;
    }
    schedule->unit_names = names;
    schedule->unit_class = classes;
    schedule->static_pj_per_cycle = power;
    schedule->unit_bytes = bytes;
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
    double      *numbers[4];
    int         *owners[3];
    for (int i = 0; i < 4; i++) {
        numbers[i] = MER_ARRAY(arena, double, count + 1);
    }
    for (int i = 0; i < 3; i++) {
        owners[i] = MER_ARRAY(arena, int, count + 1);
    }
    double clock = isnan(schedule->clock_hz) ? 1 : schedule->clock_hz;
    for (int i = 0; i < count; i++) {
        const MerJob *job = &set->jobs[jobs[i]];
        names[i] = job->name;
        layers[i] = problem->graph->ops[job->op].name;
        numbers[0][i] = (double)mer_job_op(problem->graph, job).macs;
        numbers[1][i] = job->release_cycles + job->release_s * clock;
        numbers[2][i] = job->deadline_cycles + job->deadline_s * clock;
        numbers[3][i] = set->tenants[job->tenant].weight;
        owners[0][i] = job->tenant;
        owners[1][i] = job->model;
        owners[2][i] = job->request;
        schedule->has_deadlines = schedule->has_deadlines || numbers[2][i] < INFINITY;
    }
    schedule->job_names = names;
    schedule->layer_names = layers;
    schedule->macs = numbers[0];
    schedule->weight = numbers[3];
    schedule->tenant = owners[0];
    schedule->model = owners[1];
    schedule->request = owners[2];
    schedule->request_number = mer_schedule_number_requests(schedule, arena);
    mer_schedule_set_times(schedule, numbers[1], numbers[2], arena);
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
