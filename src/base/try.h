/* Hands a failure on to the caller: for readers, which are chains of steps that may fail. */
#ifndef MERCATOR_BASE_TRY_H
#define MERCATOR_BASE_TRY_H

#include "mercator/error.h"

#define MER_TRY(call)                                                                              \
    do {                                                                                           \
        MerStatus status_ = (call);                                                                \
        if (status_ != MER_OK) {                                                                   \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

#endif
