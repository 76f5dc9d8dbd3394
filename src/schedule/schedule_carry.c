/* Points carried from a solved group to another one (docs/scheduling-online.md, "Warm starts"): jobs keep core and priority, matched by
 * their place in the sorted table or by what they are. */
#include "schedule/schedule_parts.h"

#include <math.h>

/* Pairs of a core and a priority per job, without fixed knobs. */
bool mer_schedule_can_carry(const MerProblem *problem)
{
    const MerSpace *space = &problem->space;
    int             half = space->knob_count / 2;
    if (half == 0 || space->knob_count % 2 != 0) {
        return false;
    }
    for (int i = 0; i < half; i++) {
        if (space->knobs[i].role != MER_ROLE_UNIT ||
            space->knobs[half + i].role != MER_ROLE_PRIORITY ||
            space->knobs[i].op != space->knobs[half + i].op) {
            return false;
        }
    }
    return true;
}

/* How different two jobs are: by the logarithms of what they take on each core. */
static double distance(const MerTable *mine, int a, const MerTable *other, int b)
{
    double sum = 0;
    for (int c = 0; c < mine->columns; c++) {
        double x = mine->values[a * mine->columns + c];
        double y = other->values[b * other->columns + c];
        double d = x == y ? 0 : log(fmax(x, 1e-300)) - log(fmax(y, 1e-300));
        sum += d * d;
    }
    return sum;
}

enum { FEATURES = 2 };

static bool find_features(const MerSpace *space, const MerTable *features[FEATURES])
{
    features[0] = mer_space_table(space, "latency");
    features[1] = mer_space_table(space, "traffic");
    return features[0] && features[1];
}

/* Of equally near ones, that which has been taken least often: jobs of one layer differ in their places. */
static int nearest(const MerSpace *old, const MerTable *const *mine, const MerTable *const *theirs,
                   int op, const int *uses)
{
    int    best = 0;
    double least = INFINITY;
    for (int i = 0; i < old->knob_count / 2; i++) {
        int    other = old->knobs[i].op;
        double d =
            distance(mine[0], op, theirs[0], other) + distance(mine[1], op, theirs[1], other);
        if (d < least || (d == least && uses[i] < uses[best])) {
            least = d;
            best = i;
        }
    }
    return best;
}

MerStatus mer_schedule_carry(const MerProblem *problem, const MerSpace *other, int other_knobs,
                             MerMatch match, int *from, MerArena *arena, MerError *error)
{
    const MerSpace *space = &problem->space;
    bool            by_layer = match == MER_MATCH_LAYER;
    int             count = space->knob_count / 2;
    int             old_count = (by_layer ? other->knob_count : other_knobs) / 2;
    int            *uses = MER_ARRAY(arena, int, old_count + 1);
    const MerTable *mine[FEATURES], *theirs[FEATURES];
    if (by_layer && (!find_features(space, mine) || !find_features(other, theirs) ||
                     mine[0]->columns != theirs[0]->columns)) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "jobs of the two runs cannot be compared: they need latency and "
                             "traffic on the same cores");
    }
    for (int i = 0; i < count; i++) {
        double place = count > 1 ? (double)i * (old_count - 1) / (count - 1) : 0;
        int    old = by_layer ? nearest(other, mine, theirs, space->knobs[i].op, uses)
                              : (int)floor(place + 0.5);
        from[i] = old;
        from[count + i] = old_count + old;
        uses[old]++;
    }
    return MER_OK;
}
