#include "run/log/clock.h"

#include "base/descriptor.h"

#include <stdlib.h>

void mer_clock_read(const char *path, void (*take)(void *context, const cJSON *line), void *context)
{
    FILE  *file = mer_file_open(path);
    char  *text = NULL;
    size_t capacity = 0;
    while (file && getline(&text, &capacity, file) > 0) {
        cJSON *line = cJSON_Parse(text);
        take(context, line);
        cJSON_Delete(line);
    }
    free(text);
    if (file) {
        fclose(file);
    }
}
