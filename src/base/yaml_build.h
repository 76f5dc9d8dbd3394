/* The tree under construction: what yaml_build.c makes of libfyaml's events, one by one. */
#ifndef MERCATOR_BASE_YAML_BUILD_H
#define MERCATOR_BASE_YAML_BUILD_H

#include "base/name_table.h"
#include "mercator/yaml.h"

struct fy_event;

enum { MER_YAML_LEVELS = 200 };

typedef struct MerYamlEntry { /* of an open list or map; the value of a fresh key is NULL */
    MerYaml    *value;
    const char *key;
    int         line, column;
    bool        is_merge;
} MerYamlEntry;

typedef struct MerYamlEntries {
    MerYamlEntry *list;
    size_t        count, capacity;
} MerYamlEntries;

typedef struct MerYamlFrame { /* an open list or map */
    MerYaml    *node;
    const char *anchor;
    size_t      start; /* its first entry */
} MerYamlFrame;

typedef struct MerYamlBuilder {
    const char    *file;
    MerArena      *arena;     /* of the tree */
    MerArena      *scratch;   /* until the end of the parse */
    MerArena      *key_arena; /* until the end of a map */
    MerNameTable   anchors;   /* name to MerYaml */
    MerYamlFrame   frames[MER_YAML_LEVELS];
    int            depth;
    MerYamlEntries entries, merged;
    int            node_count, copy_count, document_count;
    int            line, column; /* of the last event that had a place */
    bool           is_complete;  /* the end of the text was seen */
    MerYaml       *root;
    MerError      *error;
} MerYamlBuilder;

MerYamlBuilder *mer_yaml_builder_new(const char *file, MerArena *arena, MerError *error);
void            mer_yaml_builder_free(MerYamlBuilder *builder); /* the tree stays in its arena */

MerStatus mer_yaml_builder_take(MerYamlBuilder *builder, struct fy_event *event);

#endif
