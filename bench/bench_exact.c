/* CPU seconds that exact_nest needs to prove the optimum of the nine reference layers on s256.
 * Lines are `name value unit`. Arguments: an objective (edp), and a part of a layer's name. */
#include "exact_support.h"
#include "s256.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char        *objective = argc > 1 ? argv[1] : "edp";
    const char        *name = argc > 2 ? argv[2] : "";
    const char        *evaluator = argc > 3 ? argv[3] : NULL;
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = NULL;
    double             total = 0;
    if (mer_platform_read(argc > 4 ? argv[4] : "s256", arena, &platform, NULL) != MER_OK) {
        return 1;
    }
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        if (!strstr(s256_layers[i].name, name)) {
            continue;
        }
        MerOp       op = s256_op(&s256_layers[i]);
        ExactCase   c = {.op = &op,
                         .platform = platform,
                         .objective = mer_metric_find(objective),
                         .evaluator_options = evaluator,
                         .seed = 1};
        ExactResult result;
        solve_exactly(&c, &result, arena);
        printf("exact_%s %.2f s  %s %.9g (%s), bound %.9g, %d proposals, SA-F %.6g\n",
               s256_layers[i].name, result.cpu_s, objective, result.score,
               result.has_proof ? result.bound.kind : "none", result.bound.value, result.proposals,
               s256_layers[i].free_edp);
        fflush(stdout);
        total += result.cpu_s;
    }
    printf("exact_total %.2f s\n", total);
    mer_arena_free(arena);
    return 0;
}
