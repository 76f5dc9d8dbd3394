/* The opened problem from graph, profile and platform: units, edges, times, transfers, groups and what each may take. */
#include "place/place_parts.h"

#include "base/memory.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

bool mer_place_is_host(const MerUnit *unit)
{
    return strncmp(unit->class_name ? unit->class_name : unit->name, "cpu", 3) == 0;
}

static void describe_units(MerPlace *place, MerArena *arena)
{
    int          count = place->unit_count;
    const char **names = NEW(const char *, count);
    int         *class_of = NEW(int, count);
    bool        *is_host = NEW(bool, count);
    double      *limit = NEW(double, count);
    for (int u = 0; u < count; u++) {
        const MerUnit *unit = &place->platform->units[u];
        names[u] = unit->name;
        class_of[u] = unit->class_index;
        is_host[u] = mer_place_is_host(unit);
        limit[u] = unit->memory_bytes;
        place->accelerator_count += !is_host[u];
    }
    place->unit_names = names;
    place->unit_class = class_of;
    place->is_host = is_host;
    place->limit = limit;
}

/* Consumers of all results of an operator, each once and rising; producers likewise. */
static void link_operators(MerPlace *place, MerArena *arena)
{
    const MerGraph *graph = place->graph;
    int             count = place->op_count;
    int64_t         most = 0;
    for (int v = 0; v < graph->value_count; v++) {
        most += graph->values[v].producer >= 0 ? graph->values[v].consumer_count : 0;
    }
    int *before_start = NEW(int, count), *before = NEW(int, most), *after_start = NEW(int, count),
        *after = NEW(int, most), *seen = NEW(int, count);
    int edges = 0;
    for (int o = 0; o < count; o++) {
        const MerOp *op = &graph->ops[o];
        before_start[o] = edges;
        for (int i = 0; i < op->input_count; i++) {
            int producer = graph->values[op->inputs[i]].producer;
            if (producer >= 0 && seen[producer] != o + 1) {
                seen[producer] = o + 1;
                before[edges++] = producer;
                after_start[producer + 1]++;
            }
        }
        for (int i = before_start[o] + 1; i < edges; i++) { /* few: sorted by insertion */
            for (int k = i; k > before_start[o] && before[k - 1] > before[k]; k--) {
                int swapped = before[k];
                before[k] = before[k - 1];
                before[k - 1] = swapped;
            }
        }
    }
    before_start[count] = edges;
    for (int o = 0; o < count; o++) {
        after_start[o + 1] += after_start[o];
        seen[o] = after_start[o];
    }
    for (int o = 0; o < count; o++) {
        for (int i = before_start[o]; i < before_start[o + 1]; i++) {
            after[seen[before[i]]++] = o;
        }
    }
    place->edge_count = edges;
    place->before_start = before_start;
    place->before = before;
    place->after_start = after_start;
    place->after = after;
}

static void describe_operators(MerPlace *place, const MerPlaceProfile *profile, MerArena *arena)
{
    int          count = place->op_count;
    const char **names = NEW(const char *, count);
    int64_t     *ids = NEW(int64_t, count);
    int         *position = NEW(int, count);
    MerOpKind   *kinds = NEW(MerOpKind, count);
    bool        *is_backward = NEW(bool, count);
    for (int o = 0; o < count; o++) {
        names[o] = place->graph->ops[o].name;
        position[o] = profile && profile->file_index ? profile->file_index[o] : o;
        ids[o] = profile && profile->ids ? profile->ids[o] : position[o];
        kinds[o] = profile && profile->kinds ? profile->kinds[o] : place->graph->ops[o].kind;
        is_backward[o] = profile && profile->is_backward && profile->is_backward[o];
    }
    place->names = names;
    place->ids = ids;
    place->file_index = position;
    place->kinds = kinds;
    place->is_backward = is_backward;
}

static void take_profile(MerPlace *place, const MerPlaceProfile *profile, MerArena *arena)
{
    int     units = place->unit_count;
    double *times = NEW(double, (size_t)place->op_count *(size_t)units);
    for (int o = 0; o < place->op_count; o++) {
        for (int u = 0; u < units; u++) {
            double time = place->is_host[u] ? profile->host_us[o] : profile->unit_us[o];
            double speed = place->platform->units[u].speed;
            times[(size_t)o * (size_t)units + (size_t)u] = speed == 1 ? time : time / speed;
        }
    }
    place->time_us = times;
    place->size = profile->size;
    place->output_bytes = profile->output_bytes;
    place->weight_bytes = profile->weight_bytes;
    place->workspace_bytes = NEW(double, place->op_count);
    place->is_pipeline = profile->is_pipeline;
}

/* Microseconds per byte and per transfer through the fastest link of a unit; INFINITY: it has none. */
static double port(const MerPlace *place, int unit, double *latency)
{
    double best = INFINITY;
    *latency = 0;
    for (int u = 0; u < place->unit_count; u++) {
        const MerRoute *route = &place->routes[unit * place->unit_count + u];
        if (u != unit && route->count > 0 && route->us_per_byte < best) {
            best = route->us_per_byte;
            *latency = route->latency_us;
        }
    }
    return best;
}

/* As the file says, else by the unit's fastest link; hosts hold the results, so that they pay nothing. */
static void price_transfers(MerPlace *place, const MerPlaceProfile *profile, double scale,
                            MerArena *arena)
{
    int     units = place->unit_count;
    double *transfer = NEW(double, (size_t)place->op_count *(size_t)units);
    place->has_transfer_times = profile && profile->transfer_us;
    for (int u = 0; u < units; u++) {
        double latency = 0;
        double per_byte = place->has_transfer_times ? 0 : port(place, u, &latency);
        for (int o = 0; o < place->op_count && !place->is_host[u]; o++) {
            double bytes = place->output_bytes[o];
            transfer[(size_t)o * (size_t)units + (size_t)u] =
                place->has_transfer_times ? profile->transfer_us[o] * scale
                : bytes > 0               ? latency + bytes * per_byte
                                          : 0;
        }
    }
    place->transfer_us = transfer;
}

static void gather_members(MerPlace *place, MerArena *arena)
{
    int          groups = place->group_count, units = place->unit_count;
    int         *start = NEW(int, groups), *members = NEW(int, place->op_count);
    const char **names = NEW(const char *, groups);
    double      *times = NEW(double, (size_t)groups *(size_t)units), *sizes = NEW(double, groups);
    for (int o = 0; o < place->op_count; o++) {
        start[place->group[o] + 1]++;
    }
    for (int g = 0; g < groups; g++) {
        start[g + 1] += start[g];
    }
    int *next = NEW(int, groups);
    memcpy(next, start, (size_t)groups * sizeof *next);
    for (int o = 0; o < place->op_count; o++) {
        int g = place->group[o];
        names[g] = names[g] ? names[g] : place->names[o];
        members[next[g]++] = o;
        sizes[g] += place->size[o];
        for (int u = 0; u < units; u++) {
            times[g * units + u] += place->time_us[(size_t)o * (size_t)units + (size_t)u];
        }
    }
    place->member_start = start;
    place->members = members;
    place->group_names = names;
    place->group_us = times;
    place->group_size = sizes;
}

/* `REGEX=UNIT`: the operators it matches go to that unit, or to units of that class. */
static MerStatus apply_pin(const MerPlace *place, const char *pin, bool *allowed, MerError *error)
{
    const char *equals = strrchr(pin, '=');
    char        pattern[512];
    regex_t     regex;
    int         units = place->unit_count, matched = 0, found = 0;
    if (!equals || equals == pin || (size_t)(equals - pin) >= sizeof pattern) {
        return mer_error_set(error, MER_INVALID, "pin is \"%s\", expected REGEX=UNIT", pin);
    }
    memcpy(pattern, pin, (size_t)(equals - pin));
    pattern[equals - pin] = '\0';
    bool *is_named = mer_heap_zeroed((size_t)units, sizeof *is_named);
    for (int u = 0; u < units; u++) {
        const char *class_name = place->platform->units[u].class_name;
        is_named[u] = strcmp(place->unit_names[u], equals + 1) == 0 ||
                      (class_name && strcmp(class_name, equals + 1) == 0);
        found += is_named[u];
    }
    if (found == 0) {
        free(is_named);
        return mer_error_set(error, MER_INVALID, "pin \"%s\": %s is no unit or class of %s", pin,
                             equals + 1, place->platform->name);
    }
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        free(is_named);
        return mer_error_set(error, MER_INVALID,
                             "pin \"%s\": \"%s\" is no extended regular expression", pin, pattern);
    }
    for (int o = 0; o < place->op_count; o++) {
        if (regexec(&regex, place->names[o], 0, NULL, 0) == 0) {
            matched++;
            for (int u = 0; u < units; u++) {
                allowed[place->group[o] * units + u] &= is_named[u];
            }
        }
    }
    regfree(&regex);
    free(is_named);
    return matched > 0 ? MER_OK
                       : mer_error_set(error, MER_INVALID, "pin \"%s\" matches no operator of %s",
                                       pin, place->graph->name);
}

static MerStatus refuse_group(const MerPlace *place, int group, MerError *error)
{
    int first = place->members[place->member_start[group]];
    int size = place->member_start[group + 1] - place->member_start[group];
    if (size == 1) {
        return mer_error_set(error, MER_INVALID,
                             "operator %s runs on no unit of %s that it may take",
                             place->names[first], place->platform->name);
    }
    return mer_error_set(error, MER_INVALID,
                         "%d operators from %s on share a unit, and no unit of %s that they may "
                         "take runs all of them",
                         size, place->names[first], place->platform->name);
}

static MerStatus find_choices(MerPlace *place, const MerTexts *pins, MerArena *arena,
                              MerError *error)
{
    int   units = place->unit_count;
    int  *start = NEW(int, place->group_count);
    int  *choices = NEW(int, (size_t)place->group_count *(size_t)units);
    bool *allowed = NEW(bool, (size_t)place->group_count *(size_t)units);
    for (int i = 0; i < place->group_count * units; i++) {
        allowed[i] = place->group_us[i] < INFINITY;
    }
    for (int i = 0; i < pins->count; i++) {
        MER_TRY(apply_pin(place, pins->values[i], allowed, error));
    }
    for (int g = 0; g < place->group_count; g++) {
        int at = start[g];
        for (int u = 0; u < units; u++) {
            if (allowed[g * units + u]) {
                choices[at++] = u;
            }
        }
        if (at == start[g]) {
            return refuse_group(place, g, error);
        }
        start[g + 1] = at;
    }
    place->choice_start = start;
    place->choices = choices;
    return MER_OK;
}

bool mer_place_regroup(const MerPlace *place, const int *merged, int count, MerPlace *made,
                       MerArena *arena)
{
    int  units = place->unit_count;
    int *group = NEW(int, place->op_count), *start = NEW(int, count);
    int *takers = NEW(int, (size_t)count *(size_t)units), *parts = NEW(int, count);
    int *choices = NEW(int, (size_t)count *(size_t)units);
    bool is_possible = true;
    for (int o = 0; o < place->op_count; o++) {
        group[o] = merged[place->group[o]];
    }
    for (int g = 0; g < place->group_count; g++) {
        parts[merged[g]]++;
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            takers[merged[g] * units + place->choices[i]]++;
        }
    }
    for (int m = 0; m < count; m++) { /* units that all of its groups may take */
        int at = start[m];
        for (int u = 0; u < units; u++) {
            choices[at] = u;
            at += takers[m * units + u] == parts[m];
        }
        is_possible = is_possible && at > start[m];
        start[m + 1] = at;
    }
    *made = *place;
    made->group = group;
    made->group_count = count;
    made->choice_start = start;
    made->choices = choices;
    gather_members(made, arena);
    return is_possible;
}

static MerStatus find_groups(MerPlace *place, const MerPlaceProfile *profile,
                             const MerPlaceOptions *options, const char **warning, MerArena *arena,
                             MerError *error)
{
    int *group = NEW(int, place->op_count);
    MER_TRY(mer_place_find_groups(place, options, profile ? profile->class_of : NULL, group,
                                  &place->group_count, warning, arena, error));
    place->group = group;
    gather_members(place, arena);
    return find_choices(place, &options->pin, arena, error);
}

static MerStatus find_profile(const MerProblem *problem, const MerPlaceProfile **profile,
                              MerError *error)
{
    const MerPlaceOptions *options = problem->options;
    *profile = mer_graph_attachment(problem->graph, MER_PLACE_PROFILE);
    if (options->recompute) {
        *profile = mer_graph_attachment(problem->graph, MER_PLACE_PROFILE ".recompute");
    }
    return !options->recompute || *profile
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "%s has no times with recomputation, expected recompute=false",
                               problem->graph->name);
}

/* An absent rate is unlimited: where nothing takes time, any placement is the best. */
static const char *remark_on_speeds(const MerPlace *place, MerArena *arena)
{
    for (int u = 0; u < place->unit_count; u++) {
        const MerUnit *unit = &place->platform->units[u];
        if (unit->flops_count == 0 && !(unit->bytes_per_s < INFINITY) && unit->launch_us == 0) {
            return mer_arena_format(arena,
                                    "unit %s of platform %s has neither flops nor bytes_per_s: "
                                    "operators take no time there, unless --profile has times",
                                    place->unit_names[u], place->platform->name);
        }
    }
    return NULL;
}

MerStatus mer_place_open(const MerProblem *problem, MerPlace *place, const char **remarks,
                         MerArena *arena, MerError *error)
{
    const MerPlaceOptions *options = problem->options;
    const MerPlaceProfile *profile;
    MER_TRY(find_profile(problem, &profile, error));
    *place = (MerPlace){.graph = problem->graph,
                        .platform = problem->platform,
                        .op_count = problem->graph->op_count,
                        .unit_count = problem->platform->unit_count,
                        .class_count = problem->platform->class_count,
                        .levels = (int)options->levels,
                        .has_replicas = options->replication};
    if (place->op_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s has no operators", problem->graph->name);
    }
    describe_units(place, arena);
    describe_operators(place, profile, arena);
    link_operators(place, arena);
    if (profile) {
        take_profile(place, profile, arena);
    } else {
        MER_TRY(mer_place_estimate(place, arena, error));
    }
    if (options->profile) {
        MER_TRY(mer_place_read_times(place, options->profile, &remarks[0], arena, error));
    } else if (!profile) {
        remarks[0] = remark_on_speeds(place, arena);
    }
    MER_TRY(mer_place_find_routes(place, arena, error));
    price_transfers(place, profile, options->msr_cost_scale, arena);
    return find_groups(place, profile, options, &remarks[1], arena, error);
}
