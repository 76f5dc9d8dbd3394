/* Evaluator `command`: asks a program of the user what a plan costs. One JSON object per line goes in, one comes out
 * (docs/own-evaluator.md). */
#include "base/json_read.h"
#include "base/memory.h"
#include "base/option_rows.h"
#include "mercator/evaluator.h"
#include "mercator/text.h"
#include "run/command/worker.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { HOPELESS = 3 }; /* failures before the first answer */
static const double GOODBYE_S = 0.2;

typedef struct Options {
    const char *run;
    int64_t     workers;
    double      timeout_s;
    bool        check;
} Options;

static const MerOption options[] = {
    MER_TEXT(run, "",
             "line of the shell: reads a JSON object per line, writes one per line; `command:LINE` "
             "is short for it"),
    MER_INT(workers, "0", 0, 1024, "programs at the same time; 0: one for each thread of the run"),
    MER_REAL(timeout_s, "10", 1e-3, 1e6,
             "seconds that one plan may take, the start of the program included"),
    MER_BOOL(check, "true",
             "ask only about plans that the problem's own evaluator does not refuse; all of them "
             "count against the budget"),
    {0}};

typedef struct Crew { /* the programs, handed out one by one */
    pthread_mutex_t lock;
    pthread_cond_t  is_back;
    int             count, limit; /* limit 0: none */
    int             failures;
    bool            has_answered;
    struct Place {
        MerWorker worker;
        bool      is_busy;
    } * *places;
} Crew;

typedef struct State {
    const MerProblem *problem;
    Options           options;
    Crew             *crew;
} State;

static MerStatus open_command(void *opened, const MerProblem *problem, const void *given,
                              MerArena *arena, MerError *error)
{
    State *state = opened;
    (void)arena;
    *state = (State){.problem = problem, .options = *(const Options *)given};
    if (!state->options.run || state->options.run[0] == '\0') {
        return mer_error_set(error, MER_INVALID,
                             "evaluator command has no command, expected command:'./simulator'");
    }
    state->crew = mer_heap_zeroed(1, sizeof *state->crew);
    state->crew->limit = (int)state->options.workers;
    pthread_mutex_init(&state->crew->lock, NULL);
    pthread_cond_init(&state->crew->is_back, NULL);
    return MER_OK;
}

static void close_command(void *opened)
{
    Crew *crew = ((State *)opened)->crew;
    for (int i = 0; i < crew->count; i++) {
        mer_worker_stop(&crew->places[i]->worker, GOODBYE_S);
        free(crew->places[i]);
    }
    free(crew->places);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->is_back);
    free(crew);
}

static struct Place *find_free(Crew *crew)
{
    for (int i = 0; i < crew->count; i++) {
        if (!crew->places[i]->is_busy) {
            return crew->places[i];
        }
    }
    if (crew->limit > 0 && crew->count >= crew->limit) {
        return NULL;
    }
    crew->places = mer_heap_resize(crew->places, (size_t)crew->count + 1, sizeof(struct Place *));
    crew->places[crew->count] = mer_heap_zeroed(1, sizeof(struct Place));
    return crew->places[crew->count++];
}

/* NULL: the command never answers. */
static struct Place *take(Crew *crew)
{
    struct Place *place = NULL;
    pthread_mutex_lock(&crew->lock);
    while ((crew->has_answered || crew->failures < HOPELESS) && !(place = find_free(crew))) {
        pthread_cond_wait(&crew->is_back, &crew->lock);
    }
    if (place) {
        place->is_busy = true;
    }
    pthread_mutex_unlock(&crew->lock);
    return place;
}

static void give_back(Crew *crew, struct Place *place, bool has_answered)
{
    pthread_mutex_lock(&crew->lock);
    place->is_busy = false;
    crew->has_answered |= has_answered;
    crew->failures += !has_answered;
    pthread_cond_broadcast(&crew->is_back);
    pthread_mutex_unlock(&crew->lock);
}

/* The same line for the same plan, to any program: so its `id`, which is given back, is made of the line. */
static uint64_t write_question(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "problem", problem->type->name);
    mer_json_text(json, "kind", plan->kind->name);
    if (problem->graph) {
        mer_json_text(json, "workload", problem->graph->name);
    }
    if (problem->platform) {
        mer_json_text(json, "platform", problem->platform->name);
    }
    mer_json_object(json, "task");
    if (problem->task) {
        mer_json_text(json, "name", problem->task->name);
    }
    plan->kind->write(problem, plan, json);
    mer_json_end_object(json);
    uint64_t id = mer_hash_bytes(MER_HASH_START, json->text, json->size);
    mer_json_hash(json, "id", id);
    mer_json_end_object(json);
    return id;
}

/* What follows from two other metrics, where the program leaves it out. */
static void derive(const MerProblem *problem, double *value)
{
    double cycles = value[MER_METRIC_CYCLES];
    double clock_hz = problem->platform ? problem->platform->clock_hz : NAN;
    if (isnan(value[MER_METRIC_EDP])) {
        value[MER_METRIC_EDP] = value[MER_METRIC_ENERGY] * cycles;
    }
    if (isnan(value[MER_METRIC_LATENCY])) {
        value[MER_METRIC_LATENCY] = cycles / clock_hz;
    }
}

/* False: no answer has such a key. */
static bool read_member(const cJSON *member, MerCost *cost)
{
    MerMetric metric = mer_metric_find(member->string);
    if (strcmp(member->string, "infeasible") == 0 && cJSON_IsString(member)) {
        mer_cost_refuse(cost, "%s", member->valuestring[0] ? member->valuestring : "infeasible");
    } else if (metric == MER_METRIC_COUNT) {
        mer_cost_refuse(cost, "answer: unknown key \"%.40s\", expected metrics or infeasible",
                        member->string);
        return false;
    } else if (!cJSON_IsNumber(member) || !isfinite(member->valuedouble)) {
        mer_cost_refuse(cost, "answer: %s is no number", member->string);
    } else if (member->valuedouble < 0 && !mer_metric_may_be_negative(metric)) {
        mer_cost_refuse(cost, "answer: %s is %g, expected at least 0", member->string,
                        member->valuedouble);
    } else {
        cost->value[metric] = member->valuedouble;
    }
    return true;
}

/* False: this is no answer to the question, but a greeting or what was said of another plan. */
static bool read_answer(const MerProblem *problem, const char *line, uint64_t id, MerCost *cost)
{
    cJSON       *root = cJSON_Parse(line);
    const cJSON *member, *echo = mer_json_get(root, "id");
    const char  *text = cJSON_GetStringValue(echo);
    bool         is_answer = cJSON_IsObject(root);
    if (!is_answer) {
        mer_cost_refuse(cost, "answer: found \"%.40s\", expected one JSON object", line);
    } else if (echo && (!text || strtoull(text, NULL, 16) != id)) {
        mer_cost_refuse(cost, "answer: id is \"%.40s\", expected %016llx, as in the question",
                        text ? text : "", (unsigned long long)id);
        is_answer = false;
    }
    cJSON_ArrayForEach(member, root)
    {
        if (cost->feasible && member != echo) {
            is_answer = read_member(member, cost);
        }
    }
    derive(problem, cost->value);
    cJSON_Delete(root);
    return is_answer;
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State  *state = opened;
    struct Place *place = take(state->crew);
    mer_cost_clear(cost);
    if (!place) {
        mer_cost_refuse(cost, "crash: given up, the command failed %d times and gave no answer",
                        HOPELESS);
        return;
    }
    MerJson  json = {0};
    uint64_t id = write_question(state->problem, plan, &json);
    json.text[json.size] = '\n'; /* in the place of its end */
    const char *line = mer_worker_ask(&place->worker, state->options.run, json.text, json.size + 1,
                                      state->options.timeout_s, call->notes, cost);
    bool        is_answer = line && read_answer(state->problem, line, id, cost);
    if (line && !is_answer) { /* the lines behind it are out of step, too */
        mer_worker_stop(&place->worker, 0);
    }
    mer_json_free(&json);
    give_back(state->crew, place, place->worker.answer != NULL); /* whatever it said */
}

static bool needs_check(const void *opened)
{
    return ((const State *)opened)->options.check;
}

const MerEvaluatorClass mer_evaluator_command = {
    .name = "command",
    .summary = "a program of your own: one JSON line in, one out, for every plan",
    .metrics = (UINT64_C(1) << MER_METRIC_COUNT) - 1,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_command,
    .evaluate = evaluate,
    .needs_check = needs_check,
    .close = close_command,
};
