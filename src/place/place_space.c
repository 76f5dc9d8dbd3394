/* The space of placements: a unit per group, then a priority and a level of fusion per operator where these are decided, then
 * replicas per stage. And the tables that policies which read graphs need (docs/placement.md, "Tables"). */
#include "place/place_parts.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

static int knob_count(const MerPlace *place)
{
    return place->group_count + place->op_count * (place->decides_order + place->decides_fusion) +
           (place->has_replicas ? place->unit_count : 0);
}

static MerKnob *add_unit_knobs(const MerPlace *place, MerKnob *knob, MerArena *arena)
{
    double *values = NEW(double, place->choice_start[place->group_count]);
    for (int i = 0; i < place->choice_start[place->group_count]; i++) {
        values[i] = place->choices[i];
    }
    for (int g = 0; g < place->group_count; g++) {
        *knob++ = (MerKnob){.name = mer_arena_format(arena, "unit.%s", place->group_names[g]),
                            .kind = MER_KNOB_CATEGORY,
                            .role = MER_ROLE_UNIT,
                            .level = -1,
                            .dim = -1,
                            .op = g,
                            .choices = place->choice_start[g + 1] - place->choice_start[g],
                            .values = values + place->choice_start[g]};
    }
    return knob;
}

static MerKnob *add_op_knobs(const MerPlace *place, const char *prefix, MerRole role, int agent,
                             MerKnob *knob, MerArena *arena)
{
    for (int o = 0; o < place->op_count; o++) {
        *knob++ = (MerKnob){.name = mer_arena_format(arena, "%s.%s", prefix, place->names[o]),
                            .kind = MER_KNOB_ORDERED,
                            .role = role,
                            .level = -1,
                            .dim = -1,
                            .op = o,
                            .agent = agent,
                            .choices = place->levels};
    }
    return knob;
}

typedef struct Tables {
    MerTable *list;
    int       count;
    MerArena *arena;
} Tables;

static double *add_table(Tables *tables, const char *name, int rows, int columns)
{
    double *values = MER_ARRAY(tables->arena, double, (size_t)rows *(size_t)columns + 1);
    tables->list[tables->count++] = (MerTable){name, rows, columns, values};
    return values;
}

static void add_group_tables(const MerPlace *place, Tables *tables)
{
    int     groups = place->group_count, units = place->unit_count;
    double *time = add_table(tables, "time", groups, units),
           *size = add_table(tables, "size", groups, 1),
           *backward = add_table(tables, "backward", groups, 1);
    for (int g = 0; g < groups; g++) {
        int backward_count = 0, first = place->member_start[g], end = place->member_start[g + 1];
        for (int u = 0; u < units; u++) {
            time[g * units + u] = INFINITY;
        }
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            int u = place->choices[i];
            time[g * units + u] = 1e-6 * place->group_us[g * units + u];
        }
        for (int i = first; i < end; i++) {
            backward_count += place->is_backward[place->members[i]];
        }
        size[g] = place->group_size[g];
        backward[g] = (double)backward_count / (end - first);
    }
}

static void add_unit_tables(const MerPlace *place, Tables *tables)
{
    int     units = place->unit_count;
    double *limit = add_table(tables, "limit", units, 1),
           *class_of = add_table(tables, "class", units, 1),
           *host = add_table(tables, "host", units, 1),
           *link = add_table(tables, "link", units, units);
    for (int u = 0; u < units; u++) {
        limit[u] = place->limit[u];
        class_of[u] = place->unit_class[u];
        host[u] = place->is_host[u];
        for (int v = 0; v < units; v++) {
            const MerRoute *route = &place->routes[u * units + v];
            link[u * units + v] = route->count > 0 ? 1e-6 * route->us_per_byte : 0;
        }
    }
}

static void add_op_tables(const MerPlace *place, Tables *tables)
{
    int     ops = place->op_count, units = place->unit_count;
    double *group = add_table(tables, "group", ops, 1),
           *time = add_table(tables, "op_time", ops, units),
           *size = add_table(tables, "op_size", ops, 1),
           *bytes = add_table(tables, "op_bytes", ops, 1),
           *kind = add_table(tables, "op_kind", ops, 1),
           *backward = add_table(tables, "op_backward", ops, 1),
           *transfer = add_table(tables, "op_transfer", ops, 1),
           *edge = add_table(tables, "edge", place->edge_count, 2);
    for (int o = 0, e = 0; o < ops; o++) {
        group[o] = place->group[o];
        size[o] = place->size[o];
        bytes[o] = place->output_bytes[o];
        kind[o] = place->kinds[o];
        backward[o] = place->is_backward[o];
        for (int u = 0; u < units; u++) {
            size_t at = (size_t)o * (size_t)units + (size_t)u;
            time[at] = 1e-6 * place->time_us[at];
            transfer[o] = fmax(transfer[o], 1e-6 * place->transfer_us[at]);
        }
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++, e++) {
            edge[2 * e] = o;
            edge[2 * e + 1] = place->after[i];
        }
    }
}

MerSpace mer_place_space(const MerPlace *place, MerArena *arena)
{
    MerKnob *knobs = NEW(MerKnob, knob_count(place)), *end;
    Tables   tables = {.list = NEW(MerTable, 16), .arena = arena};
    end = add_unit_knobs(place, knobs, arena);
    end = place->decides_order ? add_op_knobs(place, "priority", MER_ROLE_PRIORITY, 1, end, arena)
                               : end;
    end = place->decides_fusion ? add_op_knobs(place, "fuse", MER_ROLE_FUSE, 2, end, arena) : end;
    for (int u = 0; place->has_replicas && u < place->unit_count; u++) {
        *end++ = (MerKnob){.name = mer_arena_format(arena, "replicas.%s", place->unit_names[u]),
                           .kind = MER_KNOB_ORDERED,
                           .role = MER_ROLE_REPLICAS,
                           .level = -1,
                           .dim = -1,
                           .op = u,
                           .choices = place->is_host[u] ? 1 : place->unit_count};
    }
    add_group_tables(place, &tables);
    add_unit_tables(place, &tables);
    add_op_tables(place, &tables);
    return (MerSpace){knob_count(place), tables.count, knobs, tables.list};
}

MerGraphPlan *mer_place_new_plan(const MerPlace *place, MerPlan *plan, MerArena *arena)
{
    MerGraphPlan *made = MER_NEW(arena, MerGraphPlan);
    *made = (MerGraphPlan){.op_count = place->op_count,
                           .unit_count = place->unit_count,
                           .unit = NEW(int, place->op_count)};
    *plan = (MerPlan){&mer_plan_graph, made};
    return made;
}

void mer_place_units(const MerPlace *place, const MerIndex *point, int *unit)
{
    for (int g = 0; g < place->group_count; g++) {
        unit[g] = place->choices[place->choice_start[g] + point[g]];
    }
}

void mer_place_decode(const MerPlace *place, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    MerGraphPlan   *made = mer_place_new_plan(place, plan, arena);
    const MerIndex *next = point + place->group_count;
    for (int o = 0; o < place->op_count; o++) {
        int g = place->group[o];
        made->unit[o] = place->choices[place->choice_start[g] + point[g]];
    }
    if (place->decides_order) {
        made->priority = NEW(int, place->op_count);
        memcpy(made->priority, next, (size_t)place->op_count * sizeof *next);
        next += place->op_count;
    }
    if (place->decides_fusion) {
        made->cluster = NEW(int, place->op_count);
        made->level = NEW(int, place->op_count);
        memcpy(made->level, next, (size_t)place->op_count * sizeof *next);
        mer_place_fuse(place, made->unit, made->level, made->cluster, arena);
        next += place->op_count;
    }
    if (place->has_replicas) {
        made->replicas = NEW(int, place->unit_count);
        for (int u = 0; u < place->unit_count; u++) {
            made->replicas[u] = next[u] + 1;
        }
    }
}

/* The choice of group `g` that is `unit`; -1: it may not go there. */
static int find_choice(const MerPlace *place, int g, int unit)
{
    for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
        if (place->choices[i] == unit) {
            return i - place->choice_start[g];
        }
    }
    return -1;
}

bool mer_place_point(const MerPlace *place, const int *unit, MerIndex *point)
{
    memset(point, 0, (size_t)knob_count(place) * sizeof *point);
    for (int g = 0; g < place->group_count; g++) {
        point[g] = find_choice(place, g, unit[g]);
        if (point[g] < 0) {
            return false;
        }
    }
    return true;
}

/* Clusters have no unique levels: those that the plan was made from, else a plan with clusters is no point. */
bool mer_place_encode(const MerPlace *place, const MerGraphPlan *plan, MerIndex *point)
{
    MerIndex *next = point + place->group_count;
    memset(point, 0, (size_t)knob_count(place) * sizeof *point);
    for (int g = 0; g < place->group_count; g++) {
        int unit = plan->unit[place->members[place->member_start[g]]];
        point[g] = find_choice(place, g, unit);
        for (int i = place->member_start[g]; i < place->member_start[g + 1]; i++) {
            if (point[g] < 0 || plan->unit[place->members[i]] != unit) {
                return false;
            }
        }
    }
    if ((plan->priority && !place->decides_order) || (plan->cluster && !plan->level) ||
        (plan->level && !place->decides_fusion) || (plan->replicas && !place->has_replicas)) {
        return false;
    }
    for (int o = 0; o < place->op_count; o++) {
        int priority = plan->priority ? plan->priority[o] : 0;
        int level = plan->level ? plan->level[o] : 0;
        if (priority < 0 || priority >= place->levels || level < 0 || level >= place->levels) {
            return false;
        }
        if (place->decides_order) {
            next[o] = priority;
        }
        if (place->decides_fusion) {
            next[o + (place->decides_order ? place->op_count : 0)] = level;
        }
    }
    next += place->op_count * (place->decides_order + place->decides_fusion);
    for (int u = 0; place->has_replicas && u < place->unit_count; u++) {
        int replicas = plan->replicas ? plan->replicas[u] : 1;
        if (replicas < 1 || replicas > (place->is_host[u] ? 1 : place->unit_count)) {
            return false;
        }
        next[u] = replicas - 1;
    }
    return true;
}
