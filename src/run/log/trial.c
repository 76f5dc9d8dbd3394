/* Trial lines of the run log: written, in full or short (base/log_words.h), and read back. */
#include "run/log/trial.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "mercator/text.h"

#include <math.h>
#include <string.h>

static const char *const spent_names[MER_SPENT_COUNT] = {
#define X(id, name) name,
    MER_SPENT_MAP(X)
#undef X
};

void mer_write_spent(MerJson *json, const double *spent)
{
    mer_json_object(json, "spent");
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        if (spent[s] != 0) {
            mer_json_real(json, spent_names[s], spent[s]);
        }
    }
    mer_json_end_object(json);
}

void mer_read_spent(const cJSON *object, double *spent)
{
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        spent[s] = mer_json_get_real(object, spent_names[s], 0);
    }
}

void mer_write_metrics(MerJson *json, const double *values)
{
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (!isnan(values[m])) {
            mer_json_real(json, mer_metric_info((MerMetric)m)->name, values[m]);
        }
    }
}

/* The members that few trials have, and the end. */
static void write_rest(MerJson *json, const MerRunTrial *trial)
{
    if (trial->is_warm) {
        mer_json_bool(json, "warm", true);
    }
    if (trial->same_as >= 0) {
        mer_json_int(json, "same_as", trial->same_as);
    }
    if (trial->cost.cut) {
        mer_json_bool(json, "cut", true);
    }
    if (trial->base >= 0) {
        mer_json_int(json, "base", trial->base);
    }
    bool has_spent = false;
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        has_spent = has_spent || trial->spent[s] != 0;
    }
    if (has_spent) {
        mer_write_spent(json, trial->spent);
    }
    mer_json_end_object(json);
}

static void write_outcome(MerJson *json, const MerRunTrial *trial)
{
    if (trial->cost.feasible) {
        mer_json_object(json, "cost");
        mer_write_metrics(json, trial->cost.value);
        mer_json_end_object(json);
    } else {
        mer_json_text(json, "reason", trial->cost.reason);
    }
}

void mer_trial_write_long(MerRunTrial *trial, int knob_count)
{
    MerJson *json = &trial->json;
    mer_json_reset(json);
    mer_line_begin(json, "trial", trial->index, trial->task);
    mer_json_ints(json, "point", trial->point, knob_count);
    mer_json_real(json, "score", trial->score);
    write_outcome(json, trial);
    write_rest(json, trial);
}

MerTrialForm mer_trial_form(const MerSpace *space, MerMetric objective, int direction,
                            MerArena *arena)
{
    MerTrialForm form = {.choices = MER_ARRAY(arena, int, space->knob_count + 1),
                         .knobs = space->knob_count,
                         .objective = objective,
                         .direction = direction};
    for (int k = 0; k < space->knob_count; k++) {
        form.choices[k] = space->knobs[k].choices;
    }
    form.point_length = mer_point_length(form.choices, form.knobs);
    return form;
}

/* Most runs are short and read by people and scripts: their logs say everything in full. */
static bool is_long(const MerRunTrial *trial, const MerTrialForm *form)
{
    enum { IN_FULL = 10000 };
    return form->words->is_long || trial->index < IN_FULL;
}

_Static_assert(MER_METRIC_COUNT <= 64, "the metrics of a cost are bits of one word");

static uint64_t metrics_of(const MerCost *cost)
{
    uint64_t metrics = 0;
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        metrics |= (uint64_t)!isnan(cost->value[m]) << m;
    }
    return metrics;
}

/* These write without looking for room: begin_line has made enough. */
static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_count(char *at, int64_t count)
{
    char  digits[20];
    char *first = digits + sizeof digits;
    do {
        *--first = (char)('0' + count % 10);
        count /= 10;
    } while (count > 0);
    return put(at, first, (size_t)(digits + sizeof digits - first));
}

/* Type to score: what all trials have. */
static char *begin_line(MerRunTrial *trial, const MerTrialForm *form)
{
    enum { NUMBER = 32, NAMES = 160 };
    MerJson *json = &trial->json;
    size_t   most = NAMES + (size_t)form->point_length + (MER_METRIC_COUNT + 4) * NUMBER;
    if (json->capacity < most) {
        json->text = mer_heap_resize(json->text, most, 1);
        json->capacity = most;
    }
    char *at = PUT(json->text, "{\"type\":\"trial\",\"index\":");
    at = put_count(at, trial->index);
    at = PUT(at, ",\"task\":");
    at = put_count(at, trial->task);
    at = PUT(at, ",\"point\":\"");
    at += mer_point_write(trial->point, form->choices, form->knobs, at);
    at = PUT(at, "\"");
    if (trial->cost.feasible) {
        at = PUT(at, ",\"score\":");
        at += mer_print_real(at, trial->score);
    }
    return at;
}

/* The writer goes on with what is generic. */
static MerJson *go_on(MerRunTrial *trial, char *at)
{
    *at = '\0';
    trial->json.size = (size_t)(at - trial->json.text);
    trial->json.needs_comma = true;
    return &trial->json;
}

/* Does the score tell the objective's value to the bit? */
static bool tells_objective(const MerRunTrial *trial, const MerTrialForm *form)
{
    if (form->objective == MER_METRIC_COUNT) {
        return true;
    }
    double value = -form->direction * trial->cost.value[form->objective];
    return memcmp(&value, &trial->score, sizeof value) == 0;
}

static void write_list(MerRunTrial *trial, const MerTrialForm *form)
{
    char *at = begin_line(trial, form);
    at = PUT(at, ",\"cost\":[");
    char *first = at;
    for (uint64_t left = trial->metrics; left; left &= left - 1) {
        int m = __builtin_ctzll(left);
        if (m != (int)form->objective) {
            if (at != first) {
                *at++ = ',';
            }
            at += mer_print_real(at, trial->cost.value[m]);
        }
    }
    *at++ = ']';
    write_rest(go_on(trial, at), trial);
}

static void write_reason_number(MerRunTrial *trial, const MerTrialForm *form, int which,
                                MerSlice digits)
{
    char *at = begin_line(trial, form);
    at = PUT(at, ",\"reason\":[");
    at = put_count(at, which);
    if (digits.length > 0) {
        *at++ = ',';
        at = put(at, digits.text, digits.length);
    }
    *at++ = ']';
    write_rest(go_on(trial, at), trial);
}

void mer_trial_write(MerRunTrial *trial, const MerTrialForm *form)
{
    const MerLogWords *words = form->words;
    trial->is_written = true;
    if (is_long(trial, form)) {
        trial->metrics = metrics_of(&trial->cost);
        mer_trial_write_long(trial, form->knobs);
    } else if (trial->cost.feasible) {
        trial->metrics = metrics_of(&trial->cost);
        trial->is_written = trial->metrics == words->metrics && trial->metrics != 0 &&
                            words->name_count > 0 && tells_objective(trial, form);
        if (trial->is_written) {
            write_list(trial, form);
        }
    } else {
        MerSlice digits;
        int      which = mer_words_find_reason(words, trial->cost.reason, &digits);
        trial->is_written = which >= 0;
        if (trial->is_written) {
            write_reason_number(trial, form, which, digits);
        }
    }
}

bool mer_trial_is_settled(const MerRunTrial *trial, const MerTrialForm *form)
{
    const MerLogWords *words = form->words;
    MerSlice           digits;
    if (!trial->is_written || !is_long(trial, form)) {
        return trial->is_written;
    }
    return trial->cost.feasible ? trial->metrics == words->metrics && words->name_count > 0
                                : mer_words_find_reason(words, trial->cost.reason, &digits) >= 0;
}

/* What a line in full leaves for those after it. */
static void take_words(const MerRunTrial *trial, MerLogWords *words)
{
    if (!trial->cost.feasible) {
        mer_words_take_reason(words, trial->cost.reason, strlen(trial->cost.reason));
    } else if (trial->metrics != words->metrics || words->name_count == 0) {
        const char *cost = strstr(trial->json.text, "\"cost\":") + sizeof "\"cost\":" - 1;
        mer_words_take_cost(words, (MerSlice){cost, strlen(cost)});
        words->is_renamed = false;
        words->metrics = trial->metrics;
    }
}

void mer_trial_settle(MerRunTrial *trial, const MerTrialForm *form)
{
    MerLogWords *words = form->words;
    bool         is_short = !is_long(trial, form);
    bool         is_stale = is_short && trial->cost.feasible && trial->metrics != words->metrics;
    if (!trial->is_written || is_stale) {
        mer_trial_write(trial, form);
    }
    if (trial->is_written && is_short) {
        return; /* it says nothing new */
    }
    if (!trial->is_written) {
        MerJson *json = go_on(trial, begin_line(trial, form));
        write_outcome(json, trial);
        write_rest(json, trial);
        trial->is_written = true;
    }
    take_words(trial, words);
}

const char *mer_trial_full_line(const MerTrialForm *form, MerRunlog *log, const char *line)
{
    const char *full =
        mer_words_full_line(&log->words, line, form->choices, form->knobs, &log->full);
    if (log->words.is_renamed) {
        log->words.is_renamed = false;
        log->words.metrics = 0;
        for (int n = 0; n < log->words.name_count; n++) {
            MerMetric metric = mer_metric_find(log->words.names[n]);
            log->words.metrics |= metric == MER_METRIC_COUNT ? 0 : (uint64_t)1 << (unsigned)metric;
        }
    }
    return full;
}

bool mer_trial_read(const cJSON *line, MerCost *cost, int64_t *same_as, double *spent)
{
    const char *reason = mer_json_get_text(line, "reason", NULL);
    if (strcmp(mer_json_get_text(line, "type", ""), "trial") != 0) {
        return false;
    }
    mer_cost_clear(cost);
    if (reason) {
        mer_cost_refuse(cost, "%s", reason);
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, mer_json_get(line, "cost"))
    {
        MerMetric metric = mer_metric_find(item->string);
        if (metric != MER_METRIC_COUNT && cJSON_IsNumber(item)) {
            cost->value[metric] = item->valuedouble;
        }
    }
    cost->cut = cJSON_IsTrue(mer_json_get(line, "cut"));
    *same_as = (int64_t)mer_json_get_real(line, "same_as", -1);
    mer_read_spent(mer_json_get(line, "spent"), spent);
    return true;
}

static bool has_point(const cJSON *line, const MerIndex *point, int knob_count)
{
    int          k = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, mer_json_get(line, "point"))
    {
        if (k == knob_count || !cJSON_IsNumber(item) || item->valuedouble != point[k]) {
            return false;
        }
        k++;
    }
    return k == knob_count;
}

static void take_point(const cJSON *line, MerIndex *point, int knob_count)
{
    int          k = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, mer_json_get(line, "point"))
    {
        if (k < knob_count && cJSON_IsNumber(item)) {
            point[k++] = (MerIndex)item->valuedouble;
        }
    }
}

static MerStatus differs(const MerRunlog *log, const MerRunTrial *trial, MerError *error)
{
    return mer_error_set(
        error, MER_INVALID,
        "%s:%lld: trial %lld asks for another point than the log; the inputs or the program "
        "differ from those of the stopped run",
        log->path, (long long)log->line_count, (long long)trial->index);
}

static MerStatus take(MerRunTrial *trial, const MerTrialForm *form, MerRunlog *log,
                      const char *text, MerError *error)
{
    const char *full = mer_trial_full_line(form, log, text);
    cJSON      *line = full ? cJSON_Parse(full) : NULL;
    if (trial->is_from_log) {
        take_point(line, trial->point, form->knobs);
    }
    bool is_right = mer_trial_read(line, &trial->cost, &trial->same_as, trial->spent) &&
                    mer_json_get_real(line, "index", -1) == (double)trial->index &&
                    has_point(line, trial->point, form->knobs);
    cJSON_Delete(line);
    trial->is_known = is_right;
    return is_right ? MER_OK : differs(log, trial, error);
}

MerStatus mer_trial_replay(MerRunTrial *trial, const MerTrialForm *form, MerRunlog *log,
                           bool *found, MerError *error)
{
    int64_t bytes = log->bytes;
    int64_t lines = log->line_count;
    *found = false;
    for (const char *text = mer_runlog_next(log); text; text = mer_runlog_next(log)) {
        if (strncmp(text, "{\"type\":\"trial\"", 15) == 0) {
            *found = true;
            return take(trial, form, log, text, error);
        }
        if (strncmp(text, "{\"type\":\"summary\"", 17) == 0) {
            break;
        }
    }
    return mer_runlog_cut(log, bytes, lines, error);
}
