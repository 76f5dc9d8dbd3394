/* How long the epochs of a training took by the clock, by phase. Nobody decides by it, and no two runs agree on it: it goes to the clock
 * file, the summary and the console, never into the log. */
#ifndef MERCATOR_RUN_SEARCH_PHASE_TIMES_H
#define MERCATOR_RUN_SEARCH_PHASE_TIMES_H

#include "mercator/json.h"
#include "mercator/run.h"

#include <stdio.h>

typedef struct MerPhaseWatch {
    MerPhaseTimes *times;      /* that are added to */
    FILE          *clock_file; /* gets a line for every epoch; NULL: none */
    double         began;      /* NaN: no epoch is being timed */
    double         began_cpu;
    double         images; /* since then */
    bool           is_plain;
} MerPhaseWatch;

/* An epoch begins; its images are spent; its line is written. An epoch that never began, as one that is read from a file, has no
 * time. */
void mer_phase_begin(MerPhaseWatch *watch, bool is_plain);
void mer_phase_spend(MerPhaseWatch *watch, MerSpent what, double amount);
void mer_phase_end(MerPhaseWatch *watch, const char *phase, int epoch, int epochs);

/* Adds what the sittings before left in the clock file. */
void mer_phase_recall(MerPhaseTimes *times, const char *clock_path);
/* Of epochs that the log does not have, as a run was killed before it wrote them, and makes them again, there are none. */
void mer_phase_limit(MerPhaseTimes *times, const char *log_path);
/* `training` of a summary; nothing if there was none. */
void mer_phase_write(const MerPhaseTimes *times, MerJson *json);

#endif
