# Files of a placement for other tools, and splits of other tools back: priced alike, refused with what is wrong.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
data=$MERCATOR_SOURCE_DIR/tests/data/place

expect 0 "$MERCATOR" place "$data/tiny-training.json" --optimizer random --budget 300 --quiet --no-report -o run \
    --export device_map --export ort_nodes --export ort_islands --export llama_override
for file in device_map.json ort_nodes.json ort_islands.json llama_override.txt trace.json placement.yaml; do
    test -s run/$file
done
says run/llama_override.txt "--override-tensor '^"
says run/ort_nodes.json '{"node":"block0.op0","provider":'
says run/trace.json '"ph":"X"'
says out 'busiest unit '
says out 'what if, same placement:'
says out 'for this placement (has 3.200 MB)'

# The placement as an expert split: the same price.
ids_of()
{
    sed -n 's/.*"id":\([0-9]*\),.*"unit":"'"$1"'".*/\1/p' run/placement.yaml | paste -s -d ,
}
# split ACC0 ACC1 ACC2 CPU [ACC3]: ids of each unit.
split()
{
    printf '{"fpgas": [{"nodes": [%s]}, {"load": -1, "nodes": [%s]}, {"nodes": [%s]}, {"nodes": [%s]}], "cpus": [{"nodes": [%s]}], "maxLoad": -1}\n' \
        "$1" "$2" "$3" "${5:-}" "$4"
}
period=$(number run/summary.json period)
split "$(ids_of acc0)" "$(ids_of acc1)" "$(ids_of acc2)" "$(ids_of cpu0)" >split.json
expect 0 "$MERCATOR" evaluate split.json --workload "$data/tiny-training.json" --json
test "$(number out period)" = "$period"
expect 0 "$MERCATOR" evaluate run/placement.yaml --json
test "$(number out period)" = "$period"
# The platform is the one that the graph implies, without the file beside the plan.
mkdir alone
cp run/placement.yaml alone
expect 0 "$MERCATOR" evaluate alone/placement.yaml --json
test "$(number out period)" = "$period"

# Backward operators, whose ids are above 1000, follow their classes.
forward()
{
    ids_of "$1" | tr ',' '\n' | awk '$1 < 1000' | paste -s -d ,
}
split "$(forward acc0)" "$(forward acc1)" "$(forward acc2)" "$(forward cpu0)" >forward.json
expect 0 "$MERCATOR" evaluate forward.json --workload "$data/tiny-training.json" --json
test "$(number out period)" = "$period"

# More accelerators than exist: refused, and priced on request.
first=$(forward acc0 | cut -d , -f 1)
split "$(forward acc0 | cut -d , -f 2-)" "$(forward acc1)" "$(forward acc2)" "$(forward cpu0)" "$first" >four.json
expect 0 "$MERCATOR" evaluate four.json --workload "$data/tiny-training.json"
says out 'infeasible: devices: uses 4 accelerators, 3 exist'
if grep -q '^  period' out; then
    echo "priced unasked" >&2
    exit 1
fi
expect 0 "$MERCATOR" evaluate four.json --workload "$data/tiny-training.json" --price-infeasible true
says out 'infeasible: devices: uses 4 accelerators, 3 exist'
grep -q '^  period ' out

# What is wrong is said in one line.
wrong()
{
    expect 1 "$MERCATOR" evaluate "$2" --workload "$data/tiny-training.json"
    one_line err
    says err "$1"
}
expect 1 "$MERCATOR" evaluate split.json
one_line err
says err 'give --workload FILE'
split "$(ids_of acc0),$first" "$(ids_of acc1)" "$(ids_of acc2)" "$(ids_of cpu0)" >twice.json
wrong 'expected every node once' twice.json
split "$(ids_of acc0),77777" "$(ids_of acc1)" "$(ids_of acc2)" "$(ids_of cpu0)" >unknown.json
wrong 'expected the id of a node of tiny-training' unknown.json
split "" "$(ids_of acc1)" "$(ids_of acc2)" "$(ids_of cpu0)" >missing.json
wrong 'is in no list, nor one of its group' missing.json
sed 's/"load"/"weight"/' split.json >key.json
wrong 'weight' key.json
echo '{"fpgas": 3}' >number.json
wrong 'fpgas' number.json
echo '{"fpgas": [], "cpus": [{"nodes": []}, {"nodes": [1]}]}' >hosts.json
wrong 'uses 2 cpus, but 3acc-1cpu has 1' hosts.json
