/* IDX files as image sets. */
#include "tensor/dataset.h"

#include <limits.h>

enum { MOST_NUMBERS = 1 << 30 };

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

MerStatus mer_idx_parse(const char *path, const void *data, size_t size, MerIdx *idx,
                        MerError *error)
{
    const unsigned char *bytes = data;
    *idx = (MerIdx){.size = 1};
    if (size < 4 || bytes[0] != 0 || bytes[1] != 0 || (bytes[2] != 8 && bytes[2] != 9)) {
        return mer_error_set(error, MER_INVALID,
                             "%s: byte 0: no IDX file of bytes, expected 00 00 08 or 00 00 09",
                             path);
    }
    idx->is_signed = bytes[2] == 9;
    idx->rank = bytes[3];
    if (idx->rank < 1 || idx->rank > MER_IDX_MAX_RANK) {
        return mer_error_set(error, MER_INVALID, "%s: byte 3: %d dimensions, expected 1 to %d",
                             path, idx->rank, MER_IDX_MAX_RANK);
    }
    size_t header = 4 + 4 * (size_t)idx->rank;
    if (size < header) {
        return mer_error_set(error, MER_INVALID,
                             "%s: byte %zu: the file ends, expected a header of %zu", path, size,
                             header);
    }
    for (int i = 0; i < idx->rank; i++) {
        uint32_t length = big_endian(bytes + 4 + 4 * i);
        bool     is_large =
            length > INT_MAX || (length > 0 && idx->size > MOST_NUMBERS / (int64_t)length);
        if (is_large) {
            return mer_error_set(error, MER_INVALID, "%s: byte %d: size %lu is too large", path,
                                 4 + 4 * i, (unsigned long)length);
        }
        idx->shape[i] = (int)length;
        idx->size *= length;
    }
    if (size - header != (size_t)idx->size) {
        return mer_error_set(error, MER_INVALID, "%s: byte %zu: %zu numbers, expected %lld", path,
                             header, size - header, (long long)idx->size);
    }
    idx->bytes = bytes + header;
    return MER_OK;
}

static MerStatus read_labels(const char *path, const MerIdx *idx, MerArena *arena,
                             MerDataset *dataset, MerError *error)
{
    int *labels = MER_ARRAY(arena, int, idx->size + 1);
    if (idx->rank != 1 || idx->is_signed || idx->shape[0] != dataset->count) {
        return mer_error_set(error, MER_INVALID,
                             "%s: byte 3: expected one unsigned label for each of %d images", path,
                             dataset->count);
    }
    for (int i = 0; i < dataset->count; i++) {
        labels[i] = idx->bytes[i];
        dataset->classes = labels[i] >= dataset->classes ? labels[i] + 1 : dataset->classes;
    }
    dataset->labels = labels;
    return MER_OK;
}

/* (count, rows, columns), with channels in between, or (count, numbers) as one row. */
static void take_shape(const MerIdx *idx, MerDataset *dataset)
{
    int last = idx->rank - 1;
    *dataset = (MerDataset){.count = idx->shape[0], .channels = 1, .height = 1};
    dataset->width = idx->shape[last];
    if (last >= 2) {
        dataset->height = idx->shape[last - 1];
    }
    for (int i = 1; i < last - 1; i++) {
        dataset->channels *= idx->shape[i];
    }
}

MerStatus mer_dataset_from_idx(const char *images_path, const MerIdx *images,
                               const char *labels_path, const MerIdx *labels, double scale,
                               MerArena *arena, MerDataset *dataset, MerError *error)
{
    if (images->rank < 2 || images->size == 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s: byte 3: %d dimensions and %lld numbers, expected images: 2 or "
                             "more dimensions and at "
                             "least one number",
                             images_path, images->rank, (long long)images->size);
    }
    take_shape(images, dataset);
    float *values = MER_ARRAY(arena, float, images->size);
    for (int64_t i = 0; i < images->size; i++) {
        int value = images->is_signed ? (signed char)images->bytes[i] : images->bytes[i];
        values[i] = (float)(value / scale);
    }
    dataset->images = values;
    return read_labels(labels_path, labels, arena, dataset, error);
}
