/* Problem `assign`: items of some size go into bins of some speed and capacity. A toy that has every
 * part a problem can have; docs/how-to-add-a-problem.md explains it. */
#include "mercator/export.h"
#include "mercator/import.h"
#include "mercator/text.h"
#include "mercator/view.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Bin {
    const char *name;
    double      speed, capacity; /* size per second, size */
    double      pj;              /* per unit of size */
} Bin;

typedef struct Item {
    const char *name;
    double      size;
} Item;

typedef struct Load { /* items to be assigned together: one task */
    const char *name;
    int64_t     count; /* how often it occurs */
    int         item_count;
    Item       *items;
} Load;

typedef struct Loads { /* what a file says */
    int   bin_count, load_count;
    Bin  *bins;
    Load *loads;
} Loads;

#define ASSIGN_LOADS "assign" /* the attachment's type */

static MerStatus check_map(const MerYaml *map, const char *of, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    return map->count > 0 ? MER_OK : mer_yaml_expected(map, error, "at least one %s", of);
}

static MerStatus read_bins(MerYaml *map, Loads *loads, MerArena *arena, MerError *error)
{
    MER_TRY(check_map(map, "bin", error));
    loads->bins = MER_ARRAY(arena, Bin, map->count + 1);
    loads->bin_count = map->count;
    for (int b = 0; b < map->count; b++) {
        Bin     *bin = &loads->bins[b];
        MerYaml *node = map->items[b];
        *bin = (Bin){map->keys[b], 1, INFINITY, 0};
        MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
        MER_TRY(mer_yaml_get_real(node, "speed", 1e-9, 1e9, &bin->speed, error));
        MER_TRY(mer_yaml_get_real(node, "capacity", 0, 1e9, &bin->capacity, error));
        MER_TRY(mer_yaml_get_real(node, "pj", 0, 1e9, &bin->pj, error));
        MER_TRY(mer_yaml_finish(node, error));
    }
    return MER_OK;
}

static MerStatus read_load(const char *name, MerYaml *node, Load *load, MerArena *arena,
                           MerError *error)
{
    MerYaml *items;
    *load = (Load){.name = name, .count = 1};
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_get_int(node, "count", 1, 1000000, &load->count, error));
    MER_TRY(mer_yaml_need(node, "items", &items, error));
    MER_TRY(check_map(items, "item", error));
    load->items = MER_ARRAY(arena, Item, items->count + 1);
    load->item_count = items->count;
    for (int i = 0; i < items->count; i++) {
        load->items[i].name = items->keys[i];
        MER_TRY(mer_yaml_real(items->items[i], 1e-9, 1e9, &load->items[i].size, error));
    }
    return mer_yaml_finish(node, error);
}

static MerStatus read_loads(const MerImportFile *file, const MerImportOptions *options,
                            MerArena *arena, MerGraph **graph, MerError *error)
{
    MerYaml *root, *bins, *list;
    Loads   *loads = MER_NEW(arena, Loads);
    (void)options;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_format(root, "assign", 1, error));
    MER_TRY(mer_yaml_need(root, "bins", &bins, error));
    MER_TRY(mer_yaml_need(root, "loads", &list, error));
    MER_TRY(mer_yaml_finish(root, error));
    MER_TRY(read_bins(bins, loads, arena, error));
    MER_TRY(check_map(list, "load", error));
    loads->loads = MER_ARRAY(arena, Load, list->count + 1);
    loads->load_count = list->count;
    for (int l = 0; l < list->count; l++) {
        MER_TRY(read_load(list->keys[l], list->items[l], &loads->loads[l], arena, error));
    }
    *graph = mer_graph_new(file->name, arena);
    (*graph)->format = "assign";
    MER_TRY(mer_graph_finish(*graph, error));
    mer_graph_attach(*graph, ASSIGN_LOADS, loads);
    (*graph)->hash = mer_hash_bytes((*graph)->hash, file->data, file->size);
    return MER_OK;
}

static bool is_loads(const MerImportFile *file)
{
    return strstr(file->data, "format: mercator-assign/") != NULL;
}

const MerImporterClass mer_importer_assign = {
    .name = "assign",
    .summary = "items and bins (mercator-assign/1)",
    .endings = "yaml yml",
    .probe = is_loads,
    .read = read_loads,
};

typedef struct Assignment { /* the content of a plan */
    int  count;
    int *bins; /* of each item */
} Assignment;

typedef struct State { /* one opened task */
    const Loads *loads;
    const Load  *load;
} State;

static const char *bin_name(const State *state, int bin)
{
    return state->loads->bins[bin].name;
}

extern const MerPlanKind mer_plan_assignment;

static Assignment *new_plan(int count, MerPlan *plan, MerArena *arena)
{
    Assignment *assignment = MER_NEW(arena, Assignment);
    *assignment = (Assignment){count, MER_ARRAY(arena, int, count)};
    *plan = (MerPlan){&mer_plan_assignment, assignment};
    return assignment;
}

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const Assignment *assignment = plan->content;
    return mer_hash_bytes(hash, assignment->bins, (size_t)assignment->count * sizeof(int));
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const State      *state = problem->state;
    const Assignment *assignment = plan->content;
    mer_json_array(json, "bins");
    for (int i = 0; i < assignment->count; i++) {
        mer_json_text(json, NULL, bin_name(state, assignment->bins[i]));
    }
    mer_json_end_array(json);
}

static MerStatus read_bin_name(const Loads *loads, const MerYaml *node, int *bin, MerArena *arena,
                               MerError *error)
{
    const char **names = MER_ARRAY(arena, const char *, loads->bin_count);
    for (int b = 0; b < loads->bin_count; b++) {
        names[b] = loads->bins[b].name;
    }
    return mer_yaml_word(node, names, loads->bin_count, bin, error);
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    const State *state = problem->state;
    Assignment  *assignment = new_plan(state->load->item_count, plan, arena);
    MerYaml     *list;
    MER_TRY(mer_yaml_need(body, "bins", &list, error));
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    if (list->count != assignment->count) {
        return mer_yaml_error(list, error, "bins has %d names, expected one for each of %d items",
                              list->count, assignment->count);
    }
    for (int i = 0; i < list->count; i++) {
        int *bin = &assignment->bins[i];
        MER_TRY(read_bin_name(state->loads, list->items[i], bin, arena, error));
    }
    return MER_OK;
}

static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const State      *state = problem->state;
    const Assignment *assignment = plan->content;
    const char       *text = "";
    for (int b = 0; b < state->loads->bin_count; b++) {
        text = mer_arena_format(arena, "%s%s:", text, bin_name(state, b));
        for (int i = 0; i < assignment->count; i++) {
            if (assignment->bins[i] == b) {
                text = mer_arena_format(arena, "%s %s", text, state->load->items[i].name);
            }
        }
        text = mer_arena_format(arena, "%s\n", text);
    }
    return text;
}

const MerPlanKind mer_plan_assignment = {
    .name = "assignment",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};

static MerStatus find_loads(const MerGraph *graph, const Loads **loads, MerError *error)
{
    *loads = mer_graph_attachment(graph, ASSIGN_LOADS);
    return *loads ? MER_OK
                  : mer_error_set(error, MER_INVALID,
                                  "%s has no items, expected a file with `format: "
                                  "mercator-assign/1`",
                                  graph->name);
}

static MerTask task_of(const Load *load)
{
    return (MerTask){.name = load->name, .count = load->count, .op = -1};
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    const Loads *loads;
    MER_TRY(find_loads(problem->graph, &loads, error));
    MerTask *list = MER_ARRAY(arena, MerTask, loads->load_count);
    for (int l = 0; l < loads->load_count; l++) {
        list[l] = task_of(&loads->loads[l]);
    }
    *tasks = list;
    *count = loads->load_count;
    return MER_OK;
}

static MerStatus open_assign(MerProblem *problem, MerArena *arena, MerError *error)
{
    State *state = problem->state;
    MER_TRY(find_loads(problem->graph, &state->loads, error));
    for (int l = 0; l < state->loads->load_count; l++) {
        const Load *load = &state->loads->loads[l];
        state->load = strcmp(load->name, problem->task->name) == 0 ? load : state->load;
    }
    assert(state->load); /* the task is one of list_tasks */
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, state->load->item_count + 1);
    for (int i = 0; i < state->load->item_count; i++) {
        knobs[i] = (MerKnob){.name = mer_arena_format(arena, "bin.%s", state->load->items[i].name),
                             .kind = MER_KNOB_CATEGORY,
                             .role = MER_ROLE_UNIT,
                             .level = -1,
                             .dim = -1,
                             .op = i,
                             .choices = state->loads->bin_count};
    }
    problem->space = (MerSpace){.knob_count = state->load->item_count, .knobs = knobs};
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const State *state = problem->state;
    Assignment  *assignment = new_plan(state->load->item_count, plan, arena);
    memcpy(assignment->bins, point, (size_t)assignment->count * sizeof *point);
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const Assignment *assignment = plan->content;
    (void)problem;
    memcpy(point, assignment->bins, (size_t)assignment->count * sizeof *point);
    return true;
}

/* All bins busy until the end, or the largest item in the fastest bin. */
static double least_makespan(const State *state)
{
    double size = 0, largest = 0, speed = 0, fastest = 0;
    for (int i = 0; i < state->load->item_count; i++) {
        size += state->load->items[i].size;
        largest = fmax(largest, state->load->items[i].size);
    }
    for (int b = 0; b < state->loads->bin_count; b++) {
        speed += state->loads->bins[b].speed;
        fastest = fmax(fastest, state->loads->bins[b].speed);
    }
    return fmax(size / speed, largest / fastest);
}

static double least_energy(const State *state)
{
    double sum = 0;
    for (int i = 0; i < state->load->item_count; i++) {
        double least = INFINITY;
        for (int b = 0; b < state->loads->bin_count; b++) {
            least = fmin(least, state->load->items[i].size * state->loads->bins[b].pj);
        }
        sum += least;
    }
    return sum;
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    (void)rules;
    *result =
        metric == MER_METRIC_MAKESPAN ? (MerBound){least_makespan(problem->state), "balance", ""}
        : metric == MER_METRIC_ENERGY ? (MerBound){least_energy(problem->state), "cheapest-bin", ""}
                                      : (MerBound){NAN, "none", ""};
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_assignment, NULL};

const MerProblemClass mer_problem_assign = {
    .name = "assign",
    .summary = "which bin takes which item",
    .evaluator = "bins",
    .optimizer = "annealing",
    .objective = "makespan",
    .exact = "exact_assign",
    .plan_file = "assignment.yaml",
    .budget = 2000,
    .plans = plan_kinds,
    .state_size = sizeof(State),
    .tasks = list_tasks,
    .open = open_assign,
    .decode = decode,
    .encode = encode,
    .bound = bound,
};

static MerStatus open_bins(void *state, const MerProblem *problem, const void *options,
                           MerArena *arena, MerError *error)
{
    (void)options, (void)arena, (void)error;
    *(State *)state = *(const State *)problem->state;
    return MER_OK;
}

static double load_of(const State *task, const Assignment *assignment, int bin)
{
    double load = 0;
    for (int i = 0; i < assignment->count; i++) {
        load += assignment->bins[i] == bin ? task->load->items[i].size : 0;
    }
    return load;
}

static void evaluate(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State *task = state;
    double       makespan = 0, energy = 0;
    (void)call;
    mer_cost_clear(cost);
    for (int b = 0; b < task->loads->bin_count; b++) {
        const Bin *bin = &task->loads->bins[b];
        double     load = load_of(task, plan->content, b);
        if (load > bin->capacity) {
            mer_cost_refuse(cost, "capacity: %s needs %g, has %g", bin->name, load, bin->capacity);
            return;
        }
        makespan = fmax(makespan, load / bin->speed);
        energy += load * bin->pj;
    }
    cost->value[MER_METRIC_MAKESPAN] = makespan;
    cost->value[MER_METRIC_ENERGY] = energy;
}

static const void *rules_of(const void *state)
{
    return state;
}

static void show_loads(const void *state, const MerPlan *plan, MerNotes *notes)
{
    const State *task = state;
    int          count = task->loads->bin_count;
    MerArena    *arena = mer_arena_new();
    const char **names = MER_ARRAY(arena, const char *, count);
    double      *loads = MER_ARRAY(arena, double, count), *limits = MER_ARRAY(arena, double, count);
    for (int b = 0; b < count; b++) {
        names[b] = bin_name(task, b);
        loads[b] = load_of(task, plan->content, b);
        limits[b] = task->loads->bins[b].capacity;
    }
    mer_view_bars(notes, &(MerView){.id = "loads", .title = "Bins"},
                  &(MerViewBars){.unit = "1",
                                 .series = (const char *const[]){"load"},
                                 .series_count = 1,
                                 .rows = names,
                                 .row_count = count,
                                 .values = loads,
                                 .limits = limits});
    mer_arena_free(arena);
}

const MerEvaluatorClass mer_evaluator_bins = {
    .name = "bins",
    .summary = "bins work side by side, each at its speed",
    .plans = plan_kinds,
    .metrics = UINT64_C(1) << MER_METRIC_MAKESPAN | UINT64_C(1) << MER_METRIC_ENERGY,
    .state_size = sizeof(State),
    .open = open_bins,
    .evaluate = evaluate,
    .rules = rules_of,
    .detail = show_loads,
};

typedef struct SolverOptions {
    int64_t nodes;
} SolverOptions;

static const MerOption solver_options[] = {
    {"nodes", MER_OPTION_INT, offsetof(SolverOptions, nodes), "1000000", 1, 1e12, NULL,
     "nodes of the search tree before it gives up the proof"},
    {0}};

typedef struct Solver {
    const State *task;
    MerNotes    *notes;
    int64_t      nodes_left;
    double       least;
    int         *order;           /* items, the largest first */
    int         *bins, *best;     /* of the items, so far and of the best plan */
    double      *loads;           /* of the bins */
    double       makespan;        /* of the best plan; +inf: there is none */
    bool         is_done, is_cut; /* cut: nodes or time ran out */
} Solver;

static void sort_items(const Load *load, int *order)
{
    for (int i = 0; i < load->item_count; i++) {
        int at = i;
        for (; at > 0 && load->items[order[at - 1]].size < load->items[i].size; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static MerStatus open_exact(void *state, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *options, MerError *error)
{
    Solver      *s = state;
    const State *task = problem->state;
    if (search->objective != MER_METRIC_MAKESPAN || evaluator->type != &mer_evaluator_bins) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "exact_assign solves objective makespan of evaluator bins only");
    }
    if (search->space->knob_count != problem->space.knob_count) {
        return mer_error_set(error, MER_UNSUPPORTED, "exact_assign cannot work with fixed knobs");
    }
    *s = (Solver){.task = task,
                  .notes = search->notes,
                  .nodes_left = ((const SolverOptions *)options)->nodes,
                  .least = least_makespan(task),
                  .order = MER_ARRAY(search->arena, int, task->load->item_count),
                  .bins = MER_ARRAY(search->arena, int, task->load->item_count),
                  .best = MER_ARRAY(search->arena, int, task->load->item_count),
                  .loads = MER_ARRAY(search->arena, double, task->loads->bin_count),
                  .makespan = INFINITY};
    sort_items(task->load, s->order);
    return MER_OK;
}

/* Places the items from `depth` on; `makespan` is that of the items placed so far. */
static void branch(Solver *s, int depth, double makespan)
{
    const Load *load = s->task->load;
    if (depth == load->item_count) {
        s->makespan = makespan;
        memcpy(s->best, s->bins, (size_t)load->item_count * sizeof(int));
        return;
    }
    int item = s->order[depth];
    s->is_cut = s->is_cut || --s->nodes_left < 0 || mer_is_cancelled(s->notes);
    for (int b = 0; b < s->task->loads->bin_count && s->makespan > s->least && !s->is_cut; b++) {
        const Bin *bin = &s->task->loads->bins[b];
        double     before = s->loads[b], after = before + load->items[item].size;
        double     longest = fmax(makespan, after / bin->speed);
        if (after <= bin->capacity && longest < s->makespan) {
            s->loads[b] = after;
            s->bins[item] = b;
            branch(s, depth + 1, longest);
            s->loads[b] = before;
        }
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    Solver *s = state;
    (void)capacity;
    if (s->is_done) {
        return 0;
    }
    branch(s, 0, 0);
    s->is_done = true;
    if (s->makespan == INFINITY || mer_is_cancelled(s->notes)) {
        return 0;
    }
    memcpy(proposals[0].point, s->best, (size_t)s->task->load->item_count * sizeof(int));
    return 1;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count; /* it knows the price already */
}

static bool proof(const void *state, MerBound *result)
{
    const Solver *s = state;
    *result = (MerBound){s->makespan, "search", ""};
    return s->is_done && !s->is_cut && s->makespan < INFINITY;
}

const MerOptimizerClass mer_optimizer_exact_assign = {
    .name = "exact_assign",
    .summary = "branch and bound over the items, the largest first",
    .reference = "textbook",
    .options = solver_options,
    .options_size = sizeof(SolverOptions),
    .state_size = sizeof(Solver),
    .problem = "assign",
    .makes_own_plan = true,
    .open_problem = open_exact,
    .ask = ask,
    .tell = tell,
    .proof = proof,
};

static MerStatus write_labels(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerJson json = {0};
    (void)error;
    mer_json_object(&json, NULL);
    mer_json_text(&json, "assign", what->tasks[0].problem->graph->path);
    mer_json_object(&json, "loads");
    for (int t = 0; t < what->count; t++) {
        const State      *state = what->tasks[t].problem->state;
        const Assignment *assignment = what->tasks[t].plan->content;
        mer_json_object(&json, state->load->name);
        for (int i = 0; i < assignment->count; i++) {
            mer_json_text(&json, state->load->items[i].name, bin_name(state, assignment->bins[i]));
        }
        mer_json_end_object(&json);
    }
    mer_json_end_object(&json);
    mer_json_end_object(&json);
    mer_export_add(files, "labels.json", json.text, json.size);
    mer_json_free(&json);
    return MER_OK;
}

const MerExporterClass mer_exporter_labels = {
    .name = "labels",
    .summary = "labels.json: the bin of each item",
    .problem = "assign",
    .is_plan = true,
    .write = write_labels,
};

static bool has_labels(const MerReadPlans *plans)
{
    return plans->root && plans->root->kind == MER_YAML_MAP && mer_yaml_get(plans->root, "assign");
}

static MerStatus read_labels_of(const Loads *loads, const Load *load, MerYaml *map,
                                MerReadPlan *plan, MerArena *arena, MerError *error)
{
    Assignment *assignment = new_plan(load->item_count, &plan->plan, arena);
    MerYaml    *node;
    plan->task = task_of(load);
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int i = 0; i < load->item_count; i++) {
        MER_TRY(mer_yaml_need(map, load->items[i].name, &node, error));
        MER_TRY(read_bin_name(loads, node, &assignment->bins[i], arena, error));
    }
    return mer_yaml_finish(map, error);
}

static MerStatus read_labels(MerReadPlans *plans, MerError *error)
{
    const char  *path;
    MerGraph    *graph;
    MerYaml     *map, *node;
    const Loads *loads;
    MER_TRY(mer_yaml_text(mer_yaml_get(plans->root, "assign"), &path, error));
    MER_TRY(mer_yaml_need(plans->root, "loads", &map, error));
    MER_TRY(check_map(map, "load", error));
    MER_TRY(mer_graph_import(path, NULL, plans->arena, &graph, error));
    MER_TRY(find_loads(graph, &loads, error));
    plans->graph = graph;
    plans->list = MER_ARRAY(plans->arena, MerReadPlan, loads->load_count);
    for (int l = 0; l < loads->load_count; l++) {
        const Load *load = &loads->loads[l];
        if ((node = mer_yaml_get(map, load->name)) != NULL) {
            MerReadPlan *plan = &plans->list[plans->count++];
            MER_TRY(read_labels_of(loads, load, node, plan, plans->arena, error));
        }
    }
    return mer_yaml_finish(map, error);
}

const MerPlanReaderClass mer_plan_reader_labels = {
    .name = "labels",
    .summary = "labels of items (.json)",
    .problem = "assign",
    .probe = has_labels,
    .read = read_labels,
};
