/* The points that the portfolio begins with: one unit alone, the classical rules, partitioners, and contiguous splits. */
#include "place/solve/partition_graph.h"
#include "place/solve/portfolio.h"

#include "base/stats.h"
#include "place/place_parts.h"
#include "place/solve/ideals.h"
#include "place/solve/placements.h"

#include <string.h>

/* What grows faster than the graph is left out above these sizes: operators for the linear program of m_sct, groups for each of
 * least_cuts and for cuts of random orders. */
enum { MOST_FOR_LP = 500, MOST_FOR_CUTS = 1500, MOST_FOR_ORDERS = 4000, RANDOM_ORDERS = 6 };

static int *new_units(const MerSources *s, MerArena *arena)
{
    return MER_ARRAY(arena, int, s->place->group_count + 1);
}

void mer_portfolio_add_singles(MerSources *s)
{
    MerArena *arena = mer_arena_new();
    int      *unit = new_units(s, arena);
    for (int u = 0; u < s->place->unit_count; u++) {
        mer_place_single(s->place, u, unit);
        mer_sources_add_units(s, "single", s->place->unit_names[u], unit);
    }
    mer_arena_free(arena);
}

static void place_earliest(const MerPlace *place, int *unit)
{
    mer_place_earliest_start(place, NULL, unit);
}

static void add_m_sct(MerSources *s, int *unit, MerArena *arena)
{
    int *favourite = MER_ARRAY(arena, int, s->place->op_count + 1);
    if (s->place->op_count <= MOST_FOR_LP &&
        mer_place_favourites(s->place, s->search->notes, favourite)) {
        mer_place_earliest_start(s->place, favourite, unit);
        mer_sources_add_units(s, "m_sct", NULL, unit);
    }
}

void mer_portfolio_add_rules(MerSources *s)
{
    static const struct {
        const char *name;
        void (*rule)(const MerPlace *place, int *unit);
    } rules[] = {{"round_robin", mer_place_round_robin},
                 {"expert", mer_place_equal_parts},
                 {"greedy_fill", mer_place_greedy_fill},
                 {"m_topo", mer_place_m_topo},
                 {"heft", mer_place_heft},
                 {"heft:cpop=true", mer_place_cpop},
                 {"m_etf", place_earliest}};
    MerArena *arena = mer_arena_new();
    int      *unit = new_units(s, arena);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!mer_is_cancelled(s->search->notes)) {
            rules[i].rule(s->place, unit);
            mer_sources_add_units(s, rules[i].name, NULL, unit);
        }
    }
    add_m_sct(s, unit, arena);
    mer_arena_free(arena);
}

void mer_portfolio_add_partitions(MerSources *s)
{
    MerArena *arena = mer_arena_new();
    int      *unit = new_units(s, arena);
    for (int with_memory = 0; with_memory < 2; with_memory++) {
        if (mer_place_partition(s->place, mer_partition_metis, with_memory == 1, s->search->seed,
                                unit)) {
            mer_sources_add_units(s, with_memory ? "metis:memory_aware=true" : "metis", NULL, unit);
        }
    }
    for (int with_links = 0; with_links < 2; with_links++) {
        if (mer_place_partition(s->place, mer_partition_scotch, with_links == 1, s->search->seed,
                                unit)) {
            mer_sources_add_units(s, with_links ? "scotch:mode=map" : "scotch", NULL, unit);
        }
    }
    mer_arena_free(arena);
}

/* The best cuts of one order of the groups: for the largest load, and for the least time in all. */
static void add_chain(MerSources *s, const MerPlaceRules *rules, const int *order,
                      const char *detail)
{
    MerArena *arena = mer_arena_new();
    int      *unit = new_units(s, arena);
    double    value;
    if (!mer_is_cancelled(s->search->notes) &&
        mer_place_chain_split(s->place, rules, order, s->search->notes, unit, &value, arena)) {
        mer_sources_add_units(s, "chain cuts", detail, unit);
    }
    if (s->place->group_count <= MOST_FOR_CUTS &&
        mer_place_least_cuts(s->place, order, s->search->notes, unit)) {
        mer_sources_add_units(s, "least_cuts", detail, unit);
    }
    mer_arena_free(arena);
}

static void add_chains(MerSources *s, const MerPlaceRules *rules)
{
    MerArena *arena = mer_arena_new();
    int       groups = s->place->group_count;
    int      *order = MER_ARRAY(arena, int, groups + 1);
    for (int g = 0; g < groups; g++) {
        order[g] = g;
    }
    add_chain(s, rules, order, "in the order of the graph");
    mer_place_depth_first(s->place, NULL, order);
    add_chain(s, rules, order, "depth first");
    for (int i = 0; i < RANDOM_ORDERS && groups <= MOST_FOR_ORDERS; i++) {
        mer_place_depth_first(s->place, s->search->rng, order);
        add_chain(s, rules, order, "depth first in a random order");
    }
    mer_arena_free(arena);
}

void mer_portfolio_add_splits(MerSources *s, const MerPlaceRules *rules, int64_t ideals,
                              MerBound *proof)
{
    const MerIdealLimits limits = {ideals, 20 * ideals};
    MerArena            *arena = mer_arena_new();
    int                 *unit = new_units(s, arena);
    double               value;
    bool                 is_proven;
    bool is_found = mer_place_ideal_split(s->place, rules, &limits, s->search->notes,
                                          s->search->pool, unit, &value, &is_proven, arena);
    if (is_found) {
        const char *detail = is_proven ? "no contiguous split is better" : "not proven";
        mer_sources_add_units(s, "ideal_dp", proof ? detail : "for the largest load", unit);
    }
    if (is_found && is_proven && proof) {
        *proof = (MerBound){1e-6 * value, "search", rules->needs_contiguous ? "" : "contiguous"};
    }
    mer_arena_free(arena);
    add_chains(s, rules);
}

/* Another solver of this problem, opened with its defaults: its first point. */
void mer_portfolio_add_replicas(MerSources *s, const MerProblem *problem,
                                const MerEvaluator *evaluator)
{
    extern const MerOptimizerClass mer_optimizer_pipedream;
    const MerOptimizerClass       *type = &mer_optimizer_pipedream;
    MerArena                      *arena = s->search->arena;
    void                          *state = mer_arena_alloc(arena, type->state_size);
    const void *chosen = mer_options_or_defaults(NULL, type->options, type->options_size, arena);
    MerProposal proposal = {MER_ARRAY(arena, MerIndex, s->knob_count + 1), INFINITY, -1};
    if (type->open_problem(state, s->search, problem, evaluator, chosen, NULL) == MER_OK &&
        type->ask(state, &proposal, 1) == 1) {
        mer_sources_add(s, "pipedream", NULL, proposal.point);
    }
}

/* Priorities by rank, as many operators on each level. */
static void set_ranks(const MerPlace *place, const int *by_rank, MerIndex *priority)
{
    for (int i = 0; i < place->op_count; i++) {
        priority[by_rank[i]] = (MerIndex)((int64_t)i * place->levels / place->op_count);
    }
}

static void set_fusion(const MerPlace *place, const int *unit, MerIndex *level, MerArena *arena)
{
    int *of_op = MER_ARRAY(arena, int, place->op_count + 1);
    for (int o = 0; o < place->op_count; o++) {
        of_op[o] = unit[place->group[o]];
    }
    mer_place_fuse_greedy(place, of_op, level);
}

/* A placement with priorities, with fusion, or with both, as far as they are decided. */
static void add_variant(MerSources *s, const MerIndex *point, const int *by_rank, bool orders,
                        bool fuses)
{
    const MerPlace *place = s->place;
    MerArena       *arena = mer_arena_new();
    MerIndex       *made = MER_ARRAY(arena, MerIndex, s->knob_count + 1);
    MerIndex       *next = made + place->group_count;
    int            *unit = new_units(s, arena);
    if ((orders && !place->decides_order) || (fuses && !place->decides_fusion)) {
        mer_arena_free(arena);
        return;
    }
    memcpy(made, point, (size_t)s->knob_count * sizeof *point);
    mer_place_units(place, point, unit);
    if (orders) {
        set_ranks(place, by_rank, next);
    }
    if (fuses) {
        set_fusion(place, unit, next + (place->decides_order ? place->op_count : 0), arena);
    }
    mer_sources_add(s,
                    orders && fuses ? "ranks and greedy fusion"
                    : orders        ? "upward ranks"
                                    : "greedy fusion",
                    NULL, made);
    mer_arena_free(arena);
}

static int *order_by_rank(const MerPlace *place, MerArena *arena)
{
    double *rank = MER_ARRAY(arena, double, place->op_count + 1);
    int    *by_rank = MER_ARRAY(arena, int, place->op_count + 1);
    mer_place_upward_ranks(place, rank);
    mer_sort_order(rank, place->op_count, by_rank);
    return by_rank;
}

void mer_portfolio_add_variants(MerSources *s, int count)
{
    MerArena *arena = mer_arena_new();
    int      *order = MER_ARRAY(arena, int, s->told + 1), legal;
    int      *by_rank = order_by_rank(s->place, arena);
    mer_sources_rank(s, order, &legal);
    for (int i = 0, singles = 0; i < legal; i++) {
        bool is_single = strcmp(s->list[order[i]].name, "single") == 0 && singles++ == 0;
        for (int which = 1; which < 4 && (i < count || is_single); which++) {
            add_variant(s, s->list[order[i]].point, by_rank, which & 1, which & 2);
        }
    }
    mer_arena_free(arena);
}

void mer_portfolio_add_turn(MerSources *s, MerRole role)
{
    MerArena *arena = mer_arena_new();
    int      *order = MER_ARRAY(arena, int, s->told + 1), legal;
    mer_sources_rank(s, order, &legal);
    if (legal > 0) {
        add_variant(s, s->list[order[0]].point, order_by_rank(s->place, arena),
                    role == MER_ROLE_PRIORITY, role == MER_ROLE_FUSE);
    }
    mer_arena_free(arena);
}
