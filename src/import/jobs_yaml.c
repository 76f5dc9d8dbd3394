/* `mercator-jobs/1` (schedule.md 3.1): networks with batches, periods and owners, and single jobs. Networks
 * are read by the other importers; their layers join one graph. */
#include "import/jobs.h"

#include "import/layers.h"
#include "mercator/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        MerStatus status_ = (call);                                                                \
        if (status_ != MER_OK) {                                                                   \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

enum { NONE, CHAIN, GRAPH };

typedef struct Network { /* one entry of `models` */
    MerYaml    *node;
    const char *name;
    int         tenant, dependencies;
    int64_t     batch, mini_batch;
    double      fps, probability;
    bool        has_deadline;
    int         layer_count;
    int        *ops;                    /* of the joint graph, by layer */
    int        *before_count, **before; /* layers a layer waits for */
    bool       *is_last;                /* no layer waits for it */
    int         request_count;
    int        *first_job; /* of each request; -1: it does not exist */
    int         after_count;
    int        *after; /* networks */
} Network;

typedef struct Reader {
    const MerImportFile    *file;
    const MerImportOptions *options;
    MerArena               *arena;
    MerJobBuilder           builder;
    Network                *networks;
    int                     network_count;
    double                  horizon_s;
} Reader;

/* Files are looked for beside the job file first. */
static const char *beside(const Reader *reader, const char *name)
{
    const char *slash = strrchr(reader->file->path, '/');
    if (!slash || name[0] == '/') {
        return name;
    }
    const char *path = mer_arena_format(reader->arena, "%.*s/%s", (int)(slash - reader->file->path),
                                        reader->file->path, name);
    return access(path, F_OK) == 0 ? path : name;
}

static MerStatus add_layers(Reader *reader, Network *network, const MerGraph *graph,
                            MerError *error)
{
    int **sources =
        MER_ARRAY(reader->arena, int *, graph->op_count + 1); /* layers behind each operator */
    int *source_count = MER_ARRAY(reader->arena, int, graph->op_count + 1);
    network->ops = MER_ARRAY(reader->arena, int, graph->op_count + 1);
    network->before = MER_ARRAY(reader->arena, int *, graph->op_count + 1);
    network->before_count = MER_ARRAY(reader->arena, int, graph->op_count + 1);
    network->is_last = MER_ARRAY(reader->arena, bool, graph->op_count + 1);
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        int         *list = MER_ARRAY(reader->arena, int, graph->op_count + 1);
        int          count = 0;
        for (int i = 0; i < op->input_count; i++) {
            int from = op->inputs[i] >= 0 ? graph->values[op->inputs[i]].producer : -1;
            for (int k = 0; from >= 0 && k < source_count[from]; k++) {
                bool is_new = true;
                for (int n = 0; n < count; n++) {
                    is_new = is_new && list[n] != sources[from][k];
                }
                if (is_new) {
                    list[count++] = sources[from][k];
                }
            }
        }
        sources[o] = list;
        source_count[o] = count;
        if (op->layer < 0) {
            continue;
        }
        int   layer = network->layer_count++;
        MerOp copy = *op;
        copy.name = mer_arena_format(reader->arena, "%s.%s", network->name, op->name);
        copy.input_count = copy.output_count = 0;
        network->ops[layer] = mer_jobs_add_op(&reader->builder, &copy);
        network->before[layer] = list;
        network->before_count[layer] = count;
        network->is_last[layer] = true;
        for (int k = 0; k < count; k++) {
            network->is_last[list[k]] = false;
        }
        sources[o] = MER_ARRAY(reader->arena, int, 1);
        sources[o][0] = layer;
        source_count[o] = 1;
    }
    if (network->layer_count == 0) {
        return mer_yaml_error(network->node, error, "%s has no layer with multiplications",
                              graph->name);
    }
    return MER_OK;
}

/* A chain, or no order at all, instead of the network's own edges. */
static void change_order(Network *network, MerArena *arena)
{
    for (int l = 0; l < network->layer_count && network->dependencies != GRAPH; l++) {
        bool is_chain = network->dependencies == CHAIN && l > 0;
        network->before[l] = MER_ARRAY(arena, int, 1);
        network->before[l][0] = l - 1;
        network->before_count[l] = is_chain;
        network->is_last[l] = network->dependencies == NONE || l + 1 == network->layer_count;
    }
}

static MerStatus read_network(Reader *reader, MerYaml *node, Network *network, MerError *error)
{
    static const char *const orders[] = {"none", "chain", "graph"};
    static const char *const deadlines[] = {"none", "period"};
    const char              *path = NULL;
    const char              *tenant = NULL;
    double                   weight = 1;
    MerGraph                *graph = NULL;
    MerYaml                 *words;
    int                      deadline = 0;
    *network = (Network){
        .node = node, .batch = 1, .mini_batch = 1, .probability = 1, .dependencies = GRAPH};
    TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    TRY(mer_yaml_get_text(node, "name", &network->name, error));
    TRY(mer_yaml_get_text(node, "file", &path, error));
    TRY(mer_yaml_get_text(node, "tenant", &tenant, error));
    TRY(mer_yaml_get_real(node, "weight", 1e-9, 1e9, &weight, error));
    TRY(mer_yaml_get_int(node, "batch", 1, 65536, &network->batch, error));
    TRY(mer_yaml_get_int(node, "mini_batch", 1, 65536, &network->mini_batch, error));
    TRY(mer_yaml_get_real(node, "fps", 1e-3, 1e6, &network->fps, error));
    TRY(mer_yaml_get_real(node, "probability", 0, 1, &network->probability, error));
    if (!network->name || !path) {
        return mer_yaml_error(node, error, "a model has no %s, expected a name and a file",
                              network->name ? "file" : "name");
    }
    if ((words = mer_yaml_get(node, "dependencies")) != NULL) {
        TRY(mer_yaml_word(words, orders, 3, &network->dependencies, error));
    }
    if ((words = mer_yaml_get(node, "deadline")) != NULL) {
        TRY(mer_yaml_word(words, deadlines, 2, &deadline, error));
    }
    mer_yaml_get(node, "after"); /* read once all names are known */
    network->has_deadline = deadline == 1;
    if (network->batch % network->mini_batch != 0) {
        return mer_yaml_error(
            node, error, "batch of %s is %lld, expected a multiple of mini_batch %lld",
            network->name, (long long)network->batch, (long long)network->mini_batch);
    }
    TRY(mer_yaml_finish(node, error));
    TRY(mer_graph_import(beside(reader, path), reader->options, reader->arena, &graph, error));
    network->tenant = mer_jobs_tenant(&reader->builder, tenant ? tenant : network->name, weight);
    TRY(add_layers(reader, network, graph, error));
    change_order(network, reader->arena);
    return MER_OK;
}

static int find_network(const Reader *reader, const char *name)
{
    for (int n = 0; n < reader->network_count; n++) {
        if (strcmp(reader->networks[n].name, name) == 0) {
            return n;
        }
    }
    return -1;
}

static MerStatus read_after(Reader *reader, Network *network, MerError *error)
{
    MerYaml *list = mer_yaml_get(network->node, "after");
    if (!list) {
        return MER_OK;
    }
    TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    network->after = MER_ARRAY(reader->arena, int, list->count + 1);
    for (int i = 0; i < list->count; i++) {
        const char *name;
        TRY(mer_yaml_text(list->items[i], &name, error));
        network->after[i] = find_network(reader, name);
        if (network->after[i] < 0) {
            return mer_yaml_expected(list->items[i], error, "the name of a model");
        }
    }
    network->after_count = list->count;
    return MER_OK;
}

/* Jobs of one request: a mini-batch, or one period's inference. `index` numbers it. */
static void add_request(Reader *reader, int n, int index, double release_s, double deadline_s)
{
    Network       *network = &reader->networks[n];
    MerJobBuilder *builder = &reader->builder;
    int            first = builder->job_count;
    int            outside = 0;
    for (int a = 0; a < network->after_count; a++) {
        outside += reader->networks[network->after[a]].layer_count;
    }
    for (int l = 0; l < network->layer_count; l++) {
        int *after = MER_ARRAY(reader->arena, int, network->before_count[l] + outside + 1);
        int  count = 0;
        for (int i = 0; i < network->before_count[l]; i++) {
            after[count++] = first + network->before[l][i];
        }
        for (int a = 0; network->before_count[l] == 0 && a < network->after_count; a++) {
            const Network *other = &reader->networks[network->after[a]];
            int            start = index < other->request_count ? other->first_job[index] : -1;
            for (int k = 0; start >= 0 && k < other->layer_count; k++) {
                if (other->is_last[k]) {
                    after[count++] = start + k;
                }
            }
        }
        bool   is_one = network->request_count == 1;
        MerJob job = {
            .name = is_one ? mer_arena_format(reader->arena, "%s.%d", network->name, l)
                           : mer_arena_format(reader->arena, "%s#%d.%d", network->name, index, l),
            .op = network->ops[l],
            .images = (int)network->mini_batch,
            .model = n,
            .request = index,
            .tenant = network->tenant,
            .group = -1,
            .row = -1,
            .release_s = release_s,
            .deadline_s = deadline_s,
            .after_count = count,
            .after = after,
        };
        mer_jobs_add(builder, &job);
    }
    network->first_job[index] = first;
}

/* Networks in an order in which predecessors come first. */
static MerStatus order_networks(Reader *reader, int *order, MerError *error)
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
            int n = 0;
            while (is_done[n]) {
                n++;
            }
            const char *text = reader->networks[n].name;
            int         at = n;
            do {
                int a = 0;
                while (is_done[reader->networks[at].after[a]]) {
                    a++;
                }
                at = reader->networks[at].after[a];
                text =
                    mer_arena_format(reader->arena, "%s after %s", text, reader->networks[at].name);
            } while (at != n && strlen(text) < 300);
            return mer_yaml_error(reader->networks[n].node, error,
                                  "models wait for each other in a circle: %s", text);
        }
    }
    return MER_OK;
}

static MerStatus add_requests(Reader *reader, MerError *error)
{
    int   *order = MER_ARRAY(reader->arena, int, reader->network_count + 1);
    MerRng rng = mer_rng_make(1, 0);
    TRY(order_networks(reader, order, error));
    for (int i = 0; i < reader->network_count; i++) {
        Network *network = &reader->networks[order[i]];
        double   period = network->fps > 0 ? 1 / network->fps : 0;
        network->request_count = network->fps > 0
                                     ? (int)floor(reader->horizon_s * network->fps + 1e-9)
                                     : (int)(network->batch / network->mini_batch);
        network->request_count = network->request_count < 1 ? 1 : network->request_count;
        network->first_job = MER_ARRAY(reader->arena, int, network->request_count);
        for (int r = 0; r < network->request_count; r++) {
            bool exists = network->probability >= 1 || mer_rng_unit(&rng) < network->probability;
            network->first_job[r] = -1;
            if (exists) {
                add_request(reader, order[i], r, r * period,
                            network->has_deadline ? (r + 1) * period : INFINITY);
            }
        }
    }
    return MER_OK;
}

static int find_job(const MerJobBuilder *builder, const char *name)
{
    for (int j = 0; j < builder->job_count; j++) {
        if (strcmp(builder->jobs[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}

static MerStatus read_job_op(Reader *reader, MerYaml *node, const char *name, MerOp *op,
                             MerError *error)
{
    static const char *const kinds[] = {"fc", "conv", "depthwise", "gemm"};
    static const int         sizes[] = {2, 6, 6, 3};
    MerYaml                 *word, *dims;
    int                      kind = 0;
    int64_t                  row[7] = {1, 1, 1, 1, 1, 1, 0};
    TRY(mer_yaml_need(node, "op", &word, error));
    TRY(mer_yaml_word(word, kinds, 4, &kind, error));
    TRY(mer_yaml_need(node, "dims", &dims, error));
    TRY(mer_yaml_check_kind(dims, MER_YAML_LIST, error));
    if (dims->count != sizes[kind]) {
        return mer_yaml_expected(dims, error, "%d sizes of a %s", sizes[kind], kinds[kind]);
    }
    for (int i = 0; i < dims->count; i++) {
        TRY(mer_yaml_int(dims->items[i], 1, MER_LAYER_MAX_SIZE, &row[i], error));
    }
    row[6] = kind;
    (void)reader;
    return mer_m3e_op(row, name, op) ? MER_OK
                                     : mer_yaml_expected(dims, error, "a filter within its image");
}

static MerStatus read_job(Reader *reader, MerYaml *node, MerError *error)
{
    MerJob      job = {.images = 1, .model = -1, .group = -1, .row = -1};
    const char *tenant = "jobs";
    double      deadline = INFINITY;
    MerOp       op;
    MerYaml    *after;
    TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    TRY(mer_yaml_get_text(node, "name", &job.name, error));
    if (!job.name || find_job(&reader->builder, job.name) >= 0) {
        return mer_yaml_error(node, error, "a job has %s, expected a name of its own",
                              job.name ? "a name twice" : "no name");
    }
    TRY(read_job_op(reader, node, job.name, &op, error));
    TRY(mer_yaml_get_real(node, "release_cycles", 0, 1e18, &job.release_cycles, error));
    TRY(mer_yaml_get_real(node, "deadline_cycles", 0, 1e18, &deadline, error));
    TRY(mer_yaml_get_text(node, "tenant", &tenant, error));
    job.deadline_cycles = deadline;
    if ((after = mer_yaml_get(node, "after")) != NULL) {
        TRY(mer_yaml_check_kind(after, MER_YAML_LIST, error));
        int *list = MER_ARRAY(reader->arena, int, after->count + 1);
        for (int i = 0; i < after->count; i++) {
            const char *name;
            TRY(mer_yaml_text(after->items[i], &name, error));
            list[i] = find_job(&reader->builder, name);
            if (list[i] < 0) {
                return mer_yaml_expected(after->items[i], error,
                                         "the name of a job before this one");
            }
        }
        job.after = list;
        job.after_count = after->count;
    }
    TRY(mer_yaml_finish(node, error));
    job.tenant = mer_jobs_tenant(&reader->builder, tenant, 1);
    job.op = mer_jobs_add_op(&reader->builder, &op);
    mer_jobs_add(&reader->builder, &job);
    return MER_OK;
}

/* {size: 100, order: input} or order: shuffle(7) */
static MerStatus read_groups(Reader *reader, MerYaml *node, MerError *error)
{
    int64_t            size = 0;
    const char        *order = "input";
    unsigned long long seed = 1;
    TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    TRY(mer_yaml_get_int(node, "size", 1, 1000000, &size, error));
    TRY(mer_yaml_get_text(node, "order", &order, error));
    bool is_shuffled = sscanf(order, "shuffle(%llu)", &seed) == 1 || strcmp(order, "shuffle") == 0;
    if (!is_shuffled && strcmp(order, "input") != 0) {
        return mer_yaml_error(node, error,
                              "groups.order is \"%s\", expected input or shuffle(SEED)", order);
    }
    reader->builder.set.group_size = (int)size;
    reader->builder.set.is_shuffled = is_shuffled;
    reader->builder.set.shuffle_seed = seed;
    return mer_yaml_finish(node, error);
}

static MerStatus read_all(Reader *reader, MerYaml *root, MerError *error)
{
    double   horizon_ms = 1000;
    MerYaml *list;
    TRY(mer_yaml_format(root, "jobs", 1, error));
    TRY(mer_yaml_get_real(root, "horizon_ms", 1e-3, 1e9, &horizon_ms, error));
    reader->horizon_s = reader->builder.set.horizon_s = horizon_ms / 1000;
    if ((list = mer_yaml_get(root, "models")) != NULL) {
        TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
        reader->networks = MER_ARRAY(reader->arena, Network, list->count + 1);
        for (int n = 0; n < list->count; n++) {
            TRY(read_network(reader, list->items[n], &reader->networks[n], error));
            if (find_network(reader, reader->networks[n].name) >= 0) {
                return mer_yaml_error(list->items[n], error, "model %s is there twice",
                                      reader->networks[n].name);
            }
            reader->network_count++;
        }
        for (int n = 0; n < list->count; n++) {
            TRY(read_after(reader, &reader->networks[n], error));
        }
        for (int n = 0; n < list->count; n++) {
            const Network *network = &reader->networks[n];
            MerJobModel    model = {network->name,        network->tenant,      network->fps,
                                    network->probability, network->after_count, network->after};
            mer_jobs_add_model(&reader->builder, &model);
        }
        TRY(add_requests(reader, error));
    }
    if ((list = mer_yaml_get(root, "jobs")) != NULL) {
        TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
        for (int j = 0; j < list->count; j++) {
            TRY(read_job(reader, list->items[j], error));
        }
    }
    if ((list = mer_yaml_get(root, "groups")) != NULL) {
        TRY(read_groups(reader, list, error));
    }
    return mer_yaml_finish(root, error);
}

static bool probe(const MerImportFile *file)
{
    return mer_jobs_has_format(file, "mercator-jobs/");
}

static MerStatus read_jobs(const MerImportFile *file, const MerImportOptions *options,
                           MerArena *arena, MerGraph **graph, MerError *error)
{
    Reader   reader = {.file = file, .options = options, .arena = arena};
    MerYaml *root;
    TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    reader.builder = mer_jobs_begin(file->name, "jobs", arena);
    TRY(read_all(&reader, root, error));
    return mer_jobs_end(&reader.builder, file, graph, error);
}

const MerImporterClass mer_importer_jobs = {
    .name = "jobs",
    .summary = "networks with batches, periods and owners, and single jobs (mercator-jobs/1)",
    .endings = "yaml yml",
    .probe = probe,
    .read = read_jobs,
};
