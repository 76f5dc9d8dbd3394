/* Points of a space: checking, counting, sampling and small steps; and the hash of the plans they decode to. */
#include "mercator/space.h"

#include "mercator/plan.h"
#include "mercator/text.h"

#include <math.h>
#include <string.h>

static const char *const role_names[MER_ROLE_COUNT] = {
#define X(id, name) name,
    MER_ROLE_MAP(X)
#undef X
};

const char *mer_role_name(MerRole role)
{
    return role_names[role];
}

bool mer_space_next(const MerSpace *space, MerIndex *point)
{
    for (int k = 0; k < space->knob_count; k++) {
        if (++point[k] < space->knobs[k].choices) {
            return true;
        }
        point[k] = 0;
    }
    return false;
}

bool mer_space_contains(const MerSpace *space, const MerIndex *point)
{
    for (int k = 0; k < space->knob_count; k++) {
        if (point[k] < 0 || point[k] >= space->knobs[k].choices) {
            return false;
        }
    }
    return true;
}

/* RANK knobs count as the orders they can express: n! for n knobs that are sorted together. */
double mer_space_log10_size(const MerSpace *space)
{
    double log10_size = 0;
    int    priorities = 0; /* so far; there may be as many as jobs */
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        if (knob->kind != MER_KNOB_RANK) {
            log10_size += log10(knob->choices);
            continue;
        }
        bool is_priority = knob->role == MER_ROLE_PRIORITY;
        int  position = is_priority ? ++priorities : 1;
        for (int j = 0; j < k && !is_priority; j++) {
            const MerKnob *other = &space->knobs[j];
            position += other->kind == MER_KNOB_RANK && other->role == knob->role &&
                        other->level == knob->level;
        }
        log10_size += log10(position);
    }
    return log10_size;
}

uint64_t mer_space_hash(const MerSpace *space)
{
    uint64_t hash = MER_HASH_START;
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        hash = mer_hash_text(hash, knob->name);
        hash = mer_hash_int(hash, knob->kind);
        hash = mer_hash_int(hash, knob->choices);
        for (int i = 0; knob->values && i < knob->choices; i++) {
            hash = mer_hash_real(hash, knob->values[i]);
        }
    }
    return hash;
}

const MerTable *mer_space_table(const MerSpace *space, const char *name)
{
    for (int t = 0; t < space->table_count; t++) {
        if (strcmp(space->tables[t].name, name) == 0) {
            return &space->tables[t];
        }
    }
    return NULL;
}

void mer_space_sample(const MerSpace *space, MerRng *rng, MerIndex *point)
{
    MerRng drawing = *rng; /* of our own, so that it can stay in registers */
    for (int k = 0; k < space->knob_count; k++) {
        point[k] = mer_rng_below(&drawing, space->knobs[k].choices);
    }
    *rng = drawing;
}

static MerIndex any_other(MerRng *rng, MerIndex now, int choices)
{
    MerIndex other = mer_rng_below(rng, choices - 1);
    return other < now ? other : other + 1;
}

void mer_space_step(const MerSpace *space, MerRng *rng, int knob, MerIndex *point)
{
    int choices = space->knobs[knob].choices;
    if (choices < 2) {
        return;
    }
    if (space->knobs[knob].kind == MER_KNOB_ORDERED && choices > 2 && mer_rng_unit(rng) < 0.75) {
        int      step = mer_rng_below(rng, 2) ? 1 : -1;
        MerIndex next = point[knob] + step;
        point[knob] = next < 0 || next >= choices ? point[knob] - step : next;
        return;
    }
    point[knob] = any_other(rng, point[knob], choices);
}

MerIndex mer_knob_index(const MerKnob *knob, double position)
{
    double scaled = position * knob->choices;
    if (!(scaled > 0)) {
        return 0;
    }
    return scaled >= knob->choices ? knob->choices - 1 : (MerIndex)scaled;
}

double mer_knob_position(const MerKnob *knob, MerIndex index)
{
    return (index + 0.5) / knob->choices;
}

uint64_t mer_plan_hash(const MerPlan *plan)
{
    return plan->kind->hash(plan, mer_hash_text(MER_HASH_START, plan->kind->name));
}
