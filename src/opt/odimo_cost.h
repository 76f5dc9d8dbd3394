/* The cost of choices that learn: with its gradient where the evaluator has one, else by the score function with a moving baseline, for
 * costs that are only numbers (Williams, 1992). Shares of the cost that the evaluator compares with. */
#ifndef MERCATOR_OPT_ODIMO_COST_H
#define MERCATOR_OPT_ODIMO_COST_H

#include "opt/odimo_gates.h"

typedef struct MerChoiceCost {
    const MerSearch *search;
    const MerGates  *gates;
    int              draws; /* of the score function in a step; 0: the evaluator's gradient */
    double           baseline, seen; /* mean of the latest draws, and how many it is of */
    MerIndex        *point;
    int64_t          priced, refused; /* draws since mer_choice_cost_begin_epoch */
    bool             is_cut;          /* one of them was interrupted: the epoch means nothing */
    MerError         reason;          /* why the last one was refused */
    MerCost          cost;            /* all that is known of the last one */
} MerChoiceCost;

/* K of `WORD:K`; 0: it is something else, or not in 1 .. most. */
int mer_draws_of(const char *text, const char *word, int most);

/* `text`: model, score or score:K. */
MerStatus mer_choice_cost_open(MerChoiceCost *cost, const MerSearch *search, const MerGates *gates,
                               const char *text, MerError *error);
void      mer_choice_cost_reset(MerChoiceCost *cost); /* another training begins */
void      mer_choice_cost_begin_epoch(MerChoiceCost *cost);

/* A term for the loss, (1), whose gradient is that of the cost, and the cost itself. `choice` is what the model has used, `shares` what
 * it was drawn from: the same unless the model sees drawn choices. */
MerTensor *mer_choice_cost_term(MerChoiceCost *cost, MerTape *tape, MerTensor *const *choice,
                                MerTensor *const *shares, double *value);
/* Of a decision. One that is refused counts as twice the mean so far, and at least as twice the share 1. */
double mer_choice_cost_of(MerChoiceCost *cost, MerTape *tape, const MerIndex *point);
/* "price": the metrics of the decision that was priced last, as far as they are known. */
void mer_choice_cost_write(const MerChoiceCost *cost, FILE *file);
/* After an epoch: an error if no draw of it had a price. */
MerStatus mer_choice_cost_check(const MerChoiceCost *cost, MerError *error);

#endif
