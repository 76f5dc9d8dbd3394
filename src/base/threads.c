/* A pool of threads. The indices of a round are shared out: a worker takes its own share first and helps others after
 * that, so that rounds of the same length find their data where the last one left it. The caller works along as worker 0
 * and waits only for indices that somebody took: who wakes too late is not missed. Who has to wait looks on for a moment
 * before it sleeps: the rounds of a search or a training follow each other within microseconds, and to wake a sleeper
 * takes tens of them. */
#include "mercator/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64 }; /* bytes that cores exchange at once */

typedef struct Worker {
    _Alignas(LINE) _Atomic uint64_t next; /* first index of its share that nobody took */
    MerPool  *pool;
    pthread_t thread;
    int       index;
    bool      is_running;
} Worker;

/* `next` and `limit` hold the number of the round in their upper half, so that a worker that slept through the end of a
 * round can take nothing of the one after it by the numbers of the old one. What one side writes and the other looks at
 * stands together and apart from the rest: to fetch it from another core takes as long as to price half a plan. */
struct MerPool {
    /* written by the caller; of the round, and not changed while an index is taken and not done */
    _Alignas(LINE) _Atomic uint64_t limit; /* how many indices it has */
    void (*work)(void *context, int index, int worker);
    void       *context;
    atomic_bool is_awaited; /* the caller sleeps till the last index is done */
    atomic_bool stop;

    _Alignas(LINE) atomic_int done; /* indices of the round that were worked off */

    _Alignas(LINE) atomic_int sleepers;
    pthread_mutex_t mutex; /* of those who sleep */
    pthread_cond_t  start, finish;
    int             threads;
    Worker         *workers; /* the caller is the first */
};

int mer_cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > 1024 ? 1024 : (int)count;
}

static uint32_t low(uint64_t number)
{
    return (uint32_t)number;
}

static uint32_t round_of(uint64_t number)
{
    return (uint32_t)(number >> 32);
}

/* First index of the share of a worker, or of the one after the last. */
static uint32_t share_start(const MerPool *pool, uint64_t limit, int worker)
{
    return (uint32_t)((uint64_t)low(limit) * (uint64_t)worker / (uint64_t)pool->threads);
}

/* Is there an index to take in the share of a worker? Its numbers are given then. */
static bool has_share(MerPool *pool, int worker, uint64_t *next, uint32_t *end)
{
    uint64_t limit = atomic_load_explicit(&pool->limit, memory_order_acquire);
    *next = atomic_load_explicit(&pool->workers[worker].next, memory_order_acquire);
    *end = share_start(pool, limit, worker + 1);
    return round_of(*next) == round_of(limit) && low(*next) < *end;
}

static bool has_work(MerPool *pool)
{
    uint64_t next;
    uint32_t end;
    bool     has_some = false;
    for (int w = 0; w < pool->threads && !has_some; w++) {
        has_some = has_share(pool, w, &next, &end);
    }
    return has_some;
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

enum { LOOKS = 5000 }; /* about 100 microseconds */

/* True as soon as there is work, or the end has come. */
static bool watch_for_work(MerPool *pool)
{
    uint64_t seen = atomic_load_explicit(&pool->limit, memory_order_relaxed);
    for (int i = 0; i < LOOKS; i++) {
        if (has_work(pool) || atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
            return true;
        }
        /* only the caller's line, so that those who take indices keep theirs */
        for (; i < LOOKS && atomic_load_explicit(&pool->limit, memory_order_relaxed) == seen &&
               !atomic_load_explicit(&pool->stop, memory_order_relaxed);
             i++) {
            relax();
        }
        seen = atomic_load_explicit(&pool->limit, memory_order_relaxed);
    }
    return false;
}

static bool watch_for_end(MerPool *pool, int count)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&pool->done, memory_order_acquire) == count) {
            return true;
        }
        relax();
    }
    return false;
}

static void count_done(MerPool *pool, int count)
{
    int done = atomic_fetch_add(&pool->done, count) + count;
    if (done == (int)low(atomic_load(&pool->limit)) && atomic_load(&pool->is_awaited)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->finish);
        pthread_mutex_unlock(&pool->mutex);
    }
}

/* Takes indices of a share and works them off till there are none: the fewer are left the fewer at once, so that nobody
 * waits long for the last ones. Gives how many they were. */
static int take_share(MerPool *pool, int share, int worker)
{
    enum { PARTS = 16 };
    uint64_t next;
    uint32_t end;
    int      taken = 0;
    while (has_share(pool, share, &next, &end)) {
        uint32_t count = (end - low(next)) / PARTS + 1;
        if (!atomic_compare_exchange_weak(&pool->workers[share].next, &next, next + count)) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            pool->work(pool->context, (int)(low(next) + i), worker);
        }
        taken += (int)count;
    }
    return taken;
}

/* Its own share, then those of others. */
static void take_shares(MerPool *pool, int worker)
{
    int taken = 0;
    for (int i = 0; i < pool->threads; i++) {
        taken += take_share(pool, (worker + i) % pool->threads, worker);
    }
    if (taken > 0) {
        count_done(pool, taken);
    }
}

/* Who wakes the sleepers counts none of them any more: they are not woken again before they have looked. */
static void sleep_until_work(MerPool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (!atomic_load(&pool->stop)) {
        atomic_fetch_add(&pool->sleepers, 1);
        if (has_work(pool)) {
            break;
        }
        pthread_cond_wait(&pool->start, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument)
{
    Worker  *worker = argument;
    MerPool *pool = worker->pool;
    while (!atomic_load(&pool->stop)) {
        if (!watch_for_work(pool)) {
            sleep_until_work(pool);
        }
        take_shares(pool, worker->index);
    }
    return NULL;
}

/* Workers take no signals: an interrupt belongs to the thread that runs the search. */
static void start_workers(MerPool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 1; i < pool->threads; i++) {
        Worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->index = i;
        /* fewer threads give the same result, later: the others take its share */
        worker->is_running = pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *zeroed_lines(size_t size)
{
    void *lines = aligned_alloc(LINE, size);
    if (lines == NULL) {
        mer_out_of_memory(size);
    }
    return memset(lines, 0, size);
}

MerPool *mer_pool_new(int threads)
{
    MerPool *pool = zeroed_lines(sizeof *pool);
    pool->threads = threads > 1 ? threads : 1;
    pool->workers = zeroed_lines((size_t)pool->threads * sizeof *pool->workers);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->finish, NULL);
    atomic_init(&pool->limit, 0);
    atomic_init(&pool->done, 0);
    atomic_init(&pool->sleepers, 0);
    atomic_init(&pool->is_awaited, false);
    atomic_init(&pool->stop, false);
    start_workers(pool);
    return pool;
}

static void wake(MerPool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->sleepers, 0);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
}

void mer_pool_free(MerPool *pool)
{
    if (pool == NULL) {
        return;
    }
    atomic_store(&pool->stop, true);
    wake(pool);
    for (int i = 1; i < pool->threads; i++) {
        if (pool->workers[i].is_running) {
            pthread_join(pool->workers[i].thread, NULL);
        }
    }
    pthread_cond_destroy(&pool->finish);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

int mer_pool_threads(const MerPool *pool)
{
    return pool->threads;
}

void mer_pool_start(MerPool *pool, int count, void (*work)(void *context, int index, int worker),
                    void *context)
{
    uint64_t round = ((atomic_load(&pool->limit) >> 32) + 1) << 32, limit = round + (uint64_t)count;
    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    for (int w = 0; w < pool->threads; w++) {
        atomic_store_explicit(&pool->workers[w].next, round + share_start(pool, limit, w),
                              memory_order_release);
    }
    atomic_store(&pool->limit, limit);
    if (count > 0 && atomic_load(&pool->sleepers) > 0) {
        wake(pool);
    }
}

void mer_pool_finish(MerPool *pool)
{
    int count = (int)low(atomic_load(&pool->limit));
    take_shares(pool, 0);
    if (watch_for_end(pool, count)) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->is_awaited, true);
    while (atomic_load(&pool->done) < count) {
        pthread_cond_wait(&pool->finish, &pool->mutex);
    }
    atomic_store(&pool->is_awaited, false);
    pthread_mutex_unlock(&pool->mutex);
}

void mer_pool_run(MerPool *pool, int count, void (*work)(void *context, int index, int worker),
                  void *context)
{
    if (pool->threads == 1 || count <= 1) {
        for (int i = 0; i < count; i++) {
            work(context, i, 0);
        }
        return;
    }
    mer_pool_start(pool, count, work, context);
    mer_pool_finish(pool);
}
