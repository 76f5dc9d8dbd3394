/* Shares of a dim: which factors a slot of the nest can take, and in which order slots take theirs. */
#include "map/nest/nest_inside.h"

#include "map/nest/factors.h"

int mer_nest_choices(const MerNestSpace *nest, const MerNestSlot *slot, int dim, int n)
{
    int most = nest->constraints->most[slot->level][slot->place][dim];
    int limit = slot->place == MER_PLACE_TEMPORAL ? n : nest->fanout[slot->level][slot->place];
    limit = most > 0 && most < limit ? most : limit;
    if (nest->genome == MER_GENOME_PADDED) {
        return mer_padded_count(n, limit);
    }
    int divisors[MER_MOST_DIVISORS], count = mer_divisors(n, divisors);
    while (divisors[count - 1] > limit) {
        count--;
    }
    return count;
}

int mer_nest_factor_at(const MerNestSpace *nest, int n, int rank)
{
    int divisors[MER_MOST_DIVISORS];
    if (nest->genome == MER_GENOME_PADDED) {
        return mer_padded_at(n, rank);
    }
    mer_divisors(n, divisors);
    return divisors[rank];
}

int mer_nest_factor_rank(const MerNestSpace *nest, int n, int factor)
{
    if (nest->genome == MER_GENOME_PADDED) {
        return mer_padded_rank(n, factor);
    }
    int rank = 0;
    for (int d = 1; d < factor; d++) {
        rank += n % d == 0;
    }
    return n % factor == 0 ? rank : -1;
}

int mer_nest_free_size(const MerNestSpace *nest, int dim)
{
    int rest = nest->shape.size[dim];
    for (int s = 0; s < nest->slot_count; s++) {
        int exact = nest->constraints->exact[nest->slots[s].level][nest->slots[s].place][dim];
        rest = mer_padded_rest(rest, exact > 0 ? exact : 1);
    }
    return rest;
}

int mer_nest_rest_slot(const MerNestSpace *nest, int dim)
{
    int best = -1;
    int best_grade = -1;
    for (int i = 0; i < nest->allowed_count[dim]; i++) {
        int                s = nest->allowed[dim][i];
        const MerNestSlot *slot = &nest->slots[s];
        bool               is_limited = nest->constraints->most[slot->level][slot->place][dim] > 0;
        int grade = slot->level + (slot->place == MER_PLACE_TEMPORAL ? MER_NEST_LEVELS : 0) +
                    (is_limited ? 0 : 2 * MER_NEST_LEVELS);
        if (grade > best_grade) {
            best = s;
            best_grade = grade;
        }
    }
    return best;
}

int mer_nest_share_slots(const MerNestSpace *nest, int dim, int order[MER_NEST_SLOTS])
{
    int count = 0;
    int rest = mer_nest_rest_slot(nest, dim);
    for (int spatial = 1; spatial >= 0; spatial--) {
        for (int i = 0; i < nest->allowed_count[dim]; i++) {
            int  s = nest->allowed[dim][i];
            bool is_spatial = nest->slots[s].place != MER_PLACE_TEMPORAL;
            if (is_spatial == (spatial == 1) && s != rest) {
                order[count++] = s;
            }
        }
    }
    return count;
}
