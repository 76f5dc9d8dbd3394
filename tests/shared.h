/* Public data that lies beside the project, in ../shared (or where MERCATOR_SHARED points).
 * A cmocka test that asks for a missing file is skipped, and fails when MERCATOR_REQUIRE_SHARED=1:
 *
 *     char path[SHARED_PATH_SIZE];
 *     shared_path(path, "models/resnet18.onnx");
 */
#ifndef MERCATOR_TESTS_SHARED_H
#define MERCATOR_TESTS_SHARED_H

#include "support.h"

#include <sys/stat.h>

enum { SHARED_PATH_SIZE = 4096 };

static inline const char *shared_path(char path[SHARED_PATH_SIZE], const char *relative)
{
    const char *root = getenv("MERCATOR_SHARED");
    const char *required = getenv("MERCATOR_REQUIRE_SHARED");
    struct stat found;
    snprintf(path, SHARED_PATH_SIZE, "%s/%s",
             root != NULL && *root != '\0' ? root : MERCATOR_SHARED_DIR, relative);
    if (stat(path, &found) != 0) {
        print_message("missing reference data: ../shared/%s\n", relative);
        if (required != NULL && strcmp(required, "1") == 0) {
            fail();
        }
        skip();
    }
    return path;
}

#endif
