/* The notes of a call gathered into one JSON object {name: value, ..., views: {id: value}}, for those
 * who read them instead of logging them. */
#ifndef MERCATOR_BASE_NOTE_LIST_H
#define MERCATOR_BASE_NOTE_LIST_H

#include "mercator/arena.h"
#include "mercator/json.h"
#include "mercator/notes.h"

typedef struct MerNoteList { /* zeroed = empty */
    MerJson notes, views;
} MerNoteList;

/* Hand the result to whom shall write notes. */
MerNotes    mer_note_list_begin(MerNoteList *list);
const char *mer_note_list_end(MerNoteList *list, MerArena *arena);

#endif
