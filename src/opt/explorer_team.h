/* What an explorer's walk needs of its agents. */
#ifndef MERCATOR_OPT_EXPLORER_TEAM_H
#define MERCATOR_OPT_EXPLORER_TEAM_H

#include "opt/explorer.h"

/* What an agent may do with a knob. */
enum { MER_WALK_DOWN, MER_WALK_STAY, MER_WALK_UP, MER_WALK_ACTIONS };

/* Gives every knob an owner and makes the team, where that is not done yet. Clusters need samples: until there are enough every
 * knob has an agent of its own. */
void mer_explorer_share_out(MerExplorer *explorer);
/* Numbers that agents see of a point. */
int  mer_explorer_feature_count(const MerExplorer *explorer);
void mer_explorer_fill_features(const MerExplorer *explorer, const MerIndex *point,
                                float *features);
/* Keeps the policy as it is saved: the knobs of the next task are others. */
MerStatus mer_explorer_put_aside(MerExplorer *explorer, MerError *error);

#endif
