# evaluate: plans of runs that were interrupted, from other folders, and beside platforms that have changed.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv
"$MERCATOR" inspect s256 | sed 's/^name: .*/name: mine/' >own.yaml

# A plan of one task has its total, too, and one that does not fit its reason.
expect 0 "$MERCATOR" map net.csv --select 1 --platform own.yaml --no-report --quiet -o one
expect 0 "$MERCATOR" evaluate one --json
test "$(grep -o '"best":' out | wc -l)" -eq 2
says out '"evaluator":"loopnest","best":{"score":'
sed 's/"words":[^,}]*/"words":1/; s/words: [^,}]*/words: 1/' one/platform.yaml >small.yaml
expect 0 "$MERCATOR" evaluate one --platform small.yaml --json
says out '"best":{"feasible":false,"reason":"capacity'

# The platform beside the plan: also of files that have no more than its name, and named where it is another one.
expect 0 "$MERCATOR" evaluate one/nest.txt
says out ' on mine'
cp -r one changed
cp small.yaml changed/platform.yaml
expect 1 "$MERCATOR" evaluate changed
one_line err
says err 'changed/mapping.yaml:6:'
says err 'but changed/platform.yaml now has content'
expect 0 "$MERCATOR" evaluate changed --platform own.yaml
sed -i 's/^name: .*/name: other/' changed/platform.yaml
expect 1 "$MERCATOR" evaluate changed/nest.txt
says err 'the plan is of platform mine, but changed/platform.yaml is other'

# Paths of a workload, those of a made list too, are also those of the folder that the run was started in.
mkdir away
for names in net.csv 'net.csv resnet8'; do
    expect 0 "$MERCATOR" schedule $names --platform s2 --budget 10 --no-report --quiet -o joint --force
    (cd away && expect 0 "$MERCATOR" evaluate ../joint && cp out ..)
    says out 'gap '
done

# A run that is over before its end: what its plan file has no plan for is in no total.
"$MERCATOR" map net.csv --platform own.yaml --optimizer random --budget 400000000 --log improving --threads 1 --no-report --quiet \
    -o stopped >out 2>err &
process=$!
while ! grep -qs '"type":"trial"' stopped/run.jsonl && kill -0 $process; do
    sleep 0.02
done
sleep 0.3
kill -INT $process
wait $process || test $? -eq 130
says stopped/mapping.yaml 'best: {"feasible":false}'
expect 0 "$MERCATOR" evaluate stopped
says err 'warning: stopped/mapping.yaml: other tasks of its run have no plan; totals are of the 1 in the file'
rm one/mapping.yaml
expect 1 "$MERCATOR" evaluate one
says err 'one has no plan file: the run has not ended, or found no plan; --resume one goes on'

# A file for another tool that cannot be written costs neither result nor summary; its folders are made.
expect 1 "$MERCATOR" map net.csv --select 1 --platform own.yaml --quiet --export layers_table=net.csv/x.csv \
    --export nest_text=new/deep/nest.txt -o late
one_line err
says err 'net.csv'
says out 'proven optimal'
test -s late/summary.json && test -s late/report.html && test -s new/deep/nest.txt
expect 1 "$MERCATOR" evaluate late --export nest_text=net.csv/y
says out 'recorded in the plan file'
one_line err
# Of several runs, too: their results are there, and the command given again is not done with them.
for again in 1 2; do
    expect 1 "$MERCATOR" split resnet8 --platform diana --export split_c --optimizer random --budget 5 --seed 1-2 --quiet -o untrained
    test "$(grep -c '^untrained/00[12]: resnet8' out)" -eq 2
    says err 'trains no network'
done
test -s untrained/report.html
