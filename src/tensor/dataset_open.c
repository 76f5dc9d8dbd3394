/* Image sets by name: the digits that are built in, and folders of IDX or CIFAR files. */
#include "tensor/dataset.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "mercator/text.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 1 << 30 };
enum { CIFAR_SIDE = 32, CIFAR_PIXELS = 3 * CIFAR_SIDE * CIFAR_SIDE, CIFAR_FILES = 5 };

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

enum { IMAGES, LABELS };

typedef struct Files {
    File file[2][2]; /* training and test; images and labels */
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
                                    files->file[1][LABELS].path, i, test->labels[i], test->classes);
        }
    }
    return gap_in(&pair->train, files->file[0][LABELS].path, arena);
}

static MerStatus pair_from_idx(const Files *files, MerArena *arena, MerDatasetPair *pair,
                               MerError *error)
{
    MerDataset *parts[2] = {&pair->train, &pair->test};
    MerIdx      idx[2][2];
    for (int i = 0; i < 4; i++) {
        const File *file = &files->file[i / 2][i % 2];
        pair->hash = mer_hash_bytes(pair->hash, file->bytes, file->size);
        MER_TRY(mer_idx_parse(file->path, file->bytes, file->size, &idx[i / 2][i % 2], error));
    }
    double scale = scale_of(&idx[0][IMAGES]);
    for (int p = 0; p < 2; p++) {
        MER_TRY(mer_dataset_from_idx(files->file[p][IMAGES].path, &idx[p][IMAGES],
                                     files->file[p][LABELS].path, &idx[p][LABELS], scale, arena,
                                     parts[p], error));
    }
    pair->is_signed = idx[0][IMAGES].is_signed;
    int classes =
        pair->train.classes > pair->test.classes ? pair->train.classes : pair->test.classes;
    pair->train.classes = pair->test.classes = classes;
    pair->remark = strange_labels(files, pair, arena);
    return check_alike(pair, files->file[1][IMAGES].path, error);
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
    for (int i = 0; i < 4; i++) {
        bool        is_test = i / 2 == 1, is_labels = i % 2 == LABELS;
        const char *path = find(folder, is_test ? "test-" : "train-", is_labels, arena);
        if (path == NULL && is_test) {
            path = find(folder, "t10k-", is_labels, arena);
        }
        if (path == NULL) {
            return false;
        }
        files->file[i / 2][i % 2] = (File){.path = path};
    }
    return true;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

typedef struct Cifar { /* records of label bytes, of which the last counts, and three planes */
    int         label_bytes, classes;
    const char *names[2][CIFAR_FILES]; /* training and test */
} Cifar;

static const Cifar cifars[] = {{1,
                                10,
                                {{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                  "data_batch_4.bin", "data_batch_5.bin"},
                                 {"test_batch.bin"}}},
                               {2, 100, {{"train.bin"}, {"test.bin"}}}};

static MerStatus parse_cifar(const Cifar *kind, const File *file, float *images, int *labels,
                             MerError *error)
{
    const unsigned char *end = file->bytes + file->size;
    for (const unsigned char *at = file->bytes; at < end; at += CIFAR_PIXELS, labels++) {
        at += kind->label_bytes;
        *labels = at[-1];
        if (*labels >= kind->classes) {
            return mer_error_set(error, MER_INVALID, "%s: byte %lld: label %d, expected 0 to %d",
                                 file->path, (long long)(at - 1 - file->bytes), *labels,
                                 kind->classes - 1);
        }
        for (int j = 0; j < CIFAR_PIXELS; j++) {
            *images++ = (float)at[j] / 255;
        }
    }
    return MER_OK;
}

static MerStatus read_cifar(const char *folder, const Cifar *kind, int part, MerArena *arena,
                            MerDataset *d, uint64_t *hash, MerError *error)
{
    File   files[CIFAR_FILES];
    size_t record = (size_t)(CIFAR_PIXELS + kind->label_bytes);
    int    count = 0, at = 0;
    *d = (MerDataset){.channels = 3, .height = CIFAR_SIDE, .width = CIFAR_SIDE};
    d->classes = kind->classes;
    for (; count < CIFAR_FILES && kind->names[part][count] != NULL; count++) {
        const char *path = mer_arena_format(arena, "%s/%s", folder, kind->names[part][count]);
        if (count > 0 && !is_file(path)) {
            break; /* a subset may have fewer batches */
        }
        MER_TRY(read_whole(path, arena, &files[count], error));
        size_t size = files[count].size;
        if (size == 0 || size % record != 0) {
            return mer_error_set(
                error, MER_INVALID,
                "%s: byte %zu: the last record has %zu bytes, expected records of %zu", path,
                size / record * record, size % record, record);
        }
        d->count += (int)(size / record);
        *hash = mer_hash_bytes(*hash, files[count].bytes, size);
    }
    float *images = MER_ARRAY(arena, float, (int64_t)d->count *CIFAR_PIXELS + 1);
    int   *labels = MER_ARRAY(arena, int, d->count + 1);
    for (int f = 0; f < count; at += (int)(files[f].size / record), f++) {
        MER_TRY(
            parse_cifar(kind, &files[f], images + (int64_t)at * CIFAR_PIXELS, labels + at, error));
    }
    d->images = images;
    d->labels = labels;
    return MER_OK;
}

static MerStatus open_digits(MerArena *arena, MerDatasetPair *pair, MerError *error)
{
#define ASSET(name) {"built-in " #name, mer_asset_##name, mer_asset_##name##_size}
    Files files = {{{ASSET(digits_train_images), ASSET(digits_train_labels)},
                    {ASSET(digits_test_images), ASSET(digits_test_labels)}}};
#undef ASSET
    return pair_from_idx(&files, arena, pair, error);
}

static MerStatus open_folder(const char *folder, MerArena *arena, MerDatasetPair *pair,
                             MerError *error)
{
    Files files;
    if (find_idx(folder, &files, arena)) {
        for (int i = 0; i < 4; i++) {
            File *file = &files.file[i / 2][i % 2];
            MER_TRY(read_whole(file->path, arena, file, error));
        }
        return pair_from_idx(&files, arena, pair, error);
    }
    for (size_t i = 0; i < sizeof cifars / sizeof *cifars; i++) {
        const Cifar *kind = &cifars[i];
        if (is_file(mer_arena_format(arena, "%s/%s", folder, kind->names[0][0]))) {
            MER_TRY(read_cifar(folder, kind, 0, arena, &pair->train, &pair->hash, error));
            return read_cifar(folder, kind, 1, arena, &pair->test, &pair->hash, error);
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
