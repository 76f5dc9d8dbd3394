/* A YAML tree from libfyaml's events, with a stack of our own: nothing here recurses deeper than the
 * 200 levels allowed. Aliases are copied, merge keys are resolved, double keys refused. */
#include "base/yaml_build.h"

#include "base/memory.h"

#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value takes about 300 bytes. Those that stand in the text are bounded by its size; a few aliases can make any number. */
enum {
    MOST_NODES = 4000000,
    MOST_COPIES = 1000000,
    MOST_LEVELS = MER_YAML_LEVELS,
    LONGEST_PATH = 160
};

typedef MerYamlBuilder Builder;
typedef MerYamlEntry   Entry;
typedef MerYamlEntries Entries;
typedef MerYamlFrame   Frame;

/* A failure at a place of the text, or at that of the event at hand. */
#define fail(builder, at_line, at_column, ...)                                                     \
    mer_yaml_error(&(MerYaml){.file = (builder)->file, .line = (at_line), .column = (at_column)},  \
                   (builder)->error, __VA_ARGS__)
#define fail_here(builder, ...) fail((builder), (builder)->line, (builder)->column, __VA_ARGS__)

static void grow_entries(Entries *entries)
{
    entries->capacity = entries->capacity == 0 ? 64 : entries->capacity * 2;
    entries->list = mer_heap_resize(entries->list, entries->capacity, sizeof *entries->list);
}

static void push_entry(Entries *entries, Entry entry)
{
    if (entries->count == entries->capacity) {
        grow_entries(entries);
    }
    entries->list[entries->count++] = entry;
}

static bool expects_key(const Builder *builder)
{
    if (builder->depth == 0) {
        return false;
    }
    const Frame *frame = &builder->frames[builder->depth - 1];
    return frame->node->kind == MER_YAML_MAP &&
           (builder->entries.count == frame->start ||
            builder->entries.list[builder->entries.count - 1].value != NULL);
}

/* A path keeps its end when it grows too long: nested long keys must not eat the memory. */
static const char *join_path(Builder *builder, const char *parent, const char *key, size_t index)
{
    char number[32];
    if (key == NULL) {
        snprintf(number, sizeof number, "[%zu]", index);
    }
    const char *dot = key != NULL && *parent != '\0' ? "." : "";
    const char *last = key != NULL ? key : number;
    size_t      length = strlen(parent) + strlen(last);
    if (length <= LONGEST_PATH) {
        return mer_arena_format(builder->arena, "%s%s%s", parent, dot, last);
    }
    size_t skip = length - LONGEST_PATH;
    if (skip < strlen(parent)) {
        return mer_arena_format(builder->arena, "...%s%s%s", parent + skip, dot, last);
    }
    return mer_arena_format(builder->arena, "...%s", last + (skip - strlen(parent)));
}

static const char *next_path(Builder *builder)
{
    if (builder->depth == 0) {
        return "";
    }
    const Frame   *frame = &builder->frames[builder->depth - 1];
    const Entries *entries = &builder->entries;
    const char    *key =
        frame->node->kind == MER_YAML_MAP ? entries->list[entries->count - 1].key : NULL;
    return join_path(builder, frame->node->path, key, entries->count - frame->start);
}

static void attach(Builder *builder, MerYaml *node)
{
    Entries *entries = &builder->entries;
    if (builder->depth == 0) {
        builder->root = node;
    } else if (builder->frames[builder->depth - 1].node->kind == MER_YAML_MAP) {
        entries->list[entries->count - 1].value = node;
    } else {
        push_entry(entries, (Entry){.value = node});
    }
}

static MerStatus new_node(Builder *builder, MerYamlKind kind, const char *path, MerYaml **node)
{
    if (++builder->node_count > MOST_NODES) {
        return fail_here(builder, "more than %d values", MOST_NODES);
    }
    *node = MER_NEW(builder->arena, MerYaml);
    **node = (MerYaml){.kind = kind,
                       .file = builder->file,
                       .line = builder->line,
                       .column = builder->column,
                       .path = path,
                       .arena = builder->arena};
    return MER_OK;
}

/* `depth` counts the collections around the copy and bounds the recursion. */
static MerStatus copy_node(Builder *builder, const MerYaml *from, const char *path, int depth,
                           MerYaml **to)
{
    if (++builder->copy_count > MOST_COPIES) {
        return fail_here(builder, "more than %d values by aliases", MOST_COPIES);
    }
    MER_TRY(new_node(builder, from->kind, path, to));
    MerYaml *copy = *to;
    *copy = *from;
    copy->path = path;
    if (from->kind == MER_YAML_SCALAR) {
        return MER_OK;
    }
    if (depth >= MOST_LEVELS) {
        return fail_here(builder, "nested deeper than %d levels", MOST_LEVELS);
    }
    copy->items = MER_ARRAY(builder->arena, MerYaml *, from->count);
    for (int i = 0; i < from->count; i++) {
        const char *key = from->kind == MER_YAML_MAP ? from->keys[i] : NULL;
        const char *child = join_path(builder, path, key, (size_t)i);
        MER_TRY(copy_node(builder, from->items[i], child, depth + 1, &copy->items[i]));
    }
    return MER_OK;
}

/* libfyaml 0.7 leaks in fy_token_get_text when a text in single quotes holds many quotes. */
static const char *single_quoted_text(struct fy_token *token, MerArena *arena, size_t *length)
{
    size_t                capacity = fy_token_get_text_length(token);
    char                 *text = mer_arena_alloc(arena, capacity + 1);
    struct fy_token_iter *iterator = fy_token_iter_create(token);
    if (iterator == NULL) {
        mer_out_of_memory(capacity);
    }
    const struct fy_iter_chunk *chunk = NULL;
    while ((chunk = fy_token_iter_chunk_next(iterator, chunk, NULL)) != NULL &&
           chunk->len <= capacity - *length) {
        memcpy(text + *length, chunk->str, chunk->len);
        *length += chunk->len;
    }
    fy_token_iter_destroy(iterator);
    return text;
}

static const char *token_text(Builder *builder, struct fy_token *token, MerArena *arena,
                              MerStatus *status)
{
    size_t      length = 0;
    const char *text = NULL;
    if (token != NULL && fy_token_scalar_style(token) == FYSS_SINGLE_QUOTED) {
        text = single_quoted_text(token, builder->scratch, &length);
    } else if (token != NULL) {
        text = fy_token_get_text(token, &length);
    }
    if (text == NULL) {
        text = "";
        length = 0;
    }
    if (memchr(text, '\0', length) != NULL) {
        *status = fail_here(builder, "a text holds the character NUL, expected none");
    }
    return mer_arena_text_n(arena, text, length);
}

static const char *anchor_text(Builder *builder, struct fy_event *event)
{
    struct fy_token *token = fy_event_get_anchor_token(event);
    MerStatus        ignored;
    return token == NULL ? NULL : token_text(builder, token, builder->scratch, &ignored);
}

static void take_tag(Builder *builder, struct fy_event *event, MerYaml *node)
{
    struct fy_token *token = fy_event_get_tag_token(event);
    if (token == NULL) {
        return;
    }
    const char *handle = fy_tag_token_handle0(token), *suffix = fy_tag_token_suffix0(token);
    node->tag = mer_arena_format(builder->arena, "%s%s", handle != NULL ? handle : "",
                                 suffix != NULL ? suffix : "");
    if (strcmp(node->tag, "!!str") == 0 || strcmp(node->tag, "!") == 0) {
        node->quoted = true;
    }
}

static MerStatus on_scalar(Builder *builder, struct fy_event *event)
{
    struct fy_token     *token = fy_event_get_token(event);
    enum fy_scalar_style style = token == NULL ? FYSS_PLAIN : fy_token_scalar_style(token);
    MerStatus            status = MER_OK;
    bool                 quoted = style != FYSS_PLAIN;
    /* libfyaml puts the place behind the opening quote. */
    if (builder->column > 1 && (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)) {
        builder->column--;
    }
    const char *text = token_text(builder, token, builder->arena, &status);
    MER_TRY(status);
    if (expects_key(builder)) {
        push_entry(&builder->entries, (Entry){.key = text,
                                              .line = builder->line,
                                              .column = builder->column,
                                              .is_merge = !quoted && strcmp(text, "<<") == 0});
        return MER_OK;
    }
    MerYaml *node;
    MER_TRY(new_node(builder, MER_YAML_SCALAR, next_path(builder), &node));
    node->text = text;
    node->quoted = quoted;
    take_tag(builder, event, node);
    const char *anchor = anchor_text(builder, event);
    if (anchor != NULL) {
        mer_name_table_set(&builder->anchors, anchor, node);
    }
    attach(builder, node);
    return MER_OK;
}

static MerStatus on_start(Builder *builder, struct fy_event *event, MerYamlKind kind)
{
    if (expects_key(builder)) {
        return fail_here(builder, "a key is a %s, expected a word",
                         kind == MER_YAML_MAP ? "map" : "list");
    }
    if (builder->depth == MOST_LEVELS) {
        return fail_here(builder, "nested deeper than %d levels", MOST_LEVELS);
    }
    MerYaml *node;
    MER_TRY(new_node(builder, kind, next_path(builder), &node));
    take_tag(builder, event, node);
    attach(builder, node);
    builder->frames[builder->depth++] = (Frame){
        .node = node, .anchor = anchor_text(builder, event), .start = builder->entries.count};
    return MER_OK;
}

static MerStatus on_alias(Builder *builder, struct fy_event *event)
{
    MerStatus   status = MER_OK;
    const char *name = token_text(builder, fy_event_get_token(event), builder->scratch, &status);
    builder->column -= builder->column > 1; /* libfyaml puts the place behind the star */
    if (expects_key(builder)) {
        return fail_here(builder, "a key is the alias *%s, expected a word", name);
    }
    const MerYaml *target = mer_name_table_find(&builder->anchors, name);
    if (target == NULL) {
        return fail_here(builder, "no anchor &%s before the alias *%s", name, name);
    }
    MerYaml *copy;
    MER_TRY(copy_node(builder, target, next_path(builder), builder->depth, &copy));
    attach(builder, copy);
    return MER_OK;
}

static MerStatus merge_map(Builder *builder, MerNameTable *keys, const MerYaml *from,
                           const MerYaml *into)
{
    if (from->kind != MER_YAML_MAP) {
        return mer_yaml_expected(from, builder->error, "a map or a list of maps");
    }
    for (int i = 0; i < from->count; i++) {
        if (mer_name_table_find(keys, from->keys[i]) != NULL) {
            continue;
        }
        const char *path = join_path(builder, into->path, from->keys[i], 0);
        MerYaml    *copy;
        MER_TRY(copy_node(builder, from->items[i], path, builder->depth, &copy));
        mer_name_table_set(keys, from->keys[i], copy);
        push_entry(&builder->merged, (Entry){.value = copy,
                                             .key = from->keys[i],
                                             .line = from->key_lines[i],
                                             .column = from->key_columns[i]});
    }
    return MER_OK;
}

/* `<<: *a` and `<<: [*a, *b]`: the map's own keys win, then the earlier of the list. */
static MerStatus merge_value(Builder *builder, MerNameTable *keys, const MerYaml *value,
                             const MerYaml *into)
{
    bool is_list = value->kind == MER_YAML_LIST;
    for (int i = 0; i < (is_list ? value->count : 1); i++) {
        MER_TRY(merge_map(builder, keys, is_list ? value->items[i] : value, into));
    }
    return MER_OK;
}

static MerStatus check_double_keys(Builder *builder, MerNameTable *keys, Entry *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const Entry *first = mer_name_table_find(keys, list[i].key);
        if (first != NULL) {
            return fail(builder, list[i].line, list[i].column,
                        "double key \"%.80s\", first at %d:%d", list[i].key, first->line,
                        first->column);
        }
        mer_name_table_set(keys, list[i].key, &list[i]);
    }
    return MER_OK;
}

static MerStatus close_map(Builder *builder, const Frame *frame)
{
    Entry       *list = builder->entries.list + frame->start;
    size_t       count = builder->entries.count - frame->start;
    MerNameTable keys = {.arena = builder->key_arena};
    MerStatus    status = check_double_keys(builder, &keys, list, count);
    builder->merged.count = 0;
    for (size_t i = 0; status == MER_OK && i < count; i++) {
        if (list[i].is_merge) {
            status = merge_value(builder, &keys, list[i].value, frame->node);
        } else {
            push_entry(&builder->merged, list[i]);
        }
    }
    mer_arena_reset(builder->key_arena);
    MerYaml *node = frame->node;
    node->count = (int)builder->merged.count;
    node->items = MER_ARRAY(builder->arena, MerYaml *, node->count);
    node->keys = MER_ARRAY(builder->arena, const char *, node->count);
    node->key_lines = MER_ARRAY(builder->arena, int, node->count);
    node->key_columns = MER_ARRAY(builder->arena, int, node->count);
    for (int i = 0; i < node->count; i++) {
        node->items[i] = builder->merged.list[i].value;
        node->keys[i] = builder->merged.list[i].key;
        node->key_lines[i] = builder->merged.list[i].line;
        node->key_columns[i] = builder->merged.list[i].column;
    }
    return status;
}

static void close_list(Builder *builder, const Frame *frame)
{
    MerYaml *node = frame->node;
    node->count = (int)(builder->entries.count - frame->start);
    node->items = MER_ARRAY(builder->arena, MerYaml *, node->count);
    for (int i = 0; i < node->count; i++) {
        node->items[i] = builder->entries.list[frame->start + (size_t)i].value;
    }
}

static MerStatus on_end(Builder *builder)
{
    const Frame *frame = &builder->frames[builder->depth - 1];
    MerStatus    status = MER_OK;
    if (frame->node->kind == MER_YAML_MAP) {
        status = close_map(builder, frame);
    } else {
        close_list(builder, frame);
    }
    builder->entries.count = frame->start;
    builder->depth--;
    if (frame->anchor != NULL) {
        mer_name_table_set(&builder->anchors, frame->anchor, frame->node);
    }
    return status;
}

MerStatus mer_yaml_builder_take(MerYamlBuilder *builder, struct fy_event *event)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    if (mark != NULL) {
        builder->line = mark->line + 1;
        builder->column = mark->column + 1;
    }
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return builder->document_count++ == 0
                   ? MER_OK
                   : fail_here(builder, "a second document starts, expected one per file");
    case FYET_SCALAR:
        return on_scalar(builder, event);
    case FYET_ALIAS:
        return on_alias(builder, event);
    case FYET_SEQUENCE_START:
        return on_start(builder, event, MER_YAML_LIST);
    case FYET_MAPPING_START:
        return on_start(builder, event, MER_YAML_MAP);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        return on_end(builder);
    case FYET_STREAM_END:
        builder->is_complete = true;
        return MER_OK;
    default:
        return MER_OK;
    }
}

MerYamlBuilder *mer_yaml_builder_new(const char *file, MerArena *arena, MerError *error)
{
    MerYamlBuilder *builder = mer_heap_zeroed(1, sizeof *builder);
    builder->file = mer_arena_text(arena, file);
    builder->arena = arena;
    builder->scratch = mer_arena_new();
    builder->key_arena = mer_arena_new();
    builder->anchors.arena = builder->scratch;
    builder->line = builder->column = 1;
    builder->error = error;
    grow_entries(&builder->entries);
    return builder;
}

void mer_yaml_builder_free(MerYamlBuilder *builder)
{
    mer_arena_free(builder->key_arena);
    mer_arena_free(builder->scratch);
    free(builder->entries.list);
    free(builder->merged.list);
    free(builder);
}
