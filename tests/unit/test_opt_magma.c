/* MAGMA's two sets of rules on a toy space: what is priced again, and who stays when all are equal. */
#include "toy_support.h"

enum { POPULATION = 20, ELITES = 2, KNOBS = 6 };

typedef MerIndex Generation[POPULATION + ELITES][KNOBS];

static Toy *open_rules(const char *rules)
{
    MerKnob knobs[KNOBS];
    char    reference[64];
    for (int k = 0; k < KNOBS; k++) {
        knobs[k] = (MerKnob){.name = "k", .kind = MER_KNOB_ORDERED, .choices = 1000};
    }
    snprintf(reference, sizeof reference, "magma:rules=%s,population=%d,elite=0.1", rules,
             POPULATION);
    return toy_open_space(reference, 1000, KNOBS, knobs, MER_OK, NULL);
}

/* One generation, scored by its first knob or all alike. */
static int run_generation(Toy *toy, bool is_flat, Generation points)
{
    MerProposal proposals[POPULATION + ELITES];
    MerTrial    told[POPULATION + ELITES];
    for (int i = 0; i < POPULATION + ELITES; i++) {
        proposals[i] = (MerProposal){points[i], INFINITY, -1};
    }
    int count = toy->type->ask(toy->optimizer, proposals, POPULATION + ELITES);
    for (int i = 0; i < count; i++) {
        told[i] =
            (MerTrial){.index = i, .point = points[i], .score = is_flat ? 1 : 1 + points[i][0]};
    }
    toy->type->tell(toy->optimizer, told, count);
    return count;
}

static void test_shipped_rules_price_elites_again_and_the_last_of_equals_is_first(void **state)
{
    (void)state;
    Generation before, after;
    Toy       *toy = open_rules("shipped");
    assert_int_equal(run_generation(toy, true, before), POPULATION + ELITES);
    assert_int_equal(run_generation(toy, true, after), POPULATION + ELITES);
    for (int e = 0; e < ELITES; e++) {
        int last = POPULATION + ELITES - 1 - e;
        assert_memory_equal(after[e], before[last], sizeof after[e]);
    }
    toy_close(toy);
}

static int index_of_best(Generation points, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = points[i][0] < points[best][0] ? i : best;
    }
    return best;
}

static void test_shipped_rules_keep_the_best(void **state)
{
    (void)state;
    Generation before, after;
    Toy       *toy = open_rules("shipped");
    int        count = run_generation(toy, false, before);
    run_generation(toy, false, after);
    assert_int_equal(after[0][0], before[index_of_best(before, count)][0]);
    toy_close(toy);
}

static void test_paper_rules_price_only_children(void **state)
{
    (void)state;
    Generation points;
    Toy       *toy = open_rules("paper");
    for (int g = 0; g < 3; g++) {
        assert_int_equal(run_generation(toy, false, points), POPULATION);
    }
    toy_close(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped_rules_price_elites_again_and_the_last_of_equals_is_first),
        cmocka_unit_test(test_shipped_rules_keep_the_best),
        cmocka_unit_test(test_paper_rules_price_only_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
