/* list problems, optimizers, solvers and evaluators: what each does, and by name all its options. */
#include "cli/list.h"

#include "base/option_json.h"
#include "base/terminal.h"
#include "mercator/registry.h"

#include <stdio.h>

/* {name, type, default, ...} of every option of a plug-in. */
static void write_options(MerJson *json, const MerOption *table)
{
    static const char *const types[] = {"integer", "number",  "boolean", "choice",
                                        "text",    "numbers", "texts"};
    mer_json_array(json, "options");
    for (const MerOption *option = table; option && option->name; option++) {
        if (!option->help) {
            continue; /* another name of one before */
        }
        mer_json_object(json, NULL);
        mer_json_text(json, "name", option->name);
        mer_json_text(json, "type", types[option->type]);
        mer_json_text(json, "default", option->initial);
        if (option->minimum != 0 || option->maximum != 0) {
            mer_json_real(json, "minimum", option->minimum);
            mer_json_real(json, "maximum", option->maximum);
        }
        if (option->choices) {
            mer_json_text(json, "choices", option->choices);
        }
        mer_json_text(json, "help", option->help);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

typedef struct Plugin { /* what all kinds of plug-ins have */
    const char      *name, *summary, *reference, *problem;
    const MerOption *options;
    const MerPreset *presets;
} Plugin;

static void write_plugin(MerJson *json, const Plugin *plugin)
{
    mer_json_text(json, "name", plugin->name);
    mer_json_text(json, "summary", plugin->summary);
    if (plugin->reference) {
        mer_json_text(json, "reference", plugin->reference);
    }
    if (plugin->problem) {
        mer_json_text(json, "problem", plugin->problem);
    }
    write_options(json, plugin->options);
    if (plugin->presets) {
        mer_json_object(json, "presets");
        for (const MerPreset *preset = plugin->presets; preset->name; preset++) {
            mer_json_text(json, preset->name, preset->settings);
        }
        mer_json_end_object(json);
    }
}

/* One plug-in with all its options. */
static void print_plugin(const Plugin *plugin)
{
    int columns = mer_terminal_columns(stdout);
    mer_print_words(stdout, plugin->summary, printf("%s: ", plugin->name), 2, columns);
    if (plugin->reference) {
        printf("  after ");
        mer_print_words(stdout, plugin->reference, 8, 8, columns);
    }
    if (plugin->problem) {
        printf("  of problem %s\n", plugin->problem);
    }
    mer_options_help(plugin->options, stdout);
    for (const MerPreset *preset = plugin->presets; preset && preset->name; preset++) {
        printf("  preset=%s: ", preset->name);
        mer_print_words(stdout, preset->settings, 0, 4, 0);
    }
}

static void show_plugin(MerListing *listing, const Plugin *plugin)
{
    if (!mer_listing_wants(listing, plugin->name)) {
        return;
    }
    if (listing->json) {
        mer_json_object(listing->json, NULL);
        write_plugin(listing->json, plugin);
        mer_json_end_object(listing->json);
    } else if (listing->only) {
        print_plugin(plugin);
    } else {
        mer_text_table_add(listing->table, plugin->name);
        if (listing->columns == 3) {
            mer_text_table_add(listing->table, plugin->problem ? plugin->problem : "any");
        }
        mer_text_table_add(listing->table, plugin->summary);
    }
}

/* Black boxes, or solvers of one problem; by name either of them. */
static int list_methods(MerListing *listing, bool is_solver)
{
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        Plugin plugin = {(*list)->name,    (*list)->summary, (*list)->reference,
                         (*list)->problem, (*list)->options, (*list)->presets};
        if (listing->only || ((*list)->open == NULL) == is_solver) {
            show_plugin(listing, &plugin);
        }
    }
    return MER_EXIT_DONE;
}

int mer_listing_optimizers(MerListing *listing)
{
    return list_methods(listing, false);
}

int mer_listing_solvers(MerListing *listing)
{
    return list_methods(listing, true);
}

int mer_listing_evaluators(MerListing *listing)
{
    for (const MerEvaluatorClass *const *list = mer_evaluators(); *list; list++) {
        Plugin plugin = {(*list)->name, (*list)->summary, (*list)->reference,
                         NULL,          (*list)->options, NULL};
        show_plugin(listing, &plugin);
    }
    return MER_EXIT_DONE;
}

static void write_problem(MerJson *json, const Plugin *plugin, const MerProblemClass *type)
{
    MerCliDefaults defaults = mer_cli_defaults(type);
    mer_json_object(json, NULL);
    write_plugin(json, plugin);
    mer_json_object(json, "defaults");
    if (type->platforms && type->platform) {
        mer_json_text(json, "platform", type->platform);
    }
    mer_json_text(json, "evaluator", defaults.evaluator);
    mer_json_text(json, "optimizer", defaults.optimizer);
    mer_json_text(json, "objective", defaults.objective);
    mer_json_int(json, "budget", type->budget);
    mer_json_end_object(json);
    mer_json_end_object(json);
}

int mer_listing_problems(MerListing *listing)
{
    for (const MerProblemClass *const *list = mer_problems(); *list; list++) {
        Plugin plugin = {(*list)->name, (*list)->summary, NULL, NULL, (*list)->options, NULL};
        MerCliDefaults defaults = mer_cli_defaults(*list);
        if (!mer_listing_wants(listing, plugin.name)) {
            continue;
        }
        if (listing->json) {
            write_problem(listing->json, &plugin, *list);
            continue;
        }
        if (!listing->only) {
            plugin.options = NULL;
        }
        print_plugin(&plugin);
        const char *text = mer_arena_format(
            listing->arena, "defaults: evaluator %s, optimizer %s, objective %s, budget %lld",
            defaults.evaluator, defaults.optimizer, defaults.objective, (long long)(*list)->budget);
        mer_print_words(stdout, text, printf("  "), 4, mer_terminal_columns(stdout));
    }
    return MER_EXIT_DONE;
}
