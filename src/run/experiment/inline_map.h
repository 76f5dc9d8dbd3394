/* A map inside a YAML file as a text of its own. */
#ifndef MERCATOR_RUN_EXPERIMENT_INLINE_MAP_H
#define MERCATOR_RUN_EXPERIMENT_INLINE_MAP_H

#include "mercator/yaml.h"

/* The map in flow style, with keys and values on the lines and in the columns where they stood, so that
 * messages about the text are right for the file. Without a key `format` it gets `format`. */
const char *mer_inline_text(const MerYaml *map, const char *format, MerArena *arena);

/* Is this text a map (white space, then a brace)? */
bool mer_inline_is(const char *text);

#endif
