/* The network that places a sequence of sets: an LSTM reads them, another one writes a unit for each, with attention
 * to what was read (Mirhoseini et al., ICML 2017; the forms of the layers are those of the hierarchical model, ICLR
 * 2018). Rows are (step, lane), lanes being placements side by side. */
#ifndef MERCATOR_OPT_PLACER_NET_H
#define MERCATOR_OPT_PLACER_NET_H

#include "tensor/layers.h"

typedef struct MerPlacerShape {
    int   inputs; /* numbers of a step that is read */
    int   units, embedding, hidden;
    int   unit_features, step_features; /* 0: the network sees no loads */
    int   scorer;                       /* width of what looks at the features of a unit */
    bool  is_both_ways;                 /* read from both ends */
    float temperature, tanh_constant;   /* logits: constant tanh(u / temperature); 0: u / temperature */
} MerPlacerShape;

typedef struct MerPlacerNet {
    MerPlacerShape shape;
    MerLstm        reader, back_reader, writer;
    MerTensor     *embedding; /* (units + 1, embedding): of the unit before, the last row starts */
    MerTensor     *key, *query, *focus, *head; /* attention, units */
    MerLinearLayer unit_score, state_score;
    MerTensor     *score, *direct;
} MerPlacerNet;

MerPlacerNet mer_placer_net(MerParameters *parameters, const MerPlacerShape *shape, MerRng *rng);

typedef struct MerPlacerRead { /* what was read */
    int          steps, lanes, copies; /* copies: lanes that were read apart, 1 or all */
    MerTensor   *states;               /* (steps x copies, hidden) */
    MerTensor   *keys;                 /* (copies, steps, hidden) */
    MerLstmState state;                /* (lanes, hidden): where the writer is */
} MerPlacerRead;

/* x (steps, copies, inputs) */
MerPlacerRead mer_placer_read(MerTape *tape, const MerPlacerNet *net, MerTensor *x, int lanes);

typedef struct MerPlacerRows { /* of steps x lanes; borrowed until the next reset of the tape */
    const int   *before;        /* unit of the set before, `units` at the start */
    const float *unit_features; /* (rows, units, unit_features) */
    const float *step_features; /* (rows, step_features) */
    const float *mask;          /* (rows, units): 0, or very negative where a set may not go */
} MerPlacerRows;

/* Log-probabilities (rows, units) of steps first .. first + count - 1, and the writer goes on to the next one. */
MerTensor *mer_placer_write(MerTape *tape, const MerPlacerNet *net, MerPlacerRead *read, int first,
                            int count, const MerPlacerRows *rows);

#endif
