/* Inside of the multi-agent optimizer, for the files that implement it. */
#ifndef MERCATOR_OPT_MARL_INSIDE_H
#define MERCATOR_OPT_MARL_INSIDE_H

#include "opt/agents.h"
#include "opt/partition.h"
#include "opt/turns.h"

enum { MER_MARL_TURNS, MER_MARL_JOINT }; /* forms */

typedef struct MerMarlOptions {
    MerAgentOptions agents;
    MerTurnOptions  turns;
    const char     *agents_wanted;
    int             form, partition, distance, linkage, initial;
    double          threshold;
    int64_t         samples, recluster;
} MerMarlOptions;

typedef struct MerMarl {
    MerAgents                agents;
    MerTurns                 turns;
    MerMarlOptions           options;
    const MerSearch         *search;
    MerPartitionRule         rule;
    MerSamples               samples; /* what the clusters were made of */
    MerSamples               later;   /* trials of the agents, for drift and re-clustering */
    int                      wanted;  /* samples before clustering */
    bool                     is_divided, has_checked_drift;
    bool                     is_adopted; /* the clusters are a loaded policy's */
    int                     *owner;
    int                      agent_count;
    int64_t                  next_recluster;
    MerIndex                *latin; /* (wanted, knobs); NULL: not by them */
    MerSearch                inner_search;
    const MerOptimizerClass *inner; /* the initial policy; NULL: latin, or random points */
    void                    *inner_state;
} MerMarl;

/* Gives every agent of the partition its knobs: a new team, which takes over what it can. */
void mer_marl_share_out(MerMarl *marl);

MerStatus mer_marl_save(const void *marl, MerKeep what, FILE *file, MerError *error);
MerStatus mer_marl_load(void *marl, MerKeep what, FILE *file, MerError *error);

#endif
