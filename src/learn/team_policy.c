/* Policies of teams: saved, loaded, and handed on when the partition changes. */
#include "learn/team_inside.h"

#include <string.h>

MerStatus mer_team_save(const MerTeam *team, FILE *file, MerError *error)
{
    return mer_parameters_save(team->parameters, file, error);
}

MerStatus mer_team_load(MerTeam *team, FILE *file, MerError *error)
{
    return mer_parameters_load(team->parameters, file, "policy", error);
}

typedef struct Place { /* of a knob's head */
    const MerAgent *agent;
    int             first, width;
} Place;

static Place place_of(const MerTeam *team, int knob)
{
    const MerAgent *agent = &team->agents[team->spec.owner[knob]];
    int             head = 0;
    while (agent->knobs[head] != knob) {
        head++;
    }
    const int *first = agent->heads.first;
    return (Place){agent, first[head], first[head + 1] - first[head]};
}

static void copy_columns(MerTensor *to, int to_first, const MerTensor *from, int from_first,
                         int width)
{
    int64_t to_row = to->shape[to->rank - 1], from_row = from->shape[from->rank - 1];
    for (int64_t r = 0; r < to->size / to_row; r++) {
        memcpy(to->data + r * to_row + to_first, from->data + r * from_row + from_first,
               (size_t)width * sizeof *to->data);
    }
}

/* What was learned of the knob's own block of the habits: where it starts depends on how many
 * knobs share an agent. */
static void copy_habit(Place a, Place b)
{
    if (a.agent->habit == NULL || b.agent->habit == NULL) {
        return;
    }
    int64_t to_row = a.agent->heads.total, from_row = b.agent->heads.total;
    for (int64_t r = 0; r < a.width; r++) {
        int64_t to = (a.first + r) * to_row + a.first, from = (b.first + r) * from_row + b.first;
        for (int c = 0; c < a.width; c++) {
            a.agent->habit->data[to + c] =
                a.agent->first_habit[to + c] +
                (b.agent->habit->data[from + c] - b.agent->first_habit[from + c]);
        }
    }
}

void mer_team_copy_heads(MerTeam *team, const MerTeam *from)
{
    bool is_alike = team->spec.depth == from->spec.depth && team->spec.width == from->spec.width;
    int  knobs = team->spec.knob_count < from->spec.knob_count ? team->spec.knob_count
                                                               : from->spec.knob_count;
    for (int k = 0; k < knobs && is_alike; k++) {
        Place a = place_of(team, k), b = place_of(from, k);
        if (a.width != b.width) {
            continue;
        }
        if (a.agent->logits != NULL) {
            copy_columns(a.agent->logits, a.first, b.agent->logits, b.first, a.width);
        } else if (a.agent->habit != NULL) {
            copy_habit(a, b); /* the rest would be read through other hidden layers */
            copy_columns(a.agent->policy.bias, a.first, b.agent->policy.bias, b.first, a.width);
        } else {
            copy_columns(a.agent->policy.w, a.first, b.agent->policy.w, b.first, a.width);
            copy_columns(a.agent->policy.bias, a.first, b.agent->policy.bias, b.first, a.width);
        }
    }
}
