# compare of schedules without an experiment file: the problem is named, or found by the workload, the flags
# that choose jobs, or the optimizers.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >jobs.yaml <<'YAML'
format: mercator-jobs/1
jobs:
  - {name: a, op: fc, dims: [64, 32]}
  - {name: b, op: fc, dims: [32, 64]}
  - {name: c, op: gemm, dims: [20, 96, 48]}
YAML

# schedules ARGUMENT...: a table of two optimizers with the cost model of schedules.
schedules()
{
    rm -rf cells
    expect 0 "$MERCATOR" compare "$@" --budget 60 --quiet --no-report -o cells
    says out ', bandwidth, objective cycles, equal samples: 60'
    grep -q '^magma ' out
    test -s cells/002/schedule.yaml
}
schedules jobs.yaml --problem schedule --optimizer magma --optimizer random
schedules jobs.yaml --problem=schedule --optimizer magma --optimizer lpt --seed 1-2
schedules jobs.yaml --optimizer list_annealing:hot=0.2 --optimizer magma
schedules mix --select 1 --optimizer magma --optimizer random
schedules --quiet synthetic:10:1 --optimizer magma --optimizer random
schedules --jobs jobs.yaml --optimizer magma --optimizer random

# A value of another flag is no workload, and the flag wins over what would be found.
expect 0 "$MERCATOR" compare resnet18 --select 2 --optimizer random --optimizer annealing --budget 30 --quiet --no-report -o mix
rm -r mix
says out 'resnet18 on s256, loopnest, '
expect 0 "$MERCATOR" compare mix --problem map --select 2 --optimizer random --optimizer annealing --budget 30 --quiet \
    --no-report -o map
says out 'mix on s256, loopnest, '

# the platform tells the problem where only one can use it
expect 0 "$MERCATOR" compare resnet8 --platform diana --optimizer random --optimizer annealing --budget 30 --quiet --no-report -o split
says out 'resnet8 on diana, soc, '

expect 1 "$MERCATOR" compare mix --problem schedul --optimizer magma
one_line err
says err 'did you mean schedule'
expect 2 "$MERCATOR" schedule jobs.yaml --problem schedule
says err 'schedule has no option "problem"'
expect 0 "$MERCATOR" compare mix --help
says out '--problem NAME'
says out 'options of schedule:'
