/* `--select`: ranges of numbers, and names. */
#include "layer/task_select.h"

#include <stdlib.h>
#include <string.h>

/* A number, or two with a hyphen. */
static bool read_range(const char *part, size_t length, long *low, long *high)
{
    char *end;
    *low = strtol(part, &end, 10);
    *high = *end == '-' ? strtol(end + 1, &end, 10) : *low;
    return end == part + length && length > 0;
}

static bool is_name(const char *part, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(part, name, length) == 0;
}

bool mer_task_is_selected(const char *select, int number, const char *name)
{
    for (const char *at = select; at && *at;) {
        size_t length = strcspn(at, ",");
        long   low, high;
        bool   is_in = read_range(at, length, &low, &high) && number >= low && number <= high;
        if (is_in || is_name(at, length, name)) {
            return true;
        }
        at += length;
        at += *at == ',';
    }
    return !select || !*select;
}

static bool is_known(const char *part, size_t length, const MerGraph *graph)
{
    long low, high;
    bool is_one = read_range(part, length, &low, &high) && low >= 1 && low <= high &&
                  high <= graph->layer_count;
    for (int l = 0; l < graph->layer_count && !is_one; l++) {
        is_one = is_name(part, length, graph->ops[graph->layers[l].op].name);
    }
    return is_one;
}

MerStatus mer_task_select_check(const char *select, const MerGraph *graph, MerError *error)
{
    for (const char *at = select; at && *at;) {
        size_t length = strcspn(at, ",");
        if (!is_known(at, length, graph)) {
            bool is_part = length < strlen(select);
            return mer_error_set(
                error, MER_INVALID,
                "--select is \"%s\"%s%.*s%s, expected layers in 1 .. %d of %s, or their names",
                select, is_part ? " with \"" : "", is_part ? (int)length : 0, at,
                is_part ? "\"" : "", graph->layer_count, graph->name);
        }
        at += length;
        at += *at == ',';
    }
    return MER_OK;
}
