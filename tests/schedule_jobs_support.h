/* Job sets made by hand or by chance, for tests of the grouping rule. */
#ifndef MERCATOR_TESTS_SCHEDULE_JOBS_SUPPORT_H
#define MERCATOR_TESTS_SCHEDULE_JOBS_SUPPORT_H

#include "mercator/arena.h"
#include "mercator/rng.h"
#include "schedule/jobs/schedule_jobs.h"
#include "support.h"

typedef struct HandSet { /* jobs in the making */
    MerJobSet set;
    MerJob   *jobs;
    MerArena *arena;
} HandSet;

static inline HandSet new_hand_set(int capacity, MerArena *arena)
{
    HandSet hand = {.jobs = MER_ARRAY(arena, MerJob, capacity), .arena = arena};
    hand.set.jobs = hand.jobs;
    hand.set.tenants = MER_NEW(arena, MerTenant);
    hand.set.tenant_count = 1;
    return hand;
}

/* A job after the `count` jobs of `after`; its number. */
static inline int add_hand_job(HandSet *hand, int model, int request, const int *after, int count)
{
    int  number = hand->set.job_count++;
    int *copy = MER_ARRAY(hand->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        copy[i] = after[i];
    }
    hand->jobs[number] = (MerJob){.name = mer_arena_format(hand->arena, "job%d", number),
                                  .images = 1,
                                  .model = model,
                                  .request = request,
                                  .group = -1,
                                  .row = -1,
                                  .after = copy,
                                  .after_count = count};
    hand->set.model_count = model >= hand->set.model_count ? model + 1 : hand->set.model_count;
    return number;
}

/* `length` jobs of one network and mini-batch, each after the one before; the number of the first. */
static inline int add_chain(HandSet *hand, int model, int request, int length)
{
    int first = hand->set.job_count;
    for (int l = 0; l < length; l++) {
        int before = first + l - 1;
        add_hand_job(hand, model, request, &before, l > 0);
    }
    return first;
}

static inline MerJobGroups cut(const MerJobSet *set, int size, MerArena *arena)
{
    MerJobGroups groups;
    MerGraph     graph = {.name = "toy"};
    mer_schedule_groups(&graph, set, size, NULL, arena, &groups);
    return groups;
}

#endif
