# The loop: the same bytes for any number of threads and with either log, across the place where lines become short;
# killed runs go on as if nothing had been; logs of version 1 go on as they began.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

for optimizer in random genetic genetic:population=20,islands=6,meetings=3 annealing; do
    for log in all improving; do
        for threads in 1 2 3; do
            "$MERCATOR" map resnet18 --select 2 --optimizer $optimizer --budget 12000 --log $log --threads $threads \
                --no-report --quiet -o map-$threads >/dev/null
            "$MERCATOR" schedule mix --select 1 --optimizer $optimizer --budget 600 --log $log --threads $threads \
                --no-report --quiet -o schedule-$threads >/dev/null
        done
        for verb in map schedule; do
            cmp $verb-1/run.jsonl $verb-2/run.jsonl
            cmp $verb-1/run.jsonl $verb-3/run.jsonl
        done
        rm -rf map-? schedule-?
    done
done

# Lines of the first 10,000 trials are in full, those after them are short.
"$MERCATOR" map resnet18 --select 2 --optimizer genetic --budget 12000 --no-report --quiet -o whole >/dev/null
says whole/run.jsonl '"format":"mercator-run/2"'
test "$(grep -c '"type":"trial".*"point":\[' whole/run.jsonl)" -eq 10000
test "$(grep -c '"type":"trial".*"point":"' whole/run.jsonl)" -eq 2000
"$MERCATOR" report whole --csv whole.csv >/dev/null
test "$(wc -l <whole.csv)" -eq 12001
test "$(grep -c ',$' whole.csv)" -eq "$(grep -c ',,0,"' whole.csv)" # metrics of all that have any

# Cut anywhere, in a long line or in a short one, it goes on to the same bytes.
size=$(wc -c <whole/run.jsonl)
for bytes in 5000 $((size / 2)) $((size - 100000)) $((size - 30000)); do
    cp -r whole cut
    head -c $bytes whole/run.jsonl >cut/run.jsonl
    "$MERCATOR" map resnet18 --select 2 --optimizer genetic --budget 12000 --no-report --quiet --resume cut >/dev/null
    cmp whole/run.jsonl cut/run.jsonl
    rm -rf cut
done

# So does a search of islands, with either log; the search is long enough for them by itself.
for log in all improving; do
    set -- resnet18 --select 2 --optimizer genetic --budget 200000 --log $log --no-report --quiet
    "$MERCATOR" map "$@" --threads 2 -o islands >/dev/null
    size=$(wc -c <islands/run.jsonl)
    for bytes in $((size / 3)) $((size - 1000)); do
        cp -r islands cut
        head -c $bytes islands/run.jsonl >cut/run.jsonl
        "$MERCATOR" map "$@" --resume cut >/dev/null
        cmp islands/run.jsonl cut/run.jsonl
        rm -rf cut
    done
    rm -rf islands
done

# No more islands than points of a batch: others would get nothing but their neighbour's best, and the ring would be broken.
for islands in 4 5 4096; do
    expect 0 "$MERCATOR" map resnet18 --select 2 --batch 4 --optimizer genetic:population=10,islands=$islands,meetings=2 --budget 2000 \
        --no-report --quiet -o islands
    grep '"type":"trial"' islands/run.jsonl >trials-$islands
    rm -rf islands
done
cmp trials-4 trials-5
cmp trials-4 trials-4096
expect 0 "$MERCATOR" map resnet18 --select 2 --optimizer genetic:unique=true,islands=8 --budget 200 --no-report --quiet -o alone
says err 'genetic: with unique=true there is one population: islands is not used'

# A killed run, on two threads and with the full log.
"$MERCATOR" map resnet18 --select 2 --optimizer random --budget 400000 --no-report --quiet -o long >/dev/null
"$MERCATOR" map resnet18 --select 2 --optimizer random --budget 400000 --threads 2 --no-report --quiet -o killed >/dev/null &
pid=$!
tries=0
while [ "$(wc -c 2>/dev/null <killed/run.jsonl || echo 0)" -lt 4000000 ] && [ $tries -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
"$MERCATOR" map resnet18 --select 2 --optimizer random --budget 400000 --no-report --quiet --resume killed >/dev/null
cmp long/run.jsonl killed/run.jsonl

# A log of version 1: its header has no choices, and every line is in full.
cp -r whole old
{
    head -n 1 whole/run.jsonl | sed 's/mercator-run\/2/mercator-run\/1/; s/"choices":\[[0-9,]*\],//'
    sed -n '2,4000p' whole/run.jsonl
} >old/run.jsonl
"$MERCATOR" map resnet18 --select 2 --optimizer genetic --budget 12000 --no-report --quiet --resume old >/dev/null
says old/run.jsonl '"format":"mercator-run/1"'
test "$(grep -c '"type":"trial".*"point":\[' old/run.jsonl)" -eq 12000
"$MERCATOR" report old --csv old.csv >/dev/null

cmp whole.csv old.csv

# Both give the same warm start.
for run in whole old; do
    "$MERCATOR" map resnet18 --select 2 --optimizer genetic --budget 300 --warm $run:20 --no-report --quiet -o warm-$run >/dev/null
    grep '"type":"trial"' warm-$run/run.jsonl >warm-$run.trials
done
cmp warm-whole.trials warm-old.trials
