/* Layer tables: the forms that are read, what their sizes mean, and what is refused. */
#include "import/layer_list.h"
#include "shared.h"

#include "base/file.h"
#include "unit/importer.h"

static MerGraph *import(const char *text, const char *select, MerArena *arena)
{
    MerImportFile file = text_file("t.csv", text);
    return must_import(&mer_importer_layers_csv, &file, select, arena);
}

static void assert_layers(const MerGraph *graph, int count, const char *const *expected)
{
    char text[200];
    assert_int_equal(graph->op_count, count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(describe(&graph->ops[i], text), expected[i]);
    }
}

static void test_gamma_form_counts_types_by_number(void **state)
{
    const MerGraph *graph = import("K,C,Y,X,R,S,T\n64,3,224,224,7,7,1\n1,32,112,112,3,3,2\n"
                                   "1000,2048,1,1,1,1,0\n512,768,3072,1,1,1,3\n",
                                   NULL, *state);
    assert_layers(graph, 4,
                  (const char *const[]){"conv K64 C3 Y218 X218 R7 S7",
                                        "depthwise C32 Y110 X110 R3 S3", "gemm K1000 C2048",
                                        "gemm K768 C3072 Y512"});
    assert_string_equal(graph->name, "toy");
    assert_string_equal(graph->format, "layers-csv");
    assert_string_equal(graph->ops[0].name, "layer1");
    assert_int_equal(graph->ops[0].input_rows, 224);
    assert_int_equal(graph->ops[0].macs, INT64_C(64) * 3 * 218 * 218 * 49);
    assert_int_equal(graph->ops[0].parameters, 64 * 3 * 49);
    assert_int_equal(graph->ops[0].input_bytes, 4 * 3 * 224 * 224);
    assert_int_equal(graph->ops[1].output_bytes, 4 * 32 * 110 * 110);
    assert_int_equal(graph->warning_count, 1);
}

static void test_scale_sim_convolutions_have_strides(void **state)
{
    const MerGraph *graph = import(
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
        "Strides,\r\nConv1, 230, 230, 7, 7, 3, 64, 2,\r\n\r\nFC6, 1, 1, 1, 1, 512, 1000, 1,\r\n",
        NULL, *state);
    assert_layers(graph, 2,
                  (const char *const[]){"conv K64 C3 Y112 X112 R7 S7 s2,2", "conv K1000 C512"});
    assert_string_equal(graph->ops[0].name, "Conv1");
    assert_int_equal(graph->warning_count, 0);
}

/* RFC 4180, as our own tables have it. */
static void test_quotes_inside_quotes_are_doubled(void **state)
{
    const char     *table = "network,layer,M,N,K\n\"n \"\"1\"\"\",\"a, \"\"b\"\"\",128,256,512\n"
                            "\"n \"\"1\"\"\",\"\"\"\"\"\",128,256,512\n";
    const MerGraph *graph = import(table, "n \"1\"", *state);
    assert_int_equal(graph->op_count, 2);
    assert_string_equal(graph->name, "n \"1\"");
    assert_string_equal(graph->ops[0].name, "a, \"b\"");
    assert_string_equal(graph->ops[1].name, "\"\"");
}

static void test_scale_sim_gemms_are_products(void **state)
{
    const MerGraph *graph = import("Layer,M,N,K,\nGEMM1,128,256,512,\n", NULL, *state);
    assert_layers(graph, 1, (const char *const[]){"gemm K256 C512 Y128"});
    assert_int_equal(graph->ops[0].input_bytes, 4 * 128 * 512);
    assert_int_equal(graph->ops[0].weight_bytes, 4 * 512 * 256);
    assert_int_equal(graph->ops[0].output_bytes, 4 * 128 * 256);
}

static void test_comments_case_order_and_unknown_columns_do_not_matter(void **state)
{
    const MerGraph *graph =
        import("\xef\xbb\xbf# a table\n\nname, S,r,y,X,c,k,Remark,TYPE,\"layer\"\n"
               "#,,,\n,3,1,8,9,2,5,\"a, b\",Conv,\"first\"\n",
               NULL, *state);
    assert_layers(graph, 1, (const char *const[]){"conv K5 C2 Y8 X7 S3"});
    assert_string_equal(graph->ops[0].name, "first");
    graph =
        import("name,type,K,C,Y,X,R,S\nstem,conv,5,2,8,9,1,3\n,conv,5,2,8,9,1,1\n", NULL, *state);
    assert_string_equal(graph->ops[0].name, "stem");
    assert_string_equal(graph->ops[1].name, "layer2");
}

static void test_groups_batches_and_transposed_layers(void **state)
{
    const MerGraph *graph =
        import("layer,type,stride_x,stride_y,N,G,K,C,R,S,Y,X,M\na,NGCONV,1,1,2,32,4,8,3,3,10,10,\n"
               "b,TRCONV,2,2,,,16,8,2,2,28,30,\nc,GEMM,,,20,,40,,,,,,10\n",
               NULL, *state);
    assert_layers(graph, 3,
                  (const char *const[]){"conv N2 K4 C8 Y8 X8 R3 S3 G32",
                                        "transposed K16 C8 Y28 X30 R2 S2 s2,2",
                                        "gemm K20 C40 Y10"});
    assert_int_equal(graph->ops[0].input_bytes, 4 * 2 * 256 * 100);
    assert_int_equal(graph->ops[0].parameters, 128 * 8 * 9);
    assert_int_equal(graph->ops[1].output_bytes, 4 * 16 * 56 * 60);
    assert_int_equal(graph->warning_count, 1);
}

static void test_one_of_several_networks_is_selected(void **state)
{
    const char     *text = "network,K,C,Y,X,R,S\na_1,1,1,1,1,1,1\nb,2,1,1,1,1,1\na_1,3,1,1,1,1,1\n";
    const MerGraph *graph = import(text, "a-1", *state);
    assert_string_equal(graph->name, "a_1");
    assert_int_equal(graph->op_count, 2);
    assert_int_equal(graph->ops[1].dims[MER_DIM_K], 3);
    graph = import("network,K,C,Y,X,R,S\nonly,1,1,1,1,1,1\n", NULL, *state);
    assert_string_equal(graph->name, "only");
}

typedef struct Case {
    const char *text, *select, *message;
} Case;

static void test_bad_tables_are_refused_where_they_are_bad(void **state)
{
#define HEAD "K,C,Y,X,R,S,T\n"
    static const Case cases[] = {
        {"a,b\n1,2\n", NULL,
         "t.csv:1:1: the header is none of a layer table, expected the columns "
         "K,C,Y,X,R,S,T or those of a SCALE-Sim topology, or M,N,K"},
        {"", NULL,
         "t.csv:1:1: the header is none of a layer table, expected the columns K,C,Y,X,R,S,T or "
         "those of a SCALE-Sim topology, or M,N,K"},
        {"K,C,k\n", NULL, "t.csv:1:5: column \"k\" stands twice in the header"},
        {HEAD, NULL, "t.csv:1:1: the table ends without a layer"},
        {HEAD "1,1,1,1,1\n", NULL,
         "t.csv:2:10: the type is \"\", expected FC, CONV, DSCONV, GEMM, NGCONV, "
         "TRCONV or 0 to 3"},
        {HEAD "1,1,1,1,1,1,4\n", NULL,
         "t.csv:2:13: the type is \"4\", expected FC, CONV, DSCONV, GEMM, "
         "NGCONV, TRCONV or 0 to 3"},
        {HEAD "1,1,1,1,1,,1\n", NULL,
         "t.csv:2:11: S is empty, expected an integer in 1 .. 2147483647"},
        {HEAD "# c\n1,1,1, -3 ,1,1,1\n", NULL,
         "t.csv:3:8: X is \"-3\", expected an integer in 1 .. 2147483647"},
        {HEAD "1,0,1,1,1,1,1\n", NULL,
         "t.csv:2:3: C is \"0\", expected an integer in 1 .. 2147483647"},
        {HEAD "1,nan,1,1,1,1,1\n", NULL,
         "t.csv:2:3: C is \"nan\", expected an integer in 1 .. 2147483647"},
        {HEAD "1,99999999999,1,1,1,1,1\n", NULL,
         "t.csv:2:3: C is \"99999999999\", expected an integer in 1 .. 2147483647"},
        {HEAD "3000000000,1,1,1,1,1,1\n", NULL,
         "t.csv:2:1: K is \"3000000000\", expected an integer in 1 .. 2147483647"},
        {HEAD "1,1,2,2,3,1,1\n", NULL, "t.csv:2:5: Y is 2, expected at least the filter's 3"},
        {HEAD "1,1,1,1,1,1,1,9\n", NULL,
         "t.csv:2:15: the line has 8 fields, expected at most the 7 of the header"},
        {"K,C,Y,X,R,S,type\n1,2,3,3,1,1,NGCONV\n", NULL,
         "t.csv:2:1: the line needs a column \"g\", which is absent"},
        {"M,N,K,type\n1,2,3,CONV\n", NULL,
         "t.csv:2:7: the type is CONV, expected GEMM in a table without the "
         "columns C, Y, X, R, S"},
        {"network,M,N,K\na,1,2,3\nb,1,2,3\n", NULL,
         "t.csv holds 2 networks, expected one to be selected: a, b (`network: NAME` beside "
         "`file` in a job list, --select NAME of inspect)"},
        {"network,M,N,K\nalexnet,1,2,3\nb,1,2,3\n", "alexnt",
         "t.csv has no network \"alexnt\", did you mean \"alexnet\""},
        {"network,M,N,K\na,1,2,3\nb,1,2,3\n", "resnet",
         "t.csv has no network \"resnet\", only a, b"},
        {"M,N,K\n1,2,3\n", "resnet",
         "t.csv has no network \"resnet\": it holds one network without a name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerImportFile    file = text_file("t.csv", cases[i].text);
        MerImportOptions options = {.select = cases[i].select};
        MerGraph        *graph = NULL;
        MerError         error = {0};
        assert_int_not_equal(mer_importer_layers_csv.read(&file, &options, *state, &graph, &error),
                             MER_OK);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void test_other_files_are_not_taken_for_tables(void **state)
{
    static const char *const texts[] = {"", "Network a {", "problem:\n  shape: cnn-layer\n",
                                        "a,b\n1,2\n", "\x08\x01\x12\x00"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        MerImportFile file = text_file("x", texts[i]);
        assert_false(mer_importer_layers_csv.probe(&file));
    }
}

static MerImportFile shared_file(const char *relative, MerArena *arena)
{
    char   path[SHARED_PATH_SIZE], *data;
    size_t size;
    shared_path(path, relative);
    assert_int_equal(mer_file_read(path, 1 << 20, arena, &data, &size, NULL), MER_OK);
    return (MerImportFile){
        .path = mer_arena_text(arena, path), .name = "table", .data = data, .size = size};
}

typedef struct Network {
    const char *name;
    int         layers;
} Network;

static int count_layers(const MerImportFile *file, const Network *networks, int count,
                        MerArena *arena)
{
    int total = 0;
    for (int i = 0; i < count; i++) {
        const MerGraph *graph =
            must_import(&mer_importer_layers_csv, file, networks[i].name, arena);
        assert_string_equal(graph->name, networks[i].name);
        assert_int_equal(graph->op_count, networks[i].layers);
        total += graph->op_count;
    }
    return total;
}

static void test_gamma_tables_hold_733_layers_of_18_networks(void **state)
{
    static const Network networks[] = {
        {"ALBERT_m", 5},         {"BERT_m", 6},         {"T5_m", 6},        {"alexnet", 5},
        {"densenet", 160},       {"dlrmRMC1_m", 6},     {"googlenet", 59},  {"mnasnet", 52},
        {"mobilenet_v2", 52},    {"ncf_m", 12},         {"resnet18", 20},   {"resnet50", 53},
        {"resnext50_32x4d", 53}, {"shufflenet_v2", 56}, {"squeezenet", 26}, {"transformer", 96},
        {"vgg16", 13},           {"wide_resnet50", 53}};
    MerImportFile file = shared_file("layers/gamma-layer-tables.csv", *state);
    assert_int_equal(count_layers(&file, networks, 18, *state), 733);
    MerError  error = {0};
    MerGraph *graph;
    assert_int_equal(mer_importer_layers_csv.read(&file, NULL, *state, &graph, &error),
                     MER_INVALID);
    assert_non_null(strstr(error.message, "holds 18 networks"));
}

static void test_maestro_tables_hold_378_layers_of_11_networks(void **state)
{
    static const Network networks[] = {
        {"MobileNetV2", 56}, {"ResNeXt50", 50},     {"Resnet50", 66},  {"Transformer_Layers", 6},
        {"UNet", 23},        {"gnmt", 9},           {"googlenet", 64}, {"mnasnet", 53},
        {"ncf", 12},         {"squeezenet1_0", 26}, {"vgg16", 13}};
    MerImportFile file = shared_file("layers/maestro-layer-tables.csv", *state);
    char          text[200];
    assert_int_equal(count_layers(&file, networks, 11, *state), 378);
    const MerGraph *unet = must_import(&mer_importer_layers_csv, &file, "UNet", *state);
    assert_string_equal(describe(&unet->ops[10], text), "transposed K512 C1024 Y28 X28 R2 S2");
    const MerGraph *mobile = must_import(&mer_importer_layers_csv, &file, "MobileNetV2", *state);
    assert_string_equal(describe(&mobile->ops[0], text), "conv K32 C3 Y112 X112 s2,2");
}

/* The forms of the two public tables on networks of our own. */
static void test_merged_tables_hold_several_networks(void **state)
{
    static const char gamma[] =
        "network,layer,type,K,C,Y,X,R,S,M,N,Kg\n"
        "small,c1,CONV,16,3,34,34,3,3,,,\nsmall,d1,DSCONV,1,16,34,34,3,3,,,\n"
        "small,c2,CONV,32,16,32,32,1,1,,,\ntext,g1,GEMM,,,,,,,20,96,64\n"
        "text,f1,FC,10,96,1,1,1,1,,,\nlast,c1,CONV,8,8,8,8,1,1,,,\n";
    static const char maestro[] =
        "network,layer,type,stride_x,stride_y,N,G,K,C,R,S,Y,X,M\n"
        "down,a,CONV,2,2,1,1,32,3,3,3,65,65,\ndown,b,DSCONV,1,1,1,1,1,32,3,3,34,34,\n"
        "up,a,TRCONV,2,2,1,1,16,32,2,2,8,8,\nup,b,GEMM,,,12,,48,,,,,,6\n";
    static const Network networks[] = {{"small", 3}, {"text", 2}, {"last", 1}};
    static const Network others[] = {{"down", 2}, {"up", 2}};
    MerImportFile        file = text_file("t.csv", gamma);
    MerError             error = {0};
    MerGraph            *graph;
    assert_int_equal(count_layers(&file, networks, 3, *state), 6);
    assert_layers(must_import(&mer_importer_layers_csv, &file, "small", *state), 3,
                  (const char *const[]){"conv K16 C3 Y32 X32 R3 S3", "depthwise C16 Y32 X32 R3 S3",
                                        "conv K32 C16 Y32 X32"});
    assert_int_equal(mer_importer_layers_csv.read(&file, NULL, *state, &graph, &error),
                     MER_INVALID);
    mer_test_contains(error.message, "holds 3 networks");
    file = text_file("t.csv", maestro);
    assert_int_equal(count_layers(&file, others, 2, *state), 4);
    assert_layers(
        must_import(&mer_importer_layers_csv, &file, "down", *state), 2,
        (const char *const[]){"conv K32 C3 Y32 X32 R3 S3 s2,2", "depthwise C32 Y32 X32 R3 S3"});
    assert_layers(must_import(&mer_importer_layers_csv, &file, "up", *state), 2,
                  (const char *const[]){"transposed K16 C32 Y8 X8 R2 S2 s2,2", "gemm K12 C48 Y6"});
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_gamma_form_counts_types_by_number),
        TEST(test_scale_sim_convolutions_have_strides),
        TEST(test_quotes_inside_quotes_are_doubled),
        TEST(test_scale_sim_gemms_are_products),
        TEST(test_comments_case_order_and_unknown_columns_do_not_matter),
        TEST(test_groups_batches_and_transposed_layers),
        TEST(test_one_of_several_networks_is_selected),
        TEST(test_bad_tables_are_refused_where_they_are_bad),
        TEST(test_other_files_are_not_taken_for_tables),
        TEST(test_merged_tables_hold_several_networks),
        TEST(test_gamma_tables_hold_733_layers_of_18_networks),
        TEST(test_maestro_tables_hold_378_layers_of_11_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
