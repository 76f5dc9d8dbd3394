/* Trial lines of the run log: written, and read back. */
#include "run/log/trial.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static const char *const spent_names[MER_SPENT_COUNT] = {
#define X(id, name) name,
    MER_SPENT_MAP(X)
#undef X
};

static void write_spent(const double *spent, MerJson *json)
{
    bool is_open = false;
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        if (spent[s] != 0) {
            if (!is_open) {
                mer_json_object(json, "spent");
            }
            is_open = true;
            mer_json_real(json, spent_names[s], spent[s]);
        }
    }
    if (is_open) {
        mer_json_end_object(json);
    }
}

void mer_trial_write(MerRunTrial *trial, int knob_count)
{
    MerJson *json = &trial->json;
    mer_json_reset(json);
    mer_json_object(json, NULL);
    mer_json_text(json, "type", "trial");
    mer_json_int(json, "index", trial->index);
    mer_json_int(json, "task", trial->task);
    mer_json_array(json, "point");
    for (int k = 0; k < knob_count; k++) {
        mer_json_int(json, NULL, trial->point[k]);
    }
    mer_json_end_array(json);
    mer_json_real(json, "score", trial->score);
    if (trial->cost.feasible) {
        mer_json_object(json, "cost");
        for (int m = 0; m < MER_METRIC_COUNT; m++) {
            if (!isnan(trial->cost.value[m])) {
                mer_json_real(json, mer_metric_info((MerMetric)m)->name, trial->cost.value[m]);
            }
        }
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
    write_spent(trial->spent, json);
    mer_json_end_object(json);
}

bool mer_trial_read(const cJSON *line, MerCost *cost, int64_t *same_as, double *spent)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(line, "type");
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "trial") != 0) {
        return false;
    }
    mer_cost_clear(cost);
    const cJSON *reason = cJSON_GetObjectItemCaseSensitive(line, "reason");
    if (cJSON_IsString(reason)) {
        mer_cost_refuse(cost, "%s", reason->valuestring);
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(line, "cost"))
    {
        MerMetric metric = mer_metric_find(item->string);
        if (metric != MER_METRIC_COUNT && cJSON_IsNumber(item)) {
            cost->value[metric] = item->valuedouble;
        }
    }
    cost->cut = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "cut"));
    const cJSON *same = cJSON_GetObjectItemCaseSensitive(line, "same_as");
    *same_as = cJSON_IsNumber(same) ? (int64_t)same->valuedouble : -1;
    const cJSON *spent_node = cJSON_GetObjectItemCaseSensitive(line, "spent");
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        const cJSON *amount = cJSON_GetObjectItemCaseSensitive(spent_node, spent_names[s]);
        spent[s] = cJSON_IsNumber(amount) ? amount->valuedouble : 0;
    }
    return true;
}

static bool has_point(const cJSON *line, const MerIndex *point, int knob_count)
{
    int          k = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(line, "point"))
    {
        if (k == knob_count || !cJSON_IsNumber(item) || item->valuedouble != point[k]) {
            return false;
        }
        k++;
    }
    return k == knob_count;
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
    cJSON       *line = cJSON_Parse(text);
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(line, "index");
    bool         is_right = mer_trial_read(line, &trial->cost, &trial->same_as, trial->spent) &&
                    cJSON_IsNumber(index) && index->valuedouble == (double)trial->index &&
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
