/* A pool of sleeping threads. A run hands out chunks of indices through one atomic counter; the
 * caller works along as worker 0 and waits only for those who joined: who wakes too late is not
 * missed. Who has to wait looks on for a moment before it sleeps: the runs of a training follow each
 * other within microseconds, and to wake a sleeper takes tens of them. */
#include "mercator/threads.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Worker {
    MerPool  *pool;
    pthread_t thread;
    int       index;
} Worker;

struct MerPool {
    int             threads;
    Worker         *workers; /* threads - 1 of them, the caller is none */
    pthread_mutex_t mutex;   /* guards changes of everything below but `next` */
    pthread_cond_t  start, done;
    atomic_uint     round;         /* grows by one per run */
    atomic_uint     busy;          /* workers that have joined and not finished */
    bool            is_open, stop; /* whether the round can be joined; whether to end */
    void (*work)(void *context, int index, int worker);
    void      *context;
    int        count, chunk;
    atomic_int next; /* first index that nobody took */
};

int mer_cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > 1024 ? 1024 : (int)count;
}

/* Looks at a number for about 30 microseconds, while it is what it was. */
static void watch(atomic_uint *number, unsigned value)
{
    enum { LOOKS = 1500 };
    for (int i = 0; i < LOOKS && atomic_load_explicit(number, memory_order_relaxed) == value; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static void take_chunks(MerPool *pool, int worker)
{
    for (;;) {
        int begin = atomic_load_explicit(&pool->next, memory_order_relaxed);
        int end;
        /* Never beyond `count`, so that the counter cannot overflow. */
        do {
            if (begin >= pool->count) {
                return;
            }
            end = pool->count - begin < pool->chunk ? pool->count : begin + pool->chunk;
        } while (!atomic_compare_exchange_weak_explicit(
            &pool->next, &begin, end, memory_order_relaxed, memory_order_relaxed));
        for (int i = begin; i < end; i++) {
            pool->work(pool->context, i, worker);
        }
    }
}

/* Waits for a round that can be joined and has not been seen; false: the end. */
static bool join(MerPool *pool, unsigned *seen)
{
    watch(&pool->round, *seen);
    pthread_mutex_lock(&pool->mutex);
    while (!pool->stop && !(pool->is_open && pool->round != *seen)) {
        *seen = pool->round; /* a round that is over was missed */
        pthread_cond_wait(&pool->start, &pool->mutex);
    }
    *seen = pool->round;
    pool->busy += !pool->stop;
    bool is_joined = !pool->stop;
    pthread_mutex_unlock(&pool->mutex);
    return is_joined;
}

static void *worker_main(void *argument)
{
    Worker  *worker = argument;
    MerPool *pool = worker->pool;
    unsigned seen = 0;
    while (join(pool, &seen)) {
        take_chunks(pool, worker->index);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->done);
        }
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

/* Workers take no signals: an interrupt belongs to the thread that runs the search. */
static void start_workers(MerPool *pool, int threads)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 1; i < threads; i++) {
        Worker *worker = &pool->workers[i - 1];
        *worker = (Worker){.pool = pool, .index = i};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            break; /* fewer threads give the same result, later */
        }
        pool->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

MerPool *mer_pool_new(int threads)
{
    MerPool *pool = mer_heap_zeroed(1, sizeof *pool);
    pool->threads = 1;
    pool->workers = mer_heap_zeroed(threads > 1 ? (size_t)threads - 1 : 1, sizeof *pool->workers);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->round, 0);
    atomic_init(&pool->busy, 0);
    atomic_init(&pool->next, 0);
    start_workers(pool, threads);
    return pool;
}

void mer_pool_free(MerPool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 1; i < pool->threads; i++) {
        pthread_join(pool->workers[i - 1].thread, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

int mer_pool_threads(const MerPool *pool)
{
    return pool->threads;
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
    pthread_mutex_lock(&pool->mutex);
    pool->work = work;
    pool->context = context;
    pool->count = count;
    /* Small enough that nobody waits long for the last chunk, large enough to keep the counter cool. */
    pool->chunk = count / (pool->threads * 16) + 1;
    pool->is_open = true;
    pool->round++;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    take_chunks(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    pool->is_open = false;
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned busy = pool->busy; busy > 0; busy = pool->busy < busy ? pool->busy : 0) {
        watch(&pool->busy, busy);
    }
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}
