/* Notes to the run; every slot may be empty. */
#include "mercator/notes.h"

#include <stddef.h>

void mer_note(MerNotes *notes, const char *name, const char *json)
{
    if (notes != NULL && notes->note != NULL) {
        notes->note(notes->state, name, json);
    }
}

void mer_epoch(MerNotes *notes, const char *phase, int epoch, int epochs, const char *json)
{
    if (notes != NULL && notes->epoch != NULL) {
        notes->epoch(notes->state, phase, epoch, epochs, json);
    }
}

void mer_spend(MerNotes *notes, MerSpent what, double amount)
{
    if (notes != NULL && notes->spend != NULL) {
        notes->spend(notes->state, what, amount);
    }
}

void mer_note_decisions(MerNotes *notes, const MerDecisionTimes *times)
{
    if (notes != NULL && notes->decisions != NULL) {
        notes->decisions(notes->state, times);
    }
}

void mer_epoch_begins(MerNotes *notes, bool is_plain)
{
    if (notes != NULL && notes->begin_epoch != NULL) {
        notes->begin_epoch(notes->state, is_plain);
    }
}

bool mer_is_cancelled(MerNotes *notes)
{
    return notes != NULL && notes->is_cancelled != NULL && notes->is_cancelled(notes->state);
}

void mer_checkpoint(MerNotes *notes)
{
    if (notes != NULL && notes->checkpoint != NULL) {
        notes->checkpoint(notes->state);
    }
}
