/* Uniform random points: the baseline of every comparison. */
#include "mercator/search.h"

typedef struct State {
    const MerSpace *space;
    MerRng         *rng;
} State;

static MerStatus open_random(void *state, const MerSearch *search, const void *options,
                             MerError *error)
{
    (void)options;
    (void)error;
    *(State *)state = (State){search->space, search->rng};
    return MER_OK;
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    for (int i = 0; i < capacity; i++) {
        mer_space_sample(s->space, s->rng, proposals[i].point);
    }
    return capacity;
}

static void tell(void *state, const MerTrial *trials, int count)
{
    (void)state;
    (void)trials;
    (void)count;
}

const MerOptimizerClass mer_optimizer_random = {
    .name = "random",
    .summary = "uniform random points",
    .reference = "the baseline",
    .state_size = sizeof(State),
    .open = open_random,
    .ask = ask,
    .tell = tell,
};
