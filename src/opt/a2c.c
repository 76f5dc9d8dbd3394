/* Advantage actor-critic on any space (Mnih et al., ICML 2016, synchronous): one agent sets all
 * knobs and sees how its last point did. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {MER_AGENT_COMMON_OPTIONS("8", "8", "1e-3", "true"),
                                    MER_AGENT_CRITIC_OPTIONS("3"),
                                    MER_AGENT_DISCOUNT_OPTION,
                                    MER_AGENT_TRANSFER_OPTION,
                                    {0}};

static MerStatus open_a2c(void *state, const MerSearch *search, const void *given, MerError *error)
{
    return mer_agents_open_one(state, search, &((const Options *)given)->agents, MER_ALGORITHM_A2C,
                               error);
}

const MerOptimizerClass mer_optimizer_a2c = {
    .name = "a2c",
    .summary = "actor-critic with one agent for all knobs",
    .reference = "Mnih et al., ICML 2016",
    .options = options,
    .open = open_a2c,
    MER_AGENT_SLOTS,
};
