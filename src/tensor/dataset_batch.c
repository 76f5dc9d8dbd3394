/* Batches of images, each moved by its own random stream, so that neither the order of a batch nor
 * threads change an image. */
#include "tensor/dataset.h"

#include <math.h>
#include <string.h>

typedef struct Move {
    bool is_flipped;
    int  down, right, roll;
} Move;

static int within(MerRng *rng, int most)
{
    return most > 0 ? mer_rng_below(rng, 2 * most + 1) - most : 0;
}

static Move draw(const MerAugment *augment, MerRng *rng)
{
    Move move;
    move.is_flipped = augment->flip && mer_rng_below(rng, 2) == 1;
    move.down = within(rng, augment->shift);
    move.right = within(rng, augment->shift);
    move.roll = within(rng, augment->roll);
    return move;
}

static void add_noise(const MerAugment *augment, MerRng *rng, int64_t size, float *image)
{
    for (int64_t i = 0; i < size; i++) {
        double noisy = image[i] + augment->noise * mer_rng_normal(rng);
        image[i] = (float)fmin(fmax(noisy, augment->low), augment->high);
    }
}

static void copy_moved(const MerDataset *d, const float *from, Move move, float *to)
{
    for (int i = 0; i < d->channels * d->height; i++) {
        int          plane = i / d->height * d->height, row = i % d->height - move.down;
        bool         has_row = row >= 0 && row < d->height;
        int          source = ((row - move.roll) % d->height + d->height) % d->height;
        const float *line = from + (int64_t)(plane + source) * d->width;
        for (int x = 0; x < d->width; x++) {
            int column = x - move.right;
            column = move.is_flipped ? d->width - 1 - column : column;
            bool is_inside = has_row && column >= 0 && column < d->width;
            to[(int64_t)i * d->width + x] = is_inside ? line[column] : 0;
        }
    }
}

void mer_dataset_batch(const MerDataset *dataset, int count, const int *order,
                       const MerAugment *augment, uint64_t seed, int epoch, float *images,
                       int *labels)
{
    int64_t size = (int64_t)dataset->channels * dataset->height * dataset->width;
    for (int i = 0; i < count; i++) {
        const float *from = dataset->images + order[i] * size;
        labels[i] = dataset->labels[order[i]];
        if (augment == NULL) {
            memcpy(images + i * size, from, (size_t)size * sizeof *images);
            continue;
        }
        MerRng rng = mer_rng_make(seed, (uint64_t)(unsigned)epoch << 32 | (unsigned)order[i]);
        copy_moved(dataset, from, draw(augment, &rng), images + i * size);
        if (augment->noise > 0) {
            add_noise(augment, &rng, size, images + i * size);
        }
    }
}

MerDataset mer_dataset_changed(const MerDataset *dataset, const MerAugment *augment, uint64_t seed,
                               MerArena *arena)
{
    MerDataset changed = *dataset;
    int64_t    size = (int64_t)dataset->channels * dataset->height * dataset->width;
    float     *images = MER_ARRAY(arena, float, size * dataset->count + 1);
    for (int i = 0; i < dataset->count; i++) {
        int label;
        mer_dataset_batch(dataset, 1, &i, augment, seed, 0, images + i * size, &label);
    }
    changed.images = images;
    return changed;
}

static void channel_sums(const MerDataset *d, int channel, double *mean, double *deviation)
{
    int64_t pixels = (int64_t)d->height * d->width;
    double  sum = 0, squares = 0, count = (double)pixels * d->count;
    for (int i = 0; i < d->count; i++) {
        const float *plane = d->images + ((int64_t)i * d->channels + channel) * pixels;
        for (int64_t j = 0; j < pixels; j++) {
            sum += plane[j];
            squares += (double)plane[j] * plane[j];
        }
    }
    *mean = sum / count;
    double variance = squares / count - *mean * *mean;
    *deviation = variance > 1e-12 ? sqrt(variance) : 1;
}

static void rescale(MerDataset *d, int channel, double mean, double deviation, float *to)
{
    int64_t pixels = (int64_t)d->height * d->width;
    for (int i = 0; i < d->count; i++) {
        int64_t at = ((int64_t)i * d->channels + channel) * pixels;
        for (int64_t j = at; j < at + pixels; j++) {
            to[j] = (float)((d->images[j] - mean) / deviation);
        }
    }
}

void mer_dataset_normalise(MerDatasetPair *pair, MerArena *arena)
{
    MerDataset *parts[2] = {&pair->train, &pair->test};
    float      *images[2];
    for (int p = 0; p < 2; p++) {
        int64_t size = (int64_t)parts[p]->channels * parts[p]->height * parts[p]->width;
        images[p] = MER_ARRAY(arena, float, size *parts[p]->count + 1);
    }
    for (int c = 0; c < pair->train.channels; c++) {
        double mean, deviation;
        channel_sums(&pair->train, c, &mean, &deviation);
        for (int p = 0; p < 2; p++) {
            rescale(parts[p], c, mean, deviation, images[p]);
        }
    }
    for (int p = 0; p < 2; p++) {
        parts[p]->images = images[p];
    }
    pair->is_signed = true;
}
