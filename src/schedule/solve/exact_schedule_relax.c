/* The relaxation of exact_schedule.h by column generation: CLP proposes multipliers, all configurations are
 * walked for those that are worth more than they cost, until there are none. What is left of their worth is
 * taken off the bound, so rounding cannot make it too high. */
#include "schedule/solve/exact_schedule.h"

#include <Clp_C_Interface.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 300, ROUND_STEPS = 500, WALK_LIMIT = 4000000, ROWS = EXACT_JOBS + EXACT_SPANS };

typedef struct Column { /* a configuration */
    int    count;       /* jobs beside those that run throughout the phase */
    int8_t job[EXACT_JOBS], unit[EXACT_JOBS];
    double cost, worth; /* worth: what it gains beyond its cost */
} Column;

typedef struct Walk { /* over the configurations of a phase */
    const ExactJobs  *jobs;
    const ExactPhase *phase;
    double            value[EXACT_JOBS][MER_BANDWIDTH_UNITS]; /* of a cycle of the job */
    double            most[MER_BANDWIDTH_UNITS];              /* of a job that the class may take */
    double  most_own[MER_BANDWIDTH_UNITS + 1]; /* of all that places from here on may do */
    int     free[MER_BANDWIDTH_UNITS], must[MER_BANDWIDTH_UNITS]; /* units by class */
    Column  now;
    Column  best[EXACT_JOBS + 1]; /* with each job, and the best of all */
    int64_t steps;
} Walk;

static void keep_column(Walk *walk, double worth, double cost)
{
    walk->now.worth = worth;
    walk->now.cost = cost;
    if (worth > walk->best[EXACT_JOBS].worth) {
        walk->best[EXACT_JOBS] = walk->now;
    }
    for (int i = 0; i < walk->now.count; i++) {
        Column *best = &walk->best[walk->now.job[i]];
        if (worth > best->worth) {
            *best = walk->now;
        }
    }
}

static void take(Walk *walk, int job, int unit)
{
    walk->now.job[walk->now.count] = (int8_t)job;
    walk->now.unit[walk->now.count++] = (int8_t)unit;
}

/* The free units of `class` and the classes behind it take jobs from number `from` on, each or none. */
static void walk_class(Walk *walk, int class, int from, uint32_t used, double value, double need)
{
    walk->steps++;
    while (class < walk->jobs->units && walk->free[class] == 0) {
        class ++;
        from = 0;
    }
    double cost = fmax(1, need);
    double most = 0;
    for (int c = class; c < walk->jobs->units; c++) {
        most += walk->free[c] * walk->most[c];
    }
    if (value + most <= cost || walk->steps > WALK_LIMIT) {
        return;
    }
    if (class == walk->jobs->units) {
        keep_column(walk, value - cost, cost);
        return;
    }
    uint32_t left = walk->phase->others[class] & ~used & ~(uint32_t)0 << from;
    int      free = walk->free[class];
    int      must = walk->must[class];
    walk->free[class]--;
    walk->must[class] -= must > 0;
    for (; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        take(walk, job, class);
        walk_class(walk, class, job + 1, used | (uint32_t)1 << job, value + walk->value[job][class],
                   need + walk->jobs->need[job][class]);
        walk->now.count--;
    }
    if (must == 0) {
        walk->free[class] = 0;
        walk_class(walk, class, 0, used, value, need);
    }
    walk->free[class] = free;
    walk->must[class] = must;
}

/* Units take jobs of their own, or are left for the others. */
static void walk_own(Walk *walk, int place, uint32_t used, double value, double need)
{
    const ExactPhase *phase = walk->phase;
    while (place < phase->unit_count && !phase->own[place]) {
        place++;
    }
    if (place == phase->unit_count) {
        walk_class(walk, 0, 0, used, value, need);
        return;
    }
    walk->steps++;
    if (value + walk->most_own[place] <= fmax(1, need)) {
        return;
    }
    int unit = phase->unit[place];
    int class = walk->jobs->unit_class[unit];
    walk->free[class]--;
    walk->must[class] -= !phase->may_idle[place];
    for (uint32_t left = phase->own[place]; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        take(walk, job, unit);
        walk_own(walk, place + 1, used | (uint32_t)1 << job, value + walk->value[job][unit],
                 need + walk->jobs->need[job][unit]);
        walk->now.count--;
    }
    walk->free[class]++;
    walk->must[class] += !phase->may_idle[place];
    walk_own(walk, place + 1, used, value, need);
}

static double most_value(const Walk *walk, uint32_t jobs, int unit)
{
    double most = 0;
    for (; jobs; jobs &= jobs - 1) {
        most = fmax(most, walk->value[__builtin_ctz(jobs)][unit]);
    }
    return most;
}

/* `most_own` counts every free unit from the place on with the best of what it may do, and those before it that
 * have none of their own. */
static void prepare_walk(Walk *walk, const ExactRelaxation *relaxation, const ExactPhase *phase)
{
    const ExactJobs *jobs = relaxation->jobs;
    walk->jobs = jobs;
    walk->phase = phase;
    walk->now.count = 0;
    memset(walk->free, 0, sizeof walk->free);
    memset(walk->must, 0, sizeof walk->must);
    for (int i = 0; i <= EXACT_JOBS; i++) {
        walk->best[i].worth = 0;
    }
    double all = 0;
    for (int i = 0; i < phase->unit_count; i++) {
        int unit = phase->unit[i];
        int class = jobs->unit_class[unit];
        for (int j = 0; j < jobs->jobs; j++) {
            walk->value[j][unit] = relaxation->price[j] / jobs->length[j][unit];
            walk->value[j][class] = relaxation->price[j] / jobs->length[j][class];
        }
        walk->free[class]++;
        walk->must[class] += !phase->may_idle[i];
        walk->most[class] = most_value(walk, phase->others[class], class);
        all += walk->most[class];
    }
    walk->most_own[phase->unit_count] = all;
    for (int i = phase->unit_count - 1; i >= 0; i--) {
        int    unit = phase->unit[i];
        double own = most_value(walk, phase->own[i], unit);
        walk->most_own[i] =
            walk->most_own[i + 1] + fmax(0, own - walk->most[jobs->unit_class[unit]]);
    }
}

/* What the configurations of a phase begin with: jobs that run throughout, and spans. */
static void walk_phase(Walk *walk, const ExactRelaxation *relaxation, const ExactPhase *phase)
{
    const ExactJobs *jobs = relaxation->jobs;
    double           value = 0, need = 0;
    prepare_walk(walk, relaxation, phase);
    for (int i = 0; i < relaxation->span_count; i++) {
        value += phase->spans >> i & 1 ? relaxation->span_price[i] : 0;
    }
    for (uint32_t left = phase->runs; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        int unit = relaxation->unit_of_job[job];
        value += relaxation->price[job] / jobs->length[job][unit];
        need += jobs->need[job][unit];
    }
    walk_own(walk, 0, 0, value, need);
}

/* Times are in parts of the limit. */
static void add_column(Clp_Simplex *model, const ExactRelaxation *relaxation,
                       const ExactPhase *phase, const Column *column)
{
    int    rows[ROWS];
    double values[ROWS];
    int    count = 0;
    for (int i = 0; i < column->count; i++) {
        rows[count] = column->job[i];
        values[count++] =
            relaxation->limit / relaxation->jobs->length[column->job[i]][column->unit[i]];
    }
    for (uint32_t left = phase->runs; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        rows[count] = job;
        values[count++] =
            relaxation->limit / relaxation->jobs->length[job][relaxation->unit_of_job[job]];
    }
    for (int i = 0; i < relaxation->span_count; i++) {
        if (phase->spans >> i & 1) {
            rows[count] = relaxation->jobs->jobs + i;
            values[count++] = 1;
        }
    }
    const CoinBigIndex starts[2] = {0, count};
    const double       lower = 0, upper = INFINITY;
    Clp_addColumns(model, 1, &lower, &upper, &column->cost, starts, rows, values);
}

/* Rows: every job is run, every span has its duration. They can always be met, at a price that no schedule
 * pays. */
static Clp_Simplex *new_model(const ExactRelaxation *relaxation)
{
    Clp_Simplex *model = Clp_newModel();
    double       lower[ROWS], upper[ROWS];
    int          jobs = relaxation->jobs->jobs;
    int          rows = jobs + relaxation->span_count;
    for (int r = 0; r < rows; r++) {
        lower[r] = r < jobs ? 1 : relaxation->span[r - jobs] / relaxation->limit;
        upper[r] = r < jobs || relaxation->is_least[r - jobs] ? INFINITY : lower[r];
    }
    Clp_setLogLevel(model, 0);
    Clp_setPerturbation(model, 50); /* always: many columns are equally good, it might stall */
    Clp_setDualTolerance(model, 1e-11);
    Clp_setPrimalTolerance(model, 1e-10);
    Clp_resize(model, rows, 0);
    Clp_chgRowLower(model, lower);
    Clp_chgRowUpper(model, upper);
    for (int r = 0; r < rows; r++) {
        for (int side = 0; side < (isinf(upper[r]) ? 1 : 2); side++) {
            const CoinBigIndex starts[2] = {0, 1};
            const double       zero = 0, infinite = INFINITY, cost = 100;
            const double       value = side == 0 ? 1 : -1;
            Clp_addColumns(model, 1, &zero, &infinite, &cost, starts, &r, &value);
        }
    }
    return model;
}

static void take_prices(Clp_Simplex *model, ExactRelaxation *relaxation)
{
    const double *price = Clp_dualRowSolution(model);
    const double *upper = Clp_rowUpper(model);
    int           jobs = relaxation->jobs->jobs;
    relaxation->value = 0;
    for (int r = 0; r < jobs + relaxation->span_count; r++) {
        double own = upper[r] > 1e100 ? fmax(0, price[r]) : price[r];
        if (r < jobs) {
            relaxation->price[r] = relaxation->limit * own;
            relaxation->value += relaxation->price[r];
        } else {
            relaxation->span_price[r - jobs] = own;
            relaxation->value += own * relaxation->span[r - jobs];
        }
    }
}

static bool is_same(const Column *a, const Column *b)
{
    return a->count == b->count && memcmp(a->job, b->job, (size_t)a->count) == 0 &&
           memcmp(a->unit, b->unit, (size_t)a->count) == 0;
}

/* Adds what is worth more than it costs; the most that any is. */
static double add_columns(Clp_Simplex *model, ExactRelaxation *relaxation)
{
    Walk   walk = {.steps = 0};
    double most = 0;
    for (int p = 0; p < relaxation->phase_count; p++) {
        walk_phase(&walk, relaxation, &relaxation->phase[p]);
        most = fmax(most, walk.best[EXACT_JOBS].worth);
        for (int j = 0; j <= EXACT_JOBS; j++) {
            bool is_new = walk.best[j].worth > 1e-13;
            for (int k = 0; k < j && is_new; k++) {
                is_new = walk.best[k].worth <= 0 || !is_same(&walk.best[k], &walk.best[j]);
            }
            if (is_new) {
                add_column(model, relaxation, &relaxation->phase[p], &walk.best[j]);
            }
        }
    }
    relaxation->steps += walk.steps + ROUND_STEPS;
    return walk.steps > WALK_LIMIT ? INFINITY : most;
}

void exact_relaxation_solve(ExactRelaxation *relaxation)
{
    const double rounded = 1e-13; /* of the cost of a cycle */
    Clp_Simplex *model = new_model(relaxation);
    double       best = 0, overpriced = 0;
    double       price[EXACT_JOBS] = {0}, span_price[EXACT_SPANS] = {0};
    relaxation->steps = 0;
    for (int round = 0; round < ROUNDS; round++) {
        Clp_primal(model, 0);
        take_prices(model, relaxation);
        double most = add_columns(model, relaxation);
        double value = relaxation->value - most * relaxation->limit;
        if (value > best) {
            best = value;
            overpriced = most;
            memcpy(price, relaxation->price, sizeof price);
            memcpy(span_price, relaxation->span_price, sizeof span_price);
        }
        bool is_open = relaxation->is_question && Clp_objectiveValue(model) < 1 - 1e-9;
        if (most <= rounded || isinf(most) || best >= relaxation->limit || is_open ||
            exact_stop_now(relaxation->stop)) {
            break;
        }
    }
    Clp_deleteModel(model);
    relaxation->value = best;
    relaxation->overpriced = overpriced;
    memcpy(relaxation->price, price, sizeof price);
    memcpy(relaxation->span_price, span_price, sizeof span_price);
}
