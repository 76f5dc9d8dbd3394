/* The thread pool: every index once, worker numbers in range, many runs on one pool. */
#include "mercator/threads.h"
#include "support.h"

#include <stdatomic.h>
#include <time.h>

enum { COUNT = 10007, MOST_WORKERS = 8 };

typedef struct Run {
    atomic_int visits[COUNT];
    long       sums[MOST_WORKERS][16]; /* one cache line apart, each written by one worker */
    atomic_int bad_worker;
    int        threads;
} Run;

static void visit(void *context, int index, int worker)
{
    Run *run = context;
    if (worker < 0 || worker >= run->threads) {
        atomic_store(&run->bad_worker, 1);
        return;
    }
    atomic_fetch_add(&run->visits[index], 1);
    run->sums[worker][0] += index;
}

static void every_index_is_visited_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_WORKERS; threads++) {
        MerPool *pool = mer_pool_new(threads);
        Run     *run = calloc(1, sizeof *run);
        assert_int_equal(mer_pool_threads(pool), threads);
        run->threads = threads;
        for (int round = 1; round <= 3; round++) {
            long sum = 0;
            mer_pool_run(pool, COUNT, visit, run);
            for (int i = 0; i < COUNT; i++) {
                assert_int_equal(atomic_load(&run->visits[i]), round);
            }
            for (int i = 0; i < threads; i++) {
                sum += run->sums[i][0];
            }
            assert_int_equal(sum, (long)round * COUNT * (COUNT - 1) / 2);
        }
        assert_int_equal(atomic_load(&run->bad_worker), 0);
        free(run);
        mer_pool_free(pool);
    }
}

static void plain_writes_are_seen_by_the_caller(void **state)
{
    (void)state;
    MerPool *pool = mer_pool_new(4);
    Run     *run = calloc(1, sizeof *run);
    run->threads = 4;
    for (int count = 0; count < 2000; count++) {
        memset(run->sums, 0, sizeof run->sums);
        mer_pool_run(pool, count % 50, visit, run);
        long sum = run->sums[0][0] + run->sums[1][0] + run->sums[2][0] + run->sums[3][0];
        assert_int_equal(sum, (long)(count % 50) * (count % 50 - 1) / 2);
    }
    free(run);
    mer_pool_free(pool);
}

/* Whether the workers look on by then, or sleep. */
static void the_caller_may_do_something_else_first(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        MerPool *pool = mer_pool_new(threads);
        Run     *run = calloc(1, sizeof *run);
        run->threads = threads;
        for (int round = 1; round <= 300; round++) {
            struct timespec pause = {.tv_nsec = round % 50 == 0 ? 3000000 : 0};
            int             count = round % 7;
            nanosleep(&pause, NULL);
            mer_pool_start(pool, count, visit, run);
            nanosleep(&pause, NULL);
            mer_pool_finish(pool);
            for (int i = 0; i < count; i++) {
                assert_int_equal(atomic_exchange(&run->visits[i], 0), 1);
            }
        }
        free(run);
        mer_pool_free(pool);
    }
}

static void pools_start_and_end_without_work(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        MerPool *pool = mer_pool_new(3);
        mer_pool_run(pool, 0, visit, NULL);
        mer_pool_free(pool);
    }
    mer_pool_free(NULL);
    assert_true(mer_cpu_count() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(plain_writes_are_seen_by_the_caller),
        cmocka_unit_test(the_caller_may_do_something_else_first),
        cmocka_unit_test(pools_start_and_end_without_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
