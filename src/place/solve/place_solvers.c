/* The classical solvers as plug-ins: each opens, makes its placements by a rule of placements.h, and asks for their prices
 * (docs/placement.md, "Classical solvers"). */
#include "base/option_rows.h"
#include "place/solve/partition_graph.h"
#include "place/solve/place_list.h"
#include "place/solve/placements.h"

typedef struct Options { /* each table has its own row of these */
    bool    cpop, memory_aware;
    int64_t lp_limit;
    int     mode;
} Options;

#define SOLVER(solver, option_table, words, source)                                                \
    const MerOptimizerClass mer_optimizer_##solver = {                                             \
        .name = #solver,                                                                           \
        .summary = words,                                                                          \
        .reference = source,                                                                       \
        .options = option_table,                                                                   \
        .options_size = sizeof(Options),                                                           \
        MER_PLACE_LIST_CLASS,                                                                      \
        .open_problem = open_##solver,                                                             \
    };

/* A solver without options that makes one placement by `rule`. */
#define PLAIN_SOLVER(solver, rule, words, source)                                                  \
    static MerStatus open_##solver(void *state, const MerSearch *search,                           \
                                   const MerProblem *problem, const MerEvaluator *evaluator,       \
                                   const void *given, MerError *error)                             \
    {                                                                                              \
        (void)evaluator, (void)given;                                                              \
        MER_TRY(mer_place_list_begin(#solver, state, search, problem, error));                     \
        return add_by_rule(state, rule);                                                           \
    }                                                                                              \
    SOLVER(solver, NULL, words, source)

static MerStatus add_by_rule(MerPlaceList *list, void (*rule)(const MerPlace *place, int *unit))
{
    int *unit = mer_place_list_units(list);
    rule(list->place, unit);
    mer_place_list_add(list, unit);
    return MER_OK;
}

static void place_earliest(const MerPlace *place, int *unit)
{
    mer_place_earliest_start(place, NULL, unit);
}

PLAIN_SOLVER(round_robin, mer_place_round_robin,
             "operators in the order of the file, in turn over the accelerators", NULL)
PLAIN_SOLVER(expert, mer_place_equal_parts,
             "contiguous parts of about equal time, as a person would cut the network", NULL)
PLAIN_SOLVER(greedy_fill, mer_place_greedy_fill,
             "fills one accelerator after the other up to its memory, the host takes the rest",
             "Tarnawski et al., NeurIPS 2020 (baseline of single-sample latency)")
PLAIN_SOLVER(m_topo, mer_place_m_topo,
             "fills accelerators in topological order, each with its share of all bytes",
             "Jeon et al., Baechi, SoCC 2020")
PLAIN_SOLVER(m_etf, place_earliest,
             "list scheduling: the operator that can start first, where memory allows it",
             "Hwang et al., SIAM J. Comput. 18, 1989; Jeon et al., Baechi, SoCC 2020")

static MerStatus open_single(void *state, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *given, MerError *error)
{
    MerPlaceList *list = state;
    (void)evaluator, (void)given;
    MER_TRY(mer_place_list_begin("single", list, search, problem, error));
    int *unit = mer_place_list_units(list);
    for (int u = 0; u < list->place->unit_count; u++) {
        mer_place_single(list->place, u, unit);
        mer_place_list_add(list, unit);
    }
    return MER_OK;
}

SOLVER(single, NULL, "everything on one unit, each in turn; what it cannot run goes to the host",
       NULL)

static const MerOption heft_options[] = {
    MER_BOOL(cpop, "false", "the critical path stays on one unit, the rest by ranks up and down"),
    {0}};

static MerStatus open_heft(void *state, const MerSearch *search, const MerProblem *problem,
                           const MerEvaluator *evaluator, const void *given, MerError *error)
{
    const Options *chosen = given;
    (void)evaluator;
    MER_TRY(mer_place_list_begin("heft", state, search, problem, error));
    return add_by_rule(state, chosen->cpop ? mer_place_cpop : mer_place_heft);
}

SOLVER(heft, heft_options, "list scheduling by upward rank, each operator where it ends first",
       "Topcuoglu, Hariri and Wu, IEEE TPDS 13, 2002")

static const MerOption m_sct_options[] = {
    MER_INT(
        lp_limit, "2000", 0, 1e6,
        "operators up to which favourite children are found by the linear program; above, none"),
    {0}};

static MerStatus open_m_sct(void *state, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *given, MerError *error)
{
    MerPlaceList  *list = state;
    const Options *chosen = given;
    (void)evaluator;
    MER_TRY(mer_place_list_begin("m_sct", list, search, problem, error));
    int *unit = mer_place_list_units(list);
    int *favourite = MER_ARRAY(search->arena, int, list->place->op_count + 1);
    bool is_small = list->place->op_count <= chosen->lp_limit;
    bool has_favourites = is_small && mer_place_favourites(list->place, search->notes, favourite);
    if (!has_favourites) {
        mer_note(search->notes, "m_sct",
                 is_small ? "\"the linear program was not solved: as m_etf\""
                          : "\"more operators than lp_limit: as m_etf\"");
    }
    mer_place_earliest_start(list->place, has_favourites ? favourite : NULL, unit);
    mer_place_list_add(list, unit);
    return MER_OK;
}

SOLVER(m_sct, m_sct_options,
       "m_etf, where a unit waits for the favourite child that a linear program chose",
       "Hanen and Munier, ETFA 1995; Jeon et al., Baechi, SoCC 2020")

static MerStatus open_least_cuts(void *state, const MerSearch *search, const MerProblem *problem,
                                 const MerEvaluator *evaluator, const void *given, MerError *error)
{
    MerPlaceList *list = state;
    (void)evaluator, (void)given;
    MER_TRY(mer_place_list_begin("least_cuts", list, search, problem, error));
    int *unit = mer_place_list_units(list), *order = mer_place_list_units(list);
    for (int g = 0; g < list->place->group_count; g++) {
        order[g] = g;
    }
    for (int which = 0; which < 2; which++) {
        if (mer_place_least_cuts(list->place, order, search->notes, unit)) {
            mer_place_list_add(list, unit);
        }
        mer_place_depth_first(list->place, NULL, order);
    }
    return MER_OK;
}

SOLVER(
    least_cuts, NULL,
    "contiguous stages within memory that together take the least time, one unit after the other",
    NULL)

static MerStatus open_partition(const char *solver, const char *library,
                                MerPartitioner *partitioner, bool variant, MerPlaceList *list,
                                const MerSearch *search, const MerProblem *problem, MerError *error)
{
    if (!partitioner) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s is not built in: lib%s was not there when Mercator was built",
                             solver, solver);
    }
    MER_TRY(mer_place_list_begin(solver, list, search, problem, error));
    int *unit = mer_place_list_units(list);
    if (!mer_place_partition(list->place, partitioner, variant, search->seed, unit)) {
        return mer_error_set(error, MER_INVALID, "%s found no partition of %s", library,
                             list->place->graph->name);
    }
    mer_place_list_add(list, unit);
    return MER_OK;
}

static const MerOption metis_options[] = {
    MER_BOOL(memory_aware, "false",
             "parts also have about equal bytes; as published they ignore memory"),
    {0}};

static MerStatus open_metis(void *state, const MerSearch *search, const MerProblem *problem,
                            const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)evaluator;
    return open_partition("metis", "METIS", mer_partition_metis,
                          ((const Options *)given)->memory_aware, state, search, problem, error);
}

SOLVER(metis, metis_options, "METIS: parts of equal time with few transfers between them",
       "Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998")

static const MerOption scotch_options[] = {
    MER_CHOICE(mode, "gpart", "gpart|map",
               "parts of equal time, or a mapping onto the units and their links"),
    {0}};

static MerStatus open_scotch(void *state, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *given, MerError *error)
{
    (void)evaluator;
    return open_partition("scotch", "Scotch", mer_partition_scotch,
                          ((const Options *)given)->mode == 1, state, search, problem, error);
}

SOLVER(scotch, scotch_options,
       "Scotch: parts of equal time with few transfers, or mapped onto the links",
       "Pellegrini and Roman, HPCN 1996")
