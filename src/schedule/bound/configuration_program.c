/* The linear program of configuration_program.h, by column generation: durations of configurations, and how many
 * cores have which queue of long jobs.
 *
 *     jobs   each row's jobs are run: by configurations, or where they are long, as parts of queues
 *     links  a long job of a queue is run by configurations
 *     cores  no more queues of a class than cores
 *     time   the cost of all configurations is at most the limit (if the excess is looked for)
 *     spans  phases take as long as they must
 *
 * CLP proposes multipliers; the value is computed from them, with what the best columns are still worth taken
 * off, so it holds whatever CLP does. Times are in parts of the limit. */
#include "schedule/bound/configuration_columns.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 200, MOST_CONFIGURATIONS = 4000, MOST_QUEUES = 2000 };

/* The prices of the bound that is there already. */
static void begin_memory(Columns *columns)
{
    const Relaxation *relaxation = columns->relaxation;
    MerArena         *arena = relaxation->arena;
    int               pairs = relaxation->rows * relaxation->classes;
    for (int i = 0; i < 2; i++) {
        columns->memory[i] = (ColumnPrices){.job = MER_ARRAY(arena, double, relaxation->rows),
                                            .pair = MER_ARRAY(arena, double, pairs),
                                            .core = MER_ARRAY(arena, double, relaxation->classes)};
    }
    memcpy(columns->memory[0].job, relaxation->row_price,
           (size_t)relaxation->rows * sizeof *relaxation->row_price);
    for (int at = 0; at < pairs; at++) {
        columns->memory[0].pair[at] = relaxation->row_price[at / relaxation->classes];
    }
}

static void begin_configurations(Columns *columns)
{
    int classes = columns->relaxation->classes;
    int pairs = columns->relaxation->rows * classes;
    for (int at = 0; at < pairs && at < MOST_CONFIGURATIONS; at++) {
        columns->configuration[columns->configurations++] =
            (Configuration){.jobs = 1,
                            .row = {(int16_t)(at / classes)},
                            .class = {(int16_t)(at % classes)},
                            .need = columns->relaxation->need[at]};
    }
}

static void begin(Columns *columns, const Relaxation *relaxation, const ConfigurationPhase *widest,
                  int most_spans)
{
    MerArena *arena = relaxation->arena;
    int       pairs = relaxation->rows * relaxation->classes;
    int       most_rows = relaxation->rows + pairs + relaxation->classes + 1 + most_spans;
    columns->relaxation = relaxation;
    mer_configurations_begin(&columns->pricer, relaxation, widest);
    columns->is_allowed = MER_ARRAY(arena, bool, pairs);
    columns->is_long = MER_ARRAY(arena, bool, pairs);
    columns->link = MER_ARRAY(arena, int, pairs);
    columns->value = MER_ARRAY(arena, double, pairs);
    columns->worth = MER_ARRAY(arena, double, relaxation->rows);
    columns->price = MER_ARRAY(arena, double, 5 * most_rows);
    columns->proposed = columns->price + most_rows;
    columns->center = columns->proposed + most_rows;
    columns->row_lower = columns->center + most_rows;
    columns->row_upper = columns->row_lower + most_rows;
    columns->configuration = MER_ARRAY(arena, Configuration, MOST_CONFIGURATIONS);
    begin_memory(columns);
}

bool mer_columns_begin(Columns *columns, const Relaxation *relaxation)
{
    *columns = (Columns){.whole.classes = relaxation->classes, .phase_count = 1};
    columns->phase = &columns->whole;
    if (!mer_configurations_fit(relaxation, columns->phase)) {
        return false;
    }
    begin(columns, relaxation, columns->phase, 0);
    mer_core_queues_begin(&columns->core_pricer, relaxation);
    columns->queue = MER_ARRAY(relaxation->arena, CoreQueue, MOST_QUEUES);
    begin_configurations(columns);
    return true;
}

void mer_columns_begin_phases(Columns *columns, const Relaxation *relaxation,
                              const ConfigurationPhase *widest, int most_spans)
{
    *columns =
        (Columns){.most_work = INT64_MAX, .tolerance = 1e-14, .doubt = 1e-9, .answers_early = true};
    begin(columns, relaxation, widest, most_spans);
}

void mer_columns_set_phases(Columns *columns, const ConfigurationPhase *phase, int count)
{
    columns->phase = phase;
    columns->phase_count = count;
    columns->configurations = 0;
}

/* Rows by their order; which pairs are allowed and which are long. False if a job has none. */
static bool number_rows(Columns *columns)
{
    const Relaxation *relaxation = columns->relaxation;
    int               rows = relaxation->rows;
    bool              is_possible = true;
    for (int r = 0; r < relaxation->rows; r++) {
        bool has_core = false;
        for (int at = r * relaxation->classes; at < (r + 1) * relaxation->classes; at++) {
            double load = relaxation->load[at];
            columns->is_allowed[at] =
                relaxation->alone[at] <= columns->limit && load <= columns->core_limit;
            columns->is_long[at] =
                columns->is_allowed[at] && load > columns->core_limit / CORE_PARTS;
            columns->link[at] = columns->is_long[at] ? rows++ : -1;
            has_core = has_core || columns->is_allowed[at];
        }
        is_possible = is_possible && has_core;
    }
    columns->class_row = rows;
    columns->time_row = rows + relaxation->classes;
    columns->span_row = columns->time_row + 1;
    columns->rows = columns->span_row + columns->span_count;
    return is_possible;
}

/* What a cycle of a phase is worth: the jobs that run throughout, and the spans. */
static double phase_value(const Columns *columns, const ConfigurationPhase *phase,
                          const double *price)
{
    double value = 0;
    for (int i = 0; i < phase->runs; i++) {
        value += price[phase->run_row[i]] * columns->limit / phase->run_load[i];
    }
    for (int i = 0; i < columns->span_count; i++) {
        value += phase->spans >> i & 1 ? price[columns->span_row + i] : 0;
    }
    return value;
}

/* What a configuration is worth beyond its cost at the prices that CLP proposed. */
static double proposed_worth(const Columns *columns, const Configuration *configuration)
{
    ConfigurationCost cost = mer_columns_cost(columns, columns->proposed[columns->time_row]);
    double            worth = -mer_configuration_cost(cost, configuration->need);
    worth += phase_value(columns, &columns->phase[configuration->phase], columns->proposed);
    for (int i = 0; i < configuration->jobs; i++) {
        int at = configuration->row[i] * columns->relaxation->classes + configuration->class[i];
        int row = mer_columns_row(columns, configuration->row[i], configuration->class[i]);
        worth += columns->proposed[row] * columns->limit / columns->relaxation->load[at];
    }
    return worth;
}

static bool keep_configurations(Columns *columns, int phase)
{
    bool is_new = false;
    for (int i = columns->pricer.kept - 1; i >= 0; i--) {
        Configuration *configuration = &columns->pricer.best[i];
        configuration->phase = phase;
        is_new = is_new || proposed_worth(columns, configuration) > columns->tolerance;
        if (columns->configurations < MOST_CONFIGURATIONS) {
            columns->configuration[columns->configurations++] = *configuration;
        }
    }
    return is_new;
}

static bool keep_queue(Columns *columns, const CoreQueue *queue)
{
    double worth = -columns->proposed[columns->class_row + queue->class];
    for (int i = 0; i < queue->jobs; i++) {
        worth += columns->proposed[queue->row[i]] -
                 columns->proposed[mer_columns_row(columns, queue->row[i], queue->class)];
    }
    bool is_new = worth > columns->tolerance && columns->queues < MOST_QUEUES;
    if (is_new) {
        columns->queue[columns->queues++] = *queue;
    }
    return is_new;
}

/* The best queues at the prices, which become the prices of the cores; their sum. */
static double price_cores(Columns *columns, bool *is_new)
{
    const Relaxation *relaxation = columns->relaxation;
    double            sum = 0;
    for (int c = 0; c < relaxation->classes; c++) {
        CoreQueue queue;
        for (int r = 0; r < relaxation->rows; r++) {
            columns->worth[r] = columns->price[r] - columns->price[mer_columns_row(columns, r, c)];
        }
        double most = mer_core_queues_price(&columns->core_pricer, c, columns->worth,
                                            columns->is_long, columns->core_limit, &queue);
        *is_new = keep_queue(columns, &queue) || *is_new;
        columns->price[columns->class_row + c] = most;
        sum += relaxation->units[c] * most;
    }
    return sum;
}

/* The same for configurations: the most that one is worth beyond its cost. */
static double price_configurations(Columns *columns, double time_price, bool *is_new)
{
    double most = 0;
    for (int p = 0; p < columns->phase_count; p++) {
        const ConfigurationPhase *phase = &columns->phase[p];
        if (columns->pricer.phase != phase) {
            mer_configurations_enter(&columns->pricer, phase);
        }
        double own = mer_configurations_price(&columns->pricer, columns->value,
                                              phase_value(columns, phase, columns->price),
                                              mer_columns_cost(columns, time_price));
        most = fmax(most, own);
        *is_new = keep_configurations(columns, p) || *is_new;
    }
    return most;
}

/* Makes the prices fit for all columns that there may be, and says what they prove; adds columns that were
 * worth more than they cost at CLP's own prices, if there are any. */
static bool improve(Columns *columns)
{
    const Relaxation *relaxation = columns->relaxation;
    int               pairs = relaxation->rows * relaxation->classes;
    double            time_price = columns->is_excess ? columns->price[columns->time_row] : 0;
    double            sum = 0;
    double least = columns->phase->busy ? DBL_MIN : 0; /* who must not idle takes what is there */
    for (int at = 0; at < pairs; at++) {
        int    row = mer_columns_row(columns, at / relaxation->classes, at % relaxation->classes);
        double value = columns->price[row] * columns->limit / relaxation->load[at];
        columns->value[at] = columns->is_allowed[at] ? fmax(value, least) : 0;
    }
    for (int r = 0; r < relaxation->rows; r++) {
        sum += columns->price[r] * relaxation->count[r];
    }
    for (int i = 0; i < columns->span_count; i++) {
        sum += columns->price[columns->span_row + i] * columns->span[i] / columns->limit;
    }
    bool   is_new = false;
    double most = price_configurations(columns, time_price, &is_new);
    sum -= isinf(columns->core_limit) ? 0 : price_cores(columns, &is_new);
    /* A cycle of the limit more pays for what a configuration is worth too much, and so does a part of all
     * prices, since every configuration costs at least 1. */
    double shrink = columns->is_excess ? 1 : 1 / (1 + most);
    double value = columns->is_excess ? sum - time_price - most : sum * shrink;
    if (value * columns->limit > columns->best) {
        columns->best = value * columns->limit;
        for (int r = 0; r < columns->rows; r++) {
            columns->center[r] = columns->price[r] * shrink;
        }
        columns->center[columns->time_row] = columns->is_excess ? time_price + most : 0;
    }
    return is_new;
}

/* Whether CLP need not be asked again, since nothing below the limit is left. */
static bool is_answered(const Columns *columns)
{
    return columns->answers_early && columns->best > columns->limit;
}

/* Between the best prices so far and CLP's, which jump about, or else CLP's own. */
static bool improve_near_center(Columns *columns)
{
    for (int way = 0; way < 2; way++) {
        for (int r = 0; r < columns->rows; r++) {
            columns->price[r] =
                way == 0 ? (columns->center[r] + columns->proposed[r]) / 2 : columns->proposed[r];
        }
        if (improve(columns)) {
            return true;
        }
        if (is_answered(columns)) {
            return false;
        }
    }
    return false;
}

/* The best prices of one program are where the next begins: they are kept in cycles, or taken from there. */
static void move_price(double *kept, double *center, double limit, bool is_recall)
{
    *(is_recall ? center : kept) = is_recall ? *kept / limit : *center * limit;
}

static void move_prices(Columns *columns, bool is_recall)
{
    const Relaxation *relaxation = columns->relaxation;
    ColumnPrices     *memory = &columns->memory[columns->is_excess];
    double           *center = columns->center;
    double            limit = columns->limit;
    for (int r = 0; r < relaxation->rows; r++) {
        move_price(&memory->job[r], &center[r], limit, is_recall);
    }
    for (int at = 0; at < relaxation->rows * relaxation->classes; at++) {
        int row = mer_columns_row(columns, at / relaxation->classes, at % relaxation->classes);
        if (!is_recall || columns->link[at] >= 0) { /* the row of the job has its own */
            move_price(&memory->pair[at], &center[row], limit, is_recall);
        }
    }
    for (int c = 0; c < relaxation->classes; c++) {
        move_price(&memory->core[c], &center[columns->class_row + c], limit, is_recall);
    }
    move_price(&memory->time, &center[columns->time_row], 1, is_recall);
    for (int i = 0; i < columns->span_count; i++) {
        double *price = &center[columns->span_row + i];
        move_price(&memory->span[i], price, 1, is_recall);
        *price =
            is_recall && columns->is_least[i] ? fmax(0, *price) : *price; /* of another program */
    }
}

int64_t mer_columns_work(const Columns *columns)
{
    return columns->lp_work + columns->pricer.work + columns->core_pricer.work;
}

bool mer_columns_are_exhausted(const Columns *columns)
{
    return mer_columns_work(columns) >= columns->most_work ||
           columns->configurations + CONFIGURATIONS_KEPT > MOST_CONFIGURATIONS;
}

static void propose_prices(Columns *columns, Clp_Simplex *model)
{
    Clp_primal(model, 0);
    columns->lp_work += 2000 + (int64_t)Clp_numberIterations(model) * (columns->rows + 20) * 5;
    const double *price = Clp_dualRowSolution(model);
    for (int r = 0; r < columns->rows; r++) {
        bool is_equality = r >= columns->span_row && !columns->is_least[r - columns->span_row];
        columns->proposed[r] = is_equality ? price[r] : fmax(0, price[r]);
    }
}

/* Until no column is worth adding. */
static void ask_clp(Columns *columns, ColumnsGoal goal)
{
    double       limit = columns->limit;
    Clp_Simplex *model = mer_columns_new_model(columns);
    for (int round = 0; round < ROUNDS && !mer_columns_are_exhausted(columns) &&
                        !mer_is_cancelled(columns->relaxation->notes);
         round++) {
        mer_columns_load(model, columns);
        propose_prices(columns, model);
        double relaxed = Clp_objectiveValue(model) * limit;
        bool   is_above = goal != COLUMNS_EXCESS && columns->best > limit;
        bool   is_below = goal == COLUMNS_QUESTION && relaxed <= limit * (1 - columns->doubt);
        if (is_above || is_below || !improve_near_center(columns) || is_answered(columns) ||
            columns->best >= relaxed - 10 * columns->tolerance * limit) {
            break;
        }
    }
    Clp_deleteModel(model);
}

double mer_columns_solve(Columns *columns, double limit, double core_limit, ColumnsGoal goal)
{
    columns->limit = limit;
    columns->core_limit = core_limit;
    columns->is_excess = goal == COLUMNS_EXCESS;
    columns->best = 0;
    columns->loaded = columns->loaded_queues = 0;
    columns->pricer.phase = NULL;
    if (!number_rows(columns)) {
        return INFINITY;
    }
    move_prices(columns, true);
    memcpy(columns->price, columns->center, (size_t)columns->rows * sizeof *columns->price);
    memcpy(columns->proposed, columns->center, (size_t)columns->rows * sizeof *columns->price);
    improve(columns);
    if (!is_answered(columns)) {
        ask_clp(columns, goal);
    }
    move_prices(columns, false);
    return columns->best;
}
