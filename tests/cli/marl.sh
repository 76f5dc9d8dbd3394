# marl through the command line: the same for every number of threads, resumed from a saved state or
# without one, and policies that one run hands to another.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
map="$MERCATOR map resnet18 --platform s256 --no-report --quiet"

expect 0 $map --select 1,2,5 --optimizer marl --budget 400 --seed 1 --threads 1 -o one --force
expect 0 $map --select 1,2,5 --optimizer marl --budget 400 --seed 1 --threads 2 -o two --force
cmp one/run.jsonl two/run.jsonl
cmp one/mapping.yaml two/mapping.yaml

# cut off and resumed: there is no state yet after such a short time, so the points are asked for again
for form in turns joint; do
    expect 0 $map --select 5 --optimizer marl:form=$form,samples=200 --budget 600 --seed 1 -o cut-$form
    cp cut-$form/run.jsonl whole
    dd if=whole of=cut-$form/run.jsonl bs=1 count=$(($(wc -c <whole) / 2)) 2>/dev/null
    expect 0 "$MERCATOR" map --resume cut-$form --no-report --quiet
    cmp whole cut-$form/run.jsonl
done

# a policy: the first point is the best of the run it comes from, and no samples go into clusters
expect 0 $map --select 5 --optimizer marl --budget 1000 --seed 1 --save-policy policy --json -o learned
best=$(number out score)
says learned/run.jsonl '"name":"samples for clustering","value":200,'
head -n 1 policy | grep -qx 'mercator-policy/1 marl'
expect 0 $map --select 5 --optimizer marl --budget 4 --seed 2 --policy policy --json -o again
near "$(number out score)" "$best" 1e-12 'best of four points from a policy'
says again/run.jsonl '"name":"samples for clustering","value":0,'
expect 0 $map --select 5 --optimizer marl --budget 50 --seed 2 --policy policy --threads 2 -o same-1
expect 0 $map --select 5 --optimizer marl --budget 50 --seed 2 --policy policy --threads 1 -o same-2
cmp same-1/run.jsonl same-2/run.jsonl

# other layers, another platform, another space
expect 0 $map --select 2,8 --optimizer marl --budget 100 --seed 2 --policy policy -o layers
expect 0 "$MERCATOR" map resnet18 --select 5 --platform s256 --evaluator datacentric --optimizer marl --budget 100 \
    --policy policy --no-report --quiet -o space

# files that do not fit
expect 1 $map --select 5 --optimizer marl:preset=paper --budget 100 --policy policy -o none --force
says err 'was saved with form=turns, expected form=joint'
expect 1 $map --select 5 --optimizer ppo --budget 100 --policy policy -o none --force
says err 'expected "mercator-policy/1 ppo"'
dd if=policy of=short bs=1 count=5000 2>/dev/null
expect 1 $map --select 5 --optimizer marl --budget 100 --policy short -o none --force
says err 'cut off or broken'

# a policy that could not be saved is refused before the search, not after it
expect 1 $map --select 5 --optimizer marl --budget 100 --save-policy no/such/folder/policy -o early --force
says err 'no/such/folder/policy: cannot write'
lacks '"type":"trial"' early/run.jsonl 2>/dev/null
expect 1 $map --select 5 --optimizer marl --budget 100 --save-policy . -o early --force
says err 'cannot write: Is a directory'
expect 1 "$MERCATOR" map --train resnet18 resnet18 --select 5 --optimizer marl --budget 100 --save-policy no/such/folder/policy --quiet -o taught
says err 'no/such/folder/policy: cannot write'
[ ! -e taught/001/run.jsonl ]
# one that cannot be saved in the end costs neither summary nor page
mkdir gone
$map --select 5 --optimizer marl --time 3 --save-policy gone/policy -o late >out 2>err &
process=$!
while ! grep -qs '"type":"trial"' late/run.jsonl && kill -0 $process; do
    sleep 0.02
done
rmdir gone
code=0
wait $process || code=$?
[ $code -eq 1 ]
says err 'gone/policy'
says out 'stopped by time'
says late/summary.json '"feasible":true'
# one file for several runs
expect 1 $map --select 5 --optimizer marl --budget 100 --seed 1-2 --save-policy both -o many
says err '--save-policy both: each of these 2 runs would write it'
one_line err
expect 1 $map --select 5 --optimizer marl --budget 100 --seed 1-2 --export layers_table=table.csv -o many
says err '--export layers_table writes a file into the folder of each run'
[ ! -e many/001 ]
expect 1 $map --select 5 --optimizer annealing --budget 100 --save-policy kept -o early --force
says err 'annealing has no policy to save'
[ ! -e kept ]
