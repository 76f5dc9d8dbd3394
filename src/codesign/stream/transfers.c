/* Slices of a tile, and where one 2-D pattern takes all of them. */
#include "codesign/stream/transfers.h"

enum { MOST = 65535 }; /* of a size or stride */

/* From `start` on, `count` rows or columns of an image of `size`: what lies inside, and the zeros
 * before and after. */
static void clip(int start, int count, int size, int *inside, int *before, int *after)
{
    int end = start + count;
    *before = start < 0 ? (-start < count ? -start : count) : 0;
    int first = start < 0 ? 0 : start, last = end < size ? end : size;
    *inside = last > first ? last - first : 0;
    *after = count - *before - *inside;
}

/* One pattern for all slices, where its fields take it; else it stays as it is. */
static void merge(MerVtaTransfer *transfer, int64_t y, int64_t x, int64_t stride)
{
    if (y <= MOST && x <= MOST && stride <= MOST) {
        transfer->y = (int)y;
        transfer->x = (int)x;
        transfer->stride = (int)stride;
        transfer->count = 1;
    }
}

/* Slices of `y` x `x` of planes of `height` x `width`. */
static void merge_slices(MerVtaTransfer *transfer, int height, int width)
{
    int64_t count = transfer->count, y = transfer->y, x = transfer->x;
    int64_t plane = (int64_t)height * width;
    if (count > 1 && y == 1) {
        merge(transfer, count, x, plane);
    } else if (count > 1 && x == width) {
        merge(transfer, count, y * x, plane);
    } else if (count > 1 && y == height) {
        merge(transfer, count * y, x, width);
    }
}

void mer_vta_input_load(const MerVtaShape *shape, const MerVtaSchedule *schedule, int row,
                        int column, MerVtaTransfer *transfer)
{
    int rows = mer_vta_tile_rows(shape, schedule), columns = mer_vta_tile_columns(shape, schedule);
    int top = row * shape->stride[0] - shape->pad[0],
        left = column * shape->stride[1] - shape->pad[1];
    *transfer = (MerVtaTransfer){.dram = (int64_t)(top > 0 ? top : 0) * shape->width +
                                         (left > 0 ? left : 0),
                                 .stride = shape->width,
                                 .count = schedule->tile_ci,
                                 .sram_step = (int64_t)rows * columns,
                                 .dram_step = (int64_t)shape->height * shape->width};
    clip(top, rows, shape->height, &transfer->y, &transfer->pad[0], &transfer->pad[2]);
    clip(left, columns, shape->width, &transfer->x, &transfer->pad[1], &transfer->pad[3]);
    if (transfer->y == 0 || transfer->x == 0) {
        /* all of it lies outside the image: rows of zeros, since no columns would mean no work */
        transfer->dram = 0;
        transfer->y = 0;
        transfer->x = columns;
        transfer->pad[0] = rows < MER_VTA_MOST_PAD ? rows : MER_VTA_MOST_PAD;
        transfer->pad[2] = rows - transfer->pad[0];
        transfer->pad[1] = transfer->pad[3] = 0;
    } else if (transfer->y == rows && transfer->x == columns) {
        merge_slices(transfer, shape->height, shape->width);
    }
}

void mer_vta_weight_load(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                         MerVtaTransfer *transfer)
{
    int kernel = shape->kernel[0] * shape->kernel[1];
    *transfer = (MerVtaTransfer){.y = schedule->tile_co,
                                 .x = schedule->tile_ci * kernel,
                                 .stride = shape->ci * kernel,
                                 .count = 1};
}

void mer_vta_output_store(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                          MerVtaTransfer *transfer)
{
    *transfer = (MerVtaTransfer){.y = schedule->tile_h,
                                 .x = schedule->tile_w,
                                 .stride = shape->columns,
                                 .count = schedule->tile_co,
                                 .sram_step = (int64_t)schedule->tile_h * schedule->tile_w,
                                 .dram_step = (int64_t)shape->rows * shape->columns};
    merge_slices(transfer, shape->rows, shape->columns);
}
