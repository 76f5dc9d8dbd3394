/* Writing and reading data-centric mappings. */
#include "layer/directive_format.h"

#include "layer/datacentric_plan.h"
#include "layer/op_format.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Style {                                       /* of directives as text */
    const char *letters, *spatial, *temporal, *open, *close; /* around the size of a cluster */
    int         indent;                                      /* of a level in its parent */
    bool        is_plain;                                    /* without Y' and X' */
} Style;

static const Style brief = {MER_DIM_LETTERS, "S", "T", " ", "", 0, false};
static const Style spoken = {MER_DIM_LETTERS, "SpatialMap", "TemporalMap", " ", "", 2, false};

/* Directives and, between levels, clusters; gives their number. */
static int list_items(const MerDirectivePlan *plan, const Style *style, MerArena *arena,
                      const char ***items)
{
    int count = 0;

    *items = MER_ARRAY(arena, const char *, plan->start[plan->level_count] + plan->level_count);
    for (int l = 0; l < plan->level_count; l++) {
        if (l > 0)
            (*items)[count++] =
                mer_arena_format(arena, "%*sCluster%s%d%s", style->indent * (l - 1), "",
                                 style->open, plan->cluster[l - 1], style->close);
        for (int i = plan->start[l]; i < plan->start[l + 1]; i++) {
            const MerDirective *d = &plan->directives[i];

            (*items)[count++] =
                mer_arena_format(arena, "%*s%s(%d,%d) %c%s", style->indent * l, "",
                                 d->spatial ? style->spatial : style->temporal, d->size, d->offset,
                                 style->letters[d->dim], d->output && !style->is_plain ? "'" : "");
        }
    }
    return count;
}

/* Items with a text before and after each. */
static const char *join_items(const MerDirectivePlan *plan, const Style *style, const char *before,
                              const char *after, MerArena *arena)
{
    const char **items, *text = "";
    int          count = list_items(plan, style, arena, &items);

    for (int i = 0; i < count; i++)
        text = mer_arena_format(arena, "%s%s%s%s", text, before, items[i], after);
    return text;
}

const char *mer_directives_line(const MerDirectivePlan *plan, MerArena *arena)
{
    const char *line = join_items(plan, &brief, " | ", "", arena);

    return *line ? line + 3 : line; /* nothing stands between the first one and none */
}

const char *mer_directives_print(const MerDirectivePlan *plan, MerArena *arena)
{
    return join_items(plan, &spoken, "", "\n", arena);
}

void mer_directives_write(const MerDirectivePlan *plan, MerJson *json)
{
    MerArena    *scratch = mer_arena_new();
    const char **items;
    int          count = list_items(plan, &brief, scratch, &items);

    mer_op_write(plan->op, json);
    mer_json_texts(json, "directives", items, count);
    mer_arena_free(scratch);
}

void mer_directives_begin(MerDirectivePlan *plan, const MerOp *op, int most, MerArena *arena)
{
    plan->op = op;
    plan->level_count = 1;
    plan->cluster = MER_ARRAY(arena, int, most + 1);
    plan->start = MER_ARRAY(arena, int, most + 2);
    plan->directives = MER_ARRAY(arena, MerDirective, most + 1);
}

static const char *skip_spaces(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Reads a size after `at` and gives what follows it; NULL if there is none. */
static const char *read_size(const char *at, int *value)
{
    char *end;
    long  number = strtol(at, &end, 10);

    if (end == at || number < 1 || number > INT_MAX)
        return NULL;
    *value = (int)number;
    return skip_spaces(end);
}

static const char *skip_word(const char *at, const char *word)
{
    size_t length = strlen(word);

    return strncmp(at, word, length) == 0 ? skip_spaces(at + length) : NULL;
}

/* `Cluster 64`, `Cluster(64)` or `Cluster(64, P)`. */
static bool read_cluster(const char *at, int *size)
{
    bool bracket = *at == '(';

    at = read_size(at + bracket, size);
    if (at && bracket && *at == ',') {
        at = skip_spaces(at + 1);
        at = *at == 'P' || *at == 'L' ? skip_spaces(at + 1) : NULL;
    }
    if (at && bracket)
        at = skip_word(at, ")");
    return at && *at == '\0';
}

/* What follows the name: `(size,offset) D`. */
static bool read_map(const char *at, MerDirective *directive)
{
    const char *letter;

    at = skip_word(at, "(");
    at = at ? read_size(at, &directive->size) : NULL;
    at = at ? skip_word(at, ",") : NULL;
    at = at ? read_size(at, &directive->offset) : NULL;
    at = at ? skip_word(at, ")") : NULL;
    letter = at && *at ? strchr(MER_DIM_LETTERS, *at) : NULL;
    if (!letter)
        return false;
    directive->dim = (int)(letter - MER_DIM_LETTERS);
    at++;
    directive->output = *at == '\'';
    at = skip_spaces(at + directive->output);
    return *at == '\0' &&
           (!directive->output || directive->dim == MER_DIM_Y || directive->dim == MER_DIM_X);
}

static bool read_item(MerDirectivePlan *plan, const char *text)
{
    static const struct {
        const char *word;
        bool        spatial;
    } maps[] = {{"SpatialMap", true}, {"TemporalMap", false}, {"S", true}, {"T", false}};
    int         count = plan->start[plan->level_count];
    const char *at = skip_spaces(text), *rest = skip_word(at, "Cluster");

    if (rest) {
        if (count == plan->start[plan->level_count - 1] ||
            !read_cluster(rest, &plan->cluster[plan->level_count - 1]))
            return false;
        plan->start[++plan->level_count] = count;
        return true;
    }
    for (int i = 0; i < 4; i++) {
        rest = skip_word(at, maps[i].word);
        if (rest) {
            plan->directives[count] = (MerDirective){.spatial = maps[i].spatial};
            plan->start[plan->level_count]++;
            return read_map(rest, &plan->directives[count]);
        }
    }
    return false;
}

static bool is_complete(const MerDirectivePlan *plan)
{
    return plan->start[plan->level_count] > plan->start[plan->level_count - 1];
}

static const char expectation[] =
    "a directive such as S(1,1) K, T(3,1) Y' or Cluster 64, no level empty";

MerStatus mer_directives_parse(const char *line, const MerOp *op, MerDirectivePlan *plan,
                               MerArena *arena, MerError *error)
{
    int most = 1;

    for (const char *at = line; *at; at++)
        most += *at == '|';
    mer_directives_begin(plan, op, most, arena);
    for (const char *at = line; at; at = strchr(at, '|')) {
        size_t      length;
        const char *item;

        at += *at == '|';
        length = strcspn(at, "|");
        while (length > 0 && isspace((unsigned char)at[length - 1]))
            length--;
        item = mer_arena_text_n(arena, at, length);
        if (!read_item(plan, item))
            return mer_error_set(error, MER_INVALID,
                                 "column %d: directive is \"%.60s\", expected %s",
                                 (int)(at - line) + 1, item, expectation);
    }
    if (!is_complete(plan))
        return mer_error_set(error, MER_INVALID, "the last level is empty, expected %s",
                             expectation);
    return MER_OK;
}

MerStatus mer_directives_read(MerYaml *body, const MerOp *op, MerDirectivePlan *plan,
                              MerArena *arena, MerError *error)
{
    MerYaml    *list = mer_yaml_get(body, "directives");
    const char *text;

    if (!list)
        return mer_yaml_expected(body, error, "a key \"directives\"");
    if (list->kind == MER_YAML_SCALAR) {
        MER_TRY(mer_yaml_text(list, &text, error));
        return mer_directives_parse(text, op, plan, arena, error);
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    mer_directives_begin(plan, op, list->count, arena);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(mer_yaml_text(list->items[i], &text, error));
        if (!read_item(plan, text))
            return mer_yaml_expected(list->items[i], error, "%s", expectation);
    }
    return is_complete(plan) ? MER_OK : mer_yaml_expected(list, error, "%s", expectation);
}

/* The letters of MAESTRO's GEMM: M rows, N columns, K inner; the rest does not occur there. */
static const char gemm_letters[] = "GNKMXRSG";

static const char *dimensions(const MerDatacentricLayer *layer, MerArena *arena)
{
    static const char convolution[] = "NGKCRSYX", product[] = "MNK";
    const char       *text = "";
    for (const char *letter = layer->type == MER_DATACENTRIC_GEMM ? product : convolution; *letter;
         letter++) {
        const char *all = MER_DATACENTRIC_LETTERS;
        text = mer_arena_format(arena, "%s%s%c: %lld", text, *text ? ", " : "", *letter,
                                (long long)layer->dims[strchr(all, *letter) - all]);
    }
    return text;
}

const char *mer_directives_maestro(const MerDirectivePlan *plan, bool exact, MerArena *arena)
{
    bool                is_gemm = plan->op->kind == MER_OP_GEMM;
    const char         *letters = is_gemm ? gemm_letters : MER_DIM_LETTERS;
    Style               style = {letters, "SpatialMap", "TemporalMap", "(", ", P)", 0, is_gemm};
    MerDatacentricLayer layer;

    mer_datacentric_layer(plan->op, exact, &layer, NULL);
    return mer_arena_format(
        arena,
        "    Layer %.60s {\n        Type: %s\n        Stride { X: %lld, Y: %lld }\n"
        "        Dimensions { %s }\n        Dataflow {\n%s        }\n    }\n",
        plan->op->name ? plan->op->name : "layer", mer_datacentric_type_name(layer.type),
        (long long)layer.stride_x, (long long)layer.stride_y, dimensions(&layer, arena),
        join_items(plan, &style, "            ", ";\n", arena));
}
