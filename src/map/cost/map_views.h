/* What the layer evaluators show of a plan: energy by level and tensor, how full the memories are,
 * accesses, a roofline, and the plan itself. */
#ifndef MERCATOR_MAP_COST_MAP_VIEWS_H
#define MERCATOR_MAP_COST_MAP_VIEWS_H

#include "layer/directive_plan.h"
#include "map/nest/nest_plan.h"
#include "mercator/view.h"

enum { MER_LEVEL_COUNTS = 3 };

typedef struct MerLevelUse { /* one memory */
    const char *name;
    double      energy_pj[MER_TENSOR_COUNT], network_pj;
    double      accesses[MER_TENSOR_COUNT][MER_LEVEL_COUNTS]; /* by the names below */
    double      used_words, capacity_words; /* capacity NaN or infinite: no limit */
    double      bandwidth_use;              /* NaN: unknown */
} MerLevelUse;

typedef struct MerLayerUse { /* levels from the outermost in */
    MerLevelUse *levels;
    int          level_count;
    const char  *accesses[MER_LEVEL_COUNTS]; /* NULL: fewer kinds */
    double       mac_pj;
    const char  *binding;           /* what limits the cycles; NULL: unknown */
    double macs, cycles, peak_macs; /* done, in so many cycles, with so many per cycle at most */
    /* Read from or written to the outermost memory, whichever takes longer; at most so many per cycle. 0: unknown. */
    double outer_bytes, outer_rate;
} MerLayerUse;

void mer_map_view_use(const MerLayerUse *use, MerNotes *notes);

/* Both with the id `plan`. `memories`: by level of the plan, innermost first. */
void mer_map_view_nest(const MerNestPlan *plan, const char *const *memories, MerNotes *notes);
void mer_map_view_directives(const MerDirectivePlan *plan, MerNotes *notes);

#endif
