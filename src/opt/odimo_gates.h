/* Relaxed choices that learn: logits for the knobs of every operator, and the shares that a gate makes of them. */
#ifndef MERCATOR_OPT_ODIMO_GATES_H
#define MERCATOR_OPT_ODIMO_GATES_H

#include "mercator/search.h"
#include "tensor/tensor.h"

typedef enum MerGateKind { /* as the option `gate` lists them */
                           MER_GATE_SOFTMAX,
                           MER_GATE_GUMBEL,
                           MER_GATE_SIGMOID,
                           MER_GATE_THERMOMETER
} MerGateKind;

typedef struct MerGate { /* of one operator */
    MerGateKind kind;
    int         op, first_knob, knob_count; /* in the space */
    bool
               is_count; /* knob o says how many of the columns left by those before choice o has; else a knob for each column */
    int        choices, columns;
    MerTensor *alpha; /* (columns, choices), or (choices - 1, columns) of thermometers */
} MerGate;

typedef struct MerGates {
    const MerSpace *space;
    int             count, op_count;
    MerGate        *gates;
    MerParameters  *alphas;
    double          temperature;
} MerGates;

/* Refuses spaces whose knobs are no such choices. `op_count`: choices have at least so many entries. */
MerStatus mer_gates_open(MerGates *gates, const MerSpace *space, MerGateKind kind, int op_count,
                         MerArena *arena, MerError *error);
void      mer_gates_close(MerGates *gates);
void      mer_gates_reset(MerGates *gates); /* logits to start with, temperature 1 */
void mer_gates_limit(MerGates *gates); /* after a step: logits that count by size stay positive */
/* Shares (choices, columns) of each operator on the tape, by MerKnob.op; `rng` is for noise. */
MerTensor **mer_gates_shares(const MerGates *gates, MerTape *tape, MerRng *rng);
/* Every share 0 or 1, drawn by the shares; with `is_through` gradients go on to them. */
MerTensor **mer_gates_draw(const MerGates *gates, MerTape *tape, MerTensor *const *shares,
                           MerRng *rng, bool is_through);
/* The logarithm of the probability of what was drawn, (1). */
MerTensor *mer_gates_log_probability(const MerGates *gates, MerTape *tape, MerTensor *const *shares,
                                     MerTensor *const *drawn);
/* The decision that the logits stand for, ties to the first choice: as a point, and as shares; and what mer_gates_draw drew as a point,
 * where no gate is a thermometer. */
void        mer_gates_point(const MerGates *gates, MerIndex *point);
void        mer_gates_drawn_point(const MerGates *gates, MerTensor *const *drawn, MerIndex *point);
MerTensor **mer_gates_decided(const MerGates *gates, MerTape *tape, const MerIndex *point);
/* "counts": the columns that a decision gives to every choice, a list for each operator. */
void   mer_gates_write_counts(const MerGates *gates, const MerIndex *point, FILE *file);
double mer_gates_settled(const MerGates *gates); /* mean of the largest share of a column */

#endif
