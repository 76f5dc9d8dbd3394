# demo: every problem on a built-in input, then one report of all.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 "$MERCATOR" demo -o shown
mv out demo
is_silent err
says demo 'The report, to open in a browser: shown/report.html'
says shown/report.html 'Mercator demo'
says shown/report.html '"format":"mercator-report/1"'

# A scene for each problem that has a verb: the command, its answer with a gap, its files; the same command again
# gives the same log.
expect 0 "$MERCATOR" list problems
sed -n 's/^\([a-z_]*\): .*/\1/p' out >problems
test "$(wc -l <problems)" -ge 2
while read -r problem; do
    says demo "\$ mercator $problem "
    says "shown/$problem/run.jsonl" '"type":"summary"'
    says "shown/$problem/summary.json" '"feasible":true'
    seconds=$(sed 's/.*"wall_s":\([0-9]*\).*/\1/' "shown/$problem/summary.json")
    # instrumented code takes several times as long
    test "$seconds" -lt 15 || test -n "$MERCATOR_TEST_FLAGS" || { echo "$problem: $seconds s, expected less than 15" >&2; exit 1; }
    command=$(sed -n "s/^\\$ mercator \\($problem .*\\)/\\1/p" demo)
    # shellcheck disable=SC2086
    expect 0 "$MERCATOR" $command --no-report -o "again-$problem"
    cmp "shown/$problem/run.jsonl" "again-$problem/run.jsonl"
done <problems
test "$(grep -c 'gap to the bound\|proven optimal' demo)" -ge "$(wc -l <problems)"

# Without -o it goes below runs/.
expect 0 "$MERCATOR" demo --help
says out 'usage: mercator demo [-o DIR] [--force]'
expect 0 "$MERCATOR" map resnet18 --select 4 --budget 10 --quiet --no-report -o runs/demo/map
expect 1 "$MERCATOR" demo # what is there is of another command
says err 'replace them with --force'
expect 0 "$MERCATOR" demo --force
test -s runs/demo/report.html
expect 2 "$MERCATOR" demo everything
says err 'unexpected argument everything'
expect 2 "$MERCATOR" demo -o
