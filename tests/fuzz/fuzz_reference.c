/* Small languages of the command line: plug-in references, objectives and numbers. */
#include "base/file.h"
#include "mercator/option.h"
#include "run/search/objective.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    MerArena    *arena = mer_arena_new();
    MerError     error;
    MerReference reference;
    MerObjective objective;
    const char  *text = mer_arena_text_n(arena, (const char *)data, size);
    double       real;
    int64_t      whole;
    mer_parse_real(text, &real);
    mer_parse_int(text, &whole);
    mer_reference_parse(text, &reference, arena, &error);
    if (mer_objective_parse(text, &objective, arena, &error) == MER_OK) {
        double metrics[MER_METRIC_COUNT] = {0};
        mer_objective_value(&objective, metrics);
    }
    mer_arena_free(arena);
    return 0;
}
