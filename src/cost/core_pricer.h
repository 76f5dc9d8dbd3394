/* The pricer of layers on cores: the data-centric model with the mappings of the core styles. */
#ifndef MERCATOR_COST_CORE_PRICER_H
#define MERCATOR_COST_CORE_PRICER_H

#include "problem/layer_pricer.h"

extern const MerLayerPricer mer_core_pricer;

#endif
