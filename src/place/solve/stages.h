/* What the exact splits work on (docs/placement.md, "Exact splits"): blocks of groups that every contiguous split keeps together,
 * kinds of stages that a unit (or some of them) can run, and the states "these units are taken". A split is a
 * chain of down-sets of the blocks, one step between states for each difference. */
#ifndef MERCATOR_PLACE_SOLVE_STAGES_H
#define MERCATOR_PLACE_SOLVE_STAGES_H

#include "place/solve/ideals.h"

/* Kinds of stages; every array is by kind. */
typedef struct MerStageKinds {
    int        count;
    const int *unit;         /* one that runs it */
    const int *replicas;     /* units that share it */
    const int *kind_of_unit; /* NULL where kinds are no units */
} MerStageKinds;

typedef struct MerStageBlocks {
    int        count, kind_count;
    const int *block_of_group;
    /* edges in the direction of forward operators, each once, rising */
    const int *after_start, *after, *before_start, *before;
    /* by block and kind of stage [block * kind_count + kind] */
    const double *time_us;   /* 0 where it is barred */
    const bool   *is_barred; /* the block may not be in such a stage */
    const double *size;      /* bytes */
    const double *work_us;   /* of each block: what `power` of a kind is relative to */
    const double *power;     /* of each kind: work done per microsecond of a stage at most */
    /* Nets: a result, the block that makes it and those that read it; a stage with some and not all of them pays net_us
     * [net * kind_count + kind] */
    int           net_count;
    const int    *net_start, *net_blocks; /* rising */
    const double *net_us;
    double     most_us; /* no stage that can be takes longer; nets that cannot be cut cost more */
    const int *touch_start, *touch; /* nets of each block, rising */
    bool       overlaps;            /* a stage takes the larger of compute and transfers */
} MerStageBlocks;

typedef struct MerStageStep { /* one more stage */
    int    from, kind;
    double limit; /* bytes of the stage */
} MerStageStep;

/* State 0: nothing is taken; the last: everything may be. */
typedef struct MerStageStates {
    int                 count;
    const int          *step_start; /* steps[step_start[s]] .. end in state s, from lower ones */
    const MerStageStep *steps;
    bool may_idle; /* stages may be empty, so that a state has all that the ones before it have */
    const double *power_left, *memory_left; /* of all that can still follow, at most */
} MerStageStates;

typedef struct MerStages {
    double value_us;
    int    stage_count;
    int   *kind; /* of each stage, in the order of the chain */
    int   *stage_of_block;
} MerStages;

/* stage_blocks.c: `merges`: blocks without time join their only neighbour where that cannot make a split worse; with
 * `merges_sizes` also where that could overfill a memory. */
typedef struct MerStageMerges {
    bool merges, merges_sizes;
} MerStageMerges;
MerStageBlocks *mer_stage_blocks(const MerPlace *place, const MerPlaceRules *rules,
                                 const MerStageKinds *kinds, MerStageMerges merge, MerArena *arena);

/* stage_nets.c: fills the nets of blocks whose groups are known. */
void mer_stage_find_nets(const MerPlace *place, const MerPlaceRules *rules,
                         const MerStageKinds *kinds, MerStageBlocks *blocks, MerArena *arena);

/* stage_states.c: kinds of units that are priced alike, and the numbers of them that are taken; where these would be too many for
 * `positions` cuts, the units one after the other as the platform lists them. */
MerStageKinds        *mer_stage_unit_kinds(const MerPlace *place, MerArena *arena);
const MerStageStates *mer_stage_unit_states(const MerPlace *place, const MerPlaceRules *rules,
                                            const MerStageBlocks *blocks,
                                            const MerStageKinds *kinds, int64_t positions,
                                            bool *is_row, MerArena *arena);
/* Fills power_left and memory_left. */
void mer_stage_finish_states(MerStageStates *states, const MerStageBlocks *blocks, MerArena *arena);
/* What no split is below. */
double mer_stage_floor(const MerStageBlocks *blocks, const MerStageStates *states);
/* Stages that were found from the end of the chain, in its order. */
void mer_stages_turn(const MerStageBlocks *blocks, MerStages *split);
/* The load of every stage anew; sets value_us. */
void       mer_stages_price(const MerStageBlocks *blocks, MerStages *split, MerArena *arena);
MerStages *mer_stages_new(const MerStageBlocks *blocks, const MerStageStates *states,
                          MerArena *arena);

/* stage_order.c: `rank` of each block, a smaller one goes first where it can; NULL: depth first. */
int *mer_stage_order(const MerStageBlocks *blocks, const int *rank, MerArena *arena);
/* stage_chain.c: the best cuts of that order; false: none fits, or `notes` says stop. */
bool mer_stage_chain(const MerStageBlocks *blocks, const MerStageStates *states, const int *order,
                     MerNotes *notes, MerStages *split, MerArena *arena);

/* stage_ideals.c: down-sets as bits, sorted so that subsets come first. */
typedef struct MerIdeals {
    int             count, words;
    const uint64_t *bits;    /* [ideal * words + word] */
    const double   *work_us; /* rising */
} MerIdeals;
/* NULL: more than `limits` allow, or `notes` says stop. */
const MerIdeals *mer_stage_list_ideals(const MerStageBlocks *blocks, const MerIdealLimits *limits,
                                       MerNotes *notes, MerArena *arena);

/* stage_search.c: the best chain of ideals below `split`, which has the value of the best split so far (INFINITY: none) and gets a
 * better one. false: stopped by `notes`. */
bool mer_stage_search(const MerStageBlocks *blocks, const MerStageStates *states,
                      const MerIdeals *ideals, MerNotes *notes, MerPool *pool, MerStages *split,
                      MerArena *arena);

#endif
