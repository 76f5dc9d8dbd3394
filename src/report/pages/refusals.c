/* Counts the reasons of infeasible trials by class (the text before the colon). A reason such as
 * "capacity: RF needs 301 words, has 256" also tells how near the trial came: 301 / 256. */
#include "report/pages/refusals.h"

#include "mercator/metric.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* The class of a JSON string; what has none, or comes after too many, is counted as "other". */
static MerRefusal *find_class(MerRefusals *refusals, const char *text, size_t length)
{
    char        name[sizeof refusals->classes[0].name] = "other";
    const char *colon = memchr(text, ':', length);
    if (colon != NULL && colon > text && (size_t)(colon - text) < sizeof name) {
        memset(name, 0, sizeof name);
        memcpy(name, text, (size_t)(colon - text));
    }
    for (int i = 0; i < refusals->count; i++) {
        if (strcmp(refusals->classes[i].name, name) == 0) {
            return &refusals->classes[i];
        }
    }
    if (refusals->count == MER_REFUSAL_CLASSES) {
        return &refusals->classes[MER_REFUSAL_CLASSES - 1];
    }
    MerRefusal *added = &refusals->classes[refusals->count++];
    bool        is_last = refusals->count == MER_REFUSAL_CLASSES;
    snprintf(added->name, sizeof added->name, "%s", is_last ? "other" : name);
    return added;
}

static void keep_example(MerRefusal *refusal, const char *text, const MerLogLine *trial)
{
    double value = mer_reason_excess(text);
    int    place = refusal->example_count;
    for (int i = 0; i < refusal->example_count; i++) {
        if (strcmp(refusal->examples[i].text, text) == 0) {
            return;
        }
    }
    while (place > 0 && value < refusal->examples[place - 1].excess) {
        place--;
    }
    if (place == MER_REFUSAL_EXAMPLES) {
        return;
    }
    if (refusal->example_count < MER_REFUSAL_EXAMPLES) {
        refusal->example_count++;
    }
    for (int i = refusal->example_count - 1; i > place; i--) {
        refusal->examples[i] = refusal->examples[i - 1];
    }
    memcpy(refusal->examples[place].text, text, strlen(text) + 1);
    refusal->examples[place].excess = value;
    refusal->examples[place].index = trial->index;
    refusal->examples[place].task = trial->task;
}

void mer_refusals_add(MerRefusals *refusals, const MerLogLine *trial)
{
    char        text[sizeof refusals->classes[0].examples[0].text];
    const char *start = trial->reason.text != NULL ? trial->reason.text + 1 : "";
    size_t      length = trial->reason.text != NULL ? trial->reason.length - 2 : 0;
    MerRefusal *refusal = find_class(refusals, start, length);
    refusals->total++;
    refusal->count++;
    if (length > 0 && length < sizeof text) {
        memcpy(text, start, length);
        text[length] = '\0';
        keep_example(refusal, text, trial);
    }
}

static int by_count(const void *a, const void *b)
{
    const MerRefusal *left = a, *right = b;
    return left->count != right->count ? (left->count < right->count) - (left->count > right->count)
                                       : strcmp(left->name, right->name);
}

/* The text without its class and without JSON's escapes. */
static const char *plain_text(const char *json, MerArena *arena)
{
    cJSON      *parsed = cJSON_Parse(mer_arena_format(arena, "\"%s\"", json));
    const char *text = cJSON_IsString(parsed) ? parsed->valuestring : json;
    const char *colon = strchr(text, ':');
    text = colon != NULL ? colon + 1 + strspn(colon + 1, " ") : text;
    char *copy = mer_arena_text(arena, text);
    cJSON_Delete(parsed);
    return copy;
}

void mer_refusals_finish(MerRefusals *refusals, MerReportRun *run, MerArena *arena)
{
    qsort(refusals->classes, (size_t)refusals->count, sizeof *refusals->classes, by_count);
    run->infeasible = refusals->total;
    run->reasons = MER_ARRAY(arena, MerReportReason, refusals->count);
    run->examples = MER_ARRAY(arena, MerReportExample, refusals->count * MER_REFUSAL_EXAMPLES);
    for (int i = 0; i < refusals->count; i++) {
        const MerRefusal *refusal = &refusals->classes[i];
        const char       *name = mer_arena_text(arena, refusal->name);
        run->reasons[run->reason_count++] = (MerReportReason){name, refusal->count};
        for (int k = 0; k < refusal->example_count; k++) {
            run->examples[run->example_count++] =
                (MerReportExample){name, plain_text(refusal->examples[k].text, arena),
                                   refusal->examples[k].index, refusal->examples[k].task};
        }
    }
}
