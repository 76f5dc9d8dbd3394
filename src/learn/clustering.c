/* Agglomerative clustering with the Lance-Williams updates. */
#include "learn/clustering.h"

#include "base/memory.h"
#include "mercator/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct Work {
    int     n;
    double *distance; /* (n, n) between live clusters; a cluster lives where its first item was */
    int    *name;     /* of the cluster at a place, -1 if it was joined to another */
    int    *size;
} Work;

static Work work_new(int n, const double *distances, MerArena *arena)
{
    size_t cells = (size_t)n * (size_t)n;
    Work   work = {n, MER_ARRAY(arena, double, cells + 1), MER_ARRAY(arena, int, n + 1),
                   MER_ARRAY(arena, int, n + 1)};
    memcpy(work.distance, distances, cells * sizeof(double));
    for (int i = 0; i < n; i++) {
        work.name[i] = i;
        work.size[i] = 1;
    }
    return work;
}

static void nearest(const Work *work, int *a, int *b)
{
    double least = 0;
    *a = -1;
    for (int i = 0; i < work->n; i++) {
        for (int j = i + 1; j < work->n && work->name[i] >= 0; j++) {
            double distance = work->distance[i * work->n + j];
            if (work->name[j] >= 0 && (*a < 0 || distance < least)) {
                least = distance;
                *a = i;
                *b = j;
            }
        }
    }
}

static double joined(const Work *work, MerLinkage linkage, int a, int b, int other)
{
    double x = work->distance[a * work->n + other], y = work->distance[b * work->n + other];
    int    p = work->size[a], q = work->size[b];
    switch (linkage) {
    case MER_LINKAGE_AVERAGE:
        return (p * x + q * y) / (p + q);
    case MER_LINKAGE_COMPLETE:
        return x > y ? x : y;
    case MER_LINKAGE_SINGLE:
        return x < y ? x : y;
    }
    return x;
}

void mer_cluster(int n, const double *distances, MerLinkage linkage, MerMerge *merges)
{
    MerArena *arena = mer_arena_new();
    Work      work = work_new(n, distances, arena);
    for (int m = 0; m + 1 < n; m++) {
        int a = 0, b = 0;
        nearest(&work, &a, &b);
        bool is_ordered = work.name[a] < work.name[b];
        merges[m] = (MerMerge){is_ordered ? work.name[a] : work.name[b],
                               is_ordered ? work.name[b] : work.name[a], work.distance[a * n + b]};
        for (int i = 0; i < n; i++) {
            if (i != a && i != b && work.name[i] >= 0) {
                work.distance[a * n + i] = work.distance[i * n + a] =
                    joined(&work, linkage, a, b, i);
            }
        }
        work.name[a] = n + m;
        work.name[b] = -1;
        work.size[a] += work.size[b];
    }
    mer_arena_free(arena);
}

/* Follows the first `count` merges. */
static int cut(int n, const MerMerge *merges, int count, int *cluster)
{
    int *parent = mer_heap_zeroed(2 * (size_t)n + 1, sizeof *parent);
    int *number = mer_heap_zeroed(2 * (size_t)n + 1, sizeof *number);
    int  clusters = 0;
    for (int m = 0; m < count; m++) {
        parent[merges[m].a] = parent[merges[m].b] = n + m;
    }
    for (int i = 0; i < n; i++) {
        int root = i;
        while (parent[root] > 0) {
            root = parent[root];
        }
        if (number[root] == 0) {
            number[root] = ++clusters;
        }
        cluster[i] = number[root] - 1;
    }
    free(parent);
    free(number);
    return clusters;
}

int mer_cut_threshold(int n, const MerMerge *merges, double threshold, int *cluster)
{
    int count = 0;
    while (count + 1 < n && merges[count].height <= threshold) {
        count++;
    }
    return cut(n, merges, count, cluster);
}

int mer_cut_count(int n, const MerMerge *merges, int count, int *cluster)
{
    int wanted = count < 1 ? 1 : count > n ? n : count;
    return cut(n, merges, n - wanted, cluster);
}

static double pairs(double n)
{
    return n * (n - 1) / 2;
}

double mer_adjusted_rand(int n, const int *a, const int *b)
{
    int rows = 0, columns = 0;
    for (int i = 0; i < n; i++) {
        assert(a[i] >= 0 && b[i] >= 0);
        rows = a[i] >= rows ? a[i] + 1 : rows;
        columns = b[i] >= columns ? b[i] + 1 : columns;
    }
    double *table = mer_heap_zeroed((size_t)(rows + 1) * (size_t)(columns + 1), sizeof *table);
    double  both = 0, in_a = 0, in_b = 0;
    for (int i = 0; i < n; i++) { /* the last row and column hold the sums */
        table[a[i] * (columns + 1) + b[i]] += 1;
        table[a[i] * (columns + 1) + columns] += 1;
        table[rows * (columns + 1) + b[i]] += 1;
    }
    for (int r = 0; r < rows; r++) {
        in_a += pairs(table[r * (columns + 1) + columns]);
        for (int c = 0; c < columns; c++) {
            both += pairs(table[r * (columns + 1) + c]);
        }
    }
    for (int c = 0; c < columns; c++) {
        in_b += pairs(table[rows * (columns + 1) + c]);
    }
    free(table);
    double expected = n > 1 ? in_a * in_b / pairs(n) : 0, most = (in_a + in_b) / 2;
    return most - expected != 0 ? (both - expected) / (most - expected) : 1;
}
