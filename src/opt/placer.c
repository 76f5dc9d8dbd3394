/* Rollouts of a placing policy behind ask and tell. */
#include "opt/placer.h"

#include "opt/failure.h"

#include <math.h>
#include <string.h>

enum {
    MOST_SCORES = 1 << 27
}; /* of attention: 512 MB of them and as much again for their gradients */

static int steps_of(const MerPlacer *p)
{
    return p->has_grouper ? p->grouper.clusters : p->graph.order_count;
}

int mer_placer_elite_slot(const MerPlacer *p)
{
    return p->lanes.capacity - 2;
}

static int greedy_slot(const MerPlacer *p)
{
    return p->lanes.capacity - 1;
}

double mer_placer_progress(const MerPlacer *p)
{
    int64_t budget = p->search->budget, done = p->now.told_in_all - p->now.start;
    return budget == INT64_MAX || budget <= p->now.start
               ? 0
               : fmin(1, (double)done / (double)(budget - p->now.start));
}

static MerStatus check(const MerPlacer *p, int steps, MerError *error)
{
    double most = MOST_SCORES / ((double)steps * (double)steps);
    if (p->options.standardise && p->options.samples < 2) {
        return mer_error_set(error, MER_INVALID, "%s: standardise needs samples >= 2, found 1",
                             p->name);
    }
    if (p->options.both_ways && p->options.hidden % 2 != 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s: hidden is %lld, expected an even number with both_ways", p->name,
                             (long long)p->options.hidden);
    }
    if ((double)p->options.samples > most) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: samples is %lld, expected at most %.0f for attention over %d "
                             "steps; try fewer samples, co-location, or hdp",
                             p->name, (long long)p->options.samples, floor(most), steps);
    }
    return MER_OK;
}

static MerPlacerShape shape_of(const MerPlacer *p)
{
    const MerPlacerOptions *o = &p->options;
    bool                    is_full = o->features == MER_PLACER_FULL;
    int                     steps = steps_of(p);
    return (MerPlacerShape){
        .inputs = p->has_grouper
                      ? mer_placer_set_width(steps, (MerPlacerFeatures)o->features)
                      : mer_placer_group_width(&p->graph, (MerPlacerFeatures)o->features),
        .kinds = p->has_grouper ? 0 : MER_PLACER_KINDS,
        .embedding = (int)o->embedding,
        .units = p->graph.unit_count,
        .hidden = (int)o->hidden,
        .unit_features = is_full ? MER_PLACER_UNIT_FEATURES : 0,
        .step_features = is_full ? MER_PLACER_STEP_FEATURES : 0,
        .scorer = (int)o->scorer,
        .is_both_ways = o->both_ways,
        .temperature = (float)o->temperature,
        .tanh_constant = (float)o->tanh_constant,
    };
}

static void add_networks(MerPlacer *p, MerParameters *parameters)
{
    MerPlacerShape shape = shape_of(p);
    if (p->has_grouper) {
        mer_placer_grouper_add(&p->grouper, (int)p->options.grouper_hidden, parameters,
                               p->search->rng);
    }
    p->net = mer_placer_net(parameters, &shape, p->search->rng);
}

/* The same names and shapes, for a policy that is put aside. */
static MerParameters *copy_of(const MerParameters *from)
{
    MerParameters *copy = mer_parameters_new();
    for (int i = 0; i < mer_parameters_count(from); i++) {
        const MerTensor *tensor = mer_parameters_get(from, i);
        mer_parameters_add(copy, mer_parameters_name(from, i), tensor->rank, tensor->shape);
    }
    return copy;
}

static void make_room(MerPlacer *p)
{
    MerArena *arena = p->search->arena;
    int64_t   samples = p->options.samples, steps = steps_of(p);
    int64_t   copies = p->has_grouper ? samples + 1 : 1;
    int64_t   noise = (samples + 1) * steps * p->graph.unit_count;
    mer_placer_lanes_make(&p->lanes, &p->graph, (int)steps, (int)samples + 2,
                          p->options.features == MER_PLACER_FULL, arena);
    p->vectors = MER_ARRAY(arena, float, steps *copies * p->net.shape.inputs);
    p->scores = MER_ARRAY(arena, double, samples + 1);
    p->advantages = MER_ARRAY(arena, double, samples + 1);
    if (p->options.noise > 0) {
        p->noise = MER_ARRAY(arena, float, noise + p->graph.order_count * steps);
    }
    if (!p->has_grouper) {
        mer_placer_group_vectors(&p->graph, (MerPlacerFeatures)p->options.features, p->vectors);
        for (int lane = 0; lane < samples + 2; lane++) {
            mer_placer_lanes_single(&p->lanes, lane);
        }
    }
}

/* As many clusters as the hierarchical model has for that many units. */
static int cluster_count(const MerPlacer *p)
{
    int64_t wanted =
        p->options.clusters > 0 ? p->options.clusters : 20 * (int64_t)p->graph.unit_count;
    return (int)(wanted < 256 || p->options.clusters > 0 ? wanted : 256);
}

MerStatus mer_placer_open(MerPlacer *p, const char *name, bool has_grouper, const MerSearch *search,
                          const MerPlacerOptions *options, MerError *error)
{
    *p = (MerPlacer){
        .name = name, .search = search, .options = *options, .has_grouper = has_grouper};
    MER_TRY(mer_placer_graph(search->space, name, search->arena, &p->graph, error));
    MER_TRY(check(p, has_grouper ? cluster_count(p) : p->graph.order_count, error));
    MerRule rule = mer_rule_adam(1e-8);
    p->parameters = mer_parameters_new();
    p->tape = mer_tape_new(&mer_backend_dnnl, search->pool);
    if (has_grouper) {
        mer_placer_grouper_make(&p->grouper, &p->graph, (MerPlacerFeatures)options->features,
                                cluster_count(p), options->pull, search->arena);
    }
    add_networks(p, p->parameters);
    p->updater = mer_updater_new(p->tape, p->parameters, &rule);
    p->kept = options->keep == MER_PLACER_BEST ? copy_of(p->parameters) : NULL;
    make_room(p);
    p->now.worst = -INFINITY;
    p->now.elite = p->now.kept = INFINITY;
    return MER_OK;
}

void mer_placer_close(void *state)
{
    MerPlacer *p = state;
    mer_updater_free(p->updater);
    mer_parameters_free(p->parameters);
    mer_parameters_free(p->kept);
    mer_tape_free(p->tape);
    p->updater = NULL;
    p->parameters = p->kept = NULL;
    p->tape = NULL;
}

/* Parts that mean the same there: equal names and shapes. The rest starts anew. */
static void copy_values(MerParameters *to, const MerParameters *from)
{
    for (int i = 0; i < mer_parameters_count(to); i++) {
        MerTensor       *here = mer_parameters_get(to, i);
        const MerTensor *there = mer_parameters_find(from, mer_parameters_name(to, i));
        if (there != NULL && there->rank == here->rank &&
            memcmp(there->shape, here->shape, sizeof here->shape) == 0) {
            memcpy(here->data, there->data, (size_t)here->size * sizeof *here->data);
        }
    }
}

MerStatus mer_placer_next_task(void *state, const MerSearch *search, MerError *error)
{
    MerPlacer       *p = state, before = *p;
    MerPlacerOptions options = before.options;
    MerStatus status = mer_placer_open(p, before.name, before.has_grouper, search, &options, error);
    if (status == MER_OK) {
        copy_values(p->parameters, before.parameters);
        p->now.is_given = true;
    }
    mer_placer_close(&before);
    return status;
}

static void clear_values(MerParameters *parameters)
{
    for (int i = 0; i < mer_parameters_count(parameters); i++) {
        mer_tensor_fill(mer_parameters_get(parameters, i), 0);
    }
}

void mer_placer_restart(MerPlacer *p)
{
    MerPlacerNet     net = p->net;
    MerPlacerGrouper grouper = p->grouper;
    MerParameters   *fresh = mer_parameters_new();
    add_networks(p, fresh);
    copy_values(p->parameters, fresh);
    mer_parameters_free(fresh);
    clear_values(mer_updater_memory(p->updater));
    p->net = net;
    p->grouper = grouper;
    p->now.has_baseline = p->now.has_elite = false;
    p->now.elite = INFINITY;
    p->now.alike = 0;
    p->now.start = p->now.told_in_all;
}

void mer_placer_copy_lane(MerPlacer *p, int to, int from)
{
    size_t groups = (size_t)p->graph.group_count, steps = (size_t)p->lanes.steps;
    memmove(p->lanes.step_of + (size_t)to * groups, p->lanes.step_of + (size_t)from * groups,
            groups * sizeof *p->lanes.step_of);
    memmove(p->lanes.unit + (size_t)to * steps, p->lanes.unit + (size_t)from * steps,
            steps * sizeof *p->lanes.unit);
}

/* Standard normal numbers times the noise of this batch. A batch draws them from a seed of its own: they are needed
 * again when it is learned from. */
const float *mer_placer_row_noise(MerPlacer *p, int lanes, int noisy)
{
    int    units = p->graph.unit_count;
    MerRng rng = mer_rng_make(p->now.noise_seed, 0);
    if (p->now.noise == 0) {
        return NULL;
    }
    for (int64_t row = 0; row < (int64_t)p->lanes.steps * lanes; row++) {
        for (int u = 0; u < units; u++) {
            bool is_noisy = row % lanes < noisy;
            p->noise[row * units + u] = is_noisy ? (float)(p->now.noise * mer_rng_normal(&rng)) : 0;
        }
    }
    return p->noise;
}

const float *mer_placer_group_noise(MerPlacer *p)
{
    float  *noise = p->noise + (p->options.samples + 1) * p->lanes.steps * p->graph.unit_count;
    MerRng  rng = mer_rng_make(p->now.noise_seed, 1);
    int64_t count = (int64_t)p->graph.order_count * p->lanes.steps;
    if (p->now.noise == 0) {
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        noise[i] = (float)(p->now.noise * mer_rng_normal(&rng));
    }
    return noise;
}

MerTensor *mer_placer_inputs(MerPlacer *p, int count)
{
    int inputs = p->net.shape.inputs, copies = p->has_grouper ? count : 1;
    for (int lane = 0; lane < count && p->has_grouper; lane++) {
        mer_placer_set_vectors(&p->lanes, lane, (MerPlacerFeatures)p->options.features,
                               p->vectors + (int64_t)lane * inputs, (int64_t)copies * inputs);
    }
    return mer_tape_input(p->tape, 3, (int[]){p->lanes.steps, copies, inputs}, p->vectors);
}

/* Of a row of log-probabilities: a random choice, or the most likely one without `rng`. */
static int choose(const float *row, int count, MerRng *rng)
{
    int    best = 0, last = 0;
    double left = rng != NULL ? mer_rng_unit(rng) : 0;
    for (int i = 0; i < count; i++) {
        double share = exp(row[i]);
        best = row[i] > row[best] ? i : best;
        last = share > 0 ? i : last;
        left -= share;
        if (rng != NULL && left < 0) {
            return i;
        }
    }
    return rng != NULL ? last : best;
}

static void form_clusters(MerPlacer *p, int count, const float *noise, MerRng *rng)
{
    MerTensor *shares = mer_placer_grouper_run(p->tape, &p->grouper, noise);
    for (int lane = 0; lane < count; lane++) {
        int *step_of = p->lanes.step_of + (int64_t)lane * p->graph.group_count;
        for (int i = 0; i < p->graph.order_count; i++) {
            step_of[p->graph.order[i]] =
                choose(shares->data + (int64_t)i * p->lanes.steps, p->lanes.steps, rng);
        }
    }
}

/* Fills lanes 0 .. count - 1 with placements of the policy. */
static void roll(MerPlacer *p, int count, bool is_greedy)
{
    MerRng      *rng = is_greedy || !p->now.is_sampled ? NULL : p->search->rng;
    int          units = p->graph.unit_count;
    const float *noise = is_greedy ? NULL : mer_placer_row_noise(p, count, count);
    mer_tape_reset(p->tape);
    mer_tape_record(p->tape, false);
    if (p->has_grouper) {
        form_clusters(p, count, is_greedy ? NULL : mer_placer_group_noise(p), rng);
    }
    mer_placer_lanes_begin(&p->lanes, count);
    MerPlacerRead read = mer_placer_read(p->tape, &p->net, mer_placer_inputs(p, count), count);
    for (int step = 0; step < p->lanes.steps; step++) {
        mer_placer_lanes_see(&p->lanes, step);
        MerPlacerRows rows = mer_placer_lanes_rows(&p->lanes, step);
        rows.noise = noise != NULL ? noise + (int64_t)step * count * units : NULL;
        MerTensor *shares = mer_placer_write(p->tape, &p->net, &read, step, 1, &rows);
        for (int lane = 0; lane < count; lane++) {
            p->lanes.unit[(int64_t)lane * p->lanes.steps + step] =
                choose(shares->data + (int64_t)lane * units, units, rng);
        }
        mer_placer_lanes_put(&p->lanes, step);
    }
    mer_tape_record(p->tape, true);
}

/* The last trial of a budget is the most likely placement of the policy that stays. */
static void plan_batch(MerPlacer *p)
{
    const MerPlacerOptions *o = &p->options;
    MerPlacerProgress      *now = &p->now;
    int64_t                 left = p->search->budget - now->told_in_all - 1;
    bool                    is_last = left == 0;
    now->lanes = (int32_t)(left < 0 || left > o->samples ? o->samples : left);
    now->has_greedy = is_last || (o->greedy_every > 0 && now->updates % o->greedy_every == 0 &&
                                  left > now->lanes);
    now->asked = now->told = 0;
    now->is_sampled = o->stop_sampling == 0 || now->updates < o->stop_sampling;
    now->noise = now->updates < o->stop_noise ? o->noise : 0;
    now->noise_seed = now->noise > 0 ? mer_rng_next(p->search->rng) : 0;
    if (is_last && now->has_kept) {
        copy_values(p->parameters, p->kept);
    }
    if (now->has_greedy) {
        roll(p, 1, true);
        mer_placer_copy_lane(p, greedy_slot(p), 0);
    }
    if (now->lanes > 0) {
        roll(p, now->lanes, false);
    }
}

static int batch_size(const MerPlacer *p)
{
    return p->now.lanes + p->now.has_greedy;
}

/* True if the networks cannot be trained, which is noted in the log. */
static bool is_failed(const MerPlacer *p)
{
    MerError error;
    if (mer_tape_status(p->tape, &error) == MER_OK) {
        return false;
    }
    mer_note_failure(p->search->notes, &error);
    return true;
}

int mer_placer_ask(void *state, MerProposal *proposals, int capacity)
{
    MerPlacer *p = state;
    if (p->now.told == batch_size(p)) {
        plan_batch(p);
    }
    if (is_failed(p) || mer_is_cancelled(p->search->notes)) {
        return 0;
    }
    int left = batch_size(p) - p->now.asked, count = left < capacity ? left : capacity;
    for (int i = 0; i < count; i++) {
        int lane = p->now.asked + i;
        mer_placer_lanes_point(&p->lanes, lane < p->now.lanes ? lane : greedy_slot(p),
                               proposals[i].point);
    }
    p->now.asked += count;
    return count;
}

static void offer_elite(MerPlacer *p, int lane, double score)
{
    if (score < p->now.elite) {
        p->now.elite = score;
        p->now.has_elite = true;
        mer_placer_copy_lane(p, mer_placer_elite_slot(p), lane);
    }
}

/* Another search's placement is a lesson too, where every group is a set of its own. */
static void offer_warm(MerPlacer *p, const MerTrial *trial)
{
    const MerPlacerGraph *g = &p->graph;
    int                  *unit = p->lanes.unit + (int64_t)mer_placer_elite_slot(p) * p->lanes.steps;
    if (p->has_grouper || !(trial->score < p->now.elite)) {
        return;
    }
    p->now.elite = trial->score;
    p->now.has_elite = true;
    for (int i = 0; i < g->order_count; i++) {
        int knob = g->knob[g->order[i]];
        unit[i] = (int)g->space->knobs[knob].values[trial->point[knob]];
    }
}

static void note_greedy(MerPlacer *p, const MerTrial *trial)
{
    char json[120];
    snprintf(json, sizeof json,
             isfinite(trial->score) ? "{\"updates\": %lld, \"trial\": %lld, \"score\": %.17g}"
                                    : "{\"updates\": %lld, \"trial\": %lld, \"score\": null}",
             (long long)p->now.updates, (long long)trial->index, trial->score);
    mer_note(p->search->notes, "greedy", json);
    if (p->kept != NULL && (!p->now.has_kept || trial->score < p->now.kept)) {
        p->now.kept = trial->score;
        p->now.has_kept = true;
        copy_values(p->kept, p->parameters);
    }
}

void mer_placer_tell(void *state, const MerTrial *trials, int count)
{
    MerPlacer *p = state;
    for (int i = 0; i < count; i++) {
        int lane = p->now.told;
        if (trials[i].warm) {
            offer_warm(p, &trials[i]);
            continue;
        }
        p->scores[lane] = trials[i].score;
        p->now.told++;
        p->now.told_in_all++;
        if (lane == p->now.lanes) {
            note_greedy(p, &trials[i]);
        }
    }
    if (p->now.told < batch_size(p) || p->now.lanes == 0) {
        return;
    }
    for (int lane = 0; lane < p->now.lanes; lane++) {
        offer_elite(p, lane, p->scores[lane]);
    }
    if (p->now.has_greedy) {
        offer_elite(p, greedy_slot(p), p->scores[p->now.lanes]);
    }
    if (p->now.updates < p->options.updates) {
        mer_placer_learn(p);
    }
}
