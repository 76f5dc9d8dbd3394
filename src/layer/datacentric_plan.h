/* Between the project's operators and plans and the data-centric model's layers and mappings. */
#ifndef MERCATOR_LAYER_DATACENTRIC_PLAN_H
#define MERCATOR_LAYER_DATACENTRIC_PLAN_H

#include "layer/datacentric_model.h"
#include "layer/directive_plan.h"
#include "mercator/error.h"
#include "mercator/json.h"

/* The layer an operator is priced as. A grouped convolution and a batched GEMM become NGCONV, a
 * transposed convolution a CONV: exactly, one whose output is the operator's input image (the same
 * loops); else one on that image, as MAESTRO reads TRCONV.
 * Dilated filters count their taps; the rows they skip are taken as if they were close together.
 * `exact`: rows and columns of the padded input that no output reads are left out. */
MerStatus mer_datacentric_layer(const MerOp *op, bool exact, MerDatacentricLayer *layer,
                                MerError *error);

/* False: more levels or directives than the model takes; `result` says why. */
bool mer_datacentric_mapping(const MerDirectivePlan *plan, MerDatacentricType type,
                             MerDatacentricMapping *mapping, MerDatacentricResult *result);

/* Keys `status`, `reason` and `counts` of an open object; counts is null if infeasible. */
void mer_datacentric_write(const MerDatacentricResult *result, MerJson *json);

#endif
