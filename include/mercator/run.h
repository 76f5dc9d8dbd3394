/* One run: every task of a workload searched by one optimizer, logged, summed up.
 *
 *     MerRunSpec spec = {.problem = map, .graph = graph, .platform = platform, ...};
 *     MerRunResult result;
 *     if (mer_run(&spec, NULL, arena, &result, &error) == MER_OK)
 *         printf("%g\n", result.tasks[0].best.value[MER_METRIC_EDP]);
 */
#ifndef MERCATOR_RUN_H
#define MERCATOR_RUN_H

#include "mercator/evaluator.h"
#include "mercator/export.h"
#include "mercator/search.h"

typedef enum MerLogMode {
    MER_LOG_AUTO, /* all trials up to a million, then the improving ones */
    MER_LOG_ALL,
    MER_LOG_IMPROVING
} MerLogMode;

enum {
    MER_MAX_PARETO = 4,
    MER_MAX_REASONS = 24,
    MER_MAX_MILESTONES = 4,
    MER_MAX_PHASES = 8,
    MER_DEFAULT_BATCH = 256
};

typedef struct MerExportRequest { /* `--export NAME[=FILE]` */
    const MerExporterClass *type;
    /* NULL: under its own name in the run directory; of an exporter with several files a folder */
    const char *path;
} MerExportRequest;

typedef struct MerRunSpec {        /* options point to the plug-in's struct; NULL: its defaults */
    const char              *name; /* of the workload, as shown */
    const MerProblemClass   *problem;
    const void              *problem_options;
    const MerGraph          *graph;
    const MerPlatform       *platform;
    const MerEvaluatorClass *evaluator, *inner; /* inner: NULL if none */
    const void              *evaluator_options, *inner_options;
    const MerOptimizerClass *optimizer;
    const void              *optimizer_options;
    const char              *optimizer_text; /* as the user wrote it, for tables; NULL: its name */
    const char *evaluator_text, *workload_text; /* likewise; the workload's name with its options */
    const char *objective; /* metric or expression; NULL: the problem's default */
    int         pareto_count;
    MerMetric   pareto[MER_MAX_PARETO];
    uint64_t    seed;
    /* evaluations per task; 0: no limit (then a time is needed) */
    int64_t                 budget;
    int64_t                 total_budget;   /* > 0: in all, shared out by MACs */
    double                  time_s;         /* per task; 0: no limit */
    double                  total_time_s;   /* of all tasks together; 0: no limit */
    double                  gap;            /* stop when the gap is at most this */
    bool                    count_distinct; /* a plan priced before costs no budget */
    MerLogMode              log;
    const char             *warm;       /* RUN[:k], chain[:k] or NULL */
    MerMatch                warm_match; /* when tasks differ */
    int                     batch;      /* points per ask at most; 0: 256 */
    int                     threads;    /* 0: all cores */
    int                     fixed_count;
    const MerFixedKnob     *fixed;
    bool                    learned_legality;     /* legality=learned: hide the predicate */
    const char             *policy, *save_policy; /* files, NULL: none */
    const char             *directory;            /* NULL: no files are written */
    bool                    resume;
    bool                    force; /* replace the results of another command in `directory` */
    double                  checkpoint_s; /* least seconds between saved optimizer states; 0: 5 */
    const char             *command;      /* JSON, for clock.jsonl; NULL: none */
    int                     export_count; /* besides the problem's default exporters */
    const MerExportRequest *exports;
    int                     rounds; /* further rounds at most; see MerProblemClass.next_round */
    int64_t assess; /* points of a space up to which models are assessed on all of it; 0: never */
    /* of an experiment file: FILE:LINE:COLUMN of the optimizer, by its name, and of the problem's options; NULL: not
     * from a file */
    MerReference places;
} MerRunSpec;

typedef struct MerRunProgress {
    int         task, task_count;
    const char *task_name;
    int64_t     trials, budget;                           /* of this task; budget 0: unknown */
    double      elapsed_s, time_s, best, gap, infeasible; /* best, gap: NaN while there is none */
    MerMetric   objective; /* of `best`; MER_METRIC_COUNT for an expression */
    double      left_s;    /* till the end of all tasks, at most; NaN: unknown */
} MerRunProgress;

typedef struct MerRunHooks { /* each may be NULL */
    void *state;
    bool (*is_cancelled)(void *state);
    void (*progress)(void *state, const MerRunProgress *progress);
    void (*warn)(void *state, const char *text);
} MerRunHooks;

typedef struct MerReasonCount {
    char    class_name[24];
    int64_t count;
    char    nearest[120]; /* the miss with the least excess, or the first */
    double  excess;       /* need / have of that one; +inf if not known */
} MerReasonCount;

typedef struct MerFrontPoint {
    int64_t index;
    double  value[MER_MAX_PARETO];
} MerFrontPoint;

typedef struct MerMilestone {
    int     generations; /* of the optimizer's population; 0: before the search */
    int64_t evaluations; /* which is so many */
    double  value;       /* the best objective by then, NaN if there was none */
} MerMilestone;

typedef struct MerTaskResult {
    MerTask         task;
    const MerIndex *point; /* of the best; NULL if nothing feasible was found */
    MerPlan         plan;
    const char     *text;        /* the plan for people, NULL if the problem has none */
    const char     *body;        /* the plan as a JSON object, NULL likewise */
    const char     *constraints; /* what the user fixed, as it was understood; NULL if nothing */
    const char     *warnings;    /* of the problem, one line each; NULL if none */
    const char     *outcome; /* the note `result` of the evaluator, a JSON object; NULL if none */
    MerCost         best;
    double          score; /* minimised; +inf if nothing feasible */
    double          value; /* the objective as the user reads it */
    int64_t         best_index;
    MerBound        bound, reference; /* kind "none" if unknown */
    double          gap;              /* NaN if unknown */
    bool            is_proven;
    bool            is_recorded; /* the bound is what a plan file says was proven */
    const char *among; /* the plans that bound and proof speak of, "perfect factors"; NULL: all */
    int64_t     trials, evaluations, infeasible; /* warm trials are in none of them */
    int         reason_count;
    MerReasonCount reasons[MER_MAX_REASONS];
    /* nothing feasible: points priced afterwards to explain it, the nearest miss among them, and whether
     * one of them was feasible after all */
    int64_t        explained;
    char           closest[120];
    bool           is_reachable;
    int            front_count;
    MerFrontPoint *front;
    double         spent[MER_SPENT_COUNT];
    /* 0 unless tasks are chained (`warm`) and there is a population */
    int          milestone_count;
    MerMilestone milestones[MER_MAX_MILESTONES];
    const char  *stopped; /* "budget", "time", "gap", "finished", "interrupted" */
} MerTaskResult;

typedef struct MerPhaseTime { /* of the epochs of one phase of a training */
    char    name[24];
    int64_t epochs;
    double  images;
    double  seconds,
        cpu_s;     /* by the clock and of the processors, with what is measured after an epoch */
    bool is_plain; /* of a model without choices */
} MerPhaseTime;

typedef struct MerPhaseTimes { /* in the order in which they began */
    int          count;
    MerPhaseTime phases[MER_MAX_PHASES];
} MerPhaseTimes;

/* Processor time of an epoch over that of a plain one; NaN: none was trained. */
double mer_phase_relative(const MerPhaseTimes *times, int phase);

/* In the reason of a plan that fits but has no value: the search must fail, whatever it tries. */
#define MER_GIVES_NO "the evaluator gives no "

/* All tasks have a plan, but the objective neither adds up nor has a mean: `total.value` is NaN. */
#define MER_NO_TOTAL "it has no total over several tasks"

typedef struct MerRunResult {
    int              task_count;
    MerTaskResult   *tasks;
    MerTaskResult    total; /* sums by count; name = the workload's */
    double           wall_s;
    MerDecisionTimes decisions; /* over all tasks; count 0: the optimizer timed none */
    MerPhaseTimes    training;  /* over all tasks, of all sittings */
    bool             is_reproducible, is_feasible;
    bool             has_ended; /* though an exporter may have failed: then that is the error */
    MerMetric        objective; /* MER_METRIC_COUNT for an expression */
    const char      *objective_text;
    const char      *description; /* of the whole, by the problem; NULL: none */
    const char      *summary;     /* the `mercator-summary/1` object as JSON text */
    int              file_count;
    const char     **files; /* written into the directory */
} MerRunResult;

MerStatus mer_run(const MerRunSpec *spec, const MerRunHooks *hooks, MerArena *arena,
                  MerRunResult *result, MerError *error);

/* The clock's limit of a run: per task, else of all; 0: none. */
double mer_run_time(const MerRunSpec *spec);

/* Would every plug-in of the run open on the first task? Nothing is searched or written. */
MerStatus mer_run_try(const MerRunSpec *spec, MerArena *arena, MerError *error);

/* Opens every task and shows it, with its space as it is without fixed knobs. Nothing is searched or written. */
MerStatus mer_run_spaces(const MerRunSpec *spec,
                         void (*show)(void *state, const MerProblem *problem), void *state,
                         MerArena *arena, MerError *error);

typedef struct MerGivenPlan { /* one task and its plan */
    MerTask  task;            /* start INFINITY: when those before it have ended */
    MerYaml *body;            /* of a plan file; NULL: `plan` */
    MerPlan  plan;
    /* of a body of another tool; NULL: as the plan's kind reads it */
    MerPlanBodyReader read;
    const char *detail; /* filled: the evaluator's notes as a JSON object, NULL if it has none */
    /* what a solver has proven of this task, as the plan file says: the score of the plan that it
     * belongs to, and the bound; kind NULL: nothing */
    double   recorded_score;
    MerBound recorded;
} MerGivenPlan;

/* The tasks of the workload, the whole of it where the problem does not split it. */
MerStatus mer_run_list_tasks(const MerRunSpec *spec, MerArena *arena, const MerTask **tasks,
                             int *count, MerError *error);

/* Prices given plans, `count` >= 1: `result` gets their tasks and the total, as of a run. */
MerStatus mer_run_given(const MerRunSpec *spec, MerGivenPlan *given, int count, MerArena *arena,
                        MerRunResult *result, MerError *error);
#endif
