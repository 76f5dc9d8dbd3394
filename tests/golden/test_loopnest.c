/* loopnest against docs/loopnest-model.md, "Reference figures": bounds, energies of Timeloop v3.0.3 and
 * annealing results. Relative tolerances are half a unit of the last printed digit. */
#include "map/cost/loopnest.h"
#include "map/nest/nest_bound.h"
#include "map/nest/nest_format.h"
#include "run_support.h"
#include "s256.h"

#include <math.h>

static const MerPlatform *platform;
static MerArena          *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mer_arena_new();
    platform = platform_named("s256", arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mer_arena_free(arena);
    return 0;
}

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected))) {
        fail_msg("found %.9g, expected %.9g within %g", value, expected, relative);
    }
}

typedef struct Priced {
    double        cycles, energy;
    MerNestAccess access;
    MerNestModel  model;
} Priced;

static Priced price(const S256Layer *layer, const char *line, MerHalo halo)
{
    Priced       priced;
    MerError     error = {0};
    MerNestPlan  plan;
    MerNestLoops loops;
    MerCost      cost;
    MerOp        op = s256_op(layer);
    assert_int_equal(mer_nest_model_make(&op, platform, &priced.model, &error), MER_OK);
    priced.model.halo = halo;
    if (mer_nest_parse(line, &op, platform, false, &plan, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_cost_clear(&cost);
    mer_nest_unfold_tiles(&priced.model, &plan, &loops);
    mer_nest_unfold_loops(&priced.model, &plan, &loops);
    if (!mer_nest_fits(&priced.model, &plan, &loops, &cost)) {
        fail_msg("%s: %s", layer->name, cost.reason);
    }
    mer_nest_count(&priced.model, &plan, &loops, &priced.access);
    mer_nest_price(&priced.model, &loops, &priced.access, &priced.cycles, &priced.energy, NULL);
    return priced;
}

static void test_bounds_equal_the_golden_table(void **state)
{
    (void)state;
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        const S256Layer *layer = &s256_layers[i];
        MerOp            op = s256_op(layer);
        MerLayerShape    shape;
        MerNestBound     bound;
        assert_int_equal(mer_layer_shape_make(&op, &shape, NULL), MER_OK);
        mer_nest_bound(&shape, platform, false, &bound);
        assert_true(shape.macs == layer->macs);
        assert_true(bound.outer.total == layer->traffic);
        assert_true(bound.outer.reads == layer->reads);
        assert_true(bound.reductions == layer->reductions);
        assert_true(bound.cycles == layer->cycles);
        assert_near(bound.energy, layer->energy, 1e-5);
        assert_near(bound.energy * bound.cycles, layer->edp, 1e-5);
    }
}

static void test_restricted_nests_cost_what_the_table_says(void **state)
{
    (void)state;
    static const double pj_per_mac[] = {6.86512, 5.85604,  8.89636, 6.10849,  6.56875,
                                        9.74012, 10.16237, 7.34505, 218.31277};
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        const S256Layer *layer = &s256_layers[i];
        Priced           priced = price(layer, layer->restricted, MER_HALO_SHARED);
        assert_near(priced.energy / layer->macs, pj_per_mac[i], 0.5e-5 / pj_per_mac[i] * 1.01);
        assert_near(priced.energy * priced.cycles, layer->restricted_edp, 5e-5);
    }
}

static void test_free_nests_cost_what_the_table_says(void **state)
{
    (void)state;
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        const S256Layer *layer = &s256_layers[i];
        Priced           priced = price(layer, layer->free, MER_HALO_SHARED);
        assert_near(priced.energy * priced.cycles, layer->free_edp, 3e-6);
        assert_true(priced.energy * priced.cycles >= layer->edp * (1 - 1e-5));
    }
}

static void test_timeloop_halo_gives_timeloops_energies(void **state)
{
    (void)state;
    static const double pj_per_mac[] = {6.87549, 5.85604,  8.89636, 6.11375,  6.56960,
                                        9.74012, 10.16237, 7.34505, 218.31277};
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        const S256Layer *layer = &s256_layers[i];
        Priced           priced = price(layer, layer->restricted, MER_HALO_TIMELOOP);
        assert_near(priced.energy / layer->macs, pj_per_mac[i], 0.5e-5 / pj_per_mac[i] * 1.01);
    }
}

/* docs/loopnest-model.md, "Reference figures": energy per MAC of each level, equal in Timeloop. */
static void test_energy_of_every_level_equals_timeloop(void **state)
{
    (void)state;
    static const double pj_per_mac[] = {4.27679, 0.42132, 2.23834}; /* RF, GLB, DRAM */
    const S256Layer    *layer = &s256_layers[3];
    for (int halo = 0; halo < 2; halo++) {
        Priced priced =
            price(layer, "DRAM: P7 M4 | GLB: P4 C8 Q2 | Y: R3 C4 X: M16 | RF: Q14 S3 M2 C4",
                  (MerHalo)halo);
        for (int l = 0; l < 3; l++) {
            const MerNestMemory *memory = &priced.model.memories[l];
            double               energy = 0;
            for (int t = 0; t < MER_TENSOR_COUNT; t++) {
                energy += priced.access.reads[l][t] * memory->read_pj +
                          priced.access.fills[l][t] * memory->write_pj +
                          priced.access.updates[l][t] * memory->update_pj;
            }
            assert_near(energy / layer->macs, pj_per_mac[l], 0.5e-5 / pj_per_mac[l] * 1.01);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_equal_the_golden_table),
        cmocka_unit_test(test_restricted_nests_cost_what_the_table_says),
        cmocka_unit_test(test_free_nests_cost_what_the_table_says),
        cmocka_unit_test(test_timeloop_halo_gives_timeloops_energies),
        cmocka_unit_test(test_energy_of_every_level_equals_timeloop),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
