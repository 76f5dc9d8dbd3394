/* The pricer of layers on cores: the data-centric model with the mappings of the core styles. */
#ifndef MERCATOR_SCHEDULE_TABLE_CORE_PRICER_H
#define MERCATOR_SCHEDULE_TABLE_CORE_PRICER_H

#include "schedule/table/layer_pricer.h"

extern const MerLayerPricer mer_core_pricer;

#endif
