# Exact splits from the command line: what is proven, of what, and why not.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
data="$MERCATOR_SOURCE_DIR/tests/data/place"

place()
{
    rm -rf run
    "$MERCATOR" place "$@" --quiet --no-report -o run
}

expect 0 place "$data/tiny-training.json" --optimizer exact
says out 'ideal_dp, objective period'
says out ', the optimum of contiguous plans;'
expect 0 place "$data/tiny-training.json" --optimizer ideal_dp --json
says out '"scope":"contiguous","gap":0,"proven":true'

# Where nothing else is allowed it is the optimum.
expect 0 place "$data/tiny-training.json" --optimizer ideal_dp --evaluator maxload:require_contiguous=true
says out 'proven optimal'

expect 0 place "$data/tiny-training.json" --optimizer ideal_dp:ideals=3
lacks 'optimum' out
grep -q '"not proven: the best cuts of a chain"' run/run.jsonl

# One thread and several give the same log.
expect 0 place "$data/tiny-inference.json" --optimizer ideal_dp --threads 1
mv run one
expect 0 place "$data/tiny-inference.json" --optimizer ideal_dp --threads 4
cmp one/placement.yaml run/placement.yaml

cat >tight.yaml <<'YAML'
format: mercator-platform/1
kind: cluster
name: tight
classes: {acc: {memory_bytes: 1000}, cpu: {memory_bytes: 1000000}}
units: [{name: acc, class: acc, count: 3}, {name: cpu, class: cpu}]
YAML
expect 1 place "$data/tiny-training.json" --platform tight.yaml --optimizer ideal_dp
says err 'nearest: memory: '

expect 1 place "$data/tiny-training.json" --optimizer pipedream
one_line err
says err 'pipedream splits over accelerators, found block1.op2, which may run on none of them'

cat >two.yaml <<'YAML'
format: mercator-platform/1
kind: cluster
name: two
classes: {gpu: {}}
units: [{name: gpu, class: gpu, count: 2}]
YAML
expect 0 place "$data/pipedream.txt" --platform two.yaml --replication true --optimizer pipedream
expect 1 place "$data/pipedream.txt" --platform two.yaml --replication true --optimizer exact
one_line err
says err 'found replicas (pipedream splits those)'
