/* `--select`: ranges of numbers, and names. */
#include "layer/task_select.h"

#include <stdlib.h>
#include <string.h>

bool mer_task_is_selected(const char *select, int number, const char *name)
{
    for (const char *at = select; at && *at;) {
        size_t length = strcspn(at, ",");
        char  *end;
        long   low = strtol(at, &end, 10);
        long   high = *end == '-' ? strtol(end + 1, &end, 10) : low;
        bool   is_range = end == at + length && length > 0;
        bool   is_name = strlen(name) == length && strncmp(at, name, length) == 0;
        if ((is_range && number >= low && number <= high) || is_name) {
            return true;
        }
        at += length;
        at += *at == ',';
    }
    return !select || !*select;
}
