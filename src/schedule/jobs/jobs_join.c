/* Several networks of a command line become one workload: they share the chip. */
#include "mercator/json.h"
#include "mercator/text.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/schedule_parts.h"

#include <string.h>
#include <unistd.h>

/* Groups of their own, requests over time, tables of other tools: no part of another list. */
static bool is_list(const char *name, MerArena *arena)
{
    static const MerImporterClass *const lists[] = {&mer_importer_jobs, &mer_importer_m3e,
                                                    &mer_importer_xrbench};
    enum { LIMIT = 1 << 30 };
    MerImportFile file = {.path = name, .name = name};
    char         *data;
    if (mer_schedule_claims(name, arena)) {
        return true;
    }
    if (strcmp(name, "-") == 0 ||
        mer_file_read(name, LIMIT, arena, &data, &file.size, NULL) != MER_OK) {
        return false; /* a built-in network, or none: its importer says so */
    }
    file.data = data;
    bool is_any = false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        is_any = is_any || lists[i]->probe(&file);
    }
    return is_any;
}

/* The file's name without folder and ending, and with a number where others have it too. */
static const char *name_of(const MerTexts *networks, int index, MerArena *arena)
{
    const char *names[2];
    int         same = 1;
    for (int i = index; i >= 0; i--) {
        const char *text = networks->values[i];
        const char *slash = strrchr(text, '/');
        const char *base = slash && slash[1] ? slash + 1 : text;
        const char *dot = strrchr(base, '.');
        names[i < index] =
            mer_arena_text_n(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
        same += i < index && strcmp(names[0], names[1]) == 0;
    }
    return same > 1 ? mer_arena_format(arena, "%s_%d", names[0], same) : names[0];
}

MerStatus mer_jobs_join(const MerTexts *networks, const MerReference *options, const char **text,
                        MerArena *arena, MerError *error)
{
    static const char *const keys[][2] = {
        {"batch_size", "batch"}, {"mini_batch", "mini_batch"}, {"dependencies", "dependencies"}};
    for (int i = 0; i < networks->count; i++) {
        const char *name = networks->values[i];
        if (is_list(name, arena)) {
            return mer_error_set(error, MER_INVALID,
                                 "%s is a list of jobs, which is not scheduled together with "
                                 "others; give --separately for a schedule each",
                                 name);
        }
        if (strchr(name, '=') && strchr(name, ':') && access(name, F_OK) != 0) {
            return mer_error_set(error, MER_INVALID,
                                 "%s has options of its own, which networks that are scheduled "
                                 "together do not; give --separately for a schedule each",
                                 name);
        }
    }
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-jobs/1");
    mer_json_array(&json, "models");
    for (int i = 0; i < networks->count; i++) {
        mer_json_object(&json, NULL);
        mer_json_text(&json, "name", name_of(networks, i, arena));
        mer_json_text(&json, "file", networks->values[i]);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *value = NULL;
            for (int o = 0; o < options->count; o++) { /* the last one counts */
                value = mer_name_equal(options->keys[o], keys[k][0]) ? options->values[o] : value;
            }
            int64_t number;
            if (value && mer_parse_int(value, &number)) {
                mer_json_int(&json, keys[k][1], number);
            } else if (value) {
                mer_json_text(&json, keys[k][1], value);
            }
        }
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    *text = mer_arena_text(arena, json.text);
    mer_json_free(&json);
    return MER_OK;
}
