/* Any bytes as measured times: refused with one line, or times that are numbers. */
#include "fuzz/as_file.h"
#include "place/inputs/profile_build.h"
#include "place/place_parts.h"

#include "mercator/platform.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char machine[] =
    "format: mercator-platform/1\nkind: cluster\nunits: [{name: gpu0, flops: 1G}, {name: cpu0}]\n";

static MerGraph *make_graph(MerArena *arena)
{
    static const MerProfileNode nodes[] = {{.name = "lstm/input", .source = "LSTM", .time_us = 2},
                                           {.name = "lstm", .source = "LSTM", .time_us = 1},
                                           {.name = "relu", .source = "Relu"}};
    static const MerProfileEdge edges[] = {{0, 1}, {1, 2}};
    MerImportFile               file = {.path = "toy", .name = "toy"};
    MerGraph                   *graph = NULL;
    if (mer_profile_graph(&file, "fuzz", nodes, 3, edges, 2, arena, &graph, NULL) != MER_OK) {
        abort();
    }
    mer_profile_attach(graph, MER_PLACE_PROFILE, nodes);
    return graph;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzFile           file = fuzz_file("times", data, size);
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform;
    const char        *remarks[2] = {NULL, NULL};
    MerPlaceOptions    options = {.decide = "place", .profile = file.path, .group_work_limit = 1};
    MerProblem         problem = {.graph = make_graph(arena), .options = &options};
    MerPlace           place;
    MerError           error = {0};
    if (mer_platform_parse("machine", machine, sizeof machine - 1, arena, &platform, NULL) !=
        MER_OK) {
        abort();
    }
    problem.platform = platform;
    if (mer_place_open(&problem, &place, remarks, arena, &error) == MER_OK) {
        for (int i = 0; i < place.op_count * place.unit_count; i++) {
            if (!(place.time_us[i] >= 0)) {
                abort();
            }
        }
    } else if (error.message[0] == '\0' || strchr(error.message, '\n')) {
        abort();
    }
    fuzz_file_remove(&file);
    mer_arena_free(arena);
    return 0;
}
