# `mercator schedule --jobs FILE --task NAME --group N`: other words for a network without a flag and --select.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >jobs.json <<'JSON'
{"format":"m3e-benchmark/1",
 "layer_table":[{"raw":[64,16,18,18,3,3,1]},{"raw":[128,64,1,1,1,1,0]},{"raw":[20,96,48,1,1,1,3]}],
 "tasks":{"even":{"groups":[[0,1,2,0,1,2],[2,2,1,1,0,0],[0,0,0,1,1,1]]},"odd":{"groups":[[0,1,2,2,1],[2,1,1,0,0]]}}}
JSON

# same WORDS... -- OTHERS...: both give the same log.
same()
{
    first=
    while [ "$1" != -- ]; do
        first="$first $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # the words are separate arguments
    expect 0 "$MERCATOR" schedule $first --optimizer magma --budget 300 --quiet --no-report -o one --force
    expect 0 "$MERCATOR" schedule "$@" --optimizer magma --budget 300 --quiet --no-report -o other --force
    cmp one/run.jsonl other/run.jsonl
}
same --jobs jobs.json --task even --group 1 -- jobs.json --select even:1
same --jobs=jobs.json --task=odd -- jobs.json --select odd
same --jobs jobs.json --group 3 -- jobs.json --select 3
same --jobs jobs.json --task even --groups 0..2 -- jobs.json --select even:0-2 --warm chain
same --jobs jobs.json --groups 1..3 --warm chain:5 -- jobs.json --select 1-3 --warm chain:5
# A task without a file is the built-in one.
same --task mix --group 1 -- mix --select 1
same mix --task mix --group 1 -- mix --select 1
same --task mix --groups 1..2 -- mix --select 1-2 --warm chain
same --jobs mix --group 2 -- mix --select 2

# refuses CODE TEXT ARGUMENT...: one line that has TEXT.
refuses()
{
    wanted_code=$1
    text=$2
    shift 2
    expect "$wanted_code" "$MERCATOR" schedule "$@" --budget 10 --quiet --no-report -o none --force
    one_line err
    is_silent out
    says err "$text"
}
refuses 2 'a network without a flag and --jobs say the same' jobs.json --jobs jobs.json
refuses 2 '--select and --task, --group or --groups say the same' jobs.json --select even:0 --task even
refuses 2 '--task is given twice, expected once' jobs.json --task even --task odd
refuses 2 '--group is given twice, expected once' jobs.json --group 0 --group 1
refuses 2 '--task is "mixx", expected --jobs FILE beside it or a built-in task: language, mix, recommendation, vision' \
    --task mixx
refuses 1 'there is no group "vision:0"' mix --task vision --group 0
refuses 2 '--group and --groups say the same' jobs.json --group 0 --groups 0..1
refuses 2 '--scenario and --select say the same' jobs.json --scenario even --select even
refuses 1 'there is no group "mix:0", expected one of 5 groups: even:0-2, odd:0-1' --jobs jobs.json --task mix --group 0
refuses 1 'there is no group "even:3"' --jobs jobs.json --task even --group 3
refuses 1 'there is no group "odd:7"' jobs.json --select even:0,odd:7
refuses 1 'there is no group "even:9" of the range "even:0-9", expected one of 5 groups: even:0-2, odd:0-1' jobs.json \
    --task even --groups 0..9
refuses 1 'there is no group "6" of the range "3-6"' jobs.json --select 3-6
# Numbers count from 1; those behind the name of a task are names that the file has.
same jobs.json --select even:0 -- jobs.json --select even:0
refuses 1 'there is no group "0", expected one of 5 groups' jobs.json --select 0
refuses 1 'there is no group "0" of the range "0-2"' mix --select 0-2
expect 0 "$MERCATOR" schedule jobs.json --select 1 --optimizer random --budget 10 --quiet --no-report -o first --force
says out 'even:0 '
refuses 1 '--group is "0..2", expected a whole number from 1' jobs.json --group 0..2
refuses 1 '--group is "-1", expected a whole number from 1' jobs.json --group -1
refuses 1 '--groups is "2..0", expected FIRST..LAST such as 1..9' jobs.json --groups 2..0
refuses 1 '--groups is "3", expected FIRST..LAST such as 1..9' jobs.json --groups 3
refuses 1 '--groups is "0..1", expected FIRST..LAST such as 1..9' mix --groups 0..1
refuses 1 '--group is "x", expected a whole number from 0' jobs.json --task even --group x
refuses 1 'there is no group "mix:0", expected one of 97 groups: 1-97' mix --select mix:0
# Other problems do not have them.
expect 2 "$MERCATOR" map resnet18 --task even
says err 'map has no option "task"'
expect 0 "$MERCATOR" schedule --help
says out '--task NAME'

# A stopped run goes on with them, and options are tuned on them.
expect 0 "$MERCATOR" schedule --resume one --quiet --no-report
expect 0 "$MERCATOR" schedule --jobs jobs.json --task even --group 0 --tune magma --test jobs.json --tune-settings 2 \
    --tune-seeds 1 --budget 100 --quiet --json -o tuned

# All of them at once: the usual command on a benchmark in M3E's form.
expect 0 "$MERCATOR" schedule --jobs "$MERCATOR_SOURCE_DIR/tests/data/own-benchmark.json" --task blend --group 0 \
    --platform s2 --bandwidth 16 --table m3e-compat --share proportional --optimizer magma --objective cycles \
    --budget 10000 --seed 1 --threads 8 -o run --force
says out 'blend:0 '
says out '16 bytes/cycle shared by 4 cores'
says out '10000 evaluations'
