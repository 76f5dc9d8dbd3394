/* One geometry for all layers: rounds in which optimizers try cores that single layers chose, and the answer
 * in words. */
#include "codesign/codesign_parts.h"

#include <math.h>

/* Candidates for the one geometry of the network: those that single layers chose, by the time that chose
 * them. A further round fixes each of the first few. */
typedef struct Candidate {
    const MerVtaCore *core;
    double            weight;
} Candidate;

static int rank_cores(const MerWhole *first, Candidate *list, int most)
{
    int count = 0;
    for (int p = 0; p < first->count; p++) {
        const MerPart *part = &first->parts[p];
        if (!part->plan) {
            continue;
        }
        const MerVtaPlan *plan = part->plan->content;
        double weight = (double)part->task->count * part->cost->value[MER_METRIC_LATENCY];
        int    c = 0;
        while (c < count && !mer_vta_core_equal(list[c].core, &plan->core)) {
            c++;
        }
        if (c == count && count < most) {
            list[count++] = (Candidate){&plan->core, 0};
        }
        if (c < count) {
            list[c].weight += weight;
        }
    }
    for (int i = 1; i < count; i++) { /* heaviest first, earlier ones first among equals */
        Candidate now = list[i];
        int       at = i;
        for (; at > 0 && list[at - 1].weight < now.weight; at--) {
            list[at] = list[at - 1];
        }
        list[at] = now;
    }
    return count;
}

bool mer_codesign_next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena)
{
    enum { MOST = 64 };
    const MerCodesignTask *task =
        rounds[0].count > 0 ? mer_codesign_task(rounds[0].parts[0].problem) : NULL;
    Candidate list[MOST];
    int       count = task ? rank_cores(&rounds[0], list, MOST) : 0;
    if (!task || task->mode != MER_HARDWARE_SHARED || done > count) {
        return false;
    }
    const MerVtaCore *core = list[done - 1].core;
    MerFixedKnob     *fixed = MER_ARRAY(arena, MerFixedKnob, 6);
    int               n = 0;
    fixed[n++] = (MerFixedKnob){"batch", core->batch, NULL};
    fixed[n++] = (MerFixedKnob){"block_in", core->block_in, NULL};
    fixed[n++] = (MerFixedKnob){"block_out", core->block_out, NULL};
    if (task->has_buffers) {
        fixed[n++] = (MerFixedKnob){"inp_bytes", (double)core->bytes[MER_VTA_INP], NULL};
        fixed[n++] = (MerFixedKnob){"wgt_bytes", (double)core->bytes[MER_VTA_WGT], NULL};
        fixed[n++] = (MerFixedKnob){"acc_bytes", (double)core->bytes[MER_VTA_ACC], NULL};
    }
    *round = (MerRound){
        .name = mer_arena_format(arena, "%dx%dx%d", core->batch, core->block_in, core->block_out),
        .fixed_count = n,
        .fixed = fixed,
        .last = count};
    return true;
}

/* Half of the budget finds candidates, the rest is for schedules on each of them. */
double mer_codesign_round_share(const MerProblem *problem, int round, int further)
{
    const MerCodesignTask *task = mer_codesign_task(problem); /* NULL: kernels, one round */
    if (!task || task->mode != MER_HARDWARE_SHARED || further == 0) {
        return round == 0;
    }
    return round == 0 ? 0.5 : 0.5 / further;
}

static bool is_shared(const MerWhole *round)
{
    const MerVtaPlan *first = NULL;
    for (int p = 0; p < round->count; p++) {
        if (!round->parts[p].plan) {
            return false;
        }
        const MerVtaPlan *plan = round->parts[p].plan->content;
        first = first ? first : plan;
        if (!mer_vta_core_equal(&plan->core, &first->core)) {
            return false;
        }
    }
    return round->count > 0;
}

bool mer_codesign_is_proven(const MerWhole *whole)
{
    const MerCodesignShared *shared = whole->parts[0].task->shared;
    bool                     is_proven = shared && shared->solved && is_shared(whole);
    for (int p = 0; p < whole->count; p++) {
        is_proven = is_proven && whole->parts[p].is_proven;
    }
    return is_proven;
}

/* All tasks take the round whose one core is best for the network. */
void mer_codesign_pick_rounds(const MerWhole *rounds, int done, int *pick)
{
    int    best = done - 1;
    double least = INFINITY;
    for (int r = 0; r < done && done > 1; r++) {
        if (is_shared(&rounds[r]) && rounds[r].score < least) {
            least = rounds[r].score;
            best = r;
        }
    }
    for (int p = 0; p < rounds[0].count; p++) {
        pick[p] = best;
    }
}

const char *mer_codesign_describe(const MerWhole *whole, MerArena *arena)
{
    const MerCodesignShared *shared = whole->parts[0].task->shared;
    const MerVtaPlan        *plan = whole->parts[0].plan->content;
    const MerVtaCore        *core = &plan->core, *usual;
    double                   seconds = 0;
    if (!is_shared(whole)) {
        return "every layer has a core of its own\n";
    }
    for (int p = 0; p < whole->count; p++) {
        seconds +=
            (double)whole->parts[p].task->count * whole->parts[p].cost->value[MER_METRIC_LATENCY];
    }
    usual = &mer_codesign_task(whole->parts[0].problem)->usual;
    const char *text = mer_arena_format(
        arena, "core %dx%dx%d (batch x block_in x block_out): %lld multipliers, %.0f KiB of SRAM\n",
        core->batch, core->block_in, core->block_out, (long long)mer_vta_core_macs(core),
        (double)mer_vta_core_bytes(core) / 1024);
    int bus = whole->parts[0].problem->platform->bus_bits / 8;
    int least = core->element[MER_VTA_INP] < core->element[MER_VTA_OUT]
                    ? core->element[MER_VTA_INP]
                    : core->element[MER_VTA_OUT];
    if (least < bus) {
        text = mer_arena_format(
            arena,
            "%sits smallest entry has %d bytes, the bus %d: no known core is built "
            "so; --min-element-bytes %d leaves such cores out\n",
            text, least, bus, bus);
    }
    if (shared && isinf(shared->usual_seconds)) {
        text = mer_arena_format(arena, "%sthe platform's %dx%dx%d cannot run every layer so\n",
                                text, usual->batch, usual->block_in, usual->block_out);
    } else if (shared && shared->usual_seconds > 0 && !mer_vta_core_equal(core, usual)) {
        text = mer_arena_format(
            arena,
            "%sthe platform's %dx%dx%d takes %.4g ms at best, this one %.4g ms: %.1f %% %s\n", text,
            usual->batch, usual->block_in, usual->block_out, 1e3 * shared->usual_seconds,
            1e3 * seconds, 100 * fabs(1 - seconds / shared->usual_seconds),
            seconds <= shared->usual_seconds ? "less" : "more");
    }
    return text;
}
