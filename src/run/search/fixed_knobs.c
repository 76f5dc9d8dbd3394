/* Knobs that the user fixes, and the lists from which such choices are made. */
#include "run/internal.h"

#include "base/file.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static double value_of(const MerKnob *knob, MerIndex choice)
{
    return knob->values ? knob->values[choice] : choice;
}

static const char *name_of(const MerProblem *problem, int knob, MerIndex choice, MerArena *arena)
{
    return problem->type->choice_name ? problem->type->choice_name(problem, knob, choice, arena)
                                      : NULL;
}

/* "1, 2, 4" or names, cut after a few; indices as a range. */
static const char *list_choices(const MerProblem *problem, int k, MerArena *arena)
{
    enum { SHOWN = 16 };
    const MerKnob *knob = &problem->space.knobs[k];
    const char    *list = "";
    if (!knob->values && !name_of(problem, k, 0, arena)) {
        return mer_arena_format(arena, "0 .. %d", knob->choices - 1);
    }
    for (int i = 0; i < knob->choices && i < SHOWN; i++) {
        char        number[32];
        const char *name = name_of(problem, k, i, arena);
        mer_print_real(number, value_of(knob, i));
        list = mer_arena_format(arena, "%s%s%s", list, i ? ", " : "", name ? name : number);
    }
    return knob->choices > SHOWN ? mer_arena_format(arena, "%s, ... (%d)", list, knob->choices)
                                 : list;
}

static MerStatus find_choice(const MerProblem *problem, int k, const MerFixedKnob *fixed,
                             MerIndex *choice, MerArena *arena, MerError *error)
{
    const MerKnob *knob = &problem->space.knobs[k];
    for (int i = 0; i < knob->choices; i++) {
        const char *name = fixed->word ? name_of(problem, k, i, arena) : NULL;
        if (fixed->word ? name && mer_name_equal(name, fixed->word)
                        : value_of(knob, i) == fixed->value) {
            *choice = i;
            return MER_OK;
        }
    }
    char number[32];
    mer_print_real(number, fixed->value);
    return mer_error_set(error, MER_INVALID, "knob %s cannot be fixed to %s, expected one of %s",
                         knob->name, fixed->word ? fixed->word : number,
                         list_choices(problem, k, arena));
}

static MerStatus refuse_knob(const MerRunTask *task, const char *name, MerArena *arena,
                             MerError *error)
{
    const MerSpace *space = &task->problem.space;
    const char    **names = MER_ARRAY(arena, const char *, space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        names[k] = space->knobs[k].name;
    }
    const char *nearest = mer_name_nearest(name, names, space->knob_count);
    return mer_error_set(
        error, MER_INVALID, "task %s has no knob \"%s\" to fix%s%s; --list-knobs shows all",
        task->result->task.name, name, nearest ? ", did you mean " : "", nearest ? nearest : "");
}

/* Does the pattern, with `*` for any text, match all of the name? */
static bool matches(const char *pattern, const char *name)
{
    while (*pattern && *pattern != '*') {
        if (*pattern++ != *name++) {
            return false;
        }
    }
    if (!*pattern) {
        return !*name;
    }
    do {
        if (matches(pattern + 1, name)) {
            return true;
        }
    } while (*name++);
    return false;
}

/* The very name, else one that differs in hyphens only, else all that match: pass 0, 1 and 2. */
static bool is_meant(const char *known, const char *name, int pass)
{
    return pass == 0   ? strcmp(known, name) == 0
           : pass == 1 ? mer_name_equal(known, name)
                       : strchr(name, '*') && matches(name, known);
}

static MerStatus fix_one(MerRunTask *task, const MerFixedKnob *fixed, bool *is_fixed,
                         MerArena *arena, MerError *error)
{
    const MerSpace *space = &task->problem.space;
    int             found = 0;
    for (int pass = 0; pass < 3 && found == 0; pass++) {
        for (int k = 0; k < space->knob_count && (found == 0 || pass == 2); k++) {
            if (is_meant(space->knobs[k].name, fixed->name, pass)) {
                MER_TRY(find_choice(&task->problem, k, fixed, &task->full[k], arena, error));
                is_fixed[k] = true;
                found++;
            }
        }
    }
    return found > 0 ? MER_OK : refuse_knob(task, fixed->name, arena, error);
}

/* Those of the user, then those of the round. */
static const MerFixedKnob *fixed_knob(const MerRunState *run, int number)
{
    int own = run->spec->fixed_count;
    return number < own ? &run->spec->fixed[number] : &run->round->fixed[number - own];
}

/* The optimizer gets the knobs that are left; the log and the problem keep all of them. */
MerStatus mer_run_fix_knobs(MerRunState *run, MerRunTask *task, MerError *error)
{
    const MerSpace *space = &task->problem.space;
    int             count = run->spec->fixed_count + (run->round ? run->round->fixed_count : 0);
    task->view = *space;
    task->free_knobs = NULL;
    if (count == 0) {
        return MER_OK;
    }
    bool *is_fixed = MER_ARRAY(run->arena, bool, space->knob_count + 1);
    task->full = MER_ARRAY(run->arena, MerIndex, space->knob_count + 1);
    for (int f = 0; f < count; f++) {
        MER_TRY(fix_one(task, fixed_knob(run, f), is_fixed, run->arena, error));
    }
    MerKnob *knobs = MER_ARRAY(run->arena, MerKnob, space->knob_count + 1);
    task->free_knobs = MER_ARRAY(run->arena, int, space->knob_count + 1);
    task->view.knob_count = 0;
    for (int k = 0; k < space->knob_count; k++) {
        if (!is_fixed[k]) {
            task->free_knobs[task->view.knob_count] = k;
            knobs[task->view.knob_count++] = space->knobs[k];
        }
    }
    task->view.knobs = knobs;
    return MER_OK;
}

void mer_run_expand(const MerRunTask *task, const MerIndex *seen, MerIndex *full)
{
    if (!task->free_knobs) {
        memcpy(full, seen, (size_t)task->view.knob_count * sizeof *full);
        return;
    }
    memcpy(full, task->full, (size_t)task->problem.space.knob_count * sizeof *full);
    for (int k = 0; k < task->view.knob_count; k++) {
        full[task->free_knobs[k]] = seen[k];
    }
}

MerStatus mer_run_spaces(const MerRunSpec *spec,
                         void (*show)(void *state, const MerProblem *problem), void *state,
                         MerArena *arena, MerError *error)
{
    MerRunSpec free_spec = *spec;
    free_spec.fixed_count = 0;
    MerRunResult result = {0};
    MerRunState  run = {.spec = &free_spec,
                        .arena = arena,
                        .result = &result,
                        .error = error,
                        .deadline = INFINITY};
    run.objective.metric = MER_METRIC_COUNT; /* no bound is wanted */
    MER_TRY(mer_run_check(&free_spec, error));
    MerStatus status = mer_run_open_tasks(&run, INT_MAX, error);
    for (int t = 0; status == MER_OK && t < run.task_count; t++) {
        show(state, &run.tasks[t].problem);
    }
    mer_run_close_tasks(&run);
    return status;
}
