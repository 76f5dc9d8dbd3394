# What people write in more than one way: names of metrics in any case, options of an optimizer as flags, sizes in JSON.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv
map="$MERCATOR map net.csv --select 1 --platform s256 --optimizer random --budget 100 --quiet --no-report"

# EDP is edp, in the log and in the name of the folder, too.
expect 0 $map --objective edp -o lower
expect 0 $map --objective EDP -o upper
cmp lower/run.jsonl upper/run.jsonl
expect 0 $map --objective 'Max:Utilisation' -o most
expect 0 $map --objective 'Energy^0.5*CYCLES' -o product
says product/run.jsonl '"objective":"energy^0.5*cycles"'
expect 0 $map --pareto Energy,Cycles -o front
expect 0 "$MERCATOR" evaluate lower/mapping.yaml --objective Energy --json
says out '"score":'
expect 0 "$MERCATOR" report lower most --metrics Energy,GAP
says out 'energy'
expect 1 $map --objective EDPP -o none
says err 'did you mean edp'
cat >experiment.yaml <<'YAML'
format: mercator-experiment/1
workload: net.csv
problem: {name: map, select: 1}
platform: s256
optimizer: random
objective: [EDP, Energy]
budget: 100
YAML
expect 0 "$MERCATOR" map experiment.yaml --quiet --no-report -o cells
cmp lower/mapping.yaml cells/001/mapping.yaml

# An option of an optimizer is no flag: how it is written is said, of the optimizer that was asked for, in any order.
expect 2 "$MERCATOR" map net.csv --hot 0.5
one_line err
says err 'but optimizer annealing has: --optimizer annealing:hot=0.5'
expect 2 "$MERCATOR" map net.csv --population 20 --optimizer gamma
says err '--optimizer gamma:population=20'
expect 2 "$MERCATOR" map net.csv --objectiv edp
says err 'did you mean "objective"'

# JSON has no other way to write 64Ki than in quotes.
cat >platform.json <<'JSON'
{"format": "mercator-platform/1", "kind": "pe-array", "name": "own", "clock_hz": "1G", "units": [{"name": "MAC"}],
 "memories": [{"name": "DRAM", "words_per_cycle": 16, "keep": ["W", "I", "O"]},
  {"name": "GLB", "words": "64Ki", "words_per_cycle": 32, "keep": ["W", "I", "O"], "fanout": {"x": 16, "y": 16}},
  {"name": "RF", "words": 256, "words_per_cycle": 4, "keep": ["W", "I", "O"]}]}
JSON
own="$MERCATOR map net.csv --select 1 --optimizer random --budget 100 --objective cycles --quiet --no-report"
sed 's/"64Ki"/65536/; s/"1G"/1000000000/' platform.json >plain.json
for platform in platform.json "$(cat platform.json)"; do
    expect 0 $own --platform "$platform" -o json --force
    expect 0 $own --platform plain.json -o plain --force
    cmp json/mapping.yaml plain/mapping.yaml
done
sed 's/256/"256"/' platform.json >quoted.json # a text, as before
expect 1 $own --platform quoted.json -o none
says err 'memories[2].words is "256", expected an integer'
