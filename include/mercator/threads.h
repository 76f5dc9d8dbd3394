/* A pool of threads for loops whose iterations do not depend on each other. */
#ifndef MERCATOR_THREADS_H
#define MERCATOR_THREADS_H

typedef struct MerPool MerPool;

int      mer_cpu_count(void);
MerPool *mer_pool_new(int threads); /* threads >= 1, the caller counts as one */
void     mer_pool_free(MerPool *pool);
int      mer_pool_threads(const MerPool *pool);

/* Calls work(context, index, worker) once for every index 0 .. count-1, in any order; worker is
 * 0 .. threads-1. Returns when all are done. One run at a time per pool. */
void mer_pool_run(MerPool *pool, int count, void (*work)(void *context, int index, int worker),
                  void *context);

/* The same in two parts: the threads begin, and the caller may do something else before he works along and waits. */
void mer_pool_start(MerPool *pool, int count, void (*work)(void *context, int index, int worker),
                    void *context);
void mer_pool_finish(MerPool *pool);

#endif
