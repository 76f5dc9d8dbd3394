/* Uniform random points: the baseline of every comparison. */
#include "opt/tuner.h"

#include <stddef.h>

typedef struct Options {
    bool unique;
} Options;

static const MerOption options[] = {
    {"unique", MER_OPTION_BOOL, offsetof(Options, unique), "false", 0, 0, NULL,
     "no point twice, and none that is known to be illegal; ends when all were tried"},
    {0}};

typedef struct State {
    bool     is_unique;
    MerTuner tuner;
} State;

static MerStatus open_random(void *state, const MerSearch *search, const void *given,
                             MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.is_unique = ((const Options *)given)->unique};
    mer_tuner_open(&s->tuner, search, 0);
    return MER_OK;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->is_unique) {
        mer_tuner_needs_plan(&s->tuner); /* forgets what was handed out */
        mer_tuner_add_random(&s->tuner, capacity);
        return mer_tuner_ask(&s->tuner, proposals, capacity);
    }
    for (int i = 0; i < capacity; i++) {
        mer_space_sample(s->tuner.search->space, s->tuner.search->rng, proposals[i].point);
        mer_search_ready(s->tuner.search, i + 1);
    }
    return capacity;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    (void)state;
    (void)trials;
    (void)count;
}

static void close_random(void *state)
{
    mer_tuner_close(&((State *)state)->tuner);
}

const MerOptimizerClass mer_optimizer_random = {
    .name = "random",
    .summary = "uniform random points",
    .reference = "the baseline",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_random,
    .ask = ask,
    .tell = tell,
    .close = close_random,
};
