/* Advantage actor-critic on any space (Mnih et al., ICML 2016, synchronous): one agent sets all
 * knobs and sees how its last point did. */
#include "opt/agents.h"

typedef struct Options {
    MerAgentOptions agents;
} Options;

static const MerOption options[] = {
    MER_AGENT_COMMON_OPTIONS(Options, "8", "8", "1e-3", "true"), MER_AGENT_CRITIC_OPTIONS(Options, "3"), {0}};

static MerStatus open_a2c(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    mer_agents_open(state, search, &((const Options *)given)->agents, MER_ALGORITHM_A2C);
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

static void close_a2c(void *state)
{
    mer_agents_close(state);
}

const MerOptimizerClass mer_optimizer_a2c = {
    .name = "a2c",
    .summary = "actor-critic with one agent for all knobs",
    .reference = "Mnih et al., ICML 2016",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerAgents),
    .open = open_a2c,
    .ask = ask,
    .tell = tell,
    .save = save,
    .load = load,
    .close = close_a2c,
};
