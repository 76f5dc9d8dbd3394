# Files of Timeloop and MAESTRO: read, written, and read back with the same cost.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# scores FILE: the scores of all tasks of a summary, one per line.
scores()
{
    sed 's/.*"tasks":\[//' "$1" | grep -o '"score":[^,}]*'
}

# same FILE [ARGUMENT...]: evaluate prices what it holds as the run did (scores in `expected`).
same()
{
    expect 0 "$MERCATOR" evaluate "$@" --json
    scores out >found
    if ! cmp -s expected found; then
        echo "expected $1 to cost the same after reading it back:" >&2
        diff expected found >&2 || true
        exit 1
    fi
}

# a whole network as nests
expect 0 "$MERCATOR" map mobilenet_v2 --select 1-6 --axes exclusive --optimizer annealing --budget 2000 --quiet --json \
    --no-report -o nests
scores out >expected
test "$(wc -l <expected)" -eq 6
for file in nest.txt timeloop.map.yaml layers.csv stats.txt; do
    says out "\"$file\""
    test -s nests/$file
done
same nests/mapping.yaml
same nests/nest.txt
same nests/timeloop.map.yaml
expect 0 "$MERCATOR" inspect nests/layers.csv
says out '6 layers of 6 shapes'
says nests/stats.txt 'cycles are limited by'
says nests/layers.csv ',edp_pj_cycle,utilisation,traffic_bytes,bound_pj_cycle,bound_kind,' # the objective is edp
odd_names >names.net
expect 0 "$MERCATOR" map names.net --objective energy --optimizer random --budget 200 --quiet --no-report -o names
says names/layers.csv ',bound_pj,bound_kind,'
says names/layers.csv '"names","conv,1",CONV,'
says names/layers.csv '"names","a, ""b""",CONV,'
expect 0 "$MERCATOR" inspect names/layers.csv
says out '1  conv,1  conv'
says out '2  a, "b"  conv'

# one layer: the file is as timeloop-model takes it; options of the evaluator are kept
expect 0 "$MERCATOR" map mobilenet_v2 --select 2 --evaluator loopnest:axes=exclusive,halo=timeloop --optimizer annealing \
    --budget 2000 --quiet --json --no-report -o one
scores out >expected
same one/mapping.yaml
same one/nest.txt
same one/timeloop.map.yaml
test "$(grep -c '^problem:\|^mapping:' one/timeloop.map.yaml)" -eq 2

# padded loops
expect 0 "$MERCATOR" map mobilenet_v2 --select 2 --factors padded --optimizer random --budget 2000 --quiet --json \
    --no-report -o padded
scores out >expected
same padded/mapping.yaml
same padded/nest.txt

# directives
expect 0 "$MERCATOR" map mobilenet_v2 --select 1-4 --platform edge --evaluator datacentric --budget 500 --quiet --json \
    --no-report -o directives
scores out >expected
test -s directives/maestro.m
test ! -e directives/timeloop.map.yaml
same directives/mapping.yaml
same directives/maestro.m --platform edge

# a dim on both axes cannot be said, and is not said wrongly
cat >both.yaml <<'END'
constraints: [{target: GLB, type: spatial, factors: "M=64"}]
END
expect 0 "$MERCATOR" map vgg16 --select 2 --constraints both.yaml --optimizer random --budget 3000 --quiet --no-report -o both
says both/timeloop.map.yaml 'lies on both axes below GLB'
says both/timeloop.map.yaml 'map with --axes exclusive'
expect 1 "$MERCATOR" evaluate both/timeloop.map.yaml
says err 'Timeloop cannot say it'

# constraints: echoed, obeyed, checked, refused
cat >most.yaml <<'END'
mapspace_constraints:
  - {target: GLB, type: temporal, factors: "M<=2", permutation: CM}
  - {target: RF, type: datatype, keep: [Weights]}
END
expect 0 "$MERCATOR" map vgg16 --select 2 --constraints most.yaml --optimizer random --budget 500 --quiet --no-report -o most
says out 'constraints as understood:'
says out 'GLB: K<=2, innermost C K'
says out 'RF: keeps W'
says most/run.jsonl '"name":"constraints"'
cat >plan.yaml <<'END'
format: mercator-plan/1
problem: map
tasks:
  - op: {kind: conv, K: 32, C: 4, Y: 4, X: 4}
    nest: "DRAM: C4 Y4 X4 | GLB: K32 | RF:"
END
expect 0 "$MERCATOR" evaluate plan.yaml
expect 0 "$MERCATOR" evaluate plan.yaml --constraints most.yaml
says out 'infeasible: constraint: K at GLB is 32, at most 2'
cat >never.yaml <<'END'
constraints: [{target: GLB, type: temporal, factors: "M=7"}]
END
expect 1 "$MERCATOR" map vgg16 --select 2 --constraints never.yaml --budget 10 --quiet
says err 'constraint K=7 at GLB cannot hold: K is 64'
expect 0 "$MERCATOR" map vgg16 --select 2 --dataflow row --budget 200 --optimizer random --quiet --no-report -o row
says out 'GLB: R=1, S=1, R=1 on x, R=3 on y'

# nothing feasible: the reasons, the nearest miss, and a hint
cat >tiny.yaml <<'END'
format: mercator-platform/1
kind: pe-array
name: tiny
units: [{name: MAC, mac_pj: 1}]
memories:
  - {name: DRAM, access_pj: 200, keep: [W, I, O]}
  - {name: GLB, words: 2, access_pj: 6, keep: [W, I, O]}
END
expect 1 "$MERCATOR" map vgg16 --select 2 --platform tiny.yaml --optimizer random --budget 100 --quiet --no-report -o tiny
says err 'no feasible plan in 100 trials'
says err '100 of 100: capacity'
says err 'nearest miss of all: capacity: GLB needs 3 words, has 2'
says err 'hint: GLB needs room for 3 words at least'
expect 1 "$MERCATOR" map vgg16 --select 2 --platform tiny.yaml --optimizer exact --quiet --no-report -o tiny2
says err 'sampled points: capacity'

# sizes that are sums, as MAESTRO's own mappings have them, and its names of the hardware
cat >sums.m <<'END'
Network n { Layer L { Type: CONV Dimensions { K: 16, C: 8, R: 3, S: 3, Y: 18, X: 18 } Dataflow {
  TemporalMap(1,1) K; TemporalMap(1,1) C; SpatialMap(Sz(R),1) Y; TemporalMap(8+Sz(S)-1,8) X;
  Cluster(8,P); SpatialMap(Sz(S),1) X; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S; } } }
END
sed 's/8+Sz(S)-1/10/' sums.m >plain.m
expect 0 "$MERCATOR" evaluate sums.m --num-pes 64 --l1_size_cstr 512 --l2_size_cstr 65536 --noc_bw_cstr 16 --json
cp out sums
expect 0 "$MERCATOR" evaluate plain.m --num-pes 64 --l1-size 512 --l2-size 65536 --noc-bw 16 --json
test "$(number sums cycles)" = "$(number out cycles)"
expect 0 "$MERCATOR" evaluate sums.m --num-pes 64 --l1_size_cstr 4
says out 'capacity'

# machines of others
printf 'num_pes: 64\nl1_size_cstr: 512\nl2_size_cstr: 65536\nnoc_bw_cstr: 16\noffchip_bw_cstr: 8\n' >machine.m
expect 0 "$MERCATOR" inspect machine.m
says out 'fanout: {x: 64'
expect 0 "$MERCATOR" map vgg16 --select 2 --platform machine.m --evaluator datacentric --budget 100 --quiet --no-report -o hw
printf 'architecture: {version: 0.4, nodes: []}\n' >new.yaml
expect 1 "$MERCATOR" inspect new.yaml
says err 'architecture version 0.4'

# what spreadsheets of some countries and systems write
printf 'name;K;C;Y;X;R;S\na;32;16;8;8;3;3\n' >semicolon.csv
expect 1 "$MERCATOR" map semicolon.csv --quiet -o none
says err 'semicolon.csv:1:1: columns are separated by ";", expected ","'
printf '\377\376n\000a\000' >wide.csv
expect 1 "$MERCATOR" inspect wide.csv
says err 'wide.csv is UTF-16 text, expected UTF-8'
for file in pipedream.txt piper.json; do
    { printf '\357\273\277' && sed 's/$/\r/' "$MERCATOR_SOURCE_DIR/tests/data/place/$file"; } >marked-$file
    expect 0 "$MERCATOR" inspect marked-$file
done
