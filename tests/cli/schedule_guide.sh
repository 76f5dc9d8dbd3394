# The commands of docs/scheduling.md do what it says.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
guide=$MERCATOR_SOURCE_DIR/docs/scheduling.md

sed -n '/^```yaml jobs.yaml$/,/^```$/p' "$guide" | grep -v '^```' >jobs.yaml
grep -q 'mercator-jobs/1' jobs.yaml
grep -q 'printf .*supple.yaml$' "$guide"
sh -c "$(grep 'printf .*supple.yaml$' "$guide")"

expect 0 "$MERCATOR" schedule jobs.yaml --platform s2 -o run --force --budget 100 --quiet
says out 'bandwidth in use'
grep -o '"best":{[^}]*}' run/summary.json | head -n 1 >best
for metric in violations tardiness stp antt jain xr_score bandwidth_use utilisation throughput; do
    says best "\"$metric\":"
done
for file in schedule.yaml schedule.csv jobtable.json platform.yaml trace.json report.html summary.json run.jsonl; do
    test -s "run/$file"
done
says run/schedule.csv '"cam#3.20","cam"'
says run/run.jsonl '"panel":"timeline"'
expect 0 "$MERCATOR" evaluate run/schedule.yaml
says out 'xr_score'

# Flexible cores are never slower alone: their own shape competes.
best_of()
{
    expect 0 "$MERCATOR" schedule vision --select 1 --budget 200 --quiet --no-report --json -o flexible --force "$@"
    grep -o '"best":{[^}]*}' out | head -n 1 >best
    number best cycles
}
stiff=$(best_of --platform s2 --bandwidth 1000)
search=$(best_of --platform supple.yaml --bandwidth 1000)
align=$(best_of --platform supple.yaml --bandwidth 1000 --flexible align)
awk -v s="$stiff" -v f="$search" -v a="$align" 'BEGIN { exit !(f < s && f <= a * 1.02) }' ||
    { echo "flexible cores: $stiff stiff, $search search, $align align" >&2; exit 1; }

# A limit that nothing fits is said, and the table says where.
sed 's/flexible: true/flexible: true, flexible_limit_bytes: 1/' supple.yaml >tight.yaml
expect 0 "$MERCATOR" schedule vision --select 1 --budget 20 --no-report --platform tight.yaml -o tight
says err 'fit no shape of a flexible core within flexible_limit_bytes'

# Tables: one run's table gives the same schedule; a cache changes nothing.
expect 0 "$MERCATOR" schedule jobs.yaml --budget 100 --quiet --no-report -o again --table run/jobtable.json
grep queues run/schedule.yaml >first
grep queues again/schedule.yaml >second
cmp first second
expect 0 "$MERCATOR" schedule jobs.yaml --budget 100 --quiet --no-report -o cached --cache prices
test -s "$(echo prices/prices-*.txt | cut -d ' ' -f 1)"
for file in prices/*; do
    echo damaged >>"$file"
done
expect 0 "$MERCATOR" schedule jobs.yaml --budget 100 --quiet --no-report -o damaged --cache prices
is_silent err
for run in cached damaged; do
    grep queues "$run/schedule.yaml" >second
    cmp first second
done
lacks damaged prices/*
