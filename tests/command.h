/* Running the program (MERCATOR names it) and reading the JSON it prints. */
#ifndef MERCATOR_TESTS_COMMAND_H
#define MERCATOR_TESTS_COMMAND_H

#include "support.h"

#include <cjson/cJSON.h>

/* `mercator ARGUMENTS` on stdin and stdout of its own; the parsed JSON, NULL if it printed none. */
static inline cJSON *command_json(const char *arguments)
{
    enum { MOST = 1 << 22 };
    const char *program = getenv("MERCATOR");
    char        line[4096];
    if (!program || !*program) {
        print_message("MERCATOR does not name the program\n");
        skip();
    }
    snprintf(line, sizeof line, "'%s' %s", program, arguments);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    char  *text = calloc(MOST, 1);
    size_t size = fread(text, 1, MOST - 1, pipe);
    pclose(pipe);
    assert_true(size < MOST - 1);
    cJSON *json = cJSON_Parse(text);
    free(text);
    return json;
}

static inline const cJSON *command_member(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!found) {
        fail_msg("no %s in the answer", name);
    }
    return found;
}

/* The first task of a summary. */
static inline const cJSON *command_task(const cJSON *summary)
{
    assert_non_null(summary);
    const cJSON *task = cJSON_GetArrayItem(command_member(summary, "tasks"), 0);
    assert_non_null(task);
    return task;
}

#endif
