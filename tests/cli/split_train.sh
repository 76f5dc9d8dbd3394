# Splits learned through the command line: a network of the size of the images, the same for every number of threads, resumed after
# a cut, and data that does not fit.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
train="$MERCATOR split resnet8 --platform diana --dataset digits8x8 --samples 200 --shift 1 --warmup_epochs 1 --no-report --quiet"
short="--optimizer odimo:lambda=[0.1,1],search_epochs=3,gate=gumbel --evaluator split_train:finetune_epochs=1"

expect 0 $train $short --threads 1 -o one
expect 0 $train $short --threads 2 -o two
cmp one/run.jsonl two/run.jsonl
cmp one/split.yaml two/split.yaml
says one/run.jsonl '"phase":"warmup","epoch":1,"epochs":1'
says one/run.jsonl '"phase":"search","epoch":3,"epochs":3'
says one/run.jsonl '"phase":"finetune","epoch":1,"epochs":1'
says one/run.jsonl '"test_accuracy":'
says one/run.jsonl '"float_accuracy":'
says one/run.jsonl '"integer_accuracy":'
says one/summary.json '"macs":763520,' # of the network for these images
[ "$(grep -c '"type":"trial"' one/run.jsonl)" -eq 2 ]
says one/run.jsonl '"counts": [['
says one/run.jsonl '"price": {"cycles": '

# what the clock says stands beside the log; a search that failed in a known way says so at once, quiet or not
says out "training: warmup 1 epoch in "
says out "x the processor time of a plain epoch), finetune 2 epochs in "
says one/summary.json '"training":[{"phase":"warmup","epochs":1,"images":200,"seconds":'
says one/clock.jsonl '{"phase":"search","epoch":3,"epochs":3,"images":200,"seconds":'
if grep -q 'seconds\|_per_s' one/run.jsonl; then
    echo "the log of a training depends on the clock" >&2
    exit 1
fi
says err "mercator: warning: odimo: lambda 0.1: choices have not settled"
says one/run.jsonl '"name":"warning","value":"lambda 0.1: choices have not settled'

# three units, with a choice of formats and of operators in one layer
cat >mixed.yaml <<'PLATFORM'
format: mercator-platform/1
kind: soc
name: mixed
clock_hz: 100M
reference: core
units:
  - name: core
    options: [{operator: conv, weights: int8}, {operator: depthwise, weights: int8}]
    cost: {formula: mac-rate, rate: 4}
  - name: analog
    options: [{operator: conv, weights: ternary}]
    cost: {formula: mac-rate, rate: 8}
  - name: engine
    options: [{operator: depthwise, weights: int4}]
    cost: {formula: dw-engine, x_axis: width}
PLATFORM
train_mixed="${train%%--platform diana*}--platform mixed.yaml${train#*--platform diana}"
for granularity in channel count; do
    expect 0 $train_mixed $short --granularity $granularity -o mixed-$granularity --force
    says mixed-$granularity/split.csv '"s1b0c1","engine","engine","int4"'
done

cp one/run.jsonl whole
dd if=whole of=two/run.jsonl bs=1 count=$(($(wc -c <whole) * 2 / 3)) 2>/dev/null
expect 0 "$MERCATOR" split --resume two --no-report --quiet
cmp whole two/run.jsonl

# killed in the middle of a search, with a front of trade-offs: what goes on later writes the same bytes
long="--optimizer odimo:lambda=[0.1,1],search_epochs=6 --evaluator split_train:finetune_epochs=1 --pareto test_accuracy,latency"
expect 0 $train $long --threads 1 -o front
$train $long --threads 1 -o killed >/dev/null 2>&1 &
pid=$!
while kill -0 $pid 2>/dev/null && ! grep -qs '"phase":"search","epoch":2' killed/run.jsonl; do sleep 0.05; done
kill -9 $pid 2>/dev/null || :
wait $pid 2>/dev/null || :
expect 0 "$MERCATOR" split --resume killed --no-report --quiet
cmp front/run.jsonl killed/run.jsonl
cmp front/split.yaml killed/split.yaml

# A float network from the cache: the same lines but for the header, which has the option.
fixed="--noise 0.05 --test_noise 0.2 --test_shift 1 --optimizer all_ternary --evaluator split_train:finetune_epochs=1,answers=true"
expect 0 $train $fixed -o plain
for i in 1 2; do
    expect 0 $train $fixed --warmup_cache warm -o kept --force
    sed 1d plain/run.jsonl >plain.lines
    sed 1d kept/run.jsonl | cmp - plain.lines
done
[ "$(ls warm | wc -l)" -eq 1 ]
says plain.lines '"name":"changed_test","value":{"part": "noisy", "accuracy": 0.'
grep -q '"part": "shifted", "right": "[0-9a-f]\{90\}"' plain.lines

# progress counts the trainings that will be made, not the budget; only a terminal sees it at once
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$MERCATOR" split resnet8 --dataset digits8x8 --samples 50 --warmup_epochs 0 \
    --optimizer 'odimo:lambda=[0.1,1],search_epochs=1' --evaluator split_train:finetune_epochs=0 --no-report -o counted </dev/null >shown
grep -q '1/1 resnet8: \(50 %\|1/2 evaluations\)' shown # by the width of the other columns
lacks '[0-9][0-9]:[0-9][0-9] left' shown # of two trainings, not of the budget

# with a dataset splits are learned by default; solvers and other optimizers run under the same evaluator
expect 0 $train --quick true --seed 2 --json -o quick
says out '"optimizer":"odimo'
says out '"evaluator":"split_train'
expect 0 $train --optimizer all_8bit --evaluator split_train:finetune_epochs=1 --json -o fixed
near "$(number out cycles)" 14329.25 1e-9 'all-8bit on images of 8 x 8'

# an exported split knows what it was trained with
expect 0 $train --optimizer half --evaluator split_train:finetune_epochs=1 --export split_json --json -o exported
accuracy=$(number out test_accuracy)
expect 0 "$MERCATOR" evaluate exported/split.json --evaluator split_train:finetune_epochs=1 --json
near "$(number out test_accuracy)" "$accuracy" 1e-12 'accuracy of a split that was read back'
expect 0 "$MERCATOR" evaluate exported/split.json --json
near "$(number out cycles)" "$(number exported/summary.json cycles)" 1e-12 'price of a split that was read back'

# two networks, each of the size of the images
expect 0 "$MERCATOR" split resnet8 resnet20 --dataset digits8x8 --samples 50 --warmup_epochs 0 --optimizer all_8bit \
    --evaluator split_train:finetune_epochs=0 --no-report --quiet -o both
says both/001/summary.json '"workload":"resnet8"'
says both/002/summary.json '"workload":"resnet20"'

expect 1 $train --dataset nothing -o none
says err 'dataset nothing: no such folder'
one_line err
expect 1 "$MERCATOR" split resnet8@input=1x9x9 --dataset digits8x8 --no-report --quiet -o none
says err 'takes images of 1x9x9 in 10 classes, dataset digits8x8 has 1x8x8'
expect 1 "$MERCATOR" split mobilenet_v1@input=3x96x96@width=0.25 --platform darkside --dataset digits8x8 --no-report --quiet -o none
says err 'expected a network such as mobilenet_v1@width=0.25@input=1x8x8@classes=10, or another dataset'

# one wrong label makes 256 classes: that is said
mkdir wrong
for part in train t10k; do
    { printf '\0\0\010\003\0\0\0\003\0\0\0\010\0\0\0\010' && head -c 192 /dev/zero; } >wrong/$part-images-idx3-ubyte
    printf '\0\0\010\001\0\0\0\003\0\001\377' >wrong/$part-labels-idx1-ubyte
done
expect 0 "$MERCATOR" split resnet8 --dataset wrong --warmup_epochs 0 --optimizer all_8bit --evaluator split_train:finetune_epochs=0 --no-report --quiet -o strange
says err 'mercator: warning: wrong/train-labels-idx1-ubyte: image 2 has label 255, but no image has 2: a wrong label? There will be 256 classes'
expect 1 "$MERCATOR" split resnet8 --optimizer odimo --no-report --quiet -o none
says err 'odimo learns choices by gradients, and there is no model to train'
one_line err

# Learned choices cannot be fixed one by one.
expect 1 "$MERCATOR" split resnet8 --platform diana --dataset digits8x8 --quick true --fix channels.conv1.1=1 --quiet --no-report -o fixed
says err "--fix: odimo learns all choices of an operator together"

# where there is one option everywhere, the only mapping is trained
expect 0 "$MERCATOR" split resnet8 --platform gap8 --dataset digits8x8 --quick true --samples 50 --warmup_epochs 1 --no-report --quiet -o only
says err "odimo has nothing to learn, every operator has one choice; using all_8bit"
says only/run.jsonl '"phase":"finetune","epoch":8,"epochs":8'

# quick holds for an evaluator named by hand, too; split.json says how its network was trained
expect 0 "$MERCATOR" split resnet8 --platform diana --dataset digits8x8 --quick true --samples 50 --warmup_epochs 1 --optimizer all_ternary \
    --evaluator split_train:rate=0.01 --export split_json --export split_c --no-report --quiet -o named
says named/run.jsonl '"phase":"finetune","epoch":8,"epochs":8'
says named/split.json '"evaluator":"split_train:rate=0.01"'
expect 0 "$MERCATOR" evaluate named/split.json --export split_c=again --json
cmp named/deploy/weights.c again/deploy/weights.c

# a cache that cannot be is said at once
expect 1 "$MERCATOR" split resnet8 --dataset digits8x8 --quick true --warmup_cache /proc/none --no-report --quiet -o uncached
says err "/proc/none"

# a target that cannot be met is said, with what came of it
expect 0 "$MERCATOR" split resnet8 --dataset digits8x8 --samples 50 --warmup_epochs 1 --optimizer odimo:target=0.1,search_epochs=2 \
    --evaluator split_train:finetune_epochs=0 --no-report --quiet -o missed
says err "the target of 0.1 of the reference's cost was missed: it ended at "

# settings of a built-in network leave its size open
expect 0 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform darkside --dataset digits8x8 --samples 50 --warmup_epochs 1 --optimizer all_conv \
    --evaluator split_train:finetune_epochs=0 --no-report --quiet -o sized

# a training is of one model: that nothing can be handed on is said before it begins
expect 2 "$MERCATOR" split resnet8 ds_cnn --dataset digits8x8 --train --save-policy none --no-report --quiet -o handed
says err '--train: optimizer odimo has no policy'
expect 1 "$MERCATOR" split resnet8 --dataset digits8x8 --save-policy none --no-report --quiet -o handed
says err 'optimizer odimo has no policy to save'
one_line err
