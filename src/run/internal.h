/* State of a run, shared by the files of run/. */
#ifndef MERCATOR_RUN_INTERNAL_H
#define MERCATOR_RUN_INTERNAL_H

#include "base/name_table.h"
#include "mercator/run.h"
#include "run/log/ends.h"
#include "run/log/runlog.h"
#include "run/search/batch.h"
#include "run/search/phase_times.h"

typedef struct MerRunTask { /* one task, opened */
    MerProblem   problem;
    MerEvaluator evaluator, inner, check; /* check: asked before evaluator; its type may be NULL */
    MerTaskResult *result;
    int            index;
    int64_t        budget, all_budget; /* of this round, and what the rounds have together */
    /* what the optimizer sees when knobs are fixed; equals the problem's space otherwise */
    MerSpace  view;
    int      *free_knobs; /* NULL: all are free */
    MerIndex *full;       /* the fixed knobs' choices, free ones filled per point */
    MerIndex *best_point;
    int64_t   population; /* of which milestones count the generations; 0: no milestones */
} MerRunTask;

typedef struct MerSittings {   /* of a run that was stopped, but for the following of its log */
    double searched_s, wall_s; /* searched_s: without the opening of inputs either */
} MerSittings;

typedef struct MerRunState {
    const MerRunSpec *spec;
    MerRunHooks       hooks;
    MerArena         *arena;
    MerRunResult     *result;
    MerObjective      objective;
    MerRunTask       *tasks;
    int               task_count;
    MerPool          *pool;
    MerRunlog         log;
    FILE             *clock_file;
    MerPhaseWatch     watch;
    MerNameTable      known_files; /* of the folder: written by a run before, or by this one */
    MerNameTable      told_files;  /* which of them the clock file names */
    MerError         *error;
    /* while all tasks are opened before the first search; NULL later */
    MerNotes *opening;
    MerStatus note_status; /* first failure of a line that a plug-in wrote */
    double    started, task_started, deadline, last_tick, last_checkpoint;
    /* of --total-time: when it is over (INFINITY: not begun), and how long this sitting opened inputs and followed the log */
    double               total_end, prepared_s;
    MerSittings          before;
    bool                 is_interrupted, has_warned_of_damage; /* damage: of the log of --warm */
    bool                 has_warned_of_waste;                  /* that plans do not matter */
    struct MerWarmChain *chain;    /* what the tasks so far left for `warm` chain (warm.c) */
    uint64_t             log_hash; /* of the first hashed_bytes of the log, for saved states */
    int64_t              hashed_bytes;
    MerLogEnds           ends; /* of the log that is resumed: where searches were stopped by time */
    const MerRound      *round; /* a further one, NULL: the first */
    int                  round_number;
    /* the optimizer kept open across tasks when it can move on (next_task), else reopened */
    void     *optimizer;
    MerArena *optimizer_arena;
    MerError
        late; /* the first file for others (policy, export) that failed: told when all else is written */
    char    apart[64]; /* threads read what is above, and this changes with every trial: */
    int64_t trials;    /* of the whole run */
} MerRunState;

/* policy.c: can a policy be saved there? What is there stays. */
MerStatus mer_policy_check_file(const char *path, MerError *error);

/* deadline.c: what the clock.jsonl says of earlier sittings, how long this one has followed the log, and a line of it. */
MerSittings mer_deadline_used(const char *clock_path);
double      mer_deadline_followed(const MerRunState *run, double now);
void        mer_deadline_tick(const MerRunState *run, double now);

/* The number of a search: of a task, in this round. */
int mer_run_search_number(const MerRunState *run, const MerRunTask *task);

/* Told by anyone, from any thread: stop soon? */
bool mer_run_is_cancelled(void *state);

MerStatus mer_run_check(const MerRunSpec *spec, MerError *error); /* run.c: do the parts fit? */
void      mer_run_warn(const MerRunState *run, const char *text);
/* As the run chooses it: without a clock seconds mean nothing, so latency is counted in cycles. */
const char *mer_run_objective(const MerRunSpec *spec);
/* From the result's point, value and bound. */
void mer_run_set_gap(const MerObjective *objective, MerTaskResult *result); /* total.c */
/* Opens the first `most` tasks. */
MerStatus mer_run_open_tasks(MerRunState *run, int most, MerError *error); /* open.c */
/* The problem's bound, or none if the evaluator may price below it. */
MerBound mer_run_bound(const MerRunTask *task, MerMetric metric);
/* Is this `chain` or `chain:k`? */
bool      mer_warm_is_chain(const char *warm);
MerStatus mer_run_open_task(MerRunState *run, MerRunTask *task, const MerTask *what,
                            MerError *error);
/* Makes an opened task ready to be searched (again): result, view and bound. */
/* What of its budget a task may use in the round at hand. */
void      mer_run_round_budget(const MerRunState *run, MerRunTask *task);
MerStatus mer_run_begin_task(MerRunState *run, MerRunTask *task, MerError *error);
/* All tasks one after the other, until the user interrupts. */
MerStatus mer_run_search_tasks(MerRunState *run, MerError *error); /* run.c */
/* How many may follow the first. A solver knows the whole at once. */
int mer_run_most_rounds(const MerRunSpec *spec);
/* The number of the last one, as far as is known by now. */
int       mer_run_last_round(const MerRunState *run);
MerStatus mer_run_first_round(MerRunState *run, MerError *error); /* rounds.c */
MerStatus mer_run_rounds(MerRunState *run, MerError *error);      /* those after the first */
void      mer_run_close_tasks(MerRunState *run);
/* Opens the task again if it depends on when those before it have ended, which is known now. */
MerStatus mer_run_start_task(MerRunState *run, MerRunTask *task, MerError *error);
MerStatus mer_run_search(MerRunState *run, MerRunTask *task, MerError *error); /* search.c */
MerStatus mer_run_header(MerRunState *run, MerError *error);                   /* header.c */
MerStatus mer_run_summary(MerRunState *run, MerError *error);                  /* summary.c */
/* {value, kind, scope} as an object that stays open for more. */
void mer_run_write_bound(MerJson *json, const char *key, const MerBound *bound);
/* The solved tasks as problems see them; the best plans are decoded. */
MerWhole mer_run_whole(const MerRunState *run); /* total.c */
void     mer_run_add_up(MerRunState *run);
void mer_run_add_work(MerTaskResult *total, const MerTaskResult *part); /* trials and the like */
/* The workload with the tasks of its operators as a view (graph_note.c). */
MerStatus mer_run_note_graph(MerRunState *run, MerError *error);
MerStatus mer_run_write_plans(MerRunState *run, MerError *error); /* plan_file.c */
/* After a search in vain: what is in the way, and the nearest miss, into the task's result. */
void mer_run_explain(MerRunState *run, MerRunTask *task); /* explain.c */
/* A file that the user asked for and that cannot be made is told by mer_run_tell_late. export_files.c */
MerStatus mer_run_export(MerRunState *run, MerError *error);
MerStatus mer_run_tell_late(const MerRunState *run, MerError *error);
/* The evaluator's notes on the best plan as one JSON object; NULL if it has none. */
const char *mer_run_detail(const MerRunTask *task, MerArena *arena);
/* The evaluator's name with the options that differ from their defaults. */
const char *mer_run_evaluator_text(const MerRunSpec *spec, MerArena *arena);
/* The optimizer's options, its defaults if the MerRunSpec has none. */
const void *mer_run_optimizer_options(const MerRunSpec *spec, MerArena *arena); /* task_open.c */
/* Points of a generation of the optimizer; 0 if it has none. */
int64_t mer_run_population(const MerRunSpec *spec, MerArena *arena); /* generations.c */
/* Milestones of a task that goes on from those before it: once what they left has been told, after every
 * trial, and at the end. */
void mer_generations_begin(const MerRunState *run, MerRunTask *task);
void mer_generations_count(MerRunTask *task);
void mer_generations_end(MerRunTask *task);
/* Best plan and its breakdown as note lines, once per task. */
MerStatus mer_run_note_best(MerRunState *run, MerRunTask *task, MerError *error);
/* The plan of the result as text for people. */
void mer_run_print_plan(MerRunState *run, MerRunTask *task);

/* Appends lines, each with its newline; NULL: none. */
void mer_run_add_warning(MerTaskResult *result, const char *lines, MerArena *arena); /* open.c */
/* A task's warnings, one JSON text per line. */
void mer_run_write_warnings(MerJson *json, const char *key, const char *text, MerArena *arena);

/* Writes DIR/name through a temporary file, so that it is there whole or not at all, and adds it to the files of
 * the result. A file that no run has written stays, with a warning. */
MerStatus mer_run_write_file(MerRunState *run, const char *name, const void *data, size_t size,
                             MerError *error);
/* Adds a name to the files of the result. */
void mer_run_add_file(MerRunState *run, const char *name);

/* Takes the knobs that the user fixed out of the optimizer's view. */
MerStatus mer_run_fix_knobs(MerRunState *run, MerRunTask *task, MerError *error); /* knobs.c */
/* Points of the optimizer's view and of the whole space. */
void mer_run_expand(const MerRunTask *task, const MerIndex *seen, MerIndex *full);

/* folder.c: the run directory: whose results it holds, and what of it may be replaced.
 * Makes the folder. The results of an earlier run of the same command go, those of another command are refused
 * unless `spec->force`. Files that no run has written stay, and where they are in the way the folder is refused. */
MerStatus mer_folder_claim(MerRunState *run, MerError *error);

/* May a run write this file? False: it is there and nobody knows it. */
bool mer_folder_may_write(const MerRunState *run, const char *name);
/* It is going to: from now on the folder knows it for the run's. */
void mer_folder_will_write(MerRunState *run, const char *name);
/* NAME of a file NAME.partPID whose writer is gone, half of a file of ours; else NULL. */
const char *mer_folder_left_part(const char *name, MerArena *arena);

#endif
