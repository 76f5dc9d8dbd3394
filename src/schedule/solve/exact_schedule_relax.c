/* The relaxation of exact_schedule.h, put to the program over configurations that the bound uses too
 * (configuration_program.h). */
#include "schedule/solve/exact_schedule.h"

#include <math.h>
#include <string.h>

void exact_relaxation_begin(ExactRelaxation *relaxation, const ExactJobs *jobs, MerNotes *notes,
                            MerArena *arena)
{
    Relaxation        *pairs = &relaxation->pairs;
    ConfigurationPhase widest = {.classes = jobs->units};
    int                classes = EXACT_PHASES * jobs->units; /* at most: each has a unit */
    size_t             size = (size_t)jobs->jobs * (size_t)classes;
    relaxation->jobs = jobs;
    relaxation->busy = MER_ARRAY(arena, int, classes);
    relaxation->unit_of_class = MER_ARRAY(arena, int, classes);
    *pairs = (Relaxation){.rows = jobs->jobs,
                          .classes = classes,
                          .count = MER_ARRAY(arena, int, jobs->jobs),
                          .units = MER_ARRAY(arena, int, classes),
                          .load = MER_ARRAY(arena, double, size),
                          .need = MER_ARRAY(arena, double, size),
                          .alone = MER_ARRAY(arena, double, size),
                          .row_price = MER_ARRAY(arena, double, jobs->jobs),
                          .arena = arena,
                          .notes = notes};
    for (int j = 0; j < jobs->jobs; j++) {
        pairs->count[j] = 1;
    }
    for (int c = 0; c < classes; c++) {
        pairs->units[c] = 1;
    }
    mer_columns_begin_phases(&relaxation->columns, pairs, &widest, EXACT_SPANS);
    relaxation->columns.span = relaxation->span;
    relaxation->columns.is_least = relaxation->is_least;
}

/* Those that run throughout. */
static void set_running(const ExactRelaxation *relaxation, const ExactPhase *phase,
                        ConfigurationPhase *to)
{
    const ExactJobs *jobs = relaxation->jobs;
    for (uint32_t left = phase->runs; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        int unit = relaxation->unit_of_job[job];
        to->run_row[to->runs] = job;
        to->run_load[to->runs++] = jobs->length[job][unit];
        to->need += jobs->need[job][unit];
    }
}

/* A unit with jobs of its own is a class, the others are merged with their equals: the fewer classes, the fewer
 * ways to be busy the pricing has to tell apart. */
static int add_classes(ExactRelaxation *relaxation, const ExactPhase *phase, int first,
                       uint32_t *allowed)
{
    Relaxation *pairs = &relaxation->pairs;
    const int  *unit_class = relaxation->jobs->unit_class;
    int         end = first;
    for (int i = 0; i < phase->unit_count; i++) {
        int unit = phase->unit[i];
        int c = phase->own[i] ? end : first;
        while (c < end && (allowed[c] != phase->others[unit_class[unit]] ||
                           unit_class[relaxation->unit_of_class[c]] != unit_class[unit])) {
            c++;
        }
        if (c == end) {
            allowed[c] = phase->own[i] | phase->others[unit_class[unit]];
            relaxation->unit_of_class[c] = unit;
            relaxation->busy[c] = pairs->units[c] = 0;
            end++;
        }
        relaxation->busy[c] += !phase->may_idle[i];
        pairs->units[c]++;
    }
    return end;
}

/* False if there are too many configurations to look at. */
static bool set_phases(ExactRelaxation *relaxation)
{
    const ExactJobs *jobs = relaxation->jobs;
    Relaxation      *pairs = &relaxation->pairs;
    uint32_t         allowed[EXACT_PHASES * MER_BANDWIDTH_UNITS];
    bool             fits = true;
    pairs->classes = 0;
    for (int p = 0; p < relaxation->phase_count; p++) {
        const ExactPhase   *phase = &relaxation->phase[p];
        ConfigurationPhase *to = &relaxation->program_phase[p];
        int                 first = pairs->classes;
        pairs->classes = add_classes(relaxation, phase, first, allowed);
        *to = (ConfigurationPhase){.first_class = first,
                                   .classes = pairs->classes - first,
                                   .busy = relaxation->busy + first,
                                   .spans = phase->spans};
        set_running(relaxation, phase, to);
        fits = fits && mer_configurations_fit(pairs, to);
    }
    for (int j = 0; j < jobs->jobs; j++) {
        for (int c = 0; c < pairs->classes; c++) {
            int at = j * pairs->classes + c;
            int unit = relaxation->unit_of_class[c];
            pairs->load[at] = jobs->length[j][unit];
            pairs->need[at] = jobs->need[j][unit];
            pairs->alone[at] = allowed[c] >> j & 1 ? 0 : INFINITY;
        }
    }
    return fits;
}

double exact_relax(ExactSearch *s, bool is_question)
{
    enum { WORK_OF_STEP = 8 }; /* so that a step of every search takes about as long */
    ExactRelaxation *relaxation = &s->relaxation;
    Columns         *columns = &relaxation->columns;
    int64_t          work = mer_columns_work(columns);
    relaxation->value = 0;
    memset(relaxation->price, 0, sizeof relaxation->price);
    memset(relaxation->span_price, 0, sizeof relaxation->span_price);
    if (set_phases(relaxation)) {
        mer_columns_set_phases(columns, relaxation->program_phase, relaxation->phase_count);
        columns->span_count = relaxation->span_count;
        relaxation->value = mer_columns_solve(columns, relaxation->limit, INFINITY,
                                              is_question ? COLUMNS_QUESTION : COLUMNS_VALUE);
    }
    /* Without a value the prices are those of another program, which may not fit this one. */
    bool has_prices = relaxation->value > 0 && !isinf(relaxation->value);
    for (int j = 0; j < relaxation->jobs->jobs && has_prices; j++) {
        relaxation->price[j] = columns->center[j] * relaxation->limit;
    }
    for (int i = 0; i < relaxation->span_count && has_prices; i++) {
        relaxation->span_price[i] = columns->center[columns->span_row + i];
    }
    s->steps += (mer_columns_work(columns) - work) / WORK_OF_STEP;
    return relaxation->value;
}
