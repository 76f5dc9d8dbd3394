/* The first line of a log: what is run. An experiment finds its finished cells by it (cell_identity.c). */
#ifndef MERCATOR_RUN_LOG_HEADER_H
#define MERCATOR_RUN_LOG_HEADER_H

#include "mercator/json.h"
#include "mercator/run.h"

/* Members of an open object: format, version, problem, workload and platform. */
void mer_header_inputs(MerJson *json, const MerRunSpec *spec, int version, MerArena *arena);
/* {name, options} as an object that stays open for more. `options` NULL: the defaults, `size` bytes. */
void mer_header_plugin(MerJson *json, const char *key, const char *name, const MerOption *table,
                       size_t size, const void *options, MerArena *arena);
void mer_header_optimizer(MerJson *json, const MerRunSpec *spec, MerArena *arena);
/* Seed, budget and what else the user decided about the search. */
void mer_header_limits(MerJson *json, const MerRunSpec *spec);

#endif
