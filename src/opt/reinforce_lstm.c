/* Device placement by REINFORCE (Mirhoseini et al., Device Placement Optimization with Reinforcement Learning, ICML
 * 2017): an LSTM reads the groups in topological order, a second one with attention writes a unit for each. What the
 * paper leaves open, and what `preset=small` changes: docs/placement.md, "Learned placement". */
#include "opt/placer.h"

typedef MerPlacerOptions Options;

static const MerOption options[] = {MER_PLACER_COMMON_OPTIONS("false", "10", "5", "5000"), {0}};

static const MerPreset presets[] = {{"small", MER_PLACER_SMALL}, {NULL, NULL}};

static MerStatus open_reinforce_lstm(void *state, const MerSearch *search, const void *given,
                                     MerError *error)
{
    return mer_placer_open(state, "reinforce_lstm", false, search, given, error);
}

const MerOptimizerClass mer_optimizer_reinforce_lstm = {
    .name = "reinforce_lstm",
    .summary = "an LSTM places one group of operators after another",
    .reference = "Mirhoseini et al., Device Placement Optimization with Reinforcement Learning, "
                 "ICML 2017",
    .options = options,
    .presets = presets,
    .open = open_reinforce_lstm,
    MER_PLACER_SLOTS,
};
