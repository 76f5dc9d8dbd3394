/* Numbers, hashes, files and the shipped data. */
#include "base/file.h"
#include "mercator/rng.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <sys/stat.h>

static void printed(double value, const char *expected)
{
    char buffer[32];
    int  length = mer_print_real(buffer, value);
    assert_string_equal(buffer, expected);
    assert_int_equal(length, strlen(expected));
}

static void numbers_print_with_the_fewest_digits(void **state)
{
    (void)state;
    printed(0, "0");
    printed(-0.0, "-0");
    printed(1, "1");
    printed(-42, "-42");
    printed(9007199254740991.0, "9007199254740991");
    printed(9007199254740992.0, "9007199254740992");
    printed(0.1, "0.1");
    printed(0.5, "0.5");
    printed(-2.75, "-2.75");
    printed(1.0 / 3, "0.3333333333333333");
    printed(0.1 + 0.2, "0.30000000000000004");
    printed(1e15 + 0.125, "1000000000000000.1");
    printed(0.00001, "0.00001");
    printed(0.000001, "1e-6");
    printed(1.5e-7, "1.5e-7");
    printed(1e20, "1e20");
    printed(1e300, "1e300");
    printed(-1.25e-300, "-1.25e-300");
    printed(4.94065645841246544e-324, "5e-324");
    printed(DBL_MAX, "1.7976931348623157e308");
    printed(DBL_MIN, "2.2250738585072014e-308");
    printed(123456.789, "123456.789");
    printed(NAN, "null");
    printed(-INFINITY, "null");
}

/* The plain way: more digits until printf's text reads back, and no exponent from 1e-5 on where 15 digits do. */
static void print_plainly(char *buffer, double value)
{
    int precision = fabs(value) < 1e-300 ? 1 : 15;
    do {
        snprintf(buffer, 32, "%.*g", precision, value);
    } while (precision++ < 17 && strtod(buffer, NULL) != value);
    char *exponent = strchr(buffer, 'e');
    if (precision == 16 && exponent && atoi(exponent + 1) == -5) {
        snprintf(buffer, 32, "%.19f", value);
        for (char *end = buffer + strlen(buffer); end[-1] == '0'; end--) {
            end[-1] = '\0';
        }
    } else if (exponent) {
        snprintf(exponent + 1, 5, "%d", atoi(exponent + 1));
    }
}

static void numbers_print_as_printf_would(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(2, 0);
    for (int i = 0; i < 400000; i++) {
        uint64_t bits = mer_rng_next(&rng);
        double   value = mer_rng_unit(&rng) * pow(10, mer_rng_below(&rng, 40) - 8);
        char     buffer[32], plain[32];
        if (i % 8 == 1) {
            memcpy(&value, &bits, sizeof value);
        } else if (i % 8 == 2) { /* few digits, and half way between doubles of 17 */
            value = mer_rng_below(&rng, 1000000) / pow(10, mer_rng_below(&rng, 12));
        } else if (i % 8 == 3) {
            value = nextafter(pow(10, mer_rng_below(&rng, 40) - 8), mer_rng_below(&rng, 3) - 1);
        } else if (i % 8 == 4) { /* the doubles below these are nearer than those above */
            value = ldexp(1, mer_rng_below(&rng, 200) - 100);
        } else if (i % 8 == 5) {
            value = (double)(bits >> mer_rng_below(&rng, 12)) * 0.5;
        } else if (i % 8 == 6) {
            value = (double)mer_rng_below(&rng, 1 << 30) * (double)(bits >> 30);
        }
        bool is_whole = fabs(value) < 0x1p53 && value == floor(value); /* all digits, always */
        if (!isfinite(value) || is_whole) {
            continue;
        }
        mer_print_real(buffer, value);
        print_plainly(plain, value);
        if (strcmp(buffer, plain) != 0) {
            fail_msg("%.17g printed as %s, plainly %s", value, buffer, plain);
        }
    }
}

static void printed_numbers_read_back_to_the_same_bits(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(1, 0);
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = mer_rng_next(&rng);
        double   value, again;
        char     buffer[32];
        memcpy(&value, &bits, sizeof value);
        if (i % 3 == 1) {
            value = mer_rng_unit(&rng) * pow(10, mer_rng_below(&rng, 22) - 6);
        } else if (i % 3 == 2) {
            value = mer_rng_below(&rng, 1000000) / pow(10, mer_rng_below(&rng, 9));
        }
        if (!isfinite(value)) {
            continue;
        }
        assert_true(mer_print_real(buffer, value) < 26);
        again = strtod(buffer, NULL);
        if (memcmp(&again, &value, sizeof value) != 0) {
            fail_msg("%.17g printed as %s", value, buffer);
        }
        char shorter[32];
        snprintf(shorter, sizeof shorter, "%.15g", value);
        if (strtod(shorter, NULL) == value) {
            size_t digits = 0;
            for (const char *c = buffer + strspn(buffer, "-0."); *c != '\0' && *c != 'e'; c++) {
                digits += *c != '.';
            }
            assert_in_range(digits, 0, 16);
        }
    }
}

static void reals_are_read_with_suffixes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double      value;
    } cases[] = {{"1", 1},
                 {"-2.5", -2.5},
                 {"+3", 3},
                 {".5", 0.5},
                 {"5.", 5},
                 {"1e9", 1e9},
                 {"1E-3", 1e-3},
                 {"16Gi", 17179869184.0},
                 {"100M", 1e8},
                 {"0.5k", 500},
                 {"1.001k", 1001},
                 {"2T", 2e12},
                 {"1Ki", 1024},
                 {"1.5Mi", 1572864},
                 {"3Ti", 3298534883328.0},
                 {"1e-400", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = NAN;
        assert_true(mer_parse_real(cases[i].text, &value));
        assert_true(value == cases[i].value);
    }
    const char *wrong[] = {"",     "-",  ".",   "e5",    "1e",  "1e+", "nan",  "inf",
                           "0x10", "1 ", " 1",  "1_0",   "1kk", "1K",  "1ki",  "1g",
                           "1Gib", "1i", "--1", "1e999", "1,5", "k",   "1.2.3"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double value = 7;
        if (mer_parse_real(wrong[i], &value)) {
            fail_msg("\"%s\" was read as %g", wrong[i], value);
        }
        assert_true(value == 7);
    }
}

static void integers_are_exact_to_their_ends(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_true(mer_parse_int("9223372036854775807", &value) && value == INT64_MAX);
    assert_true(mer_parse_int("-9223372036854775808", &value) && value == INT64_MIN);
    assert_true(mer_parse_int("9007199254740993", &value) && value == INT64_C(9007199254740993));
    assert_true(mer_parse_int("10k", &value) && value == 10000);
    assert_true(mer_parse_int("0.5Ki", &value) && value == 512);
    assert_true(mer_parse_int("1e18", &value) && value == INT64_C(1000000000000000000));
    assert_false(mer_parse_int("9223372036854775808", &value));
    assert_false(mer_parse_int("9223372036854775807k", &value));
    assert_false(mer_parse_int("1e19", &value));
    assert_false(mer_parse_int("0.5", &value));
    assert_false(mer_parse_int("abc", &value));
}

static void hashes_are_fnv_1a(void **state)
{
    (void)state;
    assert_true(mer_hash_bytes(MER_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(mer_hash_text(MER_HASH_START, "a") == UINT64_C(0x89be207b544f1e4));
    assert_true(mer_hash_int(MER_HASH_START, -2) == UINT64_C(0xfc1a35225397861c));
    assert_true(mer_hash_real(MER_HASH_START, 0.1) == UINT64_C(0x4fa09cc0eec310c4));
    assert_true(mer_hash_real(MER_HASH_START, -0.0) == mer_hash_real(MER_HASH_START, 0.0));
    assert_true(mer_hash_text(MER_HASH_START, NULL) == mer_hash_text(MER_HASH_START, ""));
    assert_true(mer_hash_text(MER_HASH_START, "") != MER_HASH_START);
}

static void files_are_read_whole_or_refused(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerError  error = {0};
    char      folder[] = "test_text_XXXXXX", path[64];
    char     *data = NULL;
    size_t    size = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    write_text(path, "hello");
    assert_int_equal(mer_file_read(path, 5, arena, &data, &size, NULL), MER_OK);
    assert_int_equal(size, 5);
    assert_string_equal(data, "hello");
    assert_int_equal(mer_file_read(path, 4, arena, &data, &size, &error), MER_INVALID);
    mer_test_contains(error.message, "file is larger than 4 bytes");
    write_text(path, "");
    assert_int_equal(mer_file_read(path, 5, arena, &data, &size, &error), MER_INVALID);
    mer_test_contains(error.message, "file is empty");
    unlink(path);
    assert_int_equal(mer_file_read(path, 5, arena, &data, &size, &error), MER_NOT_FOUND);
    mer_test_contains(error.message, "file: no such file");
    assert_int_equal(mer_file_read(folder, 5, arena, &data, &size, &error), MER_INVALID);
    mer_test_contains(error.message, "is a directory, expected a file");
    assert_int_equal(mer_file_read("/dev/zero", 100000, arena, &data, &size, &error), MER_INVALID);
    mer_test_contains(error.message, "is larger than 100000 bytes");
    rmdir(folder);
    mer_arena_free(arena);
}

static void shipped_data_is_found_by_name(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    char         folder[] = "test_data_XXXXXX", path[100];
    const char  *files[] = {"zz_mobile_v2.onnx",
                            "zz-same-name.onnx",
                            "zz_same_name.onnx",
                            "zz_plan.yaml",
                            ".onnx",
                            "zz_onnx"};
    const char **names;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/models", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/models/%s", folder, files[i]);
        write_text(path, "x");
    }
    assert_int_equal(setenv("MERCATOR_DATA", folder, 1), 0);
    snprintf(path, sizeof path, "%s/models/zz_mobile_v2.onnx", folder);
    assert_string_equal(mer_data_path("models", "zz-mobile-v2", ".onnx", arena), path);
    assert_string_equal(mer_data_path("models", "zz_mobile_v2", "onnx", arena), path);
    mer_test_contains(mer_data_path("models", "zz-same-name", ".onnx", arena), "zz-same-name");
    mer_test_contains(mer_data_path("models", "zz_same_name", ".onnx", arena), "zz_same_name");
    assert_null(mer_data_path("models", "zz_plan", ".onnx", arena));
    assert_null(mer_data_path("models", "../models/zz_mobile_v2", ".onnx", arena));
    assert_null(mer_data_path("models", "", ".onnx", arena));
    assert_null(mer_data_path("zz_nothing", "zz_plan", ".onnx", arena));
    int count = mer_data_list("models", ".onnx", arena, &names, NULL);
    assert_true(count >= 2);
    assert_string_equal(names[count - 2], "zz_mobile_v2");
    mer_test_contains(names[count - 1], "same"); /* two spellings of one name are one */
    for (size_t i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/models/%s", folder, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/models", folder);
    rmdir(path);
    rmdir(folder);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_print_with_the_fewest_digits),
        cmocka_unit_test(printed_numbers_read_back_to_the_same_bits),
        cmocka_unit_test(numbers_print_as_printf_would),
        cmocka_unit_test(reals_are_read_with_suffixes),
        cmocka_unit_test(integers_are_exact_to_their_ends),
        cmocka_unit_test(hashes_are_fnv_1a),
        cmocka_unit_test(files_are_read_whole_or_refused),
        cmocka_unit_test(shipped_data_is_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
