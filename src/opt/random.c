/* Uniform random points, each from random numbers of its own: the baseline of every comparison. */
#include "base/option_rows.h"
#include "opt/tuner.h"

typedef struct Options {
    bool unique;
} Options;

static const MerOption options[] = {
    MER_BOOL(unique, "false",
             "no point twice, and none that is known to be illegal; ends when all were tried"),
    {0}};

typedef struct State {
    bool     is_unique;
    uint64_t seed;
    int      width; /* points of a step */
    int64_t  told;
    MerTuner tuner; /* with unique=true */
} State;

static MerStatus open_random(void *state, const MerSearch *search, const void *given,
                             MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){.is_unique = ((const Options *)given)->unique};
    mer_tuner_open(&s->tuner, search, 0);
    s->seed = s->is_unique ? 0 : mer_rng_next(search->rng);
    return MER_OK;
}

static int walks(void *state, int most, int64_t *steps)
{
    State *s = state;
    *steps = INT64_MAX;
    s->width = s->is_unique ? 0 : most;
    return s->width;
}

static void walk(void *state, int number, int step, const MerTrial *last, MerProposal *proposal)
{
    const State *s = state;
    (void)last;
    MerRng rng = mer_rng_make(s->seed, (uint64_t)(s->told + (int64_t)step * s->width + number));
    mer_space_sample(s->tuner.search->space, &rng, proposal->point);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->is_unique) {
        mer_tuner_needs_plan(&s->tuner); /* forgets what was handed out */
        mer_tuner_add_random(&s->tuner, capacity);
        return mer_tuner_ask(&s->tuner, proposals, capacity);
    }
    return mer_walks_ask(walks, walk, state, proposals, capacity);
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        s->told += !trials[i].warm;
    }
}

static bool walked(void *state, const MerTrial *last, int count)
{
    (void)last;
    ((State *)state)->told += count;
    return true;
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
    .walks = walks,
    .walk = walk,
    .walked = walked,
    .close = close_random,
};
