/* Requests of several tasks: one whose layers are in several groups is one request, and missed if a part is. */
#include "run/internal.h"

#include <stdlib.h>
#include <string.h>

/* Parts of a request stand together, a missed one first. */
static int by_number(const void *a, const void *b)
{
    const MerServed *x = a;
    const MerServed *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : y->is_missed - x->is_missed;
}

MerRequestCount mer_run_count_requests(const MerRunState *run, int first, int last)
{
    MerArena       *arena = mer_arena_new();
    MerServed     **lists = MER_ARRAY(arena, MerServed *, last - first + 1);
    int            *counts = MER_ARRAY(arena, int, last - first + 1);
    MerRequestCount sum = {0, 0};
    size_t          total = 0;
    for (int t = first; t < last; t++) {
        const MerEvaluator *evaluator = &run->tasks[t].evaluator;
        const MerPlan      *plan = &run->tasks[t].result->plan;
        if (evaluator->type->requests) {
            counts[t - first] =
                evaluator->type->requests(evaluator->state, plan, arena, &lists[t - first]);
        }
        total += (size_t)counts[t - first];
    }
    MerServed *all = MER_ARRAY(arena, MerServed, total + 1);
    size_t     at = 0;
    for (int t = 0; t < last - first; t++) {
        if (counts[t] > 0) {
            memcpy(all + at, lists[t], (size_t)counts[t] * sizeof *all);
        }
        at += (size_t)counts[t];
    }
    qsort(all, total, sizeof *all, by_number);
    for (size_t i = 0; i < total; i++) {
        bool is_new = i == 0 || all[i].number < 0 || all[i].number != all[i - 1].number;
        sum.all += is_new;
        sum.missed += is_new && all[i].is_missed;
    }
    mer_arena_free(arena);
    return sum;
}
