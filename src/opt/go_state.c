/* Policies of `go`, saved and loaded, and the whole state of a search. */
#include "opt/go_state.h"

#include "base/stream.h"

#include <string.h>

/* What the parameters' shapes and meaning depend on. */
static void describe(const MerGoShape *s, char line[MER_GO_LINE])
{
    snprintf(
        line, MER_GO_LINE,
        "go-policy/1 hidden=%d embedding=%d layers=%d heads=%d feed_forward=%d kind_width=%d "
        "max_devices=%d max_levels=%d attention=%d modulation=%d start=%d positions=%d pairs=%d",
        s->net.width, s->net.embeddings, s->net.layers, s->net.heads, s->net.feed_forward,
        s->kind_width, s->max_units, s->max_levels, s->net.has_attention, s->net.is_modulated,
        s->has_start, s->has_positions, s->has_pairs);
}

static MerStatus keep_policy(MerGoState *s, MerStream *stream, MerError *error)
{
    char line[MER_GO_LINE], found[MER_GO_LINE];
    describe(&s->policy.shape, line);
    if (stream->is_saving) {
        fprintf(stream->file, "%s\n", line);
    } else {
        if (fgets(found, sizeof found, stream->file) == NULL) {
            return mer_error_set(error, MER_INVALID, "found the end, expected \"%s\"", line);
        }
        found[strcspn(found, "\n")] = '\0';
        if (strcmp(found, line) != 0) {
            return mer_error_set(error, MER_INVALID,
                                 "the policy is of another network: found \"%.300s\", expected "
                                 "\"%s\"",
                                 found, line);
        }
    }
    mer_stream_bytes(stream, &s->learned_on, sizeof s->learned_on, 1);
    MER_TRY(mer_parameters_keep(s->policy.parameters, stream, "policy", error));
    mer_go_meet(s);
    return mer_stream_status(stream, "the policy of go", error);
}

static void keep_batch(const MerGoGraph *g, MerGoBatch *b, MerStream *stream)
{
    int64_t count = b->capacity, ops = g->op_count, groups = g->group_count;
    b->count = (int)mer_stream_int(stream, b->count, 0, b->capacity);
    b->improved = (int)mer_stream_int(stream, b->improved, 0, b->count);
    b->plain = (int)mer_stream_int(stream, b->plain, 0, b->capacity);
    mer_stream_bytes(stream, b->cuts, sizeof *b->cuts, count * (g->unit_count - 1));
    mer_stream_bytes(stream, b->cuts_old, sizeof *b->cuts_old, count * (g->unit_count - 1));
    mer_stream_bytes(stream, b->rules, sizeof *b->rules, count * MER_GO_TASKS);
    mer_stream_bytes(stream, b->rules_old, sizeof *b->rules_old, count * MER_GO_TASKS);
    mer_stream_bytes(stream, b->units, sizeof *b->units, count * (b->rounds + 1) * groups);
    mer_stream_bytes(stream, b->units_old, sizeof *b->units_old, count * b->rounds * groups);
    mer_stream_bytes(stream, b->best, sizeof *b->best, groups);
    mer_stream_bytes(stream, b->scores, sizeof *b->scores, count);
    for (int t = 0; t < MER_GO_TASKS && b->levels[t] != NULL; t++) {
        mer_stream_bytes(stream, b->levels[t], sizeof *b->levels[t], count * ops);
        mer_stream_bytes(stream, b->first_levels[t], sizeof *b->first_levels[t], count * ops);
        mer_stream_bytes(stream, b->levels_old[t], sizeof *b->levels_old[t], count * ops);
        mer_stream_bytes(stream, b->best_levels[t], sizeof *b->best_levels[t], ops);
    }
}

static bool is_within(const int *values, int64_t count, int below)
{
    for (int64_t i = 0; i < count; i++) {
        if (values[i] < 0 || values[i] >= below) {
            return false;
        }
    }
    return true;
}

/* Decisions are indices when they are learned from. */
static bool is_sound_batch(const MerGoGraph *g, const MerGoBatch *b)
{
    int64_t count = b->capacity, groups = g->group_count, ops = g->op_count;
    bool    is_sound = is_within(b->cuts, count * (g->unit_count - 1), g->group_count + 1) &&
                    is_within(b->rules, count * MER_GO_TASKS, MER_GO_RULES) &&
                    is_within(b->units, count * (b->rounds + 1) * groups, g->unit_count) &&
                    is_within(b->best, groups, g->unit_count);
    for (int t = 0; t < MER_GO_TASKS && is_sound; t++) {
        is_sound =
            b->levels[t] == NULL || (is_within(b->levels[t], count * ops, g->levels[t]) &&
                                     is_within(b->first_levels[t], count * ops, g->levels[t]) &&
                                     is_within(b->best_levels[t], ops, g->levels[t]));
    }
    return is_sound;
}

static bool is_sound(const MerGoState *s)
{
    const MerGoProgress *now = &s->now;
    bool                 has_flags = mer_is_flag(&now->is_ready) && mer_is_flag(&now->has_greedy) &&
                     mer_is_flag(&now->is_last) && mer_is_flag(&now->is_done) &&
                     mer_is_flag(&now->is_best_plain);
    return has_flags && now->done >= 0 && now->updates >= 0 && now->samples >= 0 &&
           now->samples <= s->batch.capacity && now->asked == now->told && now->told >= 0 &&
           now->told <= now->samples + now->has_greedy && is_sound_batch(&s->graph, &s->batch) &&
           is_sound_batch(&s->graph, &s->greedy);
}

static MerStatus keep_all(MerGoState *s, MerStream *stream, MerError *error)
{
    MER_TRY(keep_policy(s, stream, error));
    MER_TRY(
        mer_parameters_keep(mer_updater_memory(s->updater), stream, "saved state of go", error));
    mer_stream_bytes(stream, s->kept, sizeof *s->kept, mer_go_policy_size(&s->policy));
    mer_stream_bytes(stream, &s->now, sizeof s->now, 1);
    keep_batch(&s->graph, &s->batch, stream);
    keep_batch(&s->graph, &s->greedy, stream);
    stream->is_broken = stream->is_broken || (!stream->is_saving && !is_sound(s));
    return mer_stream_status(stream, "the saved state of go", error);
}

static MerStatus keep(MerGoState *s, MerKeep what, MerStream *stream, MerError *error)
{
    return what == MER_KEEP_ALL ? keep_all(s, stream, error) : keep_policy(s, stream, error);
}

MerStatus mer_go_save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    return keep((MerGoState *)state, what, &stream, error); /* saving changes nothing */
}

MerStatus mer_go_load(void *state, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    return keep(state, what, &stream, error);
}
