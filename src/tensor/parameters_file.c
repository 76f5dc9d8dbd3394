/* Parameters in a file: `mercator-policy/1`, see tensor.h. */
#include "base/file.h"
#include "base/memory.h"
#include "tensor/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char FORMAT_LINE[] = "format: mercator-policy/1";
enum { LINE_SIZE = 512, CHUNK = 1024 };

static void encode(const float *values, int count, unsigned char *bytes)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        for (int b = 0; b < 4; b++) {
            bytes[4 * i + b] = (unsigned char)(bits >> (8 * b));
        }
    }
}

static void decode(const unsigned char *bytes, int count, float *values)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits = 0;
        for (int b = 0; b < 4; b++) {
            bits |= (uint32_t)bytes[4 * i + b] << (8 * b);
        }
        memcpy(&values[i], &bits, 4);
    }
}

/* `tensor NAME SIZE SIZE ...`, as it stands in the file, without the line's end. */
static void tensor_line(char line[LINE_SIZE], const char *name, const MerTensor *tensor)
{
    int length = snprintf(line, LINE_SIZE, "tensor %.300s", name);
    for (int i = 0; i < tensor->rank; i++) {
        length += snprintf(line + length, (size_t)(LINE_SIZE - length), " %d", tensor->shape[i]);
    }
}

static void save_tensor(const MerTensor *tensor, FILE *file, uint64_t *hash)
{
    unsigned char bytes[4 * CHUNK];
    for (int64_t i = 0; i < tensor->size; i += CHUNK) {
        int count = tensor->size - i < CHUNK ? (int)(tensor->size - i) : CHUNK;
        encode(tensor->data + i, count, bytes);
        *hash = mer_hash_bytes(*hash, bytes, 4 * (size_t)count);
        fwrite(bytes, 4, (size_t)count, file);
    }
}

MerStatus mer_parameters_save(const MerParameters *parameters, FILE *file, MerError *error)
{
    uint64_t hash = MER_HASH_START;
    fprintf(file, "%s\n", FORMAT_LINE);
    for (int i = 0; i < mer_parameters_count(parameters); i++) {
        char line[LINE_SIZE];
        tensor_line(line, mer_parameters_name(parameters, i), mer_parameters_get(parameters, i));
        hash = mer_hash_text(hash, line);
        fprintf(file, "%s\n", line);
        save_tensor(mer_parameters_get(parameters, i), file, &hash);
    }
    fprintf(file, "end %016llx\n", (unsigned long long)hash);
    if (fflush(file) != 0 || ferror(file)) {
        return mer_error_set(error, MER_IO, "writing the policy failed: %s", strerror(errno));
    }
    return MER_OK;
}

typedef struct Reader {
    FILE       *file;
    const char *path;
    long        offset; /* of the next byte, from where reading began */
    uint64_t    hash;
    MerError   *error;
} Reader;

/* One line without its end; a line that is too long or cut off is refused. */
static MerStatus read_line(Reader *reader, char line[LINE_SIZE], const char *expected)
{
    long start = reader->offset;
    int  length = 0;
    for (int c; (c = getc(reader->file)) != '\n'; line[length++] = (char)c) {
        if (c == EOF || length == LINE_SIZE - 1) {
            return mer_error_set(reader->error, MER_INVALID, "%s: byte %ld: %s, expected \"%s\"",
                                 reader->path, start,
                                 c == EOF ? "the file ends" : "a line too long", expected);
        }
        reader->offset++;
    }
    line[length] = '\0';
    reader->offset++;
    return MER_OK;
}

/* A line that must stand so in the file. */
static MerStatus expect_line(Reader *reader, const char *expected)
{
    char line[LINE_SIZE];
    long start = reader->offset;
    MER_TRY(read_line(reader, line, expected));
    if (strcmp(line, expected) != 0) {
        return mer_error_set(reader->error, MER_INVALID,
                             "%s: byte %ld: found \"%.200s\", expected \"%.200s\"", reader->path,
                             start, line, expected);
    }
    return MER_OK;
}

static MerStatus read_tensor(Reader *reader, const char *name, const MerTensor *tensor,
                             float *values)
{
    char expected[LINE_SIZE];
    tensor_line(expected, name, tensor);
    MER_TRY(expect_line(reader, expected));
    reader->hash = mer_hash_text(reader->hash, expected);
    unsigned char bytes[4 * CHUNK];
    for (int64_t i = 0; i < tensor->size; i += CHUNK) {
        int    count = tensor->size - i < CHUNK ? (int)(tensor->size - i) : CHUNK;
        size_t found = fread(bytes, 1, 4 * (size_t)count, reader->file);
        if (found != 4 * (size_t)count) {
            return mer_error_set(reader->error, MER_INVALID,
                                 "%s: byte %ld: the file ends in tensor %s, expected %lld numbers",
                                 reader->path, reader->offset + (long)found, name,
                                 (long long)tensor->size);
        }
        reader->offset += (long)found;
        reader->hash = mer_hash_bytes(reader->hash, bytes, found);
        decode(bytes, count, values + i);
    }
    return MER_OK;
}

static MerStatus read_all(Reader *reader, const MerParameters *parameters, float *values)
{
    char end[LINE_SIZE];
    MER_TRY(expect_line(reader, FORMAT_LINE));
    for (int i = 0; i < mer_parameters_count(parameters); i++) {
        const MerTensor *tensor = mer_parameters_get(parameters, i);
        MER_TRY(read_tensor(reader, mer_parameters_name(parameters, i), tensor, values));
        values += tensor->size;
    }
    snprintf(end, sizeof end, "end %016llx", (unsigned long long)reader->hash);
    return expect_line(reader, end);
}

MerStatus mer_parameters_load(MerParameters *parameters, FILE *file, const char *path,
                              MerError *error)
{
    int64_t size = 1;
    for (int i = 0; i < mer_parameters_count(parameters); i++) {
        size += mer_parameters_get(parameters, i)->size;
    }
    float       *values = mer_heap_zeroed((size_t)size, sizeof *values);
    Reader       reader = {file, path, 0, MER_HASH_START, error};
    MerStatus    status = read_all(&reader, parameters, values);
    const float *next = values;
    for (int i = 0; i < mer_parameters_count(parameters) && status == MER_OK; i++) {
        MerTensor *tensor = mer_parameters_get(parameters, i);
        memcpy(tensor->data, next, (size_t)tensor->size * sizeof *next);
        next += tensor->size;
    }
    free(values);
    return status;
}

MerStatus mer_parameters_keep(MerParameters *parameters, const MerStream *stream, const char *path,
                              MerError *error)
{
    return stream->is_saving ? mer_parameters_save(parameters, stream->file, error)
                             : mer_parameters_load(parameters, stream->file, path, error);
}
