/* Knobs of two spaces that mean the same. */
#include "space/alike.h"

#include <math.h>
#include <string.h>

MerKnob mer_knob_copy(const MerKnob *knob, MerArena *arena)
{
    MerKnob copy = *knob;
    copy.name = knob->name != NULL ? mer_arena_text(arena, knob->name) : NULL;
    if (knob->values != NULL) {
        double *values = MER_ARRAY(arena, double, knob->choices);
        memcpy(values, knob->values, (size_t)knob->choices * sizeof *values);
        copy.values = values;
    }
    return copy;
}

int mer_knob_find(const MerKnob *knobs, int count, const MerKnob *wanted, int at)
{
    for (int i = 0; i < count; i++) {
        int k = (at + i) % count; /* mostly at the same place */
        if (knobs[k].name != NULL && wanted->name != NULL &&
            strcmp(knobs[k].name, wanted->name) == 0) {
            return k;
        }
    }
    return -1;
}

static double size_of(const MerKnob *knob, int choice)
{
    return log(fmax(1e-9, knob->values[choice]));
}

MerIndex mer_knob_translate(const MerKnob *from, MerIndex index, const MerKnob *to)
{
    if (from->values != NULL && to->values != NULL) {
        int best = 0;
        for (int c = 1; c < to->choices; c++) {
            double d = fabs(size_of(to, c) - size_of(from, index));
            best = d < fabs(size_of(to, best) - size_of(from, index)) ? c : best;
        }
        return best;
    }
    if (from->choices == to->choices || to->kind == MER_KNOB_CATEGORY) {
        return index < to->choices ? index : to->choices - 1;
    }
    return mer_knob_index(to, mer_knob_position(from, index));
}

double mer_knobs_distance(const MerSpace *space, const MerKnob *knobs, int count)
{
    double sum = 0;
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *mine = &space->knobs[k];
        int            other = mer_knob_find(knobs, count, mine, k);
        if (other < 0) {
            sum += 10;
        } else if (mine->values != NULL && knobs[other].values != NULL) {
            const MerKnob *theirs = &knobs[other];
            sum += fabs(size_of(mine, mine->choices - 1) - size_of(theirs, theirs->choices - 1));
        } else {
            sum += fabs(log((double)mine->choices / knobs[other].choices));
        }
    }
    return sum;
}
