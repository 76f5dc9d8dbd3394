/* Networks as C: what is exported compiles without warnings and gives the bits of the integer network, on random networks; memory is
 * shared by what does not live together; and the test program sees what is wrong. */
#include "one_arena.h"

#include "base/file.h"
#include "integer_net_support.h"
#include "split/export/deployment.h"

enum { NETS = 12, INPUTS = 20 };

static const char *const strict =
    "-std=c11 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

static void write_files(const MerExportFiles *files, const char *folder)
{
    for (int f = 0; f < files->count; f++) {
        const char *name = strrchr(files->list[f].name, '/') + 1;
        const char *path = mer_arena_format(arena, "%s/%s", folder, name);
        assert_int_equal(mer_file_write(path, files->list[f].data, files->list[f].size, NULL),
                         MER_OK);
    }
}

static MerExportFiles export_net(const MerIntegerNet *net, const char *folder)
{
    MerDeployment deployment = {
        .net = net, .network = "random \"?\?/ */", .platform = "soc", .input_count = INPUTS};
    MerExportFiles files = {.arena = arena};
    assert_int_equal(mer_split_write_c(&deployment, &files, NULL), MER_OK);
    write_files(&files, folder);
    return files;
}

static int compile(const char *folder, const char *flags)
{
    const char *compiler = getenv("CC");
    return system(mer_arena_format(
        arena, "cd '%s' && %s %s -o test network.c weights.c kernels.c test_main.c", folder,
        compiler && *compiler ? compiler : "cc", flags));
}

static int replay(const char *folder)
{
    return system(mer_arena_format(arena, "cd '%s' && ./test golden.bin >out 2>err", folder));
}

/* Do the first two inputs have different logits? */
static bool has_two_results(const MerIntegerNet *net, const MerExportFiles *files)
{
    const char *logits = (const char *)files->list[files->count - 1].data + 20;
    size_t      size = 4 * (size_t)net->classes;
    return memcmp(logits, logits + size, size) != 0;
}

static void test_bits(void **state)
{
    MerRng      rng = mer_rng_make(7, 0);
    const char *folder = new_folder(arena);
    int         varied = 0;
    (void)state;
    for (int i = 0; i < NETS; i++) {
        const MerIntegerNet *net = random_integer_net(&rng, arena);
        MerExportFiles       files =
            export_net(i % 2 ? mer_integer_net_reorder(net, arena) : net, folder);
        size_t size;
        varied += has_two_results(net, &files);
        assert_int_equal(compile(folder, strict), 0);
        if (replay(folder) != 0) {
            fail_msg("net %d: %s", i, file_bytes(folder, "err", &size, arena));
        }
        assert_string_equal(file_bytes(folder, "out", &size, arena),
                            "random ____ __ on soc: 0 images and 20 random inputs, 0 differ\n");
    }
    assert_true(varied > NETS * 3 / 4);
    remove_folder(folder);
}

/* A wrong weight, logit or length of golden.bin is seen. */
static void test_faults(void **state)
{
    MerRng         rng = mer_rng_make(8, 0);
    const char    *folder = new_folder(arena);
    MerExportFiles files = export_net(random_integer_net(&rng, arena), folder);
    MerExportFile  golden = files.list[files.count - 1];
    char          *bytes = (char *)golden.data;
    const char    *path = mer_arena_format(arena, "%s/golden.bin", folder);
    size_t         size;
    (void)state;
    assert_string_equal(golden.name, "deploy/golden.bin");
    assert_int_equal(compile(folder, strict), 0);
    bytes[golden.size - 4] ^= 1;
    assert_int_equal(mer_file_write(path, bytes, golden.size, NULL), MER_OK);
    assert_int_equal(replay(folder) >> 8, 1);
    mer_test_contains(file_bytes(folder, "out", &size, arena), "20 random inputs, 1 differ");
    mer_test_contains(file_bytes(folder, "err", &size, arena), "input 19, class ");
    assert_int_equal(mer_file_write(path, bytes, golden.size - 1, NULL), MER_OK);
    assert_int_equal(replay(folder) >> 8, 2);
    mer_test_contains(file_bytes(folder, "err", &size, arena), "ends at input 19 of 20");
    bytes[12]++; /* bytes of an input */
    assert_int_equal(mer_file_write(path, bytes, golden.size, NULL), MER_OK);
    assert_int_equal(replay(folder) >> 8, 2);
    mer_test_contains(file_bytes(folder, "err", &size, arena), "is not made for this network");
    remove_folder(folder);
}

/* The last node that reads a value. */
static int last_reader(const MerIntegerNet *net, int value)
{
    int last = value - 1;
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        bool                  is_read =
            node->in[0] == value || (node->kind == MER_TRAIN_ADD && node->in[1] == value);
        last = is_read ? n : last;
    }
    return last;
}

static void test_memory(void **state)
{
    MerRng rng = mer_rng_make(9, 0);
    int    shared = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        const MerIntegerNet *net = random_integer_net(&rng, arena);
        MerBufferPlan        plan = mer_buffer_plan(net, arena);
        int64_t              sum = 0;
        assert_true(plan.alive <= plan.bytes);
        assert_true(plan.offset[0] == -1 && plan.offset[net->value_count - 1] == -1);
        for (int v = 1; v < net->value_count - 1; v++) {
            int64_t from = plan.offset[v], to = from + mer_integer_value_size(&net->values[v]);
            sum += to - from;
            assert_true(from >= 0 && to <= plan.bytes);
            for (int w = v + 1; w < net->value_count - 1; w++) { /* node w - 1 makes w */
                int64_t begin = plan.offset[w];
                int64_t end = begin + mer_integer_value_size(&net->values[w]);
                assert_true(last_reader(net, v) < w - 1 || end <= from || to <= begin);
            }
        }
        shared += plan.bytes < sum;
    }
    assert_true(shared > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
