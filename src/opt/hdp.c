/* The hierarchical model (Mirhoseini et al., A Hierarchical Model for Device Placement, ICLR 2018): a grouper puts
 * operators, here the groups of the space, into clusters, and an LSTM with attention places these. Not copied from
 * the published code: neighbours that get lost, and columns that overlap (docs/placement.md, "Learned placement"). */
#include "opt/placer.h"

/* clang-format off */
static const MerOption options[] = {
    MER_PLACER_COMMON_OPTIONS("true", "1", "1", "1000"),
    MER_PLACER_OPTION(clusters, MER_OPTION_INT, "0", 0, 4096, NULL,
        "that groups are put into; 0: 20 per unit, at most 256"),
    MER_PLACER_OPTION(grouper_hidden, MER_OPTION_INT, "64", 1, 4096, NULL, "width of the grouper"),
    MER_PLACER_OPTION(pull, MER_OPTION_REAL, "0", 0, 1000, NULL,
        "that draws a group to the cluster at its place in the order, in logits per cluster of distance"),
    MER_PLACER_OPTION(noise, MER_OPTION_REAL, "0.5", 0, 100, NULL,
        "on logits, in shares of their root mean square"),
    MER_PLACER_OPTION(stop_noise, MER_OPTION_INT, "750", 0, 1e12, NULL, "updates after which there is none"),
    MER_PLACER_OPTION(stop_sampling, MER_OPTION_INT, "500", 0, 1e12, NULL,
        "updates after which the most likely choices are tried; 0: never"),
    MER_PLACER_OPTION(rate_decay, MER_OPTION_REAL, "0.95", 0, 1, NULL, "of the step width"),
    MER_PLACER_OPTION(decay_steps, MER_OPTION_INT, "50", 0, 1e12, NULL, "updates between two such steps; 0: none"),
    MER_PLACER_OPTION(decay_start, MER_OPTION_INT, "400", 0, 1e12, NULL, "updates before the first of them"),
    {0}};
/* clang-format on */

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
    .options_size = sizeof(MerPlacerOptions),
    .state_size = sizeof(MerPlacer),
    .tables = MER_PLACER_TABLES,
    .open = open_hdp,
    .ask = mer_placer_ask,
    .tell = mer_placer_tell,
    .next_task = mer_placer_next_task,
    .save = mer_placer_save,
    .load = mer_placer_load,
    .close = mer_placer_close,
};
