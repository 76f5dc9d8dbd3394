# map: per-layer results with bound and gap, the same for every run, thread count and interruption.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
budget=3000

# the default proves every layer; its log is the same whenever it is stopped and resumed
expect 0 "$MERCATOR" map resnet18 --platform s256 --budget 20000 --seed 1 --json --quiet -o exact
is_silent err
test "$(grep -o '"proven":true' out | wc -l)" -eq 12
cp exact/run.jsonl proven
dd if=proven of=exact/run.jsonl bs=1 count=$(($(wc -c <proven) / 2)) 2>/dev/null
expect 0 "$MERCATOR" map --resume exact --json --quiet
cmp proven exact/run.jsonl

expect 0 "$MERCATOR" map resnet18 --platform s256 --optimizer annealing --budget $budget --seed 1 --json --quiet -o one
is_silent err
one_line out
says out '"format":"mercator-summary/1"'
says out '"kind":"traffic"'
test "$(grep -o '"name":"/' out | wc -l)" -ge 12
for file in run.jsonl clock.jsonl summary.json mapping.yaml report.html; do
    test -s one/$file
done
cp out summary

# the same again, with another number of threads
# The network with the task of each operator: the report colours it. The last convolution is of the tenth task.
grep '"source":"run","name":"view"' one/run.jsonl >graph
test "$(wc -l <graph)" -eq 1
grep -q '{"name":"/layer4/layer4.1/conv2/Conv","group":"conv","task":9},{"name":"/layer4/layer4.1/Add","group":"element-wise"}' graph
expect 0 "$MERCATOR" map resnet18 --platform s256 --optimizer annealing --budget $budget --seed 1 --json --quiet -o two --threads 2
cmp one/run.jsonl two/run.jsonl
cmp one/mapping.yaml two/mapping.yaml

# killed half-way, and resumed with nothing but the directory
cp -r one three
size=$(wc -c <one/run.jsonl)
dd if=one/run.jsonl of=three/run.jsonl bs=1 count=$((size / 2)) 2>/dev/null
rm three/summary.json three/report.html
expect 0 "$MERCATOR" map --resume three --json --quiet
cmp one/run.jsonl three/run.jsonl

# really killed
"$MERCATOR" map resnet18 --platform s256 --optimizer annealing --budget 20000 --seed 1 --quiet -o four >/dev/null 2>&1 &
process=$!
while [ ! -s four/run.jsonl ] || [ "$(wc -c <four/run.jsonl)" -lt 2000000 ]; do
    kill -0 $process 2>/dev/null || break
    sleep 0.02
done
kill -KILL $process 2>/dev/null || true
wait $process 2>/dev/null || true
expect 0 "$MERCATOR" map --resume four --json --quiet
expect 0 "$MERCATOR" map resnet18 --platform s256 --optimizer annealing --budget 20000 --seed 1 --quiet -o five
cmp four/run.jsonl five/run.jsonl

# interrupted by Ctrl-C: the best so far is written, the exit code says so
"$MERCATOR" map vgg16 --platform s256 --optimizer annealing --time 60 --quiet -o six >out 2>err &
process=$!
while [ ! -s six/run.jsonl ]; do
    sleep 0.02
done
sleep 0.3
started=$(date +%s)
kill -INT $process
code=0
wait $process || code=$?
test $code -eq 130
test $(($(date +%s) - started)) -le 2
says out '% infeasible, interrupted'
test -s six/summary.json
test -s six/mapping.yaml

# a plan that was written is priced the same
expect 0 "$MERCATOR" map resnet18 --select 2 --budget 2000 --quiet --json -o seven
best=$(sed 's/.*"tasks":\[{.*"best":{"score":\([^,]*\),.*/\1/' out)
expect 0 "$MERCATOR" evaluate seven/mapping.yaml --json
cp out by-file
expect 0 "$MERCATOR" evaluate seven --json # the folder stands for its plan
cmp out by-file
cp by-file out
says out "\"score\":$best"

# objectives, options and several runs
expect 0 "$MERCATOR" map resnet18 --select /fc/Gemm,1 --objective 'energy^0.5*cycles' --budget 200 --quiet -o eight
expect 0 "$MERCATOR" map resnet18 --select 1 --optimizer random --optimizer genetic:population=20 --seed 3-4 --budget 200 \
    --quiet -o nine
test -s nine/004/run.jsonl
test -s nine/report.html
expect 0 "$MERCATOR" report nine/001 nine/002 -o both.html
test -s both.html
expect 0 "$MERCATOR" report nine/001 --csv trials.csv
# a folder of several runs gets its own page again
mv nine/report.html page.html
expect 0 "$MERCATOR" report nine
says out 'nine/report.html'
cmp nine/report.html page.html
mkdir empty
expect 1 "$MERCATOR" report empty
one_line err
says err 'empty: no run in it, expected run.jsonl'
test "$(wc -l <trials.csv)" -eq 201

# a directory that is used again holds nothing of the run before
expect 0 "$MERCATOR" map resnet18 --select 2 --budget 200 --quiet -o again
sed 's/words: 256/words: 2/' "$MERCATOR_SOURCE_DIR/platforms/s256.yaml" >tiny.yaml
expect 1 "$MERCATOR" map resnet18 --select 2 --platform ./tiny.yaml --optimizer random --budget 50 --quiet --no-report -o again --force
test -s again/run.jsonl
test ! -e again/mapping.yaml
test ! -e again/report.html

# lists inside an experiment's problem
cat >list.yaml <<'YAML'
format: mercator-experiment/1
problem: {name: map, select: "2,5"}
workload: resnet18
budget: 100
YAML
expect 0 "$MERCATOR" map list.yaml --quiet -o list
test "$(grep -c '^  - name' list/mapping.yaml)" -eq 2

# started with relative paths and resumed from elsewhere: the paths belong to where the run was started
mkdir -p home/files elsewhere
printf 'Layer,M,N,K,\nfirst,64,48,32,\n' >home/files/layers.csv
cp "$MERCATOR_SOURCE_DIR/platforms/s256.yaml" home/files/machine.yaml
(cd home && expect 0 "$MERCATOR" map files/layers.csv --platform files/machine.yaml --optimizer annealing \
    --budget 500 --quiet -o run)
cp home/run/run.jsonl whole
head -n 100 whole >home/run/run.jsonl
(cd elsewhere && expect 0 "$MERCATOR" map --resume ../home/run --quiet)
cmp whole home/run/run.jsonl
test ! -e elsewhere/runs

# moved away: the message says to which directory the paths belonged
mv home moved
(cd elsewhere && expect 1 "$MERCATOR" map --resume ../moved/run && says err "was started in" && says err "/home (" \
    && says err 'files/layers.csv')

# several runs go on by the folder above them
expect 0 "$MERCATOR" map resnet18 --select 1 --optimizer random --seed 1-2 --budget 100 --quiet -o pair
cp pair/002/run.jsonl whole
head -n 50 whole >pair/002/run.jsonl
expect 0 "$MERCATOR" map --resume pair --quiet
cmp whole pair/002/run.jsonl
expect 2 "$MERCATOR" map --resume pair/002 --quiet
says err 'is one of 2 runs'

# a damaged log warms with what is left of it: one warning for all tasks, with count and first line
expect 0 "$MERCATOR" map resnet18 --select 2,3 --optimizer random --budget 200 --quiet --no-report -o old
sed -i '5s/.*/{"type":"trial","index":3,"ta/; 9s/.*/null/; 20s/"point":\[[^]]*\]/"point":[1,2]/' old/run.jsonl
expect 0 "$MERCATOR" map resnet18 --select 2,3 --optimizer annealing --budget 200 --warm old --no-report -o warm
says err 'old/run.jsonl:5: 3 damaged lines skipped'
test "$(grep -c damaged err)" -eq 1
