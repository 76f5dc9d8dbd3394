/* GAMMA's operators on a genome of its own kind (two nested levels) and on other spaces; and the moves
 * of local search on the same knobs. */
#include "support.h"

#include "opt/gamma_genome.h"
#include "space/positions.h"

#include <string.h>

enum { DIMS = 3, PES = 64, KNOBS = 1 + 2 * (1 + DIMS + DIMS) + 1 };

/* levels, then per level (outer first): parallel, [cluster], tiles of sizes 1..24, ranks. */
static int make_nested(MerKnob *knobs)
{
    int count = 0;
    knobs[count++] = (MerKnob){"levels", MER_KNOB_ORDERED, MER_ROLE_LEVELS, -1, -1, -1, 0, 2, NULL};
    for (int level = 1; level >= 0; level--) {
        knobs[count++] = (MerKnob){
            "parallel", MER_KNOB_CATEGORY, MER_ROLE_PARALLEL, level, -1, -1, 0, DIMS, NULL};
        if (level == 0) {
            knobs[count++] = (MerKnob){
                "cluster", MER_KNOB_ORDERED, MER_ROLE_CLUSTER, level, -1, -1, 0, PES, NULL};
        }
        for (int d = 0; d < DIMS; d++) {
            knobs[count++] =
                (MerKnob){"tile", MER_KNOB_ORDERED, MER_ROLE_TILE, level, d, -1, 0, 24, NULL};
        }
        for (int d = 0; d < DIMS; d++) {
            knobs[count++] =
                (MerKnob){"order", MER_KNOB_RANK, MER_ROLE_ORDER, level, d, -1, 0, DIMS, NULL};
        }
    }
    return count;
}

typedef struct Fixture {
    MerArena      *arena;
    MerKnob        knobs[KNOBS];
    MerSpace       space;
    MerGammaGenome genome;
    MerRng         rng;
} Fixture;

static void open_fixture(Fixture *f)
{
    f->arena = mer_arena_new();
    f->space = (MerSpace){.knob_count = make_nested(f->knobs), .knobs = f->knobs};
    assert_int_equal(f->space.knob_count, KNOBS);
    mer_gamma_genome_make(&f->genome, &f->space, f->arena);
    f->rng = mer_rng_make(5, 0);
}

static int changes(const MerIndex *a, const MerIndex *b)
{
    int count = 0;
    for (int k = 0; k < KNOBS; k++) {
        count += a[k] != b[k];
    }
    return count;
}

static void first_points_have_inner_tiles_of_one(void **state)
{
    (void)state;
    Fixture  f;
    MerIndex point[KNOBS];
    open_fixture(&f);
    int outer_sum = 0;
    for (int i = 0; i < 20; i++) {
        mer_gamma_start(&f.genome, &f.rng, i == 0, point);
        assert_true(mer_space_contains(&f.space, point));
        for (int k = 0; k < KNOBS; k++) {
            if (f.knobs[k].role == MER_ROLE_TILE) {
                assert_true(f.knobs[k].level > 0 || point[k] == 0);
                assert_true(i > 0 || point[k] == 0);
                outer_sum += point[k];
            }
        }
    }
    assert_true(outer_sum > 0);
    mer_arena_free(f.arena);
}

static void crossover_swaps_one_dimension_at_all_levels(void **state)
{
    (void)state;
    Fixture  f;
    MerIndex a[KNOBS] = {0}, b[KNOBS];
    open_fixture(&f);
    for (int k = 0; k < KNOBS; k++) {
        b[k] = 1;
    }
    mer_gamma_cross(&f.genome, &f.rng, a, b);
    int dim = -1;
    for (int k = 0; k < KNOBS; k++) {
        assert_int_equal(a[k] + b[k], 1);
        if (a[k] == 1) {
            assert_int_equal(f.knobs[k].role, MER_ROLE_TILE);
            assert_true(dim == -1 || dim == f.knobs[k].dim);
            dim = f.knobs[k].dim;
        }
    }
    MerIndex zero[KNOBS] = {0};
    assert_int_equal(changes(a, zero), 2); /* one knob on each of two levels */
    mer_arena_free(f.arena);
}

static void order_swap_permutes_the_ranks_of_one_level(void **state)
{
    (void)state;
    Fixture f;
    open_fixture(&f);
    for (int i = 0; i < 50; i++) {
        MerIndex point[KNOBS] = {0}, before[KNOBS];
        int      sum = 0;
        for (int k = 0; k < KNOBS; k++) {
            point[k] = f.knobs[k].kind == MER_KNOB_RANK ? f.knobs[k].dim : 0;
            sum += point[k];
        }
        memcpy(before, point, sizeof point);
        mer_gamma_swap_order(&f.genome, &f.rng, point);
        assert_int_equal(changes(before, point), 2);
        for (int k = 0; k < KNOBS; k++) {
            sum -= point[k];
        }
        assert_int_equal(sum, 0);
    }
    mer_arena_free(f.arena);
}

/* A new parallel dimension of the inner level brings a cluster size that divides the outer tile. */
static void cluster_sizes_divide_the_outer_tile(void **state)
{
    (void)state;
    Fixture  f;
    MerIndex point[KNOBS], before[KNOBS];
    int      inner_parallel = -1, cluster = -1, seen = 0;
    open_fixture(&f);
    for (int k = 0; k < KNOBS; k++) {
        inner_parallel =
            f.knobs[k].role == MER_ROLE_PARALLEL && f.knobs[k].level == 0 ? k : inner_parallel;
        cluster = f.knobs[k].role == MER_ROLE_CLUSTER ? k : cluster;
    }
    for (int i = 0; i < 2000; i++) {
        mer_space_sample(&f.space, &f.rng, point);
        memcpy(before, point, sizeof point);
        mer_gamma_mutate_locus(&f.genome, &f.rng, false, point);
        assert_true(mer_space_contains(&f.space, point));
        if (point[inner_parallel] == before[inner_parallel]) {
            assert_int_equal(point[cluster], before[cluster]);
            assert_int_equal(changes(before, point), 1);
            continue;
        }
        /* tiles of the outer level follow its parallel knob */
        int tile = 1 + point[2 + point[inner_parallel]];
        int size = 1 + point[cluster] * tile / PES;
        assert_int_equal(tile % size, 0);
        seen++;
    }
    assert_true(seen > 50);
    mer_arena_free(f.arena);
}

static void factors_only_gives_tiles_that_divide(void **state)
{
    (void)state;
    Fixture f;
    open_fixture(&f);
    for (int i = 0; i < 500; i++) {
        MerIndex point[KNOBS] = {0};
        mer_gamma_mutate_locus(&f.genome, &f.rng, true, point);
        for (int k = 0; k < KNOBS; k++) {
            assert_true(f.knobs[k].role != MER_ROLE_TILE || 24 % (point[k] + 1) == 0);
        }
    }
    mer_arena_free(f.arena);
}

static void levels_swap_their_parallel_dimensions(void **state)
{
    (void)state;
    Fixture  f;
    MerIndex point[KNOBS] = {0};
    open_fixture(&f);
    point[1] = 2; /* parallel of the outer level */
    mer_gamma_swap_parallel(&f.genome, &f.rng, point);
    int inner = 1 + 1 + 2 * DIMS;
    assert_int_equal(f.knobs[inner].role, MER_ROLE_PARALLEL);
    assert_int_equal(point[1], 0);
    assert_int_equal(point[inner], 2);
    mer_arena_free(f.arena);
}

static void levels_grow_and_die_within_their_range(void **state)
{
    (void)state;
    Fixture  f;
    MerIndex point[KNOBS] = {0}, before[KNOBS];
    open_fixture(&f);
    mer_gamma_change_levels(&f.genome, &f.rng, -1, point);
    assert_int_equal(point[0], 0);
    mer_gamma_change_levels(&f.genome, &f.rng, 1, point);
    assert_int_equal(point[0], 1);
    memcpy(before, point, sizeof point);
    mer_gamma_change_levels(&f.genome, &f.rng, 1, point);
    assert_int_equal(changes(before, point), 0);
    mer_gamma_change_levels(&f.genome, &f.rng, -1, point);
    assert_int_equal(changes(before, point), 1);
    mer_arena_free(f.arena);
}

static void a_moved_rank_lets_the_others_close_up(void **state)
{
    (void)state;
    const int knobs[] = {0, 1, 2, 3};
    MerIndex  point[] = {0, 1, 2, 3};
    mer_ranks_move(knobs, 4, 0, 2, point);
    const MerIndex expected[] = {2, 0, 1, 3};
    assert_memory_equal(point, expected, sizeof expected);
    mer_ranks_move(knobs, 4, 2, 0, point);
    const MerIndex again[] = {0, 1, 2, 3};
    assert_memory_equal(point, again, sizeof again);
}

static void every_move_stays_in_the_space_and_most_change_something(void **state)
{
    (void)state;
    Fixture  f;
    MerMoves moves;
    MerIndex point[KNOBS], before[KNOBS];
    int      idle = 0;
    open_fixture(&f);
    mer_moves_make(&moves, &f.space, f.arena);
    mer_space_sample(&f.space, &f.rng, point);
    for (int i = 0; i < 5000; i++) {
        memcpy(before, point, sizeof point);
        mer_moves_step(&moves, &f.rng, point);
        assert_true(mer_space_contains(&f.space, point));
        idle += changes(before, point) == 0;
    }
    assert_true(idle < 500);
    mer_arena_free(f.arena);
}

/* Random keys: the order of the coordinates is the order of the ranks, whatever their distance. */
static void positions_keep_the_order_of_ranks(void **state)
{
    (void)state;
    Fixture      f;
    MerPositions positions;
    double       vector[KNOBS];
    MerIndex     point[KNOBS];
    open_fixture(&f);
    mer_positions_make(&positions, &f.space, f.arena);
    for (int k = 0; k < KNOBS; k++) {
        /* mirrored to 0.4 */
        vector[k] = f.knobs[k].kind == MER_KNOB_RANK ? 0.5 - 0.001 * f.knobs[k].dim : 2.4;
    }
    mer_positions_to_point(&positions, vector, point);
    for (int k = 0; k < KNOBS; k++) {
        int expected = f.knobs[k].kind == MER_KNOB_RANK ? DIMS - 1 - f.knobs[k].dim
                                                        : mer_knob_index(&f.knobs[k], 0.4);
        assert_int_equal(point[k], expected);
    }
    assert_true(mer_position_mirror(-0.25) == 0.25 && mer_position_mirror(1.25) == 0.75);
    assert_true(mer_position_mirror(1) < 1);
    mer_arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_points_have_inner_tiles_of_one),
        cmocka_unit_test(crossover_swaps_one_dimension_at_all_levels),
        cmocka_unit_test(order_swap_permutes_the_ranks_of_one_level),
        cmocka_unit_test(cluster_sizes_divide_the_outer_tile),
        cmocka_unit_test(factors_only_gives_tiles_that_divide),
        cmocka_unit_test(levels_swap_their_parallel_dimensions),
        cmocka_unit_test(levels_grow_and_die_within_their_range),
        cmocka_unit_test(a_moved_rank_lets_the_others_close_up),
        cmocka_unit_test(every_move_stays_in_the_space_and_most_change_something),
        cmocka_unit_test(positions_keep_the_order_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
