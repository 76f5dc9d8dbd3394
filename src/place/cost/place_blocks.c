#include "place/cost/place_blocks.h"

#include "base/key_table.h"
#include "base/name_table.h"
#include "mercator/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 12 }; /* of a name that are looked at */

/* Length of the first `parts` parts of a name; names are cut at / . _ : and - . */
static size_t prefix_length(const char *name, int parts)
{
    size_t end = 0;
    for (int p = 0; p < parts && name[end] != '\0'; p++) {
        end += strspn(name + end, "/._:-");
        end += strcspn(name + end, "/._:-");
    }
    return end;
}

/* Blocks of operators on one unit with the same first `parts` parts of their names, numbered by their first operators. */
static int group_by_prefix(const MerPlace *place, const MerGraphPlan *plan, int parts, int *block,
                           MerArena *scratch)
{
    MerKeyTable table = {.arena = scratch};
    int         count = 0;
    for (int o = 0; o < place->op_count; o++) {
        uint64_t key = mer_hash_int(MER_HASH_START, plan->unit[o]);
        key = mer_hash_bytes(key, place->names[o], prefix_length(place->names[o], parts));
        block[o] = mer_key_table_add(&table, key, count);
        count += block[o] == count;
    }
    return count;
}

/* Parts that all names begin with: they tell nothing apart. */
static int common_parts(const MerPlace *place)
{
    for (int parts = 1; parts <= MOST_PARTS; parts++) {
        size_t length = prefix_length(place->names[0], parts);
        for (int o = 0; o < place->op_count; o++) {
            if (prefix_length(place->names[o], parts) != length ||
                strncmp(place->names[o], place->names[0], length) != 0) {
                return parts - 1;
            }
        }
    }
    return MOST_PARTS;
}

typedef struct Position {
    int late, op;
} Position;

static int compare_positions(const void *first, const void *second)
{
    const Position *a = first, *b = second;
    return a->late != b->late ? (a->late > b->late) - (a->late < b->late)
                              : (a->op > b->op) - (a->op < b->op);
}

/* Every `size` neighbours of a block become a block of their own. Weights and constants, which may be listed far away, count
 * where they are first read. */
static int cut(const MerPlace *place, int *block, int count, int size, MerArena *scratch)
{
    Position *order = MER_ARRAY(scratch, Position, place->op_count);
    int *number = MER_ARRAY(scratch, int, count + 1), *used = MER_ARRAY(scratch, int, count + 1);
    int  made = 0;
    for (int o = 0; o < place->op_count; o++) {
        bool is_source = place->before_start[o] == place->before_start[o + 1] &&
                         place->after_start[o] < place->after_start[o + 1];
        order[o] = (Position){is_source ? place->after[place->after_start[o]] : o, o};
    }
    qsort(order, (size_t)place->op_count, sizeof *order, compare_positions);
    for (int i = 0; i < place->op_count; i++) {
        int b = block[order[i].op];
        number[b] = used[b]++ % size == 0 ? made++ : number[b];
        block[order[i].op] = number[b];
    }
    return made;
}

/* The part of the names that made the block; where units share it, with the unit; of runs the first operator's name. */
static void name_blocks(const MerPlace *place, MerPlaceBlocks *blocks, int parts, MerArena *arena)
{
    int          common = common_parts(place);
    MerNameTable known = {.arena = arena};
    for (int o = place->op_count - 1; o >= 0; o--) { /* the first operator names it */
        size_t      from = prefix_length(place->names[o], common);
        const char *name = place->names[o] + from + strspn(place->names[o] + from, "/._:-");
        size_t      all = prefix_length(place->names[o], parts);
        size_t      end = all > from ? all - (size_t)(name - place->names[o]) : strlen(name);
        blocks->names[blocks->of[o]] = parts > common ? mer_arena_text_n(arena, name, end)
                                                      : mer_arena_format(arena, "%s ..", name);
    }
    for (int b = 0; b < blocks->count; b++) {
        if (blocks->names[b][0] == '\0' || mer_name_table_find(&known, blocks->names[b])) {
            blocks->names[b] = mer_arena_format(arena, "%s @%s", blocks->names[b],
                                                place->unit_names[blocks->unit[b]]);
        }
        if (mer_name_table_find(&known, blocks->names[b])) {
            blocks->names[b] = mer_arena_format(arena, "%s #%d", blocks->names[b], b);
        }
        mer_name_table_set(&known, blocks->names[b], blocks);
    }
}

MerPlaceBlocks mer_place_find_blocks(const MerPlace *place, const MerGraphPlan *plan, int most,
                                     MerArena *arena)
{
    MerPlaceBlocks blocks = {.of = MER_ARRAY(arena, int, place->op_count + 1)};
    MerArena      *scratch = mer_arena_new();
    int            parts = MOST_PARTS;
    blocks.count = group_by_prefix(place, plan, parts, blocks.of, scratch);
    while (blocks.count > most && parts > 0) {
        mer_arena_reset(scratch);
        blocks.count = group_by_prefix(place, plan, --parts, blocks.of, scratch);
    }
    int size = (place->op_count + most - 1) / most;
    if (4 * blocks.count < most && size > 1) { /* names say too little */
        blocks.count = cut(place, blocks.of, blocks.count, size, scratch);
        parts = 0;
    }
    mer_arena_free(scratch);
    blocks.names = MER_ARRAY(arena, const char *, blocks.count + 1);
    blocks.unit = MER_ARRAY(arena, int, blocks.count + 1);
    for (int o = 0; o < place->op_count; o++) {
        blocks.unit[blocks.of[o]] = plan->unit[o];
    }
    name_blocks(place, &blocks, parts, arena);
    return blocks;
}
