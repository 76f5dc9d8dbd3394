/* Multi-agent searches that go on later, and what they hand on to others: which knobs share an
 * agent, what the agents learned, and what turns keep. A policy is read by the names of knobs, so
 * that layers of other sizes can use it. */
#include "opt/marl_inside.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KNOBS = 1 << 20, LEAST_BYTES = 3 * sizeof(int64_t) /* of a knob in a policy */ };

static bool is_turns(const MerMarl *s)
{
    return s->options.form == MER_MARL_TURNS;
}

/* What another form has learned is of no use. Version 2 says which heads the agents have, version 1
 * is of independent ones. */
static MerStatus keep_head(MerMarl *s, MerStream *stream, int *heads, MerError *error)
{
    static const char *const forms[] = {"turns", "joint"};
    *heads = s->options.agents.heads;
    bool has_heads = mer_stream_int(stream, *heads == MER_HEADS_INDEPENDENT ? 1 : 2, 1, 2) == 2;
    *heads = has_heads
                 ? (int)mer_stream_int(stream, *heads, MER_HEADS_INDEPENDENT, MER_HEADS_ORDERED)
                 : MER_HEADS_INDEPENDENT;
    int form = (int)mer_stream_int(stream, s->options.form, MER_MARL_TURNS, MER_MARL_JOINT);
    if (!stream->is_broken && form != s->options.form) {
        return mer_error_set(error, MER_INVALID, "marl: was saved with form=%s, expected form=%s",
                             forms[form], forms[s->options.form]);
    }
    return mer_stream_status(stream, "marl: the file", error);
}

static void keep_samples(MerSamples *samples, const MerSpace *space, MerStream *stream)
{
    samples->count = (int)mer_stream_int(stream, samples->count, 0, samples->capacity);
    mer_stream_bytes(stream, samples->scores, sizeof *samples->scores, samples->count);
    mer_points_keep(space, samples->points, samples->count, stream);
}

static void keep_partition(MerMarl *s, MerStream *stream)
{
    int knobs = s->search->space->knob_count;
    mer_stream_int(stream, knobs, knobs, knobs);
    s->is_divided = mer_stream_int(stream, s->is_divided, 0, 1);
    s->is_adopted = mer_stream_int(stream, s->is_adopted, 0, 1);
    s->has_checked_drift = mer_stream_int(stream, s->has_checked_drift, 0, 1);
    s->wanted = (int)mer_stream_int(stream, s->wanted, 0, s->samples.capacity);
    s->next_recluster = mer_stream_int(stream, s->next_recluster, 0, INT64_MAX);
    s->agent_count = (int)mer_stream_int(stream, s->agent_count, 0, knobs > 1 ? knobs : 1);
    for (int k = 0; k < knobs; k++) {
        s->owner[k] = (int)mer_stream_int(stream, s->owner[k], 0, s->agent_count);
    }
    keep_samples(&s->samples, s->search->space, stream);
    keep_samples(&s->later, s->search->space, stream);
}

/* Agents there are, at least in turns, before clusters are known. */
static bool has_team(const MerMarl *s)
{
    return s->agents.team != NULL && (s->is_divided || is_turns(s));
}

/* The team, or how far its count is before there is one, and the turns. */
static MerStatus keep_agents(MerMarl *s, MerStream *stream, const char *what, MerError *error)
{
    FILE *file = stream->file;
    if (has_team(s)) {
        MER_TRY(stream->is_saving ? mer_agents_save(&s->agents, MER_KEEP_ALL, file, error)
                                  : mer_agents_load(&s->agents, MER_KEEP_ALL, file, error));
    } else {
        mer_agents_keep(&s->agents, stream);
        MER_TRY(mer_stream_status(stream, what, error));
    }
    if (!is_turns(s)) {
        return MER_OK;
    }
    return stream->is_saving ? mer_turns_save(&s->turns, MER_KEEP_ALL, file, error)
                             : mer_turns_load(&s->turns, MER_KEEP_ALL, file, error);
}

static MerStatus keep_all(MerMarl *s, MerStream *stream, MerError *error)
{
    const char *what = stream->is_saving ? "the state of marl" : "the saved state of marl";
    int         knobs = s->search->space->knob_count, heads;
    MER_TRY(keep_head(s, stream, &heads, error));
    stream->is_broken = heads != s->options.agents.heads;
    keep_partition(s, stream);
    bool is_shared = s->is_divided || is_turns(s);
    if (is_shared && !stream->is_broken && knobs > 0) {
        stream->is_broken = !mer_is_partition(knobs, s->agent_count, s->owner);
    }
    MER_TRY(mer_stream_status(stream, what, error));
    if (is_shared && !stream->is_saving) {
        mer_marl_share_out(s);
    }
    return keep_agents(s, stream, what, error);
}

/* A team by the names of its knobs. */
typedef struct Policy {
    int          knob_count, agent_count;
    bool         is_divided, has_team;
    const char **names;
    int         *choices, *owner;
    int64_t      width, depth;
    int          heads; /* their form */
    bool         is_central;
    double       stay, near;
} Policy;

static Policy policy_of(const MerMarl *s)
{
    const MerSpace *space = s->search->space;
    Policy          policy = {.knob_count = space->knob_count,
                              .agent_count = s->agent_count,
                              .is_divided = s->is_divided,
                              .has_team = has_team(s),
                              .choices = s->agents.choices,
                              .owner = s->owner,
                              .width = s->options.agents.width,
                              .depth = s->options.agents.depth,
                              .heads = s->options.agents.heads,
                              .is_central = s->options.agents.central,
                              .stay = s->options.turns.stay,
                              .near = s->options.turns.near};
    policy.names = MER_ARRAY(s->search->arena, const char *, space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        policy.names[k] = space->knobs[k].name;
    }
    return policy;
}

/* The tables of a team are as long as its choices are many: no more of them than the file holds. */
static void expect_team(const Policy *policy, bool has_habits, MerStream *stream)
{
    int64_t *totals = mer_heap_zeroed((size_t)policy->agent_count + 1, sizeof *totals);
    int64_t  least = 0;
    for (int k = 0; k < policy->knob_count; k++) {
        totals[policy->owner[k]] += policy->choices[k];
    }
    for (int a = 0; a < policy->agent_count; a++) {
        int tables = has_habits + (policy->heads == MER_HEADS_JOINT);
        least += totals[a] * policy->width + tables * totals[a] * totals[a];
    }
    free(totals);
    mer_stream_expect(stream, sizeof(float), least);
}

static void keep_policy(Policy *policy, MerStream *stream, MerArena *arena)
{
    policy->knob_count = (int)mer_stream_int(stream, policy->knob_count, 0, MOST_KNOBS);
    policy->agent_count = (int)mer_stream_int(stream, policy->agent_count, 0, MOST_KNOBS);
    policy->is_divided = mer_stream_int(stream, policy->is_divided, 0, 1);
    policy->has_team = mer_stream_int(stream, policy->has_team, 0, 1);
    policy->width = mer_stream_int(stream, policy->width, 1, 4096);
    policy->depth = mer_stream_int(stream, policy->depth, 1, 8);
    policy->is_central = mer_stream_int(stream, policy->is_central, 0, 1);
    policy->stay = mer_stream_real(stream, policy->stay);
    policy->near = mer_stream_real(stream, policy->near);
    mer_stream_expect(stream, LEAST_BYTES, policy->knob_count);
    if (!stream->is_saving) {
        policy->knob_count = stream->is_broken ? 0 : policy->knob_count;
        policy->names = MER_ARRAY(arena, const char *, policy->knob_count + 1);
        policy->choices = MER_ARRAY(arena, int, policy->knob_count + 1);
        policy->owner = MER_ARRAY(arena, int, policy->knob_count + 1);
    }
    for (int k = 0; k < policy->knob_count && !stream->is_broken; k++) {
        policy->names[k] = mer_stream_text(stream, policy->names[k], arena);
        policy->choices[k] =
            (int)mer_stream_int(stream, policy->choices[k], 1, MER_AGENT_MOST_CHOICES);
        policy->owner[k] = (int)mer_stream_int(stream, policy->owner[k], 0, MOST_KNOBS);
    }
    if (!stream->is_saving && !stream->is_broken && policy->has_team) {
        bool has_habits = policy->stay >= 0 && policy->stay <= 100 && policy->near >= 0 &&
                          policy->near <= 100; /* what the options allow */
        stream->is_broken = !has_habits || !mer_is_partition(policy->knob_count,
                                                             policy->agent_count, policy->owner);
    }
}

static MerStatus save_policy(MerMarl *s, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    Policy    policy = policy_of(s);
    MER_TRY(keep_head(s, &stream, &policy.heads, error));
    keep_policy(&policy, &stream, s->search->arena);
    MER_TRY(mer_stream_status(&stream, "the policy", error));
    if (is_turns(s)) {
        MER_TRY(mer_turns_save(&s->turns, MER_KEEP_POLICY, file, error));
    }
    return policy.has_team ? mer_team_save(s->agents.team, file, error) : MER_OK;
}

static bool is_text_equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool has_same_knobs(const Policy *a, const Policy *b)
{
    bool is_same = a->knob_count == b->knob_count && a->knob_count > 0;
    for (int k = 0; k < a->knob_count && is_same; k++) {
        is_same = is_text_equal(a->names[k], b->names[k]);
    }
    return is_same;
}

/* Clusters of the policy instead of samples to find them, where as many agents are wanted. */
static void adopt(MerMarl *s, const Policy *saved)
{
    bool is_wanted = s->rule.agents == 0 || s->rule.agents == saved->agent_count;
    if (s->is_divided || !saved->is_divided || !is_wanted) {
        return;
    }
    s->agent_count = saved->agent_count;
    memcpy(s->owner, saved->owner, (size_t)saved->knob_count * sizeof *s->owner);
    s->is_divided = s->is_adopted = true;
    s->next_recluster = s->agents.now.done + s->options.recluster;
    mer_partition_view(
        &(MerPartition){.id = "partition", .agents = s->agent_count, .owner = s->owner}, &s->rule,
        s->search->space, s->search->notes);
    mer_marl_share_out(s);
}

/* The same team goes on as it was; any other takes over what it can. */
static MerStatus load_team(MerMarl *s, const Policy *saved, FILE *file, MerError *error)
{
    size_t bytes = (size_t)saved->knob_count * sizeof(int);
    bool   is_same = has_team(s) && s->agent_count == saved->agent_count &&
                   memcmp(s->owner, saved->owner, bytes) == 0 &&
                   memcmp(s->agents.choices, saved->choices, bytes) == 0;
    if (is_same) {
        return mer_team_load(s->agents.team, file, error);
    }
    const float *const *habits = is_turns(s)
                                     ? mer_turns_habits(&s->turns, saved->agent_count, saved->owner,
                                                        saved->choices, saved->stay, saved->near)
                                     : NULL;
    MerTeam            *earlier =
        mer_agents_team(&s->agents, saved->agent_count, saved->owner, saved->choices, habits);
    MerStatus status = mer_team_load(earlier, file, error);
    mer_team_free(s->agents.team);
    s->agents.team = earlier;
    if (s->is_divided || is_turns(s)) {
        mer_marl_share_out(s);
    }
    return status;
}

static MerStatus load_policy(MerMarl *s, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    Policy    here = policy_of(s), saved = {0};
    MER_TRY(keep_head(s, &stream, &saved.heads, error));
    keep_policy(&saved, &stream, s->search->arena);
    MER_TRY(mer_stream_status(&stream, "the policy of marl", error));
    if (is_turns(s)) {
        MER_TRY(mer_turns_load(&s->turns, MER_KEEP_POLICY, file, error));
    }
    if (!saved.has_team || !has_same_knobs(&here, &saved)) {
        return MER_OK;
    }
    adopt(s, &saved);
    bool is_alike = here.width == saved.width && here.depth == saved.depth &&
                    here.is_central == saved.is_central && here.heads == saved.heads;
    if (!is_alike) {
        return MER_OK;
    }
    expect_team(&saved, is_turns(s), &stream);
    MER_TRY(mer_stream_status(&stream, "the policy of marl", error));
    return load_team(s, &saved, file, error);
}

MerStatus mer_marl_save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    MerMarl  *s = (MerMarl *)state; /* saving changes nothing */
    MerStream stream = {.file = file, .is_saving = true};
    if (what == MER_KEEP_POLICY) {
        return save_policy(s, file, error);
    }
    if (!has_team(s) && s->inner != NULL) {
        return mer_error_set(error, MER_UNSUPPORTED, "marl: the initial policy %s has no state",
                             s->inner->name);
    }
    return keep_all(s, &stream, error);
}

MerStatus mer_marl_load(void *state, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    return what == MER_KEEP_ALL ? keep_all(state, &stream, error) : load_policy(state, file, error);
}
