# --pareto: the front of the trade-offs met, by an optimizer that explores; the optimum does not end the search.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 "$MERCATOR" map resnet18 --select 2 --pareto energy,cycles --objective energy --no-report --json -o front
says err 'exact_nest searches one objective, --pareto needs an optimizer that explores; using annealing'
says out '"optimizer":"annealing"'
test "$(sed 's/.*"front":\[\([^]]*\)\].*/\1/' out | grep -o '"index"' | wc -l)" -ge 2

# asked for by name it stays, with a warning
expect 0 "$MERCATOR" map resnet18 --select 2 --pareto energy,cycles --optimizer exact --no-report -o exact
says err 'exact_nest searches one objective: the front of --pareto has what it meets on the way'

# the bound of cycles is met after some hundred trials; the search for cheaper nests goes on
expect 0 "$MERCATOR" map resnet18 --select 2 --objective cycles --optimizer annealing --budget 3000 --no-report --quiet --json -o one
says out '"stopped":"gap"'
expect 0 "$MERCATOR" map resnet18 --select 2 --objective cycles --optimizer annealing --budget 3000 --pareto energy,cycles \
    --no-report --quiet --json -o many
says out '"evaluations":3000'

# people see the front: the trade-offs of one task, the ranges of several; without a clock latency is counted in cycles
expect 0 "$MERCATOR" map resnet18 --select 2 --pareto latency,energy --budget 3000 --no-report --quiet
says err 'the platform has no clock_hz: latency is counted in cycles'
says out 'trade-offs: nothing met beats one of these'
test "$(grep -c '^ *\** *[0-9,]*  [0-9.]* [a-zA-Z]*  [0-9.]* uJ$' out)" -ge 1
test -s runs/map-resnet18-s256-cycles,energy-annealing-1/run.jsonl # beside the run without --pareto
expect 0 "$MERCATOR" map resnet18 --select 2,3 --pareto cycles,energy --budget 3000 --no-report --quiet -o two
says out 'task  '
says out 'trade-offs  '
expect 1 "$MERCATOR" map resnet18 --pareto throughput,energy --no-report --quiet -o none
says err '--pareto: throughput needs seconds, but platform s256 has no clock_hz'
# a value of which more is better is shown as it is
expect 0 "$MERCATOR" map resnet18 --select 2 --pareto utilisation,energy --budget 3000 --no-report --quiet -o more
grep -qE '^ *[*]? *[0-9,]+ +[0-9.]+ %  [0-9.]+ uJ$' out
# also where the solver is the general default
expect 0 "$MERCATOR" split resnet8 --pareto latency,energy --budget 2000 --seed 5 --no-report --quiet -o channels
says err 'exact_split searches one objective, --pareto needs an optimizer that explores; using genetic'
test "$(sed 's/.*"front":\[\([^]]*\)\].*/\1/' channels/summary.json | grep -o '"index"' | wc -l)" -ge 2
expect 1 "$MERCATOR" map resnet18 --pareto cycles,energy,Cycles --no-report --quiet -o none
says err '--pareto has cycles twice'

# Where a search has rounds the front is of all of them: every trial of the log that no other beats is in it. The plan that is written
# is one of them, and a stopped run says the same.
set -- alexnet --hardware shared --pareto latency,mac_units --objective latency --optimizer genetic --budget 150 --no-report --quiet
expect 0 "$MERCATOR" codesign "$@" --select 1-2 -o rounds
expect 0 "$MERCATOR" report rounds --csv trials.csv
fronts() # of a summary: task, latency, mac_units
{
    sed 's/.*"tasks"://' "$1" | grep -o '"front":\[[^]]*\]' | head -n 2 | awk '{ print NR - 1 " " $0 }' |
        sed 's/},{/}\n{/g' | awk '/front/ { task = $1 } { gsub(/.*"latency":|"mac_units":|}.*/, ""); sub(/,/, " "); print task, $0 }' | sort
}
awk -F '","|,' 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /^latency/) l = i; if ($i ~ /^mac_units/) m = i } next }
    $4 == 1 { key = $2 " " $l " " $m; if (!(key in seen)) { seen[key] = ++n; task[n] = $2; latency[n] = $l; units[n] = $m } }
    END { for (i = 1; i <= n; i++) { for (j = 1; j <= n; j++) if (j != i && task[j] == task[i] && latency[j] <= latency[i] && units[j] <= units[i]) break
        if (j > n) print task[i], latency[i], units[i] } }' trials.csv | sort >wanted
fronts rounds/summary.json >found
test "$(wc -l <wanted)" -ge 6
cmp wanted found || { cat wanted found >&2; exit 1; }
head -c 60000 rounds/run.jsonl >part && mv part rounds/run.jsonl
expect 0 "$MERCATOR" codesign "$@" --select 1-2 --resume rounds
fronts rounds/summary.json | cmp wanted -
expect 0 "$MERCATOR" codesign "$@" --select 1 -o single
test "$(grep -c '^ *\* *[0-9]' out)" -eq 1
says out '* the best for the objective, whose plan is written'
