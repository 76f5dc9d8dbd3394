/* The JSON writer, read back by cJSON. */
#include "mercator/json.h"
#include "support.h"

#include <cjson/cJSON.h>
#include <math.h>

static void nested_values_have_commas_where_they_belong(void **state)
{
    (void)state;
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "name", "s256");
    mer_json_array(&json, "list");
    mer_json_int(&json, NULL, INT64_MIN);
    mer_json_real(&json, NULL, 0.1);
    mer_json_array(&json, NULL);
    mer_json_end_array(&json);
    mer_json_object(&json, NULL);
    mer_json_end_object(&json);
    mer_json_end_array(&json);
    mer_json_bool(&json, "yes", true);
    mer_json_null(&json, "none");
    mer_json_text(&json, "absent", NULL);
    mer_json_real(&json, "nan", NAN);
    mer_json_real(&json, "infinite", INFINITY);
    mer_json_raw(&json, "raw", "[1,2]");
    mer_json_hash(&json, "hash", UINT64_C(0xabc));
    mer_json_end_object(&json);
    assert_string_equal(json.text,
                        "{\"name\":\"s256\",\"list\":[-9223372036854775808,0.1,[],{}],\"yes\":true,"
                        "\"none\":null,\"absent\":null,\"nan\":null,\"infinite\":null,"
                        "\"raw\":[1,2],\"hash\":\"0000000000000abc\"}");
    assert_int_equal(json.size, strlen(json.text));
    mer_json_free(&json);
    assert_null(json.text);
}

static void reset_empties_and_keeps_the_memory(void **state)
{
    (void)state;
    MerJson json = {0};
    mer_json_reset(&json);
    mer_json_int(&json, NULL, 1);
    char *memory = json.text;
    mer_json_reset(&json);
    assert_string_equal(json.text, "");
    mer_json_int(&json, NULL, 2);
    assert_string_equal(json.text, "2");
    assert_ptr_equal(json.text, memory);
    mer_json_free(&json);
}

static void special_characters_are_escaped(void **state)
{
    (void)state;
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "a\"b", "\\ \n\t\r\b\f \x01\x1f \xc3\xa9 \xf0\x9f\x98\x80 </x>");
    mer_json_end_object(&json);
    assert_string_equal(json.text, "{\"a\\\"b\":\"\\\\ \\n\\t\\r\\b\\f \\u0001\\u001f \xc3\xa9 "
                                   "\xf0\x9f\x98\x80 </x>\"}");
    mer_json_free(&json);
}

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
    (void)state;
#define R "\xef\xbf\xbd"
    static const char *const cases[][2] = {
        {"a\xff"
         "b",
         "\"a" R "b\""},
        {"\xc3", "\"" R "\""},
        {"\xc0\xaf", "\"" R R "\""},       /* overlong */
        {"\xed\xa0\x80", "\"" R R R "\""}, /* surrogate */
        {"\xf4\x90\x80\x80", "\"" R R R R "\""},
        {"\xe2\x82", "\"" R R "\""},
        {"\xe2\x82\xac", "\"\xe2\x82\xac\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        MerJson json = {0};
        mer_json_text(&json, NULL, cases[i][0]);
        assert_string_equal(json.text, cases[i][1]);
        mer_json_free(&json);
    }
}

static void any_bytes_come_back_through_a_reader(void **state)
{
    (void)state;
    char text[256];
    for (int i = 0; i < 255; i++) {
        text[i] = (char)(i + 1);
    }
    text[255] = '\0';
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, text, text);
    mer_json_end_object(&json);
    cJSON *root = cJSON_Parse(json.text);
    assert_non_null(root);
    assert_memory_equal(root->child->valuestring, text, 127);
    cJSON_Delete(root);
    mer_json_free(&json);
}

static void a_million_numbers_grow_the_text(void **state)
{
    (void)state;
    MerJson json = {0};
    mer_json_array(&json, NULL);
    for (int i = 0; i < 1000000; i++) {
        mer_json_int(&json, NULL, 7);
    }
    mer_json_end_array(&json);
    assert_int_equal(json.size, 2000001);
    assert_int_equal(json.text[json.size], '\0');
    mer_json_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_values_have_commas_where_they_belong),
        cmocka_unit_test(reset_empties_and_keeps_the_memory),
        cmocka_unit_test(special_characters_are_escaped),
        cmocka_unit_test(invalid_utf8_becomes_the_replacement_character),
        cmocka_unit_test(any_bytes_come_back_through_a_reader),
        cmocka_unit_test(a_million_numbers_grow_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
