/* The binary files of CIFAR-10 and CIFAR-100: records of label bytes and three planes of 32 x 32. */
#include "tensor/dataset.h"

enum { PIXELS = 3 * 32 * 32 };

int64_t mer_cifar_count(const char *path, size_t size, int labels, MerError *error)
{
    size_t record = (size_t)(PIXELS + labels);
    if (size == 0 || size % record != 0) {
        mer_error_set(error, MER_INVALID,
                      "%s: byte %zu: the last record has %zu bytes, expected records of %zu", path,
                      size / record * record, size % record, record);
        return -1;
    }
    return (int64_t)(size / record);
}

MerStatus mer_cifar_parse(const char *path, const unsigned char *bytes, size_t size,
                          int label_bytes, int classes, float *images, int *labels, MerError *error)
{
    int64_t count = mer_cifar_count(path, size, label_bytes, error);
    if (count < 0) {
        return MER_INVALID;
    }
    for (int64_t i = 0; i < count; i++) {
        const unsigned char *record = bytes + i * (PIXELS + label_bytes);
        labels[i] = record[label_bytes - 1];
        if (labels[i] >= classes) {
            return mer_error_set(error, MER_INVALID, "%s: byte %lld: label %d, expected 0 to %d",
                                 path, (long long)(record - bytes + label_bytes - 1), labels[i],
                                 classes - 1);
        }
        for (int j = 0; j < PIXELS; j++) {
            images[i * PIXELS + j] = (float)record[label_bytes + j] / 255;
        }
    }
    return MER_OK;
}
