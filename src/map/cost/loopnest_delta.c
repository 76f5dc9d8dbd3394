/* Local moves of the loop-nest model (docs/loopnest-model.md, "Batches and local moves"). The formulas are
 * those of loopnest_traffic.c; counts are whole numbers below 2^53 (or the plain version takes over), so
 * that the order of multiplication does not matter, and energies are summed in the order of
 * mer_nest_price. */
#include "map/cost/loopnest_delta.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static double footprint_of(const MerTensorShape *tensor, const double *tile)
{
    double words = 1;
    for (int i = 0; i < tensor->plain_count; i++) {
        words *= tile[tensor->plain_dims[i]];
    }
    for (int s = 0; s < tensor->slide_count; s++) {
        const MerSlide *slide = &tensor->slides[s];
        words *= 1 + slide->coefficient[0] * (tile[slide->dim[0]] - 1) +
                 slide->coefficient[1] * (tile[slide->dim[1]] - 1);
    }
    return words;
}

/* bit masks of levels: whose loops, and whose tiles, are no longer the same */
typedef struct Changed {
    unsigned loops, tiles;
} Changed;

/* Tiles of one dim, from the innermost level outwards. */
static void set_factors(MerNestDelta *delta, const MerNestPlan *plan, int d, Changed *changed)
{
    double inside = 1;
    for (int l = 0; l < delta->model->level_count; l++) {
        MerNestDeltaLevel  *level = &delta->levels[l];
        const MerNestLevel *from = &plan->levels[l];
        double              tile;
        level->spatial[d] = (double)from->x[d] * from->y[d];
        level->array[d] = inside * level->spatial[d];
        tile = level->array[d] * from->temporal[d];
        changed->loops |= (unsigned)(level->temporal[d] != from->temporal[d]) << l;
        changed->tiles |= (unsigned)(level->tile[d] != tile) << l;
        level->temporal[d] = from->temporal[d];
        level->tile[d] = inside = tile;
    }
}

static bool fits_axes(MerNestDelta *delta, const MerNestPlan *plan, int l)
{
    const MerNestModel  *model = delta->model;
    const MerLayerShape *shape = &model->shape;
    MerNestDeltaLevel   *level = &delta->levels[l];
    bool   has_fanout = model->memories[l].fanout_x > 1 || model->memories[l].fanout_y > 1;
    double x = 1;
    double y = 1;
    level->copies = level->reductions = 1;
    for (int i = 0; !has_fanout && i < shape->dim_count; i++) {
        if (level->spatial[shape->dims[i]] > 1) {
            return false;
        }
    }
    for (int i = 0; has_fanout && i < shape->dim_count; i++) {
        int d = shape->dims[i];
        x *= plan->levels[l].x[d];
        y *= plan->levels[l].y[d];
        level->reductions *= shape->reduction >> d & 1 ? level->spatial[d] : 1;
        if (model->exclusive_axes && plan->levels[l].x[d] > 1 && plan->levels[l].y[d] > 1) {
            return false;
        }
    }
    level->copies = x * y;
    return x <= model->memories[l].fanout_x && y <= model->memories[l].fanout_y;
}

static bool fits_capacity(MerNestDelta *delta, int l, unsigned dims)
{
    const MerNestMemory *memory = &delta->model->memories[l];
    MerNestDeltaLevel   *level = &delta->levels[l];
    double               need = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        const MerTensorShape *tensor = &delta->model->shape.tensors[t];
        if (tensor->relevant & dims) {
            level->footprint[t] = footprint_of(tensor, level->tile);
        }
        if (level->keep >> t & 1) {
            need += level->footprint[t];
            if (level->footprint[t] > memory->partition[t]) {
                return false;
            }
        }
    }
    return need <= memory->words;
}

static bool fits(MerNestDelta *delta, const MerNestPlan *plan, unsigned dims, Changed *changed)
{
    const MerNestModel *model = delta->model;
    for (int i = 0; i < model->shape.dim_count; i++) {
        int d = model->shape.dims[i];
        if (dims >> d & 1) {
            set_factors(delta, plan, d, changed);
            if (delta->levels[model->level_count - 1].tile[d] < model->shape.size[d]) {
                return false;
            }
        }
    }
    for (int l = 0; l < model->level_count; l++) {
        bool same_tile = !(changed->tiles >> l & 1);
        if (!fits_axes(delta, plan, l) || !(same_tile || fits_capacity(delta, l, dims))) {
            return false;
        }
    }
    return true;
}

static void set_loops(MerNestDeltaLevel *level, const MerNestLevel *from)
{
    int count = 0;
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        int d = from->order[i];
        level->dim[count] = d;
        level->trips[count] = from->temporal[d];
        count += from->temporal[d] > 1;
    }
    level->loop_count = count;
}

/* The loops of a level added to those outside it (NULL: none). */
static void add_outside(const MerLayerShape *shape, const MerNestDeltaLevel *outer,
                        MerNestDeltaLevel *level)
{
    double outward = outer ? outer->outward : 1;
    double moves[MER_TENSOR_COUNT];
    int    last = level->loop_count - 1;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        moves[t] = outer ? outer->moves[t] : 1;
    }
    level->first_rest = outer ? outer->first_rest : 1;
    level->first_dim = outer ? outer->first_dim : -1;
    level->first_trips = outer ? outer->first_trips : 1;
    level->first_inside = outer ? outer->first_inside : 1;
    for (int i = 0; i <= last; i++) {
        level->first_rest = outward;
        outward *= level->trips[i];
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            moves[t] = shape->tensors[t].relevant >> level->dim[i] & 1 ? outward : moves[t];
        }
    }
    if (last >= 0) {
        level->first_dim = level->dim[last];
        level->first_trips = level->trips[last];
        level->first_inside = level->array[level->dim[last]];
    }
    level->outward = outward;
    memcpy(level->moves, moves, sizeof moves);
}

/* docs/loopnest-model.md, "Traffic": what the loops from `level` outwards bring in, `footprint` words of
 * `tile` at a time. */
static double traffic(const MerTensorShape *tensor, const MerNestDeltaLevel *level, int t,
                      double footprint, const double *tile)
{
    for (int s = 0; s < tensor->slide_count; s++) {
        const MerSlide *slide = &tensor->slides[s];
        for (int side = 0; side < 2; side++) {
            if (slide->dim[side] == level->first_dim) {
                double height = 1 + slide->coefficient[0] * (tile[slide->dim[0]] - 1) +
                                slide->coefficient[1] * (tile[slide->dim[1]] - 1);
                double shift = slide->coefficient[side] * level->first_inside;
                double delta = shift < height ? footprint / height * shift : footprint;
                return (footprint + (level->first_trips - 1) * delta) * level->first_rest;
            }
        }
    }
    return footprint * level->moves[t];
}

/* Words that the children of `parent` hold together; as joint_footprint of loopnest_traffic.c. They are
 * neighbours unless there is a level between that does not keep the tensor. */
static double joint_footprint(const MerNestDelta *delta, int t, int child, int parent,
                              double *capacity, const double **joint_tile)
{
    if (child + 1 == parent) {
        *joint_tile = delta->levels[parent].array;
        return footprint_of(&delta->model->shape.tensors[t], *joint_tile);
    }
    double *tile = capacity;
    *joint_tile = capacity;
    const MerLayerShape  *shape = &delta->model->shape;
    const MerTensorShape *tensor = &shape->tensors[t];
    double                copies = 1;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        tile[d] = child < 0 ? 1 : delta->levels[child].tile[d];
    }
    for (int l = child + 1; l <= parent; l++) {
        const MerNestDeltaLevel *level = &delta->levels[l];
        for (int i = 0; level->copies > 1 && i < shape->dim_count; i++) {
            int    d = shape->dims[i];
            double inside = l > 0 ? delta->levels[l - 1].tile[d] : 1;
            bool   is_apart = !(tensor->plain >> d & 1) && inside != tile[d];
            copies *= is_apart && (tensor->relevant >> d & 1) ? level->spatial[d] : 1;
            tile[d] *= is_apart ? 1 : level->spatial[d];
        }
    }
    return copies * footprint_of(tensor, tile);
}

typedef struct Access { /* words of one level, tensors summed up */
    double reads, fills, updates;
} Access;

static void count_pair(const MerNestDelta *delta, const double *instances, const double *reductions,
                       int t, int child, int parent, Access *access)
{
    const MerTensorShape *tensor = &delta->model->shape.tensors[t];
    double                whole =
        t == MER_TENSOR_O ? delta->levels[delta->model->level_count - 1].footprint[t] : 0;
    bool          is_spread = false;
    double        capacity[MER_DIM_COUNT];
    const double *joint_tile;
    double        down;
    for (int l = child + 1; l <= parent; l++) {
        is_spread |= delta->levels[l].copies > 1;
    }
    if (child < 0) {
        double joint =
            is_spread ? joint_footprint(delta, t, child, parent, capacity, &joint_tile) : 1;
        down = joint * delta->levels[0].outward * instances[parent + 1];
    } else {
        const MerNestDeltaLevel *inner = &delta->levels[child];
        const MerNestDeltaLevel *outside = &delta->levels[child + 1];
        double filled = traffic(tensor, outside, t, inner->footprint[t], inner->tile);
        double sent = filled;
        if (is_spread) {
            double joint = joint_footprint(delta, t, child, parent, capacity, &joint_tile);
            sent = traffic(tensor, outside, t, joint, joint_tile);
        }
        down = sent * instances[parent + 1];
        access[child].fills +=
            fmax(0, filled * instances[child + 1] - whole * reductions[child + 1]);
    }
    access[parent].reads += fmax(0, down - whole * reductions[parent + 1]);
    access[parent].updates += t == MER_TENSOR_O ? down : 0;
}

static void price(MerNestDelta *delta)
{
    const MerNestModel *model = delta->model;
    Access              access[MER_NEST_MAX_LEVELS];
    double              instances[MER_NEST_MAX_LEVELS + 1];
    double              reductions[MER_NEST_MAX_LEVELS + 1];
    int                 count = model->level_count;
    instances[count] = reductions[count] = 1;
    for (int l = count - 1; l >= 0; l--) {
        instances[l] = instances[l + 1] * delta->levels[l].copies;
        reductions[l] = reductions[l + 1] * delta->levels[l].reductions;
        access[l] = (Access){0, 0, 0};
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int child = -1;
        for (int l = 0; l < count; l++) {
            if (delta->levels[l].keep >> t & 1) {
                count_pair(delta, instances, reductions, t, child, l, access);
                child = l;
            }
        }
    }
    double energy = delta->levels[0].outward * instances[0] * model->mac_pj;
    double cycles = delta->levels[0].outward / model->lanes;
    for (int l = 0; l < count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        double               read_cycles = access[l].reads / (instances[l + 1] * memory->read_rate);
        double               write_cycles =
            (access[l].fills + access[l].updates) / (instances[l + 1] * memory->write_rate);
        cycles = read_cycles > cycles ? read_cycles : cycles;
        cycles = write_cycles > cycles ? write_cycles : cycles;
        energy += access[l].reads * memory->read_pj + access[l].fills * memory->write_pj +
                  access[l].updates * memory->update_pj +
                  (access[l].reads + access[l].updates) * memory->fanout_pj;
    }
    delta->cycles = cycles;
    delta->energy = energy;
}

static void price_plain(MerNestDelta *delta, const MerNestPlan *plan)
{
    MerNestLoops  loops;
    MerNestAccess access;
    mer_nest_unfold(delta->model, plan, &loops);
    mer_nest_count(delta->model, plan, &loops, &access);
    mer_nest_price(delta->model, &loops, &access, &delta->cycles, &delta->energy, NULL);
}

void mer_nest_delta_move(MerNestDelta *delta, const MerNestPlan *plan, unsigned dims,
                         unsigned levels)
{
    const MerNestModel *model = delta->model;
    Changed             changed = {levels | delta->late_loops, delta->late_tiles};
    dims |= delta->late_dims;
    delta->is_feasible = dims == 0 || fits(delta, plan, dims, &changed);
    delta->late_dims = delta->is_feasible ? 0 : dims;
    delta->late_loops = delta->is_feasible ? 0 : changed.loops;
    delta->late_tiles = delta->is_feasible ? 0 : changed.tiles;
    if (!delta->is_feasible) {
        return;
    }
    bool is_changed = dims != 0; /* a level changes what stands around all inside it */
    for (int l = model->level_count - 1; l >= 0; l--) {
        MerNestDeltaLevel *level = &delta->levels[l];
        if (changed.loops >> l & 1) {
            set_loops(level, &plan->levels[l]);
            is_changed = true;
        }
        if (is_changed) {
            add_outside(&model->shape, l + 1 < model->level_count ? level + 1 : NULL, level);
        }
    }
    double units = 1;
    for (int l = 0; l < model->level_count; l++) {
        units *= delta->levels[l].copies;
    }
    if (delta->levels[0].outward * units < model->exact_macs) {
        price(delta);
    } else {
        price_plain(delta, plan);
    }
}

bool mer_nest_delta_start(MerNestDelta *delta, const MerNestModel *model, const MerNestPlan *plan)
{
    if (model->halo != MER_HALO_SHARED || model->ramp) {
        return false;
    }
    delta->model = model;
    delta->late_dims = delta->late_loops = delta->late_tiles = 0;
    for (int l = 0; l < model->level_count; l++) {
        MerNestDeltaLevel *level = &delta->levels[l];
        level->keep = plan->levels[l].keep;
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            level->tile[d] = level->array[d] = level->spatial[d] = level->temporal[d] = 1;
        }
        for (int t = 0; t < MER_TENSOR_COUNT; t++) { /* of tensors that no dim moves */
            level->footprint[t] = 1;
        }
    }
    delta->late_tiles = ~0u;
    mer_nest_delta_move(delta, plan, ~0u, ~0u);
    return true;
}

void mer_nest_delta_copy(MerNestDelta *to, const MerNestDelta *from)
{
    size_t used = (size_t)from->model->level_count * sizeof from->levels[0];
    memcpy(to, from, offsetof(MerNestDelta, levels) + used);
}
