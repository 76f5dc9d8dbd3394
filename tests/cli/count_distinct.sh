# --count distinct: a plan that was priced before costs no budget, is not priced again, and says which trial it equals.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# Two output channels and nothing else: five places for the one factor, so five plans.
printf 'name,type,K,C,Y,X,R,S,stride\na,conv,2,1,1,1,1,1,1\n' >tiny.csv
printf 'name,type,K,C,Y,X,R,S,stride\na,conv,4,1,1,1,1,1,1\n' >small.csv

search()
{
    expect 0 "$MERCATOR" map "$1.csv" --platform s256 --optimizer "$2" --budget "$3" --no-report --json --seed 3 -o "$4" \
        --count "$5" --threads 1
}

# All: the budget counts every trial.
search tiny random 200 all all
test "$(number out trials)" = 200
test "$(number out evaluations)" = 200
says all/run.jsonl '"count":"all"'

# Distinct: the five plans, and then the search is over, though the budget is not.
search tiny random 200 distinct distinct
test "$(number out evaluations)" = 5
test "$(number out trials)" -gt 200
says out '"stopped":"finished"'
says distinct/run.jsonl '"count":"distinct"'
test "$(number all/summary.json score)" = "$(number distinct/summary.json score)"

# With more plans than budget it ends with the budget. Trials without `same_as` are the evaluations, no two with the
# same plan twice; the others repeat the cost of the trial that they name.
search small genetic 12 some distinct
test "$(number out evaluations)" = 12
says out '"stopped":"budget"'
sed -n 's/^{"type":"trial","index":\([0-9]*\),.*"score":\([^,]*\),.*/\1 \2 &/p' some/run.jsonl |
    awk '{ score[$1] = $2 }
         match($0, /"same_as":[0-9]+/) {
             known = substr($0, RSTART + 10, RLENGTH - 10) + 0
             repeats++
             if (!(known < $1) || (known in is_repeat) || score[known] != $2) { print; wrong = 1 }
             is_repeat[$1] = 1
         }
         END { exit wrong || NR != 12 + repeats || repeats == 0 }'

# The same bytes on two threads, after a stop, and from an experiment file.
expect 0 "$MERCATOR" map small.csv --platform s256 --optimizer genetic --budget 12 --no-report --seed 3 -o two \
    --count distinct --threads 2 --quiet
cmp some/run.jsonl two/run.jsonl
mkdir stopped
head -n 8 some/run.jsonl >stopped/run.jsonl
cp some/clock.jsonl stopped
expect 0 "$MERCATOR" map --resume stopped --quiet --no-report
cmp some/run.jsonl stopped/run.jsonl
cat >experiment.yaml <<'YAML'
format: mercator-experiment/1
problem: map
workload: small.csv
platform: s256
optimizer: genetic
seed: 3
budget: 12
count: distinct
YAML
expect 0 "$MERCATOR" map experiment.yaml --no-report --quiet -o file
cmp some/run.jsonl file/run.jsonl

expect 1 "$MERCATOR" map small.csv --count some
says err 'count is "some", expected auto, all or distinct'
