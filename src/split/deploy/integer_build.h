/* What the files that make an integer network do for each other. */
#ifndef MERCATOR_SPLIT_DEPLOY_INTEGER_BUILD_H
#define MERCATOR_SPLIT_DEPLOY_INTEGER_BUILD_H

#include "split/deploy/integer_net.h"

#include <stdarg.h>

typedef struct MerIntegerBuild {
    const MerTrainNet  *from;
    const MerSplitPlan *plan;
    MerIntegerNet      *net;
    MerArena           *arena;
    MerError           *error;
} MerIntegerBuild;

/* Why a node cannot be built. */
MerStatus mer_integer_refuse(MerIntegerBuild *build, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* integer_layer.c: channels and parts of a layer whose shape is known, and the step of the last one. */
MerStatus mer_integer_make_layer(MerIntegerBuild *build, const MerTrainNode *from,
                                 MerIntegerNode *node);

#endif
