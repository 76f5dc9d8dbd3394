/* Measured times in the place of predicted ones (docs/placement.md, "Measured times"). */
#include "place/inputs/measured.h"

#include "base/stats.h"
#include "mercator/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)1 << 30)

bool mer_unit_is_of_class(const MerPlace *place, int unit, const char *word)
{
    const MerUnit *described = &place->platform->units[unit];
    size_t         length = strlen(described->name);
    if (described->class_name) {
        return strcmp(described->class_name, word) == 0;
    }
    while (length > 0 && isdigit((unsigned char)described->name[length - 1])) {
        length--;
    }
    return strlen(word) == length && strncmp(described->name, word, length) == 0;
}

static void add_row(MerMeasured *measured, MerMeasuredRow row)
{
    MER_GROW(measured->scratch, measured->rows, measured->row_count);
    measured->rows[measured->row_count++] = row;
}

/* Rows of one operator for the units that are meant; false: none is. */
static bool add_units(MerMeasured *measured, const char *word, MerUnitTest test, MerMeasuredRow row)
{
    const MerPlace *place = measured->place;
    int             before = measured->row_count;
    for (int c = 0; c < place->class_count; c++) {
        if (test(place, measured->first_unit[c], word)) {
            row.target = c;
            add_row(measured, row);
        }
    }
    for (int u = 0; u < place->unit_count && measured->row_count == before; u++) {
        if (strcmp(place->unit_names[u], word) == 0) {
            row.target = place->class_count + u;
            add_row(measured, row);
        }
    }
    return measured->row_count > before;
}

void mer_measured_add(MerMeasured *measured, const char *op, const char *word, MerUnitTest test,
                      MerMeasuredRow row)
{
    const int *first = mer_name_table_find(&measured->index, op);
    if (!first && measured->unknown_count++ == 0) {
        measured->unknown = mer_arena_text(measured->scratch, op);
    }
    for (int o = first ? *first : -1; o >= 0; o = measured->same[o]) {
        row.op = o;
        if (!add_units(measured, word, test, row) && measured->foreign_count++ == 0) {
            measured->foreign = mer_arena_text(measured->scratch, word);
        }
    }
}

static void index_names(MerMeasured *measured)
{
    const MerPlace *place = measured->place;
    measured->same = MER_ARRAY(measured->scratch, int, place->op_count);
    for (int o = place->op_count - 1; o >= 0; o--) {
        int *first = mer_name_table_find(&measured->index, place->names[o]);
        measured->same[o] = first ? *first : -1;
        if (!first) {
            first = MER_NEW(measured->scratch, int);
            mer_name_table_set(&measured->index, place->names[o], first);
        }
        *first = o;
    }
    measured->first_unit = MER_ARRAY(measured->scratch, int, place->class_count);
    for (int u = place->unit_count - 1; u >= 0; u--) {
        measured->first_unit[place->unit_class[u]] = u;
    }
}

/* Does all that reads the operator belong to the node of this name? */
static bool is_read_inside(const MerPlace *place, int op, const char *node, size_t length)
{
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        const char *name = place->names[place->after[i]];
        if (strncmp(name, node, length) != 0 || (name[length] != '\0' && name[length] != '/')) {
            return false;
        }
    }
    return place->after_start[op] < place->after_start[op + 1];
}

/* One node of a file may be several operators here, "lstm/input", "lstm/state" and "lstm": what is measured for the
 * node is shared out among them. The node's own operator of each, -1: none. */
static int *find_owners(const MerMeasured *measured)
{
    const MerPlace *place = measured->place;
    int            *owner = MER_ARRAY(measured->scratch, int, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        const char *slash = strrchr(place->names[o], '/');
        owner[o] = -1;
        if (slash && slash > place->names[o]) {
            size_t      length = (size_t)(slash - place->names[o]);
            const char *node = mer_arena_text_n(measured->scratch, place->names[o], length);
            const int  *last = mer_name_table_find(&measured->index, node);
            bool        is_part =
                last && strcmp(place->graph->ops[*last].source, place->graph->ops[o].source) == 0 &&
                is_read_inside(place, o, node, length);
            owner[o] = is_part ? *last : -1;
        }
    }
    return owner;
}

static int compare_rows(const void *a, const void *b)
{
    const MerMeasuredRow *x = a, *y = b;
    if (x->target != y->target) { /* classes first, so that single units have the last word */
        return x->target < y->target ? -1 : 1;
    }
    return (x->op > y->op) - (x->op < y->op);
}

/* What is written: copies, since the arrays may belong to the graph. */
typedef struct Result {
    const double *predicted_us;
    double       *time_us, *size, *output_bytes, *workspace_bytes;
    int          *owner;
    bool         *is_measured; /* for the target under way */
    bool         *is_covered;  /* for any */
} Result;

static double *copy(const double *from, size_t count, MerArena *arena)
{
    double *to = MER_ARRAY(arena, double, count);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static bool is_meant(const MerPlace *place, int target, int unit)
{
    return target < place->class_count ? place->unit_class[unit] == target
                                       : unit == target - place->class_count;
}

static void set_time(const MerPlace *place, Result *result, int op, int target, double time_us)
{
    result->is_covered[op] = true;
    for (int u = 0; u < place->unit_count; u++) {
        if (is_meant(place, target, u)) {
            bool   is_class = target < place->class_count;
            double speed = is_class ? place->platform->units[u].speed : 1;
            result->time_us[(size_t)op * (size_t)place->unit_count + (size_t)u] = time_us / speed;
        }
    }
}

static double predicted(const MerPlace *place, const Result *result, int op, int target)
{
    double time = 0;
    for (int u = 0; u < place->unit_count; u++) {
        if (is_meant(place, target, u)) {
            time = result->predicted_us[(size_t)op * (size_t)place->unit_count + (size_t)u];
        }
    }
    return time < INFINITY ? time : 0;
}

/* The time of a node to its operator and to those of its parts without a time of their own, as their predictions are. */
static void share_time(const MerPlace *place, Result *result, const int *parts, int part_count,
                       int op, int target, double time_us)
{
    double sum = predicted(place, result, op, target);
    int    sharers = 1;
    for (int i = 0; i < part_count; i++) {
        bool is_open = !result->is_measured[parts[i]];
        sum += is_open ? predicted(place, result, parts[i], target) : 0;
        sharers += is_open;
    }
    for (int i = -1; i < part_count; i++) {
        int part = i < 0 ? op : parts[i];
        if (i < 0 || !result->is_measured[part]) {
            double share = sum > 0 ? predicted(place, result, part, target) / sum : 1.0 / sharers;
            set_time(place, result, part, target, time_us * share);
        }
    }
}

static void set_bytes(Result *result, const MerMeasuredRow *row, const int *parts, int part_count)
{
    if (!isnan(row->output_bytes)) {
        result->output_bytes[row->op] = row->output_bytes;
    }
    if (!isnan(row->workspace_bytes)) {
        result->workspace_bytes[row->op] = row->workspace_bytes;
    }
    if (!isnan(row->weight_bytes)) {
        result->size[row->op] = row->weight_bytes;
        for (int i = 0; i < part_count; i++) {
            result->size[parts[i]] = 0;
        }
    }
}

/* Parts of each operator, from `start`. */
static int *list_parts(const MerPlace *place, const int *owner, int *start, MerArena *scratch)
{
    int  count = place->op_count;
    int *parts = MER_ARRAY(scratch, int, count), *next = MER_ARRAY(scratch, int, count + 1);
    for (int o = 0; o < count; o++) {
        start[owner[o] + 1] += owner[o] >= 0;
    }
    for (int o = 0; o < count; o++) {
        start[o + 1] += start[o];
        next[o] = start[o];
    }
    for (int o = 0; o < count; o++) {
        if (owner[o] >= 0) {
            parts[next[owner[o]]++] = o;
        }
    }
    return parts;
}

/* All rows of one target, in the order of the operators; several of one operator count as their median. */
static void apply_target(const MerMeasured *measured, Result *result, int from, int to,
                         const int *start, const int *parts)
{
    const MerPlace *place = measured->place;
    double         *times = MER_ARRAY(measured->scratch, double, to - from);
    for (int i = from; i < to; i++) {
        result->is_measured[measured->rows[i].op] = true;
    }
    for (int i = from, end; i < to; i = end) {
        const MerMeasuredRow *row = &measured->rows[i];
        const int            *own = parts + start[row->op];
        int                   own_count = start[row->op + 1] - start[row->op];
        for (end = i; end < to && measured->rows[end].op == row->op; end++) {
            times[end - i] = measured->rows[end].time_us;
            set_bytes(result, &measured->rows[end], own, own_count);
        }
        share_time(place, result, own, own_count, row->op, row->target, mer_median(times, end - i));
    }
    for (int i = from; i < to; i++) {
        result->is_measured[measured->rows[i].op] = false;
    }
}

static void apply(MerMeasured *measured, Result *result)
{
    int *start = MER_ARRAY(measured->scratch, int, measured->place->op_count + 1);
    int *parts = list_parts(measured->place, result->owner, start, measured->scratch);
    qsort(measured->rows, (size_t)measured->row_count, sizeof *measured->rows, compare_rows);
    for (int from = 0, to; from < measured->row_count; from = to) {
        for (to = from;
             to < measured->row_count && measured->rows[to].target == measured->rows[from].target;
             to++) {
        }
        apply_target(measured, result, from, to, start, parts);
    }
}

/* How much of the network the file covers: by number, and by the predicted time where each runs fastest. */
static const char *coverage(const MerMeasured *measured, const Result *result, MerArena *arena)
{
    const MerPlace *place = measured->place;
    double          total = 0, covered = 0;
    int             count = 0;
    for (int o = 0; o < place->op_count; o++) {
        double least = INFINITY;
        for (int u = 0; u < place->unit_count; u++) {
            least = fmin(least,
                         result->predicted_us[(size_t)o * (size_t)place->unit_count + (size_t)u]);
        }
        total += least < INFINITY ? least : 0;
        covered += result->is_covered[o] && least < INFINITY ? least : 0;
        count += result->is_covered[o];
    }
    const char *others = "";
    if (measured->unknown_count > 0) {
        others = mer_arena_format(arena, "; %d rows name no operator of %s, the first \"%.80s\"",
                                  measured->unknown_count, place->graph->name, measured->unknown);
    }
    return mer_arena_format(arena,
                            "%s: %d of %d operators, %.1f %% of the predicted time, are "
                            "measured%s",
                            measured->path, count, place->op_count,
                            total > 0 ? 100 * covered / total : 100.0 * count / place->op_count,
                            others);
}

static MerStatus fail_empty(const MerMeasured *measured)
{
    const char *graph = measured->place->graph->name;
    if (measured->foreign_count > 0) {
        return mer_error_set(measured->error, MER_INVALID,
                             "%s: all rows are of units like \"%.80s\", expected classes or units "
                             "of %s",
                             measured->path, measured->foreign, measured->place->platform->name);
    }
    return mer_error_set(measured->error, MER_INVALID,
                         "%s: found no time of an operator of %s%s%.80s%s, expected its names",
                         measured->path, graph, measured->unknown ? ", but of \"" : "",
                         measured->unknown ? measured->unknown : "", measured->unknown ? "\"" : "");
}

static MerStatus read_rows(MerMeasured *measured)
{
    char  *data;
    size_t size;
    MER_TRY(mer_file_read(measured->path, MAX_FILE_BYTES, measured->scratch, &data, &size,
                          measured->error));
    char first = data[strspn(data, " \t\r\n")];
    index_names(measured);
    MER_TRY(first == '[' || first == '{' ? mer_measured_ort(measured, data, size)
                                         : mer_measured_csv(measured, data, size));
    return measured->row_count > 0 ? MER_OK : fail_empty(measured);
}

MerStatus mer_place_read_times(MerPlace *place, const char *path, const char **remark,
                               MerArena *arena, MerError *error)
{
    size_t      count = (size_t)place->op_count;
    MerArena   *scratch = mer_arena_new();
    MerMeasured measured = {.place = place,
                            .path = path,
                            .scratch = scratch,
                            .error = error,
                            .index = {.arena = scratch}};
    MerStatus   status = read_rows(&measured);
    if (status == MER_OK) {
        Result result = {.predicted_us = place->time_us,
                         .time_us = copy(place->time_us, count * (size_t)place->unit_count, arena),
                         .size = copy(place->size, count, arena),
                         .output_bytes = copy(place->output_bytes, count, arena),
                         .workspace_bytes = copy(place->workspace_bytes, count, arena),
                         .owner = find_owners(&measured),
                         .is_measured = MER_ARRAY(scratch, bool, count),
                         .is_covered = MER_ARRAY(scratch, bool, count)};
        apply(&measured, &result);
        *remark = coverage(&measured, &result, arena);
        place->time_us = result.time_us;
        place->size = result.size;
        place->output_bytes = result.output_bytes;
        place->workspace_bytes = result.workspace_bytes;
    }
    mer_arena_free(scratch);
    return status;
}
