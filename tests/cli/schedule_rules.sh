# Every rule of the evaluator, switched on from the command line, on three jobs and two cores small enough to
# work out by hand; then that the search finds what a rule allows.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >duo.yaml <<'YAML'
format: mercator-platform/1
kind: cores
name: duo
clock_hz: 1G
word_bits: 8
memories: [{name: DRAM, bytes_per_cycle: 10}]
classes: {big: {rows: 8, columns: 8, dataflow: nvdla, memory_bytes: 1000}}
units: [{name: core, count: 2, class: big}]
YAML
sed 's/dataflow: nvdla/&, static_pj_per_cycle: 2/' duo.yaml >warm.yaml

# No-stall cycles and bytes per cycle: job0 100 and 8, job1 80 and 4, job2 50 and 2.
cat >table.csv <<'CSV'
layer,core_type,latency_cycles,traffic_bytes,weight_bytes,output_bytes,energy_nj
job0,big,100,800,10,10,1
job1,big,80,320,10,40,2
job2,big,50,100,60,10,3
CSV

# jobs EXTRA0 EXTRA1 EXTRA2: the job list with further keys for each job.
jobs()
{
    cat >jobs.yaml <<YAML
format: mercator-jobs/1
jobs:
  - {name: job0, op: fc, dims: [8, 4], tenant: a$1}
  - {name: job1, op: fc, dims: [8, 5], tenant: b$2}
  - {name: job2, op: fc, dims: [8, 6], tenant: b$3}
YAML
    cat >plan.yaml <<YAML
format: mercator-plan/1
kind: jobs
problem: schedule
workload: {name: jobs, file: jobs.yaml}
options: {table: table.csv, cache: off}
platform: duo.yaml
evaluator: bandwidth
tasks:
  - name: jobs
    queues: {core0: [job0], core1: [job1, job2]}
YAML
}

# metric NAME: of the first best plan in out.
metric()
{
    grep -o '"best":{[^}]*}' out | head -n 1 >metrics
    number metrics "$1"
}

# is METRIC VALUE [OPTION...]: evaluating the plan gives this value.
is()
{
    name=$1
    hand=$2
    shift 2
    expect 0 "$MERCATOR" evaluate plan.yaml --json "$@"
    near "$(metric "$name")" "$hand" 1e-9 "$name with $*"
}

jobs '' '' ''
# Both cores want 12 of 10 bytes: job1 ends at 96 with job0 at 640 of 800, which then takes 20; job2 50 more.
is cycles 146
is utilisation 0.8972602739726028 # (116 + 146) / (2 * 146)
expect 0 "$MERCATOR" evaluate plan.yaml # of 146 cycles: 100 and 130 of work, 16 of waiting on either core
says out 'busy/stalled/idle %: core0 68/11/21, core1 89/11/0'
is traffic_bytes 1220
is bandwidth_use 0.8356164383561644 # 1220 / (10 * 146)
is throughput 1643835616.4383562 # 2 * (32 + 40 + 48) / 146 ns
is energy 6000

# share. Small needs first: job1 runs at 4, job0 at 6 until 80, then at 8: 120; job2 80 .. 130.
is cycles 130 --evaluator bandwidth:share=maxmin
# Half for each core, used or not: job0 at 5.
is cycles 160 --evaluator bandwidth:share=even
# Equal weights are one class, so priority is max-min; the half of each tenant is 5, job1 leaves 1 of it to job0.
is cycles 130 --evaluator bandwidth:share=priority
is cycles 130 --evaluator bandwidth:share=reserved
# Tenant a first: job0 at 8 ends at 100, job1 at 2 has 120 left, 30 at 4, then job2: 180.
jobs ', weight: 3' '' ''
is cycles 180 --evaluator bandwidth:share=priority
# 7.5 for a, 2.5 for b: job0 ends at 106.67, job1 at 120, job2 at 170.
is cycles 170 --evaluator bandwidth:share=reserved
# Tenant b first: as with max-min here.
jobs '' ', weight: 3' ''
is cycles 130 --evaluator bandwidth:share=priority
is cycles 146 # weights mean nothing to proportional sharing

# Tenants: a takes 116 and 100 alone, b 146 and 80 alone (on two cores).
jobs '' '' ''
is stp 1.4100141709966934 # 100 / 116 + 80 / 146
is antt 1.4925 # the mean of 1.16 and 1.825
is jain 0.9527155985864666 # (x + y)^2 / (2 (x^2 + y^2)) with x = 100/116, y = 80/146
# Alone, too, job2 waits for job1: b takes 130.
jobs '' '' ', after: [job1]'
is antt 1.1415384615384615 # the mean of 116/100 and 146/130
# but not for the jobs of others.
jobs '' '' ', after: [job0]'
is antt 1.6175 # the mean of 116/100 and 166/80: job2 starts at 116
# A single tenant: 146 alone, as fcfs and lpt do it, 230 one after the other.
jobs '' '' ''
sed -i 's/tenant: b/tenant: a/' jobs.yaml
is stp 1
is antt 1
is jain 1
sed -i 's/queues: .*/queues: {core0: [job0, job1, job2]}/' plan.yaml
is stp 0.6347826086956522 # 146 / 230
is antt 1.5753424657534247
is jain 1
jobs '' '' ''

# Plenty of bandwidth: 130. A job that waits for job0 starts at 100; one released at 30 lets job2 go first, or
# not; a switch of 10 comes before job2.
is cycles 130 --bandwidth 100
jobs '' '' ', after: [job0]'
is cycles 150 --bandwidth 100
jobs '' ', release_cycles: 30' ''
is cycles 130 --bandwidth 100
is cycles 160 --bandwidth 100 --evaluator bandwidth:dispatch=strict
jobs '' '' ''
is cycles 140 --bandwidth 100 --evaluator bandwidth:switch_cycles=10
# Two heads that wait for what stands behind them.
jobs ', after: [job2]' ', after: [job0]' ''
expect 0 "$MERCATOR" evaluate plan.yaml --evaluator bandwidth:dispatch=strict
says out 'infeasible: deadlock: job job0 waits for job2'

# Deadlines: job2 ends at 130, 30 late; it starts at 80, so with a deadline of 70 it is dropped.
jobs '' '' ', deadline_cycles: 100'
is violations 1 --bandwidth 100
is tardiness 3e-8 --bandwidth 100
is cycles 130 --bandwidth 100 --evaluator bandwidth:late=drop # it has started by 100
jobs ', deadline_cycles: 200' '' ', deadline_cycles: 70'
is drop_rate 0.3333333333333333 --bandwidth 100 --evaluator bandwidth:late=drop
is cycles 100 --bandwidth 100 --evaluator bandwidth:late=drop
is violations 1 --bandwidth 100 --evaluator bandwidth:late=drop

# A unit that waits is not busy: core1 has nothing to do from 80 to 100 and runs 80 + 50 of 150 cycles.
jobs '' '' ', after: [job0]'
is utilisation 0.7666666666666667 --bandwidth 100 # (100 + 130) / (2 * 150)
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
    --optimizer fcfs --quiet --no-report -o run --force
says out 'cores occupied 76.7 % (busy or stalled), bandwidth in use '

# A drop at 1000 is no part of the schedule, which ends at 100: (800 + 320) / (100 * 100).
jobs '' '' ', release_cycles: 1000, deadline_cycles: 1000'
is cycles 100 --bandwidth 100 --evaluator bandwidth:late=drop
is bandwidth_use 0.112 --bandwidth 100 --evaluator bandwidth:late=drop
# What was dropped did no work, in the metric and in the report: 2 * (32 + 40) / 100 ns.
is throughput 1440000000 --bandwidth 100 --evaluator bandwidth:late=drop
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 --late drop \
    --optimizer fcfs --quiet --no-report -o run --force
throughput=$(sed -n 's/.*"name":"throughput","value":\([0-9.e+]*\).*/\1/p' run/run.jsonl)
near "$throughput" 1440000000 1 'throughput of the report'
says run/run.jsonl '"segments":[[0,80,8,4],[80,100,8,0]]'

# Tenants without what was dropped, here job2 at 70: b takes 96 and 80 alone, and has 80 of its 130 cycles of work
# done, which counts as throughput and as fairness.
jobs '' '' ', deadline_cycles: 70'
is stp 1.374889478337754 --evaluator bandwidth:late=drop # 100/116 + 80/96 * 80/130
is antt 1.18 --evaluator bandwidth:late=drop # the mean of 116/100 and 96/80
is jain 0.9393854043239256 --evaluator bandwidth:late=drop # (x + y)^2 / (2 (x^2 + y^2))
# One that would have come late does not make its tenant's time alone long: 1 + 80/130.
jobs '' '' ', release_cycles: 1000, deadline_cycles: 1000'
is stp 1.6153846153846154 --bandwidth 100 --evaluator bandwidth:late=drop
is antt 1 --bandwidth 100 --evaluator bandwidth:late=drop
# Of a none has run: its turnaround is infinite. b takes 130 and 80 alone.
jobs ', release_cycles: 1000, deadline_cycles: 1000' '' ''
is stp 0.6153846153846154 --bandwidth 100 --evaluator bandwidth:late=drop
is jain 0.5 --bandwidth 100 --evaluator bandwidth:late=drop
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 --late drop \
    --optimizer fcfs --quiet --no-report -o run --force
says out 'tenants: STP 0.615, ANTT inf, Jain 0.5'
says run/run.jsonl '{"name":"STP","value":0.6153846153846154,'
says run/run.jsonl '{"name":"ANTT","value":null,'
says run/run.jsonl '["a",1,1,0,1,0,null,null,null]'

# One tenant, who lost a job, has nobody to share with.
jobs '' '' ', release_cycles: 1000, deadline_cycles: 1000'
sed -i 's/tenant: b/tenant: a/' jobs.yaml
is stp 0.782608695652174 --bandwidth 100 --evaluator bandwidth:late=drop # 180 of its 230 cycles of work are done
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 --late drop \
    --optimizer fcfs --quiet --no-report -o run --force
says out '% of the requests late or dropped'
test "$(grep -c 'tenants:' out)" -eq 0

# Forwarding: job2 follows job1, whose 40 bytes are then neither written nor read: 1220 - 80. If job0 wants them
# too they are written all the same: 1220 - 40. A tensor larger than the core's store goes through memory.
jobs '' '' ', after: [job1]'
is traffic_bytes 1220
is traffic_bytes 1140 --evaluator bandwidth:forward=same_core
jobs ', after: [job1]' '' ', after: [job1]'
is traffic_bytes 1180 --evaluator bandwidth:forward=same_core
jobs '' '' ', after: [job1]'
sed 's/memory_bytes: 1000/memory_bytes: 39/' duo.yaml >small.yaml
is traffic_bytes 1220 --evaluator bandwidth:forward=same_core --platform small.yaml

# Weight reuse: job1 and job2 are the same layer now; its 10 bytes of weights are loaded once.
jobs '' '' ''
sed -i 's/dims: \[8, 6\]/dims: [8, 5]/' jobs.yaml
is traffic_bytes 1440 # 800 + 2 * 320
is traffic_bytes 1430 --evaluator bandwidth:weight_reuse=same_layer

# What does not move takes no energy where the table says how much a byte of its energy is for, or an option how much
# is missing; the CSV table says nothing. Forwarding saves 80 bytes and reuse 10; the plan file's rows add up to it.
cat >table.json <<'JSON'
{"format": "m3e-jobtable/1", "dram_pj_per_byte": 3, "core_types": ["big"], "layers": ["job0", "job1", "job2"],
 "columns": ["latency_cycles", "traffic_bytes", "weight_bytes", "output_bytes", "energy_pj"],
 "rows": [[[100, 800, 10, 10, 1000]], [[80, 320, 10, 40, 2000]], [[50, 100, 60, 10, 3000]]]}
JSON
jobs '' '' ', after: [job1]'
is energy 6000 --evaluator bandwidth:forward=same_core
is energy 11700 --evaluator bandwidth:forward=same_core,dram_pj_per_byte=5 # 6000 + 5 * 1140
sed -i 's/table.csv/table.json/' plan.yaml
is energy 6000
is energy 5760 --evaluator bandwidth:forward=same_core
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.json --cache off --forward same_core \
    --objective energy --budget 500 --quiet --no-report --json -o run --force
near "$(metric energy)" 5760 1e-9 'least energy with forwarding'
near "$(awk -F, 'NR > 1 { sum += $12 } END { print sum }' run/schedule.csv)" 5.76 1e-9 'energy of the rows'
# At least 1000 - 30 and 2000 - 30 with kept weights, 3000 - 3 * 100 with all that job2 moves.
near "$(number run/run.jsonl value)" 5640 1e-9 'bound of energy with forwarding'
jobs '' '' ''
sed -i 's/dims: \[8, 6\]/dims: [8, 5]/' jobs.yaml
sed -i 's/table.csv/table.json/' plan.yaml
is energy 5000 # 1000 + 2 * 2000
is energy 4970 --evaluator bandwidth:weight_reuse=same_layer

# Energy: the table's 6 nJ, 2 pJ for every cycle a core is busy (116 + 146) or powered (2 * 146), 5 pJ per byte.
jobs '' '' ''
is energy 6524 --platform warm.yaml
is energy 6584 --platform warm.yaml --evaluator bandwidth:static=powered
is energy 12100 --evaluator bandwidth:dram_pj_per_byte=5
is edp 876000 # 6000 pJ * 146 cycles
# A core that waits is not busy: core1 has nothing to do from 80 to 100, 100 + 130 cycles; powered 2 * 150.
jobs '' '' ', after: [job0]'
is energy 6460 --platform warm.yaml --bandwidth 100
is energy 6600 --platform warm.yaml --bandwidth 100 --evaluator bandwidth:static=powered
# Switching from job1 to job2 is dead time, 80 .. 90.
jobs '' '' ''
is energy 6460 --platform warm.yaml --bandwidth 100 --evaluator bandwidth:switch_cycles=10

# best OPTION...: cycles of the proven best schedule.
best()
{
    expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off \
        --budget 500 --quiet --no-report --json -o run --force "$@"
    metric cycles
}
# ordered A B...: every number is at least the one before.
ordered()
{
    for value in "$@"; do
        awk -v a="${last:-0}" -v b="$value" 'BEGIN { exit !(b >= a * (1 - 1e-12)) }' ||
            { echo "expected rising numbers, found $*" >&2; exit 1; }
        last=$value
    done
    last=
}
# The best schedule: more bandwidth is never slower; water filling beats the fixed halves; waiting, releases
# and switches cost time.
ordered "$(best --bandwidth 100)" "$(best --bandwidth 10)" "$(best --bandwidth 5)"
ordered "$(best --share maxmin)" "$(best --share even)"
free=$(best --bandwidth 100)
ordered "$free" "$(best --bandwidth 100 --switch-cycles 20)"
jobs '' '' ', after: [job0]'
ordered "$free" "$(best --bandwidth 100)"
jobs '' ', release_cycles: 90' ''
ordered "$free" "$(best --bandwidth 100)"
near "$(best --bandwidth 100)" 170 1e-9 'job1 is released at 90'

# A search for few violations meets a deadline that the shortest schedule misses: on one core 50 comes first.
jobs ', after: [job2]' '' ', deadline_cycles: 60'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
    --objective violations --quiet --no-report --json -o run --force
near "$(metric violations)" 0 0 'violations'
# Nothing is better than none.
says out '"bound":{"value":0,"kind":"optimum","scope":"","gap":0,"proven":true}'

# proves OBJECTIVE VALUE KIND [OPTION...]: the search ends with this value, proven by a bound of this kind.
proves()
{
    name=$1
    hand=$2
    kind=$3
    shift 3
    expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
        --objective "$name" --budget 500 --quiet --no-report --json -o run --force "$@"
    near "$(metric "$name")" "$hand" 1e-9 "$name with $*"
    says run/run.jsonl "\"kind\":\"$kind\""
    says out '"proven":true'
}
proves miss_rate 0 zero
proves drop_rate 0 zero --late drop
# job2 takes 50 where it is fastest, 30 more after job1: it is late by 10 at least, or 90.
jobs '' '' ', deadline_cycles: 40'
proves tardiness 1e-8 earliest-ends
proves violations 1 earliest-ends
proves miss_rate 1 earliest-ends --late drop
proves tardiness 0 zero --late drop # dropped in time
jobs ', deadline_cycles: 100' '' ', deadline_cycles: 40, after: [job1]'
proves tardiness 9e-8 earliest-ends
proves miss_rate 0.5 earliest-ends
# Where the bound is 0 and the plan is not there is no ratio, but there is a bound.
jobs '' ', deadline_cycles: 80' ', deadline_cycles: 50'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
    --optimizer fcfs --objective violations --quiet --no-report -o run --force
says out 'violations 1, bound 0;'

# Groups that follow each other share one time axis: job0 ends at 100, job1 waits until 130 and ends at 210, so job2
# ends at 260, 10 too late. The files count from the start of each group; evaluate does the same.
jobs '' ', release_cycles: 130' ', deadline_cycles: 250, after: [job1]'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
    --group-size 1 --budget 20 --quiet --no-report --json -o follow
near "$(metric cycles)" 260 1e-9 'cycles of three groups'
near "$(metric tardiness)" 1e-8 1e-9 'tardiness of three groups'
says follow/schedule.csv '"job1","","job1","b","core0",0,30,110,80,0,320,2,30,,,"group 2"'
says follow/schedule.csv '"job2","","job2","b","core0",0,0,50,50,0,100,3,0,40,10,"group 3"'
expect 0 "$MERCATOR" evaluate follow/schedule.yaml --json
for cycles in 100 110 50; do
    says out "\"cycles\":$cycles,"
done
cp -r follow again
expect 0 "$MERCATOR" schedule --resume again --quiet --no-report
cmp follow/run.jsonl again/run.jsonl
# If job2 waits for nobody it comes before job1, which is not there yet, and in time: 100, 150, 230.
jobs '' ', release_cycles: 130' ', deadline_cycles: 250'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --bandwidth 100 \
    --group-size 1 --budget 20 --quiet --no-report --json -o late
near "$(metric cycles)" 230 1e-9 'cycles with a late job'
near "$(metric tardiness)" 0 1e-9 'tardiness with a late job'

# What is dropped makes a plan shorter: a search for that says so, once.
jobs '' '' ', deadline_cycles: 40'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --late drop --no-report -o run --force
says err 'warning: late=drop: cycles falls with every job of jobs that is dropped; miss_rate, violations, xr_score or cycles*(1+drop_rate) count them'
expect 0 "$MERCATOR" schedule jobs.yaml --platform duo.yaml --table table.csv --cache off --late drop --no-report \
    --objective 'cycles*(1+drop_rate)' -o run --force
is_silent err
