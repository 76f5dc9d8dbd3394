# Experiment files of `split`, made small: every count of one layer, once, and where a search by gradients lands.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# the last layer instead of a wide one, one epoch of each kind, one seed
sed -e 's/|fc)/|s3b0c2)/' -e 's/warmup_epochs: .*/warmup_epochs: 1/' -e 's/finetune_epochs: [0-9]*/finetune_epochs: 1/' \
    -e 's/search_epochs: [0-9]*/search_epochs: 1/' -e 's/lambda: .*1\],/lambda: [0.1, 1],/' -e 's/^seed: .*/seed: 1/' \
    "$MERCATOR_SOURCE_DIR/experiments/split-one-layer.yaml" >one-layer.yaml
expect 0 "$MERCATOR" split one-layer.yaml --quiet --no-report -o one-layer
grep -o '"point":\[[0-9]*\]' one-layer/001/run.jsonl | sort -u >counts
[ "$(wc -l <counts)" -eq 11 ] # 0 .. 10 of 10 channels
grep -q '"point":\[0\],"score":[^}]*"cycles":14770.275,' one-layer/001/run.jsonl
grep -q '"point":\[10\],"score":[^}]*"cycles":14329.25,' one-layer/001/run.jsonl
[ "$(grep -c '"type":"trial"' one-layer/002/run.jsonl)" -eq 2 ]
says one-layer/003/run.jsonl '"point":[10],"score"'

# The authors' six experiments: priced where there are no images (the search says that it cannot), ...
for name in diana-c10 diana-c100 diana-imagenet darkside-c10 darkside-c100 darkside-imagenet; do
    expect 1 "$MERCATOR" split "$MERCATOR_SOURCE_DIR/experiments/authors-$name.yaml" --quiet --no-report -o "priced-$name"
    says err "is not there: splits are priced, nothing is trained"
    says err "/001: odimo learns choices by gradients, and there is no model to train"
done
near "$(number priced-diana-c10/002/summary.json cycles)" 257673.25 1e-9 'ResNet20, all 8-bit'
near "$(number priced-diana-c100/003/summary.json cycles)" 305154.775 1e-6 'ResNet18 for CIFAR-100, all ternary'
near "$(number priced-diana-imagenet/004/summary.json cycles)" 994339.8 1e-6 'ResNet18 for ImageNet, first and last layer 8-bit'
near "$(number priced-darkside-c10/002/summary.json cycles)" 20227968 1e-9 'MobileNetV1, convolutions'
near "$(number priced-darkside-imagenet/003/summary.json cycles)" 323000 1e-9 'MobileNetV1 for ImageNet, depthwise'

# ... and trained where there are any: four records of CIFAR-10 a file, all black, of class 0.
mkdir -p images/cifar10
for file in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    head -c 12292 /dev/zero >images/cifar10/$file.bin
done
sed -e 's/_epochs: [0-9]*/_epochs: 1/' -e 's/lambda: [^]]*\]/lambda: [0.1]/' -e '/_ternary\|io_8bit\|min_/d' \
    "$MERCATOR_SOURCE_DIR/experiments/authors-diana-c10.yaml" >small.yaml
expect 0 "$MERCATOR" split small.yaml --data images --quiet --no-report -o trained
says trained/001/run.jsonl '"phase":"search","epoch":1,"epochs":1'
says trained/002/run.jsonl '"phase":"finetune","epoch":1,"epochs":1'

# Three units with two formats, from tables: exact splits use them side by side, and a search learns on all of them.
expect 0 "$MERCATOR" split resnet8 --platform mobile-soc --json --quiet --no-report -o phone
says out '"proven":true'
says phone/split.yaml '{"name":"s3b0ds","channels":{"cpu":24,"dsp":40,"npu":0}'
expect 0 "$MERCATOR" split 'mobilenet_v1@width=0.25' --platform mobile-soc --optimizer layer_wise --json --quiet --no-report -o phone-wise
is_silent err # every shape has a row
sed -e 's/_epochs: [0-9]*/_epochs: 1/' -e '/all_8bit\|_ternary\|_wise\|min_\|0.01\|\[1\]/d' -e 's/^objective: .*/objective: latency/' -e 's/^seed: .*/seed: 1/' \
    "$MERCATOR_SOURCE_DIR/experiments/split-mobile-soc.yaml" >phone.yaml
expect 0 "$MERCATOR" split phone.yaml --samples 100 --quiet --no-report -o phone-learned
says phone-learned/001/split.csv '"npu","int4",'
says phone-learned/002/summary.json '"test_accuracy":'

# The array of DIANA as a loop nest: what the formula computes in 16x16 outputs, without its transfers.
expect 0 "$MERCATOR" map resnet8 --platform diana-array --objective cycles --select 2 --json --quiet --no-report -o nest
says out '"cycles":9216'
sed 's/^# .*//' "$MERCATOR_SOURCE_DIR/experiments/diana-array-constraints.yaml" >rows-and-channels.yaml
expect 0 "$MERCATOR" map resnet8 --platform diana-array --objective cycles --select 7 --factors padded --constraints rows-and-channels.yaml \
    --budget 3000 --json --quiet --no-report -o nest-fixed
says out '"cycles":18432' # 4 x 64 x 1 x 8 x 9: half of the array is idle
