#include "place/cost/cluster.h"
void mer_cluster_detail(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    (void)opened;
    (void)plan;
    (void)notes;
}
const char *mer_cluster_print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    (void)opened;
    (void)plan;
    (void)arena;
    return NULL;
}
