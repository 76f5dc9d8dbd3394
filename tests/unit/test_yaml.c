/* YAML: the tree, its places, its limits and its messages. */
#include "base/memory.h"
#include "mercator/yaml.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

typedef struct Fixture {
    MerArena *arena;
    MerError  error;
} Fixture;

static int setup(void **state)
{
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = mer_arena_new();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    Fixture *fixture = *state;
    mer_arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static MerYaml *parse(Fixture *fixture, const char *text)
{
    MerYaml *root = NULL;
    fixture->error = (MerError){0};
    if (mer_yaml_parse("f.yaml", text, strlen(text), fixture->arena, &root, &fixture->error) !=
        MER_OK) {
        fail_msg("%s", fixture->error.message);
    }
    return root;
}

static void refuse_bytes(Fixture *fixture, const char *text, size_t size, const char *message)
{
    MerYaml *root = NULL;
    fixture->error = (MerError){0};
    assert_int_equal(mer_yaml_parse("f.yaml", text, size, fixture->arena, &root, &fixture->error),
                     MER_INVALID);
    assert_int_equal(fixture->error.status, MER_INVALID);
    assert_null(root);
    mer_test_contains(fixture->error.message, message);
}

static void refuse(Fixture *fixture, const char *text, const char *message)
{
    refuse_bytes(fixture, text, strlen(text), message);
}

static void tree_has_kinds_texts_paths_and_places(void **state)
{
    MerYaml *root = parse(*state, "name: s256\n"
                                  "units:\n"
                                  "  - {lanes: 4, keep: [W, \"I\"]}\n"
                                  "empty:\n");
    assert_int_equal(root->kind, MER_YAML_MAP);
    assert_int_equal(root->count, 3);
    assert_string_equal(root->path, "");
    MerYaml *unit = mer_yaml_get(root, "units")->items[0];
    assert_string_equal(unit->path, "units[0]");
    assert_int_equal(unit->line, 3);
    assert_int_equal(unit->column, 5);
    MerYaml *keep = mer_yaml_get(unit, "keep");
    assert_int_equal(keep->kind, MER_YAML_LIST);
    assert_int_equal(keep->count, 2);
    assert_string_equal(keep->items[1]->text, "I");
    assert_string_equal(keep->items[1]->path, "units[0].keep[1]");
    assert_false(keep->items[0]->quoted);
    assert_true(keep->items[1]->quoted);
    MerYaml *empty = mer_yaml_get(root, "empty");
    assert_true(mer_yaml_is_null(empty));
    assert_int_equal(empty->line, 4);
    assert_string_equal(root->keys[2], "empty");
    assert_int_equal(root->key_lines[2], 4);
    assert_int_equal(root->key_columns[2], 1);
}

static void json_with_tabs_and_escapes_is_yaml(void **state)
{
    MerYaml *root =
        parse(*state, "{\n\t\"a\": [1, 2.5e3, true, null],\n\t\"b\":\"x\\n\\u00e9\\/\"\n}\n");
    assert_string_equal(mer_yaml_get(root, "b")->text, "x\n\xc3\xa9/");
    double value = 0;
    assert_int_equal(mer_yaml_real(mer_yaml_get(root, "a")->items[1], 0, 1e9, &value, NULL),
                     MER_OK);
    assert_true(value == 2500);
    assert_true(mer_yaml_is_null(mer_yaml_get(root, "a")->items[3]));
}

static void single_quotes_hold_doubled_quotes_and_folded_lines(void **state)
{
    char text[300] = "'it''s': 'a''b\n  c\n\n  d'\nmany: '";
    memset(text + strlen(text), '\'', 201);
    MerYaml *root = parse(*state, text);
    assert_string_equal(root->keys[0], "it's");
    assert_string_equal(root->items[0]->text, "a'b c\nd");
    assert_int_equal(strlen(root->items[1]->text), 100);
    assert_int_equal(strspn(root->items[1]->text, "'"), 100);
}

static void aliases_are_copies_with_their_own_path(void **state)
{
    MerYaml *root = parse(*state, "a: &x {b: [1, 2]}\nc: *x\nd: &s text\ne: *s\n");
    MerYaml *copy = mer_yaml_get(root, "c");
    assert_ptr_not_equal(copy, mer_yaml_get(root, "a"));
    assert_string_equal(mer_yaml_get(copy, "b")->items[1]->path, "c.b[1]");
    assert_string_equal(mer_yaml_get(copy, "b")->items[1]->text, "2");
    assert_string_equal(mer_yaml_get(root, "e")->text, "text");
    assert_int_equal(mer_yaml_get(root, "a")->asked_count, 0);
}

static void merge_keys_give_way_to_own_and_earlier_keys(void **state)
{
    MerYaml *root = parse(*state, "a: &a {x: 1, y: 2}\n"
                                  "b: &b {y: 3, z: 4}\n"
                                  "c: {<<: [*a, *b], x: 9}\n"
                                  "d: {\"<<\": 5}\n");
    MerYaml *merged = mer_yaml_get(root, "c");
    assert_int_equal(merged->count, 3);
    assert_string_equal(mer_yaml_get(merged, "x")->text, "9");
    assert_string_equal(mer_yaml_get(merged, "y")->text, "2");
    assert_string_equal(mer_yaml_get(merged, "z")->text, "4");
    assert_string_equal(mer_yaml_get(merged, "z")->path, "c.z");
    assert_string_equal(mer_yaml_get(mer_yaml_get(root, "d"), "<<")->text, "5");
    refuse(*state, "a: {<<: 7}\n", "f.yaml:1:9: a.<< is 7, expected a map or a list of maps");
}

static void tags_are_kept_and_str_tag_quotes(void **state)
{
    MerYaml *root = parse(*state, "a: !Container {x: 1}\nb: !!str 12\nc: 1\n");
    assert_string_equal(mer_yaml_get(root, "a")->tag, "!Container");
    assert_true(mer_yaml_get(root, "b")->quoted);
    assert_null(mer_yaml_get(root, "c")->tag);
}

static void double_keys_name_both_places(void **state)
{
    refuse(*state, "a: 1\nb: 2\na: 3\n", "f.yaml:3:1: double key \"a\", first at 1:1");
    refuse(*state, "{a: {x: 1, \"x\": 2}}", "f.yaml:1:12: double key \"x\", first at 1:6");
}

static void broken_text_is_one_line_with_a_place(void **state)
{
    Fixture *fixture = *state;
    refuse(fixture, "a: [1, 2\nb: }", "f.yaml:2:4: ");
    refuse(fixture, "a: \"open\n", "f.yaml:");
    refuse(fixture, "a: 1\n  b: 2\n", "f.yaml:1:4: ");
    refuse(fixture, "a: *nobody\n", "f.yaml:1:4: no anchor &nobody");
    refuse(fixture, "a: &a [*a]\n", "f.yaml:1:8: no anchor &a");
    refuse(fixture, "[1, 2]: 3\n", "a key is a list, expected a word");
    refuse(fixture, "a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document starts");
    refuse(fixture, "a: \"x\\0y\"\n", "NUL");
    assert_null(strchr(fixture->error.message, '\n'));
}

static void a_lone_empty_map_or_list_is_read(void **state)
{
    assert_int_equal(parse(*state, "{}")->count, 0);
    assert_int_equal(parse(*state, "[]")->kind, MER_YAML_LIST);
}

static void empty_texts_are_refused(void **state)
{
    refuse(*state, "", "f.yaml is empty");
    refuse(*state, "# words only\n", "f.yaml is empty");
}

static void bytes_that_are_not_utf8_have_a_place(void **state)
{
    refuse_bytes(*state, "a: 1\nb\0: 2", 10,
                 "f.yaml:2:2: found the byte 0x00, expected UTF-8 text");
    refuse(*state, "a: \xc3\xa9\xff", "f.yaml:1:5: found the byte 0xff");
    refuse(*state, "a: \xed\xa0\x80", "f.yaml:1:4: found the byte 0xed");
}

static void nesting_of_ten_thousand_levels_is_refused(void **state)
{
    enum { DEPTH = 10000 };
    char *flow = calloc(DEPTH * 2, 1), *block = calloc(DEPTH * 2 + 1, 1);
    memset(flow, '[', DEPTH);
    for (int i = 0; i < DEPTH; i++) {
        memcpy(block + 2 * i, "- ", 2);
    }
    refuse_bytes(*state, flow, DEPTH, "f.yaml:1:201: nested deeper than 200 levels");
    refuse_bytes(*state, block, 2 * DEPTH, "f.yaml:1:401: nested deeper than 200 levels");
    free(flow);
    free(block);
}

static void tokens_libfyaml_would_pile_up_are_refused_early(void **state)
{
    enum { SIZE = 20 << 20 };
    char *text = malloc(SIZE);
    memset(text, '[', SIZE);
    refuse_bytes(*state, text, SIZE, "f.yaml:1:10001: nested deeper than 200 levels");
    memset(text, ',', SIZE);
    text[0] = '[';
    refuse_bytes(*state, text, SIZE, "f.yaml:1:8000001: more than 8000000 values in one line");
    free(text);
}

static void nesting_of_200_levels_is_read(void **state)
{
    char text[401] = {0};
    memset(text, '[', 200);
    memset(text + 200, ']', 200);
    MerYaml *node = parse(*state, text);
    int      levels = 1;
    for (; node->count > 0; node = node->items[0]) {
        levels++;
    }
    assert_int_equal(levels, 200);
}

static void alias_bombs_meet_the_node_limit(void **state)
{
    char text[2000];
    int  length = sprintf(text, "a0: &a0 [1]\n");
    for (int i = 1; i < 20; i++) {
        length += sprintf(text + length, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                          i - 1, i - 1, i - 1, i - 1);
    }
    refuse(*state, text, "more than 1000000 values by aliases");
}

/* As a script writes a graph of 80,000 operators: everything in one line. */
static void a_line_may_hold_a_graph_of_many_values(void **state)
{
    enum { COUNT = 1200000 };
    MerArena *arena = mer_arena_new();
    MerYaml  *root;
    char     *text = mer_heap_zeroed(2 * COUNT + 2, 1);
    (void)state;
    text[0] = '[';
    for (int i = 0; i < COUNT; i++) {
        text[2 * i + 1] = '1';
        text[2 * i + 2] = ',';
    }
    text[2 * COUNT] = ']';
    assert_int_equal(mer_yaml_parse("long", text, 2 * COUNT + 1, arena, &root, NULL), MER_OK);
    assert_int_equal(root->count, COUNT);
    free(text);
    mer_arena_free(arena);
}

static void aliases_count_their_levels(void **state)
{
    char text[600] = "a: &a ";
    memset(text + 6, '[', 150);
    memset(text + 156, ']', 150);
    strcat(text, "\nb: ");
    size_t length = strlen(text);
    memset(text + length, '[', 60);
    strcat(text, "*a");
    length = strlen(text);
    memset(text + length, ']', 60);
    refuse(*state, text, "nested deeper than 200 levels");
}

static void paths_of_long_keys_stay_short(void **state)
{
    char text[5000] = "{";
    for (int i = 0; i < 20; i++) {
        char key[128];
        memset(key, 'a' + i, 100);
        strcpy(key + 100, ": {");
        strcat(text, key);
    }
    strcat(text, "x: 1");
    memset(text + strlen(text), '}', 21);
    MerYaml *node = parse(*state, text);
    while (node->kind == MER_YAML_MAP) {
        node = node->items[0];
    }
    assert_in_range(strlen(node->path), 50, 200);
    assert_string_equal(node->path + strlen(node->path) - 3, "t.x");
}

static void numbers_take_suffixes_and_refuse_the_rest(void **state)
{
    Fixture *fixture = *state;
    MerYaml *root = parse(fixture, "[16Gi, 100M, 1.5k, 1e9, -4, nan, .inf, \"5\", 0x10, 2.5, abc]");
    int64_t  value = 0;
    double   real = 0;
    assert_int_equal(mer_yaml_int(root->items[0], 0, INT64_MAX, &value, NULL), MER_OK);
    assert_true(value == INT64_C(17179869184));
    assert_int_equal(mer_yaml_int(root->items[1], 0, INT64_MAX, &value, NULL), MER_OK);
    assert_true(value == 100000000);
    assert_int_equal(mer_yaml_int(root->items[2], 0, INT64_MAX, &value, NULL), MER_OK);
    assert_true(value == 1500);
    assert_int_equal(mer_yaml_int(root->items[3], 0, INT64_MAX, &value, NULL), MER_OK);
    assert_true(value == 1000000000);
    assert_int_equal(mer_yaml_int(root->items[4], 1, INT64_MAX, &value, &fixture->error),
                     MER_INVALID);
    assert_string_equal(fixture->error.message, "f.yaml:1:25: [4] is -4, expected an integer >= 1");
    for (int i = 5; i <= 8; i++) {
        assert_int_equal(mer_yaml_real(root->items[i], -DBL_MAX, DBL_MAX, &real, &fixture->error),
                         MER_INVALID);
    }
    assert_int_equal(mer_yaml_int(root->items[9], 0, 8, &value, &fixture->error), MER_INVALID);
    mer_test_contains(fixture->error.message, "[9] is 2.5, expected an integer in 0 .. 8");
    assert_int_equal(mer_yaml_real(root->items[10], DBL_MIN, INFINITY, &real, &fixture->error),
                     MER_INVALID);
    mer_test_contains(fixture->error.message, "[10] is \"abc\", expected a number > 0");
    assert_true(value == 1000000000);
}

static void found_names_kinds_and_shortens(void **state)
{
    Fixture *fixture = *state;
    char     text[200] = "a: []\nb: {}\nc:\nd: ";
    memset(text + strlen(text), 'x', 100);
    MerYaml    *root = parse(fixture, text);
    const char *expected[] = {"a is a list, expected x1", "b is a map, expected x1",
                              "c is nothing, expected x1", "xxx...\", expected x1"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mer_yaml_expected(root->items[i], &fixture->error, "x%d", 1), MER_INVALID);
        mer_test_contains(fixture->error.message, expected[i]);
    }
    assert_in_range(strlen(fixture->error.message), 20, 110);
}

static void unknown_keys_are_named_with_the_nearest(void **state)
{
    Fixture *fixture = *state;
    MerYaml *root = parse(fixture, "memories:\n  - {name: A}\n  - {name: B, wrods: 7}\nzzz: 1\n");
    MerYaml *memory = mer_yaml_get(root, "memories")->items[1];
    double   words = 3;
    mer_yaml_get(memory, "name");
    assert_int_equal(mer_yaml_get_real(memory, "words", 0, 1e9, &words, NULL), MER_OK);
    assert_true(words == 3);
    assert_int_equal(mer_yaml_finish(memory, &fixture->error), MER_INVALID);
    assert_string_equal(
        fixture->error.message,
        "f.yaml:3:15: unknown key \"wrods\" in memories[1], did you mean \"words\"");
    mer_yaml_get(root, "kind");
    assert_int_equal(mer_yaml_finish(root, &fixture->error), MER_INVALID);
    assert_string_equal(fixture->error.message,
                        "f.yaml:4:1: unknown key \"zzz\", expected memories or kind");
    mer_yaml_get(root, "zzz");
    assert_int_equal(mer_yaml_finish(root, &fixture->error), MER_OK);
}

static void hyphen_and_underscore_are_one_key(void **state)
{
    Fixture *fixture = *state;
    MerYaml *root = parse(fixture, "access-pj: 1\nword_bits: 2\n");
    assert_non_null(mer_yaml_get(root, "access_pj"));
    assert_non_null(mer_yaml_get(root, "word-bits"));
    assert_int_equal(mer_yaml_finish(root, NULL), MER_OK);
    root = parse(fixture, "a_b: 1\na-b: 2\n");
    mer_yaml_get(root, "a_b");
    assert_int_equal(mer_yaml_finish(root, &fixture->error), MER_INVALID);
    mer_test_contains(fixture->error.message, "f.yaml:2:1: double key \"a-b\", first at 1:1");
}

static void missing_keys_and_wrong_kinds_are_errors(void **state)
{
    Fixture *fixture = *state;
    MerYaml *root = parse(fixture, "units: [{nam: A}]\n"), *value;
    MerYaml *unit = mer_yaml_get(root, "units")->items[0];
    assert_int_equal(mer_yaml_need(unit, "name", &value, &fixture->error), MER_INVALID);
    assert_string_equal(fixture->error.message,
                        "f.yaml:1:9: units[0] has no key \"name\", only \"nam\" at 1:10");
    assert_int_equal(mer_yaml_check_kind(root, MER_YAML_LIST, &fixture->error), MER_INVALID);
    assert_string_equal(fixture->error.message,
                        "f.yaml:1:1: the document is a map, expected a list");
    assert_null(mer_yaml_get(mer_yaml_get(root, "units"), "name"));
    assert_int_equal(mer_yaml_finish(mer_yaml_get(root, "units"), NULL), MER_INVALID);
}

static void booleans_texts_and_words_are_read(void **state)
{
    Fixture *fixture = *state;
    MerYaml *root = parse(fixture, "{a: true, b: off, c: \"true\", d: pe_array, e: corse, f: ~}");
    const char *const words[] = {"pe-array", "cores", "vta"};
    bool              flag = false;
    int               word = -1;
    const char       *text = NULL;
    assert_int_equal(mer_yaml_get_bool(root, "a", &flag, NULL), MER_OK);
    assert_true(flag);
    assert_int_equal(mer_yaml_get_bool(root, "b", &flag, NULL), MER_OK);
    assert_false(flag);
    assert_int_equal(mer_yaml_get_bool(root, "c", &flag, &fixture->error), MER_INVALID);
    mer_test_contains(fixture->error.message, "c is \"true\", expected true or false");
    assert_int_equal(mer_yaml_word(mer_yaml_get(root, "d"), words, 3, &word, NULL), MER_OK);
    assert_int_equal(word, 0);
    assert_int_equal(mer_yaml_word(mer_yaml_get(root, "e"), words, 3, &word, &fixture->error),
                     MER_INVALID);
    mer_test_contains(fixture->error.message,
                      "e is \"corse\", expected pe-array, cores or vta, did you mean \"cores\"");
    assert_int_equal(mer_yaml_get_text(root, "f", &text, &fixture->error), MER_INVALID);
    mer_test_contains(fixture->error.message, "f is nothing, expected a text");
    assert_int_equal(mer_yaml_get_text(root, "absent", &text, NULL), MER_OK);
    assert_null(text);
}

static void format_line_is_checked(void **state)
{
    Fixture *fixture = *state;
    assert_int_equal(mer_yaml_format(parse(fixture, "format: mercator-plan/1"), "plan", 1, NULL),
                     MER_OK);
    assert_int_equal(
        mer_yaml_format(parse(fixture, "format: mercator-plan/3"), "plan", 2, &fixture->error),
        MER_INVALID);
    mer_test_contains(fixture->error.message, "version 3 is newer than version 2");
    const char *wrong[] = {"format: mercator-run/1",
                           "format: mercator-plan/0",
                           "format: mercator-plan/",
                           "format: mercator-plan/-1",
                           "format: mercator-plan/x",
                           "format: [1]",
                           "a: 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(mer_yaml_format(parse(fixture, wrong[i]), "plan", 2, &fixture->error),
                         MER_INVALID);
        mer_test_contains(fixture->error.message, "f.yaml:1:");
    }
}

static void files_are_read_and_missing_ones_named(void **state)
{
    Fixture *fixture = *state;
    char     path[] = "test_yaml_XXXXXX";
    int      descriptor = mkstemp(path);
    MerYaml *root = NULL;
    assert_true(descriptor >= 0 && write(descriptor, "a: 1\n", 5) == 5);
    close(descriptor);
    assert_int_equal(mer_yaml_read(path, fixture->arena, &root, NULL), MER_OK);
    assert_string_equal(root->file, path);
    unlink(path);
    assert_int_equal(mer_yaml_read(path, fixture->arena, &root, &fixture->error), MER_NOT_FOUND);
    mer_test_contains(fixture->error.message, path);
    assert_int_equal(mer_yaml_read(".", fixture->arena, &root, &fixture->error), MER_INVALID);
    assert_string_equal(fixture->error.message, ". is a directory, expected a file");
}

static void a_large_map_is_read_fast(void **state)
{
    enum { COUNT = 200000 };
    char *text = malloc(COUNT * 20);
    int   length = 0;
    for (int i = 0; i < COUNT; i++) {
        length += sprintf(text + length, "key%d: %d\n", i, i);
    }
    MerYaml *root = parse(*state, text);
    assert_int_equal(root->count, COUNT);
    assert_string_equal(root->items[COUNT - 1]->text, "199999");
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tree_has_kinds_texts_paths_and_places),
        TEST(json_with_tabs_and_escapes_is_yaml),
        TEST(single_quotes_hold_doubled_quotes_and_folded_lines),
        TEST(aliases_are_copies_with_their_own_path),
        TEST(merge_keys_give_way_to_own_and_earlier_keys),
        TEST(tags_are_kept_and_str_tag_quotes),
        TEST(double_keys_name_both_places),
        TEST(broken_text_is_one_line_with_a_place),
        TEST(a_lone_empty_map_or_list_is_read),
        TEST(empty_texts_are_refused),
        TEST(bytes_that_are_not_utf8_have_a_place),
        TEST(nesting_of_ten_thousand_levels_is_refused),
        TEST(tokens_libfyaml_would_pile_up_are_refused_early),
        TEST(nesting_of_200_levels_is_read),
        TEST(alias_bombs_meet_the_node_limit),
        TEST(a_line_may_hold_a_graph_of_many_values),
        TEST(aliases_count_their_levels),
        TEST(paths_of_long_keys_stay_short),
        TEST(numbers_take_suffixes_and_refuse_the_rest),
        TEST(found_names_kinds_and_shortens),
        TEST(unknown_keys_are_named_with_the_nearest),
        TEST(hyphen_and_underscore_are_one_key),
        TEST(missing_keys_and_wrong_kinds_are_errors),
        TEST(booleans_texts_and_words_are_read),
        TEST(format_line_is_checked),
        TEST(files_are_read_and_missing_ones_named),
        TEST(a_large_map_is_read_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
