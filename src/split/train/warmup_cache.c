/* Files of trained float networks. */
#include "split/train/warmup_cache.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/output.h"
#include "base/stream.h"

#include <limits.h>

static const char *path_of(const char *folder, const MerWarmup *warmup, MerArena *arena)
{
    return mer_arena_format(arena, "%s/warmup-%016llx.bin", folder,
                            (unsigned long long)warmup->key);
}

static MerStatus keep(const MerWarmup *warmup, MerStream *stream, const char *path, MerError *error)
{
    mer_stream_int(stream, warmup->epochs, warmup->epochs, warmup->epochs);
    for (int e = 0; e < warmup->epochs; e++) {
        MerTally *tally = &warmup->tallies[e];
        tally->examples = mer_stream_int(stream, tally->examples, 0, INT64_MAX);
        tally->correct = mer_stream_int(stream, tally->correct, 0, tally->examples);
        tally->loss = mer_stream_real(stream, tally->loss);
    }
    MER_TRY(mer_stream_status(stream, path, error));
    return mer_parameters_keep(warmup->weights, stream, path, error);
}

MerStatus mer_warmup_load(const char *folder, const MerWarmup *warmup, MerArena *arena,
                          bool *is_found, MerError *error)
{
    const char *path = path_of(folder, warmup, arena);
    MerStream   stream = {.file = mer_file_open(path)};
    *is_found = stream.file != NULL;
    if (!*is_found) {
        return MER_OK;
    }
    MerStatus status = keep(warmup, &stream, path, error);
    fclose(stream.file);
    return status;
}

MerStatus mer_warmup_save(const char *folder, const MerWarmup *warmup, MerArena *arena,
                          MerError *error)
{
    const char *path = path_of(folder, warmup, arena);
    MerOutput   output;
    MER_TRY(mer_directory_make(folder, arena, error));
    MER_TRY(mer_output_open(&output, path, error));
    MerStream stream = {.file = output.file, .is_saving = true};
    MerStatus status = keep(warmup, &stream, path, error);
    if (status != MER_OK) {
        mer_output_discard(&output);
        return status;
    }
    return mer_output_close(&output, error);
}
