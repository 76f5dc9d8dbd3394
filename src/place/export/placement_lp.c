/* Exporter `placement_lp`: the placements of smallest max load, contiguous or not, as a mixed integer programme in the LP format
 * that CBC, GLPK, HiGHS, SCIP and Gurobi read (Tarnawski et al., NeurIPS 2020; docs/placement.md, "Files for other tools").
 * x3_1: group 3 is on unit 1; in7_1 and out7_1: the result of operator 7 enters or leaves unit 1. */
#include "place/export/place_export.h"

enum { WIDTH = 6 }; /* terms of a line: the format limits their length */

typedef struct Program {
    const MerPlace      *place;
    const MerPlaceRules *rules;
    FILE                *file;
    bool                *may; /* [group * units + unit] */
    int                  terms;
} Program;

static void add_term(Program *p, double factor, const char *name, int index, int unit)
{
    if (factor != 0) {
        fprintf(p->file, "%s %c %.17g %s%d_%d", p->terms++ % WIDTH == WIDTH - 1 ? "\n " : "",
                factor < 0 ? '-' : '+', fabs(factor), name, index, unit);
    }
}

static bool may_take(const Program *p, int op, int unit)
{
    return p->may[p->place->group[op] * p->place->unit_count + unit];
}

static double transfer_of(const Program *p, int op, int unit)
{
    return p->place->transfer_us[(size_t)op * (size_t)p->place->unit_count + (size_t)unit];
}

/* Is there a reader in another group, so that the result may cross a border? */
static bool may_cross(const MerPlace *place, int op)
{
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        if (place->group[place->after[i]] != place->group[op]) {
            return true;
        }
    }
    return false;
}

/* A result enters a unit that holds a reader and not the producer, and leaves one that holds the producer and not all readers. */
static void write_crossings(Program *p)
{
    const MerPlace *place = p->place;
    for (int o = 0; o < place->op_count; o++) {
        for (int u = 0; u < place->unit_count; u++) {
            for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
                int reader = place->after[i], from = place->group[o], to = place->group[reader];
                if (from == to || transfer_of(p, o, u) == 0) {
                    continue;
                }
                if (may_take(p, reader, u)) {
                    fprintf(p->file, " in%d_%d - x%d_%d", o, u, to, u);
                    if (may_take(p, o, u)) {
                        fprintf(p->file, " + x%d_%d", from, u);
                    }
                    fprintf(p->file, " >= 0\n");
                }
                if (may_take(p, o, u)) {
                    fprintf(p->file, " out%d_%d - x%d_%d", o, u, from, u);
                    if (may_take(p, reader, u)) {
                        fprintf(p->file, " + x%d_%d", to, u);
                    }
                    fprintf(p->file, " >= 0\n");
                }
            }
        }
    }
}

static void add_compute(Program *p, int unit)
{
    for (int g = 0; g < p->place->group_count; g++) {
        if (p->may[g * p->place->unit_count + unit]) {
            add_term(p, p->place->group_us[(size_t)g * (size_t)p->place->unit_count + (size_t)unit],
                     "x", g, unit);
        }
    }
}

static void add_transfers(Program *p, int unit)
{
    for (int o = 0; o < p->place->op_count; o++) {
        if (may_cross(p->place, o)) {
            add_term(p, transfer_of(p, o, unit), "in", o, unit);
            add_term(p, may_take(p, o, unit) ? transfer_of(p, o, unit) : 0, "out", o, unit);
        }
    }
}

static void write_loads(Program *p)
{
    for (int u = 0; u < p->place->unit_count; u++) {
        fprintf(p->file, " load%d:", u);
        p->terms = 0;
        add_compute(p, u);
        if (p->rules->overlaps) {
            fprintf(p->file, " - T <= 0\n transfer%d:", u);
            p->terms = 0;
        }
        add_transfers(p, u);
        fprintf(p->file, " - T <= 0\n");
    }
}

static void write_choices(Program *p)
{
    const MerPlace *place = p->place;
    for (int g = 0; g < place->group_count; g++) {
        fprintf(p->file, " group%d:", g);
        p->terms = 0;
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            add_term(p, 1, "x", g, place->choices[i]);
        }
        fprintf(p->file, " = 1\n");
    }
}

static void write_memory(Program *p)
{
    const MerPlace *place = p->place;
    for (int u = 0; u < place->unit_count; u++) {
        p->terms = 0;
        for (int g = 0; g < place->group_count && isfinite(place->limit[u]); g++) {
            if (p->may[g * place->unit_count + u] && place->group_size[g] > 0) {
                if (p->terms == 0) {
                    fprintf(p->file, " memory%d:", u);
                }
                add_term(p, place->group_size[g], "x", g, u);
            }
        }
        if (p->terms > 0) {
            fprintf(p->file, " <= %.17g\n", place->limit[u]);
        }
    }
}

static void write_program(Program *p)
{
    const MerPlace *place = p->place;
    fprintf(p->file, "\\ %s: T is the largest load of a unit, in microseconds\n",
            place->graph->name);
    for (int u = 0; u < place->unit_count; u++) {
        fprintf(p->file, "\\ unit %d: %s\n", u, place->unit_names[u]);
    }
    for (int g = 0; g < place->group_count; g++) {
        fprintf(p->file, "\\ group %d: %s\n", g, place->group_names[g]);
    }
    fprintf(p->file, "Minimize\n value: T\nSubject To\n");
    write_choices(p);
    write_loads(p);
    write_memory(p);
    write_crossings(p);
    fprintf(p->file, "Binaries\n");
    for (int g = 0; g < place->group_count; g++) {
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            fprintf(p->file, " x%d_%d\n", g, place->choices[i]);
        }
    }
    fprintf(p->file, "End\n");
}

static MerStatus write_lp(const MerExport *what, MerExportFiles *files, MerError *error)
{
    const MerEvaluator  *evaluator = what->tasks[0].evaluator;
    MerPlacement         placement = mer_placement(what, files);
    const MerPlace      *place = placement.place;
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    if (!rules || rules->form != MER_PLACE_MAXLOAD || place->has_replicas || place->is_pipeline) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "placement_lp writes the programme of maxload without replicas, found "
                             "%s%s",
                             evaluator->type->name,
                             place->is_pipeline    ? " of a pipeline profile"
                             : place->has_replicas ? " with replication"
                                                   : "");
    }
    Program program = {.place = place,
                       .rules = rules,
                       .may = MER_ARRAY(files->arena, bool,
                                        (size_t)place->group_count *(size_t)place->unit_count)};
    for (int g = 0; g < place->group_count; g++) {
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            program.may[g * place->unit_count + place->choices[i]] = true;
        }
    }
    program.file = mer_export_begin(files);
    if (program.file) {
        write_program(&program);
    }
    return mer_export_end(files, program.file, "placement.lp", error);
}

const MerExporterClass mer_exporter_placement_lp = {
    .name = "placement_lp",
    .summary = "placement.lp: all placements and their max load as a programme for MIP solvers",
    .problem = "place",
    .write = write_lp,
};
