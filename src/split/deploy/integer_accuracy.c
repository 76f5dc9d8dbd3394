/* How many images a deployed network gets right: a set of images, on threads. */
#include "split/deploy/integer_net.h"

typedef struct Counting {
    const MerIntegerNet *net;
    const MerDataset    *images;
    MerArena           **scratch;    /* of each worker */
    bool                *is_correct; /* of each image */
} Counting;

static void look_at(void *context, int index, int worker)
{
    Counting            *counting = context;
    const MerIntegerNet *net = counting->net;
    MerArena            *scratch = counting->scratch[worker];
    int                  size = mer_integer_value_size(&net->values[0]), best = 0;
    mer_arena_reset(scratch);
    uint8_t *bytes = MER_ARRAY(scratch, uint8_t, size);
    int32_t *logits = MER_ARRAY(scratch, int32_t, net->classes);
    mer_integer_net_input(net, counting->images->images + (size_t)index * (size_t)size, bytes);
    mer_integer_net_run(net, bytes, logits, NULL, scratch);
    for (int c = 1; c < net->classes; c++) { /* the first of equals, as in training */
        best = logits[c] > logits[best] ? c : best;
    }
    counting->is_correct[index] = best == counting->images->labels[index];
}

double mer_integer_net_accuracy(const MerIntegerNet *net, const MerDataset *images, MerPool *pool)
{
    MerArena *arena = mer_arena_new();
    int       workers = pool ? mer_pool_threads(pool) : 1, correct = 0;
    Counting  counting = {net, images, MER_ARRAY(arena, MerArena *, workers),
                          MER_ARRAY(arena, bool, images->count + 1)};
    for (int w = 0; w < workers; w++) {
        counting.scratch[w] = mer_arena_new();
    }
    for (int i = 0; !pool && i < images->count; i++) {
        look_at(&counting, i, 0);
    }
    if (pool) {
        mer_pool_run(pool, images->count, look_at, &counting);
    }
    for (int i = 0; i < images->count; i++) {
        correct += counting.is_correct[i];
    }
    for (int w = 0; w < workers; w++) {
        mer_arena_free(counting.scratch[w]);
    }
    mer_arena_free(arena);
    return images->count > 0 ? (double)correct / images->count : 0;
}
