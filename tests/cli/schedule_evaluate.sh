# A schedule read back gives the metrics of its run, bit for bit, for every kind of input, rule and platform;
# a changed or missing workload is named.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

three_layers >net.csv
cat >jobs.yaml <<'YAML'
format: mercator-jobs/1
models:
  - {name: cam, file: net.csv, tenant: vision, weight: 2, batch: 4, mini_batch: 2}
  - {name: eyes, file: net.csv, fps: 60, deadline: period, tenant: xr}
  - {name: gaze, file: net.csv, fps: 60, deadline: period, after: [eyes], tenant: xr}
jobs:
  - {name: extra, op: gemm, dims: [20, 768, 768], deadline_cycles: 200000, after: ["cam#0.2"], tenant: lang}
horizon_ms: 100
YAML
cat >mine.yaml <<'YAML'
format: mercator-platform/1
extends: s2
name: mine
classes: {shi32: {static_pj_per_cycle: 3}}
YAML

# round OPTIONS...: schedules, evaluates the plan, compares the metrics of all tasks.
round()
{
    rm -rf run
    expect 0 "$MERCATOR" schedule "$@" --budget 200 --quiet --no-report --json -o run
    grep -o '"cycles":[^}]*}' out | sed 1d >ran
    test -s ran
    expect 0 "$MERCATOR" evaluate run/schedule.yaml --json
    is_silent err
    grep -o '"feasible":true,"score":[^}]*}' out | grep -o '"cycles":[^}]*}' >read
    cmp ran read
}
# The total comes first in a summary; one task has both.
round synthetic:20:1 --bandwidth 4
round synthetic:40:2 --group-size 15 --select 1,3 --share maxmin
test "$(wc -l <read)" -eq 2
# first FILE KEY: its first value, which is the total's.
first()
{
    grep -o "\"$2\":[^,}]*" "$1" | head -n 1 | cut -d : -f 2
}
# total: of a run with several groups, as its summary has it.
total()
{
    test "$(grep -o '"best":{"score":[^}]*}' out | head -n 1)" = "$(grep -o '"best":{"score":[^}]*}' run/summary.json | head -n 1)"
    test "$(first out gap)" = "$(first run/summary.json gap)"
}
total
sed 's/fps: 60/fps: 200000/; s/horizon_ms: 100/horizon_ms: 0.02/' jobs.yaml >busy.yaml
round busy.yaml --group-size 4 --late drop --objective miss_rate
total
# So it is in words, with shares in percent, and nobody minds --quiet.
percent=$(awk -v share="$(first run/summary.json miss_rate)" 'BEGIN { printf "%.1f", 100 * share }')
expect 0 "$MERCATOR" evaluate run/schedule.yaml --quiet
sed '1,/^total$/d' out >total
grep -q "^  miss_rate  *$percent %\$" total
grep -q '^  utilisation  *[0-9.]* %$' total
# A proof is called one, as in a search.
round synthetic:20:3 --bandwidth 1
says run/summary.json '"proven":true'
expect 0 "$MERCATOR" evaluate run/schedule.yaml
says out '0.00 %, proven optimal ('
round jobs.yaml
round jobs.yaml --late drop --switch-cycles 100 --share reserved
round jobs.yaml --optimizer online
round jobs.yaml --platform mine.yaml --static powered
round jobs.yaml --sweep memories.DRAM.bytes_per_cycle=2
round resnet18 --batch-size 4 --mini-batch 2 --dependencies chain --forward same_core --table m3e-compat
round mix --objective energy
round jobs.yaml --optimizer online --arrivals poisson --rate 2 --arrival-seed 0 --seed 7 --jitter-ms 1 --late drop

# A fast search reports exact numbers: of every trial that was the best when it came, and its header says so.
for optimizer in magma annealing random; do
    round synthetic:40:1 --bandwidth 4 --precision fast --optimizer $optimizer
    expect 0 "$MERCATOR" evaluate run/schedule.yaml --precision exact --json
    grep -o '"feasible":true,"score":[^}]*}' out | grep -o '"cycles":[^}]*}' | cmp ran -
    head -n 1 run/run.jsonl | grep -q '"exact":"best"'
    grep '"type":"trial"' run/run.jsonl | grep -v '"cut":true' |
        sed 's/.*"score":\([^,]*\),"cost":\(.*\)/\1 \2/' |
        awk 'NR == 1 || $1 < best { best = $1; if ($0 !~ /"energy"/) exit 1 }'
done
cp -r run whole
expect 0 "$MERCATOR" schedule synthetic:40:1 --bandwidth 4 --precision fast --optimizer random --threads 2 --budget 200 --quiet \
    --no-report -o run
cmp whole/run.jsonl run/run.jsonl
head -n 100 whole/run.jsonl >run/run.jsonl
expect 0 "$MERCATOR" schedule --resume run --quiet --no-report
cmp whole/run.jsonl run/run.jsonl
round synthetic:40:1 --bandwidth 4
test "$(grep -c '"exact":"best"' run/run.jsonl)" -eq 0

# So is the front of a fast search: random points, so that both precisions see the same.
# front PRECISION: the points of the front.
front()
{
    expect 0 "$MERCATOR" schedule synthetic:40:1 --bandwidth 4 --precision "$1" --optimizer random --budget 200 \
        --pareto cycles,energy,stp --quiet --no-report --json -o "$1"
    sed 's/.*"front":\[\([^]]*\)\].*/\1/' out
}
front exact >exact.front
front fast >fast.front
grep -q '"energy":[1-9]' exact.front
test "$(grep -o '"index"' exact.front | wc -l)" -ge 2
cmp exact.front fast.front
cp -r fast whole.front
head -n 100 whole.front/run.jsonl >fast/run.jsonl
expect 0 "$MERCATOR" schedule --resume fast --quiet --no-report
cmp whole.front/run.jsonl fast/run.jsonl

# The folder may move, as long as the workload is found: as named, where the run was started, or beside the plan.
round jobs.yaml
mkdir elsewhere
mv run elsewhere/run
expect 0 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --json
mkdir deep
cd deep
expect 0 "$MERCATOR" evaluate ../elsewhere/run/schedule.yaml
rm ../elsewhere/run/clock.jsonl # it knows the directory
expect 1 "$MERCATOR" evaluate ../elsewhere/run/schedule.yaml
one_line err
says err 'give --workload FILE'
expect 0 "$MERCATOR" evaluate ../elsewhere/run/schedule.yaml --workload ../jobs.yaml --json
grep -o '"feasible":true,"score":[^}]*}' out | grep -o '"cycles":[^}]*}' >read
cmp ../ran read
cd ..
cp jobs.yaml net.csv elsewhere/run/
cd deep
expect 0 "$MERCATOR" evaluate ../elsewhere/run/schedule.yaml --json
cd ..
# A workload without a name of its own is named after its file; the same content in another file is the same.
cp jobs.yaml copy.yaml
expect 0 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --workload copy.yaml --json
grep -o '"feasible":true,"score":[^}]*}' out | grep -o '"cycles":[^}]*}' >read
cmp ran read

# The same queues under other conditions: less bandwidth is slower.
expect 0 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --json
grep -o '"feasible":true,"score":[^}]*}' out >full
expect 0 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --bandwidth 0.01 --json
grep -o '"feasible":true,"score":[^}]*}' out >slow
awk -v f="$(number full cycles)" -v s="$(number slow cycles)" 'BEGIN { exit !(s > f) }'

expect 0 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --switch-cycles 1000 --json
grep -o '"feasible":true,"score":[^}]*}' out >slow
awk -v f="$(number full cycles)" -v s="$(number slow cycles)" 'BEGIN { exit !(s > f) }'

# What does not fit is said in one line.
expect 1 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --shape maxmin
one_line err
says err 'unknown option "shape" of schedule, expected'
expect 1 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --dim batch
one_line err
says err '--dim is "batch", expected NAME=SIZE'
sed 's/batch: 4/batch: 8/' jobs.yaml >other.yaml
expect 1 "$MERCATOR" evaluate elsewhere/run/schedule.yaml --workload other.yaml
one_line err
says err 'elsewhere/run/schedule.yaml:4:'
says err 'the plan is of content'
# refuses EDIT MESSAGE: a plan file with this edit.
refuses()
{
    sed "$1" elsewhere/run/schedule.yaml >elsewhere/run/edited.yaml
    expect 1 "$MERCATOR" evaluate elsewhere/run/edited.yaml --workload jobs.yaml
    one_line err
    says err "$2"
}
refuses 's/"extra"/"extre"/' 'is "extre", expected a job of the group'
refuses 's/"extra"/"cam#0.0"/' 'expected every job once'
refuses 's/"hb0"/"hb9"/' 'unknown key "hb9" in tasks[0].queues, did you mean "hb0"'
refuses 's/,"extra"//; s/"extra",//; s/"extra"//' 'extra is missing'
refuses 's/name: "jobs"/name: "works"/' 'expected a task of jobs'

# A plan names its plug-ins as experiment files do: options as a map count, and a key that nobody knows is refused.
plan=elsewhere/run/schedule.yaml
expect 0 "$MERCATOR" evaluate $plan --workload jobs.yaml --json
cp out full
expect 0 "$MERCATOR" evaluate $plan --workload jobs.yaml --switch-cycles 1000 --json
cp out slow
if cmp -s full slow; then
    echo 'expected other metrics with --switch-cycles 1000' >&2
    exit 1
fi
# means EDIT: the edited plan is priced as with --switch-cycles 1000.
means()
{
    sed "$1" $plan >elsewhere/run/edited.yaml
    expect 0 "$MERCATOR" evaluate elsewhere/run/edited.yaml --workload jobs.yaml --json
    cmp out slow
}
means 's/^evaluator: .*/evaluator: {name: bandwidth, switch_cycles: 1000}/'
means 's/^evaluator: .*/evaluator: "bandwidth:switch_cycles=1000"/'
means 's/^problem: .*/problem: {name: schedule, switch_cycles: 1000}/'
sed 's/^problem: .*/problem: {name: schedule, switch_cycles: 5}/' $plan >elsewhere/run/edited.yaml
expect 0 "$MERCATOR" evaluate elsewhere/run/edited.yaml --workload jobs.yaml --switch-cycles 1000 --json
cmp out slow
refuses 's/^evaluator: .*/evaluator: {name: bandwidth, dispatsh: strict}/' \
    'edited.yaml:7:40: unknown option "dispatsh" of bandwidth, did you mean'
refuses 's/^evaluator: .*/evaluator: {name: bandwidth, dispatch: fast}/' 'edited.yaml:7:40: bandwidth: dispatch is "fast"'
refuses 's/^evaluator: .*/evaluator: "bandwidth:dispatsh=strict"/' 'edited.yaml:7:12: unknown option "dispatsh"'
refuses 's/^evaluator: .*/evaluator: {dispatch: strict}/' 'edited.yaml:7:12: evaluator has no key "name"'
refuses 's/^evaluator: .*/evaluator: bandwith/' 'edited.yaml:7:12: '
refuses 's/^problem: .*/problem: {name: schedule, banana: 3}/' 'edited.yaml:3:35: unknown option "banana" of schedule'
refuses 's/"rate":/"rat":/' 'edited.yaml:5:'
refuses 's/^objective: /banana: 3\nobjective: /' 'edited.yaml:8:1: unknown key "banana"'
refuses 's/^platform: {/platform: {"banana":3,/' 'edited.yaml:6:12: unknown key "banana" in platform'
refuses 's/^workload: {/workload: {"banana":3,/' 'edited.yaml:4:12: unknown key "banana" in workload'
expect 0 "$MERCATOR" map net.csv --select 1 --budget 30 --quiet --no-report -o nest
sed 's/^evaluator: .*/evaluator: {name: loopnest}/' nest/mapping.yaml >nest/edited.yaml
expect 0 "$MERCATOR" evaluate nest/edited.yaml
echo 'banana: 3' >>nest/edited.yaml
expect 1 "$MERCATOR" evaluate nest/edited.yaml
one_line err
says err ':1: unknown key "banana"'
