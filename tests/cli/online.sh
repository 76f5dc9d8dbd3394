# Scheduling on line, the table of metrics, warm starts and tuning, as a user calls them.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >jobs.yaml <<'YAML'
format: mercator-jobs/1
models:
  - {name: eyes, file: resnet18, fps: 60, deadline: period, tenant: headset}
  - {name: feed, file: dlrm, fps: 90, deadline: period, tenant: feed}
horizon_ms: 100
YAML

# The same seed gives the same arrivals and the same plan; evaluate gives the same numbers.
for name in one two; do
    expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 --arrivals poisson --rate 8 --jitter-ms 0.5 --arrival-seed 0 \
        --seed 4 --late drop --optimizer online:moves=5 --objective miss_rate --no-report --quiet -o "$name"
done
says out 'miss_rate' # the objective has its column
says out '% of the requests late or dropped, tardiness'
says out 'tenants: STP'
says out '1 evaluation in'
cmp one/run.jsonl two/run.jsonl
says one/run.jsonl '"arrival_seed":4'
says one/run.jsonl '"name":"decisions","value":'
# How long the decisions took is said, but not in the log, which is the same every time.
decisions=$(sed -n 's/.*"source":"online".*"name":"decisions","value":\([0-9]*\).*/\1/p' two/run.jsonl)
grep -qE "^$decisions decisions, [0-9.]+ [num]?s on average, [0-9.]+ [num]?s at worst\$" out
says two/summary.json "\"decisions\":{\"count\":$decisions,\"mean_ms\":"
test -z "$(grep -o '"worst_ms"\|"allowed_ms"' two/run.jsonl two/summary.json | grep -v '^two/summary.json:"worst_ms"')"
expect 0 "$MERCATOR" evaluate one/schedule.yaml --json
miss=$(grep -o '"miss_rate":[0-9.e-]*' one/summary.json | head -n 1)
says out "$miss"

# A time per decision is the one thing that makes a plan depend on the machine.
says one/summary.json '"reproducible":true'
expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 --optimizer online:ms=1 --no-report --quiet -o clocked --force
says clocked/summary.json '"reproducible":false'
late=$(sed -n 's/.*"allowed_ms":1,"late":\([0-9]*\)}.*/\1/p' clocked/summary.json)
says out "; 1.000 ms allowed, $late took longer"
# A forecast that would not fit in is not begun: however many there could be, decisions keep to their time.
sed 's/horizon_ms: 100/horizon_ms: 1000/' jobs.yaml >long.yaml
expect 0 "$MERCATOR" schedule long.yaml --platform s2 --arrivals poisson --optimizer online:ms=3,moves=1000000 --no-report --quiet \
    -o clocked --force
set -- $(sed -n 's/.*"decisions":{"count":\([0-9]*\),.*"late":\([0-9]*\)}.*/\1 \2/p' clocked/summary.json)
test "$2" -lt "$1"
expect 1 "$MERCATOR" schedule jobs.yaml --platform s2 --dispatch policy --optimizer online --no-report --quiet -o none --force
says err 'dispatch skip or strict'

# xr_score is about models with deadlines: it leaves out those without, and is of nothing where all are.
sed '/feed/s/ deadline: period,//' jobs.yaml >some.yaml
sed 's/ deadline: period,//' jobs.yaml >none.yaml
expect 0 "$MERCATOR" schedule some.yaml --platform s2 --optimizer fcfs --objective xr_score --no-report -o some
says err 'warning: xr_score leaves out feed, which has fps but no deadline'
expect 1 "$MERCATOR" schedule none.yaml --platform s2 --optimizer fcfs --objective xr_score --no-report --quiet -o none --force
says err 'xr_score both fps and them'

# Who knows all requests in advance does no worse.
# misses NAME ARGUMENT...: the share of requests that a run misses where bandwidth is scarce.
misses()
{
    name=$1
    shift
    expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 --bandwidth 2 --arrivals poisson --rate 8 --arrival-seed 4 \
        --late drop --objective miss_rate --no-report --quiet -o "$name" "$@"
    grep -o '"miss_rate":[0-9.e-]*' "$name/summary.json" | head -n 1 | cut -d : -f 2
}
coming=$(misses coming --optimizer online)
known=$(misses known --budget 10)
awk -v known="$known" -v coming="$coming" 'BEGIN { exit !(coming > 0 && known <= coming) }'

# Runs that differ in their seed alone make one row.
expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 --arrivals poisson --arrival-seed 0 --rate 8 --seed 1-3 \
    --optimizer online:rule=edf --optimizer online:rule=fcfs --objective miss_rate --no-report --quiet -o study
expect 0 "$MERCATOR" report study --metrics miss_rate,antt
says out '| rule | runs | miss_rate [1] | antt [1] |'
says out '| edf | 3 |'
says out '| fcfs | 3 |'
expect 1 "$MERCATOR" report study --metrics miss_rat
says err 'expected at most 16 names'

# Solutions go from group to group, and a damaged line is not passed over in silence.
expect 0 "$MERCATOR" schedule synthetic:60:3 --group-size 20 --select 1 --platform s2 --optimizer random --budget 50 \
    --no-report --quiet -o solved --force
sed -i '3s/^./(/' solved/run.jsonl
expect 0 "$MERCATOR" schedule synthetic:60:3 --group-size 20 --select 2 --platform s2 --optimizer random --budget 5 \
    --no-report --warm solved:8 --warm-match layer -o next --force
says err '1 damaged line skipped'
test "$(grep -c '"warm":true' next/run.jsonl)" -eq 8
# Without a number they fill the population; an optimizer without one is told 64.
expect 0 "$MERCATOR" schedule synthetic:60:3 --group-size 20 --select 1 --platform s2 --optimizer random --budget 150 \
    --no-report --quiet -o solved --force
for case in magma:100 genetic:population=20:20 de:30 random:64; do
    expect 0 "$MERCATOR" schedule synthetic:60:3 --group-size 20 --select 2 --platform s2 --optimizer "${case%:*}" --budget 5 \
        --no-report --quiet --warm solved -o next --force
    test "$(grep -c '"warm":true' next/run.jsonl)" -eq "${case##*:}"
done

# Tuning prints a line to paste; what it prints is taken.
expect 0 "$MERCATOR" schedule synthetic:60:3 --group-size 20 --bandwidth 100000 --platform s2 --tune magma --tune-settings 3 \
    --tune-seeds 1 --budget 100 --test synthetic:40:9 --quiet -o tuned
says out '--optimizer magma'
says out 'test: tuned over default'
grep -q '^train .* [kMG]cycle  [0-9.]* [kMG]cycle  [01]\.[0-9]*$' out
says out 'default, tuned: mean cycles over the seeds; ratio: geometric mean of theirs, below 1 where tuned is better'
test -s tuned/tune.json
setting=$(sed -n 's/^--optimizer //p' out)
expect 0 "$MERCATOR" schedule synthetic:40:9 --platform s2 --optimizer "$setting" --budget 100 --no-report --quiet -o pasted
expect 1 "$MERCATOR" schedule synthetic:40:9 --platform s2 --tune random --budget 10 --quiet -o none --force
says err 'no numbers left to tune'
expect 2 "$MERCATOR" schedule synthetic:40:9 --platform s2 --tune
