/* Walkers, their agents, and the trees that reward them. */
#include "opt/explorer.h"

#include "base/memory.h"
#include "opt/partition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More knobs than this would make too many products of pairs. */
enum { MOST_PAIRED = 12, DOWN = 0, STAY = 1, UP = 2, ACTIONS = 3, START_TRIES = 64, ELITES = 16 };
enum { MOST_NEIGHBOURS = 8192 }; /* of one point */

static int knobs_of(const MerExplorer *e)
{
    return e->tuner.search->space->knob_count;
}

static bool is_sized(const MerKnob *knob)
{
    return knob->values != NULL && knob->choices > 1;
}

/* Pairs of knobs whose product the trees see: sizes of tiles are products. */
static void pair_knobs(MerExplorer *e)
{
    const MerSpace *space = e->tuner.search->space;
    int             knobs = space->knob_count, sized = 0;
    for (int k = 0; k < knobs; k++) {
        sized += is_sized(&space->knobs[k]);
    }
    e->columns = knobs;
    if (e->options.features == 0 || sized > MOST_PAIRED) {
        return;
    }
    e->pairs = MER_ARRAY(e->tuner.search->arena, int, sized *(sized - 1) + 1);
    for (int a = 0; a < knobs; a++) {
        for (int b = a + 1; b < knobs; b++) {
            if (is_sized(&space->knobs[a]) && is_sized(&space->knobs[b])) {
                int *pair = e->pairs + 2 * (e->columns++ - knobs);
                pair[0] = a;
                pair[1] = b;
            }
        }
    }
}

static void fill_rows(const MerExplorer *e, int count, const MerIndex *points, float *rows)
{
    int knobs = knobs_of(e);
    for (int i = 0; i < count; i++) {
        float *row = rows + (int64_t)i * e->columns;
        mer_tuner_features(&e->tuner, 1, points + (int64_t)i * knobs, row);
        for (int c = knobs; c < e->columns; c++) {
            const int *pair = e->pairs + 2 * (c - knobs);
            row[c] = row[pair[0]] * row[pair[1]];
        }
    }
}

void mer_explorer_predict(const MerExplorer *e, int count, const MerIndex *points, float *values)
{
    float *rows = mer_heap_zeroed((size_t)count * (size_t)e->columns + 1, sizeof *rows);
    fill_rows(e, count, points, rows);
    mer_trees_predict(&e->trees, count, rows, values);
    free(rows);
}

void mer_explorer_opinions(const MerExplorer *e, int count, const MerIndex *points,
                           MerOpinion *list)
{
    int    knobs = knobs_of(e);
    float *values = mer_heap_zeroed((size_t)count + 1, sizeof *values);
    mer_explorer_predict(e, count, points, values);
    for (int i = 0; i < count; i++) {
        const MerIndex *point = points + (int64_t)i * knobs;
        list[i] = (MerOpinion){.surrogate = values[i],
                               .critic = NAN,
                               .is_dropped = mer_visited_has(&e->seen, point, knobs) &&
                                             !mer_visited_has(&e->tuner.visited, point, knobs)};
    }
    free(values);
}

MerStatus mer_explorer_fit(MerExplorer *e, MerError *error)
{
    int    count = e->tuner.count;
    float *rows = mer_heap_zeroed((size_t)count * (size_t)e->columns + 1, sizeof *rows);
    float *labels = mer_heap_zeroed((size_t)count + 1, sizeof *labels);
    fill_rows(e, count, e->tuner.points, rows);
    for (int i = 0; i < count; i++) {
        labels[i] = (float)mer_tuner_reward(&e->tuner, e->tuner.scores[i]);
    }
    MerTreeSpec spec = mer_tree_spec(MER_TREES_REGRESSION, 64);
    MerTreeData data = {count, e->columns, rows, labels, NULL};
    MerStatus   status = mer_trees_train(&e->trees, &spec, &data, error);
    free(labels);
    free(rows);
    return status;
}

/* Agents as the space numbers them, without gaps. */
static int owners_of_space(const MerSpace *space, int *owner)
{
    int count = 0;
    for (int k = 0; k < space->knob_count; k++) {
        owner[k] = -1;
        for (int j = 0; j < k && owner[k] < 0; j++) {
            owner[k] = space->knobs[j].agent == space->knobs[k].agent ? owner[j] : -1;
        }
        owner[k] = owner[k] < 0 ? count++ : owner[k];
    }
    return count;
}

/* Numbers that agents see of a point: its places, and how large the knobs' choices grow here, which
 * tells one task from another. */
static int feature_count(const MerExplorer *e)
{
    return 2 * knobs_of(e);
}

static void fill_features(const MerExplorer *e, const MerIndex *point, float *features)
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
static void make_team(MerExplorer *e)
{
    const MerExplorerOptions *o = &e->options;
    int                       knobs = knobs_of(e), features = feature_count(e);
    int *choices = mer_heap_zeroed((size_t)knobs + (size_t)features + 1, sizeof *choices);
    int *viewer = choices + knobs;
    for (int k = 0; k < knobs; k++) {
        choices[k] = ACTIONS;
        viewer[k] = e->owner[k];
        viewer[knobs + k] = -1;
    }
    MerTeamSpec spec = {.backend = &mer_backend_dnnl,
                        .algorithm = o->critic == MER_CRITIC_NONE ? MER_ALGORITHM_REINFORCE
                                                                  : MER_ALGORITHM_PPO,
                        .heads = (MerHeadForm)o->heads,
                        .knob_count = knobs,
                        .agent_count = e->agent_count,
                        .choices = choices,
                        .owner = e->owner,
                        .feature_count = features,
                        .viewer = o->observation == 0 ? viewer : NULL,
                        .lanes = (int)o->walkers,
                        .unroll = (int)o->steps,
                        .width = (int)o->width,
                        .depth = (int)o->depth,
                        .epochs = (int)o->epochs,
                        .minibatches = (int)o->minibatches,
                        .batch = (int)o->batch,
                        .rate = o->rate,
                        .clip = o->clip,
                        .value_cost = o->value_cost,
                        .grad_norm = o->grad_norm,
                        .discount = o->discount,
                        .lambda = o->lambda,
                        .adam_epsilon = 1e-5,
                        .entropy = o->entropy,
                        .entropy_end = o->entropy,
                        .baseline_decay = 0.9,
                        .is_central = o->critic == MER_CRITIC_CENTRAL,
                        .is_ratio_per_knob = true,
                        .is_standardised = true};
    MerTeam    *team = mer_team_new(&spec, e->tuner.search->rng);
    if (e->team != NULL) {
        mer_team_copy_heads(team, e->team);
        mer_team_free(e->team);
    }
    e->team = team;
    free(choices);
}

/* Clusters need samples: until there are enough every knob has an agent of its own. */
static void share_out(MerExplorer *e)
{
    const MerSearch *search = e->tuner.search;
    int              knobs = knobs_of(e);
    bool             is_first = e->team == NULL;
    if (e->is_divided || knobs == 0) {
        return;
    }
    if (e->options.agents == MER_SHARING_SPACE || e->options.agents == MER_SHARING_ONE) {
        e->agent_count = owners_of_space(search->space, e->owner);
        for (int k = 0; k < knobs && e->options.agents == MER_SHARING_ONE; k++) {
            e->owner[k] = 0;
            e->agent_count = 1;
        }
        e->is_divided = true;
    } else {
        MerSamples samples = {.count = e->tuner.count,
                              .capacity = e->tuner.count,
                              .points = e->tuner.points,
                              .scores = e->tuner.scores};
        bool       has_enough = e->options.agents == MER_SHARING_CLUSTERED &&
                          mer_samples_feasible(&samples) >= MER_PARTITION_FLOOR;
        if (!has_enough && !is_first) {
            return;
        }
        e->agent_count = knobs;
        for (int k = 0; k < knobs; k++) {
            e->owner[k] = k;
        }
        if (has_enough) { /* marl's defaults */
            MerPartitionRule rule = {MER_PARTITION_CORRELATION, MER_LINKAGE_AVERAGE, 0.5, 0, false};
            e->agent_count = mer_partition(&rule, search->space, &samples, search->rng, "partition",
                                           search->notes, search->arena, e->owner);
        }
        e->is_divided = has_enough || e->options.agents == MER_SHARING_ALL;
    }
    make_team(e);
}

static void begin(MerExplorer *e, const MerSearch *search)
{
    mer_tuner_open(&e->tuner, search, (int)e->options.initial);
    e->owner = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    e->is_divided = false;
    e->count = 0;
    pair_knobs(e);
}

MerStatus mer_explorer_open(MerExplorer *e, const MerSearch *search,
                            const MerExplorerOptions *options, MerError *error)
{
    (void)error;
    *e = (MerExplorer){.options = *options};
    begin(e, search);
    return MER_OK;
}

static void drop_candidates(MerExplorer *e)
{
    mer_visited_clear(&e->seen);
    free(e->points);
    free(e->values);
    e->points = NULL;
    e->values = NULL;
    e->count = e->capacity = 0;
}

void mer_explorer_close(MerExplorer *e)
{
    mer_tuner_close(&e->tuner);
    drop_candidates(e);
    mer_trees_clear(&e->trees);
    mer_team_free(e->team);
    e->team = NULL;
    free(e->aside);
    e->aside = NULL;
}

static void add_candidate(MerExplorer *e, const MerIndex *point, float value)
{
    size_t knobs = (size_t)knobs_of(e);
    if (e->count == e->capacity) {
        e->capacity = 2 * e->capacity + 1024;
        e->points = mer_heap_resize(e->points, (size_t)e->capacity * knobs + 1, sizeof *e->points);
        e->values = mer_heap_resize(e->values, (size_t)e->capacity, sizeof *e->values);
    }
    memcpy(e->points + (size_t)e->count * knobs, point, knobs * sizeof *point);
    e->values[e->count++] = value;
}

/* Records of the best points, best first. */
static int best_records(const MerExplorer *e, int *records)
{
    int count = 0;
    for (int i = 0; i < e->tuner.count; i++) {
        double score = e->tuner.scores[i];
        if (!isfinite(score) || (count == ELITES && score >= e->tuner.scores[records[count - 1]])) {
            continue;
        }
        int place = count < ELITES ? count++ : count - 1;
        for (; place > 0 && score < e->tuner.scores[records[place - 1]]; place--) {
            records[place] = records[place - 1];
        }
        records[place] = i;
    }
    return count;
}

static void start_walk(const MerExplorer *e, const int *records, int count, MerIndex *point)
{
    MerRng         *rng = e->tuner.search->rng;
    const MerSpace *space = e->tuner.search->space;
    bool            is_elite = count > 0 && mer_rng_unit(rng) < e->options.elite;
    for (int i = 0; i < START_TRIES; i++) {
        if (is_elite) { /* with one knob anywhere: steps of one choice do not cross valleys */
            int record = records[mer_rng_below(rng, count)], k = mer_rng_below(rng, knobs_of(e));
            memcpy(point, mer_tuner_point(&e->tuner, e->tuner.points, record),
                   (size_t)knobs_of(e) * sizeof *point);
            point[k] = mer_rng_below(rng, space->knobs[k].choices);
        } else {
            mer_space_sample(space, rng, point);
        }
        if (mer_tuner_is_legal(&e->tuner, point)) {
            return;
        }
    }
}

/* Moves by one choice each; true: at least three quarters of the knobs did not move, which ends an
 * episode. */
static bool move(const MerExplorer *e, const int *actions, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int             still = 0;
    for (int k = 0; k < space->knob_count; k++) {
        MerIndex next = point[k] + actions[k] - STAY;
        bool     is_inside = next >= 0 && next < space->knobs[k].choices;
        still += actions[k] == STAY || !is_inside;
        point[k] = is_inside ? next : point[k];
    }
    return 4 * still >= 3 * space->knob_count;
}

typedef struct Walk {
    MerIndex *points;  /* (walkers, knobs) */
    double   *rewards; /* (steps, walkers) */
    float    *values, *features;
    bool     *ended;
    int      *actions;
    int       records[ELITES], record_count;
} Walk;

/* Rewards of where all walkers stand now, and candidates among them. */
static void reward_step(MerExplorer *e, Walk *walk, int64_t step)
{
    int walkers = (int)e->options.walkers, knobs = knobs_of(e);
    mer_explorer_predict(e, walkers, walk->points, walk->values);
    for (int w = 0; w < walkers; w++) {
        MerIndex *point = walk->points + (int64_t)w * knobs;
        bool      is_legal = mer_tuner_is_legal(&e->tuner, point);
        walk->rewards[step * walkers + w] = is_legal ? walk->values[w] : -1;
        e->forbidden += !is_legal;
        if (mer_visited_add(&e->seen, point, knobs)) {
            e->repeated++;
        } else if (is_legal && !mer_visited_has(&e->tuner.visited, point, knobs)) {
            add_candidate(e, point, walk->values[w]);
        }
    }
    e->steps += walkers;
}

static void step_walk(MerExplorer *e, Walk *walk, int64_t step)
{
    int walkers = (int)e->options.walkers, knobs = knobs_of(e);
    for (int w = 0; w < walkers; w++) {
        MerIndex *point = walk->points + (int64_t)w * knobs;
        if (walk->ended[w]) {
            start_walk(e, walk->records, walk->record_count, point);
        }
        fill_features(e, point, walk->features);
        mer_team_see(e->team, w, walk->features);
    }
    for (int w = 0; w < walkers; w++) {
        mer_team_move(e->team, e->tuner.search->rng, w, NULL, false, walk->actions);
        walk->ended[w] = move(e, walk->actions, walk->points + (int64_t)w * knobs);
        if (walk->ended[w]) {
            mer_team_end(e->team, w);
        }
    }
    reward_step(e, walk, step);
}

/* Offers a point that no walker came to. */
static void offer(MerExplorer *e, const MerIndex *point)
{
    if (!mer_visited_add(&e->seen, point, knobs_of(e)) && mer_tuner_is_new(&e->tuner, point)) {
        add_candidate(e, point, 0);
    }
}

/* All choices of one knob, then of each later knob with it. */
static void offer_neighbours(MerExplorer *e, const MerIndex *centre, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int             knobs = space->knob_count;
    memcpy(point, centre, (size_t)knobs * sizeof *point);
    for (int a = 0; a < knobs; a++) {
        for (point[a] = 0; point[a] < space->knobs[a].choices; point[a]++) {
            offer(e, point);
            for (int b = a + 1; b < knobs && point[a] != centre[a]; b++) {
                for (point[b] = 0; point[b] < space->knobs[b].choices; point[b]++) {
                    offer(e, point);
                }
                point[b] = centre[b];
            }
        }
        point[a] = centre[a];
    }
}

static void add_neighbours(MerExplorer *e, const int *records, int count, MerIndex *point)
{
    const MerSpace *space = e->tuner.search->space;
    int64_t         size = 0;
    int             first = e->count;
    for (int k = 0; k < space->knob_count; k++) {
        size += space->knobs[k].choices;
    }
    for (int i = 0; i < count && i < e->options.neighbours && size * size <= 2 * MOST_NEIGHBOURS;
         i++) {
        offer_neighbours(e, mer_tuner_point(&e->tuner, e->tuner.points, records[i]), point);
    }
    if (e->count > first) {
        mer_explorer_predict(e, e->count - first, mer_tuner_point(&e->tuner, e->points, first),
                             e->values + first);
    }
}

MerStatus mer_explorer_walk(MerExplorer *e, MerError *error)
{
    size_t walkers = (size_t)e->options.walkers, knobs = (size_t)knobs_of(e);
    drop_candidates(e);
    e->steps = e->repeated = e->forbidden = 0;
    share_out(e);
    Walk walk = {.points = mer_heap_zeroed(walkers * knobs + 1, sizeof *walk.points),
                 .rewards = mer_heap_zeroed((size_t)e->options.steps * walkers, sizeof(double)),
                 .values = mer_heap_zeroed(walkers, sizeof(float)),
                 .features = mer_heap_zeroed((size_t)feature_count(e) + 1, sizeof(float)),
                 .ended = mer_heap_zeroed(walkers, sizeof(bool)),
                 .actions = mer_heap_zeroed(knobs + 1, sizeof(int))};
    walk.record_count = best_records(e, walk.records);
    memset(walk.ended, true, walkers * sizeof *walk.ended); /* all begin anew */
    bool is_cancelled = false;
    for (int64_t step = 0; step < e->options.steps; step++) {
        step_walk(e, &walk, step);
        is_cancelled = is_cancelled || mer_is_cancelled(e->tuner.search->notes);
        mer_team_step(e->team);
    }
    add_neighbours(e, walk.records, walk.record_count, walk.points);
    if (is_cancelled || !e->options.updates) {
        mer_team_rewind(e->team);
    } else {
        mer_team_learn(e->team, walk.rewards, 0, e->tuner.search->rng);
    }
    free(walk.points);
    free(walk.rewards);
    free(walk.values);
    free(walk.features);
    free(walk.ended);
    free(walk.actions);
    return mer_team_status(e->team, error);
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
    int owning = 0;
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
        bool is_first = true;
        for (int j = 0; j < k; j++) {
            is_first = is_first && e->owner[j] != e->owner[k];
        }
        owning += is_first;
    }
    stream->is_broken = stream->is_broken || (has_team && owning != e->agent_count);
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
            MerRng           rng = mer_rng_make(0, 0), *own = &rng; /* the weights are read next */
            MerSearch        plain = *e->tuner.search;
            const MerSearch *search = e->tuner.search;
            plain.rng = own;
            e->tuner.search = &plain;
            make_team(e);
            e->tuner.search = search;
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

static MerStatus put_aside(MerExplorer *e, MerError *error)
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

/* The same knobs move in the same way whatever their choices are: the team goes on as it is. */
MerStatus mer_explorer_next_task(MerExplorer *e, const MerSearch *search, MerError *error)
{
    int  knobs = knobs_of(e), *owner = e->owner;
    bool is_divided = e->is_divided;
    if (e->team != NULL && knobs != search->space->knob_count && knobs >= e->aside_knobs) {
        MER_TRY(put_aside(e, error));
    }
    mer_tuner_close(&e->tuner);
    drop_candidates(e);
    mer_trees_clear(&e->trees);
    begin(e, search);
    if (e->team != NULL && knobs == knobs_of(e)) {
        memcpy(e->owner, owner, (size_t)knobs * sizeof *owner);
        e->is_divided = is_divided;
    } else {
        mer_team_free(e->team);
        e->team = NULL;
    }
    return MER_OK;
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
