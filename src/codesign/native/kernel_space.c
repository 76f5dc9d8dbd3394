/* The knobs of a native kernel: what each setting may be for one layer, points to settings and back. */
#include "codesign/native/kernel.h"

#include <string.h>

int mer_kernel_host_bits(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx") ? 256 : 128;
#else
    return 128;
#endif
}

typedef struct List {
    double *values;
    int     count;
} List;

static void add(List *list, int value, MerArena *arena)
{
    MER_GROW(arena, list->values, list->count);
    list->values[list->count++] = value;
}

/* 1, 2, 4, ... and `most`. */
static List powers(int first, int most, MerArena *arena)
{
    List list = {MER_ARRAY(arena, double, 1), 0};
    for (int value = first; value < most; value *= 2) {
        add(&list, value, arena);
    }
    add(&list, most, arena);
    return list;
}

/* Sizes of a register tile along `size`: small ones, and those that divide it. */
static List tiles(int size, int most, MerArena *arena)
{
    List list = {MER_ARRAY(arena, double, 1), 0};
    for (int value = 1; value <= size && value <= most; value++) {
        if (value <= 4 || value % 4 == 0 || size % value == 0) {
            add(&list, value, arena);
        }
    }
    return list;
}

static List whole(int count, MerArena *arena)
{
    List list = {MER_ARRAY(arena, double, 1), 0};
    for (int value = 0; value < count; value++) {
        add(&list, value, arena);
    }
    return list;
}

void mer_kernel_space_open(MerKernelSpace *space, const MerOp *op, int vector_bits, int threads,
                           MerSpace *knobs, MerArena *arena)
{
    enum { LEAST_LANES = 4, MOST_VECTORS = 8, MOST_COLUMNS = 28, MOST_ROWS = 8 };
    mer_kernel_shape_make(op, &space->shape);
    const MerKernelShape *s = &space->shape;
    int                   co_blocks = (s->co + LEAST_LANES - 1) / LEAST_LANES;
    int                   ci_blocks = (s->ci + LEAST_LANES - 1) / LEAST_LANES;
    const List            lists[MER_KERNEL_FIELDS] = {powers(128, vector_bits, arena),
                                                      powers(1, threads, arena),
                                                      whole(MER_KERNEL_ORDERS, arena),
                                                      powers(1, 16, arena),
                                                      whole(s->kernel[1] > 1 ? 2 : 1, arena),
                                                      tiles(co_blocks, MOST_VECTORS, arena),
                                                      tiles(s->rows, MOST_ROWS, arena),
                                                      tiles(s->columns, MOST_COLUMNS, arena),
                                                      powers(1, co_blocks, arena),
                                                      powers(1, s->rows, arena),
                                                      powers(1, ci_blocks, arena)};
    MerKnob              *list = MER_ARRAY(arena, MerKnob, MER_KERNEL_FIELDS);
    for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
        const MerKernelField *field = &mer_kernel_fields[f];
        space->counts[f] = lists[f].count;
        space->values[f] = lists[f].values;
        list[f] =
            (MerKnob){.name = field->name,
                      .kind = field->role == MER_ROLE_ORDER ? MER_KNOB_CATEGORY : MER_KNOB_ORDERED,
                      .role = field->role,
                      .level = -1,
                      .dim = field->dim,
                      .op = -1,
                      .agent = field->agent,
                      .choices = lists[f].count,
                      .values = lists[f].values};
    }
    *knobs = (MerSpace){.knob_count = MER_KERNEL_FIELDS, .knobs = list};
}

void mer_kernel_decode(const MerKernelSpace *space, const MerIndex *point, MerKernel *kernel)
{
    for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
        *mer_kernel_field(kernel, f) = (int)space->values[f][point[f]];
    }
    mer_kernel_settle(&space->shape, kernel);
}

bool mer_kernel_encode(const MerKernelSpace *space, const MerKernel *kernel, MerIndex *point)
{
    /* each settled value depends on those before it only: width, tiles, cache tiles, unrolling, threads, order */
    static const int sequence[MER_KERNEL_FIELDS] = {0, 5, 6, 7, 8, 9, 10, 3, 4, 1, 2};
    MerKernel        wanted = *kernel, made;
    memset(point, 0, MER_KERNEL_FIELDS * sizeof *point);
    for (int i = 0; i < MER_KERNEL_FIELDS; i++) {
        int f = sequence[i];
        do {
            mer_kernel_decode(space, point, &made);
        } while (*mer_kernel_field(&made, f) != *mer_kernel_field(&wanted, f) &&
                 ++point[f] < space->counts[f]);
        if (point[f] == space->counts[f]) {
            return false;
        }
    }
    return memcmp(&made, kernel, sizeof made) == 0;
}
