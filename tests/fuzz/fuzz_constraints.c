/* Any bytes as Timeloop constraints: refused with a message, or a space whose points decode to
 * nests that can be told to obey or not. */
#include "nest_setting.h"

#include "map/nest/constraints.h"
#include "map/nest/nest_format.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_points(const MerNestConstraints *constraints, const MerOp *op,
                       const MerPlatform *platform, MerNestGenome genome, MerArena *arena)
{
    MerNestSpace nest;
    MerSpace     space;
    MerRng       rng = mer_rng_make(1, 1);
    char         reason[120];
    if (mer_nest_space_open(&nest, op, platform, genome, constraints, &space, arena, NULL) !=
        MER_OK) {
        abort();
    }
    MerIndex *point = MER_ARRAY(arena, MerIndex, space.knob_count + 1);
    for (int i = 0; i < 4; i++) {
        MerNestPlan plan;
        mer_space_sample(&space, &rng, point);
        mer_nest_decode(&nest, point, &plan, arena);
        if (mer_nest_allows(constraints, &plan, &nest.shape, reason, sizeof reason) &&
            !mer_nest_encode(&nest, &plan, &space, point)) {
            fprintf(stderr, "not encoded: %s\n", mer_nest_line(&plan, platform, arena));
            abort();
        }
    }
    mer_nest_constraints_text(&nest, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform = nest_setting_platform(arena);
    MerOp              op = nest_setting_op();
    MerError           error = {0};
    MerYaml           *root = NULL;
    MerLayerShape      shape;
    MerNestConstraints constraints = {.layer = "layer", .level_names = {"RF", "GLB", "DRAM"}};
    if (mer_layer_shape_make(&op, &shape, NULL) != MER_OK) {
        abort();
    }
    if (mer_yaml_parse("fuzz", (const char *)data, size, arena, &root, &error) == MER_OK) {
        MerStatus status =
            mer_nest_constraints_read(&constraints, root, &op, &shape, platform, arena, &error);
        if (status == MER_OK) {
            status = mer_nest_constraints_check(&constraints, &shape, platform, false, &error);
        }
        if (status != MER_OK && error.message[0] == '\0') {
            abort();
        }
        for (int genome = MER_GENOME_PRIMES; status == MER_OK && genome <= MER_GENOME_DIVISORS;
             genome++) {
            try_points(&constraints, &op, platform, (MerNestGenome)genome, arena);
        }
    }
    mer_arena_free(arena);
    return 0;
}
