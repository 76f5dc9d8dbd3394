/* Exporter `llama_override`: `--override-tensor` of llama.cpp, REGEX=BUFFER,REGEX=BUFFER,... Tensors of all layers that are
 * whole on a unit are one expression with a range of numbers; of the other layers, tensors of one name. Every expression is
 * anchored, and the list is tried on every tensor before it is written (docs/placement.md, "Files for other tools"). */
#include "place/export/place_export.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 40, MOST_TRIALS = 20000000 }; /* names of one rule; tensors times rules */

typedef struct Tensor { /* "blk.12.ffn_up.weight": head "blk.", number 12, tail ".ffn_up.weight" */
    const char *name, *head, *tail;
    int64_t     number; /* -1: it has none, and all of it is the head */
    int         unit;
} Tensor;

typedef struct Rule {
    const char *pattern;
    int         unit;
} Rule;

typedef struct List {
    const MerPlace *place;
    MerArena       *arena;
    int             tensor_count, rule_count;
    Tensor         *tensors; /* by head, number, tail */
    Rule           *rules;
} List;

/* The first part between dots that is a number. */
static Tensor read_tensor(const MerPlacedTensor *placed, MerArena *arena)
{
    const char *name = placed->name;
    for (const char *part = name; *part;) {
        size_t length = strcspn(part, "."), digits = strspn(part, "0123456789");
        bool   is_plain =
            digits == length && length > 0 && length < 10 && (part[0] != '0' || length == 1);
        if (is_plain && part > name) {
            return (Tensor){name, mer_arena_text_n(arena, name, (size_t)(part - name)),
                            part + length, atoll(part), placed->unit};
        }
        part += length + (part[length] == '.');
    }
    return (Tensor){name, name, "", -1, placed->unit};
}

static int compare_tensors(const void *first, const void *second)
{
    const Tensor *a = first, *b = second;
    int           heads = strcmp(a->head, b->head);
    if (heads != 0) {
        return heads;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return strcmp(a->tail, b->tail);
}

/* What separates the list or quotes it in a shell stands for any character; the check at the end sees whether that is
 * too little. */
static const char *escaped(const char *text, MerArena *arena)
{
    char *made = mer_arena_alloc(arena, 2 * strlen(text) + 1), *to = made;
    for (; *text; text++) {
        if (strchr(",='", *text)) {
            *to++ = '.';
            continue;
        }
        if (strchr("\\^$.|?*+()[]{}", *text)) {
            *to++ = '\\';
        }
        *to++ = *text;
    }
    return made;
}

static void add_rule(List *list, int unit, const char *pattern)
{
    MER_GROW(list->arena, list->rules, list->rule_count);
    list->rules[list->rule_count++] = (Rule){pattern, unit};
}

/* "(a|b)", or "a" alone. */
static const char *bracket(const char *pattern, MerArena *arena)
{
    return strchr(pattern, '|') ? mer_arena_format(arena, "(%s)", pattern) : pattern;
}

/* The unit of the layer from `from` up to `to`; -1: its tensors are on several. */
static int unit_of(const List *list, int from, int to)
{
    for (int t = from + 1; t < to; t++) {
        if (list->tensors[t].unit != list->tensors[from].unit) {
            return -1;
        }
    }
    return list->tensors[from].unit;
}

static int end_of_layer(const List *list, int from, int end)
{
    int to = from + 1;
    while (to < end && list->tensors[to].number == list->tensors[from].number) {
        to++;
    }
    return to;
}

/* Layers that are whole on `unit`, as one rule. */
static void add_layers(List *list, int begin, int end, int unit)
{
    int64_t *numbers = MER_ARRAY(list->arena, int64_t, end - begin);
    int      count = 0;
    for (int from = begin, to; from < end; from = to) {
        to = end_of_layer(list, from, end);
        if (unit_of(list, from, to) == unit) {
            numbers[count++] = list->tensors[from].number;
        }
    }
    if (count > 0) {
        const char *range = mer_number_pattern(numbers, count, list->arena);
        add_rule(list, unit,
                 mer_arena_format(list->arena, "^%s%s(\\..*)?$",
                                  escaped(list->tensors[begin].head, list->arena),
                                  bracket(range, list->arena)));
    }
}

typedef struct Tail { /* tensors of one name, in the layers that are not whole */
    const char *text, *range;
} Tail;

static Tail tail_of(const List *list, const Tensor *const *split, int count, int unit,
                    const char *text)
{
    int64_t *numbers = MER_ARRAY(list->arena, int64_t, count + 1);
    int      found = 0;
    for (int i = 0; i < count; i++) {
        if (split[i]->unit == unit && strcmp(split[i]->tail, text) == 0) {
            numbers[found++] = split[i]->number;
        }
    }
    return (Tail){text, mer_number_pattern(numbers, found, list->arena)};
}

/* Names as alternatives, escaped. */
static const char *add_name(const List *list, const char *names, const char *name)
{
    return mer_arena_format(list->arena, "%s%s%s", names ? names : "", names ? "|" : "",
                            escaped(name, list->arena));
}

/* Names of the other layers that are on `unit` somewhere, each once. */
static int find_tails(const List *list, const Tensor *const *split, int split_count, int unit,
                      Tail *tails)
{
    int count = 0;
    for (int i = 0; i < split_count; i++) {
        int known = 0;
        while (known < count && strcmp(tails[known].text, split[i]->tail) != 0) {
            known++;
        }
        if (split[i]->unit == unit && known == count) {
            tails[count++] = tail_of(list, split, split_count, unit, split[i]->tail);
        }
    }
    return count;
}

/* Tensors of the other layers on `unit`: names with the same layers are one rule. */
static void add_tails(List *list, int begin, int end, int unit)
{
    const Tensor **split = MER_ARRAY(list->arena, const Tensor *, end - begin);
    Tail          *tails = MER_ARRAY(list->arena, Tail, end - begin);
    const char    *head = escaped(list->tensors[begin].head, list->arena);
    int            split_count = 0;
    for (int from = begin, to; from < end; from = to) {
        to = end_of_layer(list, from, end);
        for (int t = from; t < to && unit_of(list, from, to) < 0; t++) {
            split[split_count++] = &list->tensors[t];
        }
    }
    int count = find_tails(list, split, split_count, unit, tails);
    for (int i = 0; i < count; i++) {
        const char *names = NULL, *range = tails[i].range;
        for (int k = i; k < count && range; k++) {
            if (tails[k].range && strcmp(tails[k].range, range) == 0) {
                names = add_name(list, names, tails[k].text);
                tails[k].range = NULL;
            }
        }
        if (names) {
            add_rule(list, unit,
                     mer_arena_format(list->arena, "^%s%s%s$", head, bracket(range, list->arena),
                                      bracket(names, list->arena)));
        }
    }
}

/* Tensors without a number on one unit, some at a time. */
static void add_names(List *list, int unit)
{
    const char *names = NULL;
    for (int t = 0, count = 0; t <= list->tensor_count; t++) {
        const Tensor *tensor = t < list->tensor_count ? &list->tensors[t] : NULL;
        if (names && (!tensor || count == MOST_NAMES)) {
            add_rule(list, unit,
                     mer_arena_format(list->arena, "^%s$", bracket(names, list->arena)));
            names = NULL;
            count = 0;
        }
        if (tensor && tensor->number < 0 && tensor->unit == unit) {
            names = add_name(list, names, tensor->name);
            count++;
        }
    }
}

static void make_rules(List *list)
{
    for (int begin = 0, end; begin < list->tensor_count; begin = end) {
        const Tensor *first = &list->tensors[begin];
        end = begin + 1;
        while (end < list->tensor_count && strcmp(first->head, list->tensors[end].head) == 0) {
            end++;
        }
        for (int u = 0; u < list->place->unit_count && first->number >= 0; u++) {
            add_layers(list, begin, end, u);
            add_tails(list, begin, end, u);
        }
    }
    for (int u = 0; u < list->place->unit_count; u++) {
        add_names(list, u);
    }
}

/* Does every tensor match exactly one expression, that of its unit? */
static MerStatus check_rules(const List *list, MerError *error)
{
    MerStatus status = MER_OK;
    if ((double)list->rule_count * list->tensor_count > MOST_TRIALS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "llama_override: %d tensors need %d expressions, which is no list for "
                             "a command line",
                             list->tensor_count, list->rule_count);
    }
    int *matches = MER_ARRAY(list->arena, int, list->tensor_count);
    for (int r = 0; r < list->rule_count && status == MER_OK; r++) {
        regex_t regex;
        if (regcomp(&regex, list->rules[r].pattern, REG_EXTENDED | REG_NOSUB) != 0) {
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "llama_override: %.200s is no regular expression",
                                 list->rules[r].pattern);
        }
        for (int t = 0; t < list->tensor_count && status == MER_OK; t++) {
            const Tensor *tensor = &list->tensors[t];
            if (regexec(&regex, tensor->name, 0, NULL, 0) == 0 &&
                (matches[t]++ > 0 || tensor->unit != list->rules[r].unit)) {
                status = mer_error_set(error, MER_UNSUPPORTED,
                                       "llama_override: no expression tells tensor %s from one on "
                                       "another unit",
                                       tensor->name);
            }
        }
        regfree(&regex);
    }
    for (int t = 0; t < list->tensor_count && status == MER_OK; t++) {
        if (matches[t] == 0) {
            status = mer_error_set(error, MER_UNSUPPORTED,
                                   "llama_override: no expression matches tensor %s",
                                   list->tensors[t].name);
        }
    }
    return status;
}

static const char *buffer_of(const MerPlace *place, int unit, MerArena *arena)
{
    static const char *const known[][2] = {
        {"vulkan", "Vulkan"}, {"rocm", "ROCm"}, {"sycl", "SYCL"}, {"metal", "Metal"}};
    const char *class_name = mer_placement_class(place, unit), *buffer = "CUDA";
    if (place->is_host[unit]) {
        return "CPU";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool is_it = strncmp(class_name, known[i][0], strlen(known[i][0])) == 0;
        buffer = is_it ? known[i][1] : buffer;
    }
    return strcmp(buffer, "Metal") == 0
               ? buffer
               : mer_arena_format(arena, "%s%d", buffer, mer_placement_accelerator(place, unit));
}

static MerStatus write_override(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerPlacement     placement = mer_placement(what, files);
    List             list = {.place = placement.place, .arena = files->arena};
    MerPlacedTensor *placed = mer_placement_tensors(&placement, &list.tensor_count);
    list.tensors = MER_ARRAY(list.arena, Tensor, list.tensor_count);
    for (int t = 0; t < list.tensor_count; t++) {
        list.tensors[t] = read_tensor(&placed[t], list.arena);
    }
    qsort(list.tensors, (size_t)list.tensor_count, sizeof *list.tensors, compare_tensors);
    make_rules(&list);
    MER_TRY(check_rules(&list, error));
    FILE *file = mer_export_begin(files);
    if (file) {
        fprintf(file, "--override-tensor '");
        for (int r = 0; r < list.rule_count; r++) {
            fprintf(file, "%s%s=%s", r > 0 ? "," : "", list.rules[r].pattern,
                    buffer_of(list.place, list.rules[r].unit, list.arena));
        }
        fprintf(file, "'\n");
    }
    return mer_export_end(files, file, "llama_override.txt", error);
}

const MerExporterClass mer_exporter_llama_override = {
    .name = "llama_override",
    .summary = "llama_override.txt: the buffer of each tensor, --override-tensor of llama.cpp",
    .problem = "place",
    .write = write_override,
};
