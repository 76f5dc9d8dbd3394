/* What a learning optimizer says when its networks or trees cannot be trained: it asks for nothing more then. */
#ifndef MERCATOR_OPT_FAILURE_H
#define MERCATOR_OPT_FAILURE_H

#include "mercator/error.h"
#include "mercator/notes.h"

#include <stdio.h>

static inline void mer_note_failure(MerNotes *notes, const MerError *error)
{
    char json[sizeof error->message + 20];
    snprintf(json, sizeof json, "{\"reason\": \"%s\"}", error->message);
    mer_note(notes, "training_failed", json);
}

#endif
