/* A transformer of many operators, every head and normalisation spelled out as exporters do, placed on eight units by the default.
 * MERCATOR_STUDY=1 takes 48 layers (about 5,000 operators) and 780 (about 80,000) and says how long that takes and what memory. */
#include "command.h"
#include "onnx_builder.h"

#include <sys/resource.h>
#include <time.h>

enum { HEADS = 12, MOST_ITEMS = 120000 };

typedef struct Maker {
    OnnxBuilder *b;
    char         prefix[40];
    int          head, count;
} Maker;

/* "%" stands for the layer's name, "#" for the number of the head. */
static const char *spell(const Maker *m, const char *text)
{
    const char *result = "";
    for (const char *at = text; *at; at++) {
        result = *at == '%'   ? mer_arena_format(m->b->arena, "%s%s", result, m->prefix)
                 : *at == '#' ? mer_arena_format(m->b->arena, "%s%d", result, m->head)
                              : mer_arena_format(m->b->arena, "%s%c", result, *at);
    }
    return result;
}

static void add(Maker *m, const char *op, const char *inputs, const char *output,
                const char *attributes)
{
    Onnx__NodeProto *node = onnx_node(m->b, op, spell(m, inputs), spell(m, output), attributes);
    char            *words[ONNX_BUILDER_WORDS];
    onnx_words(m->b->arena, spell(m, output), words);
    node->name = words[0];
    m->count++;
}

static void weight(const Maker *m, const char *name, const char *dims)
{
    onnx_weight(m->b, spell(m, name), dims);
}

static void add_norm(Maker *m, const char *input, const char *at)
{
    const char *t = mer_arena_format(m->b->arena, "%%%s", at);
    weight(m, mer_arena_format(m->b->arena, "%s.g", t), "768");
    weight(m, mer_arena_format(m->b->arena, "%s.b", t), "768");
#define T(suffix) mer_arena_format(m->b->arena, "%s." suffix, t)
#define T2(a, suffix) mer_arena_format(m->b->arena, "%s %s." suffix, a, t)
    add(m, "ReduceMean", input, T("mean"), "axes=[-1]");
    add(m, "Sub", T2(input, "mean"), T("sub"), "");
    add(m, "Mul", mer_arena_format(m->b->arena, "%s.sub %s.sub", t, t), T("square"), "");
    add(m, "ReduceMean", T("square"), T("variance"), "axes=[-1]");
    add(m, "Sqrt", T("variance"), T("deviation"), "");
    add(m, "Div", mer_arena_format(m->b->arena, "%s.sub %s.deviation", t, t), T("scaled"), "");
    add(m, "Mul", mer_arena_format(m->b->arena, "%s.scaled %s.g", t, t), T("times"), "");
    add(m, "Add", mer_arena_format(m->b->arena, "%s.times %s.b", t, t), t, "");
}

static void add_head(Maker *m, int head)
{
    m->head = head;
    add(m, "Transpose", "%k.#", "%h#.kt", "perm=[1,0]");
    add(m, "MatMul", "%q.# %h#.kt", "%h#.scores", "");
    add(m, "Mul", "%h#.scores scale", "%h#.scaled", "");
    add(m, "Add", "%h#.scaled mask", "%h#.masked", "");
    add(m, "Softmax", "%h#.masked", "%h#.weights", "axis=-1");
    add(m, "MatMul", "%h#.weights %v.#", "%h#.out", "");
}

static void add_product(Maker *m, const char *input, const char *name, const char *dims,
                        const char *width)
{
    MerArena *a = m->b->arena;
    weight(m, mer_arena_format(a, "%%%s.w", name), dims);
    weight(m, mer_arena_format(a, "%%%s.bias", name), width);
    add(m, "MatMul", mer_arena_format(a, "%s %%%s.w", input, name),
        mer_arena_format(a, "%%%s.product", name), "");
    add(m, "Add", mer_arena_format(a, "%%%s.product %%%s.bias", name, name),
        mer_arena_format(a, "%%%s", name), "");
}

static const char *heads_of(Maker *m, const char *name)
{
    const char *list = "";
    for (m->head = 0; m->head < HEADS; m->head++) {
        list = mer_arena_format(m->b->arena, "%s%s ", list, spell(m, name));
    }
    return list;
}

static void add_layer(Maker *m, int layer, const char *input)
{
    MerArena *a = m->b->arena;
    snprintf(m->prefix, sizeof m->prefix, "layers.%d.", layer);
    add_norm(m, input, "norm1");
    for (const char *part = "qkv"; *part; part++) {
        const char *name = mer_arena_format(a, "%c", *part);
        add_product(m, "%norm1", name, "768 768", "768");
        add(m, "Split", mer_arena_format(a, "%%%s", name),
            heads_of(m, mer_arena_format(a, "%%%c.#", *part)), "axis=1");
    }
    for (int h = 0; h < HEADS; h++) {
        add_head(m, h);
    }
    add(m, "Concat", heads_of(m, "%h#.out"), "%heads", "axis=1");
    add_product(m, "%heads", "out", "768 768", "768");
    add(m, "Add", mer_arena_format(a, "%s %%out", input), "%residual", "");
    add_norm(m, "%residual", "norm2");
    add_product(m, "%norm2", "up", "768 3072", "3072");
    add(m, "Erf", "%up", "%erf", "");
    add(m, "Mul", "%erf %up", "%gelu", "");
    add_product(m, "%gelu", "down", "3072 768", "768");
    add(m, "Add", "%residual %down", "%result", "");
}

static int write_transformer(const char *path, int layers, MerArena *arena)
{
    Maker m = {.b = onnx_builder(17, arena)};
    m.b->graph.node = MER_ARRAY(arena, Onnx__NodeProto *, MOST_ITEMS);
    m.b->graph.initializer = MER_ARRAY(arena, Onnx__TensorProto *, MOST_ITEMS);
    onnx_input(m.b, "x", "128 768");
    onnx_weight(m.b, "scale", "1");
    onnx_weight(m.b, "mask", "128 128");
    const char *input = "x";
    for (int l = 0; l < layers; l++) {
        add_layer(&m, l, input);
        input = mer_arena_format(arena, "layers.%d.result", l);
    }
    onnx_output(m.b, input, NULL);
    MerImportFile file = onnx_file(m.b);
    write_bytes(path, file.data, file.size);
    return m.count;
}

static double value_of(const cJSON *answer, const char *object, const char *key)
{
    return command_member(command_member(answer, object), key)->valuedouble;
}

/* Better than any single unit, never below the bound. */
static void place(const char *evaluator, const char *metric, const char *how, int layers)
{
    MerArena       *arena = mer_arena_new();
    int             count = write_transformer("net.onnx", layers, arena);
    struct timespec start, end;
    struct rusage   used;
    char            command[400];
    snprintf(command, sizeof command,
             "place net.onnx --platform eight-v100-nvlink --evaluator %s --optimizer single --json "
             "--quiet --no-report --what-if off -o single",
             evaluator);
    cJSON *single = command_json(command);
    snprintf(command, sizeof command,
             "place net.onnx --platform eight-v100-nvlink --evaluator %s --json --quiet "
             "--no-report %s -o best",
             evaluator, how);
    clock_gettime(CLOCK_MONOTONIC, &start);
    cJSON *best = command_json(command);
    clock_gettime(CLOCK_MONOTONIC, &end);
    getrusage(RUSAGE_CHILDREN, &used);
    assert_non_null(single);
    assert_non_null(best);
    double value = value_of(best, "best", metric), bound = value_of(best, "bound", "value");
    print_message(
        "%d operators, %s%s: %.4g s, one unit %.4g s, bound %.4g s; %.1f s, at most %.0f MB\n",
        count, metric, how, value, value_of(single, "best", metric), bound,
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec),
        (double)used.ru_maxrss / 1024);
    assert_true(value >= bound);
    assert_true(value < value_of(single, "best", metric));
    cJSON_Delete(best);
    cJSON_Delete(single);
    remove_folder("best");
    remove_folder("single");
    mer_arena_free(arena);
}

static void test_a_transformer_is_placed_better_than_on_one_unit(void **state)
{
    const char *study = getenv("MERCATOR_STUDY");
    bool        is_study = study && strcmp(study, "1") == 0;
    (void)state;
    static const char go[] =
        " --optimizer go:preset=small,updates=0"; /* a policy that has learned nothing yet */
    place("cluster", "makespan", "", is_study ? 48 : 4);
    place("maxload", "period", "", is_study ? 48 : 4);
    place("maxload", "period", go, is_study ? 780 : 80);
    if (is_study) {
        place("maxload", "period", "", 780);
        place("cluster", "makespan", "", 780);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_transformer_is_placed_better_than_on_one_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
