/* The hierarchical model (Mirhoseini et al., A Hierarchical Model for Device Placement, ICLR 2018): a grouper puts
 * operators, here the groups of the space, into clusters, and an LSTM with attention places these. Not copied from
 * the published code: neighbours that get lost, and columns that overlap (docs/placement.md, "Learned placement"). */
#include "opt/placer.h"

typedef MerPlacerOptions Options;

static const MerOption options[] = {
    MER_PLACER_COMMON_OPTIONS("true", "1", "1", "1000"),
    MER_INT(clusters, "0", 0, 4096, "that groups are put into; 0: 20 per unit, at most 256"),
    MER_INT(grouper_hidden, "64", 1, 4096, "width of the grouper"),
    MER_REAL(pull, "0", 0, 1000,
             "that draws a group to the cluster at its place in the order, in logits per cluster "
             "of distance"),
    MER_REAL(noise, "0.5", 0, 100, "on logits, in shares of their root mean square"),
    MER_INT(stop_noise, "750", 0, 1e12, "updates after which there is none"),
    MER_INT(stop_sampling, "500", 0, 1e12,
            "updates after which the most likely choices are tried; 0: never"),
    MER_REAL(rate_decay, "0.95", 0, 1, "of the step width"),
    MER_INT(decay_steps, "50", 0, 1e12, "updates between two such steps; 0: none"),
    MER_INT(decay_start, "400", 0, 1e12, "updates before the first of them"),
    {0}};

static const MerPreset presets[] = {
    {"small",
     MER_PLACER_SMALL ",grouper_hidden=16,pull=2,stop_noise=0,stop_sampling=0,decay_steps=0"},
    {NULL, NULL}};

static MerStatus open_hdp(void *state, const MerSearch *search, const void *given, MerError *error)
{
    return mer_placer_open(state, "hdp", true, search, given, error);
}

const MerOptimizerClass mer_optimizer_hdp = {
    .name = "hdp",
    .summary = "a grouper makes clusters of operators, an LSTM places one after another",
    .reference = "Mirhoseini et al., A Hierarchical Model for Device Placement, ICLR 2018",
    .options = options,
    .presets = presets,
    .open = open_hdp,
    MER_PLACER_SLOTS,
};
