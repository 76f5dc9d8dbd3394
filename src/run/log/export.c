/* Files that a problem makes of the best plans, for other tools. */
#include "run/internal.h"

#include "base/note_list.h"
#include "base/option_json.h"

#include <string.h>

/* The evaluator's notes on the best plan as one JSON object; NULL if it has none. */
static const char *detail_of(MerRunState *run, const MerRunTask *task)
{
    if (!task->evaluator.type->detail) {
        return NULL;
    }
    MerNoteList list = {0};
    MerNotes    notes = mer_note_list_begin(&list);
    task->evaluator.type->detail(task->evaluator.state, &task->result->plan, &notes);
    return mer_note_list_end(&list, run->arena);
}

const char *mer_run_evaluator_text(const MerRunSpec *spec, MerArena *arena)
{
    const char *changes =
        spec->evaluator_options
            ? mer_options_changes(spec->evaluator->options, spec->evaluator_options,
                                  spec->evaluator->options_size, arena)
            : "";
    return mer_arena_format(arena, "%s%s%s", spec->evaluator->name, *changes ? ":" : "", changes);
}

MerStatus mer_run_export(MerRunState *run, MerError *error)
{
    const MerProblemClass *type = run->spec->problem;
    enum { FILES = sizeof run->result->files / sizeof run->result->files[0] };
    MerExportFile files[MER_MAX_EXPORTS];
    MerStatus     status = MER_OK;
    if (!run->spec->directory || !type->export_files) {
        return MER_OK;
    }
    MerExportTask *tasks = MER_ARRAY(run->arena, MerExportTask, run->task_count);
    MerExport      what = {.workload = run->spec->name,
                           .evaluator = mer_run_evaluator_text(run->spec, run->arena),
                           .objective = run->objective.text,
                           .tasks = tasks};
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask *task = &run->tasks[t];
        if (task->result->point) {
            tasks[what.count++] =
                (MerExportTask){&task->problem,       &task->result->plan, &task->result->best,
                                &task->result->bound, task->result->gap,   task->result->is_proven,
                                detail_of(run, task)};
        }
    }
    int count = what.count > 0 ? type->export_files(&what, files, run->arena) : 0;
    for (int f = 0; status == MER_OK && f < count; f++) {
        status = mer_run_write_file(run, files[f].name, files[f].text, error);
        if (run->result->file_count < FILES) {
            run->result->files[run->result->file_count++] = files[f].name;
        }
    }
    return status;
}
