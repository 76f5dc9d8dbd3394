# Splits from the command line: defaults, plans that read back, resume and threads, exports, and what is refused.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# The default is the fastest split on DIANA, proven.
expect 0 "$MERCATOR" split resnet8 --quiet -o fastest
says out "split resnet8 on diana, exact_split, objective latency"
says out "proven optimum"
says out "conv1                digital   16 analog    0, 4160 cycles"
says fastest/split.yaml '{"name":"s3b0c1","channels":{"digital":4,"analog":60},"assignment":["digital*4","analog*60"]}'
says fastest/split.csv '"s3b0c1","digital","digital","int8-pow2",4,64,'
says fastest/report.html "Channels by unit"
expect 0 "$MERCATOR" evaluate fastest/split.yaml --json
says out '"cycles":30247.65'
expect 0 "$MERCATOR" split resnet8 --objective energy --json --quiet -o thrifty
near "$(number out energy)" 3281983.75 1e-6 "least energy"

# Fixed splits, and the exported form of one reads back with the same price.
expect 0 "$MERCATOR" split resnet20 --optimizer all_ternary --export split_json --quiet --no-report -o ternary
expect 0 "$MERCATOR" evaluate ternary/split.json --json
says out '"cycles":88120.6'

# An edit of it that forgets a number is no split.
expect 0 "$MERCATOR" split resnet8@input=1x8x8 --optimizer half --export split_json --quiet --no-report -o halves
edited()
{
    sed "$1" halves/split.json >edited.json
    expect 1 "$MERCATOR" evaluate edited.json
    one_line err
    says err "$2"
}
edited '0,/"channels":8,/s//"channels":7,/' "ops[0].options[0].channels is 7, expected 8, as its ranges have"
edited '0,/"c_out":16,/s//"c_out":17,/' "ops[0].c_out is 17, expected 16, as the network has"
edited '0,/"c_in":1,/s//"c_in":3,/' "ops[0].c_in is 3, expected 1, as the network has"
edited '0,/"kernel":\[3,3\]/s//"kernel":[3,1]/' "ops[0].kernel is [3, 1], expected [3, 3], as the network has"
edited '0,/"unit":"digital"/s//"unit":"analog"/' "ops[0].options[0].unit is \"analog\", expected digital, as the platform has"
edited '0,/"weights":"int8-pow2"/s//"weights":"ternary"/' "ops[0].options[0].weights is \"ternary\", expected int8-pow2, as the platform has"
edited '0,/\[8,16\]/s//[7,16]/' "channel 7 of conv1 is in two ranges, expected every channel in one"
edited '0,/\[8,16\]/s//[9,16]/' "ops[0].options[1].channels is 8, expected 7, as its ranges have"

edited '0,/,15\]/s//,15,0]/' "ops[0].permutation has 17 channels, expected the 16 of the layer"
cp halves/split.json numbers.json
sed '0,/"permutation"/s//"scales":[1,2],"permutation"/' numbers.json >halves/split.json
edited '' "ops[0].scales is a list, expected 16 numbers, one for each channel"
expect 0 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform darkside --optimizer half --export split_json --quiet --no-report -o halves --force
edited 's/\[\[0,16\]\],\("cycles":[0-9.]*},{"name":"dwe"[^[]*\)\[\[16,32\]\]/[[16,32]],\1[[0,16]]/' \
    'channel 15 of L3dw goes to dwe and channel 16 to cluster, expected the first channels for cluster'

expect 0 "$MERCATOR" split resnet8 --optimizer naive:speedup=5 --quiet --no-report -o naive
says naive/split.yaml '{"name":"s3b0c1","channels":{"digital":11,"analog":53}' # floor(64 / 5) - 1
says naive/split.yaml '{"name":"fc","channels":{"digital":1,"analog":9}'
expect 0 "$MERCATOR" split resnet8 --optimizer naive:speedup=100 --json --quiet --no-report -o naive-100
says out '"cycles":31403.87' # all ternary
expect 0 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform darkside --optimizer all_conv --scope searchable --json --quiet -o conv
says out '"cycles":1283040'

# A network with another input, definitions by file, ONNX and a network of products.
cp "$MERCATOR_SOURCE_DIR/models/ds_cnn.net" mine.net
expect 0 "$MERCATOR" split mine.net --platform gap9-ne16 --quiet --no-report -o mine
says out "split mine on gap9-ne16, exact_split"
expect 0 "$MERCATOR" split 'resnet8@input=1x8x8' --optimizer sensitivity:target=0.2 --quiet --no-report -o sensitive
expect 0 "$MERCATOR" split bert_base --quiet --no-report -o words
says err "products of two activations are not priced"
expect 0 "$MERCATOR" split 'resnet20@blocks=18' --optimizer sensitivity --quiet --no-report -o deep
says out "s3b17c2"

# A flag that says yes or no needs no word.
expect 0 "$MERCATOR" split resnet8 --tie --seed 2 --optimizer half --quiet --no-report -o tied
says tied/run.jsonl '"tie":true'
expect 0 "$MERCATOR" split --tie no resnet8 --optimizer half --quiet --no-report -o untied
says untied/run.jsonl '"tie":false'
expect 0 "$MERCATOR" map resnet18 --select 3 --ramp --seed 1 --quiet --no-report -o ramp
says ramp/run.jsonl '"ramp":true'

# Options that change the layers are part of an exported split.
expect 0 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform darkside --operators keep --export split_json --quiet --no-report -o keep
expect 0 "$MERCATOR" evaluate keep/split.json --json
near "$(number out cycles)" "$(number keep/summary.json cycles)" 1e-12 'separable network that was read back'

# Polish starts from another run and never costs more.
expect 0 "$MERCATOR" split resnet8 --optimizer half --quiet --no-report -o half
expect 0 "$MERCATOR" split resnet8 --optimizer polish --warm half --json --quiet --no-report -o polished
awk -v a="$(number out cycles)" 'BEGIN { exit !(a < 56845.475) }'

# Tied layers move together.
for way in count channel; do
    expect 0 "$MERCATOR" split resnet8 --tie true --granularity $way --optimizer random --budget 1 --json --quiet --no-report -o tied-$way
    before=$(number out cycles)
    expect 0 "$MERCATOR" split resnet8 --tie true --granularity $way --optimizer polish --warm tied-$way --json --quiet --no-report -o tied-polished-$way
    awk -v a="$(number out cycles)" -v b="$before" 'BEGIN { exit !(a < b) }'
done

# The same bytes on one and two threads, and after a stop; both granularities.
for threads in 1 2; do
    expect 0 "$MERCATOR" split resnet8 --granularity channel --optimizer genetic --budget 200 --threads $threads --quiet --no-report -o genetic-$threads
done
sed 1d genetic-1/run.jsonl >log-1
sed 1d genetic-2/run.jsonl >log-2
cmp log-1 log-2
cp genetic-1/run.jsonl whole
head -n 60 whole >genetic-1/run.jsonl
expect 0 "$MERCATOR" split --resume genetic-1 --quiet
cmp whole genetic-1/run.jsonl

# Pins and memory.
expect 0 "$MERCATOR" split resnet8 --pin 's1.*=digital' --quiet --no-report -o pinned
says pinned/split.yaml '{"name":"s1b0c1","channels":{"digital":16,"analog":0}'
expect 1 "$MERCATOR" split resnet18 --memory check --quiet --no-report -o tight
says err "memory: "

# Names with commas and quotes stay one cell of split.csv.
odd_names >names.net
expect 0 "$MERCATOR" split names.net --optimizer half --quiet --no-report -o names
says names/split.csv '"conv,1","digital","digital","int8-pow2",4,8,'
says names/split.csv '"a, ""b""","analog","analog","ternary",4,8,'

# A measured table with a mark at its start is read. Where it lacks rows of an operator its unit does not compute such layers,
# which is said once, and again where a layer is pinned there.
cat >mysoc.yaml <<'END'
format: mercator-platform/1
kind: soc
name: mysoc
clock_hz: 1e9
units:
  - name: cpu
    options: [{operator: conv, weights: int8}]
    cost: {formula: mac-rate, rate: 4}
  - name: npu
    options: [{operator: conv, weights: int8}]
    cost: {formula: table, file: mysoc.csv}
END
printf '\357\273\277operator,c_in,c_out,k_x,k_y,o_x,o_y,stride,cycles\nconv,16,16,3,3,32,32,1,2000\nlinear,64,10,1,1,1,1,1,90\n' >mysoc.csv
expect 0 "$MERCATOR" split resnet8 --platform mysoc.yaml --quiet --no-report -o mysoc
says out 's2b0ds               cpu   32, 32768 cycles'
test "$(grep -cF 'the measured table of unit npu has no row with operator pointwise: it computes no such layer' err)" -eq 1
expect 1 "$MERCATOR" split resnet8 --platform mysoc.yaml --pin s2b0ds=npu --quiet --no-report -o none
says err 'mysoc has no unit or option npu for layer s2b0ds: the measured table of unit npu has no row with operator pointwise'
expect 1 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform darkside --pin L0=dwe --quiet --no-report -o none
says err 'darkside has no unit or option dwe for layer L0: unit dwe has no operator conv'

# What is refused: one line each.
refuse()
{
    expect 1 "$MERCATOR" split "$@" --quiet --no-report --force -o refused
    one_line err
}
refuse resnet8 --pin 'nothing=digital'
says err 'pin "nothing=digital" matches no layer'
refuse 'resnet8@inptu=1x8x8'
says err "has no setting inptu, did you mean input"
refuse resnet8 --platform darkside --optimizer all_ternary
says err "its units do not differ in formats"
refuse resnet8 --platform edge
says err "edge"
expect 1 "$MERCATOR" split ds_cnn --platform gap8 --optimizer min_energy --quiet --no-report --force -o refused
says err "min_energy needs energies: platform gap8 has no power_mw or no clock_hz"
expect 1 "$MERCATOR" split ds_cnn --platform gap8 --objective energy --quiet --no-report --force -o refused
one_line err
says err "objective energy needs energy, which no plan has: the platform has no power_mw"
expect 1 "$MERCATOR" split ds_cnn --platform gap8 --pareto latency,energy --quiet --no-report --force -o refused
says err "--pareto: no plan has energy: the platform has no power_mw"

# Where the problem itself cannot be opened there is no other optimizer to fall back to: it is said once.
cat >nodepth.yaml <<'PLATFORM'
format: mercator-platform/1
kind: soc
name: nodepth
clock_hz: 100M
reference: core
units:
  - name: core
    options: [{operator: conv, weights: int8}]
    cost: {formula: mac-rate, rate: 4}
PLATFORM
expect 1 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform nodepth.yaml --quiet --no-report -o nodepth
one_line err
lacks 'using' err
