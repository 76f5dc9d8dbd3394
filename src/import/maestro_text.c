/* Tokens and a recursive-descent parser for MAESTRO's `.m` files (docs/datacentric-model.md, "Layers,
 * mappings, machines"). The depth of the grammar is fixed, so nothing here recurses. */
#include "import/maestro_text.h"

#include "base/file.h"
#include "base/name_table.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ITEMS = 1000000 };

typedef struct Parser {
    const char     *path, *next, *end, *line_start;
    int             line;
    char           *word;    /* "" at the end; braces and parentheses are words of one letter */
    MerMaestroPlace place;   /* of `word` */
    bool            is_next; /* a comma stands before `word` */
    MerArena       *arena, *scratch;
    MerNameTable    constants; /* name to int64_t */
    MerStatus       status;
    MerError       *error;
} Parser;

__attribute__((format(printf, 3, 4))) static bool fail_at(Parser *parser, MerMaestroPlace place,
                                                          const char *format, ...)
{
    char    text[400];
    va_list arguments;
    if (parser->status != MER_OK) {
        return false;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    parser->status = mer_error_set(parser->error, MER_INVALID, "%s:%d:%d: %s", parser->path,
                                   place.line, place.column, text);
    return false;
}

static bool expected(Parser *parser, const char *what)
{
    return *parser->word == '\0'
               ? fail_at(parser, parser->place, "the file ends here, expected %s", what)
               : fail_at(parser, parser->place, "found \"%.40s\", expected %s", parser->word, what);
}

static bool is_comment(const Parser *parser, char second)
{
    return parser->end - parser->next >= 2 && parser->next[0] == '/' && parser->next[1] == second;
}

static void skip_comment(Parser *parser)
{
    if (is_comment(parser, '/')) {
        while (parser->next < parser->end && *parser->next != '\n') {
            parser->next++;
        }
        return;
    }
    parser->next += 2;
    while (parser->next < parser->end &&
           !(parser->end - parser->next >= 2 && parser->next[0] == '*' && parser->next[1] == '/')) {
        if (*parser->next++ == '\n') {
            parser->line++;
            parser->line_start = parser->next;
        }
    }
    parser->next = parser->end - parser->next >= 2 ? parser->next + 2 : parser->end;
}

static bool is_space(const Parser *parser)
{
    const char *c = parser->next;
    return isspace((unsigned char)*c) || *c == ',' || *c == ':' || *c == ';' || *c == '\0' ||
           *c == '>' || (parser->end - c >= 2 && c[0] == '-' && c[1] == '>');
}

static void skip_space(Parser *parser)
{
    while (parser->next < parser->end) {
        if (is_comment(parser, '/') || is_comment(parser, '*')) {
            skip_comment(parser);
        } else if (is_space(parser)) {
            parser->is_next |= *parser->next == ',';
            if (*parser->next++ == '\n') {
                parser->line++;
                parser->line_start = parser->next;
            }
        } else {
            return;
        }
    }
}

static bool is_brace(char c)
{
    return c == '{' || c == '}' || c == '(' || c == ')';
}

/* Moves to the next word. */
static void advance(Parser *parser)
{
    parser->is_next = false;
    skip_space(parser);
    const char *start = parser->next;
    parser->place = (MerMaestroPlace){parser->line, (int)(start - parser->line_start) + 1};
    if (start < parser->end && is_brace(*start)) {
        parser->next++;
    } else {
        while (parser->next < parser->end && !is_brace(*parser->next) && !is_space(parser) &&
               !is_comment(parser, '/') && !is_comment(parser, '*')) {
            parser->next++;
        }
    }
    parser->word = mer_arena_text_n(parser->scratch, start, (size_t)(parser->next - start));
}

static bool is_word(const Parser *parser, const char *word)
{
    return strcmp(parser->word, word) == 0;
}

static bool take(Parser *parser, const char *word)
{
    char what[8];
    if (!is_word(parser, word)) {
        snprintf(what, sizeof what, "\"%s\"", word);
        return expected(parser, what);
    }
    advance(parser);
    return true;
}

static bool take_name(Parser *parser, const char *what, const char **name)
{
    if (*parser->word == '\0' || is_brace(*parser->word)) {
        return expected(parser, what);
    }
    *name = mer_arena_text(parser->arena, parser->word);
    advance(parser);
    return true;
}

/* An integer or the name of a constant. */
static bool take_number(Parser *parser, int64_t *number)
{
    const int64_t *constant = mer_name_table_find(&parser->constants, parser->word);
    if (constant != NULL) {
        *number = *constant;
    } else if (!mer_parse_int(parser->word, number)) {
        return expected(parser, "an integer or the name of a Constant");
    }
    if (*number < 1 || *number > INT32_MAX) {
        return fail_at(parser, parser->place, "the value is %lld, expected an integer in 1 .. %d",
                       (long long)*number, INT32_MAX);
    }
    advance(parser);
    return true;
}

static bool parse_constant(Parser *parser)
{
    const char *name;
    int64_t    *value = MER_NEW(parser->arena, int64_t);
    advance(parser);
    MerMaestroPlace place = parser->place;
    if (!take_name(parser, "the name of a constant", &name)) {
        return false;
    }
    if (mer_name_table_find(&parser->constants, name) != NULL) {
        return fail_at(parser, place, "the constant \"%.40s\" is defined twice", name);
    }
    if (!take_number(parser, value)) {
        return false;
    }
    mer_name_table_set(&parser->constants, name, value);
    return true;
}

/* `{ K: 64, C: 3 }`, colons optional. */
static bool parse_sizes(Parser *parser, MerMaestroSize **sizes, int *count)
{
    if (!take(parser, "{")) {
        return false;
    }
    while (!is_word(parser, "}")) {
        MerMaestroSize size = {0};
        if (*count == 64) {
            return expected(parser, "at most 64 sizes");
        }
        MerMaestroPlace name_place = parser->place;
        if (!take_name(parser, "the name of a size or \"}\"", &size.name)) {
            return false;
        }
        if (mer_maestro_find(*sizes, *count, size.name) != NULL) {
            return fail_at(parser, name_place, "%.40s is given twice", size.name);
        }
        size.place = parser->place;
        if (!take_number(parser, &size.value)) {
            return false;
        }
        MER_GROW(parser->arena, *sizes, *count);
        (*sizes)[(*count)++] = size;
    }
    return take(parser, "}");
}

/* `Sz(D)`, the word at hand being Sz or ending in it. */
static bool parse_size(Parser *parser, int sign, MerMaestroValue *value)
{
    MerMaestroTerm term = {.sign = sign};
    advance(parser);
    if (!take(parser, "(") || !take_name(parser, "the name of a size", &term.size_of)) {
        return false;
    }
    if (value->term_count == MER_MAESTRO_TERMS) {
        return expected(parser, "at most 4 sizes in a value");
    }
    value->terms[value->term_count++] = term;
    return take(parser, ")");
}

/* An integer or a constant inside a word; `length` letters of it are the term. */
static bool add_number(Parser *parser, const char *text, size_t length, int sign, int64_t *sum)
{
    const char    *term = mer_arena_text_n(parser->scratch, text, length);
    const int64_t *constant = mer_name_table_find(&parser->constants, term);
    int64_t        number = constant != NULL ? *constant : 0;
    if (constant == NULL && !mer_parse_int(term, &number)) {
        return expected(parser, "an integer or the name of a Constant");
    }
    if (number < 0 || number > INT32_MAX) {
        return fail_at(parser, parser->place, "the value is %lld, expected an integer in 1 .. %d",
                       (long long)number, INT32_MAX);
    }
    *sum += sign * number;
    return true;
}

/* The terms of one word from `text` on; true in `needs_term` if it ends with a sign. */
static bool parse_terms(Parser *parser, MerMaestroValue *value, int *sign, bool *needs_term)
{
    const char *text = parser->word;
    int64_t     unused;
    bool        is_whole =
        mer_name_table_find(&parser->constants, text) != NULL || mer_parse_int(text, &unused);
    if (*needs_term && is_whole) { /* a name may have a hyphen */
        *needs_term = false;
        return add_number(parser, text, strlen(text), *sign, &value->number) &&
               (advance(parser), true);
    }
    while (*text != '\0') {
        size_t length = strcspn(text, "+-");
        if (length == 0 && *needs_term) {
            return expected(parser, "an integer or the name of a Constant");
        }
        if (length == 0) {
            *sign = *text++ == '-' ? -1 : 1;
            *needs_term = true;
            continue;
        }
        *needs_term = false;
        if (strcmp(text, "Sz") == 0) {
            return parse_size(parser, *sign, value);
        }
        if (!add_number(parser, text, length, *sign, &value->number)) {
            return false;
        }
        text += length;
    }
    advance(parser);
    return true;
}

/* `8`, `Sz(R)` or `8+Sz(S)-1`. */
static bool parse_value(Parser *parser, MerMaestroValue *value)
{
    MerMaestroPlace place = parser->place;
    int             sign = 1;
    bool            needs_term = true;
    *value = (MerMaestroValue){0};
    do {
        if (*parser->word == '\0' || is_brace(*parser->word)) {
            return expected(parser, "an integer or the name of a Constant");
        }
        if (!parse_terms(parser, value, &sign, &needs_term)) {
            return false;
        }
        if (needs_term && parser->is_next) {
            return fail_at(parser, place, "the sum ends with a sign, expected another term");
        }
    } while (needs_term || (!parser->is_next && (*parser->word == '+' || *parser->word == '-')));
    if (value->term_count == 0 && (value->number < 1 || value->number > INT32_MAX)) {
        return fail_at(parser, place, "the value is %lld, expected an integer in 1 .. %d",
                       (long long)value->number, INT32_MAX);
    }
    return true;
}

/* `TemporalMap(size,offset) K`, `SpatialMap(size,offset) K` or `Cluster(size, P)`. */
static bool parse_directive(Parser *parser, MerMaestroDirective *directive)
{
    static const char *const names[] = {"TemporalMap", "SpatialMap", "Cluster"};
    int                      kind = 0;
    while (kind < 3 && !is_word(parser, names[kind])) {
        kind++;
    }
    if (kind == 3) {
        return expected(parser, "TemporalMap, SpatialMap, Cluster or \"}\"");
    }
    *directive =
        (MerMaestroDirective){.kind = (MerMaestroMap)kind, .dim = "", .place = parser->place};
    advance(parser);
    if (!take(parser, "(") || !parse_value(parser, &directive->size)) {
        return false;
    }
    if (kind == MER_MAESTRO_CLUSTER) {
        if (!is_word(parser, ")") && !take_name(parser, "P or L", &directive->dim)) {
            return false;
        }
        return take(parser, ")");
    }
    return parse_value(parser, &directive->offset) && take(parser, ")") &&
           take_name(parser, "the name of a size", &directive->dim);
}

static bool parse_dataflow(Parser *parser, MerMaestroLayer *layer)
{
    if (layer->has_dataflow) {
        return fail_at(parser, parser->place, "layer %.40s has a second Dataflow", layer->name);
    }
    layer->has_dataflow = true;
    if (!take(parser, "{")) {
        return false;
    }
    while (!is_word(parser, "}")) {
        MerMaestroDirective directive;
        if (layer->directive_count == MAX_ITEMS || !parse_directive(parser, &directive)) {
            return expected(parser, "fewer directives");
        }
        MER_GROW(parser->arena, layer->directives, layer->directive_count);
        layer->directives[layer->directive_count++] = directive;
    }
    return take(parser, "}");
}

static bool parse_type(Parser *parser, MerMaestroLayer *layer)
{
    layer->type_place = parser->place;
    return take_name(parser, "the type of a layer", &layer->type);
}

static bool parse_layer(Parser *parser, MerMaestroLayer *layer)
{
    *layer = (MerMaestroLayer){.type = "", .place = parser->place};
    if (!take(parser, "Layer") || !take_name(parser, "the name of a layer", &layer->name) ||
        !take(parser, "{")) {
        return false;
    }
    bool good = true;
    while (good && !is_word(parser, "}")) {
        bool is_type = is_word(parser, "Type"), is_stride = is_word(parser, "Stride");
        bool is_dims = is_word(parser, "Dimensions"), is_flow = is_word(parser, "Dataflow");
        if (!is_type && !is_stride && !is_dims && !is_flow) {
            return expected(parser, "Type, Stride, Dimensions, Dataflow or \"}\"");
        }
        advance(parser);
        good = is_type     ? parse_type(parser, layer)
               : is_stride ? parse_sizes(parser, &layer->strides, &layer->stride_count)
               : is_dims   ? parse_sizes(parser, &layer->dims, &layer->dim_count)
                           : parse_dataflow(parser, layer);
    }
    return good && take(parser, "}");
}

static bool parse_network(Parser *parser, MerMaestroFile *file)
{
    MerMaestroNetwork network = {.place = parser->place};
    advance(parser);
    if (!take_name(parser, "the name of a network", &network.name) || !take(parser, "{")) {
        return false;
    }
    while (!is_word(parser, "}")) {
        MerMaestroLayer layer;
        if (!is_word(parser, "Layer")) {
            return expected(parser, "Layer or \"}\"");
        }
        if (network.layer_count == MAX_ITEMS || !parse_layer(parser, &layer)) {
            return expected(parser, "fewer layers");
        }
        MER_GROW(parser->arena, network.layers, network.layer_count);
        network.layers[network.layer_count++] = layer;
        /* Words are needed no longer than the layer they stand in. */
        char *word = mer_arena_text(parser->arena, parser->word);
        mer_arena_reset(parser->scratch);
        parser->word = word;
    }
    MER_GROW(parser->arena, file->networks, file->network_count);
    file->networks[file->network_count++] = network;
    return take(parser, "}");
}

/* A block of hardware, whose keys are another reader's: skipped with its braces. */
static bool skip_block(Parser *parser)
{
    int depth = 0;
    advance(parser);
    if (!is_word(parser, "{")) {
        return expected(parser, "\"{\"");
    }
    do {
        depth += is_word(parser, "{") - is_word(parser, "}");
        if (*parser->word == '\0') {
            return expected(parser, "\"}\"");
        }
        advance(parser);
    } while (depth > 0);
    return true;
}

static void parse_file(Parser *parser, MerMaestroFile *file)
{
    bool good = true;
    advance(parser);
    while (good && *parser->word != '\0') {
        good = is_word(parser, "Constant")      ? parse_constant(parser)
               : is_word(parser, "Network")     ? parse_network(parser, file)
               : is_word(parser, "Accelerator") ? skip_block(parser)
                                                : expected(parser, "Constant or Network");
    }
}

MerStatus mer_maestro_parse(const char *path, const char *text, size_t size, MerArena *arena,
                            MerMaestroFile *file, MerError *error)
{
    Parser parser = {.path = path,
                     .next = text,
                     .end = text + size,
                     .line_start = text,
                     .line = 1,
                     .arena = arena,
                     .scratch = mer_arena_new(),
                     .constants = {.arena = arena},
                     .error = error};
    *file = (MerMaestroFile){0};
    parse_file(&parser, file);
    mer_arena_free(parser.scratch);
    return parser.status;
}

const MerMaestroSize *mer_maestro_find(const MerMaestroSize *sizes, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(sizes[i].name, name) == 0) {
            return &sizes[i];
        }
    }
    return NULL;
}
