/* Optimizers whose proposals threads make: the points are those of asks, however many steps are taken at once and
 * in whatever order the walks go. */
#include "toy_support.h"

enum { TRIALS = 3000, MOST = 64 };

/* Half of the space is refused, so that chains have to look for a start. */
static double score_of(const MerIndex *p, int64_t trial)
{
    return p[0] > 3 ? INFINITY : toy_coupled(p, trial);
}

/* One batch of walks, the last walk first; of one without a better trial only the last ones are told, where that will do. */
static void walk_batch(Toy *toy, int width, int steps)
{
    static MerIndex points[MOST][TOY_KNOBS];
    static MerTrial told[MOST];
    for (int w = width - 1; w >= 0; w--) {
        for (int step = 0; step < steps; step++) {
            int         i = step * width + w;
            MerProposal proposal = {points[i], INFINITY, -1};
            toy->type->walk(toy->optimizer, w, step, step > 0 ? &told[i - width] : NULL, &proposal);
            assert_true(mer_space_contains(toy->space, points[i]));
            told[i] = (MerTrial){
                .index = toy->trials + i, .point = points[i], .score = score_of(points[i], 0)};
        }
    }
    int    count = width * steps;
    double best = toy->best;
    for (int i = 0; i < count; i++) {
        toy_remember(toy, &told[i]);
        toy->trials++;
    }
    bool is_short = toy->best == best && toy->type->walked;
    if (!is_short || !toy->type->walked(toy->optimizer, told + count - width, count)) {
        toy->type->tell(toy->optimizer, told, count);
    }
}

static uint64_t path_of_walks(const char *name, int most_steps)
{
    Toy *toy = toy_open(name, TRIALS, MER_OK, NULL);
    while (toy->trials < TRIALS) {
        int64_t steps = 0, left = TRIALS - toy->trials;
        int     width = toy->type->walks(toy->optimizer,
                                     left < toy->capacity ? (int)left : toy->capacity, &steps);
        assert_in_range(width, 1, toy->capacity);
        assert_true(steps >= 1);
        int fit = (int)(left < MOST ? left : MOST) / width;
        fit = fit < most_steps ? fit : most_steps;
        walk_batch(toy, width, steps < fit ? (int)steps : fit);
    }
    uint64_t path = toy->path;
    toy_close(toy);
    return path;
}

static void walks_go_where_asks_go(void **state)
{
    (void)state;
    static const char *const names[] = {"random",
                                        "genetic:population=10",
                                        "genetic:population=10,islands=3,meetings=2",
                                        "genetic:population=5,islands=20,meetings=1",
                                        "annealing",
                                        "annealing:chains=3,meetings=50",
                                        "annealing:chains=20",
                                        "annealing:transfer=5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Toy *toy = toy_open(names[i], TRIALS, MER_OK, NULL);
        toy_run(toy, TRIALS, score_of);
        for (int steps = 1; steps <= MOST; steps *= 4) {
            assert_int_equal(path_of_walks(names[i], steps), toy->path);
        }
        toy_close(toy);
    }
}

/* No point twice: that takes a list of all, which threads do not share. */
static void unique_points_are_asked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"random:unique=true", "genetic:unique=true"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t steps;
        Toy    *toy = toy_open(names[i], TRIALS, MER_OK, NULL);
        assert_int_equal(toy->type->walks(toy->optimizer, 10, &steps), 0);
        toy_close(toy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_go_where_asks_go),
        cmocka_unit_test(unique_points_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
