/* A pool of sleeping threads. A run hands out chunks of indices through one atomic counter; the
 * caller works along as worker 0. */
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
    pthread_mutex_t mutex;   /* guards everything below but `next` */
    pthread_cond_t  start, done;
    unsigned long   round; /* grows by one per run */
    int             busy;  /* workers that have not finished this round */
    bool            stop;
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

static void *worker_main(void *argument)
{
    Worker       *worker = argument;
    MerPool      *pool = worker->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->round == seen) {
            pthread_cond_wait(&pool->start, &pool->mutex);
        }
        if (pool->stop) {
            break;
        }
        seen = pool->round;
        pthread_mutex_unlock(&pool->mutex);
        take_chunks(pool, worker->index);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) {
            pthread_cond_signal(&pool->done);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
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
    pool->busy = pool->threads - 1;
    pool->round++;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
    take_chunks(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->done, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}
