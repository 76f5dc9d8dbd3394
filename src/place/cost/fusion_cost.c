/* What a fused kernel costs (docs/placement.md, "Fusion"): the operations of its members, or the bytes that cross its border,
 * whichever takes longer, and one launch. Measured times keep what the rooflines do not explain, less the bytes that
 * need not go through memory any more. */
#include "place/cost/fusion.h"

/* What is known of the bytes: those of the estimate, else results read and written. */
static const double *list_moved_bytes(const MerPlace *place, MerArena *arena)
{
    if (place->moved_bytes) {
        return place->moved_bytes;
    }
    double *moved = MER_ARRAY(arena, double, place->op_count);
    for (int o = 0; o < place->op_count; o++) {
        moved[o] = place->output_bytes[o];
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            moved[o] += place->output_bytes[place->before[i]];
        }
    }
    return moved;
}

const MerFusion *mer_fusion_open(const MerPlace *place, MerArena *arena)
{
    size_t       count = (size_t)place->op_count, units = (size_t)place->unit_count;
    MerFusion   *fusion = MER_NEW(arena, MerFusion);
    MerFuseRole *role = MER_ARRAY(arena, MerFuseRole, count);
    double      *compute = MER_ARRAY(arena, double, count *units);
    bool        *is_modelled = MER_ARRAY(arena, bool, count *units);
    double *launch = MER_ARRAY(arena, double, units), *per_byte = MER_ARRAY(arena, double, units);
    *fusion = (MerFusion){place,  role,    compute, is_modelled, list_moved_bytes(place, arena),
                          launch, per_byte};
    for (size_t u = 0; u < units; u++) {
        const MerUnit *unit = &place->platform->units[u];
        launch[u] = unit->launch_us / unit->speed;
        per_byte[u] = 1e6 / unit->bytes_per_s / unit->speed;
    }
    for (size_t o = 0; o < count; o++) {
        role[o] = mer_fuse_role(place, (int)o);
        for (size_t u = 0; u < units; u++) {
            double time = place->time_us[o * units + u], body = fmax(0, time - launch[u]);
            double known =
                place->flops ? place->flops[o] / mer_place_rate(place, (int)o, (int)u) : 0;
            double roofline = fmax(known, fusion->moved_bytes[o] * per_byte[u]) + launch[u];
            is_modelled[o * units + u] = place->flops && fabs(time - roofline) <= 1e-9 * time;
            compute[o * units + u] = time == INFINITY            ? time
                                     : place->flops              ? fmin(known, body)
                                     : mer_fuse_is_root(role[o]) ? body
                                                                 : 0;
        }
    }
    return fusion;
}

/* Where the bytes of a member come from: views inside the kernel are looked through. */
static int source_of(const MerFusion *fusion, int op, const int *kernel, int inside)
{
    const MerPlace *place = fusion->place;
    while (fusion->role[op] == MER_FUSE_VIEW && kernel[op] == inside) {
        op = place->before[place->before_start[op]];
    }
    return op;
}

/* Bytes that members read from each other, or once instead of several times. */
static double reads_saved(const MerFusion *fusion, int op, const int *kernel, int *seen)
{
    const MerPlace *place = fusion->place;
    double          saved = 0;
    for (int i = place->before_start[op]; i < place->before_start[op + 1]; i++) {
        int  source = source_of(fusion, place->before[i], kernel, kernel[op]);
        bool is_known = kernel[source] == kernel[op] || seen[source] == kernel[op] + 1;
        saved += is_known ? place->output_bytes[place->before[i]] : 0;
        seen[source] = kernel[op] + 1;
    }
    return saved;
}

/* Does a result leave the kernel, itself or as a view of a member? Members are asked from the last on; `seen` of a view that leaves
 * is negative until the first that reads it has asked. */
static bool leaves(const MerFusion *fusion, int op, const int *kernel, const int *seen)
{
    const MerPlace *place = fusion->place;
    int             first = place->after_start[op], end = place->after_start[op + 1];
    for (int i = first; i < end; i++) {
        int consumer = place->after[i];
        if (kernel[consumer] != kernel[op] ||
            (fusion->role[consumer] == MER_FUSE_VIEW && seen[consumer] < 0)) {
            return true;
        }
    }
    return first == end;
}

double mer_fusion_time(const MerFusion *fusion, const int *members, int count, const int *kernel,
                       int unit, int *seen)
{
    const MerPlace *place = fusion->place;
    double          sum = 0, compute = 0, body = 0, moved = 0, saved = 0;
    bool            is_modelled = true;
    for (int m = 0; m < count; m++) {
        int    op = members[m];
        size_t at = (size_t)op * (size_t)place->unit_count + (size_t)unit;
        sum += place->time_us[at];
        compute += fusion->compute_us[at];
        body += fmax(0, place->time_us[at] - fusion->launch_us[unit]);
        moved += fusion->moved_bytes[op];
        is_modelled = is_modelled && (fusion->is_modelled[at] || fusion->role[op] == MER_FUSE_VIEW);
        if (fusion->role[op] != MER_FUSE_VIEW) {
            saved += reads_saved(fusion, op, kernel, seen);
        }
    }
    for (int m = count - 1; m >= 0; m--) {
        int  op = members[m];
        bool is_view = fusion->role[op] == MER_FUSE_VIEW;
        bool is_kept = leaves(fusion, op, kernel, seen);
        saved += is_kept || is_view ? 0 : place->output_bytes[op];
        seen[op] = is_kept && is_view ? -1 : seen[op];
    }
    for (int m = 0; m < count; m++) {
        seen[members[m]] = 0;
    }
    double per_byte = fusion->us_per_byte[unit];
    double time = fmax(compute, fmax(0, moved - saved) * per_byte);
    time = is_modelled ? time : fmax(time, body - saved * per_byte);
    return fmin(time + fusion->launch_us[unit], sum);
}
