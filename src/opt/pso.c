/* Particle swarm optimisation (Kennedy and Eberhart, ICNN 1995; constriction values of Clerc and Kennedy,
 * IEEE TEC 6, 2002) on the positions of knobs in [0,1). A particle that has not found a better place of
 * its own for long starts again elsewhere. */
#include "base/option_rows.h"
#include "mercator/search.h"
#include "space/positions.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int64_t particles, patience, neighbours;
    double  inertia, own, swarm, clamp;
} Options;

static const MerOption options[] = {
    MER_INT(particles, "40", 1, 100000, "particles"),
    MER_REAL(inertia, "0.729", 0, 2, "weight of the last velocity"),
    MER_REAL(own, "1.494", 0, 4, "c1, pull of the particle's best place"),
    MER_REAL(swarm, "1.494", 0, 4, "c2, pull of the leader's best place"),
    MER_REAL(clamp, "1", 1e-6, 1, "largest velocity per knob"),
    MER_INT(
        neighbours, "0", 0, 100000,
        "particles on each side of a ring among which the leader is chosen; 0: the whole swarm"),
    MER_INT(patience, "30", 0, 1e9,
            "steps without a better place before a particle starts elsewhere; 0: never"),
    {0}};

/* A knob of five choices needs velocities that cross the range: with 0.2 the swarm finds less. */
static const MerPreset presets[] = {
    {"map", "clamp=0.2,patience=0"},
    {"nevergrad", "inertia=0.7213475204444817,own=1.1931471805599454,swarm=1.1931471805599454,"
                  "clamp=1,patience=0"},
    {"m3e", "particles=100,inertia=1.6,own=0.8,swarm=0.8,clamp=0.5,patience=0"},
    {NULL, NULL}};

typedef struct Particle {
    double *at, *velocity, *best;
    double  best_score;
    int64_t idle; /* steps since the best place was found */
    bool    is_new;
} Particle;

typedef struct State {
    MerRng      *rng;
    Options      options;
    MerPositions positions;
    int          knobs, count;
    Particle    *particles;
    int          next, best;
} State;

static MerStatus open_pso(void *state, const MerSearch *search, const void *given, MerError *error)
{
    (void)error;
    State *s = state;
    *s = (State){
        .rng = search->rng, .options = *(const Options *)given, .knobs = search->space->knob_count};
    s->count = (int)s->options.particles;
    s->particles = MER_ARRAY(search->arena, Particle, s->count);
    for (int i = 0; i < s->count; i++) {
        double *capacity = MER_ARRAY(search->arena, double, 3 * s->knobs + 1);
        s->particles[i] =
            (Particle){capacity, capacity + s->knobs, capacity + 2 * s->knobs, INFINITY, 0, true};
    }
    mer_positions_make(&s->positions, search->space, search->arena);
    return MER_OK;
}

static const Particle *leader_of(const State *s, int i)
{
    if (s->options.neighbours == 0 || 2 * s->options.neighbours + 1 >= s->count) {
        return &s->particles[s->best];
    }
    int best = i;
    for (int64_t step = -s->options.neighbours; step <= s->options.neighbours; step++) {
        int other = (int)((i + step + s->count) % s->count);
        best = s->particles[other].best_score < s->particles[best].best_score ? other : best;
    }
    return &s->particles[best];
}

static void fly(State *s, int i)
{
    Particle       *particle = &s->particles[i];
    const Particle *leader = leader_of(s, i);
    double          limit = s->options.clamp;
    for (int k = 0; k < s->knobs; k++) {
        double own = s->options.own * mer_rng_unit(s->rng) * (particle->best[k] - particle->at[k]);
        double swarm =
            s->options.swarm * mer_rng_unit(s->rng) * (leader->best[k] - particle->at[k]);
        double velocity = s->options.inertia * particle->velocity[k] + own + swarm;
        velocity = velocity > limit ? limit : velocity < -limit ? -limit : velocity;
        double to = particle->at[k] + velocity;
        bool   is_out = to < 0 || to >= 1;
        particle->at[k] = is_out ? mer_position_mirror(to) : to;
        particle->velocity[k] = is_out ? -velocity : velocity;
    }
}

static void settle(State *s, Particle *particle)
{
    mer_positions_sample(&s->positions, s->rng, particle->at);
    for (int k = 0; k < s->knobs; k++) {
        particle->velocity[k] = s->options.clamp * (2 * mer_rng_unit(s->rng) - 1);
    }
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    int    left = s->count - s->next;
    int    count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        Particle *particle = &s->particles[s->next + i];
        /* A particle that knows no feasible place has nothing to fly to unless the swarm does. */
        if (particle->is_new || s->particles[s->best].best_score == INFINITY) {
            settle(s, particle);
        } else {
            fly(s, s->next + i);
        }
        mer_positions_to_point(&s->positions, particle->at, proposals[i].point);
    }
    return count;
}

static void take(State *s, int i, const double *at, double score)
{
    Particle *particle = &s->particles[i];
    particle->idle++;
    if (score < particle->best_score || particle->is_new) {
        memmove(particle->best, at, (size_t)s->knobs * sizeof *at);
        particle->idle = 0;
        particle->best_score = score;
        particle->is_new = false;
    }
    s->best = particle->best_score < s->particles[s->best].best_score ? i : s->best;
    if (s->options.patience > 0 && particle->idle > s->options.patience && i != s->best) {
        particle->is_new = true;
        particle->best_score = INFINITY;
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    for (int i = 0; i < count; i++) {
        if (trials[i].warm) {
            Particle *particle = &s->particles[(int)(trials[i].index % s->count)];
            if (trials[i].score < particle->best_score) {
                mer_positions_from_point(&s->positions, trials[i].point, particle->at);
                take(s, (int)(trials[i].index % s->count), particle->at, trials[i].score);
            }
            continue;
        }
        take(s, s->next, s->particles[s->next].at, trials[i].score);
        s->next = (s->next + 1) % s->count;
    }
}

const MerOptimizerClass mer_optimizer_pso = {
    .name = "pso",
    .summary = "particle swarm on knob positions",
    .reference = "Kennedy and Eberhart, ICNN 1995; Clerc and Kennedy, IEEE TEC 6, 2002",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_pso,
    .ask = ask,
    .tell = tell,
};
