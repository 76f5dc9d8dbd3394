/* Timeloop architectures and MAESTRO hardware files as platforms. */
#include "hw/foreign.h"
#include "mercator/platform.h"
#include "support.h"
#include "timeloop_s256.h"

#include <math.h>
#include <stdbool.h>

static const MerPlatform *parse(void **state, const char *text)
{
    MerError           error = {0};
    const MerPlatform *platform = NULL;
    if (mer_platform_parse("machine.yaml", text, strlen(text), *state, &platform, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static void refuse(void **state, const char *text, const char *part)
{
    MerError           error = {0};
    const MerPlatform *platform = NULL;
    if (mer_platform_parse("machine.yaml", text, strlen(text), *state, &platform, &error) ==
        MER_OK) {
        fail_msg("accepted, expected \"%s\"", part);
    }
    mer_test_contains(error.message, part);
}

static void check_is_s256(void **state, const MerPlatform *found)
{
    const MerPlatform *s256 = NULL;
    assert_int_equal(mer_platform_read("s256", *state, &s256, NULL), MER_OK);
    assert_int_equal(found->memory_count, s256->memory_count);
    assert_int_equal(found->word_bits, s256->word_bits);
    assert_true(found->units[0].mac_pj == s256->units[0].mac_pj);
    for (int m = 0; m < s256->memory_count; m++) {
        const MerMemory *a = &found->memories[m];
        const MerMemory *b = &s256->memories[m];
        assert_string_equal(a->name, b->name);
        assert_true(a->words == b->words && a->word_bits == b->word_bits &&
                    a->buffers == b->buffers);
        assert_true(a->read_words_per_cycle == b->read_words_per_cycle);
        assert_true(a->write_words_per_cycle == b->write_words_per_cycle);
        assert_true(a->read_pj == b->read_pj && a->write_pj == b->write_pj &&
                    a->update_pj == b->update_pj);
        assert_int_equal(a->keep, b->keep);
        assert_int_equal(a->bypass, b->bypass);
        assert_int_equal(a->fanout.x, b->fanout.x);
        assert_int_equal(a->fanout.y, b->fanout.y);
    }
}

static void test_the_reference_machine_is_s256(void **state)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", timeloop_s256_tree, timeloop_s256_energies,
             timeloop_s256_keeps);
    check_is_s256(state, parse(state, text));
}

static void test_files_given_together_are_merged_at_the_root(void **state)
{
    MerError           error = {0};
    const MerPlatform *platform = NULL;
    write_text("tree.yaml", timeloop_s256_tree);
    write_text("ert.yaml", timeloop_s256_energies);
    write_text("keep.yaml", timeloop_s256_keeps);
    assert_int_equal(
        mer_platform_read("tree.yaml,ert.yaml,keep.yaml,ert.yaml", *state, &platform, &error),
        MER_OK);
    check_is_s256(state, platform);
    assert_string_equal(platform->name, "tree");
}

static void test_a_key_with_two_values_names_both_places(void **state)
{
    MerError           error = {0};
    const MerPlatform *platform = NULL;
    write_text("a.yaml", timeloop_s256_tree);
    write_text("b.yaml", "architecture: {version: 0.3}\n");
    assert_int_not_equal(mer_platform_read("a.yaml,b.yaml", *state, &platform, &error), MER_OK);
    mer_test_contains(error.message, "b.yaml:1:15: architecture is defined twice");
    mer_test_contains(error.message, "a.yaml:2:3");
}

static void test_changes_reach_an_imported_platform(void **state)
{
    const MerPlatform *platform = NULL;
    const char *const  changes[] = {"memories.GLB.words=16Ki", "memories.GLB.fanout.x=8"};
    write_text("tree.yaml", timeloop_s256_tree);
    assert_int_equal(mer_platform_read_with("tree.yaml", changes, 2, *state, &platform, NULL),
                     MER_OK);
    assert_true(platform->memories[1].words == 16384);
    assert_int_equal(platform->memories[1].fanout.x, 8);
}

/* m = 5 / 99.5 per KB above half a KB; RF has 512 B, GLB 128 KB. */
static void test_without_an_ert_energies_are_those_of_the_public_table(void **state)
{
    const MerPlatform *platform = parse(state, timeloop_s256_tree);
    assert_true(platform->memories[0].read_pj == 200);
    assert_true(fabs(platform->memories[1].read_pj - (5 / 99.5 * 127.5 + 1)) < 1e-12);
    assert_true(fabs(platform->memories[2].update_pj - 1) < 1e-12);
    assert_true(platform->units[0].mac_pj == 1);
    assert_int_equal(platform->memories[1].keep | platform->memories[1].bypass, 0);
}

static void test_energies_of_blocks_are_shared_by_their_words(void **state)
{
    const MerPlatform *platform = parse(
        state,
        "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n"
        "    - {name: DRAM, class: DRAM, attributes: {width: 64, block_size: 4, word_bits: 16}}\n"
        "    - {name: 'MAC[0..3]', class: intmac, attributes: {datawidth: 8}}\n"
        "ERT: {version: 0.3, tables: [{name: system.DRAM, actions: [{name: read, energy: 512}, "
        "{name: read, energy: 400}, {name: write, energy: 100}, {name: idle, energy: 9999}]}]}\n");
    assert_true(platform->memories[0].read_pj == 128);
    assert_true(platform->memories[0].write_pj == 25 && platform->memories[0].update_pj == 25);
    assert_true(platform->units[0].mac_pj == 0.25);
    assert_int_equal(platform->memories[0].fanout.x, 4);
}

static void test_meshes_divide_by_those_above_them(void **state)
{
    const MerPlatform *platform = parse(
        state, "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n"
               "    - {name: DRAM, class: DRAM, attributes: {word-bits: 16}}\n"
               "    subtree:\n    - name: eyeriss\n      local:\n"
               "      - {name: glb, class: smartbuffer_SRAM, attributes: {memory_depth: 16384, "
               "memory_width: 64, "
               "n_banks: 32, datawidth: 16, multiple-buffering: 2, shared_bandwidth: 16}}\n"
               "      - {name: 'column[0..13]', class: regfile, attributes: {depth: 1, width: 16, "
               "meshX: 14}}\n"
               "      - {name: noc, class: XY_NoC}\n"
               "      subtree:\n      - name: PE[0..167]\n        local:\n"
               "        - {name: spad, class: smartbuffer_RF, attributes: {entries: 192, "
               "datawidth: 16, meshX: 14}}\n"
               "        - {name: mac, class: intmac, attributes: {datawidth: 16, meshX: 14}}\n");
    assert_int_equal(platform->memory_count, 4);
    assert_true(platform->memories[1].words == 65536);
    assert_int_equal(platform->memories[1].buffers, 2);
    assert_true(platform->memories[1].read_words_per_cycle == 16 &&
                platform->memories[1].write_words_per_cycle == 16);
    assert_int_equal(platform->memories[1].fanout.x, 14);
    assert_int_equal(platform->memories[1].fanout.y, 1);
    assert_int_equal(platform->memories[2].fanout.x, 1);
    assert_int_equal(platform->memories[2].fanout.y, 12);
    assert_true(platform->memories[3].words == 192);
    mer_test_contains(platform->summary, "noc");
}

static void test_a_memory_without_room_is_bypassed(void **state)
{
    const MerPlatform *platform = parse(
        state, "architecture:\n  version: 0.3\n  subtree:\n  - name: system\n    local:\n"
               "    - {name: DRAM, class: DRAM}\n"
               "    - {name: 'column[0..3]', class: regfile, attributes: {depth: 0, width: 16}}\n"
               "    - {name: 'mac[0..15]', class: intmac, attributes: {meshX: 4}}\n");
    assert_int_equal(platform->memories[1].bypass, 7);
    assert_int_equal(platform->memories[1].fanout.y, 4);
}

static void test_the_older_form_lists_memories_from_the_inside(void **state)
{
    const MerPlatform *platform = parse(
        state,
        "arch:\n  arithmetic: {name: MACs, instances: 64, word-bits: 8, meshX: 8}\n  storage:\n"
        "  - {name: RF, entries: 16, instances: 64, meshX: 8, word-bits: 8}\n"
        "  - {name: GLB, sizeKB: 64, instances: 1, word-bits: 8, read_bandwidth: 8, block-size: "
        "8}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, bandwidth: 4}\n");
    assert_int_equal(platform->memory_count, 3);
    assert_string_equal(platform->memories[0].name, "DRAM");
    assert_true(platform->memories[1].words == 65536);
    assert_int_equal(platform->memories[1].fanout.x, 8);
    assert_int_equal(platform->memories[1].fanout.y, 8);
    assert_true(platform->memories[2].words == 16);
    assert_true(platform->memories[0].read_pj == 100);
}

static void test_wrong_architectures_are_refused_with_their_place(void **state)
{
    refuse(state, "architecture:\n  version: 0.4\n  nodes: []\n",
           "machine.yaml:2:12: architecture version 0.4 (nodes:)");
    refuse(state, "architecture:\n  nodes: []\n", "version 0.4");
    refuse(state, "architecture: {version: 0.3}\n", "ends in nothing");
    refuse(state,
           "architecture: {version: 0.3, subtree: [{name: s, local: [{name: D, class: DRAM}, "
           "{name: 'M[0..5]', class: "
           "intmac, attributes: {meshX: 4}}]}]}\n",
           "M has 6 instances on a mesh of 4 x 1.5");
    refuse(state,
           "architecture: {version: 0.3, subtree: [{name: s, local: [{name: D, class: DRAM}]}]}\n",
           "compute");
    refuse(state, "architecture: {version: 0.3, subtree: [{name: a}, {name: b}]}\n", "2 branches");
    refuse(state, "architecture: {version: 0.3, subtree: [{name: 'PE[3..1]'}]}\n",
           "a range such as PE[0..255]");
}

static void test_maestro_hardware_is_a_platform(void **state)
{
    MerError           error = {0};
    const MerPlatform *platform = NULL;
    write_text(
        "acc.m",
        "// the example\nnum_pes: 256\nl1_size_cstr: 100\nl2_size_cstr: 3000\nnoc_bw_cstr: 1000\n"
        "offchip_bw_cstr: 50\n");
    assert_int_equal(mer_platform_read("acc.m", *state, &platform, &error), MER_OK);
    assert_string_equal(platform->name, "acc");
    assert_int_equal(platform->memories[1].fanout.x, 256);
    assert_true(platform->memories[1].words == 3000 && platform->memories[2].words == 100);
    assert_true(platform->memories[1].fanout.words_per_cycle == 1000);
    assert_true(platform->memories[1].fanout.latency_cycles == 1);
    assert_true(platform->memories[0].read_words_per_cycle == 50);
    write_text("bad.m", "num_pes: 256\nl1_size: 100\n");
    assert_int_not_equal(mer_platform_read("bad.m", *state, &platform, &error), MER_OK);
    mer_test_contains(error.message, "bad.m:2: found \"l1_size\"");
    write_text("zero.m", "num_pes: 0\n");
    assert_int_not_equal(mer_platform_read("zero.m", *state, &platform, &error), MER_OK);
    mer_test_contains(error.message, "zero.m:1: num_pes is \"0\"");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_the_reference_machine_is_s256),
        TEST(test_files_given_together_are_merged_at_the_root),
        TEST(test_a_key_with_two_values_names_both_places),
        TEST(test_changes_reach_an_imported_platform),
        TEST(test_without_an_ert_energies_are_those_of_the_public_table),
        TEST(test_energies_of_blocks_are_shared_by_their_words),
        TEST(test_meshes_divide_by_those_above_them),
        TEST(test_a_memory_without_room_is_bypassed),
        TEST(test_the_older_form_lists_memories_from_the_inside),
        TEST(test_wrong_architectures_are_refused_with_their_place),
        TEST(test_maestro_hardware_is_a_platform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
