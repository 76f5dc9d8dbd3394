/* Any bytes as YAML: a tree whose every node can be visited, or one line of error. */
#include "mercator/yaml.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Asks every node for everything, as readers of all formats together would. */
static void visit(MerYaml *node)
{
    MerError    error = {0};
    double      real;
    int64_t     integer;
    bool        flag;
    const char *text;
    mer_yaml_real(node, -DBL_MAX, DBL_MAX, &real, &error);
    mer_yaml_int(node, 0, 100, &integer, &error);
    mer_yaml_bool(node, &flag, &error);
    mer_yaml_text(node, &text, &error);
    for (int i = 0; i < node->count; i++) {
        if (node->kind == MER_YAML_MAP && i % 2 == 0 && i < 100) {
            mer_yaml_get(node, node->keys[i]);
        }
        visit(node->items[i]);
    }
    mer_yaml_finish(node, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena *arena = mer_arena_new();
    MerYaml  *root = NULL;
    MerError  error = {0};
    if (mer_yaml_parse("fuzz.yaml", (const char *)data, size, arena, &root, &error) == MER_OK) {
        visit(root);
        mer_yaml_format(root, "platform", 1, &error);
    } else if (error.message[0] == '\0' || strchr(error.message, '\n') != NULL) {
        abort();
    }
    mer_arena_free(arena);
    return 0;
}
