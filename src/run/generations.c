/* Generations: what a run knows of optimizers that work by populations. */
#include "run/internal.h"

int64_t mer_run_population(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    const MerOption *option = type->options ? mer_options_find(type->options, "population") : NULL;
    if (!option || option->type != MER_OPTION_INT) {
        return 0;
    }
    const void *options = spec->optimizer_options;
    if (!options) {
        void *defaults = mer_arena_alloc(arena, type->options_size);
        mer_options_defaults(type->options, defaults, arena);
        options = defaults;
    }
    return *(const int64_t *)((const char *)options + option->offset);
}
