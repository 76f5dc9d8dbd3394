# Hardware sweeps: every combination is run, the trade-offs are marked, bad paths are named.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 "$MERCATOR" map resnet18 --select 4 --sweep memories.GLB.words=16Ki,64Ki --sweep memories.GLB.fanout.x=8,16 \
    --budget 300 --quiet -o sweep
says out 'memories.GLB.words=16Ki memories.GLB.fanout.x=8'
says out '* nothing in the sweep beats it'
test "$(wc -l <sweep/sweep.csv)" -eq 5
grep -q ',64Ki,16,' sweep/sweep.csv
test -s sweep/004/run.jsonl
test -s sweep/report.html

cat >sweep.yaml <<'YAML'
format: mercator-experiment/1
workload: resnet18
problem: {name: map, select: 4}
platform: s256
sweep: {memories.GLB.words: [16Ki, 64Ki], memories.GLB.fanout.x: [8, 16]}
budget: 300
YAML
expect 0 "$MERCATOR" map sweep.yaml --quiet -o file
cmp sweep/sweep.csv file/sweep.csv

expect 1 "$MERCATOR" map resnet18 --sweep memories.GLX.words=1 --quiet -o none
says err 'GLX'
expect 1 "$MERCATOR" map resnet18 --sweep memories.GLB.words --quiet -o none
says err 'expected PATH=VALUE'

# the objective has a column where it is none of the usual ones
expect 0 "$MERCATOR" schedule synthetic:20:1 --objective makespan --sweep memories.DRAM.bytes_per_cycle=4,8 \
    --optimizer random --budget 50 --quiet --no-report -o makespan
grep -q 'energy .* makespan .* gap$' out
test "$(grep -c 's  *[0-9.]* %$' out)" -eq 2
grep -q ',objective$' makespan/sweep.csv
