/* Data, warm-up and batches. Which images are kept for validation and the order of an epoch follow from the seed; so do the streams
 * by which each image is moved. */
#include "split/train/split_training.h"

#include "base/file.h"
#include "learn/training.h"
#include "mercator/text.h"
#include "split/split_parts.h"
#include "split/train/warmup_cache.h"
#include "tensor/ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARTS = MER_TRAIN_PARTS };
enum { STREAM_SPLIT = 1, STREAM_WEIGHTS, STREAM_ORDER, STREAM_IMAGES, STREAM_SHARES };
enum { CHANGE_TRAIN = 1, CHANGE_TEST, CHANGE_NOISY, CHANGE_SHIFTED }; /* seeds: data knows no run */

typedef struct Model { /* what a MerTrainable points to */
    MerTrain    *train;
    MerTrainNet *net;
    bool         is_by_knob; /* choices of counted layers are places in the ranking, not channels */
} Model;

struct MerTrain {
    const MerGraph *graph;
    const MerSplit *split;
    MerTrainOptions options;
    MerArena       *arena;
    bool            is_open, is_warm;
    MerDatasetPair  data;
    MerDataset      changed[2]; /* the test part with noise, and shifted */
    int             count[PARTS];
    int            *images[PARTS]; /* numbers in the training part, or in the test part */
    unsigned char  *right;         /* by image of the part measured last */
    int            *order;         /* of the epoch that is being trained */
    int             ordered_epoch;
    float          *batch;
    int            *labels;
    Model           model[3]; /* in floating point; with choices of channels; the same by knobs */
    /* what the second one was trained to, and by whom; NULL: it is not */
    const void    *owner;
    unsigned char *assignment;
};

MerTrain *mer_train_new(const MerGraph *graph, const MerSplit *split,
                        const MerTrainOptions *options, MerArena *arena)
{
    MerTrain *t = MER_NEW(arena, MerTrain);
    *t = (MerTrain){0};
    t->graph = graph;
    t->split = split;
    t->options = *options;
    t->ordered_epoch = -1;
    return t;
}

void mer_train_free(MerTrain *train)
{
    if (train != NULL && train->arena != NULL) {
        for (int m = 0; m < 2; m++) {
            mer_train_net_free(train->model[m].net);
        }
        mer_arena_free(train->arena);
        train->arena = NULL;
        train->owner = train->assignment = NULL;
    }
}

bool mer_train_is_priced(const MerTrain *train)
{
    return train->options.is_priced;
}

const MerDatasetPair *mer_train_data(const MerTrain *train)
{
    return &train->data;
}

MerTrainNet *mer_train_network(MerTrain *train)
{
    return train->model[1].net;
}

const unsigned char *mer_train_answers(const MerTrain *train)
{
    return train->right;
}

const char *mer_train_part_name(int part)
{
    static const char *const names[PARTS] = {"train", "validation", "test", "noisy", "shifted"};
    return names[part];
}

static int *numbers(MerTrain *t, int count)
{
    int *list = MER_ARRAY(t->arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        list[i] = i;
    }
    return list;
}

/* A share of the training part, drawn once by the seed, is never trained on. */
static void divide(MerTrain *t)
{
    int    all = t->data.train.count;
    int   *list = numbers(t, all);
    MerRng rng = mer_rng_make((uint64_t)t->options.seed, STREAM_SPLIT);
    mer_rng_shuffle(&rng, list, all);
    int held = (int)(t->options.validation * all);
    int most = t->options.samples > 0 && t->options.samples < all - held ? (int)t->options.samples
                                                                         : all - held;
    t->count[1] = held;
    t->images[1] = list;
    t->count[0] = most;
    t->images[0] = list + held;
    t->images[MER_TRAIN_TEST] = numbers(t, t->data.test.count);
    t->images[MER_TRAIN_NOISY] = t->images[MER_TRAIN_SHIFTED] = t->images[MER_TRAIN_TEST];
    t->count[MER_TRAIN_TEST] = t->data.test.count;
    t->count[MER_TRAIN_NOISY] = t->options.test_noise > 0 ? t->data.test.count : 0;
    t->count[MER_TRAIN_SHIFTED] = t->options.test_shift > 0 ? t->data.test.count : 0;
}

/* Noise as a share of the range of pixels; normalised ones have none. */
static MerAugment noise_of(const MerTrain *t, double share, bool is_normalised)
{
    double low = is_normalised ? -INFINITY : t->data.is_signed ? -1 : 0;
    double high = is_normalised ? INFINITY : 1;
    return (MerAugment){
        .noise = share * (is_normalised ? 1 : high - low), .low = low, .high = high};
}

static void change_images(MerTrain *t)
{
    const MerTrainOptions *o = &t->options;
    if (o->noise > 0) {
        MerAugment noisy = noise_of(t, o->noise, false);
        t->data.train = mer_dataset_changed(&t->data.train, &noisy, CHANGE_TRAIN, t->arena);
        t->data.test = mer_dataset_changed(&t->data.test, &noisy, CHANGE_TEST, t->arena);
    }
    if (o->normalise) {
        mer_dataset_normalise(&t->data, t->arena);
    }
    if (o->test_noise > 0) {
        MerAugment noisy = noise_of(t, o->test_noise, o->normalise);
        t->changed[0] = mer_dataset_changed(&t->data.test, &noisy, CHANGE_NOISY, t->arena);
    }
    if (o->test_shift > 0) {
        MerAugment moved = {.shift = (int)o->test_shift};
        t->changed[1] = mer_dataset_changed(&t->data.test, &moved, CHANGE_SHIFTED, t->arena);
    }
}

/* The network by its name with all its settings, but for images of this size: "mobilenet_v1@width=0.25@input=1x8x8@classes=10". */
static const char *fitting_name(const MerTrain *t)
{
    const MerDataset *d = &t->data.train;
    const char       *from = t->graph->path ? t->graph->path : t->graph->name, *name = "";
    for (size_t length; *from != '\0'; from += length) {
        length = 1 + strcspn(from + 1, "@");
        if (strncmp(from, "@input=", 7) != 0 && strncmp(from, "@classes=", 9) != 0) {
            name = mer_arena_format(t->arena, "%s%.*s", name, (int)length, from);
        }
    }
    return mer_arena_format(t->arena, "%s@input=%dx%dx%d@classes=%d", name, d->channels, d->height,
                            d->width, d->classes);
}

static MerStatus check_shape(const MerTrain *t, MerError *error)
{
    const MerDataset  *d = &t->data.train;
    const MerTrainNet *net = t->model[0].net;
    bool               has_settings = t->graph->format && strcmp(t->graph->format, "network") == 0;
    if (net->shape[0] != d->channels || net->shape[1] != d->height || net->shape[2] != d->width ||
        net->classes < d->classes) {
        return mer_error_set(
            error, MER_INVALID,
            "%s takes images of %dx%dx%d in %d classes, dataset %s has %dx%dx%d in %d: expected "
            "%s%s%sanother dataset",
            t->graph->name, net->shape[0], net->shape[1], net->shape[2], net->classes, t->data.name,
            d->channels, d->height, d->width, d->classes, has_settings ? "a network such as " : "",
            has_settings ? fitting_name(t) : "another network", has_settings ? ", or " : " or ");
    }
    return MER_OK;
}

MerStatus mer_train_open(MerTrain *t, MerError *error)
{
    const MerTrainOptions *o = &t->options;
    if (t->is_open) {
        return MER_OK;
    }
    mer_train_free(t); /* what an attempt that failed left */
    t->arena = mer_arena_new();
    t->model[0].net = t->model[1].net = NULL;
    if (o->warmup_cache != NULL) { /* said before hours of training, not after */
        MER_TRY(mer_directory_make(o->warmup_cache, t->arena, error));
    }
    MER_TRY(mer_dataset_open(o->dataset, o->data, t->arena, &t->data, error));
    change_images(t);
    MerTrainForm form = o->form;
    form.is_input_signed = t->data.is_signed;
    for (int m = 0; m < 2; m++) {
        t->model[m].train = t;
        MER_TRY(mer_train_net_new(t->graph, t->split, &form, t->arena, &t->model[m].net, error));
    }
    MER_TRY(check_shape(t, error));
    divide(t);
    int64_t pixels = (int64_t)t->data.train.channels * t->data.train.height * t->data.train.width;
    t->batch = MER_ARRAY(t->arena, float, (o->batch + 1) * pixels);
    t->labels = MER_ARRAY(t->arena, int, o->batch + 1);
    t->order = MER_ARRAY(t->arena, int, t->count[0] + 1);
    t->right = MER_ARRAY(t->arena, unsigned char, t->data.train.count + t->data.test.count + 1);
    t->is_open = true;
    return MER_OK;
}

/* ---- batches */

static int batch_count(const void *state, int part)
{
    const MerTrain *t = ((const Model *)state)->train;
    return (int)((t->count[part] + t->options.batch - 1) / t->options.batch);
}

static void put_in_order(MerTrain *t, int epoch)
{
    if (t->ordered_epoch != epoch) {
        MerRng rng =
            mer_rng_make((uint64_t)t->options.seed, (uint64_t)(unsigned)epoch << 8 | STREAM_ORDER);
        memcpy(t->order, t->images[0], (size_t)t->count[0] * sizeof *t->order);
        mer_rng_shuffle(&rng, t->order, t->count[0]);
        t->ordered_epoch = epoch;
    }
}

static const MerDataset *set_of(const MerTrain *t, int part)
{
    return part < MER_TRAIN_TEST    ? &t->data.train
           : part == MER_TRAIN_TEST ? &t->data.test
                                    : &t->changed[part - MER_TRAIN_NOISY];
}

/* Batches of an epoch differ by one image at most: a small last one would spoil the statistics of batch norm. */
static int load(MerTrain *t, int part, int epoch, int batch, int batches)
{
    MerAugment augment = {
        .flip = t->options.flip, .shift = (int)t->options.shift, .roll = (int)t->options.roll};
    bool       is_moved = augment.flip || augment.shift > 0 || augment.roll > 0;
    int        first = (int)((int64_t)t->count[part] * batch / batches);
    int        count = (int)((int64_t)t->count[part] * (batch + 1) / batches) - first;
    const int *order = t->images[part];
    if (part == 0) {
        put_in_order(t, epoch);
        order = t->order;
    }
    mer_dataset_batch(set_of(t, part), count, order + first,
                      part == 0 && is_moved ? &augment : NULL,
                      (uint64_t)t->options.seed ^ STREAM_IMAGES, epoch, t->batch, t->labels);
    return count;
}

static int count_correct(MerTape *tape, MerTensor *logits, const int *labels, unsigned char *right)
{
    const float *row = mer_tensor_data(tape, logits);
    int          correct = 0, width = logits->shape[1];
    for (int i = 0; i < logits->shape[0]; i++, row += width) {
        int best = 0;
        for (int j = 1; j < width; j++) {
            best = row[j] > row[best] ? j : best;
        }
        right[i] = best == labels[i];
        correct += right[i];
    }
    return correct;
}

/* A float network with two operators in a layer learns both: in each step the first has a random number of the first channels (Risso
 * et al., TCAD 2025). NULL: there is no such layer. */
static MerTensor *const *random_shares(const Model *model, MerTape *tape, int epoch, int batch)
{
    const MerTrainNet *net = model->net;
    MerRng             rng = mer_rng_make((uint64_t)model->train->options.seed ^ STREAM_SHARES,
                                          (uint64_t)(unsigned)epoch << 32 | (unsigned)batch);
    MerTensor        **shares = NULL;
    for (int n = 0; n < net->node_count; n++) {
        const MerTrainNode *node = &net->nodes[n];
        if (node->branch_count < 2) {
            continue;
        }
        if (shares == NULL) {
            size_t bytes = (size_t)net->split->layer_count * sizeof(MerTensor *);
            shares = mer_workspace_alloc(mer_tape_workspace(tape), bytes);
            memset(shares, 0, bytes);
        }
        int        channels = net->split->layers[node->layer].c_out;
        int        first = mer_rng_below(&rng, channels + 1);
        MerTensor *share = mer_tape_tensor(tape, 2, (int[]){2, channels});
        for (int c = 0; c < channels; c++) {
            share->data[c] = c < first ? 1 : 0;
            share->data[channels + c] = c < first ? 0 : 1;
        }
        shares[node->layer] = share;
    }
    return shares;
}

/* Where the plan would put the columns of each of many choices, which are whole here: the finest weights come first. */
static void place_by_precision(const MerSplitLayer *layer, const int *precision,
                               const float *choice, int *place)
{
    for (int i = 0, j = 0; i < layer->option_count; i++) {
        const float *columns = choice + (size_t)precision[i] * (size_t)layer->c_out;
        for (int c = 0; c < layer->c_out; c++) {
            if (columns[c] != 0) {
                place[layer->ranking[j++]] = c;
            }
        }
    }
}

/* A plan that counts gives the first channels of the ranking to the finest weights: so do choices whose columns count. */
static MerTensor *in_order_of_channels(const MerSplitLayer *layer, MerTape *tape, MerTensor *choice)
{
    int  precision[MER_SPLIT_MAX_OPTIONS];
    int *place =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)layer->c_out * sizeof *place);
    mer_split_by_precision(layer, precision);
    for (int j = 0; j < layer->c_out; j++) { /* column 0 is of option 0 before all others */
        place[layer->ranking[precision[0] == 0 ? j : layer->c_out - 1 - j]] = j;
    }
    if (layer->option_count > 2) {
        place_by_precision(layer, precision, mer_tensor_data(tape, choice), place);
    }
    MerTensor *columns = mer_tensor_transpose(tape, choice, (int[]){1, 0});
    return mer_tensor_transpose(tape, mer_tensor_gather(tape, columns, layer->c_out, place),
                                (int[]){1, 0});
}

static MerTensor *const *by_channel(const MerSplit *split, MerTape *tape, MerTensor *const *choice)
{
    size_t      bytes = (size_t)(split->layer_count + 1) * sizeof(MerTensor *);
    MerTensor **all = mer_workspace_alloc(mer_tape_workspace(tape), bytes);
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        bool                 is_ranked = choice[l] && layer->ranking && !layer->is_ordered;
        all[l] = is_ranked ? in_order_of_channels(layer, tape, choice[l]) : choice[l];
    }
    return all;
}

static MerTensor *loss(void *state, MerTape *tape, MerTensor *const *choice, int part, int epoch,
                       int batch, MerTally *tally)
{
    Model    *model = state;
    MerTrain *t = model->train;
    int       count = load(t, part, epoch, batch, batch_count(state, part));
    size_t    pixels = (size_t)model->net->shape[0] * model->net->shape[1] * model->net->shape[2];
    /* several passes of one step may look at the same batch again: the tape borrows what it is given */
    float *images =
        mer_workspace_floats(mer_tape_workspace(tape), (int64_t)((size_t)count * pixels));
    int *labels = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)count * sizeof *labels);
    memcpy(images, t->batch, (size_t)count * pixels * sizeof *images);
    memcpy(labels, t->labels, (size_t)count * sizeof *labels);
    if (!model->net->is_folded && part == 0 && choice == NULL) {
        choice = random_shares(model, tape, epoch, batch);
    }
    if (model->is_by_knob && choice != NULL && !t->split->is_by_channel) {
        choice = by_channel(t->split, tape, choice);
    }
    MerTensor     *logits = mer_train_net_run(model->net, tape, images, count, choice, part == 0);
    MerTensor     *result = mer_tensor_cross_entropy(tape, logits, labels, 0);
    double         before = tally->loss * (double)tally->examples;
    unsigned char *right = t->right + (part == 0 ? 0 : tally->examples); /* of an epoch: unused */
    tally->correct += count_correct(tape, logits, labels, right);
    tally->examples += count;
    tally->loss = (before + result->data[0] * (double)count) / (double)tally->examples;
    return result;
}

static MerParameters *parameters(void *state, int group)
{
    Model *model = state;
    return group == 0 ? model->net->weights : model->net->scales;
}

/* ---- where trainings begin */

static void note_epoch(MerNotes *notes, const MerTally *tally, int epoch, int epochs)
{
    char text[160];
    snprintf(text, sizeof text, "{\"loss\": %.9g, \"train_accuracy\": %.9g}", tally->loss,
             (double)tally->correct / (double)(tally->examples > 0 ? tally->examples : 1));
    mer_epoch(notes, "warmup", epoch, epochs, text);
}

/* Of all that decides about the float network: its form, its first weights, what it learns from, and how. */
static uint64_t warmup_key(const MerTrain *t)
{
    const MerTrainOptions *o = &t->options;
    const MerTrainNet     *net = t->model[0].net;
    uint64_t               hash = mer_hash_text(t->graph->hash, "mercator-warmup/1");
    hash = mer_hash_int(hash, (int64_t)t->data.hash);
    hash = mer_hash_int(hash, o->seed);
    hash = mer_hash_int(hash, o->batch);
    hash = mer_hash_int(hash, o->warmup_epochs);
    hash = mer_hash_int(mer_hash_int(hash, o->samples), o->warmup_updater);
    hash = mer_hash_int(hash, o->flip + 2 * o->normalise + 4 * o->form.signed_add);
    hash = mer_hash_int(mer_hash_int(hash, o->shift), o->roll);
    hash = mer_hash_real(mer_hash_real(hash, o->warmup_rate), o->weight_decay);
    hash = mer_hash_real(mer_hash_real(hash, o->validation), o->noise);
    for (int n = 0; n < net->node_count; n++) {
        hash = mer_hash_int(hash, net->nodes[n].branch_count);
    }
    for (int i = 0; i < mer_parameters_count(net->weights); i++) {
        const MerTensor *w = mer_parameters_get(net->weights, i);
        hash = mer_hash_bytes(hash, w->data, (size_t)w->size * sizeof *w->data);
    }
    return hash;
}

/* What training would have told. */
static void replay(const MerTally *tallies, int epochs, MerNotes *notes)
{
    for (int e = 0; e < epochs; e++) {
        mer_spend(notes, MER_SPENT_EPOCHS, 1);
        mer_spend(notes, MER_SPENT_IMAGES, (double)tallies[e].examples);
        note_epoch(notes, &tallies[e], e + 1, epochs);
    }
}

static MerStatus train_float(MerTrain *t, MerPool *pool, MerNotes *notes, MerTally *tallies,
                             MerError *error)
{
    const MerTrainOptions *o = &t->options;
    MerTrainable           model = mer_train_float_model(t);
    MerTrainingRule        rule = {.epochs = (int)o->warmup_epochs,
                                   .rate = o->warmup_rate,
                                   .weight_decay = o->weight_decay,
                                   .updater = o->warmup_updater};
    MerTape               *tape = mer_tape_new(&mer_backend_dnnl, pool);
    MerTraining           *training = mer_training_new(&model, tape, &rule);
    MerStatus              status = MER_OK;
    for (int e = 0; e < rule.epochs && status == MER_OK && !mer_is_cancelled(notes); e++) {
        status = mer_training_epoch(training, e, NULL, notes, &tallies[e], error);
        if (!mer_training_is_cut(training)) {
            note_epoch(notes, &tallies[e], e + 1, rule.epochs);
        }
    }
    mer_training_free(training);
    mer_tape_free(tape);
    return status;
}

MerStatus mer_train_warm_up(MerTrain *t, MerPool *pool, MerNotes *notes, MerError *error)
{
    MER_TRY(mer_train_open(t, error));
    if (t->is_warm) {
        return MER_OK;
    }
    const char *folder = t->options.warmup_cache;
    int         epochs = (int)t->options.warmup_epochs;
    MerTally   *tallies = MER_ARRAY(t->arena, MerTally, epochs + 1);
    MerRng      rng = mer_rng_make((uint64_t)t->options.seed, STREAM_WEIGHTS);
    mer_train_net_fill(t->model[0].net, &rng);
    MerWarmup kept = {t->model[0].net->weights, tallies, epochs, folder ? warmup_key(t) : 0};
    bool      is_found = false;
    if (folder != NULL) {
        MER_TRY(mer_warmup_load(folder, &kept, t->arena, &is_found, error));
    }
    if (is_found) {
        replay(tallies, epochs, notes);
    } else {
        MER_TRY(train_float(t, pool, notes, tallies, error));
    }
    t->is_warm = !mer_is_cancelled(notes);
    return folder != NULL && t->is_warm && !is_found
               ? mer_warmup_save(folder, &kept, t->arena, error)
               : MER_OK;
}

static MerStatus start_float(void *state, MerPool *pool, MerNotes *notes, MerError *error)
{
    return mer_train_warm_up(((Model *)state)->train, pool, notes, error);
}

MerStatus mer_train_start_float(MerTrain *t, MerPool *pool, MerNotes *notes, MerError *error)
{
    MER_TRY(mer_train_warm_up(t, pool, notes, error));
    t->owner = NULL;
    mer_train_net_copy(t->model[1].net, t->model[0].net);
    return MER_OK;
}

static MerStatus start(void *state, MerPool *pool, MerNotes *notes, MerError *error)
{
    Model *model = state;
    MER_TRY(mer_train_start_float(model->train, pool, notes, error));
    mer_train_net_fold(model->net);
    return MER_OK;
}

static bool has_two_operators(const MerTrainNet *net)
{
    bool has = false;
    for (int n = 0; n < net->node_count; n++) {
        has |= net->nodes[n].branch_count > 1;
    }
    return has;
}

/* The running statistics become the mean over the batches of one epoch: batch b moves them by 1 / (b + 1). */
MerStatus mer_train_measure_norms(MerTrain *t, MerTape *tape, MerChoose *choose, void *context,
                                  MerError *error)
{
    Model   *model = &t->model[1];
    float    momentum = model->net->momentum;
    MerTally tally = {0};
    if (!has_two_operators(model->net)) {
        return MER_OK;
    }
    mer_tape_record(tape, false);
    for (int batch = 0; batch < batch_count(model, 0); batch++) {
        mer_tape_reset(tape);
        model->net->momentum = 1 / (float)(batch + 1);
        loss(model, tape, choose(context, tape), 0, 0, batch, &tally);
    }
    mer_tape_record(tape, true);
    model->net->momentum = momentum;
    return mer_tape_status(tape, error);
}

void mer_train_keep(MerTrain *t, const void *owner, const unsigned char *assignment, int count)
{
    if (t->assignment == NULL) { /* of one split, so that the count is always the same */
        t->assignment = MER_ARRAY(t->arena, unsigned char, count + 1);
    }
    memcpy(t->assignment, assignment, (size_t)count);
    t->owner = owner;
}

bool mer_train_is_kept(const MerTrain *t, const void *owner, const unsigned char *assignment,
                       int count)
{
    return t->owner == owner && owner != NULL &&
           memcmp(t->assignment, assignment, (size_t)count) == 0;
}

MerTrainable mer_train_model(MerTrain *train)
{
    train->model[1].train = train;
    return (MerTrainable){&train->model[1], start, batch_count, loss, parameters};
}

MerTrainable mer_train_knob_model(MerTrain *train)
{
    train->model[2] = (Model){train, train->model[1].net, true};
    return (MerTrainable){&train->model[2], start, batch_count, loss, parameters};
}

MerTrainable mer_train_float_model(MerTrain *train)
{
    train->model[0].train = train;
    return (MerTrainable){&train->model[0], start_float, batch_count, loss, parameters};
}
