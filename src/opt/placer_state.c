/* What a placing policy keeps: its network for other graphs, or everything that going on later needs. */
#include "base/stream.h"
#include "opt/placer.h"

static bool has_flags(const MerPlacerProgress *now)
{
    return mer_is_flag(&now->has_greedy) && mer_is_flag(&now->has_baseline) &&
           mer_is_flag(&now->has_elite) && mer_is_flag(&now->has_kept) &&
           mer_is_flag(&now->is_sampled) && mer_is_flag(&now->is_given);
}

/* Nothing that was read may lead outside of what there is. A state is saved when all that was asked for is told. */
static bool is_sound(const MerPlacer *p)
{
    const MerPlacerProgress *now = &p->now;
    const MerPlacerGraph    *g = &p->graph;
    bool is_counted = now->lanes >= 0 && now->lanes <= p->options.samples && now->told >= 0 &&
                      now->asked == now->told && now->updates >= 0 && now->told_in_all >= 0 &&
                      now->start >= 0 && now->start <= now->told_in_all && now->alike >= 0 &&
                      now->alike <= now->updates && now->updates <= INT64_MAX / 4 &&
                      now->told_in_all <= INT64_MAX / 4;
    bool is_right = has_flags(now) && is_counted && now->told <= now->lanes + now->has_greedy &&
                    (!now->has_kept || p->kept != NULL) &&
                    (now->noise == 0 || now->noise == p->options.noise);
    for (int lane = 0; lane < p->lanes.capacity && is_right; lane++) {
        const int *step_of = p->lanes.step_of + (int64_t)lane * g->group_count;
        const int *unit = p->lanes.unit + (int64_t)lane * p->lanes.steps;
        for (int i = 0; i < g->order_count && is_right; i++) {
            is_right = step_of[g->order[i]] >= 0 && step_of[g->order[i]] < p->lanes.steps;
        }
        for (int s = 0; s < p->lanes.steps && is_right; s++) {
            is_right = unit[s] >= 0 && unit[s] < g->unit_count;
        }
    }
    return is_right;
}

static MerStatus keep_all(MerPlacer *p, MerStream *stream, const char *what, MerError *error)
{
    int64_t capacity = p->lanes.capacity;
    MER_TRY(mer_parameters_keep(p->parameters, stream, what, error));
    MER_TRY(mer_parameters_keep(mer_updater_memory(p->updater), stream, what, error));
    if (p->kept != NULL) {
        MER_TRY(mer_parameters_keep(p->kept, stream, what, error));
    }
    mer_stream_bytes(stream, &p->now, sizeof p->now, 1);
    mer_stream_bytes(stream, p->scores, sizeof *p->scores, p->options.samples + 1);
    mer_stream_bytes(stream, p->lanes.step_of, sizeof *p->lanes.step_of,
                     capacity * p->graph.group_count);
    mer_stream_bytes(stream, p->lanes.unit, sizeof *p->lanes.unit, capacity * p->lanes.steps);
    stream->is_broken = stream->is_broken || (!stream->is_saving && !is_sound(p));
    return mer_stream_status(stream, what, error);
}

MerStatus mer_placer_save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    MerPlacer *p = (MerPlacer *)state; /* saving changes nothing */
    MerStream  stream = {.file = file, .is_saving = true};
    return what == MER_KEEP_POLICY ? mer_parameters_save(p->parameters, file, error)
                                   : keep_all(p, &stream, "the policy's state", error);
}

MerStatus mer_placer_load(void *state, MerKeep what, FILE *file, MerError *error)
{
    MerPlacer *p = state;
    MerStream  stream = {.file = file};
    if (what == MER_KEEP_ALL) {
        return keep_all(p, &stream, "the policy's saved state", error);
    }
    MerError  why = {0};
    MerStatus status = mer_parameters_load(p->parameters, file, "policy", &why);
    p->now.is_given = status == MER_OK;
    return status == MER_OK ? MER_OK
                            : mer_error_set(error, status,
                                            "%s; a policy fits networks of the same options on as "
                                            "many units, here %d",
                                            why.message, p->graph.unit_count);
}
