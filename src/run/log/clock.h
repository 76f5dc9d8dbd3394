/* The file of the clock beside a log: what no two runs agree on. */
#ifndef MERCATOR_RUN_LOG_CLOCK_H
#define MERCATOR_RUN_LOG_CLOCK_H

#include <cjson/cJSON.h>

/* Hands over its lines one after the other, NULL for one that is damaged; none where there is no file. */
void mer_clock_read(const char *path, void (*take)(void *context, const cJSON *line),
                    void       *context);

#endif
