/* Numbers and texts to and from a file, the same way in both directions. */
#include "base/stream.h"

#include <string.h>

enum { LONGEST_TEXT = 1 << 16 };

void mer_stream_bytes(MerStream *stream, void *memory, size_t size, int64_t count)
{
    size_t wanted = (size_t)count;
    if (stream->is_broken || count <= 0) {
        return;
    }
    size_t done = stream->is_saving ? fwrite(memory, size, wanted, stream->file)
                                    : fread(memory, size, wanted, stream->file);
    stream->is_broken = done != wanted;
}

int64_t mer_stream_int(MerStream *stream, int64_t value, int64_t low, int64_t high)
{
    mer_stream_bytes(stream, &value, sizeof value, 1);
    if (!stream->is_saving && !stream->is_broken) {
        stream->is_broken = value < low || value > high;
    }
    return stream->is_broken ? low : value;
}

double mer_stream_real(MerStream *stream, double value)
{
    mer_stream_bytes(stream, &value, sizeof value, 1);
    return value;
}

bool mer_is_flag(const bool *memory)
{
    unsigned char byte;
    memcpy(&byte, memory, 1);
    return byte <= 1;
}

void mer_stream_flags(MerStream *stream, bool *flags, int64_t count)
{
    mer_stream_bytes(stream, flags, sizeof *flags, count);
    for (int64_t i = 0; i < count; i++) {
        if (!mer_is_flag(&flags[i])) {
            stream->is_broken = true;
            flags[i] = false;
        }
    }
}

void mer_stream_expect(MerStream *stream, size_t size, int64_t count)
{
    off_t here = stream->is_saving || stream->is_broken ? -1 : ftello(stream->file);
    if (here < 0 || fseeko(stream->file, 0, SEEK_END) != 0) {
        return;
    }
    size_t left = (size_t)(ftello(stream->file) - here);
    stream->is_broken = fseeko(stream->file, here, SEEK_SET) != 0 || count < 0 ||
                        (size_t)count > left / (size > 0 ? size : 1);
}

const char *mer_stream_text(MerStream *stream, const char *text, MerArena *arena)
{
    int64_t length = text != NULL ? (int64_t)strlen(text) : -1;
    length = mer_stream_int(stream, length, -1, LONGEST_TEXT);
    if (length < 0) {
        return NULL;
    }
    if (stream->is_saving) {
        mer_stream_bytes(stream, (char *)text, 1, length);
        return text;
    }
    mer_stream_expect(stream, 1, length);
    if (stream->is_broken) {
        return NULL;
    }
    char *copy = mer_arena_alloc(arena, (size_t)length + 1); /* zeroed: the text ends */
    mer_stream_bytes(stream, copy, 1, length);
    return copy;
}

MerStatus mer_stream_status(const MerStream *stream, const char *what, MerError *error)
{
    if (!stream->is_broken) {
        return MER_OK;
    }
    return stream->is_saving ? mer_error_set(error, MER_IO, "%s cannot be written", what)
                             : mer_error_set(error, MER_INVALID, "%s is cut off or broken", what);
}
