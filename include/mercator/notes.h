/* The line from a working plug-in back to the run: notes and epochs for the log, what was spent,
 * whether to stop, and when its state may be saved. A NULL `notes` drops everything. */
#ifndef MERCATOR_NOTES_H
#define MERCATOR_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#define MER_SPENT_MAP(X)                                                                           \
    X(SIMULATED_S, "simulated_s")                                                                  \
    X(EPOCHS, "epochs")                                                                            \
    X(IMAGES, "images")
typedef enum MerSpent {
#define X(id, name) MER_SPENT_##id,
    MER_SPENT_MAP(X)
#undef X
        MER_SPENT_COUNT
} MerSpent;

typedef struct MerDecisionTimes { /* of one who decides while things happen, by the wall clock */
    int64_t count, late;          /* `late`: took longer than allowed */
    double  total_ms, worst_ms, allowed_ms; /* allowed 0: no limit */
} MerDecisionTimes;

typedef struct MerNotes { /* filled by run/, used through the functions below */
    void *state;
    void (*note)(void *state, const char *name, const char *json);
    void (*epoch)(void *state, const char *phase, int epoch, int epochs, const char *json);
    void (*spend)(void *state, MerSpent what, double amount);
    bool (*is_cancelled)(void *state);
    void (*checkpoint)(void *state);
    void (*decisions)(void *state, const MerDecisionTimes *times);
    void (*begin_epoch)(void *state, bool is_plain);
} MerNotes;

/* `json` is one complete JSON value; it becomes the `value` of a note line. The object that an evaluator
 * notes of the best plan as `result` stands in the summary of the task, too. */
void mer_note(MerNotes *notes, const char *name, const char *json);
/* One line per epoch of a long ask or evaluation; `json` is an object {name: number, list or object}. */
void mer_epoch(MerNotes *notes, const char *phase, int epoch, int epochs, const char *json);
/* An epoch begins, whose line comes when it is done: for the clock beside the log. `is_plain`: of a model without choices, which the
 * time of other epochs is compared with. */
void mer_epoch_begins(MerNotes *notes, bool is_plain);
/* What an evaluation or a training step really cost; sums appear in the trial and the summary. */
void mer_spend(MerNotes *notes, MerSpent what, double amount);
/* How long the decisions of a task took. No two runs agree on it, so it is shown and stands beside
 * `wall_s` in the summary, and never goes into the log. */
void mer_note_decisions(MerNotes *notes, const MerDecisionTimes *times);
/* True once the user interrupts or the time is up: leave soon. An ask then returns 0 proposals;
 * an evaluation returns anything, its trial is dropped. */
bool mer_is_cancelled(MerNotes *notes);
/* Inside a long ask, at a point where `save` would write a state that `load` can go on from. */
void mer_checkpoint(MerNotes *notes);

#endif
