/* Results for people: tables of tasks, plans, and why nothing was found. */
#ifndef MERCATOR_CLI_SHOW_H
#define MERCATOR_CLI_SHOW_H

#include "mercator/run.h"

#include <stdio.h>

/* A value with its unit, shares in percent; MER_METRIC_COUNT: of an expression. */
int  mer_show_value(char buffer[48], MerMetric metric, double value);
void mer_show_result(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena,
                     FILE *file);
/* The commonest reasons with counts and the nearest miss of each, on `file`. */
void mer_show_refusals(const MerTaskResult *result, FILE *file);
/* After a search in vain: the nearest miss of all, and what would help. */
void mer_show_hints(const MerRunSpec *spec, const MerTaskResult *result, MerArena *arena,
                    FILE *file);

#endif
