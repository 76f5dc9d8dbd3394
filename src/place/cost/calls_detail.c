/* What the report shows of calls: when which accelerator is called and what hosts do meanwhile. */
#include "mercator/view.h"
#include "place/cost/calls.h"

enum { MOST_ITEMS = 20000, COMPUTE = 0, TRANSFER = 1, IDLE = 2, PARTS = 3 };

/* A host counts as idle while none of its operators runs; it has any width, so that its sum may be above the time. */
double *mer_calls_parts(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                        MerArena *arena)
{
    double *parts = MER_ARRAY(arena, double, PARTS *(size_t)place->unit_count);
    for (int o = 0; o < place->op_count; o++) {
        parts[PARTS * plan->unit[o] + COMPUTE] += mer_place_time(place, o, plan->unit[o]);
    }
    for (int u = 0; u < place->unit_count; u++) {
        double *part = parts + PARTS * u;
        part[COMPUTE] = fmin(part[COMPUTE], run->latency_us);
        part[TRANSFER] = run->transfer_us[u];
        part[IDLE] = fmax(0, run->latency_us - part[COMPUTE] - part[TRANSFER]);
    }
    return parts;
}

/* Calls first, then the operators of hosts; the number of each operator's item. */
static int number_items(const MerPlace *place, const MerCallsRun *run, int *number)
{
    int count = run->call_count;
    for (int o = 0; o < place->op_count; o++) {
        number[o] = run->call[o] > 0 ? run->call[o] - 1 : count++;
    }
    return count;
}

static void fill_item(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                      const int *number, int op, MerViewItem *item)
{
    int last = run->last_input[op];
    *item = (MerViewItem){.name = place->names[op],
                          .lane = plan->unit[op],
                          .start = 1e-6 * run->start[op],
                          .end = 1e-6 * run->finish[op],
                          .group = place->unit_names[plan->unit[op]],
                          .kind = run->call[op] > 0 ? "call" : "operator",
                          .after = last >= 0 ? &number[last] : NULL,
                          .after_count = last >= 0};
}

void mer_calls_show(const MerPlace *place, const MerGraphPlan *plan, const MerCallsRun *run,
                    MerArena *arena, MerNotes *notes)
{
    int         *number = MER_ARRAY(arena, int, place->op_count);
    int          count = number_items(place, run, number);
    MerViewItem *items = MER_ARRAY(arena, MerViewItem, count + 1);
    int         *sizes = MER_ARRAY(arena, int, count + 1);
    if (count > MOST_ITEMS) {
        return;
    }
    for (int o = 0; o < place->op_count; o++) {
        if (sizes[number[o]]++ == 0) {
            fill_item(place, plan, run, number, o, &items[number[o]]);
        }
    }
    for (int i = 0; i < run->call_count; i++) {
        if (sizes[i] > 1) {
            items[i].name = mer_arena_format(arena, "%s and %d more", items[i].name, sizes[i] - 1);
        }
    }
    MerView view = {.id = "timeline",
                    .title = "Calls",
                    .help = "A call of an accelerator takes its inputs, computes, and gives its "
                            "results out; operators of a host run side by side."};
    mer_view_timeline(notes, &view,
                      &(MerViewTimeline){.unit = "s",
                                         .lanes = place->unit_names,
                                         .lane_count = place->unit_count,
                                         .items = items,
                                         .item_count = count,
                                         .item_name = "call",
                                         .group_name = "unit"});
}
