# Splits learned while a program says what they cost: numbers without a gradient, and the search goes where the program says it is cheap.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
counter="command:sh $MERCATOR_SOURCE_DIR/examples/channel-counter.sh"
train="$MERCATOR split resnet8 --platform diana --dataset digits8x8 --samples 200 --warmup_epochs 1 --no-report --quiet"
search="odimo:lambda=[10],search_epochs=6,alpha_rate=0.3,cost_gradient=score:24"
tune="split_train:finetune_epochs=1"

# analog LINES: channels on the analog unit in a plan file
analog()
{
    sed -n 's/.*"analog":\([0-9]*\).*/\1/p' "$1" | awk '{ sum += $1 } END { print sum }'
}

# 32 draws a step: few epochs are to be enough
# The same search, two programs: of 346 channels most go to the unit that is said to be cheap.
expect 0 $train --optimizer "$search" --evaluator "$tune" --inner "$counter digital=4 analog=1" --threads 1 -o cheap
expect 0 $train --optimizer "$search" --evaluator "$tune" --inner "$counter digital=1 analog=4" -o dear
[ "$(analog cheap/split.yaml)" -gt 230 ] && [ "$(analog dear/split.yaml)" -lt 116 ] || {
    echo "channels on the analog unit: $(analog cheap/split.yaml) where it is cheap, $(analog dear/split.yaml) where it is dear" >&2
    exit 1
}
says cheap/run.jsonl '"inner":{"name":"command","options":{"run":"sh '
says cheap/run.jsonl '"test_accuracy":'
says out "no bound known"
says cheap/summary.json '"inner":"command"'

# cycles are the program's: 4 for every digital channel, 1 for every analog one; read back, the plan has the same price
n=$(analog cheap/split.yaml)
grep -q "\"cycles\":$((4 * (346 - n) + n))," cheap/run.jsonl
says cheap/split.yaml 'evaluator: "split_train:finetune_epochs=1,inner=command:run=sh '
expect 0 "$MERCATOR" evaluate cheap/split.yaml --json
says out "\"cycles\":$((4 * (346 - n) + n)),"

# any number of threads, and after a kill: the same bytes, with a front of trade-offs
front="--pareto test_accuracy,latency"
two="odimo:lambda=[1,10],search_epochs=3,alpha_rate=0.1,gradient=score:2"
expect 0 $train --optimizer "$two" --evaluator "$tune" --inner "$counter digital=4 analog=1" $front --threads 1 -o one
expect 0 $train --optimizer "$two" --evaluator "$tune" --inner "$counter digital=4 analog=1" $front --threads 2 -o both
cmp one/run.jsonl both/run.jsonl
$train --optimizer "$two" --evaluator "$tune" --inner "$counter digital=4 analog=1" $front --threads 2 -o killed >/dev/null 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && ! grep -qs '"phase":"search","epoch":2' killed/run.jsonl; do sleep 0.05; done
kill -9 $pid 2>/dev/null || :
wait $pid 2>/dev/null || :
expect 0 "$MERCATOR" split --resume killed --no-report --quiet
cmp one/run.jsonl killed/run.jsonl

# the program may be the evaluator itself: the search trains, its answer is only priced
expect 0 $train --optimizer "$search" --evaluator "$counter digital=4 analog=1" -o priced
[ "$(analog priced/split.yaml)" -gt 230 ]
if grep -q '"phase":"finetune"' priced/run.jsonl; then
    echo "a priced split was trained" >&2
    exit 1
fi

# fixed splits are priced and trained alike; what needs the formulas of soc says so
expect 0 $train --optimizer all_ternary --evaluator "$tune" --inner "$counter digital=4 analog=1" --json -o fixed
says out '"cycles":346,'
expect 1 $train --optimizer layer_wise --evaluator "$tune" --inner "$counter digital=4 analog=1" -o fixed --force
says err "layer_wise needs an evaluator that prices by soc"

# formulas of the platform as the inner evaluator, and as numbers
expect 0 $train --optimizer "$two" --evaluator "$tune" --inner soc -o inside
expect 0 $train --optimizer "$two" --evaluator "$tune" -o plain
sed 1d inside/run.jsonl >inside.lines
sed 1d plain/run.jsonl | cmp - inside.lines
expect 0 $train --optimizer odimo:lambda=[1],search_epochs=2 --evaluator "$tune,gradient=score" -o numbers

# a program that dies in the middle: the search ends, and says why
cat >dies.sh <<'X'
n=$(cat count 2>/dev/null || echo 0)
while read -r plan; do
    n=$((n + 1))
    echo $n >count
    [ $n -le 100 ] || exit 3
    echo '{"cycles": 100}'
done
X
expect 1 $train --optimizer "$search" --evaluator "$tune" --inner "command:sh dies.sh" -o dies
says err "warning: odimo: nothing that was drawn in this epoch has a price: crash: "
says err "no feasible plan in 0 trials"

# what cannot be
expect 1 $train --optimizer "$search" --inner command:false -o bad
says err "the plan that costs are shares of has no latency above 0 by evaluator command: crash: "
expect 1 $train --inner split_train -o bad
says err "inner is split_train, which trains or measures: expected an evaluator that only prices"
expect 1 $train --inner loopnest -o bad
says err "inner is loopnest, which does not price the plans of problem split"
expect 1 "$MERCATOR" split resnet8 --inner command:true --no-report -o bad
says err "evaluator soc prices all itself, it has no inner evaluator"
expect 1 "$MERCATOR" split mobilenet_v1@width=0.25@input=1x8x8@classes=10 --platform darkside --dataset digits8x8 --optimizer odimo:gradient=score --no-report -o counts
says err "is a thermometer: expected an evaluator with a gradient, such as soc"
