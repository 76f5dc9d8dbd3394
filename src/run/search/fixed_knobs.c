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

/* "1, 2, 4", cut after a few; indices as a range. */
static const char *list_choices(const MerKnob *knob, MerArena *arena)
{
    enum { SHOWN = 16 };
    if (!knob->values) {
        return mer_arena_format(arena, "0 .. %d", knob->choices - 1);
    }
    const char *list = "";
    for (int i = 0; i < knob->choices && i < SHOWN; i++) {
        char number[32];
        mer_print_real(number, knob->values[i]);
        list = mer_arena_format(arena, "%s%s%s", list, i ? ", " : "", number);
    }
    return knob->choices > SHOWN ? mer_arena_format(arena, "%s, ... (%d)", list, knob->choices)
                                 : list;
}

static MerStatus find_choice(const MerKnob *knob, double value, MerIndex *choice, MerArena *arena,
                             MerError *error)
{
    for (int i = 0; i < knob->choices; i++) {
        if (value_of(knob, i) == value) {
            *choice = i;
            return MER_OK;
        }
    }
    return mer_error_set(error, MER_INVALID, "knob %s cannot be fixed to %g, expected one of %s",
                         knob->name, value, list_choices(knob, arena));
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

/* The very name, else one that differs in hyphens only. */
static MerStatus find_knob(const MerRunTask *task, const char *name, int *knob, MerArena *arena,
                           MerError *error)
{
    const MerSpace *space = &task->problem.space;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < space->knob_count; k++) {
            const char *known = space->knobs[k].name;
            if (pass == 0 ? strcmp(known, name) == 0 : mer_name_equal(known, name)) {
                *knob = k;
                return MER_OK;
            }
        }
    }
    return refuse_knob(task, name, arena, error);
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
        int                 k = 0;
        const MerFixedKnob *fixed = fixed_knob(run, f);
        MER_TRY(find_knob(task, fixed->name, &k, run->arena, error));
        MER_TRY(find_choice(&space->knobs[k], fixed->value, &task->full[k], run->arena, error));
        is_fixed[k] = true;
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
