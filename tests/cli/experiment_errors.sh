# Experiment files: whatever is wrong with a value, the message opens with FILE:LINE:COLUMN of that value.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >good.yaml <<'YAML'
format: mercator-experiment/1
name: places
problem:
  name: map
  select: "1"
  genome: primes
workload: [resnet18, alexnet]
platform:
  - s256
  - extends: edge
    name: wide
    memories:
      - {name: L2, fanout: {x: 128}}
evaluator: {name: loopnest, halo: shared}
optimizer:
  - annealing
  - name: genetic
    population: 20
objective: [edp, energy]
seed: [1, 2-3]
budget: 2000
pareto: [energy, cycles]
YAML

# wrong SED PLACE TEXT
wrong()
{
    sed "$1" good.yaml >bad.yaml
    rm -rf never
    expect 1 "$MERCATOR" map bad.yaml --quiet --no-report -o never
    one_line err
    says err "mercator: bad.yaml:$2: "
    says err "$3"
}

expect 0 "$MERCATOR" map good.yaml --quiet --no-report -o good

# a gap in percent, as on the command line
sed 's/^pareto:.*/gap: 5%/' good.yaml >percent.yaml
expect 0 "$MERCATOR" map percent.yaml --quiet --no-report -o percent
says percent/001/run.jsonl '"gap":0.05'
wrong 's/^pareto:.*/gap: -5%/' 22:6 'gap is "-5%", expected'

# A list of layers is a list for the whole problem, too.
sed 's/select: "1"/select: [1]/' good.yaml >list.yaml
expect 0 "$MERCATOR" map list.yaml --quiet --no-report -o listed
cmp good/001/run.jsonl listed/001/run.jsonl
wrong 's/alexnet/alexnte/' 7:22 'did you mean alexnet'
wrong 's/alexnet/"alexnet:genme=primes"/' 7:22 'genme'
wrong 's/- s256/- s265/' 9:5 's265'
wrong 's/name: L2, fanout: {x: 128}/name: L2, fanout: {x: -1}/' 13:32 'fanout.x is -1'
wrong 's/memories:/memorys:/' 12:5 'did you mean "memories"'
wrong 's/halo: shared/halo: sahred/' 14:35 'halo is "sahred"'
wrong 's/name: loopnest/name: lopnest/' 14:12 'did you mean loopnest'
wrong 's/- annealing/- anealing/' 16:5 'did you mean annealing'
wrong 's/population: 20/population: 0/' 18:17 'population is 0'
wrong 's/population: 20/populaton: 20/' 18:16 'did you mean "population"'
wrong 's/\[edp, energy\]/[edp, engery]/' 19:18 'did you mean energy'
wrong 's/2-3/2-x/' 20:11 'seed is "2-x"'
wrong 's/budget: 2000/budget: 0/' 21:9 'budget is "0"'
wrong 's/energy, cycles\]/energy, cylces]/' 22:9 'cylces'
wrong 's/genome: primes/genome: prims/' 6:11 'genome is "prims"'
wrong 's/genome: primes/genme: primes/' 6:10 'did you mean "genome"'
wrong 's/budget: 2000/threads: many/' 21:10 'threads is "many"'

# sweeps: the platform or the sweep, whichever is wrong
cat >good.yaml <<'YAML'
format: mercator-experiment/1
problem: {name: map, select: "1"}
workload: resnet18
platform: s256
budget: 20
optimizer: random
sweep: {memories.GLB.words: [16Ki, 32Ki]}
YAML
wrong 's/s256/s265/' 4:11 's265'
wrong 's/GLB/GBL/' 7:29 'GBL'

# the command line wins, and has no place
sed 's/s256/s265/' good.yaml >bad.yaml
expect 1 "$MERCATOR" map bad.yaml --platform s526 --quiet
one_line err
says err 's526'
if grep -q ':4:' err; then
    cat err >&2
    exit 1
fi

# what only a run can see is said once for all seeds, with its place where it is known
cat >good.yaml <<'YAML'
format: mercator-experiment/1
problem: {name: map, select: [2]}
workload:
  - {name: resnet18, genome: primes}
optimizer: [random, {name: marl, agents: 1}]
seed: 1-3
budget: 300
YAML
wrong 's/agents: 1/agents: many/' 5:21 'marl: agents is "many"'
wrong 's/select: \[2\]/select: [99]/' 2:30 '--select is "99"'
wrong 's/genome: primes/select: 99/' 4:5 '--select is "99"'
rm -rf never
expect 1 "$MERCATOR" map resnet18 --select 99 --optimizer random --budget 20 --seed 1-3 --quiet --no-report -o never
says err 'mercator: never/001: --select is "99"'
says err 'mercator: 2 more runs failed in the same way'

# a file of another kind where a network is expected
sed '/^format:/d' good.yaml >bare.yaml
expect 1 "$MERCATOR" map bare.yaml --quiet
one_line err
says err 'bare.yaml: no line "format:", an experiment begins with "format: mercator-experiment/1"'
expect 1 "$MERCATOR" map "$MERCATOR_SOURCE_DIR/platforms/s256.yaml" --quiet
one_line err
says err 's256.yaml is a platform, expected a network; platforms go to --platform'
