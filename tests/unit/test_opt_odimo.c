/* ODiMO on a toy whose best decisions are known: columns of two operators that lose or do not lose by the cheap choice. The model's
 * loss is linear in the shares, the cost counts the columns of the dear choice. */
#include "mercator/graph.h"
#include "mercator/registry.h"
#include "opt/odimo_gates.h"
#include "support.h"
#include "tensor/ops.h"

#include <math.h>

enum { OPS = 2, COLUMNS = 4, KNOBS = OPS * COLUMNS, WIDE = 256 };

/* What a column loses by choice 1; choice 0 costs 1/8 of the reference and loses nothing. */
static const float losses[OPS][COLUMNS] = {{0, 1, 0, 1}, {0.02f, 0.02f, 1, 1}};

typedef struct Toy {
    MerParameters *groups[2];
    MerTensor     *weight;
    int            starts;
    int            columns;
    float  losses[OPS][WIDE]; /* with noise: as batches differ, so does what they say of a column */
    float  noise;
    MerRng rng;
} Toy;

static MerStatus start(void *state, MerPool *pool, MerNotes *notes, MerError *error)
{
    Toy *toy = state;
    (void)pool, (void)notes, (void)error;
    toy->starts++;
    toy->weight->data[0] = 1;
    return MER_OK;
}

static int batch_count(const void *state, int part)
{
    (void)state;
    return part == 0 ? 10 : 1;
}

/* sum over columns of share[1] loss, plus (w - 3)^2, so that the weight moves too */
static MerTensor *loss(void *state, MerTape *tape, MerTensor *const *choice, int part, int epoch,
                       int batch, MerTally *tally)
{
    Toy       *toy = state;
    MerTensor *w = mer_tensor_affine(tape, toy->weight, 1, -3);
    MerTensor *sum = mer_tensor_sum(tape, mer_tensor_square(tape, w));
    (void)part, (void)epoch, (void)batch;
    for (int op = 0; op < OPS; op++) {
        MerTensor *cheap = mer_tensor_slice(tape, choice[op], 0, 1, 1);
        MerTensor *lost = mer_tape_tensor(tape, 2, (int[]){1, toy->columns});
        for (int c = 0; c < toy->columns; c++) {
            float noise = toy->noise > 0 ? toy->noise * (float)mer_rng_normal(&toy->rng) : 0;
            lost->data[c] = toy->losses[op][c] + noise;
        }
        sum = mer_tensor_add(tape, sum, mer_tensor_sum(tape, mer_tensor_mul(tape, cheap, lost)));
    }
    tally->examples += 10;
    tally->correct += 5;
    tally->loss = sum->data[0];
    return sum;
}

static MerParameters *parameters(void *state, int group)
{
    return ((Toy *)state)->groups[group];
}

static MerTensor *expected(const void *state, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric)
{
    const Toy *toy = state;
    MerTensor *sum = NULL;
    (void)metric;
    for (int op = 0; op < OPS; op++) {
        MerTensor *dear = mer_tensor_sum(tape, mer_tensor_slice(tape, choice[op], 0, 0, 1));
        sum = sum == NULL ? dear : mer_tensor_add(tape, sum, dear);
    }
    return mer_tensor_affine(tape, sum, 1.0f / (float)(OPS * toy->columns), 0);
}

typedef struct Setting {
    MerArena                *arena;
    Toy                      toy;
    MerTrainable             trainable;
    MerSoftCost              soft;
    MerPointCost             numbers;
    int                      priced, refused; /* refuses: every one from so many on; 0: none */
    MerSpace                 space;
    MerKnob                  knobs[KNOBS];
    MerRng                   rng;
    MerSearch                search;
    void                    *state;
    const MerOptimizerClass *type;
} Setting;

/* As `expected`, of a decision and as a number. Every third point is refused, and all from `refused` on. */
static MerStatus share(void *state, const MerIndex *point, double *value, MerCost *cost,
                       MerError *error)
{
    Setting *s = state;
    int      dear = 0;
    if (cost != NULL) {
        mer_cost_clear(cost);
    }
    s->priced++;
    for (int k = 0; k < KNOBS; k++) {
        dear += point[k] == 0;
    }
    *value = (double)dear / KNOBS;
    bool is_lost = s->refused > 0 && s->priced >= s->refused;
    return s->priced % 3 == 0 || is_lost ? mer_error_set(error, MER_INVALID, "crash: gone")
                                         : MER_OK;
}

/* `counted`: columns of an operator whose knob counts; 0: COLUMNS with a knob each */
static void prepare(Setting *s, int counted)
{
    *s = (Setting){.arena = mer_arena_new(), .rng = mer_rng_make(1, 0)};
    s->toy.groups[0] = mer_parameters_new();
    s->toy.groups[1] = mer_parameters_new();
    s->toy.weight = mer_parameters_add(s->toy.groups[0], "w", 1, (int[]){1});
    for (int k = 0; k < KNOBS; k++) {
        s->knobs[k] =
            (MerKnob){.name = "k", .kind = MER_KNOB_CATEGORY, .op = k / COLUMNS, .choices = 2};
    }
    s->space = (MerSpace){.knob_count = KNOBS, .knobs = s->knobs};
    for (int op = 0; counted > 0 && op < OPS; op++) {
        s->knobs[op] =
            (MerKnob){.name = "n", .kind = MER_KNOB_ORDERED, .op = op, .choices = counted + 1};
        s->space.knob_count = OPS;
    }
    s->trainable = (MerTrainable){&s->toy, start, batch_count, loss, parameters};
    s->toy.columns = counted > 0 ? counted : COLUMNS;
    for (int op = 0; op < OPS; op++) {
        memcpy(s->toy.losses[op], losses[op], sizeof losses[op]);
    }
    s->soft = (MerSoftCost){&s->toy, expected, false};
    s->numbers = (MerPointCost){s, share};
    s->search = (MerSearch){.space = &s->space,
                            .rng = &s->rng,
                            .arena = s->arena,
                            .soft = &s->soft,
                            .trainable = &s->trainable};
}

static MerStatus open_prepared(Setting *s, const char *text, MerError *error)
{
    MerReference reference;
    assert_int_equal(mer_reference_parse(text, &reference, s->arena, NULL), MER_OK);
    s->type = mer_optimizer_find("odimo", NULL);
    void *options = mer_arena_alloc(s->arena, s->type->options_size);
    MER_TRY(
        mer_options_fill(s->type->options, s->type->presets, options, &reference, s->arena, error));
    s->state = mer_arena_alloc(s->arena, s->type->state_size);
    return s->type->open(s->state, &s->search, options, error);
}

static MerStatus try_open(Setting *s, const char *text, int counted, MerError *error)
{
    prepare(s, counted);
    return open_prepared(s, text, error);
}

static void setting_open(Setting *s, const char *text, int counted)
{
    MerError error = {0};
    if (try_open(s, text, counted, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
}

static void setting_close(Setting *s)
{
    if (s->state != NULL) {
        s->type->close(s->state);
    }
    mer_parameters_free(s->toy.groups[0]);
    mer_parameters_free(s->toy.groups[1]);
    mer_arena_free(s->arena);
}

static int ask(Setting *s, MerIndex *point)
{
    MerProposal proposal = {.point = point, .limit = INFINITY, .base = -1};
    return s->type->ask(s->state, &proposal, 1);
}

#define RATES ",rate=0.01,alpha_rate=0.05"
#define SMALL RATES ",search_epochs=12"

static void assert_point(Setting *s, const MerIndex *expected, int count)
{
    MerIndex point[KNOBS];
    assert_int_equal(ask(s, point), 1);
    for (int k = 0; k < count; k++) {
        if (point[k] != expected[k]) {
            fail_msg("knob %d is %d, expected %d", k, point[k], expected[k]);
        }
    }
}

/* A column of the dear choice costs lambda / 8: what loses less goes to the cheap one. */
static void test_stronger_costs_move_more_channels(void **state)
{
    (void)state;
    Setting  s;
    MerIndex weak[KNOBS] = {1, 0, 1, 0, 0, 0, 0, 0}, middle[KNOBS] = {1, 0, 1, 0, 1, 1, 0, 0},
             strong[KNOBS] = {1, 1, 1, 1, 1, 1, 1, 1}, rest[KNOBS];
    setting_open(&s, "odimo:lambda=[0.01,1,100]" SMALL, 0);
    assert_point(&s, weak, KNOBS);
    assert_point(&s, middle, KNOBS);
    assert_point(&s, strong, KNOBS);
    assert_int_equal(ask(&s, rest), 0);
    assert_int_equal(s.toy.starts, 3);
    assert_true(fabs(s.toy.weight->data[0] - 3) < 1); /* the model learned beside */
    setting_close(&s);
}

static void test_every_gate_and_estimator_finds_the_same(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "gate=sigmoid,search_epochs=12",           "gate=gumbel,search_epochs=12",
        "estimator=montecarlo:3,search_epochs=12", "ramp=linear,search_epochs=12",
        "cost_gradient=score,search_epochs=60",    "gradient=score:8,search_epochs=30"};
    MerIndex middle[KNOBS] = {1, 0, 1, 0, 1, 1, 0, 0};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        Setting s;
        char    text[200];
        snprintf(text, sizeof text, "odimo:lambda=[1]" RATES ",%s", forms[i]);
        print_message("%s\n", text);
        setting_open(&s, text, 0);
        assert_point(&s, middle, KNOBS);
        setting_close(&s);
    }
}

/* A program says what decisions cost, and now and then it fails: the same decisions, without a word of the user. */
static void test_costs_that_are_only_numbers_are_learned(void **state)
{
    (void)state;
    Setting  s;
    MerIndex middle[KNOBS] = {1, 0, 1, 0, 1, 1, 0, 0};
    prepare(&s, 0);
    s.search.soft = NULL;
    s.search.numbers = &s.numbers;
    assert_int_equal(open_prepared(&s, "odimo:lambda=[1]" RATES ",search_epochs=60", NULL), MER_OK);
    assert_point(&s, middle, KNOBS);
    assert_int_equal(s.priced, 1 + 60 * (10 * 8 + 1)); /* 8 draws a step, and the decision */
    setting_close(&s);
}

/* An evaluator that calls its cost a number has its gradient left alone. */
static void test_a_cost_that_is_called_a_number_is_drawn(void **state)
{
    (void)state;
    MerIndex plain[KNOBS], drawn[KNOBS];
    MerRng   after[2];
    for (int is_number = 0; is_number < 2; is_number++) {
        Setting s;
        prepare(&s, 0);
        s.soft.is_number = is_number == 1;
        assert_int_equal(open_prepared(&s, "odimo:lambda=[100],search_epochs=40" RATES, NULL),
                         MER_OK);
        assert_int_equal(ask(&s, is_number ? drawn : plain), 1);
        after[is_number] = s.rng;
        setting_close(&s);
    }
    assert_memory_equal(plain, drawn, sizeof plain);
    assert_memory_not_equal(&after[0], &after[1], sizeof after[0]);
}

static void keep_error(void *state, const char *name, const char *json)
{
    if (strcmp(name, "error") == 0) {
        snprintf(state, 200, "%s", json);
    }
}

static void test_a_program_that_is_gone_ends_the_search(void **state)
{
    (void)state;
    Setting  s;
    char     said[200] = "";
    MerIndex point[KNOBS];
    MerNotes notes = {.state = said, .note = keep_error};
    prepare(&s, 0);
    s.search.soft = NULL;
    s.search.numbers = &s.numbers;
    s.search.notes = &notes;
    s.refused = 200; /* in the third epoch */
    assert_int_equal(open_prepared(&s, "odimo:lambda=[1],search_epochs=60" RATES, NULL), MER_OK);
    assert_int_equal(ask(&s, point), 0);
    mer_test_contains(said, "nothing that was drawn in this epoch has a price: crash: gone");
    assert_true(s.priced < 400);
    setting_close(&s);
}

/* Without any reason to prefer one, the first choice is taken. */
static void test_ties_go_to_the_first_choice(void **state)
{
    (void)state;
    MerGates  gates;
    MerKnob   knobs[2] = {{.name = "a", .kind = MER_KNOB_CATEGORY, .op = 0, .choices = 3},
                          {.name = "b", .kind = MER_KNOB_CATEGORY, .op = 0, .choices = 3}};
    MerSpace  space = {.knob_count = 2, .knobs = knobs};
    MerArena *arena = mer_arena_new();
    MerIndex  point[2] = {9, 9};
    assert_int_equal(mer_gates_open(&gates, &space, MER_GATE_SOFTMAX, 0, arena, NULL), MER_OK);
    mer_gates_point(&gates, point);
    assert_int_equal(point[0], 0);
    assert_int_equal(point[1], 0);
    assert_true(fabs(mer_gates_settled(&gates) - 1.0 / 3) < 1e-6);
    mer_gates_close(&gates);
    mer_arena_free(arena);
}

/* Shares of every gate: columns sum to 1, and a low temperature makes them nearly 0 and 1. */
static void test_shares_sum_to_one_and_sharpen(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerRng    rng = mer_rng_make(2, 0);
    for (int kind = MER_GATE_SOFTMAX; kind <= MER_GATE_THERMOMETER; kind++) {
        MerGates gates;
        MerKnob  knobs[3];
        MerTape *tape = mer_tape_new(&mer_backend_plain, NULL);
        for (int k = 0; k < 3; k++) {
            knobs[k] = (MerKnob){.name = "a", .kind = MER_KNOB_CATEGORY, .op = 1, .choices = 2};
        }
        MerSpace space = {.knob_count = 3, .knobs = knobs};
        assert_int_equal(mer_gates_open(&gates, &space, (MerGateKind)kind, 0, arena, NULL), MER_OK);
        gates.gates[0].alpha->data[0] = 1;
        gates.temperature = kind == MER_GATE_GUMBEL ? 1 : 0.05;
        MerTensor **shares = mer_gates_shares(&gates, tape, &rng);
        assert_null(shares[0]);
        assert_int_equal(shares[1]->shape[0], 2);
        assert_int_equal(shares[1]->shape[1], 3);
        for (int c = 0; c < 3; c++) {
            assert_float_equal(shares[1]->data[c] + shares[1]->data[3 + c], 1, 1e-5f);
        }
        assert_true(kind == MER_GATE_GUMBEL || kind == MER_GATE_SIGMOID ||
                    shares[1]->data[0] > 0.99f);
        mer_gates_close(&gates);
        mer_tape_free(tape);
    }
    mer_arena_free(arena);
}

/* Counts are thermometers: the first columns have the first choice, so only prefixes can be had. */
static void test_counts_are_learned_as_thermometers(void **state)
{
    (void)state;
    Setting  s;
    MerIndex none[OPS] = {0, 0}, all[OPS] = {COLUMNS, COLUMNS};
    setting_open(&s, "odimo:lambda=[100,0]" SMALL, COLUMNS);
    assert_point(&s, none, OPS);
    assert_point(&s, all, OPS);
    setting_close(&s);
}

/* Gates of one operator with `choices` by counts, 12 columns. */
static void open_counted(MerGates *gates, MerSpace *space, MerKnob *knobs, int choices,
                         MerArena *arena)
{
    for (int k = 0; k + 1 < choices; k++) {
        knobs[k] = (MerKnob){.name = "n", .kind = MER_KNOB_ORDERED, .op = 0, .choices = 13};
    }
    *space = (MerSpace){.knob_count = choices - 1, .knobs = knobs};
    assert_int_equal(mer_gates_open(gates, space, MER_GATE_SOFTMAX, 0, arena, NULL), MER_OK);
}

/* Several thermometers: choices follow each other along the columns, start with equal parts, and the point says the same as the
 * shares whatever the logits are. */
static void test_several_counts_are_a_point_and_shares_alike(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerRng    rng = mer_rng_make(4, 0);
    MerTape  *tape = mer_tape_new(&mer_backend_plain, NULL);
    for (int choices = 2; choices <= 4; choices++) {
        MerGates gates;
        MerSpace space;
        MerKnob  knobs[3];
        MerIndex point[3];
        open_counted(&gates, &space, knobs, choices, arena);
        for (int trial = 0; trial < 200; trial++) {
            MerTensor *alpha = gates.gates[0].alpha;
            for (int64_t i = 0; trial > 0 && i < alpha->size; i++) {
                alpha->data[i] = (float)mer_rng_unit(&rng) * (trial % 2 ? 2 : 0.3f);
            }
            const float *share = mer_gates_shares(&gates, tape, NULL)[0]->data;
            mer_gates_point(&gates, point);
            const float *hard = mer_gates_decided(&gates, tape, point)[0]->data;
            for (int c = 0, last = 0; c < 12; c++) {
                for (int o = 0; o < choices; o++) {
                    assert_true(share[o * 12 + c] == hard[o * 12 + c]);
                    assert_true(trial > 0 || hard[o * 12 + c] == (c * choices / 12 == o));
                    assert_true(hard[o * 12 + c] == 0 || o >= last);
                    last = hard[o * 12 + c] == 1 ? o : last;
                }
            }
            mer_tape_reset(tape);
        }
        mer_gates_close(&gates);
    }
    mer_tape_free(tape);
    mer_arena_free(arena);
}

/* The squared distance of three counts from others leads there, whichever they are. */
static void test_several_counts_reach_those_that_are_cheapest(void **state)
{
    (void)state;
    static const int wanted[][3] = {{12, 0, 0}, {0, 12, 0}, {0, 0, 12}, {3, 5, 4},
                                    {0, 7, 5},  {6, 0, 6},  {9, 3, 0}};
    MerArena        *arena = mer_arena_new();
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        MerGates gates;
        MerSpace space;
        MerKnob  knobs[2];
        MerIndex point[2];
        MerTape *tape = mer_tape_new(&mer_backend_plain, NULL);
        open_counted(&gates, &space, knobs, 3, arena);
        for (int step = 0; step < 1000; step++) {
            MerTensor *alpha = gates.gates[0].alpha;
            MerTensor *share = mer_gates_shares(&gates, tape, NULL)[0];
            MerTensor *price = NULL;
            for (int o = 0; o < 3; o++) {
                MerTensor *count = mer_tensor_sum(tape, mer_tensor_slice(tape, share, 0, o, 1));
                MerTensor *off = mer_tensor_affine(tape, count, 1, -(float)wanted[w][o]);
                off = mer_tensor_square(tape, off);
                price = price == NULL ? off : mer_tensor_add(tape, price, off);
            }
            mer_parameters_clear(gates.alphas);
            assert_int_equal(mer_tape_backward(tape, price, NULL), MER_OK);
            for (int64_t i = 0; i < alpha->size; i++) {
                alpha->data[i] -= 0.002f * alpha->grad[i];
            }
            mer_gates_limit(&gates);
            mer_tape_reset(tape);
        }
        mer_gates_point(&gates, point);
        const float *hard = mer_gates_decided(&gates, tape, point)[0]->data;
        for (int o = 0; o < 3; o++) {
            float count = 0;
            for (int c = 0; c < 12; c++) {
                count += hard[o * 12 + c];
            }
            assert_int_equal((int)count, wanted[w][o]);
        }
        mer_gates_close(&gates);
        mer_tape_free(tape);
    }
    mer_arena_free(arena);
}

/* In wide layers as well, whatever batches say of single columns: all, none, and back. A column costs lambda / (2 x 256), and
 * loses half of the first lambda's by the cheap choice. */
static void test_wide_thermometers_shrink_and_grow(void **state)
{
    (void)state;
    for (int columns = 16; columns <= WIDE; columns *= 4) {
        Setting  s;
        MerIndex none[OPS] = {0, 0}, all[OPS] = {columns, columns};
        setting_open(&s, "odimo:lambda=[2,0,1,0.1],rate=0.01,search_epochs=20", columns);
        s.toy.noise = 1.0f / (float)columns;
        s.toy.rng = mer_rng_make(3, 0);
        for (int op = 0; op < OPS; op++) {
            for (int c = 0; c < columns; c++) {
                s.toy.losses[op][c] = 0.5f / (float)(OPS * columns);
            }
        }
        print_message("%d columns\n", columns);
        assert_point(&s, none, OPS);
        assert_point(&s, all, OPS);
        assert_point(&s, none, OPS);
        assert_point(&s, all, OPS);
        setting_close(&s);
    }
}

static float weight_after(const char *text)
{
    Setting  s;
    MerIndex point[KNOBS];
    setting_open(&s, text, 0);
    assert_int_equal(ask(&s, point), 1);
    float weight = s.toy.weight->data[0];
    setting_close(&s);
    return weight;
}

/* Adam's steps are as long as its rate, so that they can be counted: 10 per epoch, from 1 towards 3. */
static void test_rates_fall_by_steps_of_epochs(void **state)
{
    (void)state;
    const char *adam = "odimo:lambda=[1],search_epochs=4,rate=0.01,weight_decay=0,updater=adam,"
                       "schedule=steps";
    char        text[200];
    assert_float_equal(weight_after(adam), 1.4f, 0.01f);
    snprintf(text, sizeof text, "%s,steps=[1,3],step_factor=0.5", adam);
    assert_float_equal(weight_after(text), 1.225f, 0.01f); /* 0.1 + 2 x 0.05 + 0.025 */
    snprintf(text, sizeof text, "%s,steps=[2],step_factor=0", adam);
    assert_float_equal(weight_after(text), 1.2f, 0.01f);
}

static void test_a_target_is_reached_and_not_passed(void **state)
{
    (void)state;
    Setting  s;
    MerIndex point[KNOBS];
    int      dear = 0;
    setting_open(&s, "odimo:target=0.5" RATES ",search_epochs=40", 0);
    assert_int_equal(ask(&s, point), 1);
    for (int k = 0; k < KNOBS; k++) {
        dear += point[k] == 0;
    }
    assert_true(dear >= 3 && dear <= 5); /* of 8 */
    assert_int_equal(ask(&s, point), 0);
    setting_close(&s);
}

/* Stopped in the middle of a training, saved, loaded elsewhere: the same decisions as without a stop. */
typedef struct Stop {
    Setting *s;
    int      checkpoints, wanted;
    char    *data;
    size_t   size;
} Stop;

static void take_checkpoint(void *state)
{
    Stop *stop = state;
    if (++stop->checkpoints == stop->wanted) {
        FILE *file = open_memstream(&stop->data, &stop->size);
        assert_int_equal(stop->s->type->save(stop->s->state, MER_KEEP_ALL, file, NULL), MER_OK);
        fclose(file);
    }
}

static void test_a_saved_training_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    static const char *const text = "odimo:lambda=[1,0.5],gate=gumbel" SMALL;
    Setting                  a, b;
    Stop                     stop = {.s = &a, .wanted = 17}; /* in the second training */
    MerNotes                 notes = {.state = &stop, .checkpoint = take_checkpoint};
    MerIndex                 first[KNOBS], second[KNOBS], again[KNOBS];
    setting_open(&a, text, 0);
    a.search.notes = &notes;
    assert_int_equal(ask(&a, first), 1);
    assert_int_equal(ask(&a, second), 1);
    assert_true(stop.size > 0);
    setting_open(&b, text, 0);
    FILE *file = fmemopen(stop.data, stop.size, "rb");
    assert_int_equal(b.type->load(b.state, MER_KEEP_ALL, file, NULL), MER_OK);
    fclose(file);
    assert_int_equal(ask(&b, again), 1);
    assert_memory_equal(again, second, sizeof again);
    assert_true(a.toy.weight->data[0] == b.toy.weight->data[0]);
    assert_int_equal(ask(&b, again), 0);
    free(stop.data);
    setting_close(&a);
    setting_close(&b);
}

static void test_what_cannot_be_learned_is_refused(void **state)
{
    (void)state;
    Setting  s;
    MerError error = {0};
    assert_int_equal(try_open(&s, "odimo:estimator=montecarlo:0", 0, &error), MER_INVALID);
    mer_test_contains(error.message, "expected expectation or montecarlo:K");
    setting_close(&s);
    assert_int_equal(try_open(&s, "odimo:lambda=[]", 0, &error), MER_INVALID);
    mer_test_contains(error.message, "expected at least one strength");
    setting_close(&s);
    assert_int_equal(try_open(&s, "odimo:gradient=exact", 0, &error), MER_INVALID);
    mer_test_contains(error.message, "expected model, score or score:K");
    mer_test_contains(error.message, "`gradient` of the evaluator");
    setting_close(&s);
    assert_int_equal(try_open(&s, "odimo:gradient=score", COLUMNS, &error), MER_UNSUPPORTED);
    mer_test_contains(error.message, "n is a thermometer: expected an evaluator with a gradient");
    setting_close(&s);
    assert_int_equal(try_open(&s, "odimo:gradient=score,gate=thermometer", 0, &error),
                     MER_UNSUPPORTED);
    mer_test_contains(error.message, "expected gate softmax, gumbel or sigmoid");
    setting_close(&s);
    setting_open(&s, "odimo", 0);
    s.search.trainable = NULL;
    s.type->close(s.state);
    assert_int_equal(
        s.type->open(s.state, &s.search,
                     mer_options_or_defaults(NULL, s.type->options, s.type->options_size, s.arena),
                     &error),
        MER_UNSUPPORTED);
    mer_test_contains(error.message, "learns choices by gradients");
    s.state = NULL;
    setting_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stronger_costs_move_more_channels),
        cmocka_unit_test(test_every_gate_and_estimator_finds_the_same),
        cmocka_unit_test(test_costs_that_are_only_numbers_are_learned),
        cmocka_unit_test(test_a_cost_that_is_called_a_number_is_drawn),
        cmocka_unit_test(test_a_program_that_is_gone_ends_the_search),
        cmocka_unit_test(test_ties_go_to_the_first_choice),
        cmocka_unit_test(test_shares_sum_to_one_and_sharpen),
        cmocka_unit_test(test_counts_are_learned_as_thermometers),
        cmocka_unit_test(test_several_counts_are_a_point_and_shares_alike),
        cmocka_unit_test(test_several_counts_reach_those_that_are_cheapest),
        cmocka_unit_test(test_wide_thermometers_shrink_and_grow),
        cmocka_unit_test(test_rates_fall_by_steps_of_epochs),
        cmocka_unit_test(test_a_target_is_reached_and_not_passed),
        cmocka_unit_test(test_a_saved_training_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(test_what_cannot_be_learned_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
