/* A good nest to start exact_nest from: simulated annealing on prime factors, loop orders and
 * bypasses. The better it is, the less the branch and bound has to look at. */
#include "map/solve/exact_nest.h"

#include "map/nest/factors.h"
#include "map/nest/nest_inside.h"

#include <math.h>
#include <string.h>

enum { PULSE = 256 };

static const double HOT = 0.2;
static const double COLD = 0.001;
static const double ORDER_SHARE = 0.15;
static const double BYPASS_SHARE = 0.15;
static const double EXCHANGE_SHARE = 0.4;
static const double DIM_SHARE = 0.08;
static const double AGAIN_SHARE = 0.4; /* of all changes: another one on top */
static const double TOLERANCE = 1e-13; /* rounding of our own sums of products */

bool mer_exact_is_stopped(ExactSearch *search)
{
    if (!search->is_stopped && ++search->pulse % PULSE == 0) {
        search->is_stopped = mer_is_cancelled(search->notes);
    }
    return search->is_stopped;
}

static double price(const ExactSearch *search, const MerNestPlan *plan)
{
    MerNestPlan copy = *plan;
    MerPlan     whole = {&mer_plan_nest, &copy};
    MerCall     call = {
            .limit_metric = MER_METRIC_COUNT, .limit = INFINITY, .scratch = search->scratch};
    MerCost cost;
    search->evaluator->type->evaluate(search->evaluator->state, &whole, &call, &cost);
    bool is_as_good =
        !search->is_tied || cost.value[search->first_objective] <= search->first_score;
    double score = cost.feasible && is_as_good ? cost.value[search->objective] : INFINITY;
    return isnan(score) ? INFINITY : score;
}

double mer_exact_try(ExactSearch *search, const MerNestPlan *plan)
{
    double score = price(search, plan);
    if (score < search->best_score) {
        memcpy(search->best.levels, plan->levels,
               (size_t)search->level_count * sizeof *plan->levels);
        search->best_score = score;
        search->finds++;
        search->cut = score / search->scale;
        search->cut -= TOLERANCE * fabs(search->cut);
    }
    return score;
}

typedef struct Start {
    ExactSearch *search;
    MerRng      *rng;
    int          prime_count;
    int          position[MER_NEST_PRIMES], prime[MER_NEST_PRIMES], slot[MER_NEST_PRIMES];
    MerNestPlan  plan;
    bool         has_bypass;
} Start;

static void list_primes(Start *s)
{
    const MerLayerShape *shape = s->search->tiles.shape;
    for (int i = 0; i < shape->dim_count; i++) {
        int count = mer_primes(shape->size[shape->dims[i]], s->prime + s->prime_count);
        for (; count > 0; count--) {
            s->position[s->prime_count++] = i;
        }
    }
}

static int *factor_at(Start *s, int prime, int slot)
{
    return mer_nest_slot_factor(s->plan.levels, &s->search->space->slots[slot],
                                s->search->tiles.shape->dims[s->position[prime]]);
}

static void put(Start *s, int prime, int slot)
{
    *factor_at(s, prime, s->slot[prime]) /= s->prime[prime];
    *factor_at(s, prime, slot) *= s->prime[prime];
    s->slot[prime] = slot;
}

/* Moves primes that are not taken yet to a slot, until it has these factors. */
static void fill_slot(Start *s, int slot, const int *factors, bool *is_taken)
{
    int rest[MER_DIM_COUNT];
    memcpy(rest, factors, sizeof rest);
    for (int k = 0; k < s->prime_count; k++) {
        int *left = &rest[s->search->tiles.shape->dims[s->position[k]]];
        if (!is_taken[k] && *left > 1 && *left % s->prime[k] == 0) {
            *left /= s->prime[k];
            put(s, k, slot);
            is_taken[k] = true;
        }
    }
}

/* The best nest so far, or else the factors that the user fixed. */
static void put_known_factors(Start *s)
{
    const ExactSearch  *search = s->search;
    const MerNestSpace *space = search->space;
    bool                is_known = search->best_score < INFINITY;
    bool                is_taken[MER_NEST_PRIMES] = {false};
    for (int i = 0; i < space->slot_count; i++) {
        const MerNestSlot *slot = &space->slots[i];
        const int         *best = mer_nest_slot_factor(search->best.levels, slot, 0);
        fill_slot(s, i, is_known ? best : space->constraints->exact[slot->level][slot->place],
                  is_taken);
    }
    for (int l = 0; is_known && l < space->level_count; l++) {
        memcpy(s->plan.levels[l].order, search->best.levels[l].order,
               sizeof s->plan.levels[l].order);
        s->plan.levels[l].keep = search->best.levels[l].keep;
    }
}

/* Everything in the outermost level, one loop after the other: the smallest tiles there are. */
static void lay_out(Start *s)
{
    ExactSearch        *search = s->search;
    const MerNestSpace *space = search->space;
    int                 outermost = 0;
    for (int i = 0; i < space->slot_count; i++) {
        bool is_last = space->slots[i].level == space->level_count - 1;
        outermost = is_last && space->slots[i].place == MER_PLACE_TEMPORAL ? i : outermost;
    }
    mer_nest_plan_make(&s->plan, space->op, space->level_count, search->scratch);
    for (int k = 0; k < s->prime_count; k++) {
        s->slot[k] = outermost;
        *factor_at(s, k, outermost) *= s->prime[k];
    }
    for (int l = 0; l < space->level_count; l++) {
        s->plan.levels[l].keep = space->keep[l];
        s->has_bypass = s->has_bypass || space->is_free[l];
        mer_exact_order_write(&search->tiles, &search->levels[l].orders[0],
                              s->plan.levels[l].order);
    }
    put_known_factors(s);
}

static bool move_order(Start *s)
{
    const ExactSearch *search = s->search;
    if (search->space->level_count < 2) {
        return false;
    }
    int l = 1 + mer_rng_below(s->rng, search->space->level_count - 1);
    int chosen = mer_rng_below(s->rng, search->levels[l].order_count);
    mer_exact_order_write(&search->tiles, &search->levels[l].orders[chosen],
                          s->plan.levels[l].order);
    return true;
}

static bool move_bypass(Start *s)
{
    const MerNestSpace *space = s->search->space;
    int                 l = mer_rng_below(s->rng, space->level_count);
    unsigned            bit = space->is_free[l] & 1u << mer_rng_below(s->rng, MER_TENSOR_COUNT);
    s->plan.levels[l].keep ^= bit;
    return bit;
}

/* Keeps the products of slots where a single move would overflow one first. */
static bool exchange(Start *s)
{
    int a = mer_rng_below(s->rng, s->prime_count);
    int b = mer_rng_below(s->rng, s->prime_count);
    int slot = s->slot[a];
    if (slot == s->slot[b]) {
        return false;
    }
    put(s, a, s->slot[b]);
    put(s, b, slot);
    return true;
}

/* All primes of a dim that are in one slot go to another, or change places with those there. */
static bool move_dim(Start *s)
{
    int  a = mer_rng_below(s->rng, s->prime_count);
    int  from = s->slot[a];
    int  to = mer_rng_below(s->rng, s->search->space->slot_count);
    bool is_swap = mer_rng_below(s->rng, 2);
    for (int k = 0; k < s->prime_count; k++) {
        int slot = s->slot[k];
        if (s->position[k] == s->position[a] && (slot == from || (is_swap && slot == to))) {
            put(s, k, slot == from ? to : from);
        }
    }
    return from != to;
}

/* One small change, of the same kinds and shares as those of the optimizers (space/neighbours.c). */
static void move(Start *s)
{
    double what = mer_rng_unit(s->rng);
    bool   is_done =
        what < ORDER_SHARE                  ? move_order(s)
          : what < ORDER_SHARE + BYPASS_SHARE ? s->has_bypass && move_bypass(s)
          : what < ORDER_SHARE + BYPASS_SHARE + EXCHANGE_SHARE
              ? exchange(s)
              : what < ORDER_SHARE + BYPASS_SHARE + EXCHANGE_SHARE + DIM_SHARE && move_dim(s);
    if (!is_done) {
        put(s, mer_rng_below(s->rng, s->prime_count),
            mer_rng_below(s->rng, s->search->space->slot_count));
    }
}

static bool obeys(Start *s)
{
    const MerNestSpace  *space = s->search->space;
    const MerLayerShape *shape = s->search->tiles.shape;
    for (int i = 0; i < space->slot_count * shape->dim_count; i++) {
        const MerNestSlot *slot = &space->slots[i / shape->dim_count];
        int                d = shape->dims[i % shape->dim_count];
        if (!mer_nest_permits(space->constraints, slot->level, slot->place, d,
                              *mer_nest_slot_factor(s->plan.levels, slot, d))) {
            return false;
        }
    }
    return true;
}

typedef struct Place { /* where the walk is */
    MerNestLevel levels[MER_NEST_MAX_LEVELS];
    int          slot[MER_NEST_PRIMES];
    double       energy; /* log of the score */
} Place;

static void remember(const Start *s, Place *place, double energy)
{
    memcpy(place->levels, s->plan.levels, (size_t)s->plan.level_count * sizeof *place->levels);
    memcpy(place->slot, s->slot, sizeof place->slot);
    place->energy = energy;
}

static void go_back(Start *s, const Place *place)
{
    memcpy(s->plan.levels, place->levels, (size_t)s->plan.level_count * sizeof *place->levels);
    memcpy(s->slot, place->slot, sizeof place->slot);
}

static double measure(Start *s)
{
    return obeys(s) ? log(mer_exact_try(s->search, &s->plan)) : INFINITY;
}

void mer_exact_start(ExactSearch *search, MerRng *rng, int64_t evaluations, int rounds)
{
    Start s = {.search = search, .rng = rng};
    Place now, best;
    list_primes(&s);
    lay_out(&s);
    remember(&s, &now, measure(&s));
    best = now;
    int64_t length = evaluations / rounds;
    for (int64_t i = 0; i < length * rounds && s.prime_count > 0 && !mer_exact_is_stopped(search);
         i++) {
        if (i % length == 0) {
            go_back(&s, &best);
            now = best;
        }
        do {
            move(&s);
        } while (mer_rng_unit(rng) < AGAIN_SHARE);
        double energy = measure(&s);
        double heat = HOT * pow(COLD / HOT, (double)(i % length) / (double)length);
        double uphill = energy - now.energy;
        bool   is_walk = now.energy == INFINITY;
        if (is_walk || uphill <= 0 || mer_rng_unit(rng) < exp(-uphill / heat)) {
            remember(&s, &now, energy);
        } else {
            go_back(&s, &now);
        }
        if (energy < best.energy) {
            best = now;
        }
    }
    mer_arena_reset(search->scratch);
}
