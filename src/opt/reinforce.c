/* REINFORCE on any space (Williams, Machine Learning 1992): one table of logits per knob, no
 * network, a moving average of the rewards as baseline. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {MER_AGENT_COMMON_OPTIONS(Options, "8", "8", "1e-2", "false"),
                                    MER_AGENT_OPTION(Options, baseline_decay, MER_OPTION_REAL,
                                                     "0.9", 0, 1, NULL, "of the moving average"),
                                    MER_AGENT_TRANSFER_OPTION(Options),
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
    .options_size = sizeof(Options),
    .state_size = sizeof(MerAgents),
    .open = open_reinforce,
    .ask = mer_agents_ask,
    .tell = mer_agents_tell,
    .next_task = mer_agents_next_task,
    .save = mer_agents_save,
    .load = mer_agents_load,
    .close = mer_agents_close,
};
