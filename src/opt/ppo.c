/* Proximal policy optimisation on any space (Schulman et al., 2017): one agent sets all knobs
 * and sees how its last point did. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {MER_AGENT_COMMON_OPTIONS("8", "8", "1e-3", "true"),
                                    MER_AGENT_CRITIC_OPTIONS("3"),
                                    MER_AGENT_DISCOUNT_OPTION,
                                    MER_AGENT_PPO_OPTIONS("4", "4"),
                                    MER_AGENT_TRANSFER_OPTION,
                                    {0}};

static const MerPreset presets[] = {
    {"archgym", MER_AGENT_ARCHGYM}, {"bandit", MER_AGENT_BANDIT}, {NULL, NULL}};

static MerStatus open_ppo(void *state, const MerSearch *search, const void *given, MerError *error)
{
    return mer_agents_open_one(state, search, &((const Options *)given)->agents, MER_ALGORITHM_PPO,
                               error);
}

const MerOptimizerClass mer_optimizer_ppo = {
    .name = "ppo",
    .summary = "clipped policy gradients with one agent for all knobs",
    .reference = "Schulman et al., arXiv 1707.06347",
    .options = options,
    .presets = presets,
    .open = open_ppo,
    MER_AGENT_SLOTS,
};
