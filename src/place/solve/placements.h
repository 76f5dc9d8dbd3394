/* Placements by classical rules: each fills `unit`, the unit of every group, with what the group may take
 * (docs/placement.md, "Classical solvers"). Solvers ask for them one by one, the portfolio takes them all. */
#ifndef MERCATOR_PLACE_SOLVE_PLACEMENTS_H
#define MERCATOR_PLACE_SOLVE_PLACEMENTS_H

#include "place/place.h"

#include "mercator/notes.h"
#include "mercator/rng.h"

bool mer_place_may_take(const MerPlace *place, int group, int unit);
/* Where a group goes that may not take the wanted unit: a host, else the first unit it may take. */
int mer_place_instead(const MerPlace *place, int group);
/* Units that rules hand work to, rising: accelerators, or all units where there is none. Their number. */
int mer_place_workers(const MerPlace *place, int *units);
/* Mean time of a group over the units of `workers` that it may take, else where it goes instead. */
double mer_place_mean_us(const MerPlace *place, int group, const int *workers, int count);
/* To bring the result of an operator from one unit to another, in the mean of all pairs with a way between them. */
double mer_place_mean_transfer_us(const MerPlace *place, int op);

/* The rules of `maxload` by which contiguous splits are cut: those of the evaluator if it has that form. NULL: it says none. */
MerPlaceRules mer_place_split_rules(const MerPlaceRules *rules);

/* Everything on one unit, what it cannot run instead on a host. */
void mer_place_single(const MerPlace *place, int single, int *unit);
/* Groups in the order of the file, in turn over the accelerators. */
void mer_place_round_robin(const MerPlace *place, int *unit);
/* The order of the graph cut into parts of about equal time, one per accelerator. */
void mer_place_equal_parts(const MerPlace *place, int *unit);
/* The order of the graph fills one accelerator after the other up to its memory, the rest goes to the host. */
void mer_place_greedy_fill(const MerPlace *place, int *unit);
/* The same, where each takes its share of all bytes and the largest group (Baechi's m-TOPO). */
void mer_place_m_topo(const MerPlace *place, int *unit);

/* Groups so that forward results go forward and what follows each other stays together; `rng`: branches in random order, NULL: in
 * that of the graph. */
void mer_place_depth_first(const MerPlace *place, MerRng *rng, int *order);

/* Groups by `order` in one contiguous stage per accelerator, within memory, so that all stages and transfers together take the least time;
 * what no stage takes goes to the host. Time grows with the square of the groups. false: nothing fits, or it was stopped. */
bool mer_place_least_cuts(const MerPlace *place, const int *order, MerNotes *notes, int *unit);

/* Biconnected components as one, then the best cuts of a chain of them. false: they run nowhere, or it was stopped. */
bool mer_place_bcc_split(const MerPlace *place, const MerPlaceRules *rules, MerNotes *notes,
                         int *unit);

/* The longest way from the start of each operator to the end, with mean times and mean transfers. */
void mer_place_upward_ranks(const MerPlace *place, double *rank);
/* Operators by falling rank, each where it ends first, also in idle times that earlier ones left. */
void mer_place_heft(const MerPlace *place, int *unit);
/* The critical path on the one unit that is fastest for it, the rest as above, by rank up and down together. */
void mer_place_cpop(const MerPlace *place, int *unit);

/* Again and again the ready operator that can start first, where memory allows it. `favourite`: the operator for which a unit
 * waits after each operator, -1: none; NULL: units never wait. */
void mer_place_earliest_start(const MerPlace *place, const int *favourite, int *unit);
/* Favourite children by a linear program (Hanen and Munier, 1995); false: it was stopped or has no solution. */
bool mer_place_favourites(const MerPlace *place, MerNotes *notes, int *favourite);

#endif
