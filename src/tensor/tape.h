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
    const MerBackend *backend;
    void             *backend_state;
    MerWorkspace     *workspace;
    MerNode          *last;
    bool              is_recording;
};

/* Remembers an op if a gradient will have to pass through it: marks the output and gives the
 * node to complete, or NULL. Inputs may be NULL. */
MerNode *mer_tape_add(MerTape *tape, MerBackward backward, MerTensor *output, MerTensor *a,
                      MerTensor *b, MerTensor *c);

/* An image tensor without memory for its numbers: the backend sets data or blocked. */
MerTensor *mer_tape_image(MerTape *tape, const int shape[4]);

/* The plain gradient to add to. `is_fresh` says that it holds nothing yet: overwrite all of it. */
float *mer_grad_begin(MerTape *tape, MerTensor *tensor, bool *is_fresh);
float *mer_grad_zeroed(MerTape *tape, MerTensor *tensor); /* always add */
/* Adds a whole gradient in either form; the memory may be kept as it is. `is_lent`: others read
 * it. */
void mer_grad_give(MerTape *tape, MerTensor *tensor, MerBlocked form, bool is_lent);
void mer_grad_give_plain(MerTape *tape, MerTensor *tensor, float *grad, bool is_lent);
/* The form the gradient of an output is in, for ops that take either. */
MerBlocked mer_grad_form(const MerTensor *tensor); /* layout NULL: plain */
MerBlocked mer_data_form(const MerTensor *tensor); /* the blocked one if there is one */
int64_t    mer_form_size(const MerTape *tape, const MerTensor *tensor, MerBlocked form);
/* The numbers of a form in another layout (NULL: plain): the same memory if nothing has to move. */
float *mer_form_convert(MerTape *tape, const MerTensor *tensor, MerBlocked form,
                        const MerLayout *to);

#endif
