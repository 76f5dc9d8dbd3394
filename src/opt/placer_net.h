/* The network that places a sequence of sets: one LSTM reads them, another one writes a unit for each, with attention
 * to all that was read (Mirhoseini et al., ICML 2017; layers as in the hierarchical model, Mirhoseini et al., ICLR
 * 2018). It works on lanes, placements side by side; row = step * lanes + lane. */
#ifndef MERCATOR_OPT_PLACER_NET_H
#define MERCATOR_OPT_PLACER_NET_H

#include "tensor/layers.h"

typedef struct MerPlacerShape {
    int   inputs;        /* numbers of a step that is read */
    int   kinds;         /* the first of them: shares of kinds, which get an embedding; 0: none */
    int   embedding;     /* width of that, and of a unit's */
    int   units, hidden; /* hidden is even if is_both_ways */
    int   unit_features; /* the writer sees loads, by a scorer of this width; 0: it does not */
    int   step_features, scorer;
    bool  is_both_ways;  /* read from both ends, half of `hidden` each */
    float temperature;   /* logits: tanh_constant tanh(u / temperature); */
    float tanh_constant; /* 0: u / temperature */
} MerPlacerShape;

typedef struct MerPlacerNet {
    MerPlacerShape shape;
    MerTensor     *kinds; /* (kinds, embedding) */
    MerLstm        reader, back_reader, writer;
    MerTensor     *before; /* (units + 1, embedding): of the unit before, the last row starts */
    MerTensor     *key, *query, *sum; /* attention: (hidden, hidden) twice, (hidden) */
    MerTensor     *head;              /* (2 hidden, units) */
    MerLinearLayer unit_score, state_score;
    MerTensor     *score, *direct; /* (scorer, 1), (unit_features, 1) */
} MerPlacerNet;

MerPlacerNet mer_placer_net(MerParameters *parameters, const MerPlacerShape *shape, MerRng *rng);

typedef struct MerPlacerRead {         /* what was read, and where the writer is */
    int          steps, lanes, copies; /* copies: 1, or `lanes` if each lane was read apart */
    MerTensor   *states;               /* (steps x copies, hidden) */
    MerTensor   *keys;                 /* (copies, steps, hidden) */
    MerLstmState state;                /* (lanes, hidden) */
} MerPlacerRead;

/* x (steps, copies, inputs) */
MerPlacerRead mer_placer_read(MerTape *tape, const MerPlacerNet *net, MerTensor *x, int lanes);

typedef struct MerPlacerRows {  /* borrowed until the next reset of the tape */
    const int   *before;        /* unit of the set before, `units` at the start */
    const float *unit_features; /* (rows, units, unit_features) */
    const float *step_features; /* (rows, step_features) */
    const float *mask;          /* (rows, units): 0, or very negative where a set may not go */
    const float *noise;         /* (rows, units): in shares of a row's own size; NULL: none */
} MerPlacerRows;

/* Log-probabilities (rows, units) of `count` steps from `first` on; the writer stands behind them then. */
MerTensor *mer_placer_write(MerTape *tape, const MerPlacerNet *net, MerPlacerRead *read, int first,
                            int count, const MerPlacerRows *rows);

/* noise[i] times the root mean square of its row of x, added to x: no gradient flows into the size. */
MerTensor *mer_placer_disturb(MerTape *tape, MerTensor *x, const float *noise);

#endif
