/* The files of a `map` run for people and other tools: nest.txt, timeloop.map.yaml, maestro.m,
 * layers.csv and stats.txt. Except for stats.txt, Mercator reads all of them back. */
#ifndef MERCATOR_MAP_EXPORT_MAP_EXPORT_H
#define MERCATOR_MAP_EXPORT_MAP_EXPORT_H

#include "mercator/export.h"

/* stats.txt: per memory and tensor accesses and energy, what is occupied, and what limits. */
void mer_map_write_stats(const MerExport *what, FILE *file, MerArena *arena);

#endif
