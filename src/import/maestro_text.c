/* Tokens and a recursive-descent parser for MAESTRO's `.m` files (docs/datacentric-model.md, "Layers,
 * mappings, machines"). The depth of the grammar is fixed, so nothing here recurses. */
#include "import/maestro_text.h"

#include "base/name_table.h"
#include "mercator/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ITEMS = 1000000 };

#define NUMBER "an integer or the name of a Constant"
#define OUT_OF_RANGE "the value is %lld, expected an integer in 1 .. %d"

typedef struct Parser {
    const char     *path, *next, *end, *line_start;
    int             line;
    const char     *word;    /* "" at the end; braces and parentheses are words of one letter */
    MerMaestroPlace place;   /* of `word` */
    bool            is_next; /* a comma stands before `word` */
    MerArena       *arena, *scratch;
    MerNameTable    constants; /* name to int64_t */
    MerStatus       status;    /* of the first failure */
    MerError       *error;
} Parser;

/* Keeps the first message and jumps to the end of the file: what is parsed after that is harmless. */
__attribute__((format(printf, 3, 4))) static void fail_at(Parser *parser, MerMaestroPlace place,
                                                          const char *format, ...)
{
    char    text[400];
    va_list arguments;
    if (parser->status != MER_OK) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    parser->status = mer_error_set(parser->error, MER_INVALID, "%s:%d:%d: %s", parser->path,
                                   place.line, place.column, text);
    parser->next = parser->end;
    parser->word = "";
}

static void expected(Parser *parser, const char *what)
{
    if (*parser->word == '\0') {
        fail_at(parser, parser->place, "the file ends here, expected %s", what);
    } else {
        fail_at(parser, parser->place, "found \"%.40s\", expected %s", parser->word, what);
    }
}

static bool is_pair(const Parser *parser, char first, char second)
{
    return parser->end - parser->next >= 2 && parser->next[0] == first && parser->next[1] == second;
}

static bool is_comment(const Parser *parser)
{
    return is_pair(parser, '/', '/') || is_pair(parser, '/', '*');
}

static void step(Parser *parser)
{
    if (*parser->next++ == '\n') {
        parser->line++;
        parser->line_start = parser->next;
    }
}

static void skip_comment(Parser *parser)
{
    bool is_line = is_pair(parser, '/', '/');
    parser->next += 2;
    while (parser->next < parser->end &&
           !(is_line ? *parser->next == '\n' : is_pair(parser, '*', '/'))) {
        step(parser);
    }
    parser->next += !is_line && parser->next < parser->end ? 2 : 0;
}

static bool is_space(const Parser *parser)
{
    char c = *parser->next;
    return isspace((unsigned char)c) || c == ',' || c == ':' || c == ';' || c == '\0' || c == '>' ||
           is_pair(parser, '-', '>');
}

static void skip_space(Parser *parser)
{
    while (parser->next < parser->end && (is_comment(parser) || is_space(parser))) {
        if (is_comment(parser)) {
            skip_comment(parser);
        } else {
            parser->is_next |= *parser->next == ',';
            step(parser);
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
               !is_comment(parser)) {
            parser->next++;
        }
    }
    parser->word = mer_arena_text_n(parser->scratch, start, (size_t)(parser->next - start));
}

static bool is_word(const Parser *parser, const char *word)
{
    return strcmp(parser->word, word) == 0;
}

/* Inside a block: it has not ended, and nothing has failed. */
static bool is_open(const Parser *parser)
{
    return parser->status == MER_OK && !is_word(parser, "}");
}

static void take(Parser *parser, const char *word)
{
    if (is_word(parser, word)) {
        advance(parser);
    } else {
        expected(parser, mer_arena_format(parser->scratch, "\"%s\"", word));
    }
}

static const char *take_name(Parser *parser, const char *what)
{
    const char *name = "";
    if (*parser->word == '\0' || is_brace(*parser->word)) {
        expected(parser, what);
    } else {
        name = mer_arena_text(parser->arena, parser->word);
        advance(parser);
    }
    return name;
}

/* An integer or the name of a constant. */
static int64_t number_of(Parser *parser, const char *word, int64_t minimum)
{
    const int64_t *constant = mer_name_table_find(&parser->constants, word);
    int64_t        number = constant != NULL ? *constant : 0;
    if (constant == NULL && !mer_parse_int(word, &number)) {
        expected(parser, NUMBER);
    } else if (number < minimum || number > INT32_MAX) {
        fail_at(parser, parser->place, OUT_OF_RANGE, (long long)number, INT32_MAX);
    }
    return number;
}

static int64_t take_number(Parser *parser)
{
    int64_t number = number_of(parser, parser->word, 1);
    advance(parser);
    return number;
}

static void parse_constant(Parser *parser)
{
    int64_t *value = MER_NEW(parser->arena, int64_t);
    advance(parser);
    MerMaestroPlace place = parser->place;
    const char     *name = take_name(parser, "the name of a constant");
    if (mer_name_table_find(&parser->constants, name) != NULL) {
        fail_at(parser, place, "the constant \"%.40s\" is defined twice", name);
    }
    *value = take_number(parser);
    mer_name_table_set(&parser->constants, name, value);
}

/* `{ K: 64, C: 3 }`, colons optional. */
static void parse_sizes(Parser *parser, MerMaestroSize **sizes, int *count)
{
    take(parser, "{");
    while (is_open(parser)) {
        MerMaestroPlace name_place = parser->place;
        if (*count == 64) {
            expected(parser, "at most 64 sizes");
        }
        MerMaestroSize size = {.name = take_name(parser, "the name of a size or \"}\"")};
        if (mer_maestro_find(*sizes, *count, size.name) != NULL) {
            fail_at(parser, name_place, "%.40s is given twice", size.name);
        }
        size.place = parser->place;
        size.value = take_number(parser);
        MER_GROW(parser->arena, *sizes, *count);
        (*sizes)[(*count)++] = size;
    }
    take(parser, "}");
}

/* `Sz(D)`, the word at hand being Sz or ending in it. */
static void parse_size(Parser *parser, int sign, MerMaestroValue *value)
{
    advance(parser);
    take(parser, "(");
    MerMaestroTerm term = {.size_of = take_name(parser, "the name of a size"), .sign = sign};
    if (value->term_count == MER_MAESTRO_TERMS) {
        expected(parser, "at most 4 sizes in a value");
    } else {
        value->terms[value->term_count++] = term;
    }
    take(parser, ")");
}

/* The terms of one word; true in `needs_term` if it ends with a sign. */
static void parse_terms(Parser *parser, MerMaestroValue *value, int *sign, bool *needs_term)
{
    const char *text = parser->word;
    int64_t     unused;
    bool        is_whole =
        mer_name_table_find(&parser->constants, text) != NULL || mer_parse_int(text, &unused);
    while (parser->status == MER_OK && *text != '\0') {
        /* A name may have a hyphen. */
        size_t length = *needs_term && is_whole ? strlen(text) : strcspn(text, "+-");
        if (length == 0 && *needs_term) {
            expected(parser, NUMBER);
        } else if (length == 0) {
            *sign = *text++ == '-' ? -1 : 1;
            *needs_term = true;
        } else if (strcmp(text, "Sz") == 0) {
            *needs_term = false;
            parse_size(parser, *sign, value);
            return;
        } else {
            *needs_term = false;
            value->number +=
                *sign * number_of(parser, mer_arena_text_n(parser->scratch, text, length), 0);
            text += length;
        }
    }
    advance(parser);
}

/* `8`, `Sz(R)` or `8+Sz(S)-1`. */
static MerMaestroValue parse_value(Parser *parser)
{
    MerMaestroPlace place = parser->place;
    MerMaestroValue value = {0};
    int             sign = 1;
    bool            needs_term = true;
    do {
        if (*parser->word == '\0' || is_brace(*parser->word)) {
            expected(parser, NUMBER);
        }
        parse_terms(parser, &value, &sign, &needs_term);
        if (needs_term && parser->is_next) {
            fail_at(parser, place, "the sum ends with a sign, expected another term");
        }
    } while (parser->status == MER_OK &&
             (needs_term || (!parser->is_next && (*parser->word == '+' || *parser->word == '-'))));
    if (value.term_count == 0 && (value.number < 1 || value.number > INT32_MAX)) {
        fail_at(parser, place, OUT_OF_RANGE, (long long)value.number, INT32_MAX);
    }
    return value;
}

/* `TemporalMap(size,offset) K`, `SpatialMap(size,offset) K` or `Cluster(size, P)`. */
static MerMaestroDirective parse_directive(Parser *parser)
{
    static const char *const names[] = {"TemporalMap", "SpatialMap", "Cluster"};
    MerMaestroDirective      directive = {.dim = "", .place = parser->place};
    int                      kind = 0;
    while (kind < 3 && !is_word(parser, names[kind])) {
        kind++;
    }
    if (kind == 3) {
        expected(parser, "TemporalMap, SpatialMap, Cluster or \"}\"");
    }
    directive.kind = (MerMaestroMap)kind;
    advance(parser);
    take(parser, "(");
    directive.size = parse_value(parser);
    if (kind == MER_MAESTRO_CLUSTER) {
        directive.dim = is_word(parser, ")") ? "" : take_name(parser, "P or L");
        take(parser, ")");
    } else {
        directive.offset = parse_value(parser);
        take(parser, ")");
        directive.dim = take_name(parser, "the name of a size");
    }
    return directive;
}

static void parse_dataflow(Parser *parser, MerMaestroLayer *layer)
{
    if (layer->has_dataflow) {
        fail_at(parser, parser->place, "layer %.40s has a second Dataflow", layer->name);
    }
    layer->has_dataflow = true;
    take(parser, "{");
    while (is_open(parser)) {
        if (layer->directive_count == MAX_ITEMS) {
            expected(parser, "fewer directives");
        }
        MER_GROW(parser->arena, layer->directives, layer->directive_count);
        layer->directives[layer->directive_count++] = parse_directive(parser);
    }
    take(parser, "}");
}

static void parse_part(Parser *parser, MerMaestroLayer *layer)
{
    bool is_type = is_word(parser, "Type"), is_stride = is_word(parser, "Stride");
    bool is_dims = is_word(parser, "Dimensions"), is_flow = is_word(parser, "Dataflow");
    if (!is_type && !is_stride && !is_dims && !is_flow) {
        expected(parser, "Type, Stride, Dimensions, Dataflow or \"}\"");
    }
    advance(parser);
    if (is_type) {
        layer->type_place = parser->place;
        layer->type = take_name(parser, "the type of a layer");
    } else if (is_flow) {
        parse_dataflow(parser, layer);
    } else {
        parse_sizes(parser, is_dims ? &layer->dims : &layer->strides,
                    is_dims ? &layer->dim_count : &layer->stride_count);
    }
}

static MerMaestroLayer parse_layer(Parser *parser)
{
    MerMaestroLayer layer = {.type = "", .place = parser->place};
    advance(parser);
    layer.name = take_name(parser, "the name of a layer");
    take(parser, "{");
    while (is_open(parser)) {
        parse_part(parser, &layer);
    }
    take(parser, "}");
    return layer;
}

static void parse_network(Parser *parser, MerMaestroFile *file)
{
    MerMaestroNetwork network = {.place = parser->place};
    advance(parser);
    network.name = take_name(parser, "the name of a network");
    take(parser, "{");
    while (is_open(parser)) {
        if (!is_word(parser, "Layer")) {
            expected(parser, "Layer or \"}\"");
        } else if (network.layer_count == MAX_ITEMS) {
            expected(parser, "fewer layers");
        }
        MER_GROW(parser->arena, network.layers, network.layer_count);
        network.layers[network.layer_count++] = parse_layer(parser);
        /* Words are needed no longer than the layer they stand in. */
        const char *word = mer_arena_text(parser->arena, parser->word);
        mer_arena_reset(parser->scratch);
        parser->word = word;
    }
    MER_GROW(parser->arena, file->networks, file->network_count);
    file->networks[file->network_count++] = network;
    take(parser, "}");
}

/* A block of hardware, whose keys are another reader's: skipped with its braces. */
static void skip_block(Parser *parser)
{
    int depth = 0;
    advance(parser);
    if (!is_word(parser, "{")) {
        expected(parser, "\"{\"");
    }
    do {
        depth += is_word(parser, "{") - is_word(parser, "}");
        if (*parser->word == '\0') {
            expected(parser, "\"}\"");
        }
        advance(parser);
    } while (parser->status == MER_OK && depth > 0);
}

static void parse_file(Parser *parser, MerMaestroFile *file)
{
    advance(parser);
    while (*parser->word != '\0') {
        if (is_word(parser, "Constant")) {
            parse_constant(parser);
        } else if (is_word(parser, "Network")) {
            parse_network(parser, file);
        } else if (is_word(parser, "Accelerator")) {
            skip_block(parser);
        } else {
            expected(parser, "Constant or Network");
        }
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
