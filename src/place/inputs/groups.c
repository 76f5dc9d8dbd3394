/* Which operators share a unit: explicit classes, patterns of the user, blocks, and the single-consumer rule, in this
 * order (docs/placement.md, "Co-location"). */
#include "place/inputs/groups.h"

#include "base/key_table.h"
#include "base/sets.h"
#include "mercator/text.h"

#include <regex.h>
#include <string.h>

int mer_group_root(MerGroupForest *forest, int op)
{
    return mer_sets_root(forest->parent, op);
}

void mer_group_join(MerGroupForest *forest, int into, int from)
{
    forest->parent[from] = into;
    forest->work[into] += forest->work[from];
}

/* The first operator stays the root. */
void mer_group_merge(MerGroupForest *forest, int a, int b)
{
    a = mer_group_root(forest, a);
    b = mer_group_root(forest, b);
    if (a != b) {
        mer_group_join(forest, a < b ? a : b, a < b ? b : a);
    }
}

/* The work of an operator is its time on the unit that is fastest at it. */
static MerGroupForest plant(const MerPlace *place, MerArena *scratch)
{
    MerGroupForest forest = {.count = place->op_count,
                             .parent = mer_sets_new(place->op_count, scratch),
                             .work = MER_ARRAY(scratch, double, place->op_count)};
    for (int o = 0; o < place->op_count; o++) {
        double least = INFINITY;
        for (int u = 0; u < place->unit_count; u++) {
            least = fmin(least, place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)u]);
        }
        forest.work[o] = least < INFINITY ? least : 0;
        forest.total += forest.work[o];
    }
    return forest;
}

static void merge_classes(MerGroupForest *forest, const int64_t *class_of, MerArena *scratch)
{
    MerKeyTable first = {.arena = scratch};
    for (int o = 0; o < forest->count; o++) {
        if (class_of[o] >= 0) {
            uint64_t key = mer_hash_int(MER_HASH_START, class_of[o]);
            mer_group_merge(forest, mer_key_table_add(&first, key, o), o);
        }
    }
}

/* Where the set that begins at `text` ends: behind "]", "[^]...]" and "[[:alpha:]]" reckoned with. */
static const char *end_of_set(const char *text)
{
    const char *at = text + 1;
    at += *at == '^';
    at += *at == ']';
    while (*at != '\0' && *at != ']') {
        const char *end = at[0] == '[' && at[1] == ':' ? strstr(at + 2, ":]") : NULL;
        at = end ? end + 2 : at + 1;
    }
    return at;
}

/* POSIX has no `\d` and `\D`: they become sets of digits, and inside a set `\d` becomes its digits. */
static const char *translate(const char *pattern, MerArena *scratch)
{
    char       *result = MER_ARRAY(scratch, char, 3 * strlen(pattern) + 1), *to = result;
    const char *set_end = NULL; /* of the set that `pattern` is in */
    for (; *pattern != '\0'; pattern++) {
        const char *put = NULL;
        set_end = pattern == set_end ? NULL : set_end;
        if (*pattern == '\\' && pattern[1] == 'd') {
            put = set_end ? "0-9" : "[0-9]";
        } else if (*pattern == '\\' && pattern[1] == 'D' && !set_end) {
            put = "[^0-9]";
        } else if (*pattern == '\\' && pattern[1] != '\0' && !set_end) {
            *to++ = *pattern++;
        } else if (*pattern == '[' && !set_end) {
            set_end = end_of_set(pattern);
        }
        if (put) {
            to = memcpy(to, put, strlen(put));
            to += strlen(put);
            pattern++;
        } else {
            *to++ = *pattern;
        }
    }
    return result;
}

/* What the brackets of a pattern have captured, as one number. */
static uint64_t hash_captures(const char *name, const regmatch_t *captures, size_t count)
{
    uint64_t hash = MER_HASH_START;
    for (size_t i = 1; i <= count; i++) {
        regoff_t length = captures[i].rm_so < 0 ? 0 : captures[i].rm_eo - captures[i].rm_so;
        hash = mer_hash_int(hash, length);
        hash = mer_hash_bytes(hash, name + (length > 0 ? captures[i].rm_so : 0), (size_t)length);
    }
    return hash;
}

static MerStatus merge_matches(MerGroupForest *forest, const MerPlace *place, const char *pattern,
                               MerArena *scratch, MerError *error)
{
    regex_t regex;
    int     code = regcomp(&regex, translate(pattern, scratch), REG_EXTENDED);
    if (code != 0) {
        char why[100];
        regerror(code, &regex, why, sizeof why);
        return mer_error_set(error, MER_INVALID,
                             "colocate is \"%.200s\" (%s), expected an extended regular expression",
                             pattern, why);
    }
    regmatch_t *captures = MER_ARRAY(scratch, regmatch_t, regex.re_nsub + 1);
    MerKeyTable first = {.arena = scratch};
    for (int o = 0; o < place->op_count; o++) {
        if (regexec(&regex, place->names[o], regex.re_nsub + 1, captures, 0) == 0) {
            uint64_t key = hash_captures(place->names[o], captures, regex.re_nsub);
            mer_group_merge(forest, mer_key_table_add(&first, key, o), o);
        }
    }
    regfree(&regex);
    return first.count > 0
               ? MER_OK
               : mer_error_set(error, MER_INVALID, "colocate \"%.200s\" matches no operator of %s",
                               pattern, place->graph->name);
}

/* Groups by their first operators, which `merge` and the rules need not have kept as roots. */
static void number_groups(MerGroupForest *forest, int *group, int *count)
{
    *count = 0;
    for (int o = 0; o < forest->count; o++) {
        group[o] = -1;
    }
    for (int o = 0; o < forest->count; o++) { /* group[root] is set at the first operator */
        int root = mer_group_root(forest, o);
        if (group[root] < 0) {
            group[root] = (*count)++;
        }
        group[o] = group[root];
    }
}

/* A group that holds more than its share of the work leaves the other units idle. */
static const char *find_large_group(MerGroupForest *forest, const MerPlace *place, MerArena *arena)
{
    int units = place->accelerator_count > 0 ? place->accelerator_count : place->unit_count;
    int largest = 0, members = 0, first = -1;
    for (int o = 0; o < forest->count; o++) {
        int root = mer_group_root(forest, o);
        largest =
            forest->work[root] > forest->work[mer_group_root(forest, largest)] ? root : largest;
    }
    largest = mer_group_root(forest, largest);
    for (int o = forest->count - 1; o >= 0; o--) {
        bool is_member = mer_group_root(forest, o) == largest;
        members += is_member;
        first = is_member ? o : first;
    }
    double share = forest->total > 0 ? forest->work[largest] / forest->total : 0;
    if (members < 2 || share * units <= 1 + 1e-9 || units < 2) {
        return NULL;
    }
    return mer_arena_format(
        arena,
        "%d operators that share a unit, from \"%.80s\" on, hold %.1f %% of the "
        "work: more than one of %d units should; group_work_limit keeps such "
        "groups smaller",
        members, place->names[first], 100 * share, units);
}

static MerStatus grow_groups(MerGroupForest *forest, const MerPlace *place,
                             const MerPlaceOptions *options, const int64_t *class_of,
                             MerArena *scratch, MerError *error)
{
    double limit = options->group_work_limit >= 1 ? INFINITY : options->group_work_limit;
    if (class_of) {
        merge_classes(forest, class_of, scratch);
    }
    for (int i = 0; i < options->colocate.count; i++) {
        MER_TRY(merge_matches(forest, place, options->colocate.values[i], scratch, error));
    }
    if (options->blocks) {
        mer_groups_by_block(forest, place, scratch);
    }
    if (options->single_consumer == MER_CONSUMER_OUTPUT) {
        mer_groups_by_output(forest, place, limit);
    } else if (options->single_consumer == MER_CONSUMER_GROUP) {
        mer_groups_by_group(forest, place, limit, scratch);
    }
    return MER_OK;
}

MerStatus mer_place_find_groups(const MerPlace *place, const MerPlaceOptions *options,
                                const int64_t *class_of, int *group, int *count,
                                const char **warning, MerArena *arena, MerError *error)
{
    MerArena      *scratch = mer_arena_new();
    MerGroupForest forest = plant(place, scratch);
    MerStatus      status = grow_groups(&forest, place, options, class_of, scratch, error);
    *warning = NULL;
    if (status == MER_OK) {
        number_groups(&forest, group, count);
        *warning = find_large_group(&forest, place, arena);
    }
    mer_arena_free(scratch);
    return status;
}
