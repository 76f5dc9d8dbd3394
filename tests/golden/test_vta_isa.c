/* Encodings of VTA instructions and micro-ops against recorded words (tests/data/README.md). */
#include "base/json_read.h"
#include "codesign/stream/isa.h"
#include "one_arena.h"

#include <string.h>

static MerVtaCore usual_core(void)
{
    MerVtaCore core;
    mer_vta_core_make(&core, 1, 16, 16, 32768, 32768, 262144, 131072);
    return core;
}

static cJSON *vectors(void)
{
    size_t size;
    char  *text =
        file_bytes(MERCATOR_SOURCE_DIR "/tests/data", "vta-isa-vectors.json", &size, arena);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    return root;
}

static MerVtaWord word_of(const cJSON *entry)
{
    return (MerVtaWord){strtoull(mer_json_get_text(entry, "word0", ""), NULL, 16),
                        strtoull(mer_json_get_text(entry, "word1", ""), NULL, 16)};
}

static void test_instructions_both_ways(void **state)
{
    MerVtaCore   core = usual_core();
    cJSON       *root = vectors();
    const cJSON *entry, *field;
    int          count = 0;
    (void)state;
    cJSON_ArrayForEach(entry, mer_json_get(root, "instructions"))
    {
        MerVtaInstruction instruction;
        MerVtaWord        word = word_of(entry), again;
        const char       *name = mer_json_get_text(entry, "name", "");
        assert_null(mer_vta_decode(&core, word, &instruction));
        MerJson json = {0};
        mer_json_object(&json, NULL);
        mer_vta_write_json(&instruction, &json);
        mer_json_end_object(&json);
        cJSON *written = cJSON_ParseWithLength(json.text, json.size);
        cJSON_ArrayForEach(field, mer_json_get(entry, "fields"))
        {
            if (mer_json_get_real(written, field->string, -1e9) != field->valuedouble) {
                fail_msg("%s: %s", name, field->string);
            }
        }
        assert_null(mer_vta_encode(&core, &instruction, &again));
        if (again.low != word.low || again.high != word.high) {
            fail_msg("%s: encodes to %016llx %016llx", name, (unsigned long long)again.low,
                     (unsigned long long)again.high);
        }
        cJSON_Delete(written);
        mer_json_free(&json);
        count++;
    }
    assert_int_equal(count, 17);
    cJSON_Delete(root);
}

static void test_micro_ops_both_ways(void **state)
{
    MerVtaCore   core = usual_core();
    cJSON       *root = vectors();
    const cJSON *entry;
    int          count = 0;
    (void)state;
    cJSON_ArrayForEach(entry, mer_json_get(root, "uops"))
    {
        uint32_t  word = (uint32_t)strtoul(mer_json_get_text(entry, "word", ""), NULL, 16), again;
        MerVtaUop uop = mer_vta_uop_decode(&core, word);
        assert_int_equal(uop.dst, (uint32_t)mer_json_get_real(entry, "dst", -1));
        assert_int_equal(uop.src, (uint32_t)mer_json_get_real(entry, "src", -1));
        assert_int_equal(uop.wgt, (uint32_t)mer_json_get_real(entry, "wgt", -1));
        assert_true(mer_vta_uop_encode(&core, &uop, &again));
        assert_int_equal(again, word);
        count++;
    }
    assert_int_equal(count, 5);
    cJSON_Delete(root);
}

static void test_fields_that_do_not_fit_are_named(void **state)
{
    MerVtaCore        core = usual_core();
    MerVtaWord        word;
    MerVtaInstruction load = {.opcode = MER_VTA_LOAD, .x_size = 65536};
    MerVtaInstruction gemm = {.opcode = MER_VTA_GEMM, .wgt_in = 1024};
    uint32_t          uop;
    (void)state;
    assert_string_equal(mer_vta_encode(&core, &load, &word), "x_size");
    assert_string_equal(mer_vta_encode(&core, &gemm, &word), "wgt_factor_in");
    assert_string_equal(mer_vta_encode(&core, &(MerVtaInstruction){.opcode = 6}, &word), "opcode");
    assert_false(mer_vta_uop_encode(&core, &(MerVtaUop){2048, 0, 0}, &uop));
    assert_string_equal(mer_vta_decode(&core, (MerVtaWord){7, 0}, &load), "unknown opcode");
    assert_non_null(mer_vta_decode(&core, (MerVtaWord){3, 1}, &load));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions_both_ways),
                                       cmocka_unit_test(test_micro_ops_both_ways),
                                       cmocka_unit_test(test_fields_that_do_not_fit_are_named)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
