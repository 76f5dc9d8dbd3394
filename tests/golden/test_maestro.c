/* The data-centric model against 40 runs of MAESTRO at 4eb08d1 (tests/data/maestro.jsonl):
 * integers exactly, floats to 1e-5 (they were printed with six digits), both accountings. */
#include "layer/datacentric_levels.h"
#include "layer/datacentric_plan.h"
#include "support.h"

#include <math.h>

#include <cjson/cJSON.h>

enum { CASE_COUNT = 40 };

typedef struct Golden {
    char  *text;
    int    count;
    cJSON *cases[CASE_COUNT];
} Golden;

static int load(void **state)
{
    static Golden golden;

    *state = &golden;
    return 0;
}

static void read_cases(Golden *golden)
{
    FILE *file;
    long  size;
    char *line;

    if (golden->count > 0)
        return;
    file = fopen(TEST_DATA("maestro.jsonl"), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    golden->text = calloc((size_t)size + 1, 1);
    assert_int_equal(fread(golden->text, 1, (size_t)size, file), size);
    fclose(file);
    for (line = golden->text; *line && golden->count < CASE_COUNT; line++) {
        const char *end = line;
        cJSON      *parsed = cJSON_ParseWithOpts(line, &end, 0);

        assert_non_null(parsed);
        golden->cases[golden->count++] = parsed;
        line += end - line;
        if (!*line)
            break;
    }
    assert_int_equal(golden->count, CASE_COUNT);
}

static int unload(void **state)
{
    Golden *golden = *state;

    for (int i = 0; i < golden->count; i++)
        cJSON_Delete(golden->cases[i]);
    free(golden->text);
    return 0;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!found)
        fail_msg("no %s", name);
    return found;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return member(object, name)->valuestring;
}

static int64_t number(const cJSON *object, const char *name)
{
    return (int64_t)member(object, name)->valuedouble;
}

static int dim_of(const char *name)
{
    const char *letters = MER_DATACENTRIC_LETTERS;

    return (int)(strchr(letters, name[0]) - letters);
}

static void read_layer(const cJSON *from, MerDatacentricLayer *layer)
{
    const cJSON *stride = member(from, "stride");

    *layer = (MerDatacentricLayer){.stride_y = 1, .stride_x = 1};
    while (strcmp(mer_datacentric_type_name(layer->type), text_of(from, "type")) != 0)
        layer->type++;
    if (cJSON_HasObjectItem(stride, "X")) {
        layer->stride_x = number(stride, "X");
        layer->stride_y = number(stride, "Y");
    }
    for (const cJSON *dim = member(from, "dims")->child; dim; dim = dim->next)
        layer->dims[dim_of(dim->string)] = (int64_t)dim->valuedouble;
}

static void read_mapping(const cJSON *directives, MerDatacentricMapping *mapping)
{
    const cJSON *item;
    int          level = 0;

    memset(mapping, 0, sizeof *mapping);
    cJSON_ArrayForEach(item, directives)
    {
        const char              *op = text_of(item, "op");
        MerDatacentricDirective *directive = &mapping->directives[level][mapping->count[level]];

        if (strcmp(op, "Cluster") == 0) {
            mapping->cluster[level++] = number(item, "size");
            continue;
        }
        directive->spatial = strcmp(op, "SpatialMap") == 0;
        directive->output = strchr(text_of(item, "dim"), '\'') != NULL;
        directive->dim = dim_of(text_of(item, "dim"));
        directive->size = number(item, "size");
        directive->offset = number(item, "offset");
        mapping->count[level]++;
    }
    mapping->level_count = level + 1;
}

static void read_input(const cJSON *from, MerDatacentricMapping *mapping,
                       MerDatacentricInput *input)
{
    const cJSON *hardware = member(from, "hw");

    memset(input, 0, sizeof *input);
    input->mapping = mapping;
    read_layer(member(from, "layer"), &input->layer);
    read_mapping(member(from, "directives"), mapping);
    input->hardware = (MerDatacentricHardware){.num_pes = number(hardware, "num_pes"),
                                               .noc_bw = number(hardware, "noc_bw"),
                                               .noc_latency = number(hardware, "noc_hops") *
                                                              number(hardware, "noc_hop_latency"),
                                               .offchip_bw = number(hardware, "offchip_bw"),
                                               .simd_lanes = number(hardware, "simd_lanes"),
                                               .l1_size = number(hardware, "l1_size_cstr"),
                                               .l2_size = number(hardware, "l2_size_cstr"),
                                               .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                               .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                               .mac_nj = MER_DATACENTRIC_MAC_NJ};
}

static int compare_int(const char *id, const char *name, int64_t value, const cJSON *expected)
{
    if (value == (int64_t)expected->valuedouble)
        return 0;
    print_error("%s %s is %lld, expected %.0f\n", id, name, (long long)value,
                expected->valuedouble);
    return 1;
}

static int compare_real(const char *id, const char *name, double value, const cJSON *expected)
{
    if (fabs(value - expected->valuedouble) <= 1e-5 * fabs(expected->valuedouble))
        return 0;
    print_error("%s %s is %g, expected %g\n", id, name, value, expected->valuedouble);
    return 1;
}

static int compare_bool(const char *id, const char *name, bool value, const cJSON *expected)
{
    if (value == (bool)cJSON_IsTrue(expected))
        return 0;
    print_error("%s %s is %d\n", id, name, value);
    return 1;
}

#define compare_INT compare_int
#define compare_REAL compare_real
#define compare_BOOL compare_bool

static int compare(const char *id, const MerDatacentricResult *result, const cJSON *expected)
{
    static const char *const tensors[] = {"input", "filter", "output"};
    int                      wrong = 0;

#define X(kind, name) wrong += compare_##kind(id, #name, result->name, member(expected, #name));
    MER_DATACENTRIC_COUNT_MAP(X)
#undef X
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        const cJSON *part = member(expected, tensors[t]);

#define X(kind, name)                                                                              \
    wrong += compare_##kind(tensors[t], #name, result->tensor[t].name, member(part, #name));
        MER_DATACENTRIC_TENSOR_COUNT_MAP(X)
#undef X
    }
    return wrong;
}

static int check_case(const cJSON *golden, const MerDatacentricResult *result)
{
    const char *id = text_of(golden, "id"), *status = text_of(golden, "status");

    if (strcmp(status, "error") == 0)
        status = "infeasible";
    if (strcmp(mer_datacentric_status_name(result->status), status) != 0) {
        print_error("%s is %s (%s), expected %s\n", id, mer_datacentric_status_name(result->status),
                    result->reason, status);
        return 1;
    }
    if (result->status == MER_DATACENTRIC_DEGENERATE)
        return result->runtime_cycles != 0 || result->num_macs != 0;
    if (result->status == MER_DATACENTRIC_INFEASIBLE)
        return result->reason[0] == '\0';
    return compare(id, result, member(golden, "expected"));
}

static void plain_model_gives_the_counts_of_maestro(void **state)
{
    Golden *golden = *state;
    int     wrong = 0;

    read_cases(golden);
    for (int i = 0; i < golden->count; i++) {
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  result;

        read_input(golden->cases[i], &mapping, &input);
        mer_datacentric_evaluate_plain(&input, &result);
        wrong += check_case(golden->cases[i], &result);
    }
    assert_int_equal(wrong, 0);
}

static void fast_model_gives_the_counts_of_maestro(void **state)
{
    Golden *golden = *state;
    int     wrong = 0;

    read_cases(golden);
    for (int i = 0; i < golden->count; i++) {
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  result;

        read_input(golden->cases[i], &mapping, &input);
        mer_datacentric_evaluate(&input, MER_DATACENTRIC_EVERYTHING, &result);
        wrong += check_case(golden->cases[i], &result);
    }
    assert_int_equal(wrong, 0);
}

static void check_level(const char *id, const MerDatacentricLevel *level, const cJSON *expected)
{
    const cJSON *directives = member(expected, "directives"), *dim;

    assert_int_equal(level->units, number(expected, "sub_clusters"));
    assert_int_equal(level->edge_units, number(expected, "edge_sub_clusters"));
    cJSON_ArrayForEach(dim, member(expected, "dims")) if (level->row_of[dim_of(dim->string)] >= 0)
        assert_int_equal(level->dims[dim_of(dim->string)], dim->valuedouble);
    assert_int_equal(level->count, cJSON_GetArraySize(directives));
    for (int i = 0; i < level->count; i++) {
        const MerDatacentricRow *row = &level->rows[i];
        char                     text[64];

        snprintf(text, sizeof text, "%s(%lld,%lld) %c", row->spatial ? "SpatialMap" : "TemporalMap",
                 (long long)row->size, (long long)row->offset, MER_DATACENTRIC_LETTERS[row->dim]);
        if (strcmp(text, cJSON_GetArrayItem(directives, i)->valuestring) != 0)
            fail_msg("%s: %s, expected %s", id, text,
                     cJSON_GetArrayItem(directives, i)->valuestring);
    }
}

static void levels_are_completed_as_in_the_reference(void **state)
{
    Golden *golden = *state;
    int     checked = 0;

    read_cases(golden);
    for (int i = 0; i < golden->count; i++) {
        const cJSON *levels = cJSON_GetObjectItemCaseSensitive(golden->cases[i], "resolved_levels");
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  result;
        MerDatacentricModel   model;

        if (!cJSON_IsArray(levels))
            continue;
        read_input(golden->cases[i], &mapping, &input);
        assert_true(mer_datacentric_resolve(&input, &model, &result));
        assert_int_equal(model.level_count, cJSON_GetArraySize(levels));
        for (int l = 0; l < model.level_count; l++)
            check_level(text_of(golden->cases[i], "id"), &model.levels[l],
                        cJSON_GetArrayItem(levels, l));
        checked++;
    }
    assert_int_equal(checked, 36);
}

static void strict_takes_a_case_exactly_when_its_macs_are_exact_and_its_buffers_fit(void **state)
{
    Golden *golden = *state;

    read_cases(golden);
    for (int i = 0; i < golden->count; i++) {
        const cJSON *expected = cJSON_GetObjectItemCaseSensitive(golden->cases[i], "expected");
        bool         legal = strcmp(text_of(golden->cases[i], "status"), "ok") == 0;
        MerDatacentricMapping mapping;
        MerDatacentricInput   input;
        MerDatacentricResult  result;

        legal = legal && cJSON_IsTrue(member(expected, "macs_exact")) &&
                cJSON_IsTrue(member(expected, "l1_fits")) &&
                cJSON_IsTrue(member(expected, "l2_fits"));
        read_input(golden->cases[i], &mapping, &input);
        input.strict = true;
        mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, &result);
        if ((result.status == MER_DATACENTRIC_OK) != legal)
            fail_msg("%s: %s", text_of(golden->cases[i], "id"), result.reason);
        if (legal)
            assert_int_equal(result.runtime_cycles, number(expected, "runtime_cycles"));
    }
}

/* The operator an importer makes of a layer: output sizes, and the input image beside them. */
static MerOp make_op(const MerDatacentricLayer *layer)
{
    static const MerOpKind kinds[] = {MER_OP_CONV, MER_OP_DEPTHWISE, MER_OP_CONV, MER_OP_GEMM};
    const int64_t         *dims = layer->dims;
    MerOp                  op = mer_op_make("layer", "golden", kinds[layer->type]);

    if (layer->type == MER_DATACENTRIC_GEMM) {
        op.dims[MER_DIM_Y] = dims[MER_DATACENTRIC_M];
        op.dims[MER_DIM_K] = dims[MER_DATACENTRIC_N];
        op.dims[MER_DIM_C] = dims[MER_DATACENTRIC_K];
        return op;
    }
    op.dims[MER_DIM_K] = dims[MER_DATACENTRIC_K];
    op.dims[MER_DIM_C] = dims[MER_DATACENTRIC_C];
    op.dims[MER_DIM_R] = dims[MER_DATACENTRIC_R];
    op.dims[MER_DIM_S] = dims[MER_DATACENTRIC_S];
    op.stride[0] = (int)layer->stride_y;
    op.stride[1] = (int)layer->stride_x;
    op.input_rows = dims[MER_DATACENTRIC_Y];
    op.input_columns = dims[MER_DATACENTRIC_X];
    op.dims[MER_DIM_Y] = (op.input_rows - op.dims[MER_DIM_R]) / op.stride[0] + 1;
    op.dims[MER_DIM_X] = (op.input_columns - op.dims[MER_DIM_S]) / op.stride[1] + 1;
    return op;
}

static void imported_operators_become_the_layers_again(void **state)
{
    Golden *golden = *state;

    read_cases(golden);
    for (int i = 0; i < golden->count; i++) {
        MerDatacentricLayer layer, again;
        MerOp               op;

        read_layer(member(golden->cases[i], "layer"), &layer);
        op = make_op(&layer);
        assert_int_equal(mer_datacentric_layer(&op, false, &again, NULL), MER_OK);
        assert_int_equal(again.type, layer.type);
        assert_int_equal(again.stride_y, layer.stride_y);
        assert_int_equal(again.stride_x, layer.stride_x);
        for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
            if (layer.dims[dim] > 0)
                assert_int_equal(again.dims[dim], layer.dims[dim]);
        assert_int_equal(mer_datacentric_macs(&again), number(golden->cases[i], "true_macs"));
        assert_int_equal(mer_datacentric_layer(&op, true, &again, NULL), MER_OK);
        assert_int_equal(mer_datacentric_macs(&again), number(golden->cases[i], "true_macs"));
    }
}

/* VGG16 conv13 on 168 PEs: MAESTRO prices 1.4 % of the work and reports 442,517 cycles, far below
 * the 2,022,254 that every PE busy in every cycle would need. */
static void illegal_mapping_is_priced_in_compat_and_refused_in_strict(void **state)
{
    static const MerDatacentricMapping offender = {
        .level_count = 2,
        .count = {6, 6},
        .cluster = {90},
        .directives = {{{false, true, MER_DATACENTRIC_X, 13, 13},
                        {false, false, MER_DATACENTRIC_S, 3, 3},
                        {false, false, MER_DATACENTRIC_C, 7, 7},
                        {true, false, MER_DATACENTRIC_K, 507, 507},
                        {false, true, MER_DATACENTRIC_Y, 14, 14},
                        {false, false, MER_DATACENTRIC_R, 3, 3}},
                       {{false, false, MER_DATACENTRIC_S, 3, 3},
                        {true, false, MER_DATACENTRIC_K, 12, 12},
                        {false, true, MER_DATACENTRIC_X, 11, 11},
                        {false, false, MER_DATACENTRIC_R, 3, 3},
                        {false, false, MER_DATACENTRIC_C, 3, 3},
                        {false, true, MER_DATACENTRIC_Y, 4, 4}}}};
    MerDatacentricInput  input = {.mapping = &offender,
                                  .layer = {.type = MER_DATACENTRIC_CONV,
                                            .stride_y = 1,
                                            .stride_x = 1,
                                            .dims = {[MER_DATACENTRIC_K] = 512,
                                                     [MER_DATACENTRIC_C] = 512,
                                                     [MER_DATACENTRIC_R] = 3,
                                                     [MER_DATACENTRIC_S] = 3,
                                                     [MER_DATACENTRIC_Y] = 14,
                                                     [MER_DATACENTRIC_X] = 14}},
                                  .hardware = {.num_pes = 168,
                                               .noc_bw = 81920000,
                                               .noc_latency = 1,
                                               .offchip_bw = 1 << 30,
                                               .simd_lanes = 1,
                                               .l1_size = INT64_MAX,
                                               .l2_size = INT64_MAX,
                                               .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                               .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                               .mac_nj = MER_DATACENTRIC_MAC_NJ}};
    MerDatacentricResult result;

    (void)state;
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_EVERYTHING, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_OK);
    assert_int_equal(result.runtime_cycles, 442517);
    assert_int_equal(result.num_macs, 4718592);
    assert_int_equal(result.l1_size_req, 2988);
    assert_int_equal(result.l2_size_req, 65910);
    input.strict = true;
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_EVERYTHING, &result);
    assert_int_equal(result.status, MER_DATACENTRIC_INFEASIBLE);
    assert_string_equal(result.reason, "coverage: covers 4718592 of 339738624 MACs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imported_operators_become_the_layers_again),
        cmocka_unit_test(levels_are_completed_as_in_the_reference),
        cmocka_unit_test(plain_model_gives_the_counts_of_maestro),
        cmocka_unit_test(fast_model_gives_the_counts_of_maestro),
        cmocka_unit_test(strict_takes_a_case_exactly_when_its_macs_are_exact_and_its_buffers_fit),
        cmocka_unit_test(illegal_mapping_is_priced_in_compat_and_refused_in_strict),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
