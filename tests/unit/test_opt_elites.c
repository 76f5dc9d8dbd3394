/* The best points of a search, and how they are said in the knobs of another one. */
#include "opt/elites.h"
#include "support.h"

#include <math.h>

static const double powers[] = {1, 2, 4, 8, 16}, threes[] = {1, 3, 9, 27};

/* A tile with values, a category, a place in an order, and a knob of its own name. */
static void fill_knobs(MerKnob *knobs, bool is_other)
{
    knobs[0] = (MerKnob){.name = "tile",
                         .kind = MER_KNOB_ORDERED,
                         .choices = is_other ? 4 : 5,
                         .values = is_other ? threes : powers};
    knobs[1] = (MerKnob){.name = "unit", .kind = MER_KNOB_CATEGORY, .choices = is_other ? 3 : 6};
    knobs[2] = (MerKnob){.name = "rank", .kind = MER_KNOB_RANK, .choices = is_other ? 20 : 10};
    knobs[3] = (MerKnob){
        .name = is_other ? "new" : "old", .kind = MER_KNOB_ORDERED, .choices = is_other ? 7 : 9};
}

typedef struct Fixture {
    MerArena *arena;
    MerKnob   here[4], there[4];
    MerSpace  space, other;
    MerElites elites;
} Fixture;

static Fixture begin(void)
{
    Fixture f = {.arena = mer_arena_new()};
    fill_knobs(f.here, false);
    fill_knobs(f.there, true);
    return f;
}

/* Spaces point into the fixture, so they are made where it stays. */
static void settle(Fixture *f)
{
    f->space = (MerSpace){.knob_count = 4, .knobs = f->here};
    f->other = (MerSpace){.knob_count = 4, .knobs = f->there};
}

static void test_there_are_no_guesses_without_earlier_tasks(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    assert_null(mer_elites_guess(&f.elites));
    mer_elites_offer(&f.elites, (MerIndex[]){0, 0, 0, 0}, 1);
    assert_null(mer_elites_guess(&f.elites));
    mer_arena_free(f.arena);
}

static void test_the_best_are_kept_in_order_and_once(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    for (int i = 0; i < 40; i++) {
        MerIndex point[4] = {i % 5, i % 6, i % 10, i % 9};
        mer_elites_offer(&f.elites, point, 100 - (i * 7) % 40);
        mer_elites_offer(&f.elites, point, 100 - (i * 7) % 40);
    }
    mer_elites_offer(&f.elites, (MerIndex[]){1, 1, 1, 0}, INFINITY);
    mer_elites_offer(&f.elites, (MerIndex[]){1, 1, 1, 0}, NAN);
    const MerEliteTask *task = f.elites.now;
    assert_int_equal(task->count, MER_ELITES_KEPT);
    for (int i = 0; i < task->count; i++) {
        assert_true(task->scores[i] == 61 + i);
        for (int j = 0; j < i; j++) {
            assert_memory_not_equal(task->points + 4 * i, task->points + 4 * j,
                                    4 * sizeof(MerIndex));
        }
    }
    mer_arena_free(f.arena);
}

static void test_choices_keep_their_meaning_in_another_space(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){3, 5, 4, 8}, 1); /* tile 8, unit 5, rank 0.45 */
    mer_elites_offer(&f.elites, (MerIndex[]){0, 1, 9, 0}, 2);
    mer_elites_begin(&f.elites, &f.other, f.arena, 24);
    const MerIndex *guess = mer_elites_guess(&f.elites);
    assert_non_null(guess);
    assert_int_equal(guess[0], 2); /* 9 is nearest to 8 */
    assert_int_equal(guess[1], 2); /* the last category there is */
    assert_int_equal(guess[2], 9); /* the same place in the order */
    assert_int_equal(guess[3], 0); /* nothing is known of it */
    guess = mer_elites_guess(&f.elites);
    assert_memory_equal(guess, ((MerIndex[]){0, 1, 19, 0}), 4 * sizeof *guess);
    assert_null(mer_elites_guess(&f.elites));
    mer_arena_free(f.arena);
}

static void test_points_that_become_the_same_are_guessed_once(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){0, 4, 4, 1}, 1);
    mer_elites_offer(&f.elites, (MerIndex[]){0, 5, 4, 2}, 2);
    mer_elites_begin(&f.elites, &f.other, f.arena, 24);
    assert_non_null(mer_elites_guess(&f.elites));
    assert_null(mer_elites_guess(&f.elites));
    mer_arena_free(f.arena);
}

static void test_the_nearest_task_is_guessed_from_first(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){1, 1, 1, 1}, 5);
    mer_elites_begin(&f.elites, &f.other, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){2, 2, 2, 2}, 5);
    mer_elites_begin(&f.elites, &f.space, f.arena, 24); /* as the first one */
    assert_memory_equal(mer_elites_guess(&f.elites), ((MerIndex[]){1, 1, 1, 1}), 16);
    mer_elites_begin(&f.elites, &f.other, f.arena, 1);
    assert_memory_equal(mer_elites_guess(&f.elites), ((MerIndex[]){2, 2, 2, 2}), 16);
    assert_null(mer_elites_guess(&f.elites)); /* no more than wanted */
    mer_arena_free(f.arena);
}

static void test_kept_elites_come_back(void **state)
{
    (void)state;
    Fixture f = begin();
    settle(&f);
    MerElites copy = {0};
    MerStream out = {.file = tmpfile(), .is_saving = true}, in = {.file = out.file};
    mer_elites_begin(&f.elites, &f.space, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){3, 5, 4, 8}, 1);
    mer_elites_begin(&f.elites, &f.other, f.arena, 24);
    mer_elites_offer(&f.elites, (MerIndex[]){0, 0, 7, 6}, 3);
    mer_elites_keep(&f.elites, &out);
    long size = ftell(out.file);
    rewind(out.file);
    copy.arena = f.arena;
    mer_elites_keep(&copy, &in);
    assert_false(in.is_broken);
    mer_elites_begin(&copy, &f.other, f.arena, 24);
    assert_memory_equal(mer_elites_guess(&copy), ((MerIndex[]){0, 0, 7, 6}), 16);
    assert_memory_equal(mer_elites_guess(&copy), ((MerIndex[]){2, 2, 9, 0}), 16);
    assert_null(mer_elites_guess(&copy));
    for (long cut = 1; cut < size; cut += 3) {
        MerElites broken = {.arena = f.arena};
        MerStream part = {.file = tmpfile()};
        rewind(out.file);
        for (long i = 0; i < size - cut; i++) {
            putc(getc(out.file), part.file);
        }
        rewind(part.file);
        mer_elites_keep(&broken, &part);
        assert_true(part.is_broken);
        fclose(part.file);
    }
    fclose(out.file);
    mer_arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_are_no_guesses_without_earlier_tasks),
        cmocka_unit_test(test_the_best_are_kept_in_order_and_once),
        cmocka_unit_test(test_choices_keep_their_meaning_in_another_space),
        cmocka_unit_test(test_points_that_become_the_same_are_guessed_once),
        cmocka_unit_test(test_the_nearest_task_is_guessed_from_first),
        cmocka_unit_test(test_kept_elites_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
