/* Trial lines of the run log: written, and read back. */
#include "run/log/trial.h"

#include "base/json_read.h"

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

void mer_write_metrics(MerJson *json, const double *values)
{
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (!isnan(values[m])) {
            mer_json_real(json, mer_metric_info((MerMetric)m)->name, values[m]);
        }
    }
}

void mer_trial_write(MerRunTrial *trial, int knob_count)
{
    MerJson *json = &trial->json;
    mer_json_reset(json);
    mer_line_begin(json, "trial", trial->index, trial->task);
    mer_json_ints(json, "point", trial->point, knob_count);
    mer_json_real(json, "score", trial->score);
    if (trial->cost.feasible) {
        mer_json_object(json, "cost");
        mer_write_metrics(json, trial->cost.value);
        mer_json_end_object(json);
    } else {
        mer_json_text(json, "reason", trial->cost.reason);
    }
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
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        spent[s] = mer_json_get_real(mer_json_get(line, "spent"), spent_names[s], 0);
    }
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

static MerStatus take(MerRunTrial *trial, int knob_count, const MerRunlog *log, const char *text,
                      MerError *error)
{
    cJSON *line = cJSON_Parse(text);
    if (trial->is_from_log) {
        take_point(line, trial->point, knob_count);
    }
    bool is_right = mer_trial_read(line, &trial->cost, &trial->same_as, trial->spent) &&
                    mer_json_get_real(line, "index", -1) == (double)trial->index &&
                    has_point(line, trial->point, knob_count);
    cJSON_Delete(line);
    trial->is_known = is_right;
    return is_right ? MER_OK : differs(log, trial, error);
}

MerStatus mer_trial_replay(MerRunTrial *trial, int knob_count, MerRunlog *log, bool *found,
                           MerError *error)
{
    int64_t bytes = log->bytes;
    int64_t lines = log->line_count;
    *found = false;
    for (const char *text = mer_runlog_next(log); text; text = mer_runlog_next(log)) {
        if (strncmp(text, "{\"type\":\"trial\"", 15) == 0) {
            *found = true;
            return take(trial, knob_count, log, text, error);
        }
        if (strncmp(text, "{\"type\":\"summary\"", 17) == 0) {
            break;
        }
    }
    return mer_runlog_cut(log, bytes, lines, error);
}
