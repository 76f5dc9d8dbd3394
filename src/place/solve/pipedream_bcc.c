/* Solver `pipedream_bcc`: PipeDream as Tarnawski et al. (NeurIPS 2020) compare with it (docs/placement.md, "PipeDream"). Groups of one
 * biconnected component that have a reader in it become one block, so that branches are not cut; then the best cuts of a chain.
 * On training graphs nearly everything is one component: never the only way to make a graph smaller. */
#include "base/sets.h"
#include "place/place_parts.h"
#include "place/solve/ideals.h"
#include "place/solve/place_list.h"
#include "place/solve/placements.h"

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Search {     /* for components (Hopcroft and Tarjan, 1973), by group */
    int *near_start, *near; /* groups that a group exchanges results with */
    int *depth;             /* when it was found, from 1; 0: not yet */
    int *lowest;            /* the first group that it or what it led to is joined with */
    int *from, *next;       /* the group that led to it; neighbour to look at */
    int *component;         /* of the edge by which it was found */
    int *path, *waiting;    /* groups under way; those without a component */
    int  found, length, waiting_count, component_count;
} Search;

/* Calls `visit` for each edge between groups. */
static void for_edges(const MerPlace *place, void (*visit)(void *state, int from, int to),
                      void           *state)
{
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int from = place->group[o], to = place->group[place->after[i]];
            if (from != to) {
                visit(state, from, to);
            }
        }
    }
}

static void count_ends(void *state, int from, int to)
{
    Search *s = state;
    s->near_start[from + 2]++;
    s->near_start[to + 2]++;
}

static void add_ends(void *state, int from, int to)
{
    Search *s = state;
    s->near[s->near_start[from + 1]++] = to;
    s->near[s->near_start[to + 1]++] = from;
}

static void enter(Search *s, int group, int from)
{
    s->depth[group] = s->lowest[group] = ++s->found;
    s->from[group] = from;
    s->next[group] = s->near_start[group];
    s->path[s->length++] = group;
    s->waiting[s->waiting_count++] = group;
}

/* All that was found behind `group` and has no component yet is one with the edge that led to it. */
static void leave(Search *s, int group)
{
    int from = s->from[group], last;
    s->length--;
    if (from < 0 || s->lowest[group] < s->depth[from]) {
        if (from >= 0 && s->lowest[group] < s->lowest[from]) {
            s->lowest[from] = s->lowest[group];
        }
        return;
    }
    do {
        last = s->waiting[--s->waiting_count];
        s->component[last] = s->component_count;
    } while (last != group);
    s->component_count++;
}

static void walk(Search *s, int start)
{
    enter(s, start, -1);
    while (s->length > 0) {
        int group = s->path[s->length - 1];
        if (s->next[group] == s->near_start[group + 1]) {
            leave(s, group);
            continue;
        }
        int other = s->near[s->next[group]++];
        if (s->depth[other] == 0) {
            enter(s, other, group);
        } else if (other != s->from[group] && s->depth[other] < s->lowest[group]) {
            s->lowest[group] = s->depth[other];
        }
    }
    s->waiting_count = 0; /* the start has no edge that led to it */
}

typedef struct Merges {
    const Search *search;
    int          *into; /* of each group: one that it is merged with, itself for the first */
    int *first; /* of each component: 1 + the first group that somebody in it reads; 0: none yet */
} Merges;

static void merge_tails(void *state, int from, int to)
{
    Merges       *merges = state;
    const Search *s = merges->search;
    int           component = s->component[s->depth[from] > s->depth[to] ? from : to];
    int          *first = &merges->first[component];
    if (*first == 0) {
        *first = from + 1;
    }
    merges->into[mer_sets_root(merges->into, from)] = mer_sets_root(merges->into, *first - 1);
}

/* The block of each group, numbered by first groups; how many. */
static int find_blocks(const MerPlace *place, int *block, MerArena *arena)
{
    int    groups = place->group_count, count = 0;
    Search s = {.near_start = NEW(int, groups + 1),
                .near = NEW(int, 2 * (size_t)place->edge_count),
                .depth = NEW(int, groups),
                .lowest = NEW(int, groups),
                .from = NEW(int, groups),
                .next = NEW(int, groups),
                .component = NEW(int, groups),
                .path = NEW(int, groups),
                .waiting = NEW(int, groups)};
    for_edges(place, count_ends, &s);
    for (int g = 0; g < groups; g++) {
        s.near_start[g + 2] += s.near_start[g + 1];
    }
    for_edges(place, add_ends, &s);
    for (int g = 0; g < groups; g++) {
        if (s.depth[g] == 0) {
            walk(&s, g);
        }
    }
    Merges merges = {&s, mer_sets_new(groups, arena), NEW(int, s.component_count)};
    for_edges(place, merge_tails, &merges);
    int *number = NEW(int, groups); /* of a block by its root, from 1 */
    for (int g = 0; g < groups; g++) {
        int *known = &number[mer_sets_root(merges.into, g)];
        *known = *known == 0 ? ++count : *known;
        block[g] = *known - 1;
    }
    return count;
}

bool mer_place_bcc_split(const MerPlace *place, const MerPlaceRules *rules, MerNotes *notes,
                         int *unit)
{
    MerArena *arena = mer_arena_new();
    int      *block = NEW(int, place->group_count);
    int       count = find_blocks(place, block, arena);
    int      *unit_of_block = NEW(int, count);
    MerPlace  merged;
    double    value;
    bool      is_found =
        mer_place_regroup(place, block, count, &merged, arena) &&
        mer_place_chain_split(&merged, rules, NULL, notes, unit_of_block, &value, arena);
    for (int g = 0; g < place->group_count && is_found; g++) {
        unit[g] = unit_of_block[block[g]];
    }
    mer_arena_free(arena);
    return is_found;
}

static MerStatus open_bcc(void *state, const MerSearch *search, const MerProblem *problem,
                          const MerEvaluator *evaluator, const void *given, MerError *error)
{
    MerPlaceList *list = state;
    const void   *said = evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    MerPlaceRules rules = mer_place_split_rules(said);
    (void)given;
    MER_TRY(mer_place_list_begin("pipedream_bcc", list, search, problem, error));
    int *unit = mer_place_list_units(list);
    if (!mer_place_bcc_split(list->place, &rules, search->notes, unit)) {
        return mer_error_set(error, MER_INVALID,
                             "pipedream_bcc found no chain of biconnected components that the "
                             "units can run and hold");
    }
    mer_place_list_add(list, unit);
    return MER_OK;
}

const MerOptimizerClass mer_optimizer_pipedream_bcc = {
    .name = "pipedream_bcc",
    .summary = "biconnected components as one, then the best cuts of a chain of them",
    .reference = "Narayanan et al., SOSP 2019, as a baseline of Tarnawski et al., NeurIPS 2020",
    MER_PLACE_LIST_CLASS,
    .open_problem = open_bcc,
};
