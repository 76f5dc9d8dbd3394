/* Nets: who makes a result and who reads it, by blocks. Which of them makes it does not matter: a stage pays for a net
 * of which it has some and not all, whether the result leaves or arrives. */
#include "place/solve/stages.h"

#include "base/key_table.h"
#include "mercator/text.h"

#include <stdlib.h>
#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Nets {
    int         count, kind_count;
    int        *start, *blocks;
    double     *us;
    MerKeyTable known;
} Nets;

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The blocks of operator `op` and of those that read it, rising; returns how many. `seen`: of blocks, the last operator + 1. */
static int find_members(const MerPlace *place, const int *block_of_group, int op, int *seen,
                        int *members)
{
    int count = 0, own = block_of_group[place->group[op]];
    members[count++] = own;
    seen[own] = op + 1;
    for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
        int block = block_of_group[place->group[place->after[i]]];
        if (seen[block] != op + 1) {
            seen[block] = op + 1;
            members[count++] = block;
        }
    }
    qsort(members, (size_t)count, sizeof *members, by_number);
    return count;
}

static bool is_same(const Nets *nets, int net, const int *members, int count)
{
    return nets->start[net + 1] - nets->start[net] == count &&
           memcmp(nets->blocks + nets->start[net], members, (size_t)count * sizeof *members) == 0;
}

/* Results of the same blocks are one net. */
static void add_net(Nets *nets, const int *members, int count, const double *us)
{
    uint64_t hash = mer_hash_bytes(0, members, (size_t)count * sizeof *members);
    int      net = mer_key_table_add(&nets->known, hash, nets->count);
    if (net == nets->count || !is_same(nets, net, members, count)) {
        net = nets->count++;
        memcpy(nets->blocks + nets->start[net], members, (size_t)count * sizeof *members);
        nets->start[net + 1] = nets->start[net] + count;
    }
    for (int k = 0; k < nets->kind_count; k++) {
        nets->us[(size_t)net * (size_t)nets->kind_count + (size_t)k] += us[k];
    }
}

static bool price(const MerPlace *place, const MerStageKinds *kinds, int op, double *us)
{
    bool is_paid = false;
    for (int k = 0; k < kinds->count; k++) {
        size_t at = (size_t)op * (size_t)place->unit_count + (size_t)kinds->unit[k];
        us[k] = place->transfer_us[at] / kinds->replicas[k];
        is_paid = is_paid || us[k] > 0;
    }
    return is_paid;
}

static double largest_finite(const double *values, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = values[i] < INFINITY ? fmax(most, values[i]) : most;
    }
    return most;
}

/* Results that no link can move cost more than any stage without them takes, and still add up. */
static double limit_prices(const MerStageBlocks *blocks, int net_count, double *us)
{
    int    kinds = blocks->kind_count;
    double most = 0;
    for (int b = 0; b < blocks->count; b++) {
        most += largest_finite(blocks->time_us + (size_t)b * (size_t)kinds, kinds);
    }
    for (int n = 0; n < net_count; n++) {
        most += largest_finite(us + (size_t)n * (size_t)kinds, kinds);
    }
    most = most > 0 ? most * (1 + 1e-9) : 1;
    for (size_t i = 0; i < (size_t)net_count * (size_t)kinds; i++) {
        us[i] = us[i] == INFINITY ? 4 * most : us[i];
    }
    return most;
}

/* The nets of each block. */
static void set_touch(MerStageBlocks *blocks, MerArena *arena)
{
    int  ends = blocks->net_start[blocks->net_count];
    int *start = NEW(int, blocks->count), *touch = NEW(int, ends), *next = NEW(int, blocks->count);
    for (int i = 0; i < ends; i++) {
        start[blocks->net_blocks[i] + 1]++;
    }
    for (int b = 0; b < blocks->count; b++) {
        start[b + 1] += start[b];
    }
    memcpy(next, start, (size_t)blocks->count * sizeof *next);
    for (int n = 0; n < blocks->net_count; n++) {
        for (int i = blocks->net_start[n]; i < blocks->net_start[n + 1]; i++) {
            touch[next[blocks->net_blocks[i]]++] = n;
        }
    }
    blocks->touch_start = start;
    blocks->touch = touch;
}

void mer_stage_find_nets(const MerPlace *place, const MerPlaceRules *rules,
                         const MerStageKinds *kinds, MerStageBlocks *blocks, MerArena *arena)
{
    bool    has_transfers = !place->is_pipeline || rules->charges_activations;
    int     ops = has_transfers ? place->op_count : 0;
    Nets    nets = {.kind_count = kinds->count,
                    .start = NEW(int, ops + 1),
                    .blocks = NEW(int, place->edge_count + ops),
                    .us = NEW(double, (size_t)ops *(size_t)kinds->count),
                    .known = {.arena = arena}};
    int    *members = NEW(int, place->op_count), *seen = NEW(int, blocks->count);
    double *us = NEW(double, kinds->count);
    for (int o = 0; o < ops; o++) {
        int count = find_members(place, blocks->block_of_group, o, seen, members);
        if (count > 1 && price(place, kinds, o, us)) {
            add_net(&nets, members, count, us);
        }
    }
    blocks->net_count = nets.count;
    blocks->net_start = nets.start;
    blocks->net_blocks = nets.blocks;
    blocks->net_us = nets.us;
    blocks->most_us = limit_prices(blocks, nets.count, nets.us);
    set_touch(blocks, arena);
}
