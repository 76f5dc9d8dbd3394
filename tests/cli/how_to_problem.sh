# The how-to's problem is tests/example, word for word; it builds inside and outside the tree and has every verb.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
source=$MERCATOR_SOURCE_DIR
guide=$source/docs/how-to-add-a-problem.md

# block FILE: the blocks of the page that make up FILE, an empty line between them.
block()
{
    awk -v file="$1" '/^```/ { on = !on && $2 == file; if (on && count++) print ""; next } on' "$guide"
}

for file in assign.c main.c; do
    if ! block $file | cmp - "$source/tests/example/$file"; then
        echo "expected the blocks $file of docs/how-to-add-a-problem.md to be tests/example/$file" >&2
        exit 1
    fi
done
block parcels.yaml >parcels.yaml
test -s parcels.yaml

flags="-std=c11 -Wall -Wextra -Wpedantic -Werror $MERCATOR_TEST_FLAGS"
libraries=$(PKG_CONFIG_PATH=$MERCATOR_BUILD_DIR pkg-config --static --libs mercator | tr ' ' '\n' | grep -v -e '^-lmercator$' -e '^-L' -e '^-lgfortran$')

# Outside the tree: the public headers and the library.
"$CC" $flags -I"$source/include" -c "$source/tests/example/assign.c" -o assign.o
"$CC" $flags -I"$source/include" assign.o "$source/tests/example/main.c" "$MERCATOR_BUILD_DIR/libmercator.a" \
    $libraries -o mercator-assign

# Inside the tree: the lines of the page in the registry, and Mercator's own main.
awk '
    FNR == NR && /^```registry$/ { on = 1; next }
    FNR == NR && /^```$/ { on = 0 }
    FNR == NR { if (on) line[$1] = "    " $2 " \\"; next }
    { print }
    /^#define [A-Z_]*\(X\) \\$/ { list = $2; sub(/\(X\)$/, "", list); if (list in line) print line[list] }
' "$guide" "$source/src/registry.c" >registry.c
test "$(diff "$source/src/registry.c" registry.c | grep -c '^>')" -eq 6
"$CC" $flags -D_POSIX_C_SOURCE=200809L -I"$source/include" -I"$source/src" assign.o registry.c "$source/src/cli/main.c" \
    "$MERCATOR_BUILD_DIR/libmercator.a" $libraries -o mercator-inside

mkdir -p tree/include tree/src/assign
cp -r "$source/include/mercator" tree/include
cp "$source/tests/example/assign.c" tree/src/assign
sh "$source/tools/check_includes.sh" tree

# costs FILE: every makespan and energy in FILE, in their order.
costs()
{
    grep -oE '"(makespan|energy)":[^,}]*' "$1"
}

# same_costs A B
same_costs()
{
    costs "$1" >costs.a
    costs "$2" >costs.b
    if ! test -s costs.a || ! cmp costs.a costs.b; then
        echo "expected the same costs in $1 and $2" >&2
        exit 1
    fi
}

# Everything the page shows works.
sed -n 's/^\$ //p' "$guide" >commands
test "$(wc -l <commands)" -ge 7
while read -r command; do
    expect 0 $command
done <commands

for program in ./mercator-assign ./mercator-inside; do
    expect 0 $program list problems
    says out 'assign: which bin takes which item'
    expect 0 $program list evaluators
    grep -q '^bins  *bins work side by side' out
    expect 0 $program list solvers
    grep -q '^exact_assign  *assign  *branch and bound' out
    expect 0 $program list exporters
    says out 'labels.json: the bin of each item'
    expect 0 $program list formats
    says out 'items and bins (mercator-assign/1)'
    expect 0 $program assign parcels.yaml --optimizer exact --quiet --no-report -o inside
    cmp inside/run.jsonl exact/run.jsonl
done
m=./mercator-assign

# Searches: two tasks, no platform; the solver proves what the others find.
expect 0 $m assign --help
if grep -q -e '--platform' out; then
    echo "expected no --platform in the help of a problem that uses none" >&2
    exit 1
fi
for optimizer in random genetic annealing exact; do
    expect 0 $m assign parcels.yaml --optimizer $optimizer --quiet --json --no-report -o with-$optimizer
    says out '"tasks":[{"name":"monday","count":1'
    says out '{"name":"tuesday","count":4'
    says out '"best":{"score":35.25,"feasible":true'
done
says out '"gap":0,"proven":true'
grep -q '"proven":false' with-random/summary.json
expect 0 $m assign parcels.yaml --optimizer exact:nodes=10 --quiet --json --no-report -o cut
grep -q '"proven":false' cut/summary.json
expect 0 $m assign parcels.yaml --quiet --no-report -o plain
says out 'assign parcels, annealing, objective makespan, seed 1'
expect 0 $m assign parcels.yaml --objective energy --pareto makespan,energy --quiet --no-report -o front
expect 0 $m assign parcels.yaml --warm exact --fix bin.box=1 --quiet --no-report -o warm
expect 0 $m assign parcels.yaml --tune genetic --tune-settings 3 --budget 20 --quiet -o tuned
says out 'parcels   tuesday'

# Several runs, one page.
expect 0 $m compare parcels.yaml --problem assign --optimizer genetic --optimizer annealing --seed 1-2 --quiet -o compared
says out 'parcels, bins, objective makespan, equal samples: 2000'
test "$(grep -cE '^(genetic|annealing) +2 ' out)" -eq 2
test -s compared/comparison.json
test -s compared/report.html
cp parcels.yaml other.yaml
expect 0 $m assign parcels.yaml other.yaml --quiet --no-report -o several
says out 'several/002: other, annealing, seed 1: makespan 35.25 s'

# Killed in the middle and resumed: the log of a run that was never stopped.
set -- assign parcels.yaml --optimizer genetic --budget 300000 --quiet --no-report
expect 0 $m "$@" -o whole
$m "$@" -o killed >/dev/null 2>&1 &
pid=$!
tries=0
while [ "$(wc -c 2>/dev/null <killed/run.jsonl || echo 0)" -lt 1000000 ] && [ $tries -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 $pid
wait $pid 2>/dev/null || true
if grep -q '"type":"summary"' killed/run.jsonl; then
    echo "the run ended before it could be killed: give it a larger budget" >&2
    exit 1
fi
expect 0 $m assign --resume killed --quiet --no-report
cmp whole/run.jsonl killed/run.jsonl
cmp whole/assignment.yaml killed/assignment.yaml

# Reports.
expect 0 $m report run -o run.html
says run.html '"panel":"bars","id":"loads","title":"Bins"'
says run.html '{"name":"van","values":['
expect 0 $m report run --csv run.csv
test "$(wc -l <run.csv)" -gt 100

# Plan files and files of the exporter are priced with the same bits; a proof is kept.
expect 0 $m evaluate run/assignment.yaml --json
cp out evaluated
same_costs evaluated run/summary.json
expect 0 $m evaluate exact/assignment.yaml
says out 'recorded in the plan file'
expect 0 $m evaluate exact/assignment.yaml --json --export labels=again.json
cp out evaluated
cmp labels.json again.json
same_costs evaluated exact/summary.json
expect 0 $m evaluate labels.json --json
cp out read-back
same_costs evaluated read-back
expect 0 $m assign parcels.yaml --optimizer exact --export labels --quiet --no-report -o inside
cmp labels.json inside/labels.json

# fails TEXT COMMAND...: exit code 1 and one line with TEXT.
fails()
{
    text=$1
    shift
    expect 1 "$@"
    one_line err
    says err "mercator: $text"
}

# wrong TEXT SCRIPT: an input changed by SCRIPT is refused with TEXT.
wrong()
{
    sed "$2" parcels.yaml >wrong.yaml
    fails "wrong.yaml:$1" $m assign wrong.yaml
}
wrong '4:29: bins.car.capacity is -20, expected a number in 0 ..' 's/capacity: 20/capacity: -20/'
wrong '4:9: unknown key "sped" in bins.car, did you mean "speed"' 's/speed: 3/sped: 3/'
wrong '8:30: loads.tuesday.items is a map, expected at least one item' 's/{piano.*/{}}/'
wrong '8:38: loads.tuesday.items.piano is "heavy", expected a number' 's/piano: 30/piano: heavy/'
wrong '1:9: format is "mercator-assign/2"' 's,assign/1,assign/2,'
fails 'resnet18 has no items, expected a file with `format: mercator-assign/1`' $m assign resnet18
fails 'parcels has no layer with multiplications to map' $m map parcels.yaml
fails 'assign uses no platform, found s256' $m assign parcels.yaml --platform s256
fails 'assign uses no platform, found a sweep over memories.GLB.words' $m assign parcels.yaml --sweep memories.GLB.words=1,2
fails 'exact_assign solves objective makespan of evaluator bins only' $m assign parcels.yaml --optimizer exact --objective energy
fails 'exact_assign cannot work with fixed knobs' $m assign parcels.yaml --optimizer exact --fix bin.box=1
fails 'exact_assign solves problem assign, found schedule' $m schedule synthetic:5:1 --objective makespan --optimizer exact_assign
fails 'exact_nest solves problem map, found assign' $m assign parcels.yaml --optimizer exact_nest
fails 'exporter labels writes plans of assign, not of map' $m map resnet18 --export labels
fails 'assign has no options, found "colour"' $m evaluate exact/assignment.yaml --colour red
fails 'assign uses no platform, found s256' $m evaluate exact/assignment.yaml --platform s256

sed 's/\["car"/["cart"/' exact/assignment.yaml >wrong.yaml
fails 'wrong.yaml:14:12: tasks[0].bins[0] is "cart", expected van, car or bike, did you mean "car"' $m evaluate wrong.yaml
sed 's/"desk":"van",//' labels.json >wrong.json
fails 'wrong.json:1:44: loads.monday has no key "desk"' $m evaluate wrong.json
sed 's/\("crate":"[a-z]*"\)/\1,"vase":"van"/' labels.json >wrong.json
fails 'wrong.json:1:59: unknown key "vase" in loads.monday' $m evaluate wrong.json
echo '{"loads":{}}' >wrong.json
fails 'wrong.json: found no `format: mercator-plan/1`, nor what another plan has' $m evaluate wrong.json
fails 'nowhere.yaml: no such file' $m evaluate nowhere.yaml
sed 's/piano: 30/piano: 31/' parcels.yaml >other.yaml
expect 1 $m evaluate exact/assignment.yaml --workload other.yaml
says err 'but other.yaml now has content'

# Nothing fits: reasons, no plan, exit code 1.
sed 's/capacity: [0-9]*/capacity: 0.5/' parcels.yaml >tight.yaml
for optimizer in random annealing exact; do
    expect 1 $m assign tight.yaml --optimizer $optimizer --budget 50 --quiet -o tight-$optimizer
    says err 'task monday: no feasible plan in'
    says err 'nearest miss of all: capacity: '
    test ! -e tight-$optimizer/assignment.yaml
done
