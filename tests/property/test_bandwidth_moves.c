/* The fast forms of the plain loop against the plain one: vectors, snapshots and limits change no bit and no
 * decision, whatever a plan was changed from. */
#include "one_arena.h"
#include "schedule_support.h"

#include "schedule/cost/bandwidth_snapshot.h"

typedef enum Kind {
    FEW_SIZES, /* so that some end at once */
    EQUAL,     /* everyone ends with everyone else, */
    NEARLY,    /* or would but for roundings */
    ALL_SIZES, /* over many orders of magnitude */
    KIND_COUNT
} Kind;

static double random_cycles(Kind kind, MerRng *rng)
{
    switch (kind) {
    case EQUAL:
        return 1000.0 / 3;
    case NEARLY:
        return 1000.0 / 3 * (1 + 1e-15 * mer_rng_below(rng, 100));
    case ALL_SIZES:
        return exp(40 * mer_rng_unit(rng) - 10);
    default:
        return 10 * (1 + mer_rng_below(rng, 8)) + 0.1 * mer_rng_below(rng, 2);
    }
}

/* Some jobs need more than all the bandwidth there is. */
static MerBandwidthInput random_input(Kind kind, int jobs, int units, double bandwidth, MerRng *rng)
{
    double *latency = MER_ARRAY(arena, double, jobs *units);
    double *rate = MER_ARRAY(arena, double, jobs *units);
    for (int j = 0; j < jobs; j++) {
        double cycles = random_cycles(kind, rng);
        double need = exp(6 * mer_rng_unit(rng) - 3);
        for (int u = 0; u < units; u++) {
            latency[j * units + u] = cycles * (1 + u % 2);
            rate[j * units + u] = need / (1 + u % 2);
        }
    }
    return hand_input(hand_schedule(jobs, units, bandwidth, latency, rate, arena), arena);
}

/* Queues cut at random places; some may be empty. */
static MerJobsPlan random_queues(const MerSchedule *schedule, MerRng *rng)
{
    MerJobsPlan plan;
    int        *order = MER_ARRAY(arena, int, schedule->job_count);
    int        *unit = MER_ARRAY(arena, int, schedule->job_count);
    int         used = 1 + mer_rng_below(rng, schedule->unit_count);
    for (int j = 0; j < schedule->job_count; j++) {
        order[j] = j;
        unit[j] = mer_rng_below(rng, used);
    }
    mer_rng_shuffle(rng, order, schedule->job_count);
    mer_schedule_new_plan(schedule, arena, &plan);
    mer_schedule_make_queues(order, unit, &plan);
    return plan;
}

/* Some jobs, often none or one, go to another core or place. */
static MerJobsPlan changed_queues(const MerSchedule *schedule, const MerJobsPlan *from, MerRng *rng)
{
    MerJobsPlan plan;
    int         count = schedule->job_count;
    int        *order = MER_ARRAY(arena, int, count);
    int        *unit = MER_ARRAY(arena, int, count);
    memcpy(order, from->queue, (size_t)count * sizeof *order);
    memcpy(unit, from->unit, (size_t)count * sizeof *unit);
    for (int moves = mer_rng_below(rng, 4); moves > 0; moves--) {
        int a = mer_rng_below(rng, count);
        int b = mer_rng_below(rng, count);
        int job = order[a];
        order[a] = order[b];
        order[b] = job;
        if (mer_rng_below(rng, 2) == 0) {
            unit[job] = mer_rng_below(rng, schedule->unit_count);
        }
    }
    mer_schedule_new_plan(schedule, arena, &plan);
    mer_schedule_make_queues(order, unit, &plan);
    return plan;
}

static void assert_same_output(const MerBandwidthOutput *a, const MerBandwidthOutput *b, int units)
{
    assert_true(a->cycles == b->cycles && a->waste == b->waste);
    assert_memory_equal(a->finish, b->finish, (size_t)units * sizeof(double));
}

static const int unit_counts[] = {1, 3, 4, 7, 8, 11, 16, 20};

static void test_vectors_give_the_bits_of_the_plain_loop(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof unit_counts / sizeof unit_counts[0]; c++) {
        int    units = unit_counts[c];
        MerRng rng = mer_rng_make(1, (uint64_t)units);
        for (int i = 0; i < 40 * KIND_COUNT; i++) {
            int                jobs = 1 + mer_rng_below(&rng, 90);
            MerBandwidthInput  input = random_input(i % KIND_COUNT, jobs, units, 3, &rng);
            MerJobsPlan        plan = random_queues(input.schedule, &rng);
            MerBandwidthOutput fast, plain;
            mer_bandwidth_plain(&input, &plan, NULL, NULL, &fast);
            mer_bandwidth_reference(&input, &plan, &plain);
            assert_same_output(&fast, &plain, units);
        }
    }
}

typedef struct Form { /* a fast form and what it must equal */
    void (*price)(const MerBandwidthInput *, const MerJobsPlan *, const void *, void *,
                  MerBandwidthOutput *);
    void (*reference)(const MerBandwidthInput *, const MerJobsPlan *, MerBandwidthOutput *);
    bool tells_all;
} Form;

static void price_virtual(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                          void *snapshot, MerBandwidthOutput *output)
{
    mer_bandwidth_fast(input, plan, base, snapshot, output);
}

static void virtual_reference(const MerBandwidthInput *input, const MerJobsPlan *plan,
                              MerBandwidthOutput *output)
{
    output->cycles = mer_bandwidth_virtual(input, plan);
}

/* What annealing does: a neighbour priced from the snapshot of the current plan and cut at a threshold. */
static void anneal(const Form *form, Kind kind, int units, double bandwidth, int *cuts, int *kept)
{
    MerRng             rng = mer_rng_make(2, (uint64_t)units);
    MerBandwidthInput  input = random_input(kind, 70, units, bandwidth, &rng);
    size_t             size = mer_bandwidth_snapshot_size(70, units);
    void              *snapshots[2] = {mer_arena_alloc(arena, size), mer_arena_alloc(arena, size)};
    MerJobsPlan        now = random_queues(input.schedule, &rng);
    MerBandwidthOutput output, full;
    form->price(&input, &now, NULL, snapshots[0], &output);
    double score = output.cycles;
    for (int i = 0; i < 500; i++) {
        MerJobsPlan plan = changed_queues(input.schedule, &now, &rng);
        form->reference(&input, &plan, &full);
        input.limit = i % 10 == 0  ? INFINITY
                      : i % 10 < 4 ? full.cycles * (1 + (i % 3 - 1) * 2.3e-16)
                                   : score * (1 + 0.02 * mer_rng_unit(&rng));
        form->price(&input, &plan, snapshots[0], i % 7 == 0 ? NULL : snapshots[1], &output);
        assert_int_equal(output.is_cut, full.cycles > input.limit);
        *cuts += output.is_cut;
        if (output.is_cut) {
            continue;
        }
        assert_true(output.cycles == full.cycles);
        if (form->tells_all) {
            assert_same_output(&output, &full, units);
        }
        if (i % 7 != 0) {
            void *snapshot = snapshots[0];
            snapshots[0] = snapshots[1];
            snapshots[1] = snapshot;
            now = plan;
            score = full.cycles;
            (*kept)++;
        }
    }
}

static void
test_moves_are_cut_exactly_above_the_limit_and_otherwise_have_the_same_bits(void **state)
{
    (void)state;
    static const Form forms[] = {{mer_bandwidth_plain, mer_bandwidth_reference, true},
                                 {price_virtual, virtual_reference, false}};
    int               count = (int)(sizeof unit_counts / sizeof unit_counts[0]);
    for (int f = 0; f < 2; f++) {
        int cuts = 0;
        int kept = 0;
        for (int i = 0; i < KIND_COUNT * count; i++) {
            anneal(&forms[f], i / count, unit_counts[i % count], i % 2 == 0 ? 1 : 30, &cuts, &kept);
        }
        assert_true(cuts > 500 * KIND_COUNT && kept > 500 * KIND_COUNT);
    }
}

/* A neighbour that was cut left half a snapshot, which must still be good for what it holds. */
static void test_the_snapshot_of_a_cut_plan_misleads_nobody(void **state)
{
    (void)state;
    MerRng             rng = mer_rng_make(3, 0);
    MerBandwidthInput  input = random_input(FEW_SIZES, 60, 4, 2, &rng);
    void              *snapshot = mer_arena_alloc(arena, mer_bandwidth_snapshot_size(60, 4));
    MerBandwidthOutput output, plain;
    for (int i = 0; i < 200; i++) {
        MerJobsPlan plan = random_queues(input.schedule, &rng);
        mer_bandwidth_reference(&input, &plan, &plain);
        input.limit = plain.cycles * mer_rng_unit(&rng);
        mer_bandwidth_plain(&input, &plan, NULL, snapshot, &output);
        assert_true(output.is_cut);
        input.limit = INFINITY;
        MerJobsPlan near = changed_queues(input.schedule, &plan, &rng);
        mer_bandwidth_plain(&input, &near, snapshot, NULL, &output);
        mer_bandwidth_reference(&input, &near, &plain);
        assert_same_output(&output, &plain, 4);
        mer_bandwidth_plain(&input, &near, snapshot, snapshot, &output);
        assert_same_output(&output, &plain, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_give_the_bits_of_the_plain_loop),
        cmocka_unit_test(
            test_moves_are_cut_exactly_above_the_limit_and_otherwise_have_the_same_bits),
        cmocka_unit_test(test_the_snapshot_of_a_cut_plan_misleads_nobody),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
