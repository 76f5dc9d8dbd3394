/* Plans as everybody sees them: a kind, and contents that only its folder knows. */
#include "mercator/plan.h"

#include "base/file.h"

uint64_t mer_plan_hash(const MerPlan *plan)
{
    return plan->kind->hash(plan, mer_hash_text(MER_HASH_START, plan->kind->name));
}
