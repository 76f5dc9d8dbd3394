/* IDX files, good and broken, and batches with moved images. */
#include "base/file.h"
#include "support.h"
#include "tensor/dataset.h"

#include <sys/stat.h>

static const unsigned char two_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,  0,  0,  2,
                                           0, 0, 0, 2, 0, 1, 2, 3, 10, 20, 30, 255};
static const unsigned char two_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 4, 1};

static MerStatus read_set(const char *images_path, const char *labels_path, double scale,
                          MerArena *arena, MerDataset *dataset, MerError *error)
{
    const char *paths[2] = {images_path, labels_path};
    MerIdx      idx[2];
    for (int i = 0; i < 2; i++) {
        char  *data;
        size_t size;
        MER_TRY(mer_file_read(paths[i], 1 << 20, arena, &data, &size, error));
        MER_TRY(mer_idx_parse(paths[i], data, size, &idx[i], error));
    }
    return mer_dataset_from_idx(images_path, &idx[0], labels_path, &idx[1], scale, arena, dataset,
                                error);
}

static void test_images_are_scaled_and_labels_counted(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerDataset dataset;
    write_bytes("images", two_images, sizeof two_images);
    write_bytes("labels", two_labels, sizeof two_labels);
    assert_int_equal(read_set("images", "labels", 10, arena, &dataset, NULL), MER_OK);
    assert_int_equal(dataset.count, 2);
    assert_int_equal(dataset.height, 2);
    assert_int_equal(dataset.classes, 5);
    assert_int_equal(dataset.labels[1], 1);
    assert_float_equal(dataset.images[4], 1, 1e-6f);
    assert_float_equal(dataset.images[7], 25.5f, 1e-6f);
    mer_arena_free(arena);
}

static void test_signed_bytes_are_signed(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    MerDataset          dataset;
    const unsigned char images[] = {0, 0, 9, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 255, 127};
    const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 0};
    write_bytes("images", images, sizeof images);
    write_bytes("labels", labels, sizeof labels);
    assert_int_equal(read_set("images", "labels", 1, arena, &dataset, NULL), MER_OK);
    assert_float_equal(dataset.images[0], -1, 0);
    assert_float_equal(dataset.images[1], 127, 0);
    mer_arena_free(arena);
}

static void assert_refused(const void *data, size_t size, const char *part)
{
    MerIdx   idx;
    MerError error = {0};
    assert_int_equal(mer_idx_parse("file", data, size, &idx, &error), MER_INVALID);
    mer_test_contains(error.message, part);
}

static void test_broken_files_are_named(void **state)
{
    (void)state;
    unsigned char data[sizeof two_images];
    memcpy(data, two_images, sizeof data);
    assert_refused(data, 3, "no IDX file");
    assert_refused(data, 10, "byte 10: the file ends, expected a header of 16");
    assert_refused(data, sizeof data - 1, "byte 16: 7 numbers, expected 8");
    data[4] = 255;
    assert_refused(data, sizeof data, "byte 4: size 4278190082 is too large");
    data[3] = 9;
    assert_refused(data, sizeof data, "byte 3: 9 dimensions");
    data[2] = 13;
    assert_refused(data, sizeof data, "no IDX file");
}

static void test_labels_must_match_the_images(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    MerDataset          dataset;
    MerError            error = {0};
    const unsigned char one[] = {0, 0, 8, 1, 0, 0, 0, 1, 4};
    write_bytes("images", two_images, sizeof two_images);
    write_bytes("labels", one, sizeof one);
    assert_int_equal(read_set("images", "labels", 1, arena, &dataset, &error), MER_INVALID);
    mer_test_contains(error.message,
                      "labels: byte 3: expected one unsigned label for each of 2 images");
    assert_int_equal(read_set("labels", "labels", 1, arena, &dataset, &error), MER_INVALID);
    mer_test_contains(error.message, "byte 3: 1 dimensions and 1 numbers, expected images");
    mer_arena_free(arena);
}

/* A picture with one bright pixel, moved by up to one: every place is reached, the rest is the
 * fill. */
static void test_moved_images_have_their_pixel_everywhere(void **state)
{
    (void)state;
    float      bright[9] = {0, 0, 0, 0, 7, 0, 0, 0, 0}, out[9];
    int        label = 3, given, order = 0, seen[9] = {0};
    MerDataset dataset = {1, 1, 3, 3, 4, bright, &label};
    MerAugment augment = {.shift = 1};
    for (int i = 0; i < 200; i++) {
        mer_dataset_batch(&dataset, 1, &order, &augment, 1, i, out, &given);
        int at = -1;
        for (int j = 0; j < 9; j++) {
            assert_true(out[j] == 0 || out[j] == 7);
            at = out[j] == 7 ? j : at;
        }
        assert_true(at >= 0);
        seen[at]++;
    }
    for (int j = 0; j < 9; j++) {
        assert_true(seen[j] > 5);
    }
    mer_dataset_batch(&dataset, 1, &order, NULL, 0, 0, out, &given);
    assert_memory_equal(out, bright, sizeof out);
    assert_int_equal(given, 3);
}

static void test_an_image_is_moved_alike_in_any_batch(void **state)
{
    (void)state;
    float      pixels[3 * 16], out[2][3 * 16];
    int        labels[3] = {0, 1, 2}, given[3];
    MerDataset dataset = {3, 1, 4, 4, 3, pixels, labels};
    MerAugment augment = {.flip = true, .shift = 1, .roll = 2};
    for (int i = 0; i < 48; i++) {
        pixels[i] = (float)i;
    }
    mer_dataset_batch(&dataset, 3, (int[]){0, 1, 2}, &augment, 5, 2, out[0], given);
    mer_dataset_batch(&dataset, 3, (int[]){2, 0, 1}, &augment, 5, 2, out[1], given);
    assert_memory_equal(out[0] + 32, out[1], 16 * sizeof(float));
    assert_memory_equal(out[0], out[1] + 16, 32 * sizeof(float));
    mer_dataset_batch(&dataset, 3, (int[]){0, 1, 2}, &augment, 5, 3, out[1], given);
    assert_memory_not_equal(out[0], out[1], sizeof out[0]);
}

/* Noise has its deviation, ends at the range, and follows from the image alone; the labels stay. */
static void test_noise_is_the_image_s_own(void **state)
{
    (void)state;
    enum { PIXELS = 32 * 32, IMAGES = 3 };
    static float pixels[IMAGES * PIXELS], out[IMAGES * PIXELS];
    int          labels[IMAGES] = {2, 0, 1}, given[IMAGES];
    MerArena    *memory = mer_arena_new();
    MerDataset   dataset = {IMAGES, 1, 32, 32, 3, pixels, labels};
    MerAugment   augment = {.noise = 0.1, .low = 0, .high = 1};
    double       squares = 0;
    for (int i = 0; i < IMAGES * PIXELS; i++) {
        pixels[i] = i < PIXELS ? 0.5f : i < 2 * PIXELS ? 0 : 1;
    }
    MerDataset noisy = mer_dataset_changed(&dataset, &augment, 7, memory);
    mer_dataset_batch(&dataset, IMAGES, (int[]){1, 2, 0}, &augment, 7, 0, out, given);
    assert_memory_equal(noisy.images, out + 2 * PIXELS, PIXELS * sizeof *out);
    assert_memory_equal(noisy.images + PIXELS, out, 2 * PIXELS * sizeof *out);
    assert_ptr_equal(noisy.labels, labels);
    for (int i = 0; i < IMAGES * PIXELS; i++) {
        assert_true(noisy.images[i] >= 0 && noisy.images[i] <= 1);
        squares += i < PIXELS ? (noisy.images[i] - 0.5) * (noisy.images[i] - 0.5) : 0;
    }
    assert_true(squares / PIXELS > 0.008 && squares / PIXELS < 0.012);
    mer_arena_free(memory);
}

static void test_rolled_rows_come_back_at_the_other_end(void **state)
{
    (void)state;
    float      rows[4] = {1, 2, 3, 4}, out[4];
    int        label = 0, given, order = 0;
    bool       is_seen[5] = {false};
    MerDataset dataset = {1, 1, 4, 1, 1, rows, &label};
    MerAugment augment = {.roll = 1};
    for (int epoch = 0; epoch < 50; epoch++) {
        mer_dataset_batch(&dataset, 1, &order, &augment, 1, epoch, out, &given);
        is_seen[(int)out[0]] = true;
        for (int i = 0; i < 4; i++) {
            assert_int_equal((int)out[(i + 1) % 4], (int)out[i] % 4 + 1);
        }
    }
    assert_true(is_seen[1] && is_seen[2] && is_seen[4] && !is_seen[3]);
}

static void test_the_digits_are_built_in(void **state)
{
    (void)state;
    MerArena      *arena = mer_arena_new();
    MerDatasetPair pair;
    assert_int_equal(mer_dataset_open("digits8x8", NULL, arena, &pair, NULL), MER_OK);
    assert_int_equal(pair.train.count, 1437);
    assert_int_equal(pair.test.count, 360);
    assert_int_equal(pair.train.height, 8);
    assert_int_equal(pair.train.classes, 10);
    float most = 0;
    for (int i = 0; i < 1437 * 64; i++) {
        most = pair.train.images[i] > most ? pair.train.images[i] : most;
    }
    assert_float_equal(most, 1, 0);
    mer_dataset_normalise(&pair, arena);
    double sum = 0, squares = 0;
    for (int i = 0; i < 1437 * 64; i++) {
        sum += pair.train.images[i];
        squares += (double)pair.train.images[i] * pair.train.images[i];
    }
    assert_float_equal((float)(sum / (1437 * 64)), 0, 1e-5f);
    assert_float_equal((float)(squares / (1437 * 64)), 1, 1e-4f);
    mer_arena_free(arena);
}

static void test_folders_are_read_by_what_is_in_them(void **state)
{
    (void)state;
    MerArena      *arena = mer_arena_new();
    MerDatasetPair pair;
    MerError       error = {0};
    mkdir("set", 0777);
    assert_int_equal(mer_dataset_open("nothing", "set", arena, &pair, &error), MER_INVALID);
    mer_test_contains(error.message,
                      "dataset nothing: no such folder, nor in set, expected digits8x8");
    assert_int_equal(mer_dataset_open("set", NULL, arena, &pair, &error), MER_INVALID);
    mer_test_contains(error.message, "set: no image set, expected train-*-idx*");
    write_bytes("set/train-images-idx3-ubyte", two_images, sizeof two_images);
    write_bytes("set/train-labels-idx1-ubyte", two_labels, sizeof two_labels);
    write_bytes("set/t10k-images-idx3-ubyte", two_images, sizeof two_images);
    write_bytes("set/t10k-labels-idx1-ubyte", two_labels, sizeof two_labels);
    assert_int_equal(mer_dataset_open("set", ".", arena, &pair, NULL), MER_OK);
    assert_int_equal(pair.test.count, 2);
    assert_int_equal(pair.test.classes, 5);
    assert_false(pair.is_signed);
    assert_float_equal(pair.test.images[7], 1, 0);
    mer_arena_free(arena);
}

/* A byte that is wrong makes classes that nobody has: it is said which. Labels from 1 on are fine. */
static void test_labels_with_a_gap_are_remarked(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    MerDatasetPair      pair;
    const unsigned char in_order[] = {0, 0, 8, 1, 0, 0, 0, 2, 2, 1};
    const unsigned char wrong[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 255};
    mkdir("gap", 0777);
    write_bytes("gap/train-images-idx3-ubyte", two_images, sizeof two_images);
    write_bytes("gap/t10k-images-idx3-ubyte", two_images, sizeof two_images);
    write_bytes("gap/train-labels-idx1-ubyte", in_order, sizeof in_order);
    write_bytes("gap/t10k-labels-idx1-ubyte", in_order, sizeof in_order);
    assert_int_equal(mer_dataset_open("gap", ".", arena, &pair, NULL), MER_OK);
    assert_null(pair.remark);
    write_bytes("gap/t10k-labels-idx1-ubyte", wrong, sizeof wrong);
    assert_int_equal(mer_dataset_open("gap", ".", arena, &pair, NULL), MER_OK);
    mer_test_contains(pair.remark, "t10k-labels-idx1-ubyte: image 1 has label 255, which no "
                                   "training image has");
    write_bytes("gap/train-labels-idx1-ubyte", wrong, sizeof wrong);
    assert_int_equal(mer_dataset_open("gap", ".", arena, &pair, NULL), MER_OK);
    mer_test_contains(pair.remark, "train-labels-idx1-ubyte: image 1 has label 255, but no image "
                                   "has 2: a wrong label? There will be 256 classes");
    mer_arena_free(arena);
}

/* Ranks above three: what is in between is channels. */
static void test_images_may_have_channels(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    MerDataset          dataset;
    const unsigned char images[] = {0, 0, 8, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0,
                                    1, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 0};
    write_bytes("images", images, sizeof images);
    write_bytes("labels", labels, sizeof labels);
    assert_int_equal(read_set("images", "labels", 1, arena, &dataset, NULL), MER_OK);
    assert_int_equal(dataset.channels, 2);
    assert_int_equal(dataset.height, 1);
    assert_int_equal(dataset.width, 3);
    mer_arena_free(arena);
}

enum { CIFAR_100 = 3074 };

static void test_cifar_records_are_labels_and_planes(void **state)
{
    (void)state;
    MerArena      *arena = mer_arena_new();
    MerDatasetPair pair;
    MerError       error = {0};
    unsigned char  bytes[2 * CIFAR_100] = {0};
    bytes[0] = 7;
    bytes[1] = 42;
    bytes[2 + 1024] = 255; /* the first green pixel */
    bytes[CIFAR_100 + 1] = 99;
    mkdir("hundred", 0777);
    write_bytes("hundred/train.bin", bytes, sizeof bytes);
    write_bytes("hundred/test.bin", bytes, CIFAR_100);
    assert_int_equal(mer_dataset_open("hundred", NULL, arena, &pair, NULL), MER_OK);
    assert_int_equal(pair.train.count, 2);
    assert_int_equal(pair.train.labels[0], 42);
    assert_int_equal(pair.train.labels[1], 99);
    assert_int_equal(pair.train.classes, 100);
    assert_float_equal(pair.train.images[1024], 1, 0);
    write_bytes("hundred/test.bin", bytes, CIFAR_100 - 1);
    assert_int_equal(mer_dataset_open("hundred", NULL, arena, &pair, &error), MER_INVALID);
    mer_test_contains(error.message, "test.bin: byte 0: the last record has 3073 bytes");
    bytes[CIFAR_100 + 1] = 100;
    write_bytes("hundred/train.bin", bytes, sizeof bytes);
    assert_int_equal(mer_dataset_open("hundred", NULL, arena, &pair, &error), MER_INVALID);
    mer_test_contains(error.message, "train.bin: byte 3075: label 100, expected 0 to 99");
    mkdir("ten", 0777);
    write_bytes("ten/data_batch_1.bin", bytes, 3073);
    write_bytes("ten/test_batch.bin", bytes, 3073);
    assert_int_equal(mer_dataset_open("ten", NULL, arena, &pair, NULL), MER_OK);
    assert_int_equal(pair.train.labels[0], 7);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_are_scaled_and_labels_counted),
        cmocka_unit_test(test_signed_bytes_are_signed),
        cmocka_unit_test(test_broken_files_are_named),
        cmocka_unit_test(test_labels_must_match_the_images),
        cmocka_unit_test(test_moved_images_have_their_pixel_everywhere),
        cmocka_unit_test(test_an_image_is_moved_alike_in_any_batch),
        cmocka_unit_test(test_noise_is_the_image_s_own),
        cmocka_unit_test(test_rolled_rows_come_back_at_the_other_end),
        cmocka_unit_test(test_the_digits_are_built_in),
        cmocka_unit_test(test_folders_are_read_by_what_is_in_them),
        cmocka_unit_test(test_labels_with_a_gap_are_remarked),
        cmocka_unit_test(test_images_may_have_channels),
        cmocka_unit_test(test_cifar_records_are_labels_and_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
