/* What each trial of a short search came to: the points behind a front of trade-offs. */
#ifndef MERCATOR_REPORT_PAGES_TRIAL_COSTS_H
#define MERCATOR_REPORT_PAGES_TRIAL_COSTS_H

#include "report/pages/log_lines.h"
#include "report/pages/run_reader.h"

enum { MER_TRIAL_COSTS = 400 }; /* of longer searches the page has the front alone */

typedef struct MerTrialCosts { /* zeroed = empty */
    char *texts[MER_TRIAL_COSTS];
    int   count;
    bool  is_over; /* too many, or of several tasks: none are kept */
} MerTrialCosts;

void mer_trial_costs_add(MerTrialCosts *costs, const MerLogLine *line); /* of a feasible trial */
/* Into the run, where its summary has a front. */
void mer_trial_costs_finish(const MerTrialCosts *costs, MerReportRun *run, MerArena *arena);
void mer_trial_costs_free(MerTrialCosts *costs);

#endif
