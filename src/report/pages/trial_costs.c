/* What each trial of a short search came to: the points behind a front of trade-offs. */
#include "report/pages/trial_costs.h"

#include "base/json_read.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mer_trial_costs_add(MerTrialCosts *costs, const MerLogLine *line)
{
    if (costs->count == MER_TRIAL_COSTS || line->task != 0) {
        costs->is_over = true;
    }
    if (costs->is_over || line->cost.text == NULL) {
        return;
    }
    char *text = mer_heap_zeroed(line->cost.length + 1, 1);
    memcpy(text, line->cost.text, line->cost.length);
    costs->texts[costs->count++] = text;
}

static bool has_front(const MerReportRun *run)
{
    cJSON *summary = run->summary != NULL ? cJSON_Parse(run->summary) : NULL;
    cJSON *front = cJSON_GetObjectItemCaseSensitive(summary, "front");
    bool   result = cJSON_GetArraySize(front) > 0;
    cJSON_Delete(summary);
    return result;
}

void mer_trial_costs_finish(const MerTrialCosts *costs, MerReportRun *run, MerArena *arena)
{
    if (costs->is_over || costs->count < 2 || !has_front(run)) {
        return;
    }
    run->costs = MER_ARRAY(arena, const char *, costs->count);
    for (int i = 0; i < costs->count; i++) {
        cJSON *object =
            cJSON_Parse(costs->texts[i]); /* trials are not checked when they are read */
        if (cJSON_IsObject(object)) {
            run->costs[run->cost_count++] = mer_arena_text(arena, costs->texts[i]);
        }
        cJSON_Delete(object);
    }
}

void mer_trial_costs_free(MerTrialCosts *costs)
{
    for (int i = 0; i < costs->count; i++) {
        free(costs->texts[i]);
    }
}
