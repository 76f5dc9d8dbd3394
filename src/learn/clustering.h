/* Agglomerative clustering: every item alone at first, then the two nearest clusters join, again
 * and again. Ties: the lower indices first. */
#ifndef MERCATOR_LEARN_CLUSTERING_H
#define MERCATOR_LEARN_CLUSTERING_H

typedef enum MerLinkage {
    MER_LINKAGE_AVERAGE,
    MER_LINKAGE_COMPLETE,
    MER_LINKAGE_SINGLE
} MerLinkage;
#define MER_LINKAGE_CHOICES "average|complete|single"

typedef struct MerMerge { /* clusters 0 .. n-1 are the items, n + i is what merge i made */
    int    a, b;          /* a < b */
    double height;
} MerMerge;

/* `distances` is (n, n), symmetric. Fills n - 1 merges (the dendrogram). */
void mer_cluster(int n, const double *distances, MerLinkage linkage, MerMerge *merges);
/* Cluster of each item, numbered by their first item; gives how many there are. */
int mer_cut_threshold(int n, const MerMerge *merges, double threshold,
                      int *cluster); /* joins up to it */
int mer_cut_count(int n, const MerMerge *merges, int count, int *cluster);
/* Agreement of two partitions, 1 if equal, about 0 by chance (Hubert and Arabie, 1985). */
double mer_adjusted_rand(int n, const int *a, const int *b);

#endif
