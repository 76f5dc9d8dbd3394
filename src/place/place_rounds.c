/* Decisions one after the other: in a round one role of knobs is free, those decided before keep their answers, the others wait at
 * their defaults (docs/placement.md, "Fusion"). */
#include "place/place_parts.h"

static const struct {
    MerRole     role;
    const char *name;
} turns[] = {{MER_ROLE_UNIT, "place"}, {MER_ROLE_PRIORITY, "order"}, {MER_ROLE_FUSE, "fuse"}};
enum { TURNS = sizeof turns / sizeof *turns };

static bool is_decided(const MerPlace *place, MerRole role)
{
    return role == MER_ROLE_UNIT || (role == MER_ROLE_PRIORITY && place->decides_order) ||
           (role == MER_ROLE_FUSE && place->decides_fusion);
}

/* What is decided in round `round`; TURNS: nothing is left. */
static int turn_of(const MerPlace *place, int round)
{
    int turn = 0;
    while (turn < TURNS && (!is_decided(place, turns[turn].role) || round-- > 0)) {
        turn++;
    }
    return turn;
}

static int count_turns(const MerPlace *place)
{
    return 1 + place->decides_order + place->decides_fusion;
}

static bool goes_in_turn(const MerProblem *problem)
{
    return ((const MerPlaceOptions *)problem->options)->in_turn;
}

double mer_place_round_share(const MerProblem *problem, int round, int further)
{
    int turns = goes_in_turn(problem) ? count_turns(mer_place_of(problem)) : 1;
    turns = turns < 1 + further ? turns : 1 + further;
    return round < turns ? 1.0 / turns : 0; /* nothing is kept for rounds that do not come */
}

bool mer_place_next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena)
{
    const MerPart    *part = &rounds[done > 0 ? done - 1 : 0].parts[0];
    const MerProblem *problem = part->problem;
    const MerSpace   *space = &problem->space;
    const MerPlace   *place = mer_place_of(problem);
    int               turn = turn_of(place, done);
    MerIndex         *point = MER_ARRAY(arena, MerIndex, space->knob_count + 1);
    if (!goes_in_turn(problem) || turn == TURNS || (done > 0 && !part->plan) ||
        (part->plan && !mer_place_encode(place, mer_graph_plan(part->plan), point))) {
        return false;
    }
    MerFixedKnob *fixed = MER_ARRAY(arena, MerFixedKnob, space->knob_count + 1);
    *round = (MerRound){.name = turns[turn].name, .fixed = fixed};
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        bool           is_free = knob->role == turns[turn].role ||
                       (turn == 0 && knob->role == MER_ROLE_REPLICAS); /* where a stage runs */
        if (!is_free) {
            fixed[round->fixed_count++] =
                (MerFixedKnob){knob->name, knob->values ? knob->values[point[k]] : point[k], NULL};
        }
    }
    return true;
}

bool mer_place_first_round(const MerWhole *whole, MerRound *round, MerArena *arena)
{
    return mer_place_next_round(whole, 0, round, arena);
}
