# Bad inputs of `schedule`: exit code 1 and one line that says file, place, what was found and what was expected.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >net.csv <<'CSV'
layer,type,K,C,Y,X,R,S,stride
a,conv,16,3,18,18,3,3,1
b,conv,32,16,16,16,3,3,1
CSV

# refuses TEXT ARGUMENT...: schedule fails with one line that has TEXT.
refuses()
{
    text=$1
    shift
    expect 1 "$MERCATOR" schedule "$@" --budget 10 --quiet --no-report -o run --force
    one_line err
    is_silent out
    says err "$text"
}

# list TEXT MESSAGE: a job list with this text.
list()
{
    printf 'format: mercator-jobs/1\n%s\n' "$1" >jobs.yaml
    refuses "$2" jobs.yaml
}
list 'models: []' 'jobs.yaml:1:1: found no jobs, expected'
list 'models: [{name: n}]' 'jobs.yaml:2:10: models[0] has no key "file"'
list 'models: [{name: n, file: net.csv, batch: -2}]' 'jobs.yaml:2:42: models[0].batch is -2, expected'
list 'models: [{name: n, file: net.csv, batch: 1e99}]' 'models[0].batch is 1e99, expected'
list 'models: [{name: n, file: resnet81}]' 'jobs.yaml:2:26: there is no model or file "resnet81", did you mean'
list 'models: [{name: n, file: jobs.yaml}]' 'jobs.yaml:2:26: jobs.yaml is a list of jobs, expected a network'
list 'models: [{name: n, file: net.csv, fps: 1e6}]
horizon_ms: 1e9' 'requests of 2 jobs, expected at most 1000000'
list 'models: [{name: a, file: net.csv, after: [b]}, {name: b, file: net.csv, after: [a]}]' \
    'models wait for each other in a circle: a after b after a'
list 'jobs: [{name: a, op: fc, dims: [1, 2], after: [b]}, {name: b, op: fc, dims: [1, 2], after: [a]}]' \
    'jobs.yaml:2:8: jobs wait for each other in a circle: a after b after a; expected an order'
list 'jobs: [{name: a, op: fc, dims: []}]' 'jobs.yaml:2:32: jobs[0].dims has 0 sizes, expected 2 of a fc'
list 'jobs: [{name: a, op: fc, dimsbig: [1, 2]}]' 'jobs.yaml:2:8: jobs[0] has no key "dims", only "dimsbig" at 2:26'
list 'jobs: [{name: a, op: fc, dims: [0, 2]}]' 'jobs[0].dims[0] is 0, expected'
list 'jobs: [{name: a, op: fc, dims: [1, 2], deadline: 5}]' 'jobs.yaml:2:40: unknown key "deadline" in jobs[0]'
list 'jobs: [{name: "", op: fc, dims: [1, 2]}]' 'jobs.yaml:2:15: jobs[0].name is "", expected a name'
list 'jobs: [{name: a, op: fc, dims: [1, 2], release_cycles: 9, deadline_cycles: 5}]' \
    'jobs.yaml:2:76: jobs[0].deadline_cycles is 5, expected at least release_cycles, 9'
list 'jobs: [{name: a, op: fc, dims: [1, 2], release_cycles: -1}]' 'jobs[0].release_cycles is -1, expected'
list 'models: [{name: n, file: net.csv, fps: 0}]' 'jobs.yaml:2:40: models[0].fps is 0, expected'
list 'models: [{name: n, file: net.csv, probability: 0}]' 'jobs.yaml: no request exists with arrival_seed 1, expected at least one'
list 'groups: {size: -1}' 'groups.size is -1, expected'

# A file with several networks: one clear line, or one of them.
cat >two.csv <<'CSV'
network,layer,type,K,C,Y,X,R,S,stride
n1,a,conv,16,3,18,18,3,3,1
n2,b,conv,32,16,16,16,3,3,1
n2,c,conv,32,32,14,14,3,3,1
CSV
refuses 'two.csv holds 2 networks, expected one to be selected: n1, n2 (`network: NAME` beside `file` in a job list' two.csv
list 'models: [{name: n, file: two.csv}]' 'jobs.yaml:2:26: two.csv holds 2 networks, expected one to be selected'
list 'models: [{name: n, file: two.csv, network: n3}]' 'two.csv has no network "n3", did you mean'
printf 'format: mercator-jobs/1\nmodels: [{name: n, file: two.csv, network: n2}]\n' >jobs.yaml
expect 0 "$MERCATOR" schedule jobs.yaml --budget 10 --quiet --no-report -o run --force
says run/schedule.yaml 'n.1'

# platform UNITS MEMORY MESSAGE
platform()
{
    printf 'format: mercator-platform/1\nkind: cores\nname: p\nmemories: [{name: D%s}]\nunits: %s\n' "$2" "$1" >p.yaml
    refuses "$3" synthetic:5:1 --platform p.yaml
}
platform '[]' ', bytes_per_cycle: 1' 'p.yaml:5:8: units is empty, expected at least one unit'
platform '[{name: c, count: 0, rows: 8, columns: 8, dataflow: nvdla}]' ', bytes_per_cycle: 1' \
    'p.yaml:5:26: units[0].count is 0, expected'
platform '[{name: c, rows: 8, columns: 8, dataflow: tpu}]' ', bytes_per_cycle: 1' \
    'units[0].dataflow is "tpu", expected nvdla, shi or eye'
platform '[{name: c, rows: 8, columns: 8, dataflow: nvdla}]' '' \
    'platform p has no off-chip bandwidth, expected bytes_per_cycle'
platform '[{name: c, count: 65, rows: 8, columns: 8, dataflow: nvdla}]' ', bytes_per_cycle: 1' \
    'platform p has 65 cores, expected at most 64'
refuses 'platform s256 is of kind pe-array' synthetic:5:1 --platform s256

refuses 'workload is "synthetic:0:1", expected synthetic:N:SEED' synthetic:0:1
refuses 'bandwidth is -1, expected a number' synthetic:5:1 --bandwidth -1
refuses 'table is "mine", expected own, m3e-compat or a file' synthetic:5:1 --table mine
refuses 'mine.json: no such file' synthetic:5:1 --table mine.json
refuses 'there is no group "3", expected one of 1 groups: synthetic:5:1' synthetic:5:1 --select 3
refuses 'batch_size is 3, expected a multiple of mini_batch 2' resnet18 --batch-size 3 --mini-batch 2
refuses 'share is "fair", expected proportional, maxmin, even, priority or reserved' synthetic:5:1 --share fair
refuses 'flexible is "yes", expected search or align' synthetic:5:1 --flexible yes

# An objective that these jobs cannot have is explained.
expect 1 "$MERCATOR" schedule synthetic:5:1 --objective violations --budget 10 --quiet --no-report -o run --force
says err 'the evaluator gives no violations'
says err 'violations and tardiness need deadlines'
if grep -q 'feasible plans exist' err; then
    echo 'expected no advice to search longer' >&2
    exit 1
fi

# So is one beyond all numbers.
expect 1 "$MERCATOR" schedule mix --select 1 --bandwidth 1e-300 --budget 10 --quiet --no-report -o run --force
says err 'unsupported: cycles is infinite, expected a finite number'
if grep -q 'feasible plans exist' err; then
    echo 'expected no advice to search longer' >&2
    exit 1
fi

# json TEXT MESSAGE
json()
{
    printf '%s' "$1" >in.json
    refuses "$2" in.json
}
json '{"format":"xrbench-scenarios/1","models":{},"scenarios":{}}' 'in.json: found no jobs, expected at least one'
json '{"format":"xrbench-scenarios/1","models":{"M":[["CONV",[1,1,1,1,1,1,1]]]},"scenarios":{"S":[{"model":"N","fps":1}]}}' \
    'in.json:1:102: scenarios.S[0].model is "N", expected one of `models`'
json '{"format":"m3e-benchmark/1","layer_table":[{"raw":[1,1,1,1,1,1,-1]}],"tasks":{}}' 'layer_table[0].raw[6] is -1, expected'
json '{"format":"m3e-benchmark/1","layer_table":[{"raw":[1,1,1,1,1,1,0]}],"tasks":{"t":{"groups":[[0,5]]}}}' \
    'tasks.t.groups[0][1] is 5, expected'
printf '{"format":"m3e-benchmark/1","layer_table":[{"raw":[1,1,1,1,1,1,0]}],"tasks":{"t":{"groups":[[0]]}}}' >in.json
refuses 'group_size is 5, but in has groups of its own, expected --select' in.json --group-size 5
json '{"format":"m3e-benchmark/1",' 'in.json:2:1: did not find expected node content'
printf '1,1,4,4,8,8,3,3,1\n1,1,4,4,8,8,3,3,7\n' >in.csv
refuses 'in.csv:2: expected thread,layer,K,C,Y,X,R,S,T' in.csv

# table TEXT MESSAGE
table()
{
    printf '%s' "$1" >table.csv
    refuses "$2" in.csv --table table.csv
}
printf '1,1,8,4,1,1,1,1,0\n' >in.csv
table 'layer,core_type,latency_cycles,traffic_bytes
' 'table.csv:1: table is "empty", expected a row of'
table 'layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,HB32,ten,5
' 'table.csv:2: latency_cycles is "ten", expected a number > 0'
for bad in nan inf -1 0; do
    table "layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,shi32,10,5
0.fc-8x4,HB32,$bad,5
" "table.csv:3: latency_cycles is \"$bad\", expected a number > 0"
done
table 'layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,HB32,10,nan
' 'table.csv:2: traffic_bytes is "nan", expected a number >= 0'
table 'layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,HB32,10,5
' 'table.csv: found no core type shi32, expected it beside HB32'
table 'layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,HB32,10,5
0.fc-8x4,shi32,10,5
0.fc-8x4,HB32,20,5
' 'table.csv:4: latency_cycles of 0.fc-8x4 on HB32 is given twice, expected it once'
table 'layer,core_type,latency_cycles,traffic_bytes
0.fc-8x4,HB32,10,5
1.fc-9x4,shi32,10,5
' 'table.csv: found no latency_cycles of layer fc-8x4 on core type shi32, expected a number'
table 'layer,core_type,latency_cycles
0.fc-8x4,HB32,10
0.fc-8x4,shi32,10
' 'table.csv: found no l2_bytes of layer fc-8x4 on core type HB32, expected a number'

# The exact solver says what keeps it from a group.
refuses 'nothing else switched on, found 21 jobs' synthetic:21:1 --optimizer exact_schedule
refuses 'found another way of sharing' synthetic:5:1 --optimizer exact_schedule --share even
refuses 'found another rule, or a job that moves none' synthetic:5:1 --optimizer exact_schedule --switch-cycles 5

# What was dropped is said beside the result.
printf 'format: mercator-jobs/1\njobs: [{name: a, op: fc, dims: [8, 4], deadline_cycles: 0}]\n' >jobs.yaml
expect 0 "$MERCATOR" schedule jobs.yaml --late drop --budget 10 --quiet --no-report -o run --force
says out '100 % of the requests dropped'
# It has a row in schedule.csv, without core and times.
says run/schedule.csv '"a","","a","jobs","",,,,,,,,0,0,,"jobs"'

# A group smaller than the number of cores is a warning: on stderr, in the log and in the summary.
expect 0 "$MERCATOR" schedule synthetic:3:1 --budget 10 --no-report -o small
says err 'warning: synthetic:3:1 has 3 jobs for 4 cores, so some stay idle'
says small/summary.json '"warnings":["synthetic:3:1 has 3 jobs for 4 cores'
expect 0 "$MERCATOR" schedule synthetic:3:1 --budget 10 --quiet --no-report -o small
says err 'warning: synthetic:3:1 has 3 jobs for 4 cores, so some stay idle'
one_line err
says small/run.jsonl '"name":"warnings","value":["synthetic:3:1 has 3 jobs for 4 cores'
expect 0 "$MERCATOR" schedule synthetic:4:1 --budget 10 --no-report -o full
is_silent err
# So is the energy of the published table.
expect 0 "$MERCATOR" schedule synthetic:5:1 --table m3e-compat --objective energy --budget 10 --no-report -o compat
says err "warning: energy of the artifact's table leaves out most accesses"
# A job whose core is fixed has a priority alone; operators on cores leave it out.
expect 0 "$MERCATOR" schedule synthetic:8:3 --fix unit.5.gemm-17x79x47=0 --budget 300 --no-report -o fixed --force \
    --optimizer magma:offload=1,exchange=1,swap_units=1
# The default gives way to one that can work with it, in so many words.
expect 0 "$MERCATOR" schedule synthetic:8:3 --fix unit.5.gemm-17x79x47=0 --budget 300 --no-report -o fixed --force
one_line err
says err 'list_annealing moves all jobs, it cannot work with fixed knobs (annealing and magma can); using annealing'
says out 'on s2, annealing, objective cycles'
says fixed/run.jsonl '"optimizer":{"name":"annealing"'
refuses 'cannot work with fixed knobs (annealing and magma can)' synthetic:8:3 --fix unit.5.gemm-17x79x47=0 \
    --optimizer list_annealing
refuses 'has no knob "unit.5" to fix' synthetic:8:3 --fix unit.5=0
expect 1 "$MERCATOR" schedule synthetic:8:3 --warm chain:0 --budget 30 --no-report -o none --force
says err '--warm is "chain:0", expected 1 to 1000000 points after the colon'

# Options that have no effect, or more cost than effect, are said: once, and in the summary.
# warns TEXT OPTION...
warns()
{
    text=$1
    shift
    expect 0 "$MERCATOR" schedule "$@" --no-report -o warned --force
    one_line err
    says err "mercator: warning: $text"
    says warned/summary.json "\"warnings\":[\"$text"
}
for optimizer in list_annealing magma annealing random; do
    warns 'dispatch=policy: cycles is the same for every plan, so that the search ends after one evaluation' synthetic:8:3 \
        --dispatch policy --optimizer $optimizer --budget 30
    says out '; 1 evaluation in'
done
warns 'dispatch=policy: energy is the same for every plan' synthetic:40:3 --group-size 10 --dispatch policy --rule sjf \
    --objective energy --optimizer random --budget 30
warns 'precision=fast is for plain schedules, found another way of sharing: every plan is priced exactly' synthetic:8:3 \
    --precision fast --share maxmin --budget 30
warns 'precision=fast is for plain schedules, found jobs that wait for others' net.csv --batch-size 4 --precision fast \
    --budget 30
printf 'format: mercator-jobs/1\nmodels: [{name: n, file: net.csv, fps: 60, deadline: period}]\nhorizon_ms: 100\n' >fps.yaml
warns 'xr=compat: xr_score is the same for every plan' fps.yaml --xr compat --objective xr_score --budget 30
for option in '--rate 2' '--arrivals poisson' '--jitter-ms 1'; do
    # shellcheck disable=SC2086 # the words are separate arguments
    warns 'arrivals, rate and jitter_ms have no effect: no model is periodic (fps)' synthetic:8:3 $option --budget 30
done
warns 'arrival_seed has no effect: neither arrivals nor requests are random' synthetic:8:3 --arrival-seed 2 --budget 30
warns 'arrival_seed has no effect' fps.yaml --arrival-seed 2 --budget 30
warns 'm3e-compat has no mapping for 2 of 60 layers (30.conv-84x171x3x3x3x3, ...) on some core: they are left out' synthetic:60:3 \
    --table m3e-compat --optimizer fcfs
warns 'rule has no effect without dispatch=policy' synthetic:8:3 --rule edf --budget 30
warns 'late=drop has no effect: no job has a deadline' synthetic:40:3 --group-size 20 --late drop --budget 30
says out 'gap to the bound'
warns '--warm chain has no effect: there is one task' synthetic:8:3 --warm chain --budget 30
warns 'lpt makes a plan of its own: the points of --warm are priced, but do not guide it' synthetic:8:3 --warm warned \
    --optimizer lpt
# What has an effect needs no word.
printf 'format: mercator-jobs/1\nmodels: [{name: n, file: net.csv, probability: 0.5, batch: 8}]\n' >random.yaml
for options in 'fps.yaml --rate 2' 'fps.yaml --jitter-ms 1 --arrival-seed 2' 'random.yaml --arrival-seed 3' \
    'fps.yaml --late drop --objective miss_rate' 'fps.yaml --dispatch policy --rule edf --optimizer fcfs' \
    'synthetic:8:3 --group-size 4 --warm chain' 'synthetic:8:3 --groups 1..1'; do
    # shellcheck disable=SC2086
    expect 0 "$MERCATOR" schedule $options --budget 30 --no-report -o silent
    is_silent err
    rm -r silent
done
# One evaluation is not too many, and a fast one needs no word.
for options in '--dispatch policy --optimizer fcfs' '--dispatch policy --budget 1' '--precision fast --budget 30'; do
    # shellcheck disable=SC2086 # the words are separate arguments
    expect 0 "$MERCATOR" schedule synthetic:8:3 $options --no-report -o warned --force
    is_silent err
done
refuses 'xr=compat scores requests, but no model of synthetic:8:3 is periodic, expected one with fps' synthetic:8:3 --xr compat
for options in '--rate 2' '--arrivals poisson' '--jitter-ms 1'; do
    # shellcheck disable=SC2086
    refuses 'xr=compat has the arrivals of the published runtime, found others' fps.yaml --xr compat $options
done

# The last line says how fast it went, by the numbers of the summary.
expect 0 "$MERCATOR" schedule synthetic:8:3 --optimizer random --budget 500 --quiet --no-report -o speed
test "$(sed -n 's/.* evaluations in [0-9.]* s (\([0-9]*\)\/s), .*/\1/p' out)" -gt 0

# A bound next to nothing (here a trillionth of a cycle) gives a gap that nobody can read; the bound is said instead.
cat >late.yaml <<'YAML'
format: mercator-jobs/1
jobs:
  - {name: a, op: fc, dims: [8, 4], deadline_cycles: 2.999999999999}
  - {name: b, op: fc, dims: [8, 4], deadline_cycles: 2.999999999999}
YAML
expect 0 "$MERCATOR" schedule late.yaml --objective tardiness --optimizer fcfs --quiet --no-report -o late
says out '  > 1000000 %  earliest-ends'
says out 'gap to the bound > 1000000 % (it is 1.9'
says out 'e-21 s);'
expect 0 "$MERCATOR" evaluate late/schedule.yaml --objective tardiness
says out '> 1000000 % above the earliest-ends bound'
