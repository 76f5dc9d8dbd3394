# Placement from the command line: defaults that depend on the input, files that read back, resume, threads, and what is refused.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
data="$MERCATOR_SOURCE_DIR/tests/data/place"
cp "$data/tiny-training.json" "$data/tiny-inference.json" "$data/piper.json" .

# A measured graph is a pipeline on the units that it implies; a network runs once on the default box.
expect 0 "$MERCATOR" place tiny-training.json -o pipeline --quiet
says out "place tiny-training on 3acc-1cpu, portfolio, objective period"
says out "what if, same placement"
expect 0 "$MERCATOR" evaluate pipeline/placement.yaml --json
cp out priced
says priced "$(sed -n 's/^best: {\("score":[^,]*\),.*/\1/p' pipeline/placement.yaml | cut -d: -f2)"
expect 0 "$MERCATOR" place alexnet --optimizer heft --quiet -o once
says out "on four-v100-nvlink, heft, objective makespan"
expect 0 "$MERCATOR" place alexnet --objective period --optimizer expert --quiet --no-report -o period
says out "objective period"
expect 0 "$MERCATOR" place tiny-training.json alexnet --optimizer single --quiet --no-report -o two
says out "tiny-training on 3acc-1cpu"
says out "alexnet on four-v100-nvlink"

# Order and fusion too: the plan says all of it and reads back.
expect 0 "$MERCATOR" place alexnet --decide place,order,fuse --optimizer random --budget 50 --quiet --no-report -o joint
says joint/placement.yaml '"priority":'
says joint/placement.yaml '"cluster":'
expect 0 "$MERCATOR" evaluate joint/placement.yaml
says out "makespan"

expect 1 "$MERCATOR" evaluate joint/placement.yaml --decide place
one_line err
says err "ops are fused, expected --decide place,fuse"

# The same bytes on one and two threads, and after a stop.
for threads in 1 2; do
    expect 0 "$MERCATOR" place tiny-training.json --threads $threads --quiet --no-report -o threads-$threads
    expect 0 "$MERCATOR" place alexnet --optimizer genetic --budget 300 --threads $threads --quiet --no-report -o genetic-$threads
done
cmp threads-1/placement.yaml threads-2/placement.yaml
sed 1d genetic-1/run.jsonl >log-1
sed 1d genetic-2/run.jsonl >log-2
cmp log-1 log-2
cp genetic-1/run.jsonl whole
head -n 100 whole >genetic-1/run.jsonl
expect 0 "$MERCATOR" place --resume genetic-1 --quiet
cmp whole genetic-1/run.jsonl

# Noise is told to the search, never reported.
expect 0 "$MERCATOR" place tiny-training.json --optimizer annealing --evaluator maxload:noise=0.3 --budget 300 --quiet --no-report -o noisy
expect 0 "$MERCATOR" evaluate noisy/placement.yaml --json
says out "$(sed -n 's/^best: {\("score":[^,]*\),.*/\1/p' noisy/placement.yaml | cut -d: -f2)"

# One policy learns on two graphs, twice each, moves to a third, and is named in the log. Stopped, the training goes on.
train="place --train tiny-training.json piper.json --optimizer go:preset=small,hidden=8,feed_forward=8 --budget 60 --passes 2 --quiet --no-report"
expect 0 "$MERCATOR" $train --save-policy policy -o train
says out "train/004: piper"
grep -q '"policy":"train/trained-003.policy"' train/004/run.jsonl
[ ! -e train/005 ]
cp policy policy-1
cp train/004/run.jsonl whole
head -n 20 whole >train/004/run.jsonl
rm policy train/004/summary.json
expect 0 "$MERCATOR" $train --save-policy policy -o train
cmp whole train/004/run.jsonl
cmp policy policy-1
expect 0 "$MERCATOR" place tiny-inference.json --optimizer go:preset=small,hidden=8,feed_forward=8,updates=0 --policy policy --budget 20 --quiet --no-report -o zero
expect 0 "$MERCATOR" place tiny-inference.json --optimizer go:preset=small,hidden=8,feed_forward=8,updates=3 --policy policy --budget 50 --quiet --no-report -o tuned
expect 1 "$MERCATOR" place tiny-inference.json --optimizer go:preset=small,hidden=8,feed_forward=8,updates=3 --policy policy-1 --budget 50 --quiet --no-report -o tuned
says err "another command"
expect 2 "$MERCATOR" place --train tiny-inference.json piper.json --optimizer random --quiet -o none
says err "optimizer random has no policy"
expect 2 "$MERCATOR" place --train tiny-inference.json piper.json --optimizer go:preset=small --seed 1-2 --save-policy two --quiet -o none
says err "--save-policy takes one policy, --train makes 2"

expect 2 "$MERCATOR" place --train tiny-inference.json --optimizer go:preset=small --budget 20 --passes 30 --quiet -o none
says err "budget 20 is for 30 passes"
expect 2 "$MERCATOR" place tiny-inference.json --optimizer go:preset=small --budget 20 --passes 3 --quiet -o none
says err "--passes needs --train"

# Pins, and what is refused: one line each.
expect 0 "$MERCATOR" place tiny-training.json --pin 'block0.op0=acc1' --optimizer random --budget 500 --quiet --no-report -o pinned
says pinned/placement.yaml '"name":"block0.op0","id":3,"group":"block0.op0","unit":"acc1"'
refuse()
{
    expect 1 "$MERCATOR" place "$@" --quiet --no-report -o refused
    one_line err
}
refuse tiny-training.json --decide order
says err "decide lacks place"
refuse tiny-training.json --pin block0=gpu9
says err "gpu9 is no unit or class of 3acc-1cpu"
refuse tiny-training.json --pin zzz=acc0
says err "matches no operator"
refuse tiny-training.json --pin 'block1.op2=acc0'
says err "no unit of 3acc-1cpu"
refuse tiny-training.json --colocate '('
says err "expected an extended regular expression"
refuse tiny-training.json --evaluator cluster
says err "needs links between the units"
refuse tiny-training.json --platform s2
says err "kind cores"

# Graphs that are broken, by place.
edit()
{
    sed "$1" tiny-inference.json >broken.json
    refuse broken.json
    says err "broken.json"
}
edit 's/"id": 3,/"id": 10,/'
says err "two nodes have the id 10"
edit 's/"sourceId": 50,/"sourceId": 51,/'
says err "sourceId is 51, expected the id of a node"
edit 's/"fpgaLatency": 0.25/"fpgaLatency": -1/'
edit 's/"supportedOnFpga": false/"supportedOnFpga": 2/'
edit 's/"maxFPGAs": 3/"maxFPGAs": 2.5/'
edit 's/"sourceId": 3, "destId": 10/"sourceId": 17, "destId": 3/'
says err "cycle"
edit 's/"isBackwardNode"/"isBackwards"/'
head -c 3000 tiny-inference.json >broken.json
refuse broken.json

# Nothing fits: the reason, and what to do.
sed 's/3200000.0/1000.0/; s/"maxCPUs": 1/"maxCPUs": 0/; s/"supportedOnFpga": false/"supportedOnFpga": true/' tiny-inference.json >full.json
expect 1 "$MERCATOR" place full.json --optimizer expert --quiet --no-report -o full
says err "memory: acc"

# One unit alone stands beside every answer, whoever made it.
expect 0 "$MERCATOR" place alexnet --optimizer round_robin --quiet --no-report --what-if off -o alone
says out "one unit alone: 548.3 us"

# Where all placements can be tried the default proves its answer.
expect 0 "$MERCATOR" place tiny-inference.json --colocate 'block(.)' --quiet --no-report -o all
says out "proven optimal, gap 0.00 %"

# What an evaluator cannot tell apart is said.
expect 0 "$MERCATOR" place tiny-training.json --decide place,order --optimizer single --quiet --no-report -o pointless
says err "order and fusion matter to evaluator cluster alone"

# Fused kernels: the bound knows that weights are read and roots launched, and units are busy for as long as their kernels take.
expect 0 "$MERCATOR" place alexnet --decide place,order,fuse --optimizer single --quiet --no-report -o fused --json
says out '"value":0.00038489861'
expect 0 "$MERCATOR" place alexnet --decide place,fuse --pin '.*=gpu0' --optimizer genetic --budget 300 --quiet --no-report -o kernels
awk '/^gpu0/ { busy = ($5 ~ /^ms/ ? 1000 : 1) * $4 } /^busiest unit gpu0/ { share = $5 } /^makespan/ { exit !(share < 99 && busy / $2 * 100 - share < 0.1 && share - busy / $2 * 100 < 0.1) }' out

# One decision after the other: in its round each is free, and those before keep their answers. Also after a stop.
expect 0 "$MERCATOR" place alexnet --decide place,order,fuse --in-turn true --optimizer genetic --budget 300 --quiet --no-report -o turns
test "$(grep -c '"name":"round"' turns/run.jsonl)" -eq 3
points()
{
    grep "\"type\":\"trial\",\"index\":$1," turns/run.jsonl | sed 's/.*"point":\[\([^]]*\)\].*/\1/' | cut -d, -f"$2" | sort -u | wc -l
}
test "$(points '[0-9]\{1,2\}' 21-60)" -eq 1
test "$(points '1[0-9][0-9]' 1-20)" -eq 1
test "$(points '1[0-9][0-9]' 21-40)" -gt 1
test "$(points '2[0-9][0-9]' 1-40)" -eq 1
test "$(points '2[0-9][0-9]' 41-60)" -gt 1
cp turns/run.jsonl whole
head -n 150 whole >turns/run.jsonl
expect 0 "$MERCATOR" place --resume turns --quiet
cmp whole turns/run.jsonl
for threads in 1 2; do
    expect 0 "$MERCATOR" place alexnet --decide place,order,fuse --in-turn true --threads $threads --quiet --no-report -o turn-$threads
done
cmp turn-1/placement.yaml turn-2/placement.yaml
says turn-1/run.jsonl '"upward ranks"'

# A unit without a speed is likely an oversight: any placement would be the best.
cat >fast.yaml <<'YAML'
{format: mercator-platform/1, kind: cluster, units: [{name: gpu, count: 2}], links: [{from: "gpu*", to: "gpu*", bytes_per_s: 50G}]}
YAML
expect 0 "$MERCATOR" place alexnet --platform ./fast.yaml --optimizer single --quiet --no-report -o fast
says err "unit gpu0 of platform fast has neither flops nor bytes_per_s"

# In turn, go decides units, then orders; a policy of all knobs is not read then, and that is said.
expect 0 "$MERCATOR" place alexnet --optimizer go --budget 2 --save-policy go.policy --quiet --no-report -o learned
expect 0 "$MERCATOR" place alexnet --optimizer go --budget 4 --in-turn true --decide place,order --policy go.policy --quiet --no-report -o rounds
says err '--policy is not read: the search goes in rounds from the start'
expect 1 "$MERCATOR" place alexnet --optimizer go --budget 4 --in-turn --decide place,order --save-policy lost.policy --quiet --no-report -o lost
says err "lost.policy: no policy can be saved: the search goes in rounds from the start"
says rounds/placement.yaml "priority"
