/* Policies that move from one run to another (--save-policy, --policy). A file is a line
 * `mercator-policy/1 OPTIMIZER`, what the optimizer wrote, and a line `checksum HEX` over all before it (FNV-1a,
 * 64 bits). Files of earlier versions lack the last line and are read nevertheless. */
#ifndef MERCATOR_RUN_SEARCH_POLICY_H
#define MERCATOR_RUN_SEARCH_POLICY_H

#include "run/search/task_search.h"

MerStatus mer_policy_load(const MerTaskSearch *s, MerError *error);
/* Before a search: that its policy can be saved at the end. */
MerStatus mer_policy_check(const MerTaskSearch *s, MerError *error);
MerStatus mer_policy_save(const MerTaskSearch *s, MerError *error);

#endif
