/* Every refusal of the platform reader, word for word. */
#include "mercator/platform.h"
#include "support.h"

typedef struct Case {
    const char *text, *message;
} Case;

#define FORMAT "format: mercator-platform/1\n"
#define ARRAY FORMAT "kind: pe-array\n"
#define MAC "units: [{name: MAC}]\n"
#define CORES FORMAT "kind: cores\n"
#define CORE "units: [{name: a, rows: 2, columns: 3, dataflow: nvdla}]\n"
#define VTA FORMAT "kind: vta\nbus_bits: 64\n"
#define VTA_UNIT "units: [{name: c, batch: 1, block_in: 16, block_out: 16}]\n"
#define VTA_MEMORIES                                                                               \
    "memories: [{name: uop, bytes: 32}, {name: inp, bytes: 32}, {name: wgt, bytes: 32}, "          \
    "{name: acc, bytes: 32}]\n"
#define SOC FORMAT "kind: soc\n"
#define SOC_UNIT                                                                                   \
    "units: [{name: u, options: [{operator: conv, weights: int8}], cost: {formula: aimc}}]\n"
#define CLUSTER FORMAT "kind: cluster\n"

static const Case root_cases[] = {
    {"", "p.yaml is empty"},
    {"[1, 2]\n", "p.yaml:1:1: the document is a list, expected a map"},
    {"kind: cores\n", "p.yaml:1:1: the document has no key \"format\""},
    {"format: mercator-platform/2\n",
     "p.yaml:1:9: format is \"mercator-platform/2\", expected "
     "mercator-platform/1 or lower: version 2 is newer than version 1"},
    {"format: mercator-plan/1\n", "p.yaml:1:9: format is \"mercator-plan/1\", expected "
                                  "mercator-platform/1"},
    {FORMAT, "p.yaml:1:1: the document has no key \"kind\""},
    {FORMAT "kind: pe_aray\n",
     "p.yaml:2:7: kind is \"pe_aray\", expected pe-array, cores, vta, soc, "
     "cluster or native, did you mean \"pe-array\""},
    {ARRAY "kind: cores\n", "p.yaml:3:1: double key \"kind\", first at 2:1"},
    {ARRAY "clock_mhz: 5\nmemories: [{name: D}]\n" MAC,
     "p.yaml:3:1: unknown key \"clock_mhz\", did you mean \"clock_hz\""},
    {ARRAY "word-bits: 8\nword_bits: 8\nmemories: [{name: D}]\n" MAC,
     "p.yaml:4:1: double key \"word_bits\", first at 3:1"},
    {ARRAY "clock_hz: 0\n", "p.yaml:3:11: clock_hz is 0, expected a number > 0"},
    {ARRAY "clock_hz: .nan\n", "p.yaml:3:11: clock_hz is \".nan\", expected a number > 0"},
    {ARRAY "clock_hz: nan\n", "p.yaml:3:11: clock_hz is \"nan\", expected a number > 0"},
    {ARRAY "clock_hz: inf\n", "p.yaml:3:11: clock_hz is \"inf\", expected a number > 0"},
    {ARRAY "clock_hz: 100MHz\n", "p.yaml:3:11: clock_hz is \"100MHz\", expected a number > 0"},
    {ARRAY "word_bits: 0\n", "p.yaml:3:12: word_bits is 0, expected an integer in 1 .. 4096"},
    {ARRAY "calibrated: maybe\n", "p.yaml:3:13: calibrated is \"maybe\", expected true or false"},
    {ARRAY "links: []\n", "p.yaml:3:1: links belongs to cluster platforms, this one is pe-array"},
    {CLUSTER "memories: []\n",
     "p.yaml:3:1: memories belongs to pe-array, cores, vta and soc platforms, this one is cluster"},
    {FORMAT "extends: s257\n", "p.yaml:2:10: extends is \"s257\", expected a platform's name or "
                               "file, did you mean \"s256\""},
    {FORMAT "extends: nowhere/base.yaml\n", "nowhere/base.yaml: no such file"},
    {FORMAT "extends: [s256]\n", "p.yaml:2:10: extends is a list, expected a text"},
};

static const Case memory_cases[] = {
    {ARRAY MAC, "p.yaml:1:1: the document has no key \"memories\""},
    {ARRAY "memories: []\n" MAC, "p.yaml:3:11: memories is empty, expected at least one memory"},
    {ARRAY "memories: 4\n" MAC, "p.yaml:3:11: memories is 4, expected a list"},
    {ARRAY "memories: [4]\n" MAC, "p.yaml:3:12: memories[0] is 4, expected a map"},
    {ARRAY "memories: [{words: 4}]\n" MAC, "p.yaml:3:12: memories[0] has no key \"name\""},
    {ARRAY "memories: [{name: a b}]\n" MAC,
     "p.yaml:3:19: memories[0].name is \"a b\", expected a name "
     "of letters, digits, '_' and '-'"},
    {ARRAY "memories: [{name: A-1}, {name: A_1}]\n" MAC,
     "p.yaml:3:25: memories[1].name is A_1, the name of memories[0]"},
    {ARRAY "memories: [{name: D, words: 4}]\n" MAC,
     "p.yaml:3:29: memories[0].words is 4, expected no "
     "size: the outermost memory of a pe-array is unlimited"},
    {ARRAY "memories: [{name: D, bypass: [W]}]\n" MAC,
     "p.yaml:3:12: memories[0].bypass: the outermost memory of a pe-array keeps every tensor"},
    {ARRAY "memories: [{name: D}, {name: G, words: 4, bytes: 8}]\n" MAC,
     "p.yaml:3:50: memories[1].bytes repeats memories[1].words (line 3): give a size once"},
    {ARRAY "memories: [{name: D}, {name: G, words: -4}]\n" MAC,
     "p.yaml:3:40: memories[1].words is -4, expected an integer >= 1"},
    {ARRAY "memories: [{name: D}, {name: G, words: 1.5}]\n" MAC,
     "p.yaml:3:40: memories[1].words is 1.5, expected an integer >= 1"},
    {ARRAY "memories: [{name: D}, {name: G, words: 16Ti, wrods: 1}]\n" MAC,
     "p.yaml:3:46: unknown key \"wrods\" in memories[1], did you mean \"words\""},
    {ARRAY "memories: [{name: D, words_per_cycle: 0}]\n" MAC,
     "p.yaml:3:39: memories[0].words_per_cycle is 0, expected a number > 0"},
    {ARRAY "memories: [{name: D, words_per_cycle: 4, bytes_per_cycle: 8}]\n" MAC,
     "p.yaml:3:59: memories[0].bytes_per_cycle repeats memories[0].words_per_cycle (line 3): give "
     "a "
     "rate once"},
    {ARRAY "memories: [{name: D, words_per_cycle: 4, write_bytes_per_cycle: 8}]\n" MAC,
     "p.yaml:3:65: memories[0].write_bytes_per_cycle repeats memories[0].words_per_cycle (line 3): "
     "give a rate once"},
    {ARRAY "memories: [{name: D, bytes_per_s: 4G}]\n" MAC,
     "p.yaml:3:35: memories[0].bytes_per_s needs clock_hz, which is absent"},
    {ARRAY "memories: [{name: D, access_pj: -1}]\n" MAC,
     "p.yaml:3:33: memories[0].access_pj is -1, expected a number >= 0"},
    {ARRAY "memories: [{name: D, access_pj: 1, read_pj: 2}]\n" MAC,
     "p.yaml:3:45: memories[0].read_pj repeats memories[0].access_pj (line 3): give an energy "
     "once"},
    {ARRAY "memories: [{name: D, keep: [W, Q]}]\n" MAC,
     "p.yaml:3:32: memories[0].keep[1] is \"Q\", expected W, I or O"},
    {ARRAY "memories: [{name: D}, {name: G, keep: [W, O], bypass: [O]}]\n" MAC,
     "p.yaml:3:23: memories[1] has O in both keep and bypass"},
    {ARRAY "memories: [{name: D, fanout: {x: 0}}]\n" MAC,
     "p.yaml:3:34: memories[0].fanout.x is 0, expected an integer >= 1"},
    {ARRAY "memories: [{name: D, fanout: {z: 2}}]\n" MAC,
     "p.yaml:3:31: unknown key \"z\" in memories[0].fanout, expected x, y, words_per_cycle, "
     "bytes_per_cycle, bytes_per_s, latency_cycles or pj_per_word"},
    {ARRAY "memories: [{name: D, fanout: {x: 65536, y: 65536}}]\n" MAC,
     "p.yaml:3:12: memories[0].fanout makes more than 2147483647 units of the platform"},
    {ARRAY "memories: [{name: D}, {name: G, partition_words: {W: 0}}]\n" MAC,
     "p.yaml:3:54: memories[1].partition_words.W is 0, expected an integer >= 1"},
    {CORES "memories: [{name: D}, {name: E, fanout: {x: 2}}]\n" CORE,
     "p.yaml:3:33: memories[1].fanout belongs to pe-array platforms, this one is cores"},
    {VTA "memories: [{name: uop, bytes: 32}]\n" VTA_UNIT,
     "p.yaml:4:11: memories is too short, expected the memories uop, inp, wgt, acc of a vta, in "
     "this "
     "order"},
    {VTA "memories: [{name: inp, bytes: 32}]\n" VTA_UNIT,
     "p.yaml:4:12: memories[0] is inp, expected the memories uop, inp, wgt, acc of a vta, in this "
     "order"},
    {VTA "memories: [{name: uop, bytes: 33}]\n" VTA_UNIT,
     "p.yaml:4:31: memories[0].bytes is 33, expected a power of two"},
    {VTA "memories: [{name: uop}]\n" VTA_UNIT, "p.yaml:4:12: memories[0] has no key \"bytes\""},
    {VTA "memories: [{name: uop, bytes: 32, word_bits: 12}]\n" VTA_UNIT,
     "p.yaml:4:46: memories[0].word_bits is 12, expected a power of two"},
};

static const Case unit_cases[] = {
    {ARRAY "memories: [{name: D}]\n", "p.yaml:1:1: the document has no key \"units\""},
    {ARRAY "memories: [{name: D}]\nunits: []\n",
     "p.yaml:4:8: units is empty, expected at least one unit"},
    {ARRAY "memories: [{name: D}]\nunits: [{name: a}, {name: b}]\n",
     "p.yaml:4:20: units has 2 items, expected one unit in a pe-array"},
    {ARRAY "memories: [{name: D}]\nunits: [{name: a, count: 2}]\n",
     "p.yaml:4:19: units[0].count belongs to cores, soc and cluster platforms, this one is "
     "pe-array"},
    {ARRAY "memories: [{name: D}]\nunits: [{name: a, lanes: -4}]\n",
     "p.yaml:4:26: units[0].lanes is -4, expected an integer >= 1"},
    {CORES "memories: [{name: D}]\nunits: [{name: a, columns: 2, dataflow: eye}]\n",
     "p.yaml:4:9: units[0] has no key \"rows\""},
    {CORES "memories: [{name: D}]\nunits: [{name: a, rows: 0, columns: 2, dataflow: eye}]\n",
     "p.yaml:4:25: units[0].rows is 0, expected an integer >= 1"},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, rows: 65536, columns: 65536, dataflow: eye}]\n",
     "p.yaml:4:9: units[0] has more than 2147483647 processing elements"},
    {CORES "memories: [{name: D}]\nunits: [{name: a, rows: 1, columns: 2, dataflow: nvdl}]\n",
     "p.yaml:4:50: units[0].dataflow is \"nvdl\", expected nvdla, shi or eye, did you mean "
     "\"nvdla\""},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, class: HB}]\nclasses: {HB32: {rows: 1, columns: 1, "
     "dataflow: shi}}\n",
     "p.yaml:4:26: units[0].class is \"HB\", expected a name in classes"},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, class: HB31}]\nclasses: {HB32: {rows: 1, columns: "
     "1, dataflow: shi}}\n",
     "p.yaml:4:26: units[0].class is \"HB31\", expected a name in classes, did you mean \"HB32\""},
    {CORES "memories: [{name: D}]\nunits: [{name: a, class: X, rows: 3}]\nclasses: {X: {rows: 1, "
           "columns: 1, dataflow: shi}}\n",
     "p.yaml:4:29: units[0].rows is beside class X: a unit may add only memory_bytes and speed to "
     "its "
     "class"},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, class: X}]\nclasses: {X: {rows: 1, columns: 1, "
     "dataflow: shi, name: b}}\n",
     "p.yaml:5:51: unknown key \"name\" in classes.X, expected rows, columns, dataflow, "
     "pe_memory_bytes, flexible, flexible_limit_bytes, static_pj_per_cycle or memory_bytes"},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, count: 2, rows: 1, columns: 1, dataflow: shi}, "
     "{name: a1, rows: 1, columns: 1, dataflow: shi}]\n",
     "p.yaml:4:66: units[1] makes a second unit named a1"},
    {CORES
     "memories: [{name: D}]\nunits: [{name: a, count: 5000, rows: 1, columns: 1, dataflow: shi}]\n",
     "p.yaml:4:9: units[0] brings more than 4096 units"},
    {VTA VTA_MEMORIES "units: [{name: c, batch: 1, block_in: 16, block_out: 12}]\n",
     "p.yaml:5:54: units[0].block_out is 12, expected a power of two"},
    {FORMAT "kind: native\nunits: [{name: cpu, vector_bits: 96}]\n",
     "p.yaml:3:34: units[0].vector_bits is 96, expected 128, 256 or 512"},
    {FORMAT "kind: native\nunits: [{name: a}, {name: b}]\n",
     "p.yaml:3:20: units has 2 items, expected one unit in a native"},
    {FORMAT "kind: native\nmemories: [{name: D}]\nunits: [{name: a}]\n",
     "p.yaml:3:1: memories belongs to pe-array, cores, vta and soc platforms, this one is native"},
    {ARRAY "compiler: cc\nmemories: [{name: D}]\n" MAC,
     "p.yaml:3:1: compiler belongs to native platforms, this one is pe-array"},
    {FORMAT "kind: vta\nbus_bits: 60\n" VTA_MEMORIES VTA_UNIT,
     "p.yaml:3:11: bus_bits is 60, expected a power of two"},
    {VTA VTA_MEMORIES VTA_UNIT "timing: {load_setup: 1, gemm_II: 1}\n",
     "p.yaml:6:25: unknown key \"gemm_II\" in timing, expected load_setup, load_row, "
     "load_per_byte, "
     "store_setup, store_row, store_per_byte, gemm_setup, gemm_interval, alu_setup, alu_interval, "
     "pad_word, host_us or host_us_per_instruction"},
    {VTA VTA_MEMORIES VTA_UNIT "timing: {load_setup: [1, 2]}\n",
     "p.yaml:6:22: timing.load_setup is a list, expected a number >= 0"},
};

static const Case soc_cases[] = {
    {SOC "units: [{name: u}]\n", "p.yaml:3:9: units[0] has no key \"options\""},
    {SOC "units: [{name: u, options: [], cost: {formula: aimc}}]\n",
     "p.yaml:3:28: units[0].options has 0 items, expected 1 to 64"},
    {SOC
     "units: [{name: u, options: [{operator: depthwise, weights: int8}], cost: {formula: aimc}}]\n",
     "p.yaml:3:29: units[0].options[0].operator is depthwise, which the cost formula aimc does not "
     "take"},
    {SOC "units: [{name: u, options: [{operator: conv, weights: int8}], cost: {formula: simd}}]\n",
     "p.yaml:3:79: units[0].cost.formula is \"simd\", expected pe-array, aimc, simd-matmul, "
     "dw-engine, "
     "gap8-depthwise, gap8-linear, mac-rate, ne16 or table, did you mean \"aimc\""},
    {SOC "units: [{name: u, options: [{operator: conv, weights: int8}], cost: {formula: pe-array, "
         "channels: 0}}]\n",
     "p.yaml:3:99: units[0].cost.channels is 0, expected a number > 0"},
    {SOC
     "units: [{name: u, options: [{operator: conv, weights: int8}], cost: {formula: ne16, linear: "
     "dw-engine}}]\n",
     "p.yaml:3:93: units[0].cost.linear is \"dw-engine\", expected a formula that takes linear"},
    {SOC "units: [{name: u, options: [{operator: conv, weights: int8}, {operator: conv, weights: "
         "int4}], cost: {formula: ne16}}]\n",
     "p.yaml:3:9: units[0] has two options named u for conv: give each a name"},
    {SOC SOC_UNIT "reference: v\n", "p.yaml:4:12: reference is \"v\", expected the name of a unit"},
    {SOC SOC_UNIT "power_mw: {formula: by-set, u: 3, u+w: 4}\n",
     "p.yaml:4:40: power_mw.u+w: there is no unit w"},
    {SOC SOC_UNIT "power_mw: {formula: additive, u: -3}\n",
     "p.yaml:4:34: power_mw.u is -3, expected a number >= 0"},
    {SOC SOC_UNIT "activations: {bits: 0}\n",
     "p.yaml:4:21: activations.bits is 0, expected an integer in 1 .. 64"},
};

static const Case cluster_cases[] = {
    {CLUSTER "units: [{name: g, count: 2}]\nlinks: [{from: g, to: g1}]\n",
     "p.yaml:4:16: links[0].from is \"g\", expected the name of a unit"},
    {CLUSTER "units: [{name: gpu, count: 2}]\nlinks: [{from: gpu, to: gpu1}]\n",
     "p.yaml:4:16: links[0].from is \"gpu\", expected the name of a unit, did you mean \"gpu0\""},
    {CLUSTER "units: [{name: g, count: 2}]\nlinks: [{from: g0, to: g0}]\n",
     "p.yaml:4:9: links[0] joins a unit with itself"},
    {CLUSTER "units: [{name: g, count: 2}]\nlinks: [{from: g0, to: g1}, {from: g1, to: \"*\"}]\n",
     "p.yaml:4:29: links[1] joins g1 and g0, as links[0] does already"},
    {CLUSTER "units: [{name: g, count: 2}]\nlinks: [{from: g0, to: g1, duplex: both}]\n",
     "p.yaml:4:36: links[0].duplex is \"both\", expected full or half"},
    {CLUSTER "units: [{name: g, flops: 0}]\n",
     "p.yaml:3:26: units[0].flops is 0, expected a number > 0"},
    {CLUSTER "units: [{name: g, flops: {float31: 1}}]\n",
     "p.yaml:3:27: unknown key \"float31\" in units[0].flops, did you mean \"float32\""},
    {CLUSTER "units: [{name: g, supports: some}]\n",
     "p.yaml:3:29: units[0].supports is \"some\", expected all"},
    {CLUSTER "units: [{name: g, speed: 0}]\n",
     "p.yaml:3:26: units[0].speed is 0, expected a number > 0"},
    {CLUSTER "units: [{name: g}]\nroutes: shortest\n",
     "p.yaml:4:9: routes is \"shortest\", expected cut_through or store_and_forward"},
};

static void check(const Case *cases, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        MerArena          *arena = mer_arena_new();
        const MerPlatform *platform = NULL;
        MerError           error = {0};
        MerStatus status = mer_platform_parse("p.yaml", cases[i].text, strlen(cases[i].text), arena,
                                              &platform, &error);
        if (status == MER_OK || strcmp(error.message, cases[i].message) != 0) {
            print_error("case %zu\n   found: %s\nexpected: %s\n", i,
                        status == MER_OK ? "no error" : error.message, cases[i].message);
            wrong++;
        }
        mer_arena_free(arena);
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(cases) check(cases, sizeof cases / sizeof *cases)

static void test_bad_root_keys_are_refused(void **state)
{
    (void)state;
    CHECK(root_cases);
}

static void test_bad_memories_are_refused(void **state)
{
    (void)state;
    CHECK(memory_cases);
}

static void test_bad_units_are_refused(void **state)
{
    (void)state;
    CHECK(unit_cases);
}

static void test_bad_soc_parts_are_refused(void **state)
{
    (void)state;
    CHECK(soc_cases);
}

static void test_bad_cluster_parts_are_refused(void **state)
{
    (void)state;
    CHECK(cluster_cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_root_keys_are_refused),
        cmocka_unit_test(test_bad_memories_are_refused),
        cmocka_unit_test(test_bad_units_are_refused),
        cmocka_unit_test(test_bad_soc_parts_are_refused),
        cmocka_unit_test(test_bad_cluster_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
