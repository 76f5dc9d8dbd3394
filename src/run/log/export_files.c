/* Files that exporters make of the best plans, for other tools. */
#include "run/internal.h"

#include "base/file.h"
#include "base/note_list.h"
#include "base/option_json.h"
#include "mercator/registry.h"

#include <string.h>

const char *mer_run_detail(const MerRunTask *task, MerArena *arena)
{
    if (!task->evaluator.type->detail) {
        return NULL;
    }
    MerNoteList list = {0};
    MerNotes    notes = mer_note_list_begin(&list);
    task->evaluator.type->detail(task->evaluator.state, &task->result->plan, &notes);
    return mer_note_list_end(&list, arena);
}

/* A plug-in as a user writes it. */
static const char *plugin_text(const char *name, const char *changes, MerArena *arena)
{
    return mer_arena_format(arena, "%s%s%s", name, *changes ? ":" : "", changes);
}

static const char *changes_of(const MerEvaluatorClass *type, const void *options, MerArena *arena)
{
    return options ? mer_options_changes(type->options, options, type->options_size, arena) : "";
}

const char *mer_run_evaluator_text(const MerRunSpec *spec, MerArena *arena)
{
    const char *changes = changes_of(spec->evaluator, spec->evaluator_options, arena);
    if (spec->inner) {
        const char *inner = plugin_text(spec->inner->name,
                                        changes_of(spec->inner, spec->inner_options, arena), arena);
        changes = mer_arena_format(arena, "%s%sinner=%s", changes, *changes ? "," : "",
                                   mer_option_quoted(inner, arena));
    }
    return plugin_text(spec->evaluator->name, changes, arena);
}

static MerExport describe(const MerRunState *run, MerArena *arena)
{
    MerExportTask *tasks = MER_ARRAY(arena, MerExportTask, run->task_count);
    MerExport      what = {.workload = run->spec->name,
                           .evaluator = mer_run_evaluator_text(run->spec, arena),
                           .objective = run->objective.text,
                           .tasks = tasks};
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask *task = &run->tasks[t];
        if (task->result->point) {
            tasks[what.count++] = (MerExportTask){
                &task->problem,          &task->evaluator,           &task->result->plan,
                &task->result->best,     &task->result->bound,       task->result->gap,
                task->result->is_proven, mer_run_detail(task, arena)};
        }
    }
    return what;
}

static bool is_of(const MerExporterClass *type, const MerRunSpec *spec)
{
    return !type->problem || mer_name_equal(type->problem, spec->problem->name);
}

/* To the path that the user gave: the only file, or a folder of several. */
static MerStatus write_to(MerRunState *run, const char *path, const MerExportFiles *files,
                          MerError *error)
{
    bool is_folder = files->count > 1;
    for (int f = 0; f < files->count; f++) {
        const MerExportFile *file = &files->list[f];
        const char *to = is_folder ? mer_arena_format(run->arena, "%s/%s", path, file->name) : path;
        const char *slash = strrchr(to, '/');
        if (slash && slash > to) {
            MER_TRY(mer_directory_make(mer_arena_text_n(run->arena, to, (size_t)(slash - to)),
                                       run->arena, error));
        }
        MER_TRY(mer_file_write(to, file->data, file->size, error));
    }
    return MER_OK;
}

static MerStatus export_by(MerRunState *run, const MerExporterClass *type, const char *path,
                           bool is_asked, const MerExport *what, MerArena *arena, MerError *error)
{
    MerExportFiles files = {.arena = arena};
    MER_TRY(type->write(what, &files, error));
    if (files.count == 0 && is_asked) {
        return mer_error_set(error, MER_UNSUPPORTED, "exporter %s cannot write plans of kind %s",
                             type->name, what->tasks[0].plan->kind->name);
    }
    if (path) {
        return write_to(run, path, &files, error);
    }
    for (int f = 0; f < files.count; f++) {
        const MerExportFile *file = &files.list[f];
        MER_TRY(mer_run_write_file(run, mer_arena_text(run->arena, file->name), file->data,
                                   file->size, error));
    }
    return MER_OK;
}

/* The files of many tasks are large: each goes before the next is made. */
static MerStatus export_and_forget(MerRunState *run, const MerExporterClass *type, const char *path,
                                   bool is_asked, const MerExport *what, MerError *error)
{
    MerArena *arena = mer_arena_new();
    MerStatus status = export_by(run, type, path, is_asked, what, arena, error);
    mer_arena_free(arena);
    return status;
}

/* What was asked for and cannot be made is told in the end: the results do not need it. */
static MerStatus export_all(MerRunState *run, const MerExport *what, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    for (const MerExporterClass *const *type = mer_exporters(); *type && what->count > 0; type++) {
        if (spec->directory && (*type)->is_default && is_of(*type, spec)) {
            MER_TRY(export_and_forget(run, *type, NULL, false, what, error));
        }
    }
    for (int e = 0; e < spec->export_count && what->count > 0; e++) {
        const MerExportRequest *asked = &spec->exports[e];
        bool                    is_there = !asked->path && asked->type->is_default;
        if (!is_there) {
            MerError own = {0};
            export_and_forget(run, asked->type, asked->path, true, what, &own);
            run->late = run->late.status == MER_OK ? own : run->late;
        }
    }
    return MER_OK;
}

MerStatus mer_run_tell_late(const MerRunState *run, MerError *error)
{
    const MerError *late = &run->late;
    return late->status == MER_OK ? MER_OK
                                  : mer_error_set(error, late->status, "%s", late->message);
}

MerStatus mer_run_export(MerRunState *run, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    if (!spec->directory && spec->export_count == 0) {
        return MER_OK;
    }
    MerArena *arena = mer_arena_new();
    MerExport what = describe(run, arena);
    MerStatus status = export_all(run, &what, error);
    mer_arena_free(arena);
    return status;
}
