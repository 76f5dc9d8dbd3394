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

# a study: workloads and optimizers with keys of their own, cells found again, tables from the logs
tiny=$MERCATOR_SOURCE_DIR/experiments/multi-agent-mapping-tiny.yaml
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report --threads 1 -o one
test -s one/108/run.jsonl
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report --threads 2 -o two
for cell in 001 031 060 108; do cmp one/$cell/run.jsonl two/$cell/run.jsonl; done

# finished cells are kept, one that was cut off goes on, one that is missing is run again
cp two/044/run.jsonl whole
dd if=whole of=two/044/run.jsonl bs=1 count=9000 2>/dev/null
rm two/044/summary.json
rm -r two/060
touch -d 2001-01-01 two/001/run.jsonl
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report -o two
cmp whole two/044/run.jsonl
cmp one/060/run.jsonl two/060/run.jsonl
test -n "$(find two/001/run.jsonl -not -newermt 2002-01-01)"
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report --redo marl:agents=1 -o two
test -z "$(find two/001/run.jsonl -not -newermt 2002-01-01)"

# a log that cannot be gone on with begins anew
cp two/044/run.jsonl whole
head -n 1 whole | sed 's/"knob_names":\[[^]]*\],//' >two/044/run.jsonl
rm two/044/summary.json
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report -o two
cmp whole two/044/run.jsonl

# more seeds take new folders
expect 0 "$MERCATOR" map "$tiny" --quiet --no-report --seed 1-4 -o two
test -s two/144/run.jsonl
cmp one/108/run.jsonl two/108/run.jsonl

expect 0 "$MERCATOR" compare one --reference marl:agents=1 --at 100 --format markdown -o tables
says out '## datacentric on edge, genome=ten, objective cycles'
says out '## datacentric on edge, genome=ten, objective edp'
says out '### Samples to the final quality of marl:agents=1'
says out '### Against random'
says out '| bayes | 40 |'
says out '### Quality at 100 samples'
says out '### Pairs at 100 samples'
grep -q '^| marl:agents=all | 100 | [0-9.]* (' out
# numbers and warnings of the optimizers' own views
says out '### What the optimizers noted'
says out '| optimizer | agents | knobs | samples for clustering | feasible samples | cut at distance |'
says out '| marl:agents=all | 9 (9-9) | 9 (9-9) | 0 (0-0) | - | - |'
cmp out tables/tables.md
test -s tables/curves-2.svg
test -s tables/report.html
# at its own quality the reference needs as many samples as it needed: the saving on its last find is near 1
grep '^| marl:agents=1 |' out | grep -q ' 3 of 3 |'
expect 0 "$MERCATOR" compare one --json
one_line out
expect 1 "$MERCATOR" compare one --reference marl:agents=11
says err 'did you mean marl:agents=1'
expect 2 "$MERCATOR" compare one --at 0
expect 1 "$MERCATOR" compare tables
says err 'no run in it'
sed 's/budget: 40/budget: none/' "$tiny" >wrong.yaml
expect 1 "$MERCATOR" map wrong.yaml -o wrong
says err 'budget is "none"'
sed 's/{name: dlrm, select: 3}/{name: dlrm, slect: 3}/' "$tiny" >wrong.yaml
expect 1 "$MERCATOR" map wrong.yaml -o wrong
says err 'did you mean "select"'
