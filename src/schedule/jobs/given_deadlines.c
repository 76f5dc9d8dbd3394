/* Deadlines that the command line gives to models. */
#include "schedule/jobs/schedule_jobs.h"

#include "base/expect.h"
#include "mercator/text.h"

#include <string.h>

static int model_named(const MerJobSet *set, const char *name, size_t length)
{
    int m = 0;
    while (m < set->model_count && (strlen(set->models[m].name) != length ||
                                    strncmp(set->models[m].name, name, length) != 0)) {
        m++;
    }
    return m;
}

static MerStatus refuse_model(const MerJobSet *set, const char *text, MerArena *arena,
                              MerError *error)
{
    char         list[300];
    const char **names = MER_ARRAY(arena, const char *, set->model_count + 1);
    for (int m = 0; m < set->model_count; m++) {
        names[m] = set->models[m].name;
    }
    mer_words_text(list, sizeof list, names, set->model_count);
    return mer_error_set(error, MER_INVALID,
                         "deadline_ms is \"%s\", expected MS or MODEL=MS with %s", text,
                         set->model_count > 0 ? list : "models, which this workload has not");
}

MerStatus mer_schedule_set_deadlines(const MerJobSet *set, const MerTexts *given, MerArena *arena,
                                     const MerJobSet **changed, MerError *error)
{
    *changed = set;
    if (given->count == 0) {
        return MER_OK;
    }
    MerJob *jobs = MER_ARRAY(arena, MerJob, set->job_count + 1);
    memcpy(jobs, set->jobs, (size_t)set->job_count * sizeof *jobs);
    for (int i = 0; i < given->count; i++) {
        const char *text = given->values[i], *equals = strrchr(text, '=');
        double      ms;
        int         model = equals ? model_named(set, text, (size_t)(equals - text)) : -1;
        if (!mer_parse_real(equals ? equals + 1 : text, &ms) || ms < 0 ||
            model == set->model_count) {
            return refuse_model(set, text, arena, error);
        }
        for (int j = 0; j < set->job_count; j++) {
            if (model < 0 || jobs[j].model == model) {
                jobs[j].deadline_cycles = jobs[j].release_cycles;
                jobs[j].deadline_s = jobs[j].release_s + ms / 1000;
            }
        }
    }
    *changed = mer_job_set_with(set, jobs, set->job_count, arena);
    return MER_OK;
}
