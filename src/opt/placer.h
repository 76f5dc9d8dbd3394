/* What the policies that place sets of groups one after another share: rollouts, rewards and updates behind ask and
 * tell. Without a grouper every group is a set of its own. */
#ifndef MERCATOR_OPT_PLACER_H
#define MERCATOR_OPT_PLACER_H

#include "base/option_rows.h"
#include "mercator/search.h"
#include "opt/placer_grouper.h"
#include "tensor/updater.h"

typedef struct MerPlacerOptions {
    int64_t samples, updates, hidden, embedding, scorer, valid_only_after, greedy_every;
    int64_t patience;
    double  rate, rate_end, grad_norm, baseline_decay, failing_signal, temperature, tanh_constant;
    double  entropy, imitate;
    int     features, reward, keep;
    bool    start_with_failing_signal, standardise, both_ways;
    /* with a grouper alone */
    int64_t clusters, grouper_hidden, stop_noise, stop_sampling, decay_start, decay_steps;
    double  pull, noise, rate_decay;
} MerPlacerOptions;

typedef enum MerPlacerReward { MER_PLACER_ID, MER_PLACER_SQRT, MER_PLACER_LOG1P } MerPlacerReward;
typedef enum MerPlacerKeep { MER_PLACER_LAST, MER_PLACER_BEST } MerPlacerKeep;

/* Rows of an option table of this struct. */
/* clang-format off */
#define MER_PLACER_COMMON_OPTIONS(is_both_ways, heat, bound, valid_after)                          \
    MER_CHOICE(features, "paper", MER_PLACER_FEATURE_CHOICES,                                      \
        "what the policy sees; full: times, sizes, limits and transfers, and loads while it "      \
        "places"),                                                                                 \
    MER_CHOICE(reward, "sqrt", "id|sqrt|log1p", "form of the score that it learns from"),          \
    MER_INT(samples, "1", 1, 4096, "placements per update"),                                       \
    MER_INT(updates, "1000000000", 0, 1e12, "at most; 0: the policy stays as it is"),              \
    MER_INT(hidden, "512", 2, 4096, "width of the LSTMs"),                                         \
    MER_INT(embedding, "64", 1, 4096, "width for a kind or a unit"),                               \
    MER_INT(scorer, "64", 1, 4096, "full: width of the layer that looks at a unit's load"),        \
    MER_BOOL(both_ways, is_both_ways, "read from both ends, with half of the width each"),         \
    MER_REAL(temperature, heat, 1e-6, 1e6, "that logits are divided by"),                          \
    MER_REAL(tanh_constant, bound, 0, 1e6, "largest logit after that, by a tanh; 0: any"),         \
    MER_REAL(rate, "0.1", 0, 10, "step width (Adam)"),                                             \
    MER_REAL(rate_end, "0", 0, 10, "and at the end of the budget, linear between; 0: the same"),   \
    MER_REAL(grad_norm, "1", 0, 1e9, "largest norm of a gradient; 0: any"),                        \
    MER_REAL(baseline_decay, "0.9", 0, 1, "of the moving average of rewards"),                     \
    MER_BOOL(standardise, "false", "advantages of a batch get mean 0 and deviation 1"),            \
    MER_REAL(failing_signal, "100", 0, 1e12,                                                       \
        "score that a refused placement counts as, at least 10 times all on the slowest "          \
        "unit; 0: as the worst of its batch, and worse by its excess of memory"),                  \
    MER_BOOL(start_with_failing_signal, "true",                                                    \
        "so the moving average starts; false: with the first batch"),                              \
    MER_INT(valid_only_after, valid_after, 0, 1e12,                                                \
        "updates after which refused placements teach nothing"),                                   \
    MER_REAL(entropy, "0", 0, 100,                                                                 \
        "weight of the entropy of a step, falling to 0 with the budget"),                          \
    MER_REAL(imitate, "0", 0, 100,                                                                 \
        "weight of the best placement so far as a lesson, beside 1 of a batch"),                   \
    MER_INT(patience, "0", 0, 1e12,                                                                \
        "updates from equal scores after which it starts anew with other weights; 0: never"),      \
    MER_INT(greedy_every, "50", 0, 1e12,                                                           \
        "updates between two trials of the most likely placement, which is the last trial "        \
        "too; 0: then alone"),                                                                     \
    MER_CHOICE(keep, "last", "last|best",                                                          \
        "policy at the end of the budget; best: that whose most likely placement was best")
/* clang-format on */

/* For small machines: a few seconds for thousands of samples of hundreds of groups. */
#define MER_PLACER_SMALL                                                                           \
    "features=full,samples=20,hidden=32,embedding=8,scorer=16,temperature=1,tanh_constant=0,"      \
    "rate=0.01,rate_end=0.001,standardise=true,failing_signal=0,start_with_failing_signal=false,"  \
    "entropy=0.02,imitate=0.1,patience=15,greedy_every=10,keep=best"

typedef struct MerPlacerProgress {       /* plain numbers, saved as they are */
    int64_t told_in_all, updates, alike; /* alike: updates in a row from equal scores */
    int64_t start;                       /* trials told when the weights were last drawn */
    int32_t lanes, asked,
        told; /* of this batch: sampled, asked for, told; the greedy one comes last */
    bool     has_greedy, has_baseline, has_elite, has_kept, is_sampled;
    bool     is_given; /* the weights come from a file or from the task before */
    uint64_t noise_seed;
    double   noise; /* of this batch */
    double   baseline,
        worst;          /* moving average; worst feasible reward of the last batch that had one */
    double elite, kept; /* scores: best placement; greedy one of the kept policy */
} MerPlacerProgress;

typedef struct MerPlacer {
    const char      *name;
    const MerSearch *search;
    MerPlacerOptions options;
    bool             has_grouper;
    MerPlacerGraph   graph;
    MerPlacerGrouper grouper;
    MerPlacerNet     net;
    MerParameters   *parameters,
        *kept; /* kept: policy with the best greedy placement; NULL: not wanted */
    MerTape       *tape;
    MerUpdater    *updater;
    MerPlacerLanes lanes; /* samples, then a slot for the elite and one for the greedy placement */
    float         *vectors; /* that are read: (steps, copies, inputs) */
    float         *noise;   /* of rows, then of the grouper */
    double        *scores, *advantages;
    MerPlacerProgress now;
} MerPlacer;

/* Slots of MerOptimizerClass; `open` wants a name for messages, and to know whether there is a grouper. */
#define MER_PLACER_SLOTS                                                                           \
    .options_size = sizeof(MerPlacerOptions), .state_size = sizeof(MerPlacer),                     \
    .tables = MER_PLACER_TABLES, .ask = mer_placer_ask, .tell = mer_placer_tell,                   \
    .next_task = mer_placer_next_task, .save = mer_placer_save, .load = mer_placer_load,           \
    .close = mer_placer_close
MerStatus mer_placer_open(MerPlacer *placer, const char *name, bool has_grouper,
                          const MerSearch *search, const MerPlacerOptions *options,
                          MerError *error);
int       mer_placer_ask(void *placer, MerProposal *proposals, int capacity);
void      mer_placer_tell(void *placer, const MerTrial *trials, int count);
MerStatus mer_placer_next_task(void *placer, const MerSearch *search, MerError *error);
MerStatus mer_placer_save(const void *placer, MerKeep what, FILE *file, MerError *error);
MerStatus mer_placer_load(void *placer, MerKeep what, FILE *file, MerError *error);
void      mer_placer_close(void *placer);

/* placer_update.c: learns from the sampled lanes of a batch that is told. */
void mer_placer_learn(MerPlacer *placer);
/* Lanes 0 .. count - 1 as the network reads them: (steps, copies, inputs). */
MerTensor *mer_placer_inputs(MerPlacer *placer, int count);
/* Noise of this batch for `lanes` lanes, the first `noisy` of which have any; NULL: there is none. */
const float *mer_placer_row_noise(MerPlacer *placer, int lanes, int noisy);
const float *mer_placer_group_noise(MerPlacer *placer);
/* Copies a placement from one slot of the lanes to another. */
void   mer_placer_copy_lane(MerPlacer *placer, int to, int from);
int    mer_placer_elite_slot(const MerPlacer *placer);
double mer_placer_progress(const MerPlacer *placer); /* share of the budget since the last start */
/* Other weights, and nothing of what was learned but the kept policy. */
void mer_placer_restart(MerPlacer *placer);

#endif
