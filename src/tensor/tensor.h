/* Tensors of float32 and the tape that remembers how they were made.
 *
 *     MerTape       *tape = mer_tape_new(&mer_backend_dnnl, pool);
 *     MerParameters *net = mer_parameters_new();
 *     MerTensor     *w = mer_parameters_add(net, "w", 2, (int[]){64, 10});
 *     for (each step) {
 *         mer_tape_reset(tape);
 *         MerTensor *x = mer_tape_input(tape, 2, (int[]){batch, 64}, pixels);
 *         MerTensor *y = mer_tensor_matmul(tape, x, w);
 *         MerTensor *loss = mer_tensor_cross_entropy(tape, y, labels, 0);
 *         mer_parameters_clear(net);
 *         if (mer_tape_backward(tape, loss, error) != MER_OK)
 *             break;
 *         mer_updater_step(updater, rate);
 *     }
 *
 * Everything a step makes lives in the tape's workspace until the next reset; parameters live
 * longer. Numbers are row-major, the last index fastest. Image tensors (batch, channels, height,
 * width) may be kept in a backend's own blocked layout instead; mer_tensor_data gives the plain
 * form of any tensor. Shapes that do not fit are bugs of the caller: asserted, not reported. What a
 * backend's library refuses is an error: the tape keeps the first one, does nothing more, and
 * mer_tape_backward and mer_tape_status report it. A tape and its parameters belong to one thread at
 * a time; inside, the tape may use the threads it was given, and no number depends on how many. */
#ifndef MERCATOR_TENSOR_TENSOR_H
#define MERCATOR_TENSOR_TENSOR_H

#include "base/stream.h"
#include "mercator/rng.h"
#include "tensor/workspace.h"

#include <stdbool.h>
#include <stdio.h>

enum { MER_TENSOR_RANK = 5 }; /* at most */

typedef struct MerBackend MerBackend;
typedef struct MerLayout  MerLayout; /* how a backend orders an image's numbers */
typedef struct MerTape    MerTape;
typedef struct MerPool    MerPool; /* threads: base/threads.h */

typedef struct MerBlocked {
    float           *data; /* NULL: there is no such form */
    const MerLayout *layout;
} MerBlocked;

typedef struct MerTensor {
    int        rank;
    int        shape[MER_TENSOR_RANK]; /* 1 beyond the rank */
    int64_t    size;
    float     *data, *grad; /* plain forms; NULL while only the blocked one is there */
    MerBlocked blocked, blocked_grad;
    bool       needs_grad;   /* a gradient flows here in mer_tape_backward */
    bool       has_grad;     /* one has come since the last clear */
    bool       is_grad_lent; /* the gradient's memory is another tensor's: do not write */
    bool       is_parameter; /* grad is its own for good */
} MerTensor;

extern const MerBackend mer_backend_plain; /* every kernel in plain C: the reference */
extern const MerBackend mer_backend_dnnl;  /* products, convolutions and LSTMs by oneDNN */

/* Keeps `pool` (NULL: the calling thread alone), which nobody else may run meanwhile. */
MerTape *mer_tape_new(const MerBackend *backend, MerPool *pool);
void     mer_tape_free(MerTape *tape); /* NULL is fine */
/* The first error since the tape was made; its tensors mean nothing from then on. */
MerStatus mer_tape_status(const MerTape *tape, MerError *error);
void      mer_tape_reset(MerTape *tape);
/* While off, ops only compute: nothing is remembered for a backward pass. On at first. */
void mer_tape_record(MerTape *tape, bool is_on);
/* How often anything was allocated for good: workspace blocks and the backend's kernels. */
int64_t mer_tape_allocations(const MerTape *tape);

/* A tensor of this step, its numbers not yet set. */
MerTensor *mer_tape_tensor(MerTape *tape, int rank, const int *shape);
/* A constant; the numbers are borrowed until the next reset. */
MerTensor *mer_tape_input(MerTape *tape, int rank, const int *shape, const float *values);
MerTensor *mer_tape_scalar(MerTape *tape, float value); /* shape (1) */

/* For what must live as long as the step's tensors, such as indices. */
MerWorkspace *mer_tape_workspace(MerTape *tape);

/* Plain numbers; reordered first if there is only a blocked form. */
float *mer_tensor_data(MerTape *tape, MerTensor *tensor);
float *mer_tensor_grad(MerTape *tape, MerTensor *tensor); /* zeros if none has come */

/* Adds d loss / d tensor to the gradient of every parameter it was made from; `loss` has size 1.
 * Once per reset. Gradients of tensors of the tape are working memory: the ops behind them may
 * change them. Gives the tape's status: an error of the forward pass too. */
MerStatus mer_tape_backward(MerTape *tape, MerTensor *loss, MerError *error);

/* Named tensors that outlive the step: weights (with gradient) and constants such as running
 * means. */
typedef struct MerParameters MerParameters;

MerParameters *mer_parameters_new(void);
void           mer_parameters_free(MerParameters *parameters); /* NULL is fine */
/* Zeros at first. Names are unique, without spaces; copied. */
MerTensor  *mer_parameters_add(MerParameters *parameters, const char *name, int rank,
                               const int *shape);
MerTensor  *mer_parameters_add_constant(MerParameters *parameters, const char *name, int rank,
                                        const int *shape);
int         mer_parameters_count(const MerParameters *parameters);
MerTensor  *mer_parameters_get(const MerParameters *parameters, int index);
const char *mer_parameters_name(const MerParameters *parameters, int index);
MerTensor  *mer_parameters_find(const MerParameters *parameters,
                                const char          *name);           /* NULL if absent */
void        mer_parameters_clear(MerParameters *parameters); /* forgets all gradients */
/* Scales all gradients so that their common 2-norm is at most `limit`; gives the norm before. */
double mer_parameters_clip(MerTape *tape, MerParameters *parameters, double limit);

/* `format: mercator-policy/1`, then for each tensor a line `tensor NAME SIZE SIZE ...` and its
 * float32 numbers, little-endian, then a line `end CHECKSUM`. Loading wants the same names and
 * shapes in the same order and says what differs; on an error nothing has been changed. `path`
 * is for messages. */
MerStatus mer_parameters_save(const MerParameters *parameters, FILE *file, MerError *error);
MerStatus mer_parameters_load(MerParameters *parameters, FILE *file, const char *path,
                              MerError *error);
/* Saved or loaded, as the stream says. */
MerStatus mer_parameters_keep(MerParameters *parameters, const MerStream *stream, const char *path,
                              MerError *error);

/* Starting values. The fan-in is the product of all sizes but the one given as `output_axis`. */
void mer_tensor_fill(MerTensor *tensor, float value);
void mer_tensor_fill_uniform(MerTensor *tensor, float low, float high, MerRng *rng);
void mer_tensor_fill_normal(MerTensor *tensor, float deviation, MerRng *rng);
void mer_tensor_fill_glorot(MerTensor *tensor, int output_axis, MerRng *rng); /* uniform */
/* A (rows, columns) matrix with orthonormal rows or columns, times `gain`. */
void mer_tensor_fill_orthogonal(MerTensor *tensor, float gain, MerRng *rng);

#endif
