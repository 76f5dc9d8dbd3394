/* The jobs of a schedule as a graph: what waits for what, coloured by core or by what a job takes. */
#include "mercator/view.h"
#include "schedule/cost/bandwidth.h"

#include <math.h>

enum { MODEL, CYCLES, STALL, MOVED, ENERGY, COLUMNS };
enum { MOST_JOBS = 2000 }; /* of a graph that is written */

static void fill_cells(const MerSchedule *schedule, const MerBandwidthTimes *times, int job,
                       MerViewCell *cells)
{
    int model = schedule->model[job];
    cells[MODEL].text = model >= 0 ? schedule->models[model].name : "";
    if (isnan(times->end[job])) { /* dropped */
        for (int c = CYCLES; c < COLUMNS; c++) {
            cells[c].number = NAN;
        }
        return;
    }
    size_t at = (size_t)job * (size_t)schedule->unit_count + (size_t)times->unit[job];
    cells[CYCLES].number = times->end[job] - times->start[job];
    cells[STALL].number = mer_bandwidth_stall(schedule, times, job);
    cells[MOVED].number = times->moved[job];
    cells[ENERGY].number = schedule->energy ? schedule->energy[at] : NAN;
}

void mer_bandwidth_view_graph(const MerSchedule *schedule, const MerBandwidthTimes *times,
                              MerArena *arena, MerNotes *notes)
{
    static const MerViewColumn columns[COLUMNS] = {
        [MODEL] = {.name = "model"},
        [CYCLES] = {.name = "cycles", .unit = "cycle"},
        [STALL] = {.name = "waits for memory", .unit = "cycle"},
        [MOVED] = {.name = "bytes moved", .unit = "B"},
        [ENERGY] = {.name = "energy", .unit = "pJ"}};
    int          jobs = schedule->job_count, edge_count = 0;
    MerViewNode *nodes = MER_ARRAY(arena, MerViewNode, jobs + 1);
    MerViewCell *cells = MER_ARRAY(arena, MerViewCell, (size_t)jobs * COLUMNS + 1);
    int         *edges = MER_ARRAY(arena, int, 2 * (size_t)schedule->before_start[jobs] + 1);
    if (!schedule->has_dependencies || jobs > MOST_JOBS) {
        return; /* nothing waits for anything */
    }
    for (int j = 0; j < jobs; j++) {
        bool ran = !isnan(times->end[j]);
        fill_cells(schedule, times, j, cells + (size_t)j * COLUMNS);
        nodes[j] = (MerViewNode){.name = schedule->job_names[j],
                                 .group = ran ? schedule->unit_names[times->unit[j]] : "dropped",
                                 .cells = cells + (size_t)j * COLUMNS};
        for (int i = schedule->before_start[j]; i < schedule->before_start[j + 1]; i++) {
            edges[2 * edge_count] = schedule->before[i];
            edges[2 * edge_count++ + 1] = j;
        }
    }
    mer_view_graph(notes, &(MerView){.id = "graph", .title = "What waits for what"},
                   &(MerViewGraph){.group_name = "core",
                                   .groups = schedule->unit_names,
                                   .group_count = schedule->unit_count,
                                   .nodes = nodes,
                                   .node_count = jobs,
                                   .edges = edges,
                                   .edge_count = edge_count,
                                   .columns = columns,
                                   .column_count = schedule->energy ? COLUMNS : ENERGY});
}
