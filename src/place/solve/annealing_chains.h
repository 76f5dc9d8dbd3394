/* Annealing in several chains that meet after every round: then half of them go on from the best placement of all, each with a seed of
 * its own, so that the result does not depend on the number of threads (docs/placement.md, "Chains and rounds"). Where the
 * evaluator is `maxload` moves are priced by loads, else by the evaluator. */
#ifndef MERCATOR_PLACE_SOLVE_ANNEALING_CHAINS_H
#define MERCATOR_PLACE_SOLVE_ANNEALING_CHAINS_H

#include "base/option_rows.h"
#include "place/solve/load_annealing.h"
#include "place/solve/point_annealing.h"

typedef struct MerChainOptions {
    int64_t moves, evaluations; /* -1: by the size of the graph */
    int64_t chains, rounds;
    double  hot, cold;
} MerChainOptions;

/* Rows of an option table whose `Options` has `MerChainOptions chains`. */
/* clang-format off */
#define MER_CHAIN_OPTIONS \
    MER_INT_AT("moves", chains.moves, "-1", -1, 1e15, \
        "moves of annealing, of all chains together, where loads price them; -1: 100,000 per group, " \
        "24 million at most"), \
    MER_INT_AT("evaluations", chains.evaluations, "-1", -1, 1e12, \
        "the same where the evaluator prices them; -1: 20 million over the number of operators, " \
        "200 at least, 1,000 per group and 100,000 at most"), \
    MER_INT_AT("chains", chains.chains, "8", 1, 1024, "chains of annealing"), \
    MER_INT_AT("rounds", chains.rounds, "8", 1, 1000, \
        "times the chains cool down, each longer than the last; in between half take over the best"), \
    MER_REAL_AT("hot", chains.hot, "0.1", 1e-12, 1e3, \
        "first temperature of random placements, as a part of the mean load; given ones begin with " \
        "3, 10 and 30 % of it, by the evaluator with 1, 3 and 10 %"), \
    MER_REAL_AT("cold", chains.cold, "0.00001", 1e-15, 1e3, "last temperature, likewise")
/* clang-format on */

typedef struct MerPlaceChains MerPlaceChains;

/* Is what the search minimises the largest load, over units alone? `rules`: of the evaluator, NULL: it says none. */
bool mer_place_can_use_loads(const MerSearch *search, const MerPlace *place,
                             const MerPlaceRules *rules);

/* In the search's arena; everything given is kept. */
MerPlaceChains *mer_place_chains_new(const MerSearch *search, const MerProblem *problem,
                                     const MerEvaluator *evaluator, const MerChainOptions *options);
/* Do loads price the moves? */
bool mer_place_chains_use_loads(const MerPlaceChains *chains);
/* A placement to begin with, before the first round; the best of them are used, the others forgotten. `score`: as the run told it. */
void mer_place_chains_start(MerPlaceChains *chains, const MerIndex *point, double score);
/* Whether chains without a given placement begin with a random one, where loads price moves; else all share the given ones. */
void mer_place_chains_scatter(MerPlaceChains *chains, bool scatters);
/* Knobs of these roles (bits) stay as the starts have them, and `share` of the evaluations are made. */
void mer_place_chains_keep(MerPlaceChains *chains, unsigned kept, double share);
/* One round. false: all were done, or the search is cancelled. */
bool mer_place_chains_round(MerPlaceChains *chains);
/* The best point so far, and whether it is better than all starts and than after the round before. */
const MerIndex *mer_place_chains_best(const MerPlaceChains *chains, bool *is_new);
/* Moves or evaluations so far. */
int64_t mer_place_chains_spent(const MerPlaceChains *chains);

#endif
