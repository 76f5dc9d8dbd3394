/* The state of the optimizer `go`. */
#ifndef MERCATOR_OPT_GO_STATE_H
#define MERCATOR_OPT_GO_STATE_H

#include "mercator/search.h"
#include "opt/go_learn.h"

enum { MER_GO_LINE = 400 }; /* the first line of a policy */

/* A network that answers within minutes on a core. */
/* clang-format off */
#define MER_GO_SMALL                                                                                \
    "hidden=32,embedding=2,layers=1,heads=2,feed_forward=64,segment=64,kind_width=8,dropout=0,"     \
    "rounds=1,moves=2,improve=0.75,warm_up=0.4,rollouts=8,rate=1e-2,rate_end=3e-4,advantage=rank,"  \
    "baseline=batch,first_entropy=0.1,first_entropy_end=0.001,entropy=0,entropy_end=0"
/* clang-format on */

typedef struct MerGoOptions {
    int64_t hidden, embedding, layers, heads, feed_forward, segment, kind_width, max_devices,
        max_levels, rounds, rollouts, epochs, updates, greedy_every;
    double dropout, spread, moves, improve, warm_up, rate, rate_end, clip, entropy, entropy_end,
        first_entropy, first_entropy_end, grad_norm, invalid;
    int  start, reward, baseline, advantage;
    bool attention, modulation, positions, pairs;
} MerGoOptions;

typedef struct MerGoProgress { /* plain numbers, saved as they are */
    int64_t done, updates;
    int     samples, asked, told; /* of the batch; the most likely one counts too */
    bool    is_ready, has_greedy, is_last,
        is_done;                   /* a batch is there; with the most likely one; ... */
    double reference;              /* the first score */
    double history, history_count; /* rewards so far */
    double best, best_greedy;
    bool   is_best_plain; /* the latter was made of first decisions alone */
} MerGoProgress;

typedef struct MerGoState {
    const MerSearch *search;
    MerGoOptions     options;
    MerGoGraph       graph;
    MerGoPolicy      policy;
    uint64_t         learned_on; /* fingerprint of the graph that the policy saw last */
    MerGoView        view;
    MerTape         *update_tape;
    MerUpdater      *updater;
    MerGoBatch       batch, greedy;
    float           *kept; /* parameters whose most likely placement was best */
    MerGoProgress    now;
} MerGoState;

/* go_search.c */
int  mer_go_ask(void *state, MerProposal *proposals, int capacity);
void mer_go_tell(void *state, const MerTrial *trials, int count);
/* The policy meets the search's graph, which may be another one than it has learned from. */
void mer_go_meet(MerGoState *state);
/* The policy becomes the best that was seen, by its most likely placement. */
void mer_go_restore(MerGoState *state);

MerStatus mer_go_save(const void *state, MerKeep what, FILE *file, MerError *error);
MerStatus mer_go_load(void *state, MerKeep what, FILE *file, MerError *error);

#endif
