/* Policies of teams: saved, loaded, and handed on when the partition changes. */
#include "learn/team_inside.h"

#include <assert.h>
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

/* Column `to` of the plain logits, or of the policy's parts, as column `from` of the other's. */
static void carry_column(const MerAgent *a, int to, const MerAgent *b, int from, float share)
{
    if (a->logits != NULL) {
        a->logits->data[to] = share * b->logits->data[from];
        return;
    }
    int64_t to_row = a->heads.total, from_row = b->heads.total;
    for (int64_t r = 0; r < a->policy.w->size / to_row; r++) {
        a->policy.w->data[r * to_row + to] = share * b->policy.w->data[r * from_row + from];
    }
    a->policy.bias->data[to] = share * b->policy.bias->data[from];
}

/* The biases, and what was learned of the knob's own block of the habits: where it starts depends on how
 * many knobs share an agent. */
static void copy_habit(Place a, Place b)
{
    int64_t to_row = a.agent->heads.total, from_row = b.agent->heads.total;
    memcpy(a.agent->policy.bias->data + a.first, b.agent->policy.bias->data + b.first,
           (size_t)a.width * sizeof(float));
    for (int64_t r = 0; b.agent->habit != NULL && r < a.width; r++) {
        int64_t to = (a.first + r) * to_row + a.first, from = (b.first + r) * from_row + b.first;
        for (int c = 0; c < a.width; c++) {
            a.agent->habit->data[to + c] =
                a.agent->first_habit[to + c] +
                (b.agent->habit->data[from + c] - b.agent->first_habit[from + c]);
        }
    }
}

/* What knob j's choices say of knob k, where both teams leave the two to one agent. */
static void copy_later(MerTeam *team, const MerTeam *from, int j, int k)
{
    if (team->spec.owner[j] != team->spec.owner[k] || from->spec.owner[j] != from->spec.owner[k]) {
        return;
    }
    Place   a = place_of(team, j), b = place_of(from, j);
    Place   to = place_of(team, k), old = place_of(from, k);
    int64_t to_row = a.agent->heads.total, from_row = b.agent->heads.total;
    for (int64_t r = 0; r < a.width && a.width == b.width && to.width == old.width; r++) {
        memcpy(a.agent->later->data + (a.first + r) * to_row + to.first,
               b.agent->later->data + (b.first + r) * from_row + old.first,
               (size_t)to.width * sizeof(float));
    }
}

void mer_team_copy_heads(MerTeam *team, const MerTeam *from)
{
    bool is_alike = team->spec.depth == from->spec.depth && team->spec.width == from->spec.width &&
                    team->spec.heads == from->spec.heads;
    int knobs = team->spec.knob_count < from->spec.knob_count ? team->spec.knob_count
                                                              : from->spec.knob_count;
    for (int k = 0; k < knobs && is_alike; k++) {
        Place a = place_of(team, k), b = place_of(from, k);
        if (a.width != b.width) {
            continue;
        }
        if (a.agent->habit != NULL) {
            copy_habit(a, b); /* weights would be read through other hidden layers */
        }
        for (int c = 0; c < a.width && a.agent->habit == NULL; c++) {
            carry_column(a.agent, a.first + c, b.agent, b.first + c, 1);
        }
        for (int j = 0; j < k && team->spec.heads == MER_HEADS_JOINT; j++) {
            copy_later(team, from, j, k);
        }
    }
}

/* What the choices of knob j here say of knob k, where the knobs that match come in this order. */
static void carry_later(MerAgent *a, const MerAgent *b, const MerTeamMatch *match, int j, int k,
                        float share)
{
    int old_j = match->knob[j], old_k = match->knob[k];
    if (a->later == NULL || old_j < 0 || old_j >= old_k) {
        return;
    }
    for (int64_t r = a->heads.first[j]; r < a->heads.first[j + 1]; r++) {
        int64_t old = b->heads.first[old_j] + match->choice[j][r - a->heads.first[j]];
        for (int c = a->heads.first[k]; c < a->heads.first[k + 1]; c++) {
            int old_c = b->heads.first[old_k] + match->choice[k][c - a->heads.first[k]];
            a->later->data[r * a->heads.total + c] =
                share * b->later->data[old * b->heads.total + old_c];
        }
    }
}

/* What the first hidden layer makes of one number that the agent sees. */
static void carry_row(MerAgent *a, int to, const MerAgent *b, int from)
{
    if (a->trunk.count > 0) {
        const MerTensor *theirs = b->trunk.layers[0].w;
        MerTensor       *ours = a->trunk.layers[0].w;
        int64_t          width = ours->shape[1];
        memcpy(ours->data + to * width, theirs->data + from * width,
               (size_t)width * sizeof *ours->data);
    }
}

static void carry_tensor(MerTensor *to, const MerTensor *from)
{
    if (to != NULL && from != NULL) {
        memcpy(to->data, from->data, (size_t)to->size * sizeof *to->data);
    }
}

/* Parts whose shape does not depend on the knobs. */
static void carry_rest(MerAgent *a, const MerAgent *b)
{
    for (int i = 0; i < a->trunk.count; i++) {
        carry_tensor(a->trunk.layers[i].bias, b->trunk.layers[i].bias);
        if (i > 0) {
            carry_tensor(a->trunk.layers[i].w, b->trunk.layers[i].w);
        }
    }
    carry_tensor(a->value.w, b->value.w);
    carry_tensor(a->value.bias, b->value.bias);
}

void mer_team_carry(MerTeam *team, const MerTeam *from, const MerTeamMatch *match, double share)
{
    const MerTeamSpec *here = &team->spec, *there = &from->spec;
    assert(here->agent_count == 1 && there->agent_count == 1 && !here->is_central);
    assert(here->depth == there->depth && here->width == there->width &&
           here->heads == there->heads);
    assert(here->feature_count == there->feature_count);
    MerAgent       *a = &team->agents[0];
    const MerAgent *b = &from->agents[0];
    carry_rest(a, b);
    for (int f = 0; f < here->feature_count; f++) {
        carry_row(a, f, b, f);
    }
    for (int k = 0; k < here->knob_count; k++) {
        for (int c = 0; match->knob[k] >= 0 && c < here->choices[k]; c++) {
            int to = a->heads.first[k] + c;
            int old = b->heads.first[match->knob[k]] + match->choice[k][c];
            carry_column(a, to, b, old, (float)share);
            carry_row(a, here->feature_count + to, b, there->feature_count + old);
        }
        for (int j = 0; j < k; j++) {
            carry_later(a, b, match, j, k, (float)share);
        }
    }
}
