/* Platform files: what is read, what extends and changes do, and that the resolved form reads
 * back. */
#include "base/file.h"
#include "mercator/platform.h"
#include "support.h"

#include <math.h>
#include <sys/stat.h>

static const MerPlatform *parse(const char *text, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_parse("test.yaml", text, strlen(text), arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static const MerPlatform *read_named(const char *name, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_read(name, arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The platform read back from its resolved form. */
static const MerPlatform *again(const MerPlatform *platform, MerArena *arena)
{
    char              *text = NULL;
    size_t             size = 0;
    FILE              *file = open_memstream(&text, &size);
    const MerPlatform *result = NULL;
    MerError           error = {0};
    mer_platform_write(platform, file);
    fclose(file);
    if (mer_platform_parse("again.yaml", text, size, arena, &result, &error) != MER_OK) {
        fail_msg("%s in\n%s", error.message, text);
    }
    free(text);
    return result;
}

static void test_s256_has_the_numbers_of_its_file(void **state)
{
    const MerPlatform *platform = read_named("s256", *state);
    assert_int_equal(platform->kind, MER_PLATFORM_PE_ARRAY);
    assert_string_equal(platform->name, "s256");
    assert_true(isnan(platform->clock_hz));
    assert_int_equal(platform->memory_count, 3);
    const MerMemory *dram = &platform->memories[0], *glb = &platform->memories[1];
    assert_true(isinf(dram->words));
    assert_true(dram->read_pj == 200 && dram->write_pj == 200 && dram->update_pj == 200);
    assert_true(dram->read_words_per_cycle == 16 && dram->write_words_per_cycle == 16);
    assert_true(isnan(dram->bytes_per_s));
    assert_true(glb->words == 65536 && glb->bytes == 131072);
    assert_true(glb->fanout.x == 16 && glb->fanout.y == 16 && glb->fanout.words_per_cycle == 32);
    assert_int_equal(glb->keep, 7);
    assert_int_equal(mer_platform_instances(platform, 1), 1);
    assert_int_equal(mer_platform_instances(platform, 2), 256);
    assert_int_equal(mer_platform_instances(platform, 3), 256);
    assert_true(platform->units[0].mac_pj == 1 && platform->units[0].lanes == 1);
}

/* Else loopnest calls their accesses free. */
static void test_every_memory_of_a_shipped_array_has_an_energy(void **state)
{
    const char **names;
    int          count = mer_data_list("platforms", "yaml", *state, &names, NULL);
    for (int i = 0; i < count; i++) {
        const MerPlatform *platform;
        assert_int_equal(mer_platform_read(names[i], *state, &platform, NULL), MER_OK);
        for (int m = 0; platform->kind == MER_PLATFORM_PE_ARRAY && m < platform->memory_count;
             m++) {
            assert_true(platform->memories[m].read_pj > 0);
            assert_true(platform->memories[m].write_pj > 0);
            assert_true(platform->memories[m].update_pj > 0);
        }
    }
}

static void test_every_shipped_platform_reads_back_to_its_hash(void **state)
{
    const char **names;
    int          count = mer_data_list("platforms", "yaml", *state, &names, NULL);
    int          kinds[MER_PLATFORM_KIND_COUNT] = {0};
    assert_true(count >= 27);
    for (int i = 0; i < count; i++) {
        const MerPlatform *platform = read_named(names[i], *state);
        assert_string_equal(platform->name, names[i]);
        assert_non_null(platform->summary);
        assert_non_null(platform->source);
        assert_int_equal(again(platform, *state)->hash, platform->hash);
        kinds[platform->kind]++;
    }
    for (int kind = 0; kind < MER_PLATFORM_KIND_COUNT; kind++) {
        assert_true(kinds[kind] > 0);
    }
}

static void test_underscore_finds_a_hyphenated_platform(void **state)
{
    assert_string_equal(read_named("vta_pynq_b", *state)->name, "vta-pynq-b");
}

static void test_unknown_platform_suggests_the_nearest(void **state)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    assert_int_equal(mer_platform_read("s257", *state, &platform, &error), MER_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean \"s256\""));
    assert_int_equal(mer_platform_read("no/such/file.yaml", *state, &platform, &error),
                     MER_NOT_FOUND);
    assert_string_equal(error.message, "no/such/file.yaml: no such file");
    assert_int_equal(mer_platform_read("no/such/file.yaml", *state, &platform, NULL),
                     MER_NOT_FOUND);
}

#define CORES "format: mercator-platform/1\nkind: cores\nclock_hz: 2G\nword_bits: 8\n"
#define ONE_CORE "units: [{name: a, rows: 2, columns: 3, dataflow: nvdla}]\n"

static void test_rate_forms_agree_through_clock_and_word(void **state)
{
    static const char *const forms[] = {"words_per_cycle: 8", "bytes_per_cycle: 16",
                                        "bytes_per_s: 32G"};
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text, CORES "memories: [{name: D, word_bits: 16, %s}]\n" ONE_CORE,
                 forms[i]);
        const MerMemory *memory = &parse(text, *state)->memories[0];
        assert_true(memory->read_words_per_cycle == 8 && memory->write_words_per_cycle == 8);
        assert_true(memory->bytes_per_s == 32e9);
    }
}

static void test_read_and_write_rates_may_differ(void **state)
{
    const MerMemory *memory =
        parse(CORES "memories: [{name: D, read_bytes_per_cycle: 4}]\n" ONE_CORE, *state)->memories;
    assert_true(memory->read_words_per_cycle == 4);
    assert_true(isinf(memory->write_words_per_cycle));
}

static void test_energy_per_byte_adds_to_energy_per_word(void **state)
{
    const MerMemory *memory =
        parse(CORES "memories: [{name: D, word_bits: 16, read_pj: 3, pj_per_byte: 0.5}]\n" ONE_CORE,
              *state)
            ->memories;
    assert_true(memory->read_pj == 4 && memory->write_pj == 1 && memory->update_pj == 1);
}

static void test_defaults_of_a_core(void **state)
{
    const MerPlatform *platform = parse(CORES "memories: [{name: D}]\n" ONE_CORE, *state);
    const MerUnit     *unit = platform->units;
    assert_true(isinf(unit->memory_bytes) && isinf(unit->pe_memory_bytes));
    assert_true(unit->flexible_limit_bytes == 2 * 1024 * 1024 && !unit->flexible);
    assert_true(isinf(platform->memories[0].read_words_per_cycle));
    assert_string_equal(platform->name, "test");
    assert_true(platform->calibrated);
}

static void test_classes_and_counts_make_units_in_order(void **state)
{
    const MerPlatform       *platform = read_named("s5", *state);
    static const char *const names[] = {"hb128-0", "hb128-1", "hb128-2", "lb128",
                                        "hb64-0",  "hb64-1",  "hb64-2",  "lb64"};
    static const int         indices[] = {0, 0, 0, 1, 2, 2, 2, 3};
    int                      elements = 0;
    assert_int_equal(platform->unit_count, 8);
    assert_int_equal(platform->class_count, 4);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(platform->units[i].name, names[i]);
        assert_int_equal(platform->units[i].class_index, indices[i]);
        elements += platform->units[i].rows * platform->units[i].columns;
    }
    assert_string_equal(platform->units[3].class_name, "shi128");
    assert_int_equal(elements, 49152);
}

static void test_units_of_one_count_share_a_class_without_a_name(void **state)
{
    const MerPlatform *platform =
        parse(CORES "memories: [{name: D}]\n"
                    "units: [{name: a, count: 2, rows: 2, columns: 3, dataflow: nvdla}, "
                    "{name: b, rows: 2, columns: 3, dataflow: nvdla}]\n",
              *state);
    assert_null(platform->units[0].class_name);
    assert_int_equal(platform->units[0].class_index, platform->units[1].class_index);
    assert_int_not_equal(platform->units[0].class_index, platform->units[2].class_index);
    assert_int_equal(again(platform, *state)->hash, platform->hash);
}

static void test_wildcards_join_every_pair_once(void **state)
{
    const MerPlatform *platform = read_named("four-v100-nvlink", *state);
    int                buses = 0;
    assert_int_equal(platform->unit_count, 5);
    assert_int_equal(platform->link_count, 6 + 4);
    for (int i = 0; i < platform->link_count; i++) {
        assert_int_not_equal(platform->links[i].from, platform->links[i].to);
        buses += platform->links[i].bus != NULL;
    }
    assert_int_equal(buses, 4);
    assert_true(platform->units[0].flops_count == 1 &&
                platform->units[0].flops[0].per_s == 15.7e12);
    assert_true(platform->units[3].memory_bytes == 16.0 * 1024 * 1024 * 1024);
}

static void test_flops_by_type_and_supported_kinds(void **state)
{
    const MerPlatform *platform = parse(
        "format: mercator-platform/1\nkind: cluster\nroutes: store-and-forward\n"
        "units: [{name: npu, flops: {float16: 8T, int8: 16T}, supports: [conv, batched_gemm]}]\n",
        *state);
    const MerUnit *unit = platform->units;
    assert_int_equal(unit->flops_count, 2);
    assert_string_equal(unit->flops[1].type, "int8");
    assert_true(unit->flops[1].per_s == 16e12);
    assert_int_equal(unit->support_count, 2);
    assert_string_equal(unit->supports[1], "batched-gemm");
    assert_true(platform->store_and_forward);
    assert_int_equal(again(platform, *state)->hash, platform->hash);
}

static void test_soc_formulas_keep_numbers_lists_and_words(void **state)
{
    const MerPlatform *platform = read_named("diana", *state);
    const MerFormula  *cost = &platform->units[1].cost;
    assert_int_equal(platform->reference, 0);
    assert_int_equal(platform->activation_bits, 7);
    assert_string_equal(cost->name, "aimc");
    assert_true(mer_formula_number(cost, "mvm_ns", 0) == 70);
    assert_true(mer_formula_number(cost, "mvm-ns", 0) == 70);
    assert_true(mer_formula_number(cost, "absent", -1) == -1);
    assert_true(mer_formula_number(&platform->power_mw, "digital+analog", 0) == 42.39);
    bool found = false;
    for (int i = 0; i < cost->count; i++) {
        if (strcmp(cost->constants[i].name, "unroll") == 0) {
            found = true;
            assert_int_equal(cost->constants[i].count, 4);
            assert_true(cost->constants[i].values[3] == 8);
        }
    }
    assert_true(found);
    assert_string_equal(platform->units[0].options[0].name, "digital");
}

static void test_vta_constants_of_the_wider_bus_are_halved(void **state)
{
    const MerPlatform *narrow = read_named("vta-pynq-b", *state);
    const MerPlatform *wide = read_named("vta-zcu104", *state);
    assert_false(wide->calibrated);
    assert_true(narrow->calibrated);
    assert_true(mer_formula_number(&wide->timing, "load_per_byte", 0) ==
                mer_formula_number(&narrow->timing, "load_per_byte", 0) / 2);
    assert_true(mer_formula_number(&wide->timing, "load_setup", 0) ==
                mer_formula_number(&narrow->timing, "load_setup", 1));
    assert_true(wide->clock_hz == 333e6 && wide->bus_bits == 128);
}

static void test_extends_merges_maps_and_named_lists(void **state)
{
    assert_true(mkdir("deep", 0777) == 0 || access("deep", F_OK) == 0);
    write_file("base.yaml",
               "format: mercator-platform/1\nkind: pe-array\nname: base\nsummary: old\n"
               "units: [{name: MAC, mac_pj: 2}]\n"
               "memories: [{name: DRAM, keep: [W, I, O]}, "
               "{name: GLB, words: 64, keep: [W], fanout: {x: 4, y: 2}}]\n");
    write_file("deep/child.yaml",
               "format: mercator-platform/1\nextends: ../base.yaml\nsummary: new\n"
               "memories: [{name: GLB, keep: [I, O], fanout: {x: 8}}, "
               "{name: RF, words: 4}]\n");
    const MerPlatform *platform = read_named("deep/child.yaml", *state);
    assert_string_equal(platform->name, "child");
    assert_string_equal(platform->summary, "new");
    assert_true(platform->units[0].mac_pj == 2);
    assert_int_equal(platform->memory_count, 3);
    const MerMemory *glb = &platform->memories[1];
    assert_true(glb->words == 64 && glb->fanout.x == 8 && glb->fanout.y == 2);
    assert_int_equal(glb->keep, 6);
    assert_string_equal(platform->memories[2].name, "RF");
}

static void test_extended_values_are_reported_where_they_stand(void **state)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    write_file("broken_base.yaml", "format: mercator-platform/1\nkind: pe-array\n"
                                   "units: [{name: MAC}]\nmemories: [{name: DRAM},\n"
                                   "  {name: GLB, words: -4}]\n");
    write_file("broken_child.yaml", "format: mercator-platform/1\nextends: broken_base.yaml\n"
                                    "memories: [{name: GLB, buffers: 2}]\n");
    assert_int_equal(mer_platform_read("broken_child.yaml", *state, &platform, &error),
                     MER_INVALID);
    assert_string_equal(error.message, "broken_base.yaml:5:22: memories[1].words is -4, "
                                       "expected an integer >= 1");
}

static void test_a_cycle_of_extends_is_printed(void **state)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    write_file("first.yaml", "format: mercator-platform/1\nextends: ./second.yaml\n");
    write_file("second.yaml", "format: mercator-platform/1\nextends: third\n");
    write_file("third.yaml", "format: mercator-platform/1\nextends: first.yaml\n");
    assert_int_equal(mer_platform_read("first.yaml", *state, &platform, &error), MER_INVALID);
    assert_string_equal(error.message,
                        "./third.yaml:2:10: extends makes a cycle: first.yaml -> ./second.yaml -> "
                        "./third.yaml -> first.yaml");
}

static void test_a_size_in_another_unit_does_not_replace_the_base(void **state)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    const char        *text =
        "format: mercator-platform/1\nextends: edge\nmemories: [{name: L1, bytes: 8}]\n";
    assert_int_equal(mer_platform_parse("t.yaml", text, strlen(text), *state, &platform, &error),
                     MER_INVALID);
    assert_non_null(strstr(error.message,
                           "t.yaml:3:30: memories[2].bytes repeats memories[2].words "
                           "(line 11 of "));
}

static void test_double_names_are_refused_in_an_extending_file_too(void **state)
{
    static const char *const cases[][2] = {
        {"memories: [{name: L1, words: 8}, {name: L1, words: 9}]\n",
         "t.yaml:3:34: memories[3].name is L1, the name of memories[2]"},
        {"word_bits: 8\nword-bits: 9\n", "t.yaml:4:1: double key \"word-bits\", first at 3:1"},
    };
    for (size_t i = 0; i < 2; i++) {
        const MerPlatform *platform = NULL;
        MerError           error = {0};
        char               text[200];
        snprintf(text, sizeof text, "format: mercator-platform/1\nextends: edge\n%s", cases[i][0]);
        assert_int_equal(
            mer_platform_parse("t.yaml", text, strlen(text), *state, &platform, &error),
            MER_INVALID);
        assert_string_equal(error.message, cases[i][1]);
    }
}

/* The text between the fences, as platform files; the first shows only root keys. */
static void test_the_examples_of_the_document_are_read(void **state)
{
    char  *data;
    size_t size;
    int    count = 0;
    assert_int_equal(mer_file_read(MERCATOR_SOURCE_DIR "/docs/platform-format.md", 1 << 20, *state,
                                   &data, &size, NULL),
                     MER_OK);
    for (char *start = strstr(data, "```yaml\n"); start != NULL;
         start = strstr(start, "```yaml\n")) {
        start += 8;
        char *end = strstr(start, "```");
        assert_non_null(end);
        *end = '\0';
        if (strstr(start, "units:") != NULL) {
            parse(start, *state);
            count++;
        }
        start = end + 3;
    }
    assert_int_equal(count, MER_PLATFORM_KIND_COUNT);
}

static void test_the_kind_may_not_change(void **state)
{
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    const char        *text = "format: mercator-platform/1\nextends: s256\nkind: cores\n";
    assert_int_equal(mer_platform_parse("t.yaml", text, strlen(text), *state, &platform, &error),
                     MER_INVALID);
    assert_non_null(
        strstr(error.message, "t.yaml:3:7: kind is \"cores\", expected pe-array, the kind of"));
}

static void test_hash_ignores_names_and_spelling_but_not_content(void **state)
{
    const char *changed[] = {"memories.GLB.words=64Ki"}, *other[] = {"memories.GLB.words=32Ki"};
    const MerPlatform *plain = read_named("s256", *state), *same = NULL, *different = NULL;
    assert_int_equal(mer_platform_read_with("s256", changed, 1, *state, &same, NULL), MER_OK);
    assert_int_equal(mer_platform_read_with("s256", other, 1, *state, &different, NULL), MER_OK);
    assert_int_equal(plain->hash, same->hash);
    assert_int_not_equal(plain->hash, different->hash);
    same = parse("format: mercator-platform/1\nextends: s256\nname: renamed\n", *state);
    assert_int_equal(plain->hash, same->hash);
}

static void test_changes_reach_nested_and_absent_keys(void **state)
{
    const char *changes[] = {"memories.GLB.fanout.x=8", "memories[2].buffers=2", "clock_hz=1G",
                             "units.MAC.mac-pj=0.5", "memories.RF.fanout.y=3"};
    const MerPlatform *platform = NULL;
    MerError           error = {0};
    if (mer_platform_read_with("s256", changes, 5, *state, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(platform->memories[1].fanout.x, 8);
    assert_int_equal(platform->memories[1].fanout.y, 16);
    assert_int_equal(platform->memories[2].buffers, 2);
    assert_int_equal(platform->memories[2].fanout.y, 3);
    assert_true(platform->clock_hz == 1e9 && platform->memories[0].bytes_per_s == 32e9);
    assert_true(platform->units[0].mac_pj == 0.5);
    assert_int_equal(mer_platform_instances(platform, 3), 8 * 16 * 3);
}

static void test_bad_changes_say_what_is_wrong(void **state)
{
    static const char *const cases[][2] = {
        {"memories.GLB.words", "change \"memories.GLB.words\", expected PATH=VALUE such as "
                               "memories.GLB.words=16Ki"},
        {"memories.GLX.words=4", "change \"memories.GLX.words=4\": GLX is not there, "
                                 "expected DRAM, GLB, RF"},
        {"memories.GLB.fanout=4", "change \"memories.GLB.fanout=4\": fanout is a map or a list, "
                                  "expected a single value"},
        {"memories.GLB.words.x=4", "change \"memories.GLB.words.x=4\": x is no key of a map"},
        {"memories.GLB.wrods=4", "memories.GLB.wrods=4:1:20: unknown key \"wrods\" in memories[1], "
                                 "did you mean \"words\""},
        {"memries.GLB.words=4", "memries.GLB.words=4:1:1: unknown key \"memries\", did you mean "
                                "\"memories\""},
        {"memories.GLB.words=0", "memories.GLB.words=0:1:20: memories[1].words is 0, expected an "
                                 "integer >= 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MerPlatform *platform = NULL;
        MerError           error = {0};
        assert_int_equal(mer_platform_read_with("s256", &cases[i][0], 1, *state, &platform, &error),
                         MER_INVALID);
        assert_string_equal(error.message, cases[i][1]);
    }
}

static void test_odd_names_and_texts_survive_writing(void **state)
{
    const MerPlatform *platform =
        parse(CORES "name: \"0\"\nsummary: \"a \\\"b\\\"\\n # c: d\"\n"
                    "memories: [{name: 1e5, words: 3, word_bits: 3}]\n"
                    "units: [{name: yes, rows: 2, columns: 3, dataflow: nvdla}]\n",
              *state);
    const MerPlatform *copy = again(platform, *state);
    assert_int_equal(copy->hash, platform->hash);
    assert_string_equal(copy->name, "0");
    assert_string_equal(copy->summary, "a \"b\"\n # c: d");
    assert_string_equal(copy->memories[0].name, "1e5");
    assert_string_equal(copy->units[0].name, "yes");
    assert_true(copy->memories[0].bytes == 1.125);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_s256_has_the_numbers_of_its_file),
        TEST(test_every_memory_of_a_shipped_array_has_an_energy),
        TEST(test_every_shipped_platform_reads_back_to_its_hash),
        TEST(test_underscore_finds_a_hyphenated_platform),
        TEST(test_unknown_platform_suggests_the_nearest),
        TEST(test_rate_forms_agree_through_clock_and_word),
        TEST(test_read_and_write_rates_may_differ),
        TEST(test_energy_per_byte_adds_to_energy_per_word),
        TEST(test_defaults_of_a_core),
        TEST(test_classes_and_counts_make_units_in_order),
        TEST(test_units_of_one_count_share_a_class_without_a_name),
        TEST(test_wildcards_join_every_pair_once),
        TEST(test_flops_by_type_and_supported_kinds),
        TEST(test_soc_formulas_keep_numbers_lists_and_words),
        TEST(test_vta_constants_of_the_wider_bus_are_halved),
        TEST(test_extends_merges_maps_and_named_lists),
        TEST(test_extended_values_are_reported_where_they_stand),
        TEST(test_a_cycle_of_extends_is_printed),
        TEST(test_a_size_in_another_unit_does_not_replace_the_base),
        TEST(test_double_names_are_refused_in_an_extending_file_too),
        TEST(test_the_examples_of_the_document_are_read),
        TEST(test_the_kind_may_not_change),
        TEST(test_hash_ignores_names_and_spelling_but_not_content),
        TEST(test_changes_reach_nested_and_absent_keys),
        TEST(test_bad_changes_say_what_is_wrong),
        TEST(test_odd_names_and_texts_survive_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
