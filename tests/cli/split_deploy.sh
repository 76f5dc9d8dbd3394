# Trained networks as files: C that every compiler accepts and that gives the bits of the integer network on 1,000 inputs, ONNX with the
# products of the network, split.json that is a plan again, and what cannot be exported.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# deployed NETWORK FOLDER OPTIONS...: a short training, exported
deployed()
{
    network=$1
    folder=$2
    shift 2
    expect 0 "$MERCATOR" split "$network" --dataset digits8x8 --samples 300 --warmup_epochs 2 \
        --export split_c --export split_onnx "$@" -o "$folder" --no-report --quiet
}

# replay FOLDER GOLDEN COMPILER FLAGS...: compiled without a warning, no logit of 1,000 inputs (few.bin: 60) differs
replay()
{
    folder=$1
    golden=$2
    compiler=$3
    shift 3
    if ! command -v "$compiler" >/dev/null; then
        echo "$compiler is not installed: not tried with $folder $*"
        return
    fi
    (cd "$folder/deploy" && "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror "$@" \
        -o replay network.c weights.c kernels.c test_main.c && ./replay "$golden") >out 2>err || {
        echo "$folder: $compiler $* fails" >&2
        cat out err >&2
        exit 1
    }
    if [ "$golden" = golden.bin ]; then
        says out '360 images and 640 random inputs, 0 differ'
    else
        says out '60 images and 0 random inputs, 0 differ'
    fi
    one_line out
    is_silent err
}
# few FOLDER: the first images alone, for programs that are slow
few()
{
    cp "$1/deploy/golden.bin" "$1/deploy/few.bin"
    printf '\074\0\0\0\0\0\0\0' | dd of="$1/deploy/few.bin" bs=1 seek=4 conv=notrunc 2>/dev/null
}

# learned splits: channels of both units in most layers, sums, one average
deployed resnet8 resnet --platform diana --quick true
grep -q '_part0_digital' resnet/deploy/network.c
grep -q '_part1_analog' resnet/deploy/network.c
says resnet/deploy/network.h '#define NETWORK_NAME "resnet8 on diana"'
few resnet
sanitize='-O1 -fsanitize=address,undefined -fno-sanitize-recover=all'
for compiler in gcc clang; do
    replay resnet few.bin $compiler -O0
    replay resnet golden.bin $compiler -O3
    replay resnet few.bin $compiler $sanitize
done

# ONNX: read by our own importer, all products, a convolution per unit, golden features of the first image
macs()
{
    expect 0 "$MERCATOR" inspect "$1" --json
    sed -n 's/.*"summary":{"macs":\([0-9]*\),.*/\1/p' out
}
same_macs()
{
    if [ "$(macs "$1")" != "$(macs "$2")" ]; then
        echo "$1 has $(macs "$1") products, expected $(macs "$2")" >&2
        exit 1
    fi
}
same_macs resnet/onnx/resnet8.onnx resnet8@input=1x8x8@classes=10
expect 0 "$MERCATOR" inspect resnet/onnx/resnet8.onnx --json
says out '"name":"s2b0c1.0.digital.Conv"'
says out '"name":"s2b0c1.1.analog.Conv"'
says resnet/onnx/config_resnet8.json '"onnx_file":"resnet8.onnx"'
[ "$(wc -l <resnet/onnx/input.txt)" -eq 65 ]
says resnet/onnx/input.txt '# input (shape [8, 8, 1]),'
[ "$(wc -l <resnet/onnx/out_layer0.txt)" -eq 1025 ]
[ "$(wc -l <resnet/onnx/output.txt)" -eq 11 ]

# the plan in split.json, with the numbers of the network and without; files of version 1 too
says resnet/onnx/split.json '"deployment":{"input":{"shape":[1,8,8],"zero":0,'
for file in onnx/split.json split.yaml; do
    expect 0 "$MERCATOR" evaluate resnet/$file --export split_json=back.json
    test -f plain.json || cp back.json plain.json
    cmp back.json plain.json
done
sed -E 's/"split_version":2/"split_version":1/; s/"ranges":\[\]/"range":[0,0]/g; s/"ranges":\[(\[[0-9,]*\])\]/"range":\1/g' plain.json >old.json
lacks ranges old.json
expect 0 "$MERCATOR" evaluate old.json --export split_json=back.json
cmp back.json plain.json
sed 's/"ranges":\[\[/"ranges":[[9,/' plain.json >bad.json
expect 1 "$MERCATOR" evaluate bad.json
one_line err
says err 'expected [first, end]'

# an input with a sign (zero point 64) and padding; depthwise layers
deployed ds_cnn ds_cnn --platform diana --normalise true --optimizer half --evaluator split_train:finetune_epochs=1
says ds_cnn/deploy/network.h '#define NETWORK_INPUT_ZERO 64'
grep -q 'depthwise_int8(&part' ds_cnn/deploy/network.c
grep -q 'logits_ternary(&part' ds_cnn/deploy/network.c
same_macs ds_cnn/onnx/ds_cnn.onnx ds_cnn@input=1x8x8@classes=10
few ds_cnn
replay ds_cnn few.bin gcc $sanitize
replay ds_cnn golden.bin clang -O3

# convolutions whose channels an engine for depthwise layers computes in part
deployed mobilenet_v1@width=0.25@input=1x8x8@classes=10 mobilenet --platform darkside --optimizer half \
    --evaluator split_train:finetune_epochs=1
grep -q '_part1_dwe' mobilenet/deploy/network.c
few mobilenet
replay mobilenet golden.bin gcc -O3
replay mobilenet few.bin clang $sanitize

# another number of inputs; a program that is wrong is seen
deployed resnet8 few --platform diana --golden_inputs 20 --optimizer all_ternary --evaluator split_train:finetune_epochs=1
expect 0 make -C few/deploy check
says out '20 images and 0 random inputs, 0 differ'
sed -i 's/- 1;$/- 2;/' few/deploy/kernels.c
expect 2 make -C few/deploy check
says out '20 images and 0 random inputs, 20 differ'

# nothing was trained
for exporter in split_c split_onnx; do
    expect 1 "$MERCATOR" split resnet8 --platform diana --export $exporter -o "none_$exporter" --no-report --quiet
    one_line err
    says err 'expected split_train: give images to train with by --dataset NAME'
done
