/* What the user asked for, from the command line, an experiment file, or both: lists of inputs and
 * plug-ins, expanded into one run per combination (docs/experiments.md). */
#ifndef MERCATOR_RUN_EXPERIMENT_EXPERIMENT_H
#define MERCATOR_RUN_EXPERIMENT_EXPERIMENT_H

#include "mercator/import.h"
#include "mercator/run.h"
#include "mercator/yaml.h"

/* Keys that may be lists, in the order of combination: the last one varies fastest. */
/* clang-format off */
#define MER_AXIS_MAP(X)                                                                            \
    X(WORKLOAD, "workload") X(PLATFORM, "platform") X(EVALUATOR, "evaluator")                      \
    X(OPTIMIZER, "optimizer") X(OBJECTIVE, "objective") X(SEED, "seed") X(BUDGET, "budget")
/* clang-format on */
typedef enum MerAxis {
#define X(id, name) MER_AXIS_##id,
    MER_AXIS_MAP(X)
#undef X
        MER_AXIS_COUNT
} MerAxis;

extern const char *const mer_axis_names[MER_AXIS_COUNT];

typedef struct MerAxisValues {
    int          count;
    const char **texts;  /* a text that starts with '{' is a map */
    const char **places; /* FILE:LINE:COLUMN of each; NULL: the command line */
    MerYaml    **maps; /* a platform that the file gives as a map, and not by its text; else NULL */
} MerAxisValues;

typedef struct MerRunOptions { /* the keys that are not lists */
    int64_t     total_budget, batch, threads;
    double      time_s, total_time_s, gap;
    int         count, log, legality, warm_match;
    const char *warm, *policy, *save_policy, *inner;
    MerTexts    pareto, fix, dim, exports;
    int64_t     rounds, assess, passes;
} MerRunOptions;

extern const MerOption mer_run_options[];

enum { MER_MAX_RUN_OPTIONS = 32 };

typedef struct MerSweep { /* one number of the platform takes several values */
    const char   *path;   /* memories.GLB.words */
    MerAxisValues values;
    const char   *place; /* as in MerAxisValues */
} MerSweep;

enum { MER_MAX_SWEEPS = 8 };

typedef struct MerExperiment {
    MerArena     *arena;
    const char   *name;    /* of the experiment file, NULL: none */
    const char   *file;    /* where it stands, for relative paths; NULL: the command line */
    MerReference  problem; /* name and options */
    MerReference  places;  /* of those options, as in MerAxisValues */
    MerAxisValues axes[MER_AXIS_COUNT];
    MerRunOptions options;
    const char   *option_places[MER_MAX_RUN_OPTIONS]; /* of mer_run_options; as in MerAxisValues */
    MerReference  evaluator_options; /* keys given as flags: added to every evaluator */
    MerSweep      sweeps[MER_MAX_SWEEPS];
    int           sweep_count;
    bool          keeps_equal; /* runs that are the same as others are made, too */
} MerExperiment;

void mer_experiment_init(MerExperiment *experiment, const char *problem, MerArena *arena);
/* Adds one value of a list key; `replace` drops what was there (the command line wins over a file). */
void mer_experiment_add(MerExperiment *experiment, MerAxis axis, const char *value, bool replace);
/* One of mer_run_options, of the problem's or of an evaluator's; NULL: none. */
const MerOption *mer_experiment_option(const MerExperiment *experiment, const char *key);
/* `key` is such an option. */
MerStatus mer_experiment_set(MerExperiment *experiment, const char *key, const char *value,
                             MerError *error);
/* The optimizer whose option this is: one of those that were asked for, else the first of all; NULL: none. */
const MerOptimizerClass *mer_experiment_optimizer_with(const MerExperiment *experiment,
                                                       const char          *key);
/* `memories.GLB.words=16Ki,32Ki`: every platform is tried with each value, in all combinations. */
MerStatus mer_experiment_sweep(MerExperiment *experiment, const char *text, MerError *error);
/* Is this file a `mercator-experiment/1`? Cheap; false for anything else, and for streams. */
bool mer_experiment_is(const char *path);
/* The problem an experiment file names, or NULL. */
const char *mer_experiment_problem(const char *path, MerArena *arena);
MerStatus   mer_experiment_read(MerExperiment *experiment, const char *path, MerError *error);

/* A plug-in as files name it, `name:key=value,...` or a map {name: NAME, key: value, ...}, as the former. The
 * options of a map are checked where they stand, if the key is that of evaluators or optimizers. */
MerStatus mer_experiment_plugin(MerAxis axis, MerYaml *node, const char **text, MerArena *arena,
                                MerError *error);
/* Entry `index` of a map as an option of the plug-in `name`; messages say where it stands. */
MerStatus mer_experiment_check(const char *name, const MerOption *table, size_t size,
                               const MerYaml *map, int index, MerArena *arena, MerError *error);

/* The class of a plug-in by its reference; NULL: there is none, or the text is no reference. */
const MerEvaluatorClass *mer_experiment_evaluator(const char *text, MerArena *arena);
const MerOptimizerClass *mer_experiment_optimizer(const char *text, MerArena *arena);

/* What a problem takes where nobody says otherwise: as it chooses for these inputs, else as it always does. */
const char *mer_experiment_default(const MerProblemClass *problem, MerDefault what,
                                   const MerInputs *inputs);

/* Takes a key of the run out of a plug-in's reference and gives its value; NULL: it is not there. */
const char *mer_experiment_take_key(MerReference *reference, const char *key);

/* The options of a plug-in from its table (NULL: it has none, and then none may be given). */
MerStatus mer_experiment_fill(const MerOption *table, const MerPreset *presets, size_t size,
                              const MerReference *reference, const void **options, MerArena *arena,
                              MerError *error);

/* The inner evaluator of `spec->evaluator`: the key `inner`, which leaves `reference`, else `named` (NULL: none). Whether it
 * knows the problem's plans is looked at where `spec->problem` is set. */
MerStatus mer_experiment_inner(MerReference *reference, const char *named, MerRunSpec *spec,
                               MerArena *arena, MerError *error);

/* Fills the exports of a MerRunSpec from texts `NAME` or `NAME=FILE`. */
MerStatus mer_experiment_exports(const MerTexts *texts, MerRunSpec *spec, MerArena *arena,
                                 MerError *error);

/* `NAME=SIZE` of a dimension that a network leaves open; false: it is not that. A list of them for the importer. */
bool      mer_experiment_dim(const char *text, MerDimBinding *dim, MerArena *arena);
MerStatus mer_experiment_dims(const MerTexts *texts, MerImportOptions *options, MerArena *arena,
                              MerError *error);

/* Puts `place` (NULL: nothing), or that of a node, before the message of a failed call; returns `status`. */
MerStatus mer_experiment_fail_at(const char *place, MerStatus status, MerError *error);
MerStatus mer_experiment_fail_in(const MerYaml *node, MerStatus status, MerError *error);

/* Where the option stands that this message of a run is about, `NAME: ...` or `--KEY ...`; NULL: not known. */
const char *mer_experiment_blamed(const MerRunSpec *spec, const char *message, MerArena *arena);

/* Imports inputs, resolves plug-ins and gives one MerRunSpec per combination. `warn` may be NULL. */
MerStatus mer_experiment_expand(const MerExperiment *experiment, MerRunSpec **specs, int *count,
                                void (*warn)(void *state, const char *text), void *state,
                                MerError *error);

#endif
