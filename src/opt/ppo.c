/* Proximal policy optimisation on any space (Schulman et al., 2017): one agent sets all knobs
 * and sees how its last point did. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {MER_AGENT_COMMON_OPTIONS(Options, "8", "8", "1e-3", "true"),
                                    MER_AGENT_CRITIC_OPTIONS(Options, "3"),
                                    MER_AGENT_PPO_OPTIONS(Options, "4", "4"),
                                    {0}};

static const MerPreset presets[] = {
    {"archgym", MER_AGENT_ARCHGYM}, {"bandit", MER_AGENT_BANDIT}, {NULL, NULL}};

static MerStatus open_ppo(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    mer_agents_open(state, search, &((const Options *)given)->agents, MER_ALGORITHM_PPO);
    mer_agents_divide_evenly(state);
    return MER_OK;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    return mer_agents_ask(state, proposals, capacity);
}

static void tell(void *state, const MerTrial *trials, int count)
{
    mer_agents_tell(state, trials, count);
}

static MerStatus save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    return mer_agents_save(state, what, file, error);
}

static MerStatus load(void *state, MerKeep what, FILE *file, MerError *error)
{
    return mer_agents_load(state, what, file, error);
}

static void close_ppo(void *state)
{
    mer_agents_close(state);
}

const MerOptimizerClass mer_optimizer_ppo = {
    .name = "ppo",
    .summary = "clipped policy gradients with one agent for all knobs",
    .reference = "Schulman et al., arXiv 1707.06347",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerAgents),
    .open = open_ppo,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
    .close = close_ppo,
};
