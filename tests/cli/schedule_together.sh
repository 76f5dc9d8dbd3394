# Several networks on a command line share the chip in one schedule; --separately makes one each. The joint run has a name,
# a folder, a plan that can be priced again, and goes on where it stopped.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

three_layers >net.csv
mkdir sub
cp net.csv "sub/other net=1.csv"

# One run: jobs of both networks, which are models and tenants.
expect 0 "$MERCATOR" schedule net.csv alexnet --platform s2 --budget 50 --quiet
test -d runs/schedule-net+alexnet-s2-cycles-list_annealing-1
says out 'schedule net+alexnet on s2'
says out 'tenants: STP '
run=runs/schedule-net+alexnet-s2-cycles-list_annealing-1
test "$(wc -l <$run/schedule.csv)" -eq 12 # 3 + 8 layers under a line of names
grep -q '^"net.0","net","net.' $run/schedule.csv
grep -q '^"alexnet.7","alexnet","alexnet.' $run/schedule.csv
grep -q '"workload":{"name":"net+alexnet"' $run/run.jsonl

# The plan is priced again, to the bit; the same list as a file is the same workload.
cycles=$(number $run/summary.json cycles)
expect 0 "$MERCATOR" evaluate $run/schedule.yaml --json
test "$(number out cycles)" = "$cycles"
cat >both.yaml <<'YAML'
format: mercator-jobs/1
models: [{name: net, file: net.csv}, {name: alexnet, file: alexnet}]
YAML
expect 0 "$MERCATOR" evaluate $run/schedule.yaml --workload both.yaml --json
test "$(number out cycles)" = "$cycles"
expect 0 "$MERCATOR" schedule both.yaml --platform s2 --budget 50 --quiet --no-report --json -o file
near "$(number out cycles)" "$cycles" 1e-9 'the list as a file'

# A stopped run goes on alone, from any folder, and ends as it would have.
cp -r $run stopped
head -n 20 $run/run.jsonl >stopped/run.jsonl
rm stopped/summary.json
expect 0 "$MERCATOR" schedule --resume stopped --quiet --no-report
cmp $run/run.jsonl stopped/run.jsonl
(
    cd sub
    expect 0 "$MERCATOR" schedule --resume ../stopped --quiet --no-report
)
cmp $run/run.jsonl stopped/run.jsonl

# Batches and dependencies are of every network; a network may come twice, from anywhere.
expect 0 "$MERCATOR" schedule net.csv net.csv "sub/other net=1.csv" --batch-size 4 --mini-batch 2 --dependencies none \
    --platform s2 --budget 20 --quiet --no-report -o twice
test "$(wc -l <twice/schedule.csv)" -eq 19 # 3 networks x 2 mini-batches x 3 layers
for job in net#1.2 net_2#0.0 'other net=1#1.1'; do
    grep -q "^\"$job\"," twice/schedule.csv
done
expect 0 "$MERCATOR" evaluate twice/schedule.yaml
expect 0 "$MERCATOR" schedule net.csv alexnet --platform s2 --group-size 4 --budget 20 --quiet --no-report -o cut
says out 'group 1'

# Seeds and platforms stay axes.
expect 0 "$MERCATOR" schedule net.csv alexnet --platform s2 --seed 1-2 --budget 20 --quiet --no-report -o seeds
test -d seeds/002 && test ! -d seeds/003

# Separately: one schedule each; so it is in an experiment file, in compare and for tuning.
expect 0 "$MERCATOR" schedule net.csv alexnet --separately --platform s2 --budget 20 --quiet --no-report -o apart
test -d apart/002 && test ! -d apart/003
cat >apart.yaml <<'YAML'
format: mercator-experiment/1
problem: schedule
workload: [net.csv, alexnet]
platform: s2
budget: 20
YAML
expect 0 "$MERCATOR" schedule apart.yaml --quiet --no-report -o listed
test -d listed/002 && test ! -d listed/003
expect 0 "$MERCATOR" compare net.csv alexnet --problem schedule --platform s2 --optimizer fcfs --optimizer lpt --quiet -o compared
test -d compared/004

# What is a list already is refused, with the way out.
for other in both.yaml mix synthetic:5:1; do
    expect 1 "$MERCATOR" schedule net.csv $other --platform s2 --budget 20 --quiet --no-report -o none
    says err "$other is a list of jobs, which is not scheduled together with others; give --separately for a schedule each"
    expect 0 "$MERCATOR" schedule net.csv $other --separately --platform s2 --optimizer fcfs --quiet --no-report -o lists --force
done
expect 1 "$MERCATOR" schedule net.csv alexnet:batch_size=2 --platform s2 --budget 20 --quiet --no-report -o none
says err 'give --separately'
expect 1 "$MERCATOR" schedule net.csv nothing.csv --platform s2 --budget 20 --quiet --no-report -o none
says err 'nothing.csv'
# Other verbs have no other way.
expect 2 "$MERCATOR" map net.csv alexnet --separately --platform s256 --budget 20 --quiet --no-report -o none
says err 'separately'
