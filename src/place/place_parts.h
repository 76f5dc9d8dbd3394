/* What the files of problem `place` do for each other. */
#ifndef MERCATOR_PLACE_PLACE_PARTS_H
#define MERCATOR_PLACE_PLACE_PARTS_H

#include "place/place.h"

typedef struct MerPlaceOptions {
    const char *decide;  /* "place,order,fuse" */
    bool        in_turn; /* one after the other */
    const char *profile; /* CSV or ONNX Runtime's JSON with measured times; NULL: none */
    MerTexts    colocate, pin;
    int         single_consumer; /* MerConsumerRule */
    bool        blocks;          /* operators of one block of the network share a unit */
    double      group_work_limit, msr_cost_scale;
    bool        replication, recompute;
    int64_t     levels;
    int         what_if; /* MerWhatIfMode */
} MerPlaceOptions;

/* place_model.c: the opened problem, without what the space decides. `remarks`: what the user should know, two lines at most, NULL
 * where there is nothing to say. */
MerStatus mer_place_open(const MerProblem *problem, MerPlace *place, const char **remarks,
                         MerArena *arena, MerError *error);
/* The same with groups joined: `merged` is the number of each group, by first operators, `count` how many there are. false: some have no
 * unit that all of their operators may take. */
bool mer_place_regroup(const MerPlace *place, const int *merged, int count, MerPlace *made,
                       MerArena *arena);
/* place_space.c */
MerSpace mer_place_space(const MerPlace *place, MerArena *arena);
bool     mer_place_encode(const MerPlace *place, const MerGraphPlan *plan, MerIndex *point);

/* place_rounds.c */
bool   mer_place_next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena);
bool   mer_place_first_round(const MerWhole *whole, MerRound *round, MerArena *arena);
double mer_place_round_share(const MerProblem *problem, int round, int further);

/* Is it a processor, whose memory is the host's? */
bool mer_place_is_host(const MerUnit *unit);

/* place_platform.c: a platform with one thing changed */
typedef enum MerPlaceChangeKind {
    MER_CHANGE_UNIT,   /* one more like unit `index` */
    MER_CHANGE_LINK,   /* link `index` and its bus, -1: all of them, `factor` times as fast */
    MER_CHANGE_MEMORY, /* of the class of unit `index`, -1: of all, times `factor` */
    MER_CHANGE_GAP     /* no launch overhead, no rest between operators */
} MerPlaceChangeKind;
typedef struct MerPlaceChange {
    MerPlaceChangeKind kind;
    int                index;
    double             factor;
} MerPlaceChange;
const MerPlatform *mer_place_change(const MerPlatform *platform, MerPlaceChange change,
                                    MerArena *arena);

/* inputs/routes.c: the cheapest way over links between any two units, into `routes`. */
MerStatus mer_place_find_routes(MerPlace *place, MerArena *arena, MerError *error);

/* inputs/op_costs.c: what is known of a graph without measurements. Fills time_us (roofline of the unit's class and type, plus
 * launch; INFINITY where `supports` leaves it out), size, output_bytes, workspace_bytes, flops and moved_bytes of `place`,
 * whose graph, platform, op_count, unit_count and unit fields are set. Operators that cost nothing (views) move nothing. */
MerStatus mer_place_estimate(MerPlace *place, MerArena *arena, MerError *error);
/* Operations of an operator per microsecond on a unit, its speed included; INFINITY: the platform does not say. */
double mer_place_rate(const MerPlace *place, int op, int unit);

/* inputs/measured.c: rows of `path` (docs/placement.md, "Measured times") replace times, sizes and outputs of `place`, whose
 * arrays may be written. `remark`: coverage, one line. */
MerStatus mer_place_read_times(MerPlace *place, const char *path, const char **remark,
                               MerArena *arena, MerError *error);

/* inputs/groups.c */
typedef enum MerConsumerRule { /* as the option `single_consumer` lists them */
                               MER_CONSUMER_OFF,
                               MER_CONSUMER_OUTPUT,
                               MER_CONSUMER_GROUP
} MerConsumerRule;
/* The group of each operator into `group`, numbered by their first operators, and how many. `class_of`: explicit classes, -1 for
 * none; NULL: there are none. Reads names, edges, time_us of `place`. `warning`: one line, NULL: none. */
MerStatus mer_place_find_groups(const MerPlace *place, const MerPlaceOptions *options,
                                const int64_t *class_of, int *group, int *count,
                                const char **warning, MerArena *arena, MerError *error);

/* cost/fusion.c: clusters from levels of fusion, level 0: never into a producer (docs/placement.md, "Fusion"). `cluster` of each operator
 * is the first operator of its cluster. `unit` of each operator is decided before. */
void mer_place_fuse(const MerPlace *place, const int *unit, const int *level, int *cluster,
                    MerArena *arena);

/* cost/fusion_levels.c: levels by rule: the more bytes an operator would not have to read, the higher. */
void mer_place_fuse_greedy(const MerPlace *place, const int *unit, int *level);

/* cost/noise.c: a log-normal factor with standard deviation `sigma` of its logarithm, the same for the same plan and seed. */
double mer_place_noise(uint64_t hash, uint64_t seed, double sigma);

/* bound/place_bound.c */
MerBound mer_place_bound(const MerPlace *place, const MerPlaceRules *rules, MerMetric metric);

/* cost/place_views.c: loads and bytes of the units, the graph coloured by unit, transfers; of every evaluator. `load_us`: of each
 * unit, in parts [unit * 3 + part]: compute, transfers, idle; `peak`: bytes of each unit. */
void mer_place_show(const MerPlace *place, const MerGraphPlan *plan, const double *load_us,
                    const double *peak, MerNotes *notes);
/* cost/period_view.c: one period of a pipeline; `overlaps`: transfers run beside operators. */
void mer_place_show_period(const MerPlace *place, const MerGraphPlan *plan, const double *load_us,
                           bool overlaps, MerNotes *notes);
/* Microseconds to move the result of an operator from one unit to another, when nothing else moves; 0 on the same one, INFINITY: there
 * is no way. */
double mer_place_transfer(const MerPlace *place, int op, int from, int to);

#endif
