/* What a lone agent learned on one task, as the start on the next: the policy of an earlier layer, said in the
 * knobs of the present one. */
#include "opt/agents.h"

#include "space/alike.h"

/* For every choice of a head here, the head's choice there that means the same. */
static int *match_choices(const MerAgents *agents, int k, const MerKnob *there, int there_choices)
{
    const MerKnob *here = &agents->search->space->knobs[k];
    int            choices = agents->choices[k];
    int           *matched = MER_ARRAY(agents->search->arena, int, choices);
    for (int c = 0; c < choices; c++) {
        MerIndex index = choices == here->choices ? c : mer_knob_index(here, (c + 0.5) / choices);
        MerIndex old = mer_knob_translate(here, index, there);
        matched[c] = there_choices == there->choices
                         ? old
                         : (int)(mer_knob_position(there, old) * there_choices);
    }
    return matched;
}

static void carry(MerAgents *agents, const MerAgents *before)
{
    int         count = agents->search->space->knob_count;
    int        *knob = MER_ARRAY(agents->search->arena, int, count + 1);
    const int **choice = MER_ARRAY(agents->search->arena, const int *, count + 1);
    for (int k = 0; k < count; k++) {
        knob[k] =
            mer_knob_find(before->knobs, before->knob_count, &agents->search->space->knobs[k], k);
        if (knob[k] >= 0) {
            choice[k] = match_choices(agents, k, &before->knobs[knob[k]], before->choices[knob[k]]);
        }
    }
    mer_team_carry(agents->team, before->team, &(MerTeamMatch){knob, choice},
                   agents->options.transfer);
}

MerStatus mer_agents_next_task(void *state, const MerSearch *search, MerError *error)
{
    MerAgents      *agents = state;
    MerAgents       before = *agents;
    MerAgentOptions options = before.options;
    MerStatus       status = mer_agents_open_one(agents, search, &options, before.algorithm, error);
    if (agents->team != NULL && before.team != NULL && before.knobs != NULL) {
        carry(agents, &before);
    }
    mer_team_free(before.team);
    return status;
}
