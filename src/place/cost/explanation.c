#include "base/engineering.h"
#include "mercator/view.h"
#include "place/cost/what_if.h"

#include <string.h>

enum { COMPUTE, TRANSFER, IDLE, PARTS };
enum { SHOWN_CHANGES = 4 };              /* of a line for people */
static const double LEAST_GAIN = 0.0005; /* that is worth a word */

static const char *show(double value, const char *unit, MerArena *arena)
{
    char text[48];
    mer_print_engineering(text, value, unit);
    return mer_arena_text(arena, text);
}

static double share(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static int busiest_unit(const MerPlace *place, const double *load_us)
{
    int busiest = 0;
    for (int u = 1; u < place->unit_count; u++) {
        busiest = load_us[PARTS * u + IDLE] < load_us[PARTS * busiest + IDLE] ? u : busiest;
    }
    return busiest;
}

static const char *name_link(const MerPlatform *platform, int link, MerArena *arena)
{
    const MerLink *it = &platform->links[link];
    return it->bus ? it->bus
                   : mer_arena_format(arena, "%s to %s", platform->units[it->from].name,
                                      platform->units[it->to].name);
}

/* The unit that is idle least and what it does: the link that is used most, where results go over links. */
static const char *explain_load(const MerPlace *place, const MerPlacePriced *priced,
                                MerArena *arena)
{
    int           unit = busiest_unit(place, priced->load_us), link = 0;
    const double *load = priced->load_us + PARTS * unit;
    double        all = load[COMPUTE] + load[TRANSFER] + load[IDLE];
    double       *times = mer_place_link_times(place, mer_graph_plan(priced->plan), arena);
    const char   *text = mer_arena_format(
          arena, "busiest unit %s: operators %.1f %%, transfers %.1f %%, idle %.1f %%",
          place->unit_names[unit], share(load[COMPUTE], all), share(load[TRANSFER], all),
          share(load[IDLE], all));
    for (int l = 1; l < place->platform->link_count; l++) {
        link = times[l] > times[link] ? l : link;
    }
    if (place->platform->link_count > 0 && !place->has_transfer_times && times[link] > 0) {
        text = mer_arena_format(arena, "%s; link %s carries results %.1f %% of the time", text,
                                name_link(place->platform, link, arena), share(times[link], all));
    }
    return mer_arena_format(arena, "%s\n", text);
}

/* The fullest unit, by share of its limit where it has one. */
static const char *explain_memory(const MerPlace *place, const double *peak, const MerWhatIfs *what,
                                  const char *text, MerArena *arena)
{
    int fullest = 0;
    for (int u = 1; u < place->unit_count; u++) {
        fullest = peak[u] / place->limit[u] > peak[fullest] / place->limit[fullest] ? u : fullest;
    }
    if (!isfinite(place->limit[fullest])) {
        return text;
    }
    text = mer_arena_format(arena, "%smemory that suffices: %s on %s for this placement (has %s)",
                            text, show(peak[fullest], "B", arena), place->unit_names[fullest],
                            show(place->limit[fullest], "B", arena));
    if (what->roomy_unit >= 0 && isfinite(what->roomy_bytes)) {
        text = mer_arena_format(arena, "%s, %s for all on %s", text,
                                show(what->roomy_bytes, "B", arena),
                                place->unit_names[what->roomy_unit]);
    }
    return mer_arena_format(arena, "%s\n", text);
}

static const char *show_change(double before, double after, const char *unit, MerArena *arena)
{
    return isnan(after)    ? "refused"
           : isnan(before) ? show(after, unit, arena)
                           : mer_arena_format(arena, "%s (%+.1f %%)", show(after, unit, arena),
                                              100 * (after / before - 1));
}

static const char *explain_singles(const MerPlace *place, const MerWhatIfs *what, const char *unit,
                                   const char *text, MerArena *arena)
{
    const MerSingle *best = &what->singles[0];
    const char      *name = place->unit_names[best->unit];
    return isnan(best->value)
               ? mer_arena_format(arena, "%sone unit alone: refused on %s (%s)\n", text, name,
                                  best->reason)
               : mer_arena_format(arena, "%sone unit alone: %s on %s\n", text,
                                  show_change(what->value, best->value, unit, arena), name);
}

/* The changes that matter most, best first. */
static const char *explain_changes(const MerWhatIfs *what, const char *unit, const char *text,
                                   MerArena *arena)
{
    bool        is_search = what->mode == MER_WHAT_IF_SEARCH;
    bool       *is_said = MER_ARRAY(arena, bool, what->count + 1);
    int         said = 0;
    double      before = is_search ? what->improved : what->value;
    const char *line = is_search
                           ? mer_arena_format(arena, "what if, placement improved: as it is %s",
                                              show_change(what->value, what->improved, unit, arena))
                           : "what if, same placement:";
    for (; said < SHOWN_CHANGES; said++) {
        int best = -1;
        for (int i = 0; i < what->count; i++) {
            double value = is_search ? what->list[i].improved : what->list[i].value;
            bool   is_better = isnan(before) ? !isnan(value) : value < before * (1 - LEAST_GAIN);
            double known = best < 0    ? INFINITY
                           : is_search ? what->list[best].improved
                                       : what->list[best].value;
            best = is_better && !is_said[i] && value < known ? i : best;
        }
        if (best < 0) {
            break;
        }
        is_said[best] = true;
        double value = is_search ? what->list[best].improved : what->list[best].value;
        line = mer_arena_format(arena, "%s%s %s %s", line, said > 0 || is_search ? "," : "",
                                what->list[best].text, show_change(before, value, unit, arena));
    }
    if (said == 0 && !is_search) {
        return what->count > 0 ? mer_arena_format(arena, "%s%s none of %d changes gains 0.1 %%\n",
                                                  text, line, what->count)
                               : text;
    }
    return mer_arena_format(arena, "%s%s\n", text, line);
}

static const char *explain_moves(const MerPlace *place, const MerWhatIfs *what, const char *unit,
                                 const char *text, MerArena *arena)
{
    for (int m = 0; m < what->move_count; m++) {
        const MerWhatIfMove *move = &what->moves[m];
        text = mer_arena_format(
            arena, "%s%s %s from %s to %s %s", text, m == 0 ? "moves that gain most:" : ",",
            place->group_names[move->group], place->unit_names[move->from],
            place->unit_names[move->to], show_change(what->value, move->value, unit, arena));
    }
    return what->move_count > 0 ? mer_arena_format(arena, "%s\n", text) : text;
}

const char *mer_place_explain(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                              MerArena *arena)
{
    const MerPlace *place = mer_place_of(pricer->problem);
    const char     *unit = mer_metric_info(pricer->metric)->unit;
    MerWhatIfs      what = mer_place_what_ifs(pricer, priced, arena);
    const char     *text = explain_load(place, priced, arena);
    text = explain_singles(place, &what, unit, text, arena);
    text = explain_memory(place, priced->peak, &what, text, arena);
    if (what.mode == MER_WHAT_IF_OFF) {
        return text;
    }
    text = explain_changes(&what, unit, text, arena);
    return explain_moves(place, &what, unit, text, arena);
}

static MerViewCell change_share(double before, double after)
{
    return (MerViewCell){.number = after / before - 1};
}

static void show_changes(const MerWhatIfs *what, const char *unit, MerArena *arena, MerNotes *notes)
{
    bool          is_search = what->mode == MER_WHAT_IF_SEARCH;
    MerViewColumn columns[] = {
        {.name = "what if"},
        {.name = "same placement", .unit = unit},
        {.name = "change", .unit = "share"},
        {.name = "improved", .unit = unit, .help = "after some steps of a search there"},
        {.name = "change of that", .unit = "share"}};
    int          count = is_search ? 5 : 3, row = 1;
    MerViewCell *cells = MER_ARRAY(arena, MerViewCell, (size_t)count * (size_t)(what->count + 2));
    cells[0].text = "as it is";
    cells[1].number = what->value;
    cells[2].number = NAN;
    if (is_search) {
        cells[3].number = what->improved;
        cells[4] = change_share(what->value, what->improved);
    }
    for (int i = 0; i < what->count; i++, row++) {
        MerViewCell *cell = cells + count * row;
        cell[0].text = what->list[i].text;
        cell[1].number = what->list[i].value;
        cell[2] = change_share(what->value, what->list[i].value);
        if (is_search) {
            cell[3].number = what->list[i].improved;
            cell[4] = change_share(what->improved, what->list[i].improved);
        }
    }
    MerView view = {.id = "what-if",
                    .title = "What would change it",
                    .help = "The same placement on changed platforms. An empty cell: refused."};
    mer_view_table(notes, &view, &(MerViewTable){columns, count, cells, row});
}

static void show_moves(const MerPlace *place, const MerWhatIfs *what, const char *unit,
                       MerArena *arena, MerNotes *notes)
{
    MerViewColumn columns[] = {{.name = "group"},
                               {.name = "from"},
                               {.name = "to"},
                               {.name = "then", .unit = unit},
                               {.name = "change", .unit = "share"}};
    MerViewCell  *cells = MER_ARRAY(arena, MerViewCell, 5 * MER_WHAT_IF_MOVES);
    for (int m = 0; m < what->move_count; m++) {
        const MerWhatIfMove *move = &what->moves[m];
        MerViewCell         *cell = cells + 5 * m;
        cell[0].text = place->group_names[move->group];
        cell[1].text = place->unit_names[move->from];
        cell[2].text = place->unit_names[move->to];
        cell[3].number = move->value;
        cell[4] = change_share(what->value, move->value);
    }
    MerView view = {.id = "moves",
                    .title = "Moves that gain most",
                    .help = "One group elsewhere, all else as it is."};
    if (what->move_count > 0) {
        mer_view_table(notes, &view, &(MerViewTable){columns, 5, cells, what->move_count});
    }
}

static void show_singles(const MerPlace *place, const MerWhatIfs *what, const char *unit,
                         MerArena *arena, MerNotes *notes)
{
    MerViewColumn columns[] = {{.name = "unit"},
                               {.name = "value", .unit = unit},
                               {.name = "change", .unit = "share"},
                               {.name = "refused"}};
    MerViewCell  *cells = MER_ARRAY(arena, MerViewCell, 4 * (size_t)what->single_count);
    for (int i = 0; i < what->single_count; i++) {
        const MerSingle *single = &what->singles[i];
        MerViewCell     *cell = cells + 4 * i;
        cell[0].text = place->unit_names[single->unit];
        cell[1].number = single->value;
        cell[2] = change_share(what->value, single->value);
        cell[3].text = single->reason;
    }
    MerView view = {.id = "single",
                    .title = "One unit alone",
                    .help = "Everything on one unit of each class, what it cannot run on a host."};
    mer_view_table(notes, &view, &(MerViewTable){columns, 4, cells, what->single_count});
}

void mer_place_show_what_ifs(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                             MerNotes *notes)
{
    MerArena   *arena = mer_arena_new();
    const char *unit = mer_metric_info(pricer->metric)->unit;
    MerWhatIfs  what = mer_place_what_ifs(pricer, priced, arena);
    show_singles(mer_place_of(pricer->problem), &what, unit, arena, notes);
    if (what.mode != MER_WHAT_IF_OFF) {
        if (what.count > 0) {
            show_changes(&what, unit, arena, notes);
        }
        show_moves(mer_place_of(pricer->problem), &what, unit, arena, notes);
    }
    mer_arena_free(arena);
}
