/* Blocks of a network (docs/placement.md, "Co-location"): repeated parts by the numbers in the names
 * ("blk.12.", "layer3.1.", "encoder/layer_7/"), else the parts between articulation points. */
#include "place/inputs/groups.h"

#include "base/key_table.h"
#include "mercator/text.h"

#include <ctype.h>
#include <string.h>

/* A numbered part of a path of modules. */
typedef struct Part {
    const char *stem_end, *end; /* its digits; the path before them says what is counted */
    bool        is_index;       /* all of the part is digits: an item of a list */
} Part;

/* The next numbered part at or after *text; the last part is the operator itself and does not count. */
static bool next_part(const char **text, Part *part)
{
    for (;;) {
        const char *start = *text, *end = start + strcspn(start, "./");
        if (*end == '\0') {
            return false;
        }
        *text = end + 1;
        const char *digits = end;
        while (digits > start && isdigit((unsigned char)digits[-1])) {
            digits--;
        }
        if (digits < end) {
            *part = (Part){digits, end, digits == start};
            return true;
        }
    }
}

static uint64_t hash_text(const char *text, const char *end)
{
    return mer_hash_bytes(MER_HASH_START, text, (size_t)(end - text));
}

/* Which numbered parts are repeated: those of which there are two with different numbers. */
typedef struct Counters {
    MerArena   *scratch;
    MerKeyTable index;
    int         count;
    uint64_t   *numbers; /* the first one seen */
    bool       *repeats;
} Counters;

static void count_parts(Counters *counters, const char *name)
{
    Part part;
    for (const char *text = name; next_part(&text, &part);) {
        uint64_t number = hash_text(part.stem_end, part.end);
        int      counter =
            mer_key_table_add(&counters->index, hash_text(name, part.stem_end), counters->count);
        if (counter == counters->count) {
            MER_GROW(counters->scratch, counters->numbers, counters->count);
            MER_GROW(counters->scratch, counters->repeats, counters->count);
            counters->numbers[counters->count] = number;
            counters->repeats[counters->count++] = false;
        }
        counters->repeats[counter] |= counters->numbers[counter] != number;
    }
}

/* The block's name is the path as far as its first repeated index, or its first repeated number where there is no
 * index; its end, or NULL. */
static const char *find_block(const Counters *counters, const char *name)
{
    const char *numbered = NULL;
    Part        part;
    for (const char *text = name; next_part(&text, &part);) {
        int counter = mer_key_table_find(&counters->index, hash_text(name, part.stem_end));
        if (counters->repeats[counter] && part.is_index) {
            return part.end;
        }
        if (counters->repeats[counter] && !numbered) {
            numbered = part.end;
        }
    }
    return numbered;
}

/* false: the names of fewer than half of the operators tell. */
static bool merge_by_names(MerGroupForest *forest, const MerPlace *place, MerArena *scratch)
{
    Counters  counters = {.scratch = scratch, .index = {.arena = scratch}};
    uint64_t *block = MER_ARRAY(scratch, uint64_t, place->op_count);
    bool     *is_in_block = MER_ARRAY(scratch, bool, place->op_count);
    int       told = 0;
    for (int o = 0; o < place->op_count; o++) {
        count_parts(&counters, place->names[o]);
    }
    for (int o = 0; o < place->op_count; o++) {
        const char *end = find_block(&counters, place->names[o]);
        is_in_block[o] = end != NULL;
        block[o] = end ? hash_text(place->names[o], end) : 0;
        told += end != NULL;
    }
    if (2 * told < place->op_count) {
        return false;
    }
    MerKeyTable first = {.arena = scratch};
    for (int o = 0; o < place->op_count; o++) {
        if (is_in_block[o]) {
            mer_group_merge(forest, mer_key_table_add(&first, block[o], o), o);
        }
    }
    return true;
}

/* Search for biconnected components (Hopcroft and Tarjan, 1973), without recursion. */
typedef struct Search {
    const MerPlace *place;
    int            *depth;   /* 1 + when it was found; 0: not yet */
    int            *lowest;  /* the first found operator that it or what it led to is joined with */
    int            *next;    /* neighbour to look at */
    int            *from;    /* the operator that led to it */
    int            *part_of; /* the component that each operator counts to */
    int            *main;    /* the producer that each operator follows */
    bool           *is_leaf;
    int *path, *edges; /* operators under way; edges under way as pairs producer, consumer */
    int  found, edge_count, part_count;
} Search;

/* Its consumers, then its producers; -1: no more. */
static int neighbour(const MerPlace *place, int op, int index)
{
    int after = place->after_start[op + 1] - place->after_start[op];
    int before = place->before_start[op + 1] - place->before_start[op];
    return index < after            ? place->after[place->after_start[op] + index]
           : index < after + before ? place->before[place->before_start[op] + index - after]
                                    : -1;
}

/* Something that does nothing and that one operator reads: weights, inputs. */
static bool find_leaf(const MerPlace *place, int op)
{
    bool is_idle = true;
    for (int u = 0; u < place->unit_count; u++) {
        double time = place->time_us[(size_t)op * (size_t)place->unit_count + (size_t)u];
        is_idle = is_idle && (time == 0 || isinf(time));
    }
    return is_idle && place->before_start[op] == place->before_start[op + 1] &&
           place->after_start[op + 1] - place->after_start[op] == 1;
}

/* The producer that an operator follows: the first that is no leaf; -1: there is none. */
static int find_main(const Search *search, int op)
{
    const MerPlace *place = search->place;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        if (!search->is_leaf[place->before[i]]) {
            return place->before[i];
        }
    }
    return -1;
}

/* All edges since (a, b) are one component. An operator counts to that of the edge from its main producer, so that a
 * join ends its block; without such a producer to that of its first consumer, unless it is this edge alone. */
static void close_part(Search *search, int a, int b)
{
    const MerPlace *place = search->place;
    const int      *last = search->edges + 2 * (search->edge_count - 1);
    bool            is_bridge = last[0] == a && last[1] == b;
    int             producer, consumer;
    do {
        producer = search->edges[2 * --search->edge_count];
        consumer = search->edges[2 * search->edge_count + 1];
        if (search->main[consumer] == producer) {
            search->part_of[consumer] = search->part_count;
        }
        if (search->main[producer] < 0 && !is_bridge &&
            place->after[place->after_start[producer]] == consumer) {
            search->part_of[producer] = search->part_count;
        }
    } while (producer != a || consumer != b);
    search->part_count++;
}

static void enter(Search *search, int op, int from, int *length)
{
    search->depth[op] = search->lowest[op] = ++search->found;
    search->from[op] = from;
    search->path[(*length)++] = op;
}

static void walk(Search *search, int start)
{
    int length = 0;
    enter(search, start, -1, &length);
    while (length > 0) {
        int  op = search->path[length - 1], from = search->from[op];
        int  other = neighbour(search->place, op, search->next[op]++);
        bool is_consumer =
            search->next[op] <= search->place->after_start[op + 1] - search->place->after_start[op];
        if (other >= 0 && other != from && search->depth[other] < search->depth[op]) {
            search->edges[2 * search->edge_count] = is_consumer ? op : other;
            search->edges[2 * search->edge_count++ + 1] = is_consumer ? other : op;
            if (search->depth[other] == 0) {
                enter(search, other, op, &length);
            } else if (search->depth[other] < search->lowest[op]) {
                search->lowest[op] = search->depth[other];
            }
        }
        if (other >= 0) {
            continue;
        }
        length--;
        if (from >= 0) {
            int lowest = search->lowest[op];
            search->lowest[from] = lowest < search->lowest[from] ? lowest : search->lowest[from];
            if (lowest >= search->depth[from]) {
                close_part(search, op > from ? from : op, op > from ? op : from);
            }
        }
    }
}

static void merge_by_articulation(MerGroupForest *forest, const MerPlace *place, MerArena *scratch)
{
    int    count = place->op_count;
    Search search = {.place = place,
                     .depth = MER_ARRAY(scratch, int, count),
                     .lowest = MER_ARRAY(scratch, int, count),
                     .next = MER_ARRAY(scratch, int, count),
                     .from = MER_ARRAY(scratch, int, count),
                     .part_of = MER_ARRAY(scratch, int, count),
                     .main = MER_ARRAY(scratch, int, count),
                     .is_leaf = MER_ARRAY(scratch, bool, count),
                     .path = MER_ARRAY(scratch, int, count),
                     .edges = MER_ARRAY(scratch, int, 2 * (size_t)place->edge_count + 2)};
    for (int o = 0; o < count; o++) { /* producers come first */
        search.part_of[o] = -1;
        search.is_leaf[o] = find_leaf(place, o);
        search.main[o] = find_main(&search, o);
    }
    for (int o = 0; o < count; o++) {
        if (search.depth[o] == 0) {
            walk(&search, o);
        }
    }
    int *first = MER_ARRAY(scratch, int, search.part_count + 1);
    for (int o = 0; o < count; o++) { /* 1 + the first operator of each part */
        int part = search.part_of[o];
        if (search.is_leaf[o]) {
            mer_group_merge(forest, o, place->after[place->after_start[o]]);
        } else if (part >= 0 && first[part] == 0) {
            first[part] = o + 1;
        } else if (part >= 0) {
            mer_group_merge(forest, first[part] - 1, o);
        }
    }
}

void mer_groups_by_block(MerGroupForest *forest, const MerPlace *place, MerArena *scratch)
{
    if (!merge_by_names(forest, place, scratch)) {
        merge_by_articulation(forest, place, scratch);
    }
}
