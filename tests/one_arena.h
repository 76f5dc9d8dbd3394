/* One arena that lives as long as the tests of a file:
 *
 *     return cmocka_run_group_tests(tests, set_up, tear_down);
 */
#ifndef MERCATOR_TESTS_ONE_ARENA_H
#define MERCATOR_TESTS_ONE_ARENA_H

#include "support.h"

static MerArena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mer_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mer_arena_free(arena);
    return 0;
}

#endif
