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
