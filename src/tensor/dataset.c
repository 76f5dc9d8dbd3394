/* IDX files and batches of images. */
#include "tensor/dataset.h"

#include "base/file.h"

#include <limits.h>

enum { LARGEST_FILE = 1 << 30 };

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
        return mer_error_set(error, MER_INVALID, "%s: %zu bytes, expected a header of %zu", path,
                             size, header);
    }
    for (int i = 0; i < idx->rank; i++) {
        uint32_t length = big_endian(bytes + 4 + 4 * i);
        bool     is_large =
            length > INT_MAX || (length > 0 && idx->size > LARGEST_FILE / (int64_t)length);
        if (is_large) {
            return mer_error_set(error, MER_INVALID, "%s: byte %d: size %lu is too large", path,
                                 4 + 4 * i, (unsigned long)length);
        }
        idx->shape[i] = (int)length;
        idx->size *= length;
    }
    if (size - header != (size_t)idx->size) {
        return mer_error_set(error, MER_INVALID, "%s: %zu numbers, expected %lld", path,
                             size - header, (long long)idx->size);
    }
    idx->bytes = bytes + header;
    return MER_OK;
}

MerStatus mer_idx_read(const char *path, MerArena *arena, MerIdx *idx, MerError *error)
{
    char  *data;
    size_t size;
    MER_TRY(mer_file_read(path, LARGEST_FILE, arena, &data, &size, error));
    return mer_idx_parse(path, data, size, idx, error);
}

static MerStatus read_labels(const char *path, const MerIdx *idx, MerArena *arena,
                             MerDataset *dataset, MerError *error)
{
    int *labels = MER_ARRAY(arena, int, idx->size + 1);
    if (idx->rank != 1 || idx->is_signed || idx->shape[0] != dataset->count) {
        return mer_error_set(error, MER_INVALID,
                             "%s: expected one unsigned label for each of %d images", path,
                             dataset->count);
    }
    for (int i = 0; i < dataset->count; i++) {
        labels[i] = idx->bytes[i];
        dataset->classes = labels[i] >= dataset->classes ? labels[i] + 1 : dataset->classes;
    }
    dataset->labels = labels;
    return MER_OK;
}

MerStatus mer_dataset_read(const char *images_path, const char *labels_path, double offset,
                           double scale, MerArena *arena, MerDataset *dataset, MerError *error)
{
    MerIdx images, labels;
    MER_TRY(mer_idx_read(images_path, arena, &images, error));
    if (images.rank != 3 || images.size == 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s: %d dimensions, expected 3 and at least one image", images_path,
                             images.rank);
    }
    MER_TRY(mer_idx_read(labels_path, arena, &labels, error));
    *dataset = (MerDataset){.count = images.shape[0],
                            .channels = 1,
                            .height = images.shape[1],
                            .width = images.shape[2]};
    float *values = MER_ARRAY(arena, float, images.size);
    for (int64_t i = 0; i < images.size; i++) {
        int value = images.is_signed ? (signed char)images.bytes[i] : images.bytes[i];
        values[i] = (float)((value - offset) / scale);
    }
    dataset->images = values;
    return read_labels(labels_path, &labels, arena, dataset, error);
}

static void copy_moved(const MerDataset *d, const float *from, int down, int right, float fill,
                       float *to)
{
    for (int i = 0; i < d->channels * d->height; i++) {
        int row = i % d->height - down;
        for (int x = 0; x < d->width; x++) {
            int  column = x - right;
            bool is_inside = row >= 0 && row < d->height && column >= 0 && column < d->width;
            to[i * d->width + x] = is_inside ? from[(i - down) * d->width + column] : fill;
        }
    }
}

void mer_dataset_batch(const MerDataset *dataset, int count, const int *order, int shift,
                       float fill, MerRng *rng, float *images, int *labels)
{
    int64_t size = (int64_t)dataset->channels * dataset->height * dataset->width;
    for (int i = 0; i < count; i++) {
        int down = shift > 0 ? mer_rng_below(rng, 2 * shift + 1) - shift : 0;
        int right = shift > 0 ? mer_rng_below(rng, 2 * shift + 1) - shift : 0;
        copy_moved(dataset, dataset->images + order[i] * size, down, right, fill,
                   images + i * size);
        labels[i] = dataset->labels[order[i]];
    }
}
