/* What an operator does, guessed from a name or from PyTorch's text of a module, for profiles that say no more. */
#ifndef MERCATOR_PLACE_INPUTS_OP_NAMES_H
#define MERCATOR_PLACE_INPUTS_OP_NAMES_H

#include "mercator/graph.h"

/* "Conv2d(3, 64, kernel_size=(3, 3))", "BatchNormalization12_Grad/BatchNormalizationGrad_3" or
 * "encoder.layer.0.attention.self.softmax". MER_OP_MOVE where the text does not tell, and for weights. */
MerOpKind mer_place_guess_kind(const char *text);

#endif
