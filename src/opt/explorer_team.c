/* The agents of an explorer: who owns which knob, what they see, and what is saved of them. */
#include "opt/explorer_team.h"

#include "base/memory.h"
#include "opt/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int knobs_of(const MerExplorer *e)
{
    return e->tuner.search->space->knob_count;
}

/* Agents as the space numbers them, without gaps. */
static int owners_of_space(const MerSpace *space, int *owner)
{
    for (int k = 0; k < space->knob_count; k++) {
        owner[k] = space->knobs[k].agent;
    }
    return mer_partition_number(space->knob_count, owner);
}

/* Numbers that agents see of a point: its places, and how large the knobs' choices grow here, which
 * tells one task from another. */
int mer_explorer_feature_count(const MerExplorer *e)
{
    return 2 * knobs_of(e);
}

void mer_explorer_fill_features(const MerExplorer *e, const MerIndex *point, float *features)
{
    const MerSpace *space = e->tuner.search->space;
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        double most = knob->values != NULL ? knob->values[knob->choices - 1] : knob->choices;
        features[k] = (float)mer_knob_position(knob, point[k]);
        features[space->knob_count + k] = most > 0 ? (float)(log2(1 + most) / 8) : 0;
    }
}

/* The present partition's team, which takes over the heads of the one before. */
static void make_team(MerExplorer *e, MerRng *rng)
{
    const MerExplorerOptions *o = &e->options;
    int                       knobs = knobs_of(e), features = mer_explorer_feature_count(e);
    int *choices = mer_heap_zeroed((size_t)knobs + (size_t)features + 1, sizeof *choices);
    int *viewer = choices + knobs;
    for (int k = 0; k < knobs; k++) {
        choices[k] = MER_WALK_ACTIONS;
        viewer[k] = e->owner[k];
        viewer[knobs + k] = -1;
    }
    MerTeamSpec spec = mer_agents_spec(&o->team);
    spec.algorithm = o->critic == MER_CRITIC_NONE ? MER_ALGORITHM_REINFORCE : MER_ALGORITHM_PPO;
    spec.knob_count = knobs;
    spec.agent_count = e->agent_count;
    spec.choices = choices;
    spec.owner = e->owner;
    spec.feature_count = features;
    spec.viewer = o->observation == 0 ? viewer : NULL;
    MerTeam *team = mer_team_new(&spec, rng);
    if (e->team != NULL) {
        mer_team_copy_heads(team, e->team);
        mer_team_free(e->team);
    }
    e->team = team;
    free(choices);
}

/* Clusters need samples: until there are enough every knob has an agent of its own. */
void mer_explorer_share_out(MerExplorer *e)
{
    const MerSearch *search = e->tuner.search;
    int              sharing = e->options.agents;
    MerSamples       samples = {
              .count = e->tuner.count, .points = e->tuner.points, .scores = e->tuner.scores};
    bool is_clustered =
        sharing == MER_SHARING_CLUSTERED && mer_samples_feasible(&samples) >= MER_PARTITION_FLOOR;
    bool is_waiting = sharing == MER_SHARING_CLUSTERED && !is_clustered;
    if (e->is_divided || knobs_of(e) == 0 || (is_waiting && e->team != NULL)) {
        return;
    }
    if (sharing == MER_SHARING_SPACE) {
        e->agent_count = owners_of_space(search->space, e->owner);
    } else { /* clusters as by marl's defaults */
        MerPartitionRule rule = {.threshold = 0.5,
                                 .agents = is_clustered                 ? 0
                                           : sharing == MER_SHARING_ONE ? 1
                                                                        : knobs_of(e)};
        e->agent_count = mer_partition(&rule, search->space, &samples, search->rng,
                                       is_clustered ? "partition" : NULL, search->notes,
                                       search->arena, e->owner);
    }
    e->is_divided = !is_waiting;
    make_team(e, search->rng);
}

enum { MOST_KNOBS = 1 << 20 };

/* Clusters may be any. */
static bool is_shared_as_asked(const MerExplorer *e)
{
    int  knobs = knobs_of(e), *owner = mer_heap_zeroed((size_t)knobs + 1, sizeof *owner);
    bool is_same = e->options.agents == MER_SHARING_CLUSTERED ||
                   (e->options.agents == MER_SHARING_ONE && e->agent_count == 1) ||
                   (e->options.agents == MER_SHARING_ALL && e->agent_count == knobs);
    if (e->options.agents == MER_SHARING_SPACE) {
        is_same = owners_of_space(e->tuner.search->space, owner) == e->agent_count &&
                  memcmp(owner, e->owner, (size_t)knobs * sizeof *owner) == 0;
    }
    free(owner);
    return is_same;
}

/* Who owns which knob; a policy is of no use where the knobs are others. */
static MerStatus keep_owners(MerExplorer *e, MerStream *stream, MerError *error)
{
    const MerSpace *space = e->tuner.search->space;
    int  knobs = space->knob_count, count = (int)mer_stream_int(stream, knobs, 0, MOST_KNOBS);
    bool has_team = mer_stream_int(stream, e->team != NULL, 0, 1);
    if (!stream->is_broken && count != knobs) {
        return mer_error_set(error, MER_INVALID, "the policy is of %d knobs, expected %d", count,
                             knobs);
    }
    e->is_divided = mer_stream_int(stream, e->is_divided, 0, 1);
    e->agent_count = (int)mer_stream_int(stream, e->agent_count, 0, knobs);
    for (int k = 0; k < knobs && !stream->is_broken; k++) {
        e->owner[k] =
            (int)mer_stream_int(stream, e->owner[k], 0, has_team ? e->agent_count - 1 : 0);
        const char *name = mer_stream_text(stream, space->knobs[k].name, e->tuner.search->arena);
        bool        is_same = name == space->knobs[k].name ||
                       (name && space->knobs[k].name && strcmp(name, space->knobs[k].name) == 0);
        if (!stream->is_broken && !is_same) {
            return mer_error_set(error, MER_INVALID, "knob %d of the policy is %s, expected %s", k,
                                 name ? name : "nameless",
                                 space->knobs[k].name ? space->knobs[k].name : "a nameless one");
        }
    }
    stream->is_broken =
        stream->is_broken || (has_team && !mer_is_partition(knobs, e->agent_count, e->owner));
    if (!stream->is_broken && !stream->is_saving && has_team && !is_shared_as_asked(e)) {
        return mer_error_set(error, MER_INVALID,
                             "the policy is of %d agents, which is not what agents= says",
                             e->agent_count);
    }
    MER_TRY(mer_stream_status(stream, "the policy", error));
    if (!stream->is_saving) {
        mer_team_free(e->team);
        e->team = NULL;
        if (has_team) {
            MerRng rng = mer_rng_make(0, 0); /* the weights are read next */
            make_team(e, &rng);
        }
    }
    return MER_OK;
}

static MerStatus save_policy(MerExplorer *e, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    MER_TRY(keep_owners(e, &stream, error));
    return e->team != NULL ? mer_team_save(e->team, file, error) : MER_OK;
}

MerStatus mer_explorer_put_aside(MerExplorer *e, MerError *error)
{
    char     *data = NULL;
    size_t    size = 0;
    FILE     *memory = open_memstream(&data, &size);
    MerStatus status = memory ? save_policy(e, memory, error)
                              : mer_error_set(error, MER_NO_MEMORY, "no memory for a policy");
    if (memory && fclose(memory) != 0 && status == MER_OK) {
        status = mer_error_set(error, MER_NO_MEMORY, "no memory for a policy");
    }
    if (status != MER_OK) {
        free(data);
        return status;
    }
    free(e->aside);
    e->aside = data;
    e->aside_size = (int)size;
    e->aside_knobs = knobs_of(e);
    return MER_OK;
}

static void keep_aside(MerExplorer *e, MerStream *stream)
{
    e->aside_knobs = (int)mer_stream_int(stream, e->aside_knobs, 0, MOST_KNOBS);
    e->aside_size = (int)mer_stream_int(stream, e->aside_size, 0, 1 << 30);
    mer_stream_expect(stream, 1, e->aside_size);
    if (stream->is_broken) {
        e->aside_size = e->aside_knobs = 0;
        return;
    }
    if (!stream->is_saving) {
        e->aside = mer_heap_resize(e->aside, (size_t)e->aside_size + 1, 1);
    }
    if (e->aside_size > 0) {
        mer_stream_bytes(stream, e->aside, 1, e->aside_size);
    }
}

MerStatus mer_explorer_save(MerExplorer *e, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    if (what == MER_KEEP_POLICY && e->aside_knobs > knobs_of(e)) {
        mer_stream_bytes(&stream, e->aside, 1, e->aside_size);
        return mer_stream_status(&stream, "the policy", error);
    }
    if (what == MER_KEEP_POLICY) {
        return save_policy(e, file, error);
    }
    MER_TRY(keep_owners(e, &stream, error));
    keep_aside(e, &stream);
    mer_tuner_keep(&e->tuner, &stream);
    MER_TRY(mer_stream_status(&stream, "the records", error));
    return e->team != NULL ? mer_team_save_state(e->team, file, error) : MER_OK;
}

MerStatus mer_explorer_load(MerExplorer *e, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    MER_TRY(keep_owners(e, &stream, error));
    if (what == MER_KEEP_POLICY) {
        return e->team != NULL ? mer_team_load(e->team, file, error) : MER_OK;
    }
    keep_aside(e, &stream);
    mer_tuner_keep(&e->tuner, &stream);
    MER_TRY(mer_stream_status(&stream, "the saved records", error));
    return e->team != NULL ? mer_team_load_state(e->team, 0, file, error) : MER_OK;
}
