/* IDX files, good and broken, and batches with moved images. */
#include "support.h"
#include "tensor/dataset.h"

static const unsigned char two_images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,  0,  0,  2,
                                           0, 0, 0, 2, 0, 1, 2, 3, 10, 20, 30, 255};
static const unsigned char two_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 4, 1};

static void test_images_are_scaled_and_labels_counted(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerDataset dataset;
    write_bytes("images", two_images, sizeof two_images);
    write_bytes("labels", two_labels, sizeof two_labels);
    assert_int_equal(mer_dataset_read("images", "labels", 5, 10, arena, &dataset, NULL), MER_OK);
    assert_int_equal(dataset.count, 2);
    assert_int_equal(dataset.height, 2);
    assert_int_equal(dataset.classes, 5);
    assert_int_equal(dataset.labels[1], 1);
    assert_float_equal(dataset.images[0], -0.5f, 1e-6f);
    assert_float_equal(dataset.images[7], 25, 1e-6f);
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
    assert_int_equal(mer_dataset_read("images", "labels", 0, 1, arena, &dataset, NULL), MER_OK);
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
    assert_refused(data, 10, "expected a header of 16");
    assert_refused(data, sizeof data - 1, "7 numbers, expected 8");
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
    assert_int_equal(mer_dataset_read("images", "labels", 0, 1, arena, &dataset, &error),
                     MER_INVALID);
    mer_test_contains(error.message, "labels: expected one unsigned label for each of 2 images");
    assert_int_equal(mer_dataset_read("labels", "labels", 0, 1, arena, &dataset, &error),
                     MER_INVALID);
    mer_test_contains(error.message, "1 dimensions, expected 3");
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
    MerRng     rng = mer_rng_make(1, 0);
    for (int i = 0; i < 200; i++) {
        mer_dataset_batch(&dataset, 1, &order, 1, 0, &rng, out, &given);
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
    mer_dataset_batch(&dataset, 1, &order, 0, 0, NULL, out, &given);
    assert_memory_equal(out, bright, sizeof out);
    assert_int_equal(given, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_are_scaled_and_labels_counted),
        cmocka_unit_test(test_signed_bytes_are_signed),
        cmocka_unit_test(test_broken_files_are_named),
        cmocka_unit_test(test_labels_must_match_the_images),
        cmocka_unit_test(test_moved_images_have_their_pixel_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
