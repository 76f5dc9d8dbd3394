/* Opening problem `place` on a graph, for tests of its inputs. */
#ifndef MERCATOR_TESTS_PLACE_INPUTS_SUPPORT_H
#define MERCATOR_TESTS_PLACE_INPUTS_SUPPORT_H

#include "support.h"

#include "mercator/import.h"
#include "mercator/platform.h"
#include "place/place_parts.h"

static inline const MerPlatform *platform_of(const char *text, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_parse("test.yaml", text, strlen(text), arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static inline MerGraph *graph_of(const char *name_or_path, const char *dims, MerArena *arena)
{
    MerDimBinding    bindings[8];
    MerImportOptions options = {.dims = bindings};
    MerGraph        *graph = NULL;
    MerError         error = {0};
    char            *rest = NULL, *text = mer_arena_text(arena, dims ? dims : "");
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equal = strchr(word, '=');
        *equal = '\0';
        bindings[options.dim_count++] = (MerDimBinding){.name = word, .size = atoll(equal + 1)};
    }
    if (mer_graph_import(name_or_path, &options, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

/* `options` may be NULL; `remarks` are two, or NULL. */
static inline MerStatus try_open_place(const MerGraph *graph, const MerPlatform *platform,
                                       const MerPlaceOptions *options, MerPlace *place,
                                       const char **remarks, MerArena *arena, MerError *error)
{
    static const MerPlaceOptions defaults = {
        .decide = "place", .group_work_limit = 1, .msr_cost_scale = 1, .levels = 20};
    const char *ignored[2] = {NULL, NULL};
    MerProblem  problem = {
         .graph = graph, .platform = platform, .options = options ? options : &defaults};
    return mer_place_open(&problem, place, remarks ? remarks : ignored, arena, error);
}

static inline MerPlace open_place(const MerGraph *graph, const MerPlatform *platform,
                                  const MerPlaceOptions *options, const char **remarks,
                                  MerArena *arena)
{
    MerPlace place;
    MerError error = {0};
    if (try_open_place(graph, platform, options, &place, remarks, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return place;
}

/* The operator of that name. */
static inline int op_named(const MerPlace *place, const char *name)
{
    for (int o = 0; o < place->op_count; o++) {
        if (strcmp(place->names[o], name) == 0) {
            return o;
        }
    }
    fail_msg("there is no operator \"%s\"", name);
    return -1;
}

#endif
