# compare DIR: runs that the clock ends, that end by themselves, and that prove the optimum.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# row TABLE METHOD: the cells of a method in a table of `out`, separated by `|`.
row()
{
    awk -v table="^### $1" -v row="| $2 |" '/^###/ { is = $0 ~ table } is && index($0, row) == 1' out
}

# cell N: field N of a row
cell()
{
    cut -d '|' -f "$(($1 + 1))" | tr -d ' '
}

# Without a budget the evaluations that were made count.
expect 0 "$MERCATOR" map resnet18 --select 1-2 --optimizer random --optimizer annealing --time 0.1 --seed 1-2 --threads 1 \
    --quiet --no-report -o timed
expect 0 "$MERCATOR" compare timed --format markdown --at 20
test "$(row 'Final quality$' annealing | cell 2)" -gt 20
test "$(row 'Quality at 20' random | cell 2)" -eq 20
row 'Against random' annealing | grep -q '| 2 of 2 |'
row 'Seconds to' random | cell 3 | grep -q '^[1-9]'
lacks '@0\|| inf\|nan' out

# An optimizer with a budget and with a time is two; where the log keeps improvements only, samples of the tasks are still
# told apart: both find the same with the same seed.
expect 0 "$MERCATOR" map resnet18 --select 1-2 --optimizer random --budget 2000 --seed 1 --quiet --no-report -o both/budget
expect 0 "$MERCATOR" map resnet18 --select 1-2 --optimizer random --time 0.1 --seed 1 --log improving --quiet --no-report \
    -o both/time
expect 0 "$MERCATOR" compare both --format markdown --at 50,1000
test "$(row 'Quality at 50 ' 'random @2000' | cut -d '|' -f 4-)" = "$(row 'Quality at 50 ' 'random @0.1 s' | cut -d '|' -f 4-)"
row 'Pairs at 1000' 'random @0.1 s' | grep -q '| 1.000 (0-0) |'

# One that ends by itself is listed with what it took, and keeps what it has.
expect 0 "$MERCATOR" schedule mix --select 1 --optimizer lpt --optimizer random --budget 200 --quiet --no-report -o ended
expect 0 "$MERCATOR" compare ended --format markdown
test "$(row 'Final quality$' lpt | cell 2)" -lt 200
test "$(row 'Quality at 500' lpt | cell 2)" -eq 200

# Optimizers that could prove something take part; only a solver that did prove all of its tasks is left out, by name.
expect 0 "$MERCATOR" schedule mix --select 1 --optimizer list_annealing --optimizer random --budget 50 --quiet --no-report -o able
expect 0 "$MERCATOR" compare able --format markdown --reference list_annealing
row 'Final quality$' list_annealing | grep -q '| 50 |'
lacks 'Left out' out
expect 0 "$MERCATOR" map resnet18 --select 1 --optimizer exact --budget 2000000 --quiet --no-report -o proven/1
expect 0 "$MERCATOR" compare proven
says out '0 optimizers'
says out 'Left out: exact_nest, proven best on every task. Nothing is left to compare.'
expect 0 "$MERCATOR" map resnet18 --select 1 --optimizer random --budget 200 --quiet --no-report -o proven/2
expect 0 "$MERCATOR" compare proven
says out '1 optimizer,'
says out 'Left out: exact_nest, proven best on every task.'
lacks 'Nothing is left' out
expect 1 "$MERCATOR" compare proven --reference exact_nest
says err 'found random; exact_nest left out, proven best on every task'
expect 0 "$MERCATOR" schedule synthetic:20:1 --optimizer exact --optimizer random --time 0.02 --quiet --no-report -o unproven
expect 0 "$MERCATOR" compare unproven
says out '2 optimizers'
lacks 'Left out' out

# What nobody has is "none", and not a draw.
expect 0 "$MERCATOR" map resnet18 --select 1-2 --optimizer random --optimizer genetic --budget 300 --seed 1-2 --quiet --no-report \
    -o early
expect 0 "$MERCATOR" compare early --format markdown --at 1
row 'Pairs at 1 ' random | grep -q '| none (0-0) |'

# Equal runs are made once: they would be taken for independent ones.
cat >twice.yaml <<'YAML'
format: mercator-experiment/1
name: twice
problem: {name: map, select: 3}
workload: resnet18
optimizer: [random, genetic, {name: genetic, population: 40}]
seed: [1-3, 2-4]
budget: [50, 50]
YAML
expect 0 "$MERCATOR" compare twice.yaml --optimizer random --optimizer annealing --optimizer random --json --no-report --quiet -o twice
test "$(grep -o '"runs":[0-9]*' out | sort -u)" = '"runs":4'
test "$(ls -d twice/0* | wc -l)" -eq 8
one_line err
says err '28 of 36 runs are the same as others'
expect 0 "$MERCATOR" compare resnet18 --select 3 --optimizer random --optimizer genetic --seed 1,1,1,1 --budget 200 --quiet \
    --no-report -o once
says err '6 of 8 runs are the same as others'
# one run has no interval
grep -q '^random  *1 .*cycle  *-  ' out
expect 0 "$MERCATOR" map twice.yaml --seed 1-4 --budget 50 --quiet --no-report -o distinct
is_silent err
