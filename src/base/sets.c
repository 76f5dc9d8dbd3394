#include "base/sets.h"

int *mer_sets_new(int count, MerArena *arena)
{
    int *parent = MER_ARRAY(arena, int, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        parent[i] = i;
    }
    return parent;
}

int mer_sets_root(int *parent, int item)
{
    while (parent[item] != item) {
        item = parent[item] = parent[parent[item]];
    }
    return item;
}

void mer_sets_join(int *parent, int a, int b)
{
    int x = mer_sets_root(parent, a), y = mer_sets_root(parent, b);
    parent[x > y ? x : y] = x < y ? x : y;
}
