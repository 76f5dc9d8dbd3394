/* The run directory: whose results it holds, and what of it may be replaced. */
#ifndef MERCATOR_RUN_LOG_FOLDER_H
#define MERCATOR_RUN_LOG_FOLDER_H

#include "run/internal.h"

/* Makes the folder. The results of an earlier run of the same command go, those of another command are refused
 * unless `spec->force`. Files that no run has written stay, and where they are in the way the folder is refused. */
MerStatus mer_folder_claim(MerRunState *run, MerError *error);

/* May a run write this file? False: it is there and nobody knows it. */
bool mer_folder_may_write(const MerRunState *run, const char *name);

#endif
