# --total-time: one limit for all tasks of a run, alone and with budgets, --time, --resume, experiments and compare.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv
map="$MERCATOR map net.csv --platform s256 --optimizer random --threads 1 --quiet --no-report"
search="$MERCATOR map net.csv --platform s256 --threads 1 --quiet --no-report"

# below NAME VALUE LIMIT
below()
{
    awk -v v="$2" -v l="$3" 'BEGIN { exit !(v < l) }' || { echo "$1 is $2, expected less than $3" >&2; exit 1; }
}

# All tasks have their part of it, the last one too, and there is no other limit than the time.
expect 0 $map --total-time 0.6 --json -o all
says out '"stopped":"time"'
test "$(grep -o '"stopped":"time"' out | wc -l)" -ge 3
below wall_s "$(number out wall_s)" 6 # 0.6, on a machine that may be busy
says all/run.jsonl '"total_time_s":0.6'

# Rounds that do not come keep nothing of it.
for rounds in 'place resnet18' 'place resnet18 --in-turn'; do
    expect 0 "$MERCATOR" $rounds --optimizer random --budget 100000000 --log improving --total-time 0.8 --quiet --no-report --json \
        -o rounds --force
    below 0.7 0.7 "$(number out wall_s)"
done

# The limit that comes first ends a search.
expect 0 $map --total-time 60 --budget 40 --json -o budget
says out '"evaluations":120,'
expect 0 $map --total-time 60 --time 0.05 --json -o both
below wall_s "$(number out wall_s)" 6
expect 0 $map --total-time 60 --total-budget 90 --json -o shared
says out '"evaluations":90,'

# A stopped run has what is left of it: the first sitting used a second of three.
$map --total-time 3 -o stopped >out 2>err &
process=$!
while ! grep -q '"wall_s":[1-9]' stopped/clock.jsonl 2>/dev/null; do
    sleep 0.05
done
kill -INT $process
code=0
wait $process || code=$?
test $code -eq 130
expect 0 "$MERCATOR" map --resume stopped --quiet --no-report --json
grep -c '"started"' stopped/clock.jsonl | grep -qx 2
grep '"trials"' stopped/clock.jsonl | tail -n 1 >last
below 'second sitting' "$(awk -v w="$(number last wall_s)" -v r="$(number last prepared_s)" 'BEGIN { print w - r }')" 2.9
# Its seconds are those of both sittings, and stay as they are when there is nothing left to do.
below '2.5 s' 2.5 "$(number stopped/summary.json wall_s)"
cp stopped/summary.json summary.before
expect 0 "$MERCATOR" map --resume stopped --quiet --no-report
cmp summary.before stopped/summary.json
# It ended by the clock once; following its log again gives the same, without the clock.
cp stopped/run.jsonl before.jsonl
expect 0 "$MERCATOR" map --resume stopped --quiet --no-report
cmp before.jsonl stopped/run.jsonl

# A log without a line for each trial (--log improving, and any log after a million) ends where the stopped run did:
# at the trials that its summary counts, or with its last line when it was killed.
for signal in INT KILL; do
    $map --total-time 2 --log improving -o sparse --force >out 2>err &
    process=$!
    while ! grep -q '"wall_s":[1-9]' sparse/clock.jsonl 2>/dev/null; do
        sleep 0.05
    done
    kill -$signal $process
    wait $process || :
    expect 0 timeout 60 "$MERCATOR" map --resume sparse --quiet --no-report
    says out 'stopped by time'
    test "$(tail -n 1 sparse/run.jsonl | grep -o '"trials":[0-9]*' | head -n 1 | cut -d: -f2)" -ge \
        "$(grep -o '"trials":[0-9]*' sparse/clock.jsonl | head -n 1 | cut -d: -f2)"
done

# Of several runs each has it, one after the other; a file says total_time_s.
cat >two.yaml <<'YAML'
format: mercator-experiment/1
workload: net.csv
problem: map
platform: s256
optimizer: [random, annealing]
total_time_s: 0.2
YAML
expect 0 "$MERCATOR" map two.yaml --quiet --no-report -o two
for run in 001 002; do
    says two/$run/summary.json '"stopped":"time"'
done
# compare: to the budget without a clock, and for as long
expect 0 "$MERCATOR" compare net.csv --problem map --platform s256 --optimizer random --optimizer annealing --budget 50 \
    --total-time 0.1 --quiet --no-report -o compared
says out 'equal samples: 50'
says out 'equal time: 0.1 s'

expect 1 $map --total-time -1 -o none
says err '--total-time is -1, expected a number'
expect 1 $map --total-time soon -o none
says err '--total-time is "soon"'

# --train: each visit is a run, and has it.
expect 0 $search --select 1 --train --passes 2 --total-time 0.2 --optimizer reinforce -o taught

# However short the time, a solver gives a plan, and --resume has the same one.
for time in '--time 1e-9' '--total-time 1e-9'; do
    expect 0 "$MERCATOR" map resnet18 --select 9,10 $time --quiet --no-report --force -o hasty
    says out 'stopped by time'
    cp hasty/run.jsonl before
    cp hasty/mapping.yaml plan
    expect 0 "$MERCATOR" map --resume hasty --quiet --no-report
    cmp before hasty/run.jsonl
    cmp plan hasty/mapping.yaml
done

# So do solvers that look at a whole network first; layers that are cut off agree on the core.
for hasty in 'place resnet8' 'codesign resnet8' 'codesign resnet8 --hardware per-task' 'codesign resnet8 --total-time 0.1'; do
    expect 0 "$MERCATOR" $hasty --time 1e-9 --quiet --no-report --force -o hasty
    says out 'stopped by time'
    lacks 'a core of its own' out
    cp hasty/run.jsonl before
    expect 0 "$MERCATOR" ${hasty%% *} --resume hasty --quiet --no-report
    cmp before hasty/run.jsonl
done

# What a solver says when it is cut off is in the log alone, and a resumed run passes over it.
expect 0 "$MERCATOR" place bert_base --time 0.05 --quiet --no-report -o note
cp note/run.jsonl before
expect 0 "$MERCATOR" place --resume note --quiet --no-report
cmp before note/run.jsonl

# So are the epochs of a training that it was cut off in; what that has learned goes on to the next task.
for time in '0.2 --select 2' '0.4 --select 2' '0.2 --select 1-3' '0.3 --select 1-3'; do
    expect 0 "$MERCATOR" codesign resnet18 --hardware fixed --optimizer dcoc --budget 100000 --time $time --quiet --no-report \
        --force -o tuned
    cp tuned/run.jsonl before
    expect 0 "$MERCATOR" codesign --resume tuned --quiet --no-report
    cmp before tuned/run.jsonl
done

for optimizer in marl a2c reinforce chameleon; do
    expect 0 "$MERCATOR" map resnet18 --select 2-3 --optimizer $optimizer --time 0.3 --quiet --no-report --force -o carried
    cp carried/run.jsonl before
    expect 0 "$MERCATOR" map --resume carried --quiet --no-report
    cmp before carried/run.jsonl
done

# Some of what it asked for when it was cut off may have its price already: those count no more than the others. A log that
# a kill ended before the line that tells the end of a search says what belongs to an end that did not come.
for time in 0.15 0.3; do
    rm -rf clustered
    expect 0 "$MERCATOR" codesign resnet18 --select 2,3 --optimizer chameleon --budget 200 --time $time --quiet --no-report -o clustered
    for end in $(grep -n '"type":"end"' clustered/run.jsonl | cut -d: -f1); do
        rm -rf cut
        cp -r clustered cut
        rm cut/summary.json
        head -n $((end - 1)) clustered/run.jsonl >cut/run.jsonl
        expect 0 "$MERCATOR" codesign --resume cut --quiet --no-report
    done
    cp clustered/run.jsonl before
    expect 0 "$MERCATOR" codesign --resume clustered --quiet --no-report
    cmp before clustered/run.jsonl
done

# Where equal plans count once, the first one is priced, too.
expect 0 "$MERCATOR" place resnet8 --count distinct --optimizer annealing --time 1e-9 --quiet --no-report -o once
says out '1 evaluation in'
