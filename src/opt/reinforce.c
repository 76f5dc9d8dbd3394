/* REINFORCE on any space (Williams, Machine Learning 1992): one table of logits per knob, no
 * network, a moving average of the rewards as baseline. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {
    MER_AGENT_COMMON_OPTIONS("8", "8", "1e-2", "false"),
    MER_REAL_AT("baseline_decay", agents.baseline_decay, "0.9", 0, 1, "of the moving average"),
    MER_AGENT_TRANSFER_OPTION,
    {0}};

static MerStatus open_reinforce(void *state, const MerSearch *search, const void *given,
                                MerError *error)
{
    return mer_agents_open_one(state, search, &((const Options *)given)->agents,
                               MER_ALGORITHM_REINFORCE, error);
}

const MerOptimizerClass mer_optimizer_reinforce = {
    .name = "reinforce",
    .summary = "categorical heads with a moving-average baseline",
    .reference = "Williams, Machine Learning 8, 1992",
    .options = options,
    .open = open_reinforce,
    MER_AGENT_SLOTS,
};
