/* Writing loop nests: one line, indented loops, and JSON. Reading is in nest_read.c. */
#include "map/nest/nest_format.h"

#include "layer/op_format.h"
#include "map/nest/nest.h"

#include <stdio.h>
#include <string.h>

const char *const mer_nest_place_keys[] = {"temporal", "x", "y"};

static bool has_factors(const int *factors)
{
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (factors[d] > 1) {
            return true;
        }
    }
    return false;
}

/* "K4 X4", in the given order of dims (NULL: as they come). */
static const char *factor_text(const int *factors, const int *order, MerArena *arena)
{
    const char *text = "";
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        int d = order ? order[i] : i;
        if (factors[d] > 1) {
            text = mer_arena_format(arena, "%s%s%c%d", text, *text ? " " : "", MER_DIM_LETTERS[d],
                                    factors[d]);
        }
    }
    return text;
}

const char *mer_nest_tensors_text(unsigned tensors, const char *before, MerArena *arena)
{
    const char *text = "";
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        if (tensors >> t & 1) {
            text = mer_arena_format(arena, "%s%s%c", text, before, MER_TENSOR_LETTERS[t]);
        }
    }
    return text;
}

/* "" for all tensors, else "[WO]". */
static const char *kept_text(unsigned keep, MerArena *arena)
{
    bool keeps_all = keep == (1u << MER_TENSOR_COUNT) - 1;
    return keeps_all ? "" : mer_arena_format(arena, "[%s]", mer_nest_tensors_text(keep, "", arena));
}

const char *mer_nest_line(const MerNestPlan *plan, const MerPlatform *platform, MerArena *arena)
{
    const char *line = "";
    for (int l = plan->level_count - 1; l >= 0; l--) {
        const MerNestLevel *level = &plan->levels[l];
        const char         *loops = factor_text(level->temporal, level->order, arena);
        line = mer_arena_format(arena, "%s%s%s%s:%s%s", line, *line ? " | " : "",
                                mer_nest_memory(platform, l)->name, kept_text(level->keep, arena),
                                *loops ? " " : "", loops);
        if (has_factors(level->x) || has_factors(level->y)) {
            line = mer_arena_format(arena, "%s | X: %s Y: %s", line,
                                    factor_text(level->x, NULL, arena),
                                    factor_text(level->y, NULL, arena));
        }
    }
    return line;
}

const char *mer_nest_print(const MerNestPlan *plan, const MerPlatform *platform, MerArena *arena)
{
    const char *text = "";
    int         depth = 0;
    for (int l = plan->level_count - 1; l >= 0; l--) {
        const MerNestLevel *level = &plan->levels[l];
        text = mer_arena_format(arena, "%s%s [%s ]\n", text, mer_nest_memory(platform, l)->name,
                                mer_nest_tensors_text(level->keep, " ", arena));
        for (int i = 0; i < MER_DIM_COUNT; i++) {
            int d = level->order[i];
            if (level->temporal[d] > 1) {
                text = mer_arena_format(arena, "%s%*sfor %c in 0..%d\n", text, 2 * ++depth, "",
                                        MER_DIM_LETTERS[d], level->temporal[d]);
            }
        }
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            for (int p = MER_PLACE_X; p <= MER_PLACE_Y; p++) {
                if (level->factors[p][d] > 1) {
                    text = mer_arena_format(arena, "%s%*sparallel %c in 0..%d on %c\n", text,
                                            2 * ++depth, "", MER_DIM_LETTERS[d],
                                            level->factors[p][d], " xy"[p]);
                }
            }
        }
    }
    return text;
}

static void write_factors(const char *key, const int *factors, const int *order, MerJson *json)
{
    mer_json_array(json, key);
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        int d = order ? order[i] : i;
        if (factors[d] > 1) {
            char text[16];
            snprintf(text, sizeof text, "%c%d", MER_DIM_LETTERS[d], factors[d]);
            mer_json_text(json, NULL, text);
        }
    }
    mer_json_end_array(json);
}

bool mer_nest_is_padded(const MerNestPlan *plan)
{
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (mer_nest_extent(plan, d, plan->level_count) > (double)plan->op->dims[d]) {
            return true;
        }
    }
    return false;
}

void mer_nest_write(const MerNestPlan *plan, const MerPlatform *platform, MerJson *json)
{
    mer_op_write(plan->op, json);
    if (mer_nest_is_padded(plan)) {
        mer_json_bool(json, "padded", true);
    }
    mer_json_array(json, "levels");
    for (int l = plan->level_count - 1; l >= 0; l--) {
        const MerNestLevel *level = &plan->levels[l];
        mer_json_object(json, NULL);
        mer_json_text(json, "name", mer_nest_memory(platform, l)->name);
        for (int p = MER_PLACE_TEMPORAL; p <= MER_PLACE_Y; p++) {
            if (p == MER_PLACE_TEMPORAL || has_factors(level->factors[p])) {
                write_factors(mer_nest_place_keys[p], level->factors[p],
                              p == MER_PLACE_TEMPORAL ? level->order : NULL, json);
            }
        }
        mer_json_array(json, "keep");
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (level->keep >> t & 1) {
                mer_json_text(json, NULL, (char[]){MER_TENSOR_LETTERS[t], '\0'});
            }
        }
        mer_json_end_array(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}
