/* Requests of the networks of a job file: one per mini-batch, or one per period until the horizon. */
#include "schedule/jobs/jobs_reader.h"

#include <math.h>
#include <string.h>

MerStatus mer_jobs_read_name(const MerYaml *node, const char **name, MerError *error)
{
    MER_TRY(mer_yaml_text(node, name, error));
    return **name ? MER_OK : mer_yaml_expected(node, error, "a name");
}

MerStatus mer_jobs_add_named(MerJobsReader *reader, const MerYaml *node, const MerJob *job,
                             MerError *error)
{
    if (mer_name_table_find(&reader->jobs, job->name)) {
        return mer_yaml_error(node, error, "two jobs are called %s, expected a name for each",
                              job->name);
    }
    if (reader->builder.set.job_count >= MER_JOBS_MAX) {
        return mer_yaml_error(node, error, "found more than %d jobs, expected at most as many",
                              MER_JOBS_MAX);
    }
    int *index = MER_NEW(reader->arena, int);
    *index = mer_jobs_add(&reader->builder, job);
    mer_name_table_set(&reader->jobs, job->name, index);
    return MER_OK;
}

/* The last jobs of request `index` of the networks that this one comes after; gives their number. */
static int find_outside(const MerJobsReader *reader, const MerJobsNetwork *network, int index,
                        int **after)
{
    int count = 0;
    for (int a = 0; a < network->after_count; a++) {
        const MerJobsNetwork *other = &reader->networks[network->after[a]];
        int                   start = index < other->request_count ? other->first_job[index] : -1;
        for (int k = 0; start >= 0 && k < other->layers.count; k++) {
            if (other->is_last[k]) {
                MER_GROW(reader->arena, *after, count);
                (*after)[count++] = start + k;
            }
        }
    }
    return count;
}

static double deadline_of(const MerJobsNetwork *network, int index, double period)
{
    int last = network->deadline_count - 1;
    if (last >= 0) {
        return index * period + network->deadlines_ms[index < last ? index : last] / 1000;
    }
    return network->has_deadline ? (index + 1) * period : INFINITY;
}

static MerStatus add_request(MerJobsReader *reader, int n, int index, double period,
                             MerError *error)
{
    MerJobsNetwork *network = &reader->networks[n];
    int             first = reader->builder.set.job_count;
    for (int l = 0; l < network->layers.count; l++) {
        int  count = network->layers.before_count[l];
        int *after = MER_ARRAY(reader->arena, int, count + 1);
        for (int i = 0; i < count; i++) {
            after[i] = first + network->layers.before[l][i];
        }
        if (count == 0) {
            count = find_outside(reader, network, index, &after);
        }
        bool   is_one = network->request_count == 1;
        MerJob job = {
            .name = is_one ? mer_arena_format(reader->arena, "%s.%d", network->name, l)
                           : mer_arena_format(reader->arena, "%s#%d.%d", network->name, index, l),
            .op = network->layers.ops[l],
            .images = (int)network->mini_batch,
            .model = n,
            .request = index,
            .tenant = network->tenant,
            .group = -1,
            .row = -1,
            .release_s = index * period,
            .deadline_s = deadline_of(network, index, period),
            .after_count = count,
            .after = after,
        };
        MER_TRY(mer_jobs_add_named(reader, network->node, &job, error));
    }
    network->first_job[index] = first;
    return MER_OK;
}

/* The first network that `at` comes after and that is not done. */
static int next_in_circle(const MerJobsReader *reader, const bool *is_done, int at)
{
    const int *after = reader->networks[at].after;
    while (is_done[*after]) {
        after++;
    }
    return *after;
}

static MerStatus fail_circle(const MerJobsReader *reader, const bool *is_done, MerError *error)
{
    int at = 0;
    while (is_done[at]) {
        at++;
    }
    for (int step = 0; step < reader->network_count; step++) { /* then certainly in the circle */
        at = next_in_circle(reader, is_done, at);
    }
    int         first = at;
    const char *text = reader->networks[at].name;
    do {
        at = next_in_circle(reader, is_done, at);
        text = mer_arena_format(reader->arena, "%s after %s", text, reader->networks[at].name);
    } while (at != first && strlen(text) < 300);
    return mer_yaml_error(reader->networks[first].node, error,
                          "models wait for each other in a circle: %s; expected an order", text);
}

/* Networks in an order in which predecessors come first. */
static MerStatus order_networks(MerJobsReader *reader, int *order, MerError *error)
{
    bool *is_done = MER_ARRAY(reader->arena, bool, reader->network_count + 1);
    for (int used = 0; used < reader->network_count;) {
        int before = used;
        for (int n = 0; n < reader->network_count; n++) {
            bool is_ready = !is_done[n];
            for (int a = 0; a < reader->networks[n].after_count; a++) {
                is_ready = is_ready && is_done[reader->networks[n].after[a]];
            }
            if (is_ready) {
                is_done[n] = true;
                order[used++] = n;
            }
        }
        if (used == before) {
            return fail_circle(reader, is_done, error);
        }
    }
    return MER_OK;
}

static MerStatus count_requests(const MerJobsReader *reader, MerJobsNetwork *network,
                                MerError *error)
{
    double count = network->fps > 0 ? floor(reader->horizon_s * network->fps + 1e-9)
                                    : (double)(network->batch / network->mini_batch);
    count = fmax(count, 1);
    if (count * network->layers.count > MER_JOBS_MAX) {
        return mer_yaml_error(network->node, error,
                              "%s makes %.0f requests of %d jobs, expected at most %d jobs in all",
                              network->name, count, network->layers.count, MER_JOBS_MAX);
    }
    network->request_count = (int)count;
    return MER_OK;
}

MerStatus mer_jobs_add_requests(MerJobsReader *reader, MerError *error)
{
    int *order = MER_ARRAY(reader->arena, int, reader->network_count + 1);
    MER_TRY(order_networks(reader, order, error));
    for (int i = 0; i < reader->network_count; i++) {
        MerJobsNetwork *network = &reader->networks[order[i]];
        MER_TRY(count_requests(reader, network, error));
        network->first_job = MER_ARRAY(reader->arena, int, network->request_count);
        for (int r = 0; r < network->request_count; r++) {
            MER_TRY(
                add_request(reader, order[i], r, network->fps > 0 ? 1 / network->fps : 0, error));
        }
    }
    return MER_OK;
}
