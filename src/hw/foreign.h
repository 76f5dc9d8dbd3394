/* Machines described for other tools, as platforms of ours. */
#ifndef MERCATOR_HW_FOREIGN_H
#define MERCATOR_HW_FOREIGN_H

#include "mercator/yaml.h"

/* The root of a platform in our form: `root` itself, or what a Timeloop architecture or VTA's configuration says. */
MerStatus mer_platform_adopt(MerYaml *root, MerYaml **adopted, MerError *error);

/* A platform file of any known form. `paths` may be several Timeloop files joined by commas. */
MerStatus mer_platform_read_file(const char *paths, MerArena *arena, MerYaml **root,
                                 MerError *error);

/* Does the text look like a platform, of ours or of another tool? */
bool mer_platform_is_text(const char *text, size_t size);

/* `vta_config.json`: TARGET, LOG_BATCH, LOG_BLOCK, LOG_INP_BUFF_SIZE and the like. The platform is named by VTA's model
 * string, `pynq_1x16_i8w8a32_15_15_18_17`. */
bool      mer_vta_is_config(MerYaml *root);
MerStatus mer_vta_config_platform(MerYaml *root, const char **text, MerError *error);

/* MAESTRO's hardware files: `num_pes: 256`, `l1_size_cstr`, `l2_size_cstr`, `noc_bw_cstr`,
 * `offchip_bw_cstr` and `NoC_NumHops`; what is absent has the default of MAESTRO's file reader. */
bool      mer_maestro_is_hardware(const char *text, size_t size);
MerStatus mer_maestro_platform(const char *path, const char *text, size_t size, const char *name,
                               MerArena *arena, const char **platform, MerError *error);

#endif
