/* Mappings in the forms that other tools read. */
#include "map/export/map_export.h"

#include "base/csv_cell.h"
#include "layer/directive_format.h"
#include "layer/op_format.h"
#include "map/directives/directives.h"
#include "map/export/timeloop_mapping.h"
#include "map/nest/nest_format.h"
#include "mercator/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `before`, then the text in quotes. */
static void write_quoted(FILE *file, const char *before, const char *text)
{
    MerJson json = {0};
    mer_json_text(&json, NULL, text);
    fprintf(file, "%s%s", before, json.text);
    mer_json_free(&json);
}

/* Keys for what a plan was made on, by and for. */
static void write_names(FILE *file, const char *before, const char *between, const MerExport *what)
{
    fputs(before, file);
    write_quoted(file, "platform: ", what->tasks[0].problem->platform->name);
    fputs(between, file);
    write_quoted(file, "evaluator: ", what->evaluator);
    fputs(between, file);
    write_quoted(file, "objective: ", what->objective);
}

/* Lines of `text`, each after `prefix`. */
static void write_lines(FILE *file, const char *prefix, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(file, "%s%.*s\n", prefix, length, text);
        text += length + (text[length] == '\n');
    }
}

/* A plan file with the nests as lines and, for people, as indented loops. */
static void write_nests(const MerExport *what, FILE *file, MerArena *arena)
{
    fprintf(file, "# loop nests, outermost first; read back by: mercator evaluate nest.txt\n"
                  "format: mercator-plan/1\nkind: nest\nproblem: map");
    write_quoted(file, "\nworkload: ", what->workload);
    write_names(file, "\n", "\n", what);
    fprintf(file, "\ntasks:\n");
    for (int t = 0; t < what->count; t++) {
        const MerExportTask *task = &what->tasks[t];
        const MerNestPlan   *plan = mer_nest_plan(task->plan);
        MerJson              json = {0};
        mer_json_object(&json, NULL);
        mer_op_write(plan->op, &json);
        mer_json_end_object(&json);
        /* the object holds the one key "op" */
        size_t length = strlen(json.text);
        write_quoted(file, "  - name: ", task->problem->task->name);
        fprintf(file, "\n    count: %lld\n    op: %.*s\n", (long long)task->problem->task->count,
                (int)length - 7, json.text + 6);
        mer_json_free(&json);
        fprintf(file, "    nest: \"%s\"\n", mer_nest_line(plan, task->problem->platform, arena));
        if (mer_nest_is_padded(plan)) {
            fprintf(file, "    padded: true\n");
        }
        write_lines(file, "    # ", mer_nest_print(plan, task->problem->platform, arena));
    }
}

/* One layer: as timeloop-model reads it. Several: a list of such layers under `layers`. */
static void write_timeloop(const MerExport *what, FILE *file, MerArena *arena)
{
    bool        is_single = what->count == 1;
    const char *prefix = is_single ? "" : "    ";
    int         written = 0;
    fprintf(file, is_single
                      ? "# Timeloop v0.3 problem and mapping; K is M, Y is P, X is Q\n"
                        "# timeloop-model ARCHITECTURE.yaml timeloop.map.yaml\n"
                      : "# Timeloop v0.3 problems and mappings; K is M, Y is P, X is Q\n"
                        "# for timeloop-model cut out the problem and mapping of one layer\n");
    write_names(file, "mercator: {", ", ", what);
    fprintf(file, is_single ? "}\n" : "}\nlayers:\n");
    for (int t = 0; t < what->count; t++) {
        const MerExportTask *task = &what->tasks[t];
        const MerNestPlan   *plan = mer_nest_plan(task->plan);
        const char          *reason, *text;
        text = mer_timeloop_mapping_write(plan, task->problem->platform, &reason, arena);
        if (!text) {
            write_quoted(file, "# layer ", task->problem->task->name);
            fprintf(file, " is left out: %s\n", reason ? reason : "no memory");
            continue;
        }
        if (!is_single) {
            write_quoted(file, "  - name: ", task->problem->task->name);
            fprintf(file, "\n    count: %lld\n", (long long)task->problem->task->count);
        }
        if (plan->op->repeat != 1) {
            fprintf(file, "%srepeat: %lld # the loops run this often, one after the other\n",
                    prefix, (long long)plan->op->repeat);
        }
        write_lines(file, prefix, text);
        written++;
    }
    if (!is_single && written == 0) {
        fprintf(file, "  []\n");
    }
}

/* A name that MAESTRO's reader takes as one word. */
static const char *word_of(const char *name, int number, MerArena *arena)
{
    char *word = mer_arena_format(arena, "%.50s", name);
    for (char *c = word; *c; c++) {
        *c = isalnum((unsigned char)*c) || *c == '_' || *c == '.' || *c == '-' ? *c : '_';
    }
    return *word && isalpha((unsigned char)*word) ? word
                                                  : mer_arena_format(arena, "L%d%s", number, word);
}

static void write_maestro(const MerExport *what, FILE *file, MerArena *arena)
{
    fprintf(file,
            "// directives for MAESTRO; read back by:\n// mercator evaluate maestro.m --platform "
            "%s --evaluator %s\n",
            what->tasks[0].problem->platform->name, what->evaluator);
    fprintf(file, "Network %s {\n", word_of(what->workload, 0, arena));
    for (int t = 0; t < what->count; t++) {
        MerDirectivePlan plan = *mer_directive_plan(what->tasks[t].plan);
        MerOp            op = *plan.op;
        op.name = word_of(op.name, t + 1, arena);
        plan.op = &op;
        fprintf(file, "// count %lld\n",
                (long long)(what->tasks[t].problem->task->count * op.repeat));
        fputs(mer_directives_maestro(&plan, false, arena), file);
    }
    fprintf(file, "}\n");
}

static const char *table_type(const MerOp *op)
{
    return op->kind == MER_OP_DEPTHWISE    ? "DSCONV"
           : op->kind == MER_OP_TRANSPOSED ? "TRCONV"
           : op->dims[MER_DIM_G] > 1       ? "NGCONV"
                                           : "CONV";
}

/* Tables are read line by line. */
static void write_cell(FILE *file, const char *text, MerArena *arena)
{
    char *line = mer_arena_text(arena, text);
    for (char *at = line; *at; at++) {
        *at = (unsigned char)*at < ' ' ? '_' : *at;
    }
    mer_csv_cell(file, line);
}

/* A bound is of the objective: its unit is behind the name, as in energy_pj; expressions and shares have none. */
static const char *bound_title(const char *objective, MerArena *arena)
{
    MerMetric   metric = mer_metric_find(objective);
    const char *unit = metric != MER_METRIC_COUNT ? mer_metric_info(metric)->unit : "1";
    char       *title = mer_arena_text(arena, mer_arena_format(arena, "bound_%s", unit));
    for (char *at = title; *at; at++) {
        *at = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '_';
    }
    return strcmp(unit, "1") == 0 ? "bound" : title;
}

static void write_real(FILE *file, double value)
{
    char text[32];
    mer_print_real(text, value);
    fprintf(file, ",%s", isfinite(value) ? text : "");
}

/* A layer table (Y and X are input sizes) with the results beside each layer. */
static void write_table(const MerExport *what, FILE *file, MerArena *arena)
{
    static const MerMetric metrics[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP,
                                        MER_METRIC_UTILISATION, MER_METRIC_TRAFFIC_BYTES};
    fprintf(file,
            "network,layer,type,stride_x,stride_y,N,G,K,C,R,S,Y,X,rows,columns,repeat,count,"
            "macs,cycles,"
            "energy_pj,edp_pj_cycle,utilisation,traffic_bytes,%s,bound_kind,gap,proven,"
            "mapping\n",
            bound_title(what->objective, arena));
    for (int t = 0; t < what->count; t++) {
        const MerExportTask *task = &what->tasks[t];
        const MerTask       *layer = task->problem->task;
        bool                 is_nest = task->plan->kind == &mer_plan_nest;
        const MerOp         *op =
            is_nest ? mer_nest_plan(task->plan)->op : mer_directive_plan(task->plan)->op;
        const MerPlatform *platform = task->problem->platform;
        const char *line = is_nest ? mer_nest_line(mer_nest_plan(task->plan), platform, arena)
                                   : mer_directives_line(mer_directive_plan(task->plan), arena);
        write_cell(file, what->workload, arena);
        fputc(',', file);
        write_cell(file, layer->name, arena);
        fprintf(file, ",%s,%d,%d", table_type(op), op->stride[1], op->stride[0]);
        static const int dims[] = {MER_DIM_N, MER_DIM_G, MER_DIM_K,
                                   MER_DIM_C, MER_DIM_R, MER_DIM_S};
        for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
            fprintf(file, ",%lld", (long long)op->dims[dims[i]]);
        }
        bool is_transposed = op->kind == MER_OP_TRANSPOSED;
        for (int axis = 0; axis < 2; axis++) {
            int64_t rows = op->dims[MER_DIM_Y + axis];
            int64_t input = (rows - 1) * op->stride[axis] +
                            (op->dims[MER_DIM_R + axis] - 1) * op->dilation[axis] + 1;
            fprintf(file, ",%lld", (long long)(is_transposed ? rows : input));
        }
        fprintf(file, ",%lld,%lld,%lld,%lld,%.0f", (long long)op->dims[MER_DIM_Y],
                (long long)op->dims[MER_DIM_X], (long long)op->repeat, (long long)layer->count,
                layer->macs);
        for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
            write_real(file, task->cost->value[metrics[i]]);
        }
        write_real(file, task->bound->value);
        fprintf(file, ",%s", task->bound->kind);
        write_real(file, task->gap);
        fprintf(file, ",%s,", task->is_proven ? "true" : "false");
        write_cell(file, line, arena);
        fputc('\n', file);
    }
}

/* One file of all plans, if they are of a kind that the form can say; NULL: of any kind. */
static MerStatus write_file(const MerExport *what, const MerPlanKind *kind, const char *name,
                            void (*write)(const MerExport *what, FILE *file, MerArena *arena),
                            MerExportFiles *files, MerError *error)
{
    if (kind && what->tasks[0].plan->kind != kind) {
        return MER_OK;
    }
    FILE *file = mer_export_begin(files);
    if (file) {
        write(what, file, files->arena);
    }
    return mer_export_end(files, file, name, error);
}

#define EXPORTER(id, kind, file_name, reads_back, function, text)                                  \
    static MerStatus export_##id(const MerExport *what, MerExportFiles *files, MerError *error)    \
    {                                                                                              \
        return write_file(what, kind, file_name, function, files, error);                          \
    }                                                                                              \
    const MerExporterClass mer_exporter_##id = {.name = #id,                                       \
                                                .summary = text,                                   \
                                                .problem = "map",                                  \
                                                .is_default = true,                                \
                                                .is_plan = reads_back,                             \
                                                .write = export_##id};
EXPORTER(nest_text, &mer_plan_nest, "nest.txt", true, write_nests,
         "nest.txt: loop nests as lines and as indented loops")
EXPORTER(timeloop_map, &mer_plan_nest, "timeloop.map.yaml", true, write_timeloop,
         "timeloop.map.yaml: problem and mapping for Timeloop v0.3")
EXPORTER(maestro_m, &mer_plan_directives, "maestro.m", true, write_maestro,
         "maestro.m: directives for MAESTRO")
EXPORTER(layers_table, NULL, "layers.csv", false, write_table,
         "layers.csv: a layer table with the results beside each layer")
EXPORTER(stats, NULL, "stats.txt", false, mer_map_write_stats,
         "stats.txt: accesses and energy per memory and tensor, for people")
