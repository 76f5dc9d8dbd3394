/* What the report and the terminal show of a simulated run: the timeline of units and channels with their memory, the use of the
 * channels, the critical path, and what every evaluator of placements shows. */
#include "mercator/view.h"
#include "place/cost/cluster.h"

#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 20000, MOST_STEPS = 200, COMPUTE = 0, TRANSFER = 1, IDLE = 2, PARTS = 3 };

typedef struct Play {
    const MerCluster   *cluster;
    const MerPlace     *place;
    const MerGraphPlan *plan;
    MerClusterRecord    record;
    MerClusterOutcome   outcome;
    MerPathStep        *steps;
    int                 step_count;
    MerArena           *arena;
} Play;

static double seconds(double microseconds)
{
    return 1e-6 * microseconds;
}

/* "gpu0 to gpu1": lanes of a unit begin with its name. */
static const char *channel_lane(const Play *play, int channel)
{
    const char *name = play->cluster->channel_names[channel];
    bool        is_unit = channel < play->place->unit_count &&
                   name == play->place->unit_names[channel]; /* its own line */
    return is_unit ? mer_arena_format(play->arena, "%s sends", name) : name;
}

static const char *kernel_name(const Play *play, int kernel)
{
    int others = -1;
    for (int o = kernel; o < play->place->op_count && play->record.kernel; o++) {
        others += play->record.kernel[o] == kernel;
    }
    return others > 0
               ? mer_arena_format(play->arena, "%s and %d more", play->place->names[kernel], others)
               : play->place->names[kernel];
}

static const char *transfer_name(const Play *play, const MerTransferTimes *transfer)
{
    const char *to = transfer->to < 0 ? "all that read it" : play->place->unit_names[transfer->to];
    return mer_arena_format(play->arena, "%s to %s", play->place->names[transfer->op], to);
}

typedef struct Items {
    MerViewItem *list;
    int         *of_kernel, *of_transfer; /* numbers */
    int          count;
} Items;

static void add_kernels(const Play *play, const int *lane_of_stream, Items *items)
{
    const MerPlace *place = play->place;
    for (int o = 0; o < place->op_count; o++) {
        if (mer_record_kernel(&play->record, o) != o) {
            continue;
        }
        items->of_kernel[o] = items->count;
        items->list[items->count++] = (MerViewItem){.name = kernel_name(play, o),
                                                    .lane = lane_of_stream[play->record.stream[o]],
                                                    .start = seconds(play->record.start_us[o]),
                                                    .end = seconds(play->record.end_us[o]),
                                                    .amount = place->output_bytes[o],
                                                    .ready = seconds(play->record.ready_us[o]),
                                                    .group = place->unit_names[play->plan->unit[o]],
                                                    .kind = mer_op_kind_name(place->kinds[o])};
    }
}

static void add_transfers(const Play *play, const int *lane_of_channel, Items *items)
{
    for (int t = 0; t < play->record.transfer_count; t++) {
        const MerTransferTimes *transfer = &play->record.transfers[t];
        int                    *after = MER_NEW(play->arena, int);
        int                     kernel = mer_record_kernel(&play->record, transfer->op);
        *after = items->of_kernel[kernel];
        items->of_transfer[t] = items->count;
        items->list[items->count++] =
            (MerViewItem){.name = transfer_name(play, transfer),
                          .lane = lane_of_channel[transfer->channel],
                          .start = seconds(transfer->start_us),
                          .end = seconds(transfer->end_us),
                          .amount = transfer->bytes,
                          .ready = seconds(transfer->ready_us),
                          .group = play->place->unit_names[play->plan->unit[transfer->op]],
                          .kind = "transfer",
                          .after = after,
                          .after_count = 1};
    }
}

/* Kernels wait for kernels of their unit, and for the last transfer of what comes from elsewhere. */
static void add_arrows(const Play *play, Items *items)
{
    const MerPlace *place = play->place;
    int            *after = MER_ARRAY(play->arena, int, place->edge_count + 1), used = 0;
    size_t          units = (size_t)place->unit_count;
    int            *brought = MER_ARRAY(play->arena, int, (size_t)place->op_count *units + 1);
    for (int t = 0; t < play->record.transfer_count; t++) { /* from 1; the last one counts */
        const MerTransferTimes *transfer = &play->record.transfers[t];
        for (size_t u = 0; u < units; u++) {
            if (transfer->to < 0 || transfer->to == (int)u) {
                brought[(size_t)transfer->op * units + u] = items->of_transfer[t] + 1;
            }
        }
    }
    for (int kernel = 0; kernel < place->op_count; kernel++) {
        if (mer_record_kernel(&play->record, kernel) != kernel) {
            continue;
        }
        MerViewItem *item = &items->list[items->of_kernel[kernel]];
        item->after = after + used;
        for (int o = kernel; o < place->op_count; o++) {
            if (mer_record_kernel(&play->record, o) != kernel) {
                if (!play->record.kernel) {
                    break;
                }
                continue;
            }
            for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
                int producer = place->before[i], unit = play->plan->unit[o];
                int from = mer_record_kernel(&play->record, producer);
                int number = play->plan->unit[producer] == unit
                                 ? items->of_kernel[from]
                                 : brought[(size_t)producer * units + (size_t)unit] - 1;
                if (from != kernel && number >= 0) {
                    after[used++] = number;
                }
            }
        }
        item->after_count = (int)(after + used - item->after);
    }
}

/* One area per unit, joined where nothing changes. */
static double *memory_segments(const Play *play, int *count)
{
    const MerClusterRecord *record = &play->record;
    size_t                  units = (size_t)play->place->unit_count, width = units + 2;
    double *segments = MER_ARRAY(play->arena, double, width *(size_t)(record->step_count + 1));
    double *now = MER_ARRAY(play->arena, double, units);
    *count = 0;
    for (int s = 0; s < record->step_count; s++) {
        double time = record->steps[s].time_us;
        double next =
            s + 1 < record->step_count ? record->steps[s + 1].time_us : play->outcome.makespan_us;
        now[record->steps[s].unit] = record->steps[s].bytes;
        if (next > time) {
            double *segment = segments + (size_t)(*count)++ * width;
            segment[0] = seconds(time);
            segment[1] = seconds(next);
            memcpy(segment + 2, now, units * sizeof *now);
        }
    }
    return segments;
}

static const char **list_lanes(const Play *play, int *lane_of_stream, int *lane_of_channel,
                               int *count)
{
    const MerCluster *cluster = play->cluster;
    int               units = play->place->unit_count, streams = cluster->stream_start[units];
    const char **lanes = MER_ARRAY(play->arena, const char *, streams + cluster->channel_count + 1);
    bool        *is_used = MER_ARRAY(play->arena, bool, cluster->channel_count + 1);
    *count = 0;
    for (int u = 0; u < units; u++) {
        int first = cluster->stream_start[u], end = cluster->stream_start[u + 1];
        for (int s = first; s < end; s++) {
            lane_of_stream[s] = *count;
            lanes[(*count)++] = s == first
                                    ? play->place->unit_names[u]
                                    : mer_arena_format(play->arena, "%s stream %d",
                                                       play->place->unit_names[u], s - first);
        }
    }
    for (int t = 0; t < play->record.transfer_count; t++) {
        is_used[play->record.transfers[t].channel] = true;
    }
    for (int c = 0; c < cluster->channel_count; c++) {
        if (is_used[c]) {
            lane_of_channel[c] = *count;
            lanes[(*count)++] = channel_lane(play, c);
        }
    }
    return lanes;
}

static void show_timeline(const Play *play, MerNotes *notes)
{
    const MerCluster *cluster = play->cluster;
    const MerPlace   *place = play->place;
    int               most = place->op_count + play->record.transfer_count, lane_count;
    int              *numbers = MER_ARRAY(play->arena, int, (size_t)most + 1);
    int *lane_of_stream = MER_ARRAY(play->arena, int, cluster->stream_start[place->unit_count] + 1);
    int *lane_of_channel = MER_ARRAY(play->arena, int, cluster->channel_count + 1);
    Items items = {MER_ARRAY(play->arena, MerViewItem, most + 1), numbers,
                   numbers + place->op_count, 0};
    if (most > MOST_ITEMS) {
        return;
    }
    const char **lanes = list_lanes(play, lane_of_stream, lane_of_channel, &lane_count);
    add_kernels(play, lane_of_stream, &items);
    add_transfers(play, lane_of_channel, &items);
    add_arrows(play, &items);
    MerViewAreas memory = {.title = "memory",
                           .unit = "B",
                           .series = place->unit_names,
                           .series_count = place->unit_count};
    memory.segments = memory_segments(play, &memory.segment_count);
    MerViewTimeline timeline = {.unit = "s",
                                .lanes = lanes,
                                .lane_count = lane_count,
                                .items = items.list,
                                .item_count = items.count,
                                .amount_unit = "B",
                                .item_name = "operator",
                                .group_name = "unit",
                                .kind_name = "kind",
                                .below = &memory,
                                .below_count = 1};
    mer_view_timeline(notes, &(MerView){.id = "timeline", .title = "Timeline"}, &timeline);
}

static void show_channels(const Play *play, MerNotes *notes)
{
    static const MerViewColumn columns[] = {
        {.name = "link"},
        {.name = "transfers", .unit = "1"},
        {.name = "bytes", .unit = "B"},
        {.name = "in use", .unit = "share", .has_bar = true, .help = "of the whole time"},
        {.name = "waited for", .unit = "s", .help = "by results that were ready, all together"}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    int          channels = play->cluster->channel_count, rows = 0;
    MerViewCell *cells = MER_ARRAY(play->arena, MerViewCell, COLUMNS * (size_t)(channels + 1));
    for (int c = 0; c < channels; c++) {
        MerViewCell *row = cells + COLUMNS * rows;
        for (int i = 1; i < COLUMNS; i++) {
            row[i].number = 0;
        }
        for (int t = 0; t < play->record.transfer_count; t++) {
            const MerTransferTimes *transfer = &play->record.transfers[t];
            if (transfer->channel == c) {
                row[1].number++;
                row[2].number += transfer->bytes;
                row[3].number +=
                    (transfer->end_us - transfer->start_us) / play->outcome.makespan_us;
                row[4].number += seconds(transfer->start_us - transfer->ready_us);
            }
        }
        row[0].text = channel_lane(play, c);
        rows += row[1].number > 0;
    }
    if (rows > 0) {
        MerView view = {.id = "links", .title = "Use of the links"};
        mer_view_table(notes, &view, &(MerViewTable){columns, COLUMNS, cells, rows});
    }
}

typedef struct Shares { /* of the makespan */
    double compute, transfer;
} Shares;

static Shares path_shares(const Play *play)
{
    Shares shares = {0, 0};
    for (int s = 0; s < play->step_count; s++) {
        const MerPathStep *step = &play->steps[s];
        double             part = (step->end_us - step->start_us) / play->outcome.makespan_us;
        *(step->is_transfer ? &shares.transfer : &shares.compute) += part;
    }
    return shares;
}

/* Of the steps of the path the longest, in their order: `least` is what a step must take to be among them. */
static double longest_steps(const Play *play)
{
    double *time = MER_ARRAY(play->arena, double, play->step_count + 1);
    int    *order = MER_ARRAY(play->arena, int, play->step_count + 1);
    if (play->step_count <= MOST_STEPS) {
        return -1;
    }
    for (int s = 0; s < play->step_count; s++) {
        time[s] = play->steps[s].start_us - play->steps[s].end_us;
    }
    mer_sort_order(time, play->step_count, order);
    return -time[order[MOST_STEPS - 1]];
}

static void show_path(const Play *play, MerNotes *notes)
{
    static const MerViewColumn columns[] = {
        {.name = "step"},
        {.name = "on"},
        {.name = "start", .unit = "s"},
        {.name = "time", .unit = "s", .has_bar = true},
        {.name = "waited", .unit = "s", .help = "after what it waited for had ended: gaps"}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    MerViewCell *cells = MER_ARRAY(play->arena, MerViewCell, COLUMNS * (size_t)(MOST_STEPS + 1));
    double       least = longest_steps(play);
    int          rows = 0;
    Shares       shares = path_shares(play);
    for (int s = 0; s < play->step_count && rows < MOST_STEPS; s++) {
        const MerPathStep *step = &play->steps[s];
        MerViewCell       *row = cells + COLUMNS * rows;
        if (step->end_us - step->start_us < least) {
            continue;
        }
        const MerTransferTimes *transfer =
            step->is_transfer ? &play->record.transfers[step->index] : NULL;
        row[0].text = transfer ? transfer_name(play, transfer) : kernel_name(play, step->index);
        row[1].text = transfer ? channel_lane(play, transfer->channel)
                               : play->place->unit_names[play->plan->unit[step->index]];
        row[2].number = seconds(step->start_us);
        row[3].number = seconds(step->end_us - step->start_us);
        row[4].number = seconds(step->wait_us);
        rows++;
    }
    MerViewFact facts[] = {
        {.name = "steps", .value = play->step_count, .unit = "1"},
        {.name = "operators", .value = shares.compute, .unit = "share"},
        {.name = "transfers", .value = shares.transfer, .unit = "share"},
        {.name = "gaps", .value = fmax(0, 1 - shares.compute - shares.transfer), .unit = "share"}};
    MerView view = {.id = "critical-path",
                    .title = "Critical path",
                    .help = "What the end waited for, back to the start.",
                    .facts = facts,
                    .fact_count = 4,
                    .is_folded = true};
    mer_view_table(notes, &view, &(MerViewTable){columns, COLUMNS, cells, rows});
}

typedef struct Edge { /* something begins or ends on a unit */
    double time;
    int    computes, moves; /* +1, -1 */
} Edge;

static int compare_edges(const void *a, const void *b)
{
    double x = ((const Edge *)a)->time, y = ((const Edge *)b)->time;
    return (x > y) - (x < y);
}

/* Time in which a unit computes, in which it only sends or receives, and the rest. */
static void measure_unit(const Play *play, int unit, Edge *edges, double *parts)
{
    const MerClusterRecord *record = &play->record;
    int                     count = 0, computes = 0, moves = 0;
    for (int o = 0; o < play->place->op_count; o++) {
        if (play->plan->unit[o] == unit && mer_record_kernel(record, o) == o) {
            edges[count++] = (Edge){record->start_us[o], 1, 0};
            edges[count++] = (Edge){record->end_us[o], -1, 0};
        }
    }
    for (int t = 0; t < record->transfer_count; t++) {
        const MerTransferTimes *transfer = &record->transfers[t];
        if (play->plan->unit[transfer->op] == unit || transfer->to == unit) {
            edges[count++] = (Edge){transfer->start_us, 0, 1};
            edges[count++] = (Edge){transfer->end_us, 0, -1};
        }
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    for (int e = 0; e < count; e++) {
        double until = e + 1 < count ? edges[e + 1].time : edges[e].time;
        computes += edges[e].computes;
        moves += edges[e].moves;
        int part = computes > 0 ? COMPUTE : moves > 0 ? TRANSFER : IDLE;
        parts[part] += until - edges[e].time;
    }
    parts[IDLE] = fmax(0, play->outcome.makespan_us - parts[COMPUTE] - parts[TRANSFER]);
}

static double *measure_units(const Play *play)
{
    size_t  most = (size_t)play->place->op_count + (size_t)play->record.transfer_count;
    Edge   *edges = MER_ARRAY(play->arena, Edge, 2 * most + 1);
    double *parts = MER_ARRAY(play->arena, double, PARTS *(size_t)play->place->unit_count);
    for (int u = 0; u < play->place->unit_count; u++) {
        measure_unit(play, u, edges, parts + PARTS * u);
    }
    return parts;
}

static bool play_plan(const void *opened, const MerPlan *plan, MerArena *arena, Play *play)
{
    const MerCluster *cluster = opened;
    *play = (Play){.cluster = cluster,
                   .place = cluster->place,
                   .plan = mer_graph_plan(plan),
                   .record = {.arena = arena},
                   .arena = arena};
    if (!mer_cluster_play(cluster, plan, &play->record, &play->outcome) ||
        !(play->outcome.makespan_us > 0 && play->outcome.makespan_us < INFINITY)) {
        return false;
    }
    play->step_count =
        mer_cluster_path(play->place, play->plan, &play->record, &play->steps, arena);
    return true;
}

void mer_cluster_detail(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    MerArena *arena = mer_arena_new();
    Play      play;
    if (play_plan(opened, plan, arena, &play)) {
        double        *parts = measure_units(&play);
        MerPlacePriced priced = {plan, parts, play.outcome.peak};
        mer_place_show(play.place, play.plan, parts, play.outcome.peak, notes);
        show_timeline(&play, notes);
        show_channels(&play, notes);
        show_path(&play, notes);
        if (play.cluster->pricer.problem) {
            mer_place_show_what_ifs(&play.cluster->pricer, &priced, notes);
        }
    }
    mer_arena_free(arena);
}

const char *mer_cluster_print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    const MerCluster *cluster = opened;
    Play              play;
    if (!play_plan(opened, plan, arena, &play)) {
        return NULL;
    }
    Shares      shares = path_shares(&play);
    const char *text = mer_arena_format(
        arena, "critical path of %d steps: operators %.1f %%, transfers %.1f %%, gaps %.1f %%\n",
        play.step_count, 100 * shares.compute, 100 * shares.transfer,
        100 * fmax(0, 1 - shares.compute - shares.transfer));
    MerPlacePriced priced = {plan, measure_units(&play), play.outcome.peak};
    return cluster->pricer.problem
               ? mer_arena_format(arena, "%s%s", text,
                                  mer_place_explain(&cluster->pricer, &priced, arena))
               : text;
}
