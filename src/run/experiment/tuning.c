/* The loop of tuning: settings are asked for, run on all training workloads with several seeds, and told as
 * ratios to what the defaults reach. */
#include "run/experiment/tuning.h"

#include "base/memory.h"
#include "base/stats.h"
#include "mercator/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCH_STREAM = 7001 };

typedef struct Outcome { /* one run */
    int       task_count;
    double   *scores; /* by task, smaller is better; INFINITY: nothing feasible */
    double   *values;
    MerStatus status;
    MerError  error;
} Outcome;

typedef struct Tuner {
    const MerTuneSpec *spec;
    MerArena          *arena;
    MerPool           *pool;
    MerSpace           space;
    /* the measurement at hand */
    const MerRunSpec *runs;
    int               seeds;
    uint64_t          first_seed;
    const void       *options;
    Outcome          *outcomes; /* [run * seeds + seed] */
} Tuner;

static bool is_cancelled(void *state)
{
    const MerTuneSpec *spec = state;
    return spec->hooks.is_cancelled && spec->hooks.is_cancelled(spec->hooks.state);
}

static void work(void *context, int index, int worker)
{
    (void)worker;
    Tuner       *tuner = context;
    Outcome     *outcome = &tuner->outcomes[index];
    MerArena    *arena = mer_arena_new();
    MerRunSpec   spec = tuner->runs[index / tuner->seeds];
    MerRunHooks  hooks = {(void *)tuner->spec, is_cancelled, NULL, NULL};
    MerRunResult result;
    spec.optimizer = tuner->spec->optimizer;
    spec.optimizer_options = tuner->options;
    spec.seed = tuner->first_seed + (uint64_t)(index % tuner->seeds);
    spec.directory = spec.warm = spec.policy = spec.save_policy = NULL;
    spec.resume = false;
    spec.threads = 1;
    outcome->status = mer_run(&spec, &hooks, arena, &result, &outcome->error);
    if (outcome->status == MER_OK) {
        outcome->task_count = result.task_count;
        outcome->scores = mer_heap_zeroed(2 * (size_t)result.task_count, sizeof(double));
        outcome->values = outcome->scores + result.task_count;
        for (int t = 0; t < result.task_count; t++) {
            outcome->scores[t] = result.tasks[t].point ? result.tasks[t].score : INFINITY;
            outcome->values[t] = result.tasks[t].point ? result.tasks[t].value : NAN;
        }
    }
    mer_arena_free(arena);
}

/* From the heap, which threads can share, to the arena. */
static void keep(Outcome *outcome, MerArena *arena)
{
    size_t  count = 2 * (size_t)outcome->task_count;
    double *kept = MER_ARRAY(arena, double, count);
    if (count > 0) {
        memcpy(kept, outcome->scores, count * sizeof *kept);
    }
    free(outcome->scores);
    outcome->scores = kept;
    outcome->values = kept + outcome->task_count;
}

/* All runs with one setting, side by side; the order of results does not depend on that. */
static MerStatus measure(Tuner *tuner, const MerRunSpec *runs, int count, uint64_t first_seed,
                         const void *options, Outcome **outcomes, MerError *error)
{
    tuner->runs = runs;
    tuner->seeds = tuner->spec->seeds;
    tuner->first_seed = first_seed;
    tuner->options = options;
    *outcomes = tuner->outcomes = MER_ARRAY(tuner->arena, Outcome, count * tuner->seeds + 1);
    mer_pool_run(tuner->pool, count * tuner->seeds, work, tuner);
    for (int i = 0; i < count * tuner->seeds; i++) {
        keep(&(*outcomes)[i], tuner->arena);
    }
    for (int i = 0; i < count * tuner->seeds; i++) {
        if ((*outcomes)[i].status != MER_OK) {
            *error = (*outcomes)[i].error;
            return (*outcomes)[i].status;
        }
    }
    return MER_OK;
}

/* How a result compares: below 1 is better. Maximised objectives have negative scores. */
static double log_ratio(double score, double reference)
{
    static const double failed = 2.302585; /* ten times worse */
    if (!isfinite(score) || !isfinite(reference)) {
        return isfinite(score) ? -failed : isfinite(reference) ? failed : 0;
    }
    if (score < 0 && reference < 0) {
        return log(reference / score);
    }
    return score > 0 && reference > 0 ? log(score / reference) : 0;
}

/* The mean logarithm over the seeds of one task. */
static double compare_task(const Outcome *mine, const Outcome *theirs, int seeds, int task)
{
    double sum = 0;
    for (int s = 0; s < seeds; s++) {
        sum += log_ratio(mine[s].scores[task], theirs[s].scores[task]);
    }
    return sum / seeds;
}

static double compare_all(const Outcome *mine, const Outcome *theirs, int runs, int seeds)
{
    double sum = 0;
    int    tasks = 0;
    for (int r = 0; r < runs; r++) {
        for (int t = 0; t < mine[r * seeds].task_count; t++) {
            sum += compare_task(mine + r * seeds, theirs + r * seeds, seeds, t);
            tasks++;
        }
    }
    return tasks > 0 ? exp(sum / tasks) : 1;
}

/* Options of a setting; `text` says what differs from the defaults. */
static MerStatus make_options(Tuner *tuner, const MerIndex *point, const MerIndex *defaults,
                              const void **options, const char **text, MerError *error)
{
    const MerOptimizerClass *type = tuner->spec->optimizer;
    MerReference             none = {.name = type->name};
    void                    *filled = mer_arena_alloc(tuner->arena, type->options_size);
    *text = "";
    *options = filled;
    MER_TRY(mer_options_fill(type->options, type->presets, filled,
                             tuner->spec->fixed ? tuner->spec->fixed : &none, tuner->arena, error));
    for (int k = 0; k < tuner->space.knob_count; k++) {
        const MerKnob *knob = &tuner->space.knobs[k];
        const char    *value = mer_arena_format(tuner->arena, "%.6g", knob->values[point[k]]);
        if (point[k] != defaults[k]) {
            *text = mer_arena_format(tuner->arena, "%s%s%s=%s", *text, **text ? "," : "",
                                     knob->name, value);
            MER_TRY(mer_options_set(type->options, filled, type->name, knob->name, value,
                                    tuner->arena, error));
        }
    }
    return MER_OK;
}

typedef struct Search { /* the searcher, opened on the space of settings */
    const MerOptimizerClass *type;
    void                    *state;
    MerSearch                search;
    MerRng                   rng;
    MerIndex                *point;
} Search;

static MerStatus open_search(Tuner *tuner, Search *s, MerError *error)
{
    const MerTuneSpec *spec = tuner->spec;
    s->type = spec->searcher;
    s->rng = mer_rng_make(spec->seed, SEARCH_STREAM);
    s->search = (MerSearch){.space = &tuner->space,
                            .task_count = 1,
                            .objective = MER_METRIC_COUNT,
                            .budget = spec->budget,
                            .rng = &s->rng,
                            .arena = tuner->arena};
    s->state = mer_arena_alloc(tuner->arena, s->type->state_size + 1);
    s->point = MER_ARRAY(tuner->arena, MerIndex, tuner->space.knob_count + 1);
    if (!s->type->open) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "%s solves one problem and cannot search settings; give --tune-with another",
            s->type->name);
    }
    const void *options = mer_options_or_defaults(spec->searcher_options, s->type->options,
                                                  s->type->options_size, tuner->arena);
    return s->type->open(s->state, &s->search, options, error);
}

static void tell(Search *s, int64_t index, const MerIndex *point, double score, bool is_warm)
{
    MerCost cost;
    mer_cost_clear(&cost);
    MerTrial trial = {index, point, &cost, score, is_warm};
    s->type->tell(s->state, &trial, 1);
}

/* Tries settings one by one; `best` gets the options of the best. */
static MerStatus search_settings(Tuner *tuner, Search *s, const MerIndex *defaults,
                                 const void *initial, const Outcome *reference, const void **best,
                                 MerTuneResult *result, MerError *error)
{
    const MerTuneSpec *spec = tuner->spec;
    result->trials[0] = (MerTuneTrial){"", 1};
    result->trial_count = 1;
    *best = initial;
    tell(s, 0, defaults, 1, true);
    for (int64_t i = 1; i <= spec->budget && !is_cancelled((void *)spec); i++) {
        MerProposal  proposal = {s->point, INFINITY, -1};
        Outcome     *outcomes;
        const void  *options;
        MerTuneTrial trial;
        if (s->type->ask(s->state, &proposal, 1) == 0) {
            break;
        }
        MER_TRY(make_options(tuner, s->point, defaults, &options, &trial.setting, error));
        MER_TRY(
            measure(tuner, spec->train, spec->train_count, spec->seed, options, &outcomes, error));
        if (is_cancelled((void *)spec)) {
            break; /* not every run has ended as it should */
        }
        trial.ratio = compare_all(outcomes, reference, spec->train_count, spec->seeds);
        tell(s, i, s->point, trial.ratio, false);
        if (trial.ratio < result->trials[result->best].ratio) {
            *best = options;
            result->best = result->trial_count;
        }
        result->trials[result->trial_count++] = trial;
        if (spec->tried) {
            spec->tried(spec->hooks.state, i, trial.setting, trial.ratio);
        }
    }
    return MER_OK;
}

static double mean_value(const Outcome *outcomes, int seeds, int task)
{
    double sum = 0;
    for (int s = 0; s < seeds; s++) {
        sum += outcomes[s].values[task];
    }
    return sum / seeds;
}

static void sum_up(const double *logs, int count, MerTuneSide *side)
{
    *side = (MerTuneSide){.tasks = count, .ratio = NAN, .low = NAN, .high = NAN};
    for (int i = 0; i < count; i++) {
        side->better += logs[i] < 0;
        side->worse += logs[i] > 0;
    }
    if (count > 0) {
        double mean = mer_mean(logs, count);
        double half =
            count > 1 ? mer_student(count) * sqrt(mer_variance(logs, count) / count) : NAN;
        side->ratio = exp(mean);
        side->low = exp(mean - half);
        side->high = exp(mean + half);
    }
}

static const char *task_name(const MerRunSpec *run, int task, MerArena *arena)
{
    const MerTask *tasks;
    int            count;
    bool is_known = mer_run_list_tasks(run, arena, &tasks, &count, NULL) == MER_OK && task < count;
    return is_known ? tasks[task].name : run->name;
}

/* Defaults against the best setting on fresh seeds. */
static MerStatus check(Tuner *tuner, bool is_test, const void *initial, const void *best,
                       MerTuneResult *result, MerTuneSide *side, MerError *error)
{
    const MerTuneSpec *spec = tuner->spec;
    const MerRunSpec  *runs = is_test ? spec->test : spec->train;
    int                count = is_test ? spec->test_count : spec->train_count;
    int                seeds = spec->seeds;
    uint64_t           fresh = spec->seed + (uint64_t)seeds;
    int                tasks = 0;
    double            *logs = NULL;
    Outcome           *before, *after;
    MER_TRY(measure(tuner, runs, count, fresh, initial, &before, error));
    MER_TRY(measure(tuner, runs, count, fresh, best, &after, error));
    for (int r = 0; r < count; r++) {
        for (int t = 0; t < before[r * seeds].task_count; t++) {
            MER_GROW(tuner->arena, logs, tasks);
            logs[tasks] = compare_task(after + r * seeds, before + r * seeds, seeds, t);
            MER_GROW(tuner->arena, result->rows, result->row_count);
            result->rows[result->row_count++] =
                (MerTuneRow){runs[r].name,
                             task_name(&runs[r], t, tuner->arena),
                             is_test,
                             mean_value(before + r * seeds, seeds, t),
                             mean_value(after + r * seeds, seeds, t),
                             exp(logs[tasks])};
            tasks++;
        }
    }
    sum_up(logs, tasks, side);
    return MER_OK;
}

static const char *make_reference(const Tuner *tuner, const char *setting)
{
    const MerReference *fixed = tuner->spec->fixed;
    const char         *text = tuner->spec->optimizer->name;
    char                before = ':';
    for (int i = 0; fixed && i < fixed->count; i++) {
        text = mer_arena_format(tuner->arena, "%s%c%s=%s", text, before, fixed->keys[i],
                                fixed->values[i]);
        before = ',';
    }
    return *setting ? mer_arena_format(tuner->arena, "%s%c%s", text, before, setting) : text;
}

static MerStatus tune(Tuner *tuner, Search *search, const MerIndex *defaults, MerTuneResult *result,
                      MerError *error)
{
    const MerTuneSpec *spec = tuner->spec;
    const void        *initial, *best;
    const char        *nothing;
    Outcome           *reference;
    MER_TRY(make_options(tuner, defaults, defaults, &initial, &nothing, error));
    MER_TRY(measure(tuner, spec->train, spec->train_count, spec->seed, initial, &reference, error));
    MER_TRY(search_settings(tuner, search, defaults, initial, reference, &best, result, error));
    result->was_cancelled = is_cancelled((void *)spec);
    if (!result->was_cancelled) {
        MER_TRY(check(tuner, false, initial, best, result, &result->train, error));
    }
    if (!result->was_cancelled && spec->test_count > 0) {
        MER_TRY(check(tuner, true, initial, best, result, &result->test, error));
    }
    result->reference = make_reference(tuner, result->trials[result->best].setting);
    return MER_OK;
}

MerStatus mer_tune(const MerTuneSpec *spec, MerArena *arena, MerTuneResult *result, MerError *error)
{
    Tuner     tuner = {.spec = spec, .arena = arena};
    Search    search;
    MerIndex *defaults;
    MerError  ignored = {0};
    error = error ? error : &ignored;
    *result = (MerTuneResult){.trials = MER_ARRAY(arena, MerTuneTrial, spec->budget + 1)};
    MER_TRY(mer_tune_space(spec->optimizer, spec->fixed, &tuner.space, &defaults, arena, error));
    MER_TRY(open_search(&tuner, &search, error));
    tuner.pool = mer_pool_new(spec->threads > 0 ? spec->threads : mer_cpu_count());
    MerStatus status = tune(&tuner, &search, defaults, result, error);
    if (search.type->close) {
        search.type->close(search.state);
    }
    mer_pool_free(tuner.pool);
    return status;
}
