/* Any bytes as an experiment file: refused with one line, or lists of inputs and plug-ins, which become runs or are refused as a whole.
 * Files that it names are not opened. */
#include "fuzz/as_file.h"
#include "run/experiment/experiment.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const MerError *error)
{
    if (error->message[0] == '\0' || strchr(error->message, '\n')) {
        fprintf(stderr, "message: %s\n", error->message);
        abort();
    }
}

/* Names of built-in inputs only: few runs, no file, no folder. */
static bool can_be_expanded(const MerExperiment *experiment)
{
    int64_t runs = 1;
    for (int a = 0; a < MER_AXIS_COUNT; a++) {
        const MerAxisValues *axis = &experiment->axes[a];
        runs *= axis->count > 0 ? axis->count : 1;
        if (runs > 100) {
            return false;
        }
        for (int i = 0; i < axis->count; i++) {
            if (strpbrk(axis->texts[i], "/.:-~") || strlen(axis->texts[i]) > 20) {
                return false;
            }
        }
    }
    return experiment->sweep_count == 0 && experiment->options.warm == NULL &&
           experiment->options.policy == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzFile      file = fuzz_file("experiment.yaml", data, size);
    MerArena     *arena = mer_arena_new();
    MerError      error = {0};
    MerExperiment experiment;
    MerRunSpec   *specs;
    int           count;
    const char   *problem = mer_experiment_problem(file.path, arena);
    mer_experiment_init(&experiment, problem ? problem : "map", arena);
    if (mer_experiment_read(&experiment, file.path, &error) != MER_OK) {
        check_message(&error);
    } else if (can_be_expanded(&experiment) &&
               mer_experiment_expand(&experiment, &specs, &count, NULL, NULL, &error) != MER_OK) {
        check_message(&error);
    }
    mer_arena_free(arena);
    fuzz_file_remove(&file);
    return 0;
}
