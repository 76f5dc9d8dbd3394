/* The closed-form loop-nest model (docs/loopnest-model.md; the class of Timeloop): tiles, traffic between
 * storage levels, energy and bandwidth-limited cycles. This is the plain version: every number is
 * computed from the plan, nothing is remembered between calls. */
#include "map/cost/loopnest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static MerNestMemory take_memory(const MerMemory *memory)
{
    MerNestMemory taken = {.name = memory->name,
                           .words = memory->words / memory->buffers,
                           .read_rate = memory->read_words_per_cycle,
                           .write_rate = memory->write_words_per_cycle,
                           .read_pj = memory->read_pj,
                           .write_pj = memory->write_pj,
                           .update_pj = memory->update_pj,
                           .fanout_x = memory->fanout.x,
                           .fanout_y = memory->fanout.y,
                           .fanout_pj = memory->fanout.pj_per_word};
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        taken.partition[t] = memory->partition_words[t] / memory->buffers;
    }
    return taken;
}

/* A window of two dims is at most as wide as the larger coefficient says; the rest of a factor 16 is
 * for the sums over tensors. */
static double exact_limit(const MerLayerShape *shape)
{
    double limit = 0x1p49;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        for (int s = 0; s < shape->tensors[t].slide_count; s++) {
            const int *coefficient = shape->tensors[t].slides[s].coefficient;
            limit /= coefficient[0] > coefficient[1] ? coefficient[0] : coefficient[1];
        }
    }
    return limit;
}

static void add_unused(MerNestModel *model, const char *key, const char *memory)
{
    size_t used = strlen(model->unused);
    snprintf(model->unused + used, sizeof model->unused - used, "%s%s of %s", used ? ", " : "", key,
             memory);
}

/* What the platform says and the model has no place for: the network's rate and delay, words of other widths. */
static void list_unused(const MerPlatform *platform, MerNestModel *model)
{
    for (int m = 0; m < platform->memory_count; m++) {
        const MerMemory *memory = &platform->memories[m];
        if (memory->fanout.words_per_cycle != memory->read_words_per_cycle) {
            add_unused(model, "fanout.words_per_cycle", memory->name);
        }
        if (memory->fanout.latency_cycles > 0) {
            add_unused(model, "fanout.latency_cycles", memory->name);
        }
        if (memory->word_bits != platform->memories[0].word_bits) {
            add_unused(model, "word_bits", memory->name);
        }
    }
}

MerStatus mer_nest_model_make(const MerOp *op, const MerPlatform *platform, MerNestModel *model,
                              MerError *error)
{
    *model = (MerNestModel){.repeat = (double)op->repeat};
    if (platform->kind != MER_PLATFORM_PE_ARRAY) {
        return mer_error_set(error, MER_UNSUPPORTED, "loopnest prices pe-array platforms, %s is %s",
                             platform->name, mer_platform_kind_name(platform->kind));
    }
    if (platform->memory_count > MER_NEST_MAX_LEVELS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "loopnest takes at most %d memories, %s has %d", MER_NEST_MAX_LEVELS,
                             platform->name, platform->memory_count);
    }
    model->level_count = platform->memory_count;
    model->peak_macs = platform->units[0].lanes;
    for (int m = 0; m < platform->memory_count; m++) {
        model->memories[platform->memory_count - 1 - m] = take_memory(&platform->memories[m]);
        model->peak_macs *= (double)platform->memories[m].fanout.x * platform->memories[m].fanout.y;
    }
    model->lanes = platform->units[0].lanes;
    model->mac_pj = platform->units[0].mac_pj;
    model->clock_hz = platform->clock_hz;
    list_unused(platform, model);
    model->word_bytes = platform->memories[0].word_bits / 8.0;
    MerStatus status = mer_layer_shape_make(op, &model->shape, error);
    model->exact_macs = exact_limit(&model->shape);
    return status;
}

void mer_nest_unfold_tiles(const MerNestModel *model, const MerNestPlan *plan, MerNestLoops *loops)
{
    const MerLayerShape *shape = &model->shape;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        loops->tile[0][d] = 1;
    }
    for (int l = 0; l < model->level_count; l++) {
        const MerNestLevel *level = &plan->levels[l];
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            double spatial = (double)level->x[d] * level->y[d];
            loops->spatial[l][d] = spatial;
            loops->tile[l + 1][d] = loops->tile[l][d] * spatial * level->temporal[d];
        }
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            loops->footprint[l][t] = mer_layer_footprint(shape, t, loops->tile[l + 1]);
        }
    }
}

/* Loops of one trip are written too and then overwritten: which loops have more is anybody's guess,
 * and a wrong guess of the processor costs more than a few words. */
static int unfold_level(const MerNestLevel *level, int l, int count, MerNestLoops *loops)
{
    loops->start[l] = count;
    for (int i = MER_DIM_COUNT - 1; i >= 0; i--) {
        int d = level->order[i];
        loops->dim[count] = d;
        loops->trips[count] = level->temporal[d];
        loops->inside[count] = loops->tile[l][d] * loops->spatial[l][d];
        count += level->temporal[d] > 1;
    }
    return count;
}

static void unfold_order(const MerNestModel *model, const MerNestPlan *plan, MerNestLoops *loops)
{
    int count = 0;
    for (int l = 0; l < model->level_count; l++) {
        count = unfold_level(&plan->levels[l], l, count, loops);
    }
    loops->start[model->level_count] = count;
    loops->loop_count = count;
    loops->outward[count] = 1;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        loops->moves[count][t] = 1;
    }
    int i = count - 1;
    for (; i >= loops->start[1]; i--) {
        double outward = loops->outward[i + 1] * loops->trips[i];
        loops->outward[i] = outward;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            bool does_move = model->shape.tensors[t].relevant >> loops->dim[i] & 1;
            loops->moves[i][t] = does_move ? outward : loops->moves[i + 1][t];
        }
    }
    for (; i >= 0; i--) { /* nothing is stored inside the innermost level */
        loops->outward[i] = loops->outward[i + 1] * loops->trips[i];
    }
}

void mer_nest_unfold_loops(const MerNestModel *model, const MerNestPlan *plan, MerNestLoops *loops)
{
    const MerLayerShape *shape = &model->shape;
    unfold_order(model, plan, loops);
    int outermost = model->level_count;
    loops->instances[outermost] = 1;
    loops->reductions[outermost] = 1;
    for (int l = model->level_count - 1; l >= 0; l--) {
        double instances = loops->instances[l + 1];
        double reductions = loops->reductions[l + 1];
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            instances *= loops->spatial[l][d];
            reductions *= shape->reduction >> d & 1 ? loops->spatial[l][d] : 1;
        }
        loops->instances[l] = instances;
        loops->reductions[l] = reductions;
    }
}

/* A number as "%.0f" writes it, cut off at `end`. */
static char *write_count(char *at, const char *end, double count)
{
    char  text[400];
    char *first = text + sizeof text;
    if (count >= 0 && count < 0x1p53 && count == (double)(int64_t)count) {
        int64_t rest = (int64_t)count;
        do {
            *--first = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
    } else {
        int length = snprintf(text, sizeof text, "%.0f", count);
        first = memmove(text + sizeof text - length, text, (size_t)length);
    }
    while (first < text + sizeof text && at < end) {
        *at++ = *first++;
    }
    return at;
}

/* Reasons are written often in a search, and printf takes longer than the model. `pieces` stand before,
 * between and after the two numbers. */
static void refuse(MerCost *cost, const char *const pieces[6], double need, double has)
{
    char       *at = cost->reason;
    const char *end = at + sizeof cost->reason - 1;
    for (int i = 0; i < 6; i++) {
        for (const char *from = pieces[i]; *from && at < end; from++) {
            *at++ = *from;
        }
        if (i == 2 || i == 4) {
            at = write_count(at, end, i == 2 ? need : has);
        }
    }
    *at = '\0';
    cost->feasible = false;
    cost->excess = need > 0 && has > 0 ? need / has : INFINITY;
}

static bool covers(const MerNestModel *model, const MerNestLoops *loops, MerCost *cost)
{
    const MerLayerShape *shape = &model->shape;
    const double        *whole = loops->tile[model->level_count];
    for (int i = 0; i < shape->dim_count; i++) {
        int d = shape->dims[i];
        if (whole[d] < shape->size[d]) {
            const char letter[] = {MER_DIM_LETTERS[d], '\0'};
            refuse(cost,
                   (const char *[]){"coverage: the loops over ", letter, " run ", " of ", "",
                                    " times"},
                   whole[d], shape->size[d]);
            cost->excess = INFINITY; /* too little is no near miss */
            return false;
        }
    }
    return true;
}

static bool fits_axis(const MerNestMemory *memory, const char *axis, const MerLayerShape *shape,
                      const int *factors, int limit, MerCost *cost)
{
    double used = 1;
    for (int i = 0; i < shape->dim_count; i++) {
        used *= factors[shape->dims[i]];
    }
    if (used > limit) {
        refuse(cost,
               (const char *[]){"fan-out: ", memory->name, " needs ", " instances on ", axis, ""},
               used, limit);
        return false;
    }
    return true;
}

static bool fits_axes(const MerNestModel *model, const MerNestPlan *plan, MerCost *cost)
{
    const MerLayerShape *shape = &model->shape;
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        const MerNestLevel  *level = &plan->levels[l];
        if (!fits_axis(memory, "x, has ", shape, level->x, memory->fanout_x, cost) ||
            !fits_axis(memory, "y, has ", shape, level->y, memory->fanout_y, cost)) {
            return false;
        }
        for (int i = 0; model->exclusive_axes && i < shape->dim_count; i++) {
            int d = shape->dims[i];
            if (level->x[d] > 1 && level->y[d] > 1) {
                mer_cost_refuse(cost,
                                "fan-out: %c is on both axes below %s, axes=exclusive allows one",
                                MER_DIM_LETTERS[d], memory->name);
                return false;
            }
        }
    }
    return true;
}

static bool fits_capacity(const MerNestModel *model, const MerNestPlan *plan,
                          const MerNestLoops *loops, MerCost *cost)
{
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        double               need = 0;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (!(plan->levels[l].keep >> t & 1)) {
                continue;
            }
            double words = loops->footprint[l][t];
            if (words > memory->partition[t]) {
                const char letter[] = {MER_TENSOR_LETTERS[t], ',', ' ', 'h', 'a', 's', ' ', '\0'};
                refuse(cost,
                       (const char *[]){"capacity: ", memory->name, " needs ", " words of ", letter,
                                        ""},
                       words, memory->partition[t]);
                return false;
            }
            need += words;
        }
        if (need > memory->words) {
            refuse(cost,
                   (const char *[]){"capacity: ", memory->name, " needs ", " words", ", has ", ""},
                   need, memory->words);
            return false;
        }
    }
    return true;
}

bool mer_nest_fits(const MerNestModel *model, const MerNestPlan *plan, const MerNestLoops *loops,
                   MerCost *cost)
{
    return covers(model, loops, cost) && fits_axes(model, plan, cost) &&
           fits_capacity(model, plan, loops, cost);
}

static void slower(double candidate, const char *name, double *cycles, const char **binding)
{
    if (candidate > *cycles) {
        *cycles = candidate;
        if (binding) {
            *binding = name;
        }
    }
}

void mer_nest_price(const MerNestModel *model, const MerNestLoops *loops,
                    const MerNestAccess *access, double *cycles, double *energy,
                    const char **binding)
{
    double macs = loops->outward[0] * loops->instances[0]; /* padded loops included */
    *energy = macs * model->mac_pj;
    *cycles = 0;
    slower(loops->outward[0] / model->lanes, "compute", cycles, binding);
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        double               reads = 0;
        double               fills = 0;
        double               updates = 0;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            reads += access->reads[l][t];
            fills += access->fills[l][t];
            updates += access->updates[l][t];
        }
        double instances = loops->instances[l + 1];
        slower(reads / (instances * memory->read_rate), memory->name, cycles, binding);
        slower((fills + updates) / (instances * memory->write_rate), memory->name, cycles, binding);
        *energy += reads * memory->read_pj + fills * memory->write_pj +
                   updates * memory->update_pj + access->network[l] * memory->fanout_pj;
    }
}
