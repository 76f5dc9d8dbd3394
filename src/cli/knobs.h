/* --list-knobs: what a search may choose, for --fix. */
#ifndef MERCATOR_CLI_KNOBS_H
#define MERCATOR_CLI_KNOBS_H

#include "cli/request.h"

/* One table per task on stdout, or one JSON object per network and platform. Returns the exit code. */
int mer_cli_knobs(const MerRequest *request, const MerRunSpec *specs, int count, MerArena *arena);

#endif
