# Hardware sweeps: every combination is run, the trade-offs are marked, bad paths are named.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# marked FILE COLUMN: how many rows have a 1 in that column.
marked()
{
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } $at == 1' "$1" | wc -l
}

expect 0 "$MERCATOR" map resnet18 --select 4 --sweep memories.GLB.words=16Ki,64Ki --sweep memories.GLB.fanout.x=8,16 \
    --budget 300 --quiet -o sweep
says out 'memories.GLB.words=16Ki memories.GLB.fanout.x=8'
says out '* nothing in the sweep beats it'
test "$(wc -l <sweep/sweep.csv)" -eq 5
grep -q ',65536,16,' sweep/sweep.csv # numbers, as spreadsheets know them
test -s sweep/004/run.jsonl
test -s sweep/report.html

cat >sweep.yaml <<'YAML'
format: mercator-experiment/1
workload: resnet18
problem: {name: map, select: 4}
platform: s256
sweep: {memories.GLB.words: [16Ki, 64Ki], memories.GLB.fanout.x: [8, 16]}
budget: 300
YAML
expect 0 "$MERCATOR" map sweep.yaml --quiet -o file
cmp sweep/sweep.csv file/sweep.csv

expect 1 "$MERCATOR" map resnet18 --sweep memories.GLX.words=1 --quiet -o none
says err 'GLX'
expect 1 "$MERCATOR" map resnet18 --sweep memories.GLB.words --quiet -o none
says err 'expected PATH=VALUE'

# the objective has a column where it is none of the usual ones
expect 0 "$MERCATOR" schedule synthetic:20:1 --objective makespan --sweep memories.DRAM.bytes_per_cycle=4,8 \
    --optimizer random --budget 50 --quiet --no-report -o makespan
grep -q 'energy .* makespan .* gap$' out
test "$(grep -c 's  *[0-9.]* %$' out)" -eq 2
grep -q ',objective \[s\],knee,' makespan/sweep.csv

# ranges: factors and steps, from the command line and from a file
expect 0 "$MERCATOR" map resnet18 --select 4 --sweep memories.GLB.words=4Ki..256Ki:x2 --optimizer annealing --budget 3000 \
    --quiet --no-report -o range
test "$(cut -d, -f3 range/sweep.csv | tr '\n' ' ')" = 'memories.GLB.words 4096 8192 16384 32768 65536 131072 262144 '
# the knee is marked once, in the table and in the file, which names the units
test "$(grep -c '^> ' out)" -eq 2
grep -q '^> the knee: memories.GLB.words=[0-9]*Ki, ' out
test "$(marked range/sweep.csv knee)" -eq 1
says range/sweep.csv ',energy [pJ],edp [pJ.cycle],gap [1],on_front,objective [pJ.cycle],knee'
# a straight curve that rises has no knee, whichever end is named first; where more is better, a rising one has
for values in 100..400:+100 400,300,200,100; do
    expect 0 "$MERCATOR" map resnet18 --select 2 --sweep memories.DRAM.access_pj=$values --objective energy --quiet --no-report \
        -o "rise-$values"
    lacks 'the knee' out
    test "$(marked "rise-$values/sweep.csv" knee)" -eq 0
done
expect 0 "$MERCATOR" map resnet18 --select 2 --sweep memories.DRAM.words_per_cycle=0.25..8:x2 --objective utilisation \
    --optimizer annealing --budget 2000 --quiet --no-report -o more
says out '> the knee: memories.DRAM.words_per_cycle='
cat >steps.yaml <<'YAML'
format: mercator-experiment/1
workload: resnet18
problem: {name: map, select: 4}
platform: s256
optimizer: random
sweep: {memories.GLB.fanout.x: 4..12:+4, memories.GLB.words: [16Ki, 32Ki..64Ki:x2]}
budget: 300
YAML
expect 0 "$MERCATOR" map steps.yaml --quiet --no-report -o steps
test "$(cut -d, -f3,4 steps/sweep.csv | tail -n +2 | tr '\n' ' ')" = \
    '4,16384 4,32768 4,65536 8,16384 8,32768 8,65536 12,16384 12,32768 12,65536 '
# every second value does not divide the range: the last one is left out
expect 0 "$MERCATOR" map resnet18 --select 4 --sweep memories.GLB.words=16Ki..100Ki:x2 --optimizer random --budget 300 \
    --quiet --no-report -o short
test "$(tail -n 1 short/sweep.csv | cut -d, -f3)" = 65536
for range in 16Ki..512Ki 16Ki..512Ki:2 512..16:x2 1..8:x1 0..8:x2 1..8:+0 a..b:x2 ..8:x2; do
    expect 1 "$MERCATOR" map resnet18 --sweep "memories.GLB.words=$range" --quiet -o none
    one_line err
    says err "the range \"$range\""
done
expect 1 "$MERCATOR" map resnet18 --sweep memories.GLB.words=1..100000:+1 --quiet -o none
says err 'more than 10000 values'

# so do words per cycle, which inspect shows where a file says bytes or seconds
for rate in bytes_per_cycle words_per_cycle bytes_per_s; do
    expect 0 "$MERCATOR" schedule synthetic:20:1 --sweep memories.DRAM.$rate=4G,8G --optimizer random --budget 50 --quiet --no-report \
        -o rate-$rate
done
# words take the place of bytes; the first of equals is marked, names that are not there come with those that are
sed 's/name: GLB, words: 65536/name: GLB, bytes: 128Ki/' "$MERCATOR_SOURCE_DIR/platforms/s256.yaml" >bytes.yaml
expect 0 "$MERCATOR" map resnet18 --select 4 --platform ./bytes.yaml --sweep memories.GLB.words=64Ki,64Ki --quiet --no-report
test "$(grep -c '^\*' out)" -eq 2 # one row, and what the mark means
test -s runs/map-resnet18-s256-edp-exact_nest-1-sweep/sweep.csv
expect 1 "$MERCATOR" map resnet18 --sweep GLB.words=16Ki,32Ki --quiet -o none
says err 'GLB is one of the memories, did you mean memories.GLB.words'
expect 1 "$MERCATOR" map resnet18 --sweep memories.L3.words=16Ki,32Ki --quiet -o none
says err 'L3 is not there, expected DRAM, GLB, RF'
# only keys that a sweep can change are offered; nor can one take another base
expect 1 "$MERCATOR" map resnet18 --sweep foo=1,2 --quiet -o none
says err 'unknown key "foo", expected kind, name, summary, source, clock_hz, word_bits, calibrated, memories, classes or units'
expect 1 "$MERCATOR" map resnet18 --sweep extends=s256,eyeriss-like --quiet -o none
says err 'unknown key "extends"'

# Stars and knees are of one network and one objective; seeds are one row of medians.
expect 0 "$MERCATOR" map resnet18 alexnet --select 1 --sweep memories.GLB.words=16Ki..128Ki:x2 --budget 2000 --quiet \
    --no-report -o networks
grep -q '^>*\* .* resnet18 ' out
grep -q '^>*\* .* alexnet ' out
says out '> the knee of resnet18: memories.GLB.words=32Ki, '
says out '> the knee of alexnet: memories.GLB.words=32Ki, '
says out 'of the same network, evaluator and objective'
test "$(marked networks/sweep.csv knee)" -eq 2
expect 0 "$MERCATOR" map resnet18 --select 1 --sweep memories.GLB.words=16Ki,32Ki --objective energy --objective cycles \
    --seed 1-3 --optimizer random --budget 300 --quiet --no-report -o seeds
grep -q 'platform .* objective  *seeds ' out
test "$(grep -c '  cycles  *3  ' out)" -eq 2
says out 'medians over the seeds'
test "$(grep -c ',[123],"energy","loopnest",300,"s256"$' seeds/sweep.csv)" -eq 6
# Options of an evaluator make another group, which has its own star; table and file tell them apart.
expect 0 "$MERCATOR" map resnet18 --select 2 --sweep memories.GLB.words=8Ki,16Ki,32Ki --evaluator loopnest \
    --evaluator loopnest:ramp=true --optimizer annealing --optimizer annealing:chains=3 --budget 300 --seed 1-2 --quiet \
    --no-report -o options
grep -q '^>*\* .* loopnest ' out
grep -q '^>*\* .* loopnest:ramp=true ' out
says out '> the knee of loopnest, annealing:chains=3: '
says out '> the knee of loopnest:ramp=true, annealing:chains=3: '
test "$(grep '^>* *\**  *s256 ' out | sed 's/^[>* ]*//' | awk '{ print $1, $2, $3, $4, $5 }' | sort | uniq -d | wc -l)" -eq 0
test "$(grep -c '^"resnet18","annealing:chains=3",.*,"loopnest:ramp=true",300,"s256"$' options/sweep.csv)" -eq 6
# So do those of a network; the platform that is swept stands in the file, too.
expect 0 "$MERCATOR" map resnet18:select=2 resnet18:select=12 --sweep memories.DRAM.words_per_cycle=0.25,1,4 --platform s256 \
    --platform eyeriss-like --optimizer random --budget 300 --quiet --no-report -o parts
grep -q '^>*\* .* resnet18:select=2 ' out
grep -q '^>*\* .* resnet18:select=12 ' out
says out '> the knee of resnet18:select=2: s256 memories.DRAM.words_per_cycle=1, '
test "$(grep -c '^"resnet18:select=12","random",.*,"eyeriss-like"$' parts/sweep.csv)" -eq 3
# Where some seeds found no plan, the row says how many did.
expect 1 "$MERCATOR" map resnet18 --select 2 --sweep memories.RF.words=64,256 --optimizer random --budget 45 --seed 1-3 --quiet \
    --no-report -o some
found=$(awk -F, '$3 == 64 && $4 != ""' some/sweep.csv | wc -l)
test "$found" -gt 0 && test "$found" -lt 3
grep -q "memories.RF.words=64 .* random  *$found of 3  " out
# The line of a run is whole, however long its folder is called, and tells its layers.
long=$(printf '%0200d' 0)
long=$long/$long/$long/$long/$long
expect 0 "$MERCATOR" map resnet18:select=2 --sweep memories.GLB.words=16Ki,32Ki --optimizer random --budget 300 --quiet --no-report \
    -o "$long"
grep -q "^$long/002: resnet18:select=2 on s256 memories.GLB.words=32Ki, random, seed 1: edp .*, gap .* %$" out
# A value without a plan says why, also when it is asked again.
for turn in first second; do
    expect 1 "$MERCATOR" map resnet18 --select 2 --sweep memories.GLB.words=1,64Ki --quiet --no-report -o none
    one_line err
    grep -q '^mercator: none/001: no feasible plan for [^ ]*conv1[^ ]* of resnet18: [a-z-]*: .* needs ' err
done
# A sweep.csv that no sweep has written stays.
mkdir mine
for text in 'my own numbers' ''; do
    echo "$text" >mine/sweep.csv
    cp mine/sweep.csv kept
    expect 0 "$MERCATOR" map resnet18 --select 2 --sweep memories.GLB.words=32Ki,64Ki --quiet --no-report -o mine
    says err 'mine/sweep.csv stays as it is: it is not a table of ours'
    says out 'nothing in the sweep beats it'
    cmp mine/sweep.csv kept
done
rm mine/sweep.csv
for turn in first second; do
    expect 0 "$MERCATOR" map resnet18 --select 2 --sweep memories.GLB.words=32Ki,64Ki --quiet --no-report -o mine
    is_silent err
    test "$(wc -l <mine/sweep.csv)" -eq 3
done
# Where every run fails, nothing but that is said.
sed 's/ access_pj: [0-9]*,//; s/, mac_pj: [0-9.]*//' "$MERCATOR_SOURCE_DIR/platforms/s256.yaml" >free.yaml
expect 1 "$MERCATOR" map resnet18 --select 2 --platform ./free.yaml --optimizer random --objective edp \
    --sweep memories.GLB.words=32Ki,64Ki --quiet --no-report -o failed
is_silent out
test "$(wc -l <err)" -eq 2
says err "mercator: failed/001: objective edp"
says err "1 more run failed in the same way"
