/* Image sets by name: the digits that are built in, and folders of IDX or CIFAR files. */
#include "tensor/dataset_inside.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "mercator/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 1 << 30, CIFAR_SIDE = 32, CIFAR_PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE };

#define ASSET(name)                                                                                \
    extern const unsigned char mer_asset_##name[];                                                 \
    extern const size_t        mer_asset_##name##_size;
ASSET(digits_train_images)
ASSET(digits_train_labels)
ASSET(digits_test_images)
ASSET(digits_test_labels)
#undef ASSET

typedef struct File {
    const char          *path;
    const unsigned char *bytes;
    size_t               size;
} File;

typedef struct Files { /* training and test; images and labels in turn, CIFAR has one kind */
    File images[2], labels[2];
} Files;

static double scale_of(const MerIdx *train)
{
    int most = 0;
    for (int64_t i = 0; i < train->size; i++) {
        most = train->bytes[i] > most ? train->bytes[i] : most;
    }
    return train->is_signed ? 128 : most > 0 && most < 128 ? most : 255;
}

static MerStatus check_alike(const MerDatasetPair *pair, const char *test, MerError *error)
{
    const MerDataset *a = &pair->train, *b = &pair->test;
    if (a->channels != b->channels || a->height != b->height || a->width != b->width) {
        return mer_error_set(
            error, MER_INVALID,
            "%s: images of %d x %d x %d, expected %d x %d x %d as in the training part", test,
            b->channels, b->height, b->width, a->channels, a->height, a->width);
    }
    return MER_OK;
}

static int first_with(const MerDataset *dataset, int label)
{
    int i = 0;
    while (i < dataset->count && dataset->labels[i] != label) {
        i++;
    }
    return i;
}

/* Labels are bytes, so that a wrong one makes up to 255 classes more. Those that a set was made with follow each other: a gap is the
 * sign. Some sets begin at 1, which is none. */
static const char *gap_in(const MerDataset *train, const char *path, MerArena *arena)
{
    bool is_used[256] = {false};
    int  label = 0;
    for (int i = 0; i < train->count; i++) {
        is_used[train->labels[i]] = true;
    }
    while (label < 256 && !is_used[label]) {
        label++;
    }
    while (label < 256 && is_used[label]) {
        label++;
    }
    int first = label; /* that is missing */
    while (label < 256 && !is_used[label]) {
        label++;
    }
    return label == 256
               ? NULL
               : mer_arena_format(arena,
                                  "%s: image %d has label %d, but no image has %d: a wrong label? "
                                  "There will be %d classes",
                                  path, first_with(train, label), label, first, train->classes);
}

static const char *strange_labels(const Files *files, const MerDatasetPair *pair, MerArena *arena)
{
    const MerDataset *test = &pair->test;
    for (int i = 0; i < test->count; i++) {
        if (first_with(&pair->train, test->labels[i]) == pair->train.count) {
            return mer_arena_format(arena,
                                    "%s: image %d has label %d, which no training image has: a "
                                    "wrong label? There will be %d classes",
                                    files->labels[1].path, i, test->labels[i], test->classes);
        }
    }
    return gap_in(&pair->train, files->labels[0].path, arena);
}

static MerStatus pair_from_idx(const Files *files, MerArena *arena, MerDatasetPair *pair,
                               MerError *error)
{
    MerDataset *parts[2] = {&pair->train, &pair->test};
    MerIdx      images[2], labels[2];
    for (int p = 0; p < 2; p++) {
        const File *i = &files->images[p], *l = &files->labels[p];
        MER_TRY(mer_idx_parse(i->path, i->bytes, i->size, &images[p], error));
        MER_TRY(mer_idx_parse(l->path, l->bytes, l->size, &labels[p], error));
    }
    double scale = scale_of(&images[0]);
    for (int p = 0; p < 2; p++) {
        MER_TRY(mer_dataset_from_idx(files->images[p].path, &images[p], files->labels[p].path,
                                     &labels[p], scale, arena, parts[p], error));
    }
    pair->is_signed = images[0].is_signed;
    int classes =
        pair->train.classes > pair->test.classes ? pair->train.classes : pair->test.classes;
    pair->train.classes = pair->test.classes = classes;
    pair->remark = strange_labels(files, pair, arena);
    return check_alike(pair, files->images[1].path, error);
}

static uint64_t hash_of(const Files *files)
{
    uint64_t hash = 0;
    for (int p = 0; p < 2; p++) {
        hash = mer_hash_bytes(hash, files->images[p].bytes, files->images[p].size);
        if (files->labels[p].bytes != NULL) {
            hash = mer_hash_bytes(hash, files->labels[p].bytes, files->labels[p].size);
        }
    }
    return hash;
}

static MerStatus read_whole(const char *path, MerArena *arena, File *file, MerError *error)
{
    char *data;
    file->path = path;
    MER_TRY(mer_file_read(path, LARGEST_FILE, arena, &data, &file->size, error));
    file->bytes = (const unsigned char *)data;
    return MER_OK;
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The file of images or of labels of a part ("train-", "test-" or "t10k-"); NULL if there is none. Of several the
 * first by name, so that the order of the folder does not matter. */
static const char *find(const char *folder, const char *part, bool is_labels, MerArena *arena)
{
    DIR        *directory = mer_folder_open(folder);
    const char *found = NULL;
    if (directory == NULL) {
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name, *rank = strstr(name, "-idx");
        bool        has_labels = strstr(name, "labels") != NULL;
        bool        fits = begins(name, part) && rank != NULL &&
                    (is_labels ? has_labels : !has_labels && rank[4] >= '2' && rank[4] <= '9');
        if (fits && (found == NULL || strcmp(name, found) < 0)) {
            found = mer_arena_format(arena, "%s", name);
        }
    }
    closedir(directory);
    return found != NULL ? mer_arena_format(arena, "%s/%s", folder, found) : NULL;
}

static bool find_idx(const char *folder, Files *files, MerArena *arena)
{
    for (int p = 0; p < 2; p++) {
        for (int l = 0; l < 2; l++) {
            const char *path = find(folder, p == 0 ? "train-" : "test-", l == 1, arena);
            if (path == NULL && p == 1) {
                path = find(folder, "t10k-", l == 1, arena);
            }
            if (path == NULL) {
                return false;
            }
            *(l == 1 ? &files->labels[p] : &files->images[p]) = (File){.path = path};
        }
    }
    return true;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static MerStatus read_cifar_part(const char *folder, const char *const *names, int count,
                                 int label_bytes, int classes, MerArena *arena, MerDataset *d,
                                 uint64_t *hash, MerError *error)
{
    File    files[5];
    int64_t record = CIFAR_PIXELS + label_bytes, at = 0;
    *d = (MerDataset){.channels = 3, .height = CIFAR_SIDE, .width = CIFAR_SIDE, .classes = classes};
    for (int f = 0; f < count; f++) {
        const char *path = mer_arena_format(arena, "%s/%s", folder, names[f]);
        MER_TRY(read_whole(path, arena, &files[f], error));
        int64_t images = mer_cifar_count(path, files[f].size, label_bytes, error);
        if (images < 0) {
            return MER_INVALID;
        }
        d->count += (int)images;
        *hash = mer_hash_bytes(*hash, files[f].bytes, files[f].size);
    }
    float *images = MER_ARRAY(arena, float, (int64_t)d->count *CIFAR_PIXELS + 1);
    int   *labels = MER_ARRAY(arena, int, d->count + 1);
    for (int f = 0; f < count; f++) {
        MER_TRY(mer_cifar_parse(files[f].path, files[f].bytes, files[f].size, label_bytes, classes,
                                images + at * CIFAR_PIXELS, labels + at, error));
        at += (int64_t)files[f].size / record;
    }
    d->images = images;
    d->labels = labels;
    return MER_OK;
}

static MerStatus read_cifar(const char *folder, bool is_hundred, MerArena *arena,
                            MerDatasetPair *pair, MerError *error)
{
    static const char *const ten[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                      "data_batch_4.bin", "data_batch_5.bin"};
    static const char *const ten_test[] = {"test_batch.bin"};
    static const char *const hundred[] = {"train.bin"}, *const hundred_test[] = {"test.bin"};
    int label_bytes = is_hundred ? 2 : 1, classes = is_hundred ? 100 : 10;
    int count = 1;
    for (; !is_hundred && count < 5; count++) { /* a subset may have fewer batches */
        if (!is_file(mer_arena_format(arena, "%s/%s", folder, ten[count]))) {
            break;
        }
    }
    MER_TRY(read_cifar_part(folder, is_hundred ? hundred : ten, count, label_bytes, classes, arena,
                            &pair->train, &pair->hash, error));
    return read_cifar_part(folder, is_hundred ? hundred_test : ten_test, 1, label_bytes, classes,
                           arena, &pair->test, &pair->hash, error);
}

static MerStatus open_digits(MerArena *arena, MerDatasetPair *pair, MerError *error)
{
#define ASSET(name) {"built-in " #name, mer_asset_##name, mer_asset_##name##_size}
    Files files = {{ASSET(digits_train_images), ASSET(digits_test_images)},
                   {ASSET(digits_train_labels), ASSET(digits_test_labels)}};
#undef ASSET
    pair->hash = hash_of(&files);
    return pair_from_idx(&files, arena, pair, error);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static MerStatus open_folder(const char *folder, MerArena *arena, MerDatasetPair *pair,
                             MerError *error)
{
    Files files;
    if (find_idx(folder, &files, arena)) {
        for (int p = 0; p < 2; p++) {
            MER_TRY(read_whole(files.images[p].path, arena, &files.images[p], error));
            MER_TRY(read_whole(files.labels[p].path, arena, &files.labels[p], error));
        }
        pair->hash = hash_of(&files);
        return pair_from_idx(&files, arena, pair, error);
    }
    for (int hundred = 0; hundred < 2; hundred++) {
        const char *first = hundred ? "train.bin" : "data_batch_1.bin";
        if (is_file(mer_arena_format(arena, "%s/%s", folder, first))) {
            return read_cifar(folder, hundred, arena, pair, error);
        }
    }
    return mer_error_set(
        error, MER_INVALID,
        "%s: no image set, expected train-*-idx*, train-labels-idx1-ubyte and the same of test- "
        "or t10k-, or the binary files of CIFAR-10 or CIFAR-100",
        folder);
}

bool mer_dataset_is_there(const char *name, const char *root)
{
    MerArena   *arena = mer_arena_new();
    const char *inside = root != NULL ? mer_arena_format(arena, "%s/%s", root, name) : name;
    bool        is_there = strcmp(name, "digits8x8") == 0 || is_folder(inside) || is_folder(name);
    mer_arena_free(arena);
    return is_there;
}

MerStatus mer_dataset_open(const char *name, const char *root, MerArena *arena,
                           MerDatasetPair *pair, MerError *error)
{
    const char *inside = root != NULL ? mer_arena_format(arena, "%s/%s", root, name) : NULL;
    *pair = (MerDatasetPair){.name = name};
    if (inside != NULL && is_folder(inside)) {
        return open_folder(inside, arena, pair, error);
    }
    if (strcmp(name, "digits8x8") == 0) {
        return open_digits(arena, pair, error);
    }
    if (is_folder(name)) {
        return open_folder(name, arena, pair, error);
    }
    return mer_error_set(
        error, MER_INVALID,
        "dataset %s: no such folder%s%s, expected digits8x8 (built in) or a folder of images", name,
        root != NULL ? ", nor in " : "", root != NULL ? root : "");
}
