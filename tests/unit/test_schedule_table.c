/* The job analysis table: priced once per layer and core class, kept on disk between runs, written and read
 * without losing a bit, and refused with the place of what is wrong. */
#include "run_support.h"

#include "base/file.h"
#include "mercator/import.h"
#include "schedule/table/schedule_cache.h"
#include "schedule/table/schedule_table_file.h"

#include <math.h>
#include <sys/stat.h>

static MerArena *arena;
static int       prices; /* calls of the pricer below */
static double    factor;

static int set_up(void **state)
{
    (void)state;
    arena = mer_arena_new();
    prices = 0;
    factor = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mer_arena_free(arena);
    return 0;
}

static MerStatus fake_price(const MerOp *op, const MerUnit *unit, int word_bits, MerPriceMode mode,
                            MerFlexible flexible, MerJobTableEntry *price, MerError *error)
{
    (void)error;
    prices++;
    *price = (MerJobTableEntry){
        .latency = factor * (double)op->macs / unit->rows + 10,
        .traffic = (double)op->dims[MER_DIM_K] * 0.1 * word_bits,
        .energy_pj = (double)op->macs / 3,
        .weight_bytes = (double)op->dims[MER_DIM_K],
        .output_bytes = (double)op->dims[MER_DIM_C],
        .l2_bytes = 100 + (double)mode,
        .l1_bytes = 7 + (double)flexible,
        .macs = (double)op->macs,
        .is_fallback = op->dims[MER_DIM_K] % 2 == 1,
    };
    return MER_OK;
}
static const MerLayerPricer pricer = {"fake", fake_price, 0.1};

static const char machine[] =
    "{format: mercator-platform/1, kind: cores, name: m, clock_hz: 1G, word_bits: 8, memories: "
    "[{name: "
    "DRAM, bytes_per_cycle: 4}], classes: {big: {rows: 32, columns: 64, dataflow: nvdla}, little: "
    "{rows: 8, columns: 64, dataflow: shi}}, units: [{name: b, count: 2, class: big}, {name: l, "
    "class: little}]}";

static MerJobTableInput input_of(const char *workload, const char *source, const char *cache)
{
    const MerGraph *graph = graph_named(workload, arena);
    int            *jobs = MER_ARRAY(arena, int, mer_job_set(graph)->job_count);
    for (int j = 0; j < mer_job_set(graph)->job_count; j++) {
        jobs[j] = j;
    }
    return (MerJobTableInput){graph,
                              mer_job_set(graph),
                              jobs,
                              mer_job_set(graph)->job_count,
                              platform_from(machine, arena),
                              &pricer,
                              source,
                              MER_FLEXIBLE_SEARCH,
                              cache,
                              NULL,
                              NULL,
                              NULL};
}

static MerJobTable make(const MerJobTableInput *input)
{
    MerJobTable table;
    MerError    error = {0};
    if (mer_job_table_make(input, arena, &table, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return table;
}

static void assert_same_bits(const MerJobTable *a, const MerJobTable *b)
{
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->class_count, b->class_count);
    assert_true(a->hash == b->hash);
    assert_true(a->dram_pj_per_byte == b->dram_pj_per_byte);
    for (int i = 0; i < a->row_count * a->class_count; i++) {
        assert_true(mer_price_equal(&a->entries[i], &b->entries[i]));
        assert_true(a->entries[i].rate == b->entries[i].rate);
    }
}

/* The file of class `big`, as one text. */
static const char *cache_path(const char *folder)
{
    const MerPlatform *p = platform_from(machine, arena);
    MerPriceKey        key = {&p->units[0], 8, "fake", MER_PRICE_OWN, MER_FLEXIBLE_SEARCH};
    return mer_price_cache_path(mer_price_cache_open(folder, &key, arena));
}

static char *text_of(const char *path, size_t *size)
{
    char    *text = NULL;
    MerError error = {0};
    if (mer_file_read(path, 1 << 20, arena, &text, size, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return text;
}

static void test_equal_layers_are_priced_once_on_each_class(void **state)
{
    (void)state;
    write_text("twice.csv", "1,1,8,4,9,9,3,3,1\n1,1,8,4,9,9,3,3,1\n1,1,8,4,1,1,1,1,0\n");
    MerJobTableInput input = input_of("twice.csv", "own", "off");
    MerJobTable      table = make(&input);
    assert_int_equal(table.row_count, 2);
    assert_int_equal(table.class_count, 2);
    assert_int_equal(prices, 4);
    assert_int_equal(table.row_of_job[0], table.row_of_job[1]);
    assert_true(table.entries[0].rate == table.entries[0].traffic / table.entries[0].latency);
}

static void test_a_second_run_takes_prices_from_the_cache(void **state)
{
    (void)state;
    MerJobTableInput input = input_of("synthetic:40:1", "own", "some/where/cache");
    MerJobTable      first = make(&input);
    int              all = prices;
    assert_int_equal(all, 2 * first.row_count);
    MerJobTable second = make(&input);
    assert_true(prices - all <= 2 * (first.row_count / 16 + 1)); /* those that are checked */
    assert_true(prices - all >= 2);
    assert_same_bits(&first, &second);
    /* other layers, another pricing mode: nothing is taken for something else */
    prices = 0;
    MerJobTableInput other = input_of("synthetic:40:2", "own", "some/where/cache");
    MerJobTable      third = make(&other);
    assert_true(prices >= 2 * third.row_count - 4);
    prices = 0;
    input.source = "m3e-compat";
    MerJobTable compat = make(&input);
    assert_int_equal(prices, 2 * compat.row_count);
}

static void test_a_damaged_cache_is_ignored_and_rewritten(void **state)
{
    (void)state;
    MerJobTableInput input = input_of("synthetic:20:3", "own", "damaged");
    MerJobTable      right = make(&input);
    const char      *path = cache_path("damaged");
    size_t           size;
    char            *good = text_of(path, &size);
    for (int way = 0; way < 6; way++) {
        size_t again;
        char  *bad = mer_arena_text_n(arena, good, size);
        size_t length = size;
        switch (way) {
        case 0: /* a digit */
            bad[size / 2] = bad[size / 2] == '1' ? '2' : '1';
            break;
        case 1: /* the end */
            length = size - 30;
            break;
        case 2: /* the first line */
            bad[0] = 'M';
            break;
        case 3: /* everything */
            length = 0;
            break;
        case 4:
            memset(bad, 'x', size);
            break;
        default: /* a zero byte */
            bad[size / 3] = '\0';
        }
        write_bytes(path, bad, length);
        MerJobTable table = make(&input);
        assert_same_bits(&right, &table);
        char *rewritten = text_of(path, &again);
        assert_int_equal(again, size);
        assert_memory_equal(rewritten, good, size);
    }
}

/* The cost model has changed and nobody changed a version: the first entry that is checked tells. */
static void test_a_stale_cache_is_noticed(void **state)
{
    (void)state;
    MerJobTableInput input = input_of("synthetic:40:1", "own", "stale");
    MerJobTable      old = make(&input);
    factor = 2;
    MerJobTable fresh = make(&input);
    input.cache = "off";
    MerJobTable right = make(&input);
    assert_same_bits(&fresh, &right);
    assert_true(old.hash != right.hash);
    input.cache = "stale";
    prices = 0;
    MerJobTable again = make(&input);
    assert_same_bits(&again, &right);
    assert_true(prices < right.row_count);
}

static void test_a_cache_out_of_reach_changes_nothing(void **state)
{
    (void)state;
    write_text("a-file", "x");
    MerJobTableInput input = input_of("synthetic:10:1", "own", "a-file/cache");
    MerJobTable      table = make(&input);
    input.cache = "off";
    MerJobTable right = make(&input);
    assert_same_bits(&table, &right);
}

static const char *written(const MerJobTable *const *tables, int count)
{
    MerJson json = {0};
    mer_job_table_write(tables, count, arena, &json);
    const char *text = mer_arena_text(arena, json.text);
    mer_json_free(&json);
    return text;
}

static void check_round_trip(const char *source)
{
    MerJobTableInput   one = input_of("synthetic:30:1", source, "off");
    MerJobTableInput   two = input_of("synthetic:30:2", source, "off");
    MerJobTable        first = make(&one), second = make(&two);
    const MerJobTable *both[] = {&first, &second, &first};
    const char        *text = written(both, 3);
    write_text("table.json", text);
    MerTableFile file;
    MerError     error = {0};
    assert_int_equal(mer_table_file_read("table.json", arena, &file, &error), MER_OK);
    assert_true(file.row_count >= first.row_count && file.row_count >= second.row_count);
    assert_true(file.row_count <= first.row_count + second.row_count);
    one.source = two.source = "table.json";
    prices = 0;
    MerJobTable a = make(&one), b = make(&two);
    assert_int_equal(prices, 0);
    assert_int_equal(a.is_compat, first.is_compat);
    assert_same_bits(&a, &first);
    assert_same_bits(&b, &second);
}

static void test_tables_of_several_groups_read_back_to_the_same_bits(void **state)
{
    (void)state;
    check_round_trip("own");
    check_round_trip("m3e-compat");
}

static const char csv[] = "layer,core_type,latency_cycles,traffic_bytes,weight_bytes,energy_nj\n"
                          "# a comment\n"
                          "0.fc-8x4,big,100,50,32,2.5\r\n"
                          "0.fc-8x4,little,400,60,32,1\n";

static void test_csv_tables_go_by_name(void **state)
{
    (void)state;
    write_text("one.csv", "1,1,8,4,1,1,1,1,0\n");
    write_text("table.csv", csv);
    MerJobTableInput input = input_of("one.csv", "table.csv", "auto");
    MerJobTable      table = make(&input);
    assert_int_equal(prices, 0);
    assert_true(table.entries[0].latency == 100 && table.entries[0].rate == 0.5);
    assert_true(table.entries[1].latency == 400 && table.entries[1].energy_pj == 1000);
    assert_true(table.entries[0].weight_bytes == 32);
}

typedef struct Refusal {
    const char *text, *message;
} Refusal;

static void test_bad_tables_are_refused_with_their_place(void **state)
{
    (void)state;
#define HEAD "{\"format\":\"m3e-jobtable/1\","
    static const Refusal refusals[] = {
        {"{\"columns\":[]}", "bad:1:1: the document has no key \"format\""},
        {"{\"format\":\"m3e-jobtable/2\"}",
         "format is \"m3e-jobtable/2\", expected m3e-jobtable/1"},
        {HEAD "\"rows\":[]}", "has no key \"columns\""},
        {HEAD "\"columns\":[],\"core_types\":[]}", "has no key \"rows\""},
        {HEAD "\"columns\":[],\"core_types\":[],\"rows\":7}", "rows is 7, expected a list"},
        {HEAD "\"columns\":[\"macs\"],\"core_types\":[\"big\"],\"rows\":[[]]}",
         "rows[0] is a list, expected one entry for each of 1 core types"},
        {HEAD "\"columns\":[\"macs\"],\"core_types\":[\"big\"],\"rows\":[[[]]]}",
         "rows[0][0] is a list, expected a list of 1 numbers"},
        {HEAD "\"columns\":[\"macs\"],\"core_types\":[\"big\"],\"rows\":[[[-1]]]}",
         "rows[0][0][0] is -1, expected"},
        {HEAD "\"columns\":[\"macs\"],\"core_types\":[\"big\"],\"rows\":[[[1]]],\"layers\":[]}",
         "layers is a list, expected one item for each of 1 rows"},
        {HEAD "\"columns\":[\"macs\"],\"core_types\":[\"big\"],\"rows\":[[[1]]],"
              "\"layer_hashes\":[\"12\"],\"layer_numbers\":[-1]}",
         "layer_hashes[0] is \"12\", expected 16 hexadecimal digits"},
        {"layer,core_type,latency_cycles\n", "bad:1: table is \"empty\", expected a row of layer,"},
        {"layer,core_type\nx,y\n", "bad:1: line is \"layer\", expected a row of layer,"},
        {"layer,core_type,latency_cycles\nx,big\n", "bad:2: line is \"x\""},
        {"layer,core_type,latency_cycles\nx,big,-4\n", "bad:2: latency_cycles is \"-4\""},
        {"layer,core_type,latency_cycles\n\nx,big,soon\n", "bad:3: latency_cycles is \"soon\""},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        MerTableFile file;
        MerError     error = {0};
        char        *text = mer_arena_text(arena, refusals[i].text);
        if (mer_table_file_parse("bad", text, strlen(text), arena, &file, &error) == MER_OK) {
            fail_msg("accepted: %s", refusals[i].text);
        }
        mer_test_contains(error.message, refusals[i].message);
        assert_null(strchr(error.message, '\n'));
    }
}

static void test_missing_rows_and_columns_are_named(void **state)
{
    (void)state;
    static const Refusal refusals[] = {
        {"layer,core_type,latency_cycles\nx,big,4\n",
         "table.csv: found no row for layer fc-8x4 of job 0.fc-8x4, expected one with its name"},
        {"layer,core_type,latency_cycles,traffic_bytes\n0.fc-8x4,big,4,4\n",
         "table.csv: found no core type little, expected it beside big"},
        {"layer,core_type,latency_cycles,traffic_bytes\n0.fc-8x4,big,0,4\n0.fc-8x4,little,1,1\n",
         "table.csv:2: latency_cycles is \"0\", expected a number > 0"},
        {"layer,core_type,traffic_bytes\n0.fc-8x4,big,4\n0.fc-8x4,little,1\n",
         "table.csv: found no latency_cycles of layer fc-8x4 on core type big, expected a number"},
        {"layer,core_type,latency_cycles\n0.fc-8x4,big,4\n0.fc-8x4,little,4\n",
         "table.csv: found no l2_bytes of layer fc-8x4 on core type big, expected a number"},
    };
    write_text("one.csv", "1,1,8,4,1,1,1,1,0\n");
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        MerJobTableInput input = input_of("one.csv", "table.csv", "off");
        MerJobTable      table;
        MerError         error = {0};
        write_text("table.csv", refusals[i].text);
        assert_int_not_equal(mer_job_table_make(&input, arena, &table, &error), MER_OK);
        mer_test_contains(error.message, refusals[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_equal_layers_are_priced_once_on_each_class, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_second_run_takes_prices_from_the_cache, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_damaged_cache_is_ignored_and_rewritten, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_stale_cache_is_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_cache_out_of_reach_changes_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_tables_of_several_groups_read_back_to_the_same_bits,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv_tables_go_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_tables_are_refused_with_their_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_rows_and_columns_are_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
