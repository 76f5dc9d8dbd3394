# Trained networks as files: C that every compiler accepts and that gives the bits of the integer network on 1,000 inputs, and what
# cannot be exported.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# deployed NETWORK FOLDER OPTIONS...: a short training, exported
deployed()
{
    network=$1
    folder=$2
    shift 2
    expect 0 "$MERCATOR" split "$network" --dataset digits8x8 --samples 300 --warmup_epochs 2 \
        --export split_c "$@" -o "$folder" --no-report --quiet
}

# replay FOLDER COMPILER FLAGS...: compiled without a warning, no logit of 1,000 inputs differs
replay()
{
    folder=$1
    compiler=$2
    shift 2
    if ! command -v "$compiler" >/dev/null; then
        echo "$compiler is not installed: not tried with $folder $*"
        return
    fi
    (cd "$folder/deploy" && "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror "$@" \
        -o replay network.c weights.c kernels.c test_main.c && ./replay golden.bin) >out 2>err || {
        echo "$folder: $compiler $* fails" >&2
        cat out err >&2
        exit 1
    }
    says out '360 images and 640 random inputs, 0 differ'
    one_line out
    is_silent err
}

# learned splits: channels of both units in most layers, sums, one average
deployed resnet8 resnet --platform diana --quick true
grep -q '_part0_digital' resnet/deploy/network.c
grep -q '_part1_analog' resnet/deploy/network.c
says resnet/deploy/network.h '#define NETWORK_NAME "resnet8 on diana"'
for compiler in gcc clang; do
    replay resnet $compiler -O0
    replay resnet $compiler -O3
    replay resnet $compiler -O1 -fsanitize=undefined -fno-sanitize-recover=all
done
expect 0 make -C resnet/deploy check
says out 'resnet8 on diana: 360 images and 640 random inputs, 0 differ'

# an input with a sign (zero point 64) and padding; depthwise layers
deployed ds_cnn ds_cnn --platform diana --normalise true --optimizer half --evaluator split_train:finetune_epochs=1
says ds_cnn/deploy/network.h '#define NETWORK_INPUT_ZERO 64'
grep -q 'depthwise_int8(&part' ds_cnn/deploy/network.c
grep -q 'logits_ternary(&part' ds_cnn/deploy/network.c
replay ds_cnn gcc -O1 -fsanitize=undefined -fno-sanitize-recover=all
replay ds_cnn clang -O3

# convolutions whose channels an engine for depthwise layers computes in part
deployed mobilenet_v1@width=0.25@input=1x8x8@classes=10 mobilenet --platform darkside --optimizer half \
    --evaluator split_train:finetune_epochs=1
grep -q '_part1_dwe' mobilenet/deploy/network.c
replay mobilenet gcc -O3
replay mobilenet clang -O1 -fsanitize=address,undefined -fno-sanitize-recover=all

# another number of inputs; a program that is wrong is seen
deployed resnet8 few --platform diana --golden_inputs 20 --optimizer all_ternary --evaluator split_train:finetune_epochs=1
expect 0 make -C few/deploy check
says out '20 images and 0 random inputs, 0 differ'
sed -i 's/- 1;$/- 2;/' few/deploy/kernels.c
expect 2 make -C few/deploy check
says out '20 images and 0 random inputs, 20 differ'

# nothing was trained
expect 1 "$MERCATOR" split resnet8 --platform diana --export split_c -o none --no-report --quiet
one_line err
says err 'expected split_train: give images to train with by --dataset NAME'
