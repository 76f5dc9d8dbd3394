/* YAML text to a tree: what libfyaml must not see is refused first, its events go to the builder,
 * and its complaints become one line with a place. */
#include "mercator/yaml.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "base/yaml_build.h"
#include "mercator/text.h"

#include <libfyaml.h>

enum { LARGEST_FILE = 64 << 20, MOST_MARKS = 8000000, MOST_OPEN = 10000 };

typedef struct Scan {
    int line, column;
    int open;  /* brackets, whatever they stand in */
    int marks; /* twice the number of tokens the line may hold */
} Scan;

static void count_marks(Scan *scan, char c)
{
    switch (c) {
    case '\n':
        scan->line++;
        scan->column = scan->marks = 0;
        break;
    case '[':
    case '{':
        scan->open++;
        scan->marks += 2;
        break;
    case ']':
    case '}':
        scan->open -= scan->open > 0;
        scan->marks += 2;
        break;
    case '"':
    case '\'':
        scan->marks++;
        break;
    case ',':
    case ':':
    case '?':
    case '&':
    case '*':
    case '!':
        scan->marks += 2;
        break;
    default:
        break;
    }
    scan->column++;
}

/* libfyaml takes a NUL or a broken sequence for the end of the text, and it keeps all tokens of a
 * line in memory while the line may still turn out to be a key. The counts are coarse because they
 * also see texts and comments, and so generous that no sensible file meets them. */
static MerStatus check_text(const char *name, const char *text, size_t size, MerError *error)
{
    Scan scan = {.line = 1, .column = 1};
    for (size_t i = 0; i < size;) {
        int length = mer_utf8_length(text + i, size - i);
        if (length == 0 || text[i] == '\0') {
            return mer_error_set(error, MER_INVALID,
                                 "%s:%d:%d: found the byte 0x%02x, expected UTF-8 text", name,
                                 scan.line, scan.column, (unsigned char)text[i]);
        }
        count_marks(&scan, text[i]);
        if (scan.open > MOST_OPEN) {
            return mer_error_set(error, MER_INVALID, "%s:%d:%d: nested deeper than %d levels", name,
                                 scan.line, scan.column - 1, MER_YAML_LEVELS);
        }
        if (scan.marks > 2 * MOST_MARKS) {
            return mer_error_set(error, MER_INVALID,
                                 "%s:%d:%d: more than %d values in one line, expected line breaks",
                                 name, scan.line, scan.column - 1, MOST_MARKS);
        }
        i += (size_t)length;
    }
    return MER_OK;
}

static void drop_message(struct fy_diag *diag, void *user, const char *text, size_t size)
{
    (void)diag;
    (void)user;
    (void)text;
    (void)size;
}

/* Collects complaints and prints nothing. */
static struct fy_diag *new_diag(void)
{
    struct fy_diag_cfg configuration;
    fy_diag_cfg_default(&configuration);
    configuration.fp = NULL;
    configuration.output_fn = drop_message;
    struct fy_diag *diag = fy_diag_create(&configuration);
    if (diag == NULL) {
        mer_out_of_memory(sizeof configuration);
    }
    fy_diag_set_collect_errors(diag, true);
    return diag;
}

/* The first thing libfyaml complained about, in its words. */
static MerStatus report(const MerYamlBuilder *builder, struct fy_diag *diag)
{
    void *iterator = NULL;
    for (struct fy_diag_error *found; (found = fy_diag_errors_iterate(diag, &iterator)) != NULL;) {
        if (found->type == FYET_ERROR && found->line > 0) {
            return mer_error_set(builder->error, MER_INVALID, "%s:%d:%d: %s", builder->file,
                                 found->line, found->column, found->msg);
        }
    }
    return mer_error_set(builder->error, MER_INVALID, "%s:%d:%d: this is not YAML", builder->file,
                         builder->line, builder->column);
}

static MerStatus build(MerYamlBuilder *builder, const char *text, size_t size)
{
    struct fy_diag     *diag = new_diag();
    struct fy_parse_cfg configuration = {.flags = FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE |
                                                  FYPCF_DISABLE_MMAP_OPT |
                                                  FYPCF_SLOPPY_FLOW_INDENTATION,
                                         .diag = diag};
    struct fy_parser   *parser = fy_parser_create(&configuration);
    if (parser == NULL || fy_parser_set_string(parser, text, size) != 0) {
        mer_out_of_memory(size);
    }
    MerStatus status = MER_OK;
    for (struct fy_event *event; status == MER_OK && (event = fy_parser_parse(parser)) != NULL;) {
        status = mer_yaml_builder_take(builder, event);
        fy_parser_event_free(parser, event);
    }
    if (status == MER_OK && (fy_parser_get_stream_error(parser) || !builder->is_complete)) {
        status = report(builder, diag);
    }
    if (status == MER_OK && builder->root == NULL) {
        status = mer_error_set(builder->error, MER_INVALID, "%s is empty", builder->file);
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return status;
}

MerStatus mer_yaml_parse(const char *name, const char *text, size_t size, MerArena *arena,
                         MerYaml **root, MerError *error)
{
    if (size > LARGEST_FILE) {
        return mer_error_set(error, MER_INVALID, "%s is larger than %d bytes", name, LARGEST_FILE);
    }
    MER_TRY(check_text(name, text, size, error));
    MerYamlBuilder *builder = mer_yaml_builder_new(name, arena, error);
    MerStatus       status = build(builder, text, size);
    if (status == MER_OK) {
        *root = builder->root;
    }
    mer_yaml_builder_free(builder);
    return status;
}

MerStatus mer_yaml_read(const char *path, MerArena *arena, MerYaml **root, MerError *error)
{
    MerArena *scratch = mer_arena_new();
    char     *text;
    size_t    size;
    MerStatus status = mer_file_read(path, LARGEST_FILE, scratch, &text, &size, error);
    if (status == MER_OK) {
        status = mer_yaml_parse(path, text, size, arena, root, error);
    }
    mer_arena_free(scratch);
    return status;
}
