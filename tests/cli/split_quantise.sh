# Quantisers by hand: `evaluate --quantise KIND FILE.json` prints what training computes, with gradients.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# e = 2^floor(log2 0.7) = 1/2: 127 x 0.1 / 0.5 = 25.4 becomes 25; the scale's gradient is k/127 - w/e inside, the sign outside
echo '{"x": [0.1, 0.7, -9], "scale": 0.7, "gradient": [2, 1, 1]}' >weights.json
expect 0 "$MERCATOR" evaluate --quantise int8-pow2 weights.json
says out '"e":[0.5],"y":[0.09842519'
says out ',0.5,-0.5],"dx":[2,1,1],"dscale":[-0.00629'
expect 0 "$MERCATOR" evaluate --quantise int8-pow2-exact weights.json
says out '"y":[0.1015625,0.49609375,-0.49609375]' # 26, 127 and -127 steps of 1/256

# one scale per row; {-e, 0, e} with the threshold at e / 2
echo '{"x": [[0.3, -0.6], [0.3, -0.6]], "scale": [0, -1]}' >rows.json
expect 0 "$MERCATOR" evaluate --quantise=ternary rows.json --json
says out '"y":[0,-1,0.36787945'
echo '{"x": [[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]],[[[1]]]], "authors": true}' >kernel.json
expect 0 "$MERCATOR" evaluate --quantise ternary kernel.json
says out '"scale":[-0.95385'

# S = 2^floor(log2(127 / 6)) = 16, so that the clip is 127 / 16
echo '[-1, 0.03, 0.1, 7.9, 7.9375, 9]' >activations.json
expect 0 "$MERCATOR" evaluate --quantise pact-pow2 activations.json
says out '"S":16,"snapped_clip":7.9375,"y":[0,0,0.0625,7.875,7.9375,7.9375],"dx":[0,1,1,1,0,0],"dclip":[2]'
echo '{"x": [0.26, -9e9], "unit": 0.1}' >bias.json
expect 0 "$MERCATOR" evaluate --quantise bias bias.json
says out '"y":[0.30000'

refuse()
{
    expect 1 "$MERCATOR" evaluate --quantise "$@"
    one_line err
}
refuse int9 weights.json
says err '--quantise is "int9", expected int8-pow2'
refuse int8 absent.json
says err 'absent.json: no such file'
refuse int8 rows.json
says err 'scale has 2 numbers, expected 1 of int8'
echo '{"x": [[1, 2], [3]]}' >ragged.json
refuse int8 ragged.json
says err 'ragged.json:1:16: x[1] is a list, expected a list of 2'
echo '{"x": [1], "clipp": 3}' >slip.json
refuse int8 slip.json
says err 'clipp'
expect 2 "$MERCATOR" evaluate --quantise int8
expect 0 "$MERCATOR" evaluate --help
says out '--quantise KIND FILE'
