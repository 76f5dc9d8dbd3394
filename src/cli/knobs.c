/* --list-knobs: the knobs of every task with their choices. Nothing is searched or written. */
#include "cli/request.h"

#include "mercator/json.h"
#include "mercator/text.h"
#include "report/tables/table.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Listing {
    MerArena *arena;
    MerJson  *json; /* NULL: tables for people */
    int       tasks;
} Listing;

static const char *kind_name(MerKnobKind kind)
{
    static const char *const names[] = {"category", "ordered", "rank"};
    return names[kind];
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    return problem->type->choice_name ? problem->type->choice_name(problem, knob, choice, arena)
                                      : NULL;
}

/* "1 2 4", "0=RF 1=GLB", or "0 .. 5" */
static const char *choices_text(const MerProblem *problem, int index, MerArena *arena)
{
    const MerKnob *knob = &problem->space.knobs[index];
    if (!knob->values && !choice_name(problem, index, 0, arena)) {
        return mer_arena_format(arena, knob->choices > 1 ? "0 .. %d" : "%d", knob->choices - 1);
    }
    char  *text = NULL;
    size_t size = 0;
    FILE  *stream = open_memstream(&text, &size);
    for (int i = 0; stream && i < knob->choices; i++) {
        char        number[32];
        const char *name = choice_name(problem, index, i, arena);
        mer_print_real(number, knob->values ? knob->values[i] : i);
        fprintf(stream, "%s%s%s%s", i ? " " : "", number, name ? "=" : "", name ? name : "");
    }
    if (stream) {
        fclose(stream);
    }
    const char *kept = mer_arena_text(arena, text ? text : "");
    free(text);
    return kept;
}

static void print_task(const MerProblem *problem, Listing *listing)
{
    const MerSpace *space = &problem->space;
    MerTextTable   *table =
        mer_text_table_new(listing->arena, 3, (const char *[]){"knob", "~kind", "choices"});
    printf("%s%s: %d knobs, 10^%.1f points\n", listing->tasks ? "\n" : "", problem->task->name,
           space->knob_count, mer_space_log10_size(space));
    for (int k = 0; k < space->knob_count; k++) {
        const char *choices = choices_text(problem, k, listing->arena);
        mer_text_table_add_row(table, (const char *[]){space->knobs[k].name,
                                                       kind_name(space->knobs[k].kind), choices});
    }
    mer_text_table_print(table, stdout);
}

static void write_knob(const MerProblem *problem, int index, Listing *listing)
{
    const MerKnob *knob = &problem->space.knobs[index];
    MerJson       *json = listing->json;
    mer_json_object(json, NULL);
    mer_json_text(json, "name", knob->name);
    mer_json_text(json, "kind", kind_name(knob->kind));
    mer_json_text(json, "role", mer_role_name(knob->role));
    mer_json_int(json, "choices", knob->choices);
    if (knob->values) {
        mer_json_reals(json, "values", knob->values, knob->choices);
    }
    if (choice_name(problem, index, 0, listing->arena)) {
        mer_json_array(json, "names");
        for (int i = 0; i < knob->choices; i++) {
            mer_json_text(json, NULL, choice_name(problem, index, i, listing->arena));
        }
        mer_json_end_array(json);
    }
    mer_json_end_object(json);
}

static void write_task(const MerProblem *problem, Listing *listing)
{
    MerJson *json = listing->json;
    mer_json_object(json, NULL);
    mer_json_text(json, "name", problem->task->name);
    mer_json_real(json, "log10_size", mer_space_log10_size(&problem->space));
    mer_json_array(json, "knobs");
    for (int k = 0; k < problem->space.knob_count; k++) {
        write_knob(problem, k, listing);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

static void show(void *state, const MerProblem *problem)
{
    Listing *listing = state;
    if (listing->json) {
        write_task(problem, listing);
    } else {
        print_task(problem, listing);
    }
    listing->tasks++;
}

static MerStatus list_json(const MerRunSpec *spec, Listing *listing, MerError *error)
{
    MerJson json = {0};
    listing->json = &json;
    mer_json_object(&json, NULL);
    mer_json_text(&json, "workload", spec->name);
    mer_json_text(&json, "platform", spec->platform ? spec->platform->name : NULL);
    mer_json_array(&json, "tasks");
    MerStatus status = mer_run_spaces(spec, show, listing, listing->arena, error);
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    if (status == MER_OK) {
        printf("%s\n", json.text);
    }
    mer_json_free(&json);
    return status;
}

int mer_cli_knobs(const MerRequest *request, const MerRunSpec *specs, int count, MerArena *arena)
{
    Listing  listing = {.arena = arena};
    MerError error = {0};
    for (int i = 0; i < count; i++) {
        /* seeds, budgets and optimizers share a space */
        bool is_new = i == 0 || specs[i].graph != specs[i - 1].graph ||
                      specs[i].platform != specs[i - 1].platform ||
                      specs[i].evaluator != specs[i - 1].evaluator;
        if (is_new &&
            (request->json ? list_json(&specs[i], &listing, &error)
                           : mer_run_spaces(&specs[i], show, &listing, arena, &error)) != MER_OK) {
            return mer_cli_fail(&error);
        }
    }
    return MER_EXIT_DONE;
}
