/* What bounds the price of a placement, and what would change it: faster links, more memory, another unit, no gaps, or a group
 * elsewhere (docs/placement.md, "Explanation"). */
#ifndef MERCATOR_PLACE_COST_WHAT_IF_H
#define MERCATOR_PLACE_COST_WHAT_IF_H

#include "mercator/evaluator.h"
#include "place/place_parts.h"

typedef struct MerPlacePricer { /* it is opened again on other platforms */
    const MerProblem *problem;
    MerEvaluator      evaluator;
    MerMetric         metric; /* what is explained */
} MerPlacePricer;

/* A plan, its time by unit and its bytes as mer_place_show takes them. */
typedef struct MerPlacePriced {
    const MerPlan *plan;
    const double  *load_us, *peak;
} MerPlacePriced;

/* explanation.c, for the slots `print` and `detail` of an evaluator: newline-terminated lines, and the same as views. */
const char *mer_place_explain(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                              MerArena *arena);
void        mer_place_show_what_ifs(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                                    MerNotes *notes);

/* what_if.c */
typedef enum MerWhatIfMode { /* as the option `what_if` of the problem lists them */
                             MER_WHAT_IF_OFF,
                             MER_WHAT_IF_PRICE, /* the same plan on changed platforms */
                             MER_WHAT_IF_SEARCH /* and a better plan there */
} MerWhatIfMode;

typedef struct MerWhatIf {
    const char *text; /* "all links x2" */
    double      value,
        improved; /* of the same plan and of the improved one; NaN: refused, or not asked */
} MerWhatIf;

typedef struct MerWhatIfMove {
    int    group, from, to;
    double value;
} MerWhatIfMove;

enum { MER_WHAT_IF_MOVES = 3 };

typedef struct MerSingle { /* everything on one unit, what it cannot run on a host */
    int         unit;
    double      value;  /* NaN: refused */
    const char *reason; /* why */
} MerSingle;

typedef struct MerWhatIfs {
    MerWhatIfMode mode;
    double        value;    /* as it is; NaN: refused */
    double        improved; /* as it is, improved as for the changes; NaN: not asked */
    int           count;
    MerWhatIf    *list;
    int           move_count;
    MerWhatIfMove moves[MER_WHAT_IF_MOVES]; /* that gain most, best first */
    int           single_count;
    MerSingle    *singles; /* of each class the best unit, the best of all first; in every mode */
    /* bytes of all on the first accelerator, without limits, as far as it runs there; unit -1: there is none */
    int    roomy_unit;
    double roomy_bytes;
} MerWhatIfs;

MerWhatIfs mer_place_what_ifs(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                              MerArena *arena);

/* what_if_changes.c */
typedef struct MerWhatIfChange {
    const char    *text;
    MerPlaceChange change;
    double         transfer; /* factor of the transfer times of the file */
} MerWhatIfChange;
/* `is_refused`: the plan is infeasible as it is. */
MerWhatIfChange *mer_place_list_changes(const MerPlace *place, const MerGraphPlan *plan,
                                        MerWhatIfMode mode, bool is_refused, MerArena *arena,
                                        int *count);
/* Microseconds that each link of the platform carries results of the plan, alone. */
double *mer_place_link_times(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena);

#endif
