/* A platform as it stands in another file: `platform: edge`, or a map such as
 * `{extends: edge, memories: [{name: L1, words: 1024}]}`. */
#ifndef MERCATOR_HW_PLATFORM_NODE_H
#define MERCATOR_HW_PLATFORM_NODE_H

#include "mercator/platform.h"
#include "mercator/yaml.h"

/* A map needs no `format`; without a `name` it has that of what it extends. */
MerStatus mer_platform_read_node(MerYaml *node, MerArena *arena, const MerPlatform **platform,
                                 MerError *error);

#endif
