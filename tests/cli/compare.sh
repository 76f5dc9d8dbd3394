# compare: medians and intervals at equal samples and equal time; a second call reuses every cell.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >experiment.yaml <<'YAML'
format: mercator-experiment/1
name: small
problem: {name: map, select: 2}
workload: resnet18
platform: {extends: s256, name: wide, memories: [{name: RF, words: 512}]}
optimizer: [random, {name: genetic, population: 20}, "annealing:chains=4"]
seed: [1, 2, 3]
budget: 300
YAML
expect 0 "$MERCATOR" compare experiment.yaml --quiet --time 0.05 -o cells
says out 'equal samples: 300'
says out 'equal time: 0.05 s'
says out 'genetic:population=20'
test -s cells/018/run.jsonl
test -s cells/report.html
cp cells/comparison.json first
expect 0 "$MERCATOR" compare experiment.yaml --quiet --time 0.05 -o cells --json
grep -o '"median":[^,]*' first >medians
grep -o '"median":[^,]*' out | cmp - medians

# a cell cut in the middle is finished to the same bytes
cp cells/001/run.jsonl whole
dd if=whole of=cells/001/run.jsonl bs=1 count=5000 2>/dev/null
expect 0 "$MERCATOR" compare experiment.yaml --quiet --time 0.05 -o cells
cmp whole cells/001/run.jsonl

# errors of the file carry their place
sed 's/budget: 300/budgte: 300/' experiment.yaml >wrong.yaml
expect 1 "$MERCATOR" compare wrong.yaml -o wrong
says err 'wrong.yaml:8:1:'
says err 'did you mean "budget"'
sed 's/random,/randm,/' experiment.yaml >wrong.yaml
expect 1 "$MERCATOR" compare wrong.yaml -o wrong
says err 'did you mean random'
