/* The cells of an experiment, with progress and messages. */
#ifndef MERCATOR_CLI_CELL_PROGRESS_H
#define MERCATOR_CLI_CELL_PROGRESS_H

#include "cli/request.h"

/* What a table needs of one cell; `is_feasible` false: nothing found, or the cell failed. */
typedef struct MerCellTotal {
    MerTaskResult total; /* without points, plans and texts */
    double        wall_s;
    bool          is_feasible, has_failed;
} MerCellTotal;

/* Runs what is not finished yet in the folders root/001, ... Prints a line per cell (or its summary with --json)
 * in the order of the specs when `is_shown`. totals[i] belongs to specs[i]. Returns an exit code. */
int mer_cli_cells(const MerRequest *request, MerRunSpec *specs, int count, const char *root,
                  bool is_shown, MerCellTotal *totals, MerArena *arena);

#endif
