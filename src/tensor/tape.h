/* Inside of the tape, for the files that define ops. */
#ifndef MERCATOR_TENSOR_TAPE_H
#define MERCATOR_TENSOR_TAPE_H

#include "tensor/backend.h"
#include "tensor/tensor.h"

enum { MER_MAX_INPUTS = 4 };

typedef struct MerNode MerNode;
typedef void (*MerBackward)(MerTape *tape, const MerNode *node);

struct MerNode {
    MerNode    *previous;
    MerBackward backward;
    MerTensor  *output;
    MerTensor  *second;                 /* of the few ops with two outputs, else NULL */
    MerTensor  *inputs[MER_MAX_INPUTS]; /* NULL: absent */
    void       *extra;                  /* what the op keeps for its backward pass */
};

struct MerTape {
    MerBackend    backend; /* complete: what it had not is its base's */
    void         *backend_state;
    MerPool      *pool;
    MerWorkspace *workspace;
    MerNode      *last;
    bool          is_recording;
    MerError      error; /* the first; status MER_OK: none */
};

/* Remembers an op if a gradient will have to pass through it: marks the output, copies `size` bytes
 * of `extra` (NULL: none) and gives the node, or NULL. Inputs may be NULL. */
MerNode *mer_tape_add(MerTape *tape, MerBackward backward, MerTensor *output, MerTensor *a,
                      MerTensor *b, MerTensor *c, const void *extra, size_t size);

/* Keeps the first error. Not from within a part: others run beside it. */
void mer_tape_fail(MerTape *tape, MerStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Does parts 0 .. count - 1 on the tape's threads, in any order. */
typedef void (*MerPart)(void *context, int part, int worker);
void mer_tape_parts(MerTape *tape, int count, MerPart work, void *context);
/* The same for numbers 0 .. count - 1, in parts of `grain`. */
typedef void (*MerRange)(void *context, int64_t first, int64_t end);
void mer_tape_split(MerTape *tape, int64_t count, int64_t grain, MerRange work, void *context);
int  mer_tape_threads(const MerTape *tape);

/* A product in parts, each by `multiply` (a batch of one; 0: done). Gives the first status that is not
 * 0. */
typedef int (*MerMultiply)(const MerProduct *product);
int mer_product_split(MerTape *tape, const MerProduct *product, MerMultiply multiply);

enum { MER_GRAIN = 16384 }; /* numbers of a part that does little with each */

/* Sets rank, shape and size. */
void mer_tensor_form(MerTensor *tensor, int rank, const int *shape);
/* An image tensor without memory for its numbers: the backend sets data or blocked. */
MerTensor *mer_tape_image(MerTape *tape, const int shape[4]);

/* The plain gradient to add to. `is_fresh` says that it holds nothing yet: overwrite all of it. */
float *mer_grad_begin(MerTape *tape, MerTensor *tensor, bool *is_fresh);
float *mer_grad_zeroed(MerTape *tape, MerTensor *tensor); /* always add */
float *mer_grad_wanted(MerTape *tape, MerTensor *tensor); /* the same; NULL if it needs none */
/* to = (is_fresh ? 0 : to) + factor from */
void mer_add_scaled(MerTape *tape, int64_t count, float factor, const float *from, float *to,
                    bool is_fresh);
/* Adds factor times a plain gradient. */
void mer_grad_add(MerTape *tape, MerTensor *tensor, float factor, const float *more);
/* Adds a whole gradient in either form; the memory may be kept as it is. `is_lent`: others read
 * it. */
void mer_grad_give(MerTape *tape, MerTensor *tensor, MerBlocked form, bool is_lent);
void mer_grad_give_plain(MerTape *tape, MerTensor *tensor, float *grad, bool is_lent);
/* A new tensor as large as x, and the forms of both: those of an image as it lies if `keeps_layout`, else
 * plain. */
typedef struct MerAlike {
    MerTensor *y;
    MerBlocked from, to;
} MerAlike;
MerAlike mer_tape_alike(MerTape *tape, MerTensor *x, bool keeps_layout);
/* The form the gradient of an output is in, for ops that take either. */
MerBlocked mer_grad_form(const MerTensor *tensor); /* layout NULL: plain */
MerBlocked mer_data_form(const MerTensor *tensor); /* the blocked one if there is one */
void       mer_data_set(MerTensor *tensor, MerBlocked form);
int64_t    mer_form_size(const MerTensor *tensor, MerBlocked form);
float     *mer_form_memory(MerTape *tape, const MerTensor *tensor, const MerLayout *layout);
/* The numbers of a form in another layout (NULL: plain): the same memory if nothing has to move. */
float *mer_form_convert(MerTape *tape, const MerTensor *tensor, MerBlocked form,
                        const MerLayout *to);

#endif
