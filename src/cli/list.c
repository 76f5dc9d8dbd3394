/* list: what there is. Shipped files are read and checked while listing. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/option_json.h"
#include "mercator/registry.h"
#include "report/tables/table.h"

#include <stdio.h>

/* Models with this ending; those that `shown` has already are other forms of the same. */
static int add_models(MerTextTable *table, const char *ending, const char *const *shown,
                      int shown_count, MerArena *arena)
{
    const char **names;
    MerError     error = {0};
    int          count = mer_data_list("models", ending, arena, &names, &error);
    int          code = count < 0 ? mer_cli_fail(&error) : MER_EXIT_DONE;
    for (int i = 0; i < count; i++) {
        MerGraph *graph;
        bool      is_shown = false;
        for (int k = 0; k < shown_count; k++) {
            is_shown |= mer_name_equal(shown[k], names[i]);
        }
        if (is_shown) {
            continue;
        }
        if (mer_graph_import(names[i], NULL, arena, &graph, &error) != MER_OK) {
            code = mer_cli_fail(&error);
            continue;
        }
        mer_text_table_add(table, names[i]);
        mer_text_table_add_real(table, (double)graph->macs, "");
        mer_text_table_add_real(table, (double)graph->parameters, "");
        mer_text_table_add_int(table, graph->layer_count);
    }
    return code;
}

static int list_models(MerArena *arena)
{
    const char **files;
    MerError     error = {0};
    int          count = mer_data_list("models", ".onnx", arena, &files, &error);
    if (count < 0) {
        return mer_cli_fail(&error);
    }
    MerTextTable *table =
        mer_text_table_new(arena, 4, (const char *[]){"model", ">MACs", ">parameters", ">layers"});
    int code = add_models(table, ".onnx", NULL, 0, arena);
    int definitions = add_models(table, ".net", files, count, arena);
    mer_text_table_print(table, stdout);
    return code != MER_EXIT_DONE ? code : definitions;
}

static int list_platforms(MerArena *arena)
{
    const char  **names;
    MerError      error = {0};
    int           count = mer_data_list("platforms", ".yaml", arena, &names, &error);
    int           code = count < 0 ? mer_cli_fail(&error) : MER_EXIT_DONE;
    MerTextTable *table =
        mer_text_table_new(arena, 3, (const char *[]){"platform", "kind", "summary"});
    for (int i = 0; i < count; i++) {
        const MerPlatform *platform;
        if (mer_platform_read(names[i], arena, &platform, &error) != MER_OK) {
            code = mer_cli_fail(&error);
            continue;
        }
        mer_text_table_add_row(
            table,
            (const char *[]){names[i], mer_platform_kind_name(platform->kind), platform->summary});
    }
    mer_text_table_print(table, stdout);
    return code;
}

static void print_plugin(const char *name, const char *summary, const char *reference,
                         const MerOption *table)
{
    printf("%s: %s%s%s%s\n", name, summary, reference ? " (" : "", reference ? reference : "",
           reference ? ")" : "");
    if (table) {
        mer_options_help(table, stdout);
    }
}

static int list_optimizers(MerArena *arena)
{
    (void)arena;
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        print_plugin((*list)->name, (*list)->summary, (*list)->reference, (*list)->options);
        for (const MerPreset *preset = (*list)->presets; preset && preset->name; preset++) {
            printf("  preset=%s: %s\n", preset->name, preset->settings);
        }
    }
    return MER_EXIT_DONE;
}

static int list_evaluators(MerArena *arena)
{
    (void)arena;
    for (const MerEvaluatorClass *const *list = mer_evaluators(); *list; list++) {
        print_plugin((*list)->name, (*list)->summary, (*list)->reference, (*list)->options);
    }
    return MER_EXIT_DONE;
}

static int list_problems(MerArena *arena)
{
    (void)arena;
    for (const MerProblemClass *const *list = mer_problems(); *list; list++) {
        print_plugin((*list)->name, (*list)->summary, NULL, (*list)->options);
        printf("  defaults: evaluator %s, optimizer %s, objective %s, budget %lld\n",
               (*list)->evaluator, (*list)->optimizer, (*list)->objective,
               (long long)(*list)->budget);
    }
    return MER_EXIT_DONE;
}

static int list_exporters(MerArena *arena)
{
    MerTextTable *table =
        mer_text_table_new(arena, 4, (const char *[]){"exporter", "problem", "always", "writes"});
    for (const MerExporterClass *const *list = mer_exporters(); *list; list++) {
        mer_text_table_add_row(
            table, (const char *[]){(*list)->name, (*list)->problem ? (*list)->problem : "any",
                                    (*list)->is_default ? "yes" : "", (*list)->summary});
    }
    mer_text_table_print(table, stdout);
    return MER_EXIT_DONE;
}

static int list_formats(MerArena *arena)
{
    MerTextTable *table =
        mer_text_table_new(arena, 3, (const char *[]){"format", "endings", "what"});
    for (const MerImporterClass *const *list = mer_importers(); *list; list++) {
        mer_text_table_add_row(table,
                               (const char *[]){(*list)->name, (*list)->endings, (*list)->summary});
    }
    mer_text_table_print(table, stdout);
    return MER_EXIT_DONE;
}

static int list_metrics(MerArena *arena)
{
    MerTextTable *table =
        mer_text_table_new(arena, 4, (const char *[]){"metric", "unit", "better", "meaning"});
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        const MerMetricInfo *info = mer_metric_info((MerMetric)m);
        mer_text_table_add_row(table, (const char *[]){info->name, info->unit,
                                                       info->direction < 0 ? "smaller" : "larger",
                                                       info->help});
    }
    mer_text_table_print(table, stdout);
    return MER_EXIT_DONE;
}

static const struct {
    const char *name;
    int (*list)(MerArena *arena);
} kinds[] = {
    {"models", list_models},         {"platforms", list_platforms}, {"optimizers", list_optimizers},
    {"evaluators", list_evaluators}, {"problems", list_problems},   {"formats", list_formats},
    {"metrics", list_metrics},       {"exporters", list_exporters},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

int mer_cli_list(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    const char *names[KIND_COUNT];
    if (count == 1 && mer_cli_is(arguments[0], "help")) {
        printf("usage: mercator list "
               "models|platforms|optimizers|evaluators|problems|exporters|formats|metrics\n"
               "knobs depend on the inputs: mercator PROBLEM NETWORK --platform P --list-knobs\n");
        return MER_EXIT_DONE;
    }
    if (count >= 1 && mer_name_equal(arguments[0], "knobs")) {
        return mer_cli_usage(
            verb, "knobs depend on network and platform: mercator PROBLEM NETWORK --list-knobs");
    }
    if (count != 1) {
        return mer_cli_usage(verb, "list needs one kind");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        names[k] = kinds[k].name;
        if (mer_name_equal(kinds[k].name, arguments[0])) {
            return kinds[k].list(arena);
        }
    }
    const char *nearest = mer_name_nearest(arguments[0], names, KIND_COUNT);
    return mer_cli_usage(verb, "nothing called \"%s\" to list%s%s", arguments[0],
                         nearest ? ", did you mean " : "", nearest ? nearest : "");
}
