/* Notes as one object. Views share their note's name, so they are told apart by their ids. */
#include "base/note_list.h"

#include "base/json_read.h"

#include <string.h>

static void gather(void *state, const char *name, const char *value)
{
    MerNoteList *list = state;
    if (strcmp(name, "view") != 0) {
        mer_json_raw(&list->notes, name, value);
        return;
    }
    cJSON *view = cJSON_Parse(value);
    mer_json_raw(&list->views, mer_json_get_text(view, "id", ""), value);
    cJSON_Delete(view);
}

MerNotes mer_note_list_begin(MerNoteList *list)
{
    mer_json_object(&list->notes, NULL);
    mer_json_object(&list->views, NULL);
    return (MerNotes){.state = list, .note = gather};
}

const char *mer_note_list_end(MerNoteList *list, MerArena *arena)
{
    bool has_views = strcmp(list->views.text, "{") != 0;
    mer_json_end_object(&list->views);
    if (has_views) {
        mer_json_raw(&list->notes, "views", list->views.text);
    }
    mer_json_end_object(&list->notes);
    mer_json_free(&list->views);
    return mer_json_keep(&list->notes, arena);
}
