/* list: what there is. Shipped files are read and checked while listing. */
#include "cli/list.h"

#include "base/file.h"
#include "mercator/import.h"
#include "mercator/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool mer_listing_wants(MerListing *listing, const char *name)
{
    MER_GROW(listing->arena, listing->seen, listing->seen_count);
    listing->seen[listing->seen_count++] = name;
    bool is_wanted = !listing->only || mer_name_equal(listing->only, name);
    listing->found += is_wanted;
    return is_wanted;
}

/* One thing, by a text per title. */
static void add_row(MerListing *listing, const char *const *texts)
{
    if (!mer_listing_wants(listing, texts[0])) {
        return;
    }
    if (!listing->json) {
        mer_text_table_add_row(listing->table, texts);
        return;
    }
    mer_json_object(listing->json, NULL);
    for (int i = 0; i < listing->columns; i++) {
        const char *title = listing->titles[i] + strspn(listing->titles[i], "~>=");
        mer_json_text(listing->json, i == 0 ? "name" : title, texts[i]);
    }
    mer_json_end_object(listing->json);
}

static void add_model(MerListing *listing, const char *name, const MerGraph *graph)
{
    if (listing->json) {
        mer_json_object(listing->json, NULL);
        mer_json_text(listing->json, "name", name);
        mer_json_int(listing->json, "macs", graph->macs);
        mer_json_int(listing->json, "parameters", graph->parameters);
        mer_json_int(listing->json, "layers", graph->layer_count);
        mer_json_end_object(listing->json);
        return;
    }
    mer_text_table_add(listing->table, name);
    mer_text_table_add_real(listing->table, (double)graph->macs, "");
    mer_text_table_add_real(listing->table, (double)graph->parameters, "");
    mer_text_table_add_int(listing->table, graph->layer_count);
}

/* Files .onnx, then definitions .net that are not other forms of one of them. */
static int list_models(MerListing *listing)
{
    MerArena    *arena = listing->arena;
    const char **files, **definitions;
    MerError     error = {0};
    int          file_count = mer_data_list("models", ".onnx", arena, &files, &error);
    int count = file_count < 0 ? -1 : mer_data_list("models", ".net", arena, &definitions, &error);
    int code = MER_EXIT_DONE;
    if (count < 0) {
        listing->table = NULL;
        return mer_cli_fail(&error);
    }
    for (int i = 0; i < file_count + count; i++) {
        const char *name = i < file_count ? files[i] : definitions[i - file_count];
        MerGraph   *graph;
        bool        is_shown = false;
        for (int k = 0; i >= file_count && k < file_count; k++) {
            is_shown |= mer_name_equal(files[k], name);
        }
        if (is_shown || !mer_listing_wants(listing, name)) {
            continue;
        }
        if (mer_graph_import(name, NULL, arena, &graph, &error) != MER_OK) {
            code = mer_cli_fail(&error);
            continue;
        }
        add_model(listing, name, graph);
    }
    return code;
}

static int list_platforms(MerListing *listing)
{
    const char **names;
    MerError     error = {0};
    int          count = mer_data_list("platforms", ".yaml", listing->arena, &names, &error);
    int          code = count < 0 ? mer_cli_fail(&error) : MER_EXIT_DONE;
    for (int i = 0; i < count; i++) {
        const MerPlatform *platform;
        if (mer_platform_read(names[i], listing->arena, &platform, &error) != MER_OK) {
            code = mer_cli_fail(&error);
            continue;
        }
        add_row(listing, (const char *[]){names[i], mer_platform_kind_name(platform->kind),
                                          platform->summary});
    }
    return code;
}

static int list_exporters(MerListing *listing)
{
    for (const MerExporterClass *const *list = mer_exporters(); *list; list++) {
        add_row(listing,
                (const char *[]){(*list)->name, (*list)->problem ? (*list)->problem : "any",
                                 (*list)->is_default ? "yes" : "", (*list)->summary});
    }
    return MER_EXIT_DONE;
}

static int list_formats(MerListing *listing)
{
    for (const MerImporterClass *const *list = mer_importers(); *list; list++) {
        add_row(listing, (const char *[]){(*list)->name, (*list)->endings, (*list)->summary});
    }
    return MER_EXIT_DONE;
}

static int list_metrics(MerListing *listing)
{
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        const MerMetricInfo *info = mer_metric_info((MerMetric)m);
        add_row(listing, (const char *[]){info->name, info->unit,
                                          info->direction < 0 ? "smaller" : "larger", info->help});
    }
    return MER_EXIT_DONE;
}

static const struct {
    const char *name;
    int (*list)(MerListing *listing);
    bool        has_options; /* which the name of one shows */
    int         columns;     /* 0: no table */
    const char *titles[4];
} kinds[] = {
    {"models", list_models, false, 4, {"model", ">MACs", ">parameters", ">layers"}},
    {"platforms", list_platforms, false, 3, {"platform", "~kind", "summary"}},
    {"problems", mer_listing_problems, true, 0, {0}},
    {"optimizers", mer_listing_optimizers, true, 2, {"optimizer", "what it does"}},
    {"solvers", mer_listing_solvers, true, 3, {"solver", "~problem", "what it does"}},
    {"evaluators", mer_listing_evaluators, true, 2, {"evaluator", "what it prices"}},
    {"exporters", list_exporters, false, 4, {"exporter", "~problem", "~~always", "writes"}},
    {"formats", list_formats, false, 3, {"format", "~endings", "what"}},
    {"metrics", list_metrics, false, 4, {"metric", "~unit", "~~better", "meaning"}},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const char *mer_cli_list_kind(int index)
{
    return index < KIND_COUNT ? kinds[index].name : NULL;
}

const char *mer_cli_list_names(const char *kind, MerArena *arena)
{
    MerListing  listing = {.arena = arena,
                           .only = ""}; /* none is called so: all are seen, none is shown */
    const char *names = "";
    for (int k = 0; k < KIND_COUNT; k++) {
        if (strcmp(kinds[k].name, kind) == 0) {
            kinds[k].list(&listing);
        }
    }
    for (int i = 0; i < listing.seen_count; i++) {
        names = mer_arena_format(arena, "%s %s", names, listing.seen[i]);
    }
    return names;
}

static void print_help(MerArena *arena)
{
    const char *text = "usage: mercator list KIND [NAME] [--json]\n\nKIND is ";
    for (int k = 0; k < KIND_COUNT; k++) {
        text = mer_arena_format(arena, "%s%s%s", text,
                                k == 0               ? ""
                                : k + 1 < KIND_COUNT ? ", "
                                                     : " or ",
                                kinds[k].name);
    }
    text = mer_arena_format(
        arena,
        "%s.\nThe NAME of a problem, optimizer, solver or evaluator shows its options.\n"
        "knobs depend on the inputs: mercator PROBLEM NETWORK --platform P --list-knobs\n",
        text);
    mer_print_lines(stdout, text, 0);
}

static int show(const MerVerb *verb, int kind, const char *only, bool is_json, MerArena *arena)
{
    MerJson    json = {0};
    MerListing listing = {.arena = arena,
                          .json = is_json ? &json : NULL,
                          .only = only,
                          .columns = kinds[kind].columns,
                          .titles = kinds[kind].titles};
    if (is_json) {
        mer_json_array(&json, NULL);
    } else if (listing.columns > 0) {
        listing.table = mer_text_table_new(arena, listing.columns, listing.titles);
    }
    int code = kinds[kind].list(&listing);
    if (is_json) {
        mer_json_end_array(&json);
    }
    if (only && listing.found == 0) {
        mer_json_free(&json);
        const char *nearest = mer_name_nearest(only, listing.seen, listing.seen_count);
        return mer_cli_usage(verb, "none of the %s is called \"%s\"%s%s", kinds[kind].name, only,
                             nearest ? ", did you mean " : "", nearest ? nearest : "");
    }
    if (is_json) {
        printf("%s\n", json.text);
    } else if (listing.table && !(only && kinds[kind].has_options)) {
        mer_text_table_print(listing.table, stdout);
    }
    if (!is_json && !only && kinds[kind].has_options) {
        printf("\nmercator list %s NAME shows its options\n", kinds[kind].name);
    }
    mer_json_free(&json);
    return code;
}

static int unknown_kind(const MerVerb *verb, const char *name)
{
    const char *names[KIND_COUNT];
    for (int k = 0; k < KIND_COUNT; k++) {
        names[k] = kinds[k].name;
    }
    if (mer_name_equal(name, "knobs")) {
        return mer_cli_usage(
            verb, "knobs depend on network and platform: mercator PROBLEM NETWORK --list-knobs");
    }
    const char *nearest = mer_name_nearest(name, names, KIND_COUNT);
    return mer_cli_usage(verb, "nothing called \"%s\" to list%s%s", name,
                         nearest ? ", did you mean " : "", nearest ? nearest : "");
}

/* Kinds and names are in small letters: EDP is edp. */
static const char *in_small_letters(const char *word, MerArena *arena)
{
    char *small = mer_arena_text(arena, word);
    for (char *at = small; *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return small;
}

int mer_cli_list(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    const char      *words[2] = {NULL, NULL};
    bool             is_help = false, is_json = false;
    const MerCliFlag flags[] = {{"help", &is_help, NULL}, {"json", &is_json, NULL}, {0}};
    int              word_count = 0;
    for (int i = 0; i < count; i++) {
        bool is_flag = mer_cli_take(verb, flags, count, arguments, &i) == MER_EXIT_DONE;
        if (!is_flag && (arguments[i][0] == '-' || word_count == 2)) {
            return mer_cli_usage(verb, "unexpected argument %s", arguments[i]);
        }
        if (!is_flag) {
            words[word_count++] = in_small_letters(arguments[i], arena);
        }
    }
    if (is_help) {
        print_help(arena);
        return MER_EXIT_DONE;
    }
    if (word_count == 0) {
        return mer_cli_usage(verb, "list needs one kind");
    }
    for (int k = 0; k < KIND_COUNT; k++) {
        if (mer_name_equal(kinds[k].name, words[0])) {
            return show(verb, k, words[1], is_json, arena);
        }
    }
    return unknown_kind(verb, words[0]);
}
