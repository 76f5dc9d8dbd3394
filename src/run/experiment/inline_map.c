/* Writes a YAML node again in flow style, where white space means nothing: padding puts everything where
 * it stood. What does not fit (quotes that were not there) comes a little later. */
#include "run/experiment/inline_map.h"

#include "mercator/json.h"
#include "mercator/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Writer {
    FILE *file;
    int   line, column; /* where the next character goes, from 1 */
} Writer;

static void put(Writer *writer, const char *text)
{
    fputs(text, writer->file);
    for (const char *c = text; *c; c++) {
        writer->line += *c == '\n';
        /* columns count characters, not the bytes that continue one */
        writer->column = *c == '\n' ? 1 : writer->column + (((unsigned char)*c & 0xc0) != 0x80);
    }
}

static void go_to(Writer *writer, int line, int column)
{
    while (writer->line < line) {
        put(writer, "\n");
    }
    while (writer->line == line && writer->column < column) {
        put(writer, " ");
    }
}

/* May it stand in a flow collection without quotes? Then it keeps its type. */
static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    return text[0] && text[strspn(text, safe)] == '\0';
}

static void put_scalar(Writer *writer, const char *text, bool is_quoted)
{
    if (!is_quoted && is_plain(text)) {
        put(writer, text);
        return;
    }
    MerJson json = {0};
    mer_json_text(&json, NULL, text);
    put(writer, json.text);
    mer_json_free(&json);
}

static void put_node(Writer *writer, const MerYaml *node)
{
    go_to(writer, node->line, node->column);
    if (node->kind == MER_YAML_SCALAR) {
        put_scalar(writer, node->text, node->quoted);
        return;
    }
    bool is_map = node->kind == MER_YAML_MAP;
    put(writer, is_map ? "{" : "[");
    for (int i = 0; i < node->count; i++) {
        put(writer, i ? "," : "");
        if (is_map) {
            go_to(writer, node->key_lines[i], node->key_columns[i]);
            put_scalar(writer, node->keys[i], false);
            put(writer, ": ");
        }
        put_node(writer, node->items[i]);
    }
    put(writer, is_map ? "}" : "]");
}

static bool has_key(const MerYaml *map, const char *key)
{
    for (int i = 0; i < map->count; i++) {
        if (mer_name_equal(map->keys[i], key)) {
            return true;
        }
    }
    return false;
}

const char *mer_inline_text(const MerYaml *map, const char *format, MerArena *arena)
{
    char  *text = NULL;
    size_t size = 0;
    Writer writer = {open_memstream(&text, &size), 1, 1};
    if (!writer.file) {
        return "{}";
    }
    put_node(&writer, map);
    fclose(writer.file);
    bool        is_whole = has_key(map, "format");
    const char *kept = is_whole
                           ? mer_arena_text(arena, text)
                           : mer_arena_format(arena, "%.*s%sformat: %s}", (int)strlen(text) - 1,
                                              text, map->count ? ", " : "", format);
    free(text);
    return kept;
}

bool mer_inline_is(const char *text)
{
    return text[strspn(text, " \n")] == '{';
}
