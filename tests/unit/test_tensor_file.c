/* Saved parameters: what is written comes back, and every kind of damage is named. */
#include "support.h"
#include "tensor/tensor.h"

static MerParameters *make(const char *name, int rows, float start)
{
    MerParameters *parameters = mer_parameters_new();
    MerTensor     *w = mer_parameters_add(parameters, name, 2, (int[]){rows, 3});
    MerTensor     *b = mer_parameters_add_constant(parameters, "mean", 1, (int[]){2});
    for (int i = 0; i < 3 * rows; i++) {
        w->data[i] = start + (float)i / 7;
    }
    b->data[1] = -start;
    return parameters;
}

static MerStatus save(const MerParameters *parameters, const char *path, MerError *error)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    MerStatus status = mer_parameters_save(parameters, file, error);
    fclose(file);
    return status;
}

static MerStatus load(MerParameters *parameters, const char *path, MerError *error)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    MerStatus status = mer_parameters_load(parameters, file, path, error);
    fclose(file);
    return status;
}

static size_t read_file(const char *path, char *data, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(data, 1, capacity, file);
    fclose(file);
    return size;
}

static void assert_refused(MerParameters *into, const char *path, const char *part)
{
    MerError error = {0};
    float    before = mer_parameters_get(into, 0)->data[1];
    assert_int_equal(load(into, path, &error), MER_INVALID);
    mer_test_contains(error.message, part);
    mer_test_contains(error.message, path);
    assert_true(mer_parameters_get(into, 0)->data[1] == before);
}

static void test_saved_parameters_come_back_bit_for_bit(void **state)
{
    (void)state;
    MerParameters *a = make("w", 400, 0.5f), *b = make("w", 400, 9);
    assert_int_equal(save(a, "policy", NULL), MER_OK);
    assert_int_equal(load(b, "policy", NULL), MER_OK);
    for (int i = 0; i < 2; i++) {
        const MerTensor *x = mer_parameters_get(a, i), *y = mer_parameters_get(b, i);
        assert_memory_equal(x->data, y->data, (size_t)x->size * 4);
    }
    char text[64] = "";
    read_file("policy", text, 60);
    mer_test_contains(text, "format: mercator-policy/1\ntensor w 400 3\n");
    mer_parameters_free(a);
    mer_parameters_free(b);
}

static void test_other_names_and_shapes_are_named(void **state)
{
    (void)state;
    MerParameters *a = make("w", 4, 0.5f), *renamed = make("v", 4, 1), *taller = make("w", 5, 1);
    assert_int_equal(save(a, "policy", NULL), MER_OK);
    assert_refused(renamed, "policy", "byte 26: found \"tensor w 4 3\", expected \"tensor v 4 3\"");
    assert_refused(taller, "policy", "found \"tensor w 4 3\", expected \"tensor w 5 3\"");
    mer_parameters_add(a, "more", 1, (int[]){2});
    assert_refused(a, "policy", "expected \"tensor more 2\"");
    mer_parameters_free(a);
    mer_parameters_free(renamed);
    mer_parameters_free(taller);
}

static void test_every_cut_is_refused(void **state)
{
    (void)state;
    MerParameters *a = make("w", 4, 0.5f), *b = make("w", 4, 1);
    char           data[4096];
    assert_int_equal(save(a, "policy", NULL), MER_OK);
    size_t size = read_file("policy", data, sizeof data);
    for (size_t cut = 0; cut < size; cut++) {
        write_bytes("cut", data, cut);
        assert_refused(b, "cut", "the file ends");
    }
    mer_parameters_free(a);
    mer_parameters_free(b);
}

static void test_a_changed_number_is_refused(void **state)
{
    (void)state;
    MerParameters *a = make("w", 4, 0.5f), *b = make("w", 4, 1);
    char           data[4096];
    assert_int_equal(save(a, "policy", NULL), MER_OK);
    size_t size = read_file("policy", data, sizeof data);
    data[50] ^= 1;
    write_bytes("changed", data, size);
    assert_refused(b, "changed", "expected \"end ");
    mer_parameters_free(a);
    mer_parameters_free(b);
}

static void test_another_format_is_named(void **state)
{
    (void)state;
    MerParameters *a = make("w", 4, 0.5f);
    const char    *newer = "format: mercator-policy/2\n";
    write_bytes("newer", newer, strlen(newer));
    assert_refused(a, "newer",
                   "found \"format: mercator-policy/2\", expected \"format: mercator-policy/1\"");
    mer_parameters_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_parameters_come_back_bit_for_bit),
        cmocka_unit_test(test_other_names_and_shapes_are_named),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_a_changed_number_is_refused),
        cmocka_unit_test(test_another_format_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
