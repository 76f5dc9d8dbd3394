# A stream of groups, each started from those before: what the points carried over were worth, and what 1, 30 and
# 100 generations made of them.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# search OPTION...
search()
{
    expect 0 "$MERCATOR" schedule synthetic:120:3 --group-size 40 --bandwidth 1000 --quiet --no-report "$@"
}
search --groups 1..3 --optimizer magma:population=20 --budget 2000 -o run --force
is_silent err # the log that it reads is its own and whole
says out 'cycles of what was carried over from the tasks before, and after so many generations:'
test "$(awk '/carried over/ { rest = 1 } rest && /^group [0-9]/' out | wc -l)" -eq 3
tr '{' '\n' <run/summary.json | sed -n 's/^"generations":\([0-9]*\),"evaluations":\([0-9]*\),"value":\([^}]*\)}.*/\1 \2 \3/p' >milestones
test "$(grep -c . milestones)" -eq 12
test "$(sed -n 1p milestones)" = '0 0 null'
test "$(cut -d ' ' -f 1,2 milestones | sort -u -n | tr '\n' ' ')" = '0 0 1 20 30 600 100 2000 '

# least TASK [COUNT]: least score of the task's warm trials and of its first COUNT others.
least()
{
    grep "^{\"type\":\"trial\",\"index\":[0-9]*,\"task\":$1," run/run.jsonl >trials || true
    { grep '"warm":true' trials || true; grep -v '"warm":true' trials | head -n "${2:-0}"; } |
        sed -n 's/.*"score":\([0-9.eE+-]*\).*/\1/p' | sort -g | head -n 1
}
for task in 0 1 2; do
    for count in 0 20 600 2000; do
        found=$(awk -v row=$((task * 4)) -v count=$count 'NR > row && NR <= row + 4 && $2 == count { print $3 }' milestones)
        test "${found#null}" = "$(least $task $count)"
    done
done

# A stopped run goes on to the same end.
cp run/run.jsonl whole.jsonl
head -n 3000 whole.jsonl >run/run.jsonl
expect 0 "$MERCATOR" schedule --resume run --quiet --no-report
is_silent err
cmp run/run.jsonl whole.jsonl

# Without a population there are no generations, and without a stream nothing is carried over.
search --groups 1..2 --optimizer random --budget 200 -o none --force
test -z "$(grep -o milestones none/summary.json)"
search --select 1-2 --optimizer magma --budget 200 -o none --force
test -z "$(grep -o milestones none/summary.json)"
# A group that was proven optimal stays as it is.
printf 'format: mercator-jobs/1\njobs: [{name: a, op: fc, dims: [8, 4]}, {name: b, op: fc, dims: [8, 4], after: [a]}]\n' >jobs.yaml
expect 0 "$MERCATOR" schedule jobs.yaml --group-size 1 --groups 1..2 --optimizer magma --budget 500 --quiet --no-report -o proven
test "$(grep -o '"generations":100,"evaluations":10000,"value":[0-9]' proven/summary.json | wc -l)" -eq 2
