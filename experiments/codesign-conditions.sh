#!/bin/sh
# codesign-conditions.sh PROGRAM FOLDER: tuners at batch 4, with 2 and 4 times the resources, under a power limit, and a policy that
# moves to another geometry. Finished cells are kept when the command is given again; codesign-conditions.py makes the tables.
set -eu
program=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
run() { # NAME OPTION...
    name=$1
    shift
    "$program" codesign "$here/codesign-conditions.yaml" --no-report --quiet -o "$out/$name" "$@" >"$out/$name.txt"
}
run batch4 --batch-size 4
run resources2x --mac-budget 2x --sram-budget 2x
run resources4x --mac-budget 4x --sram-budget 4x
run power150 --max-power-mw 150

# A policy learned on 1x16x16 goes on to 1x8x32: with updates, without them (and without a critic), and from nothing.
sed 's/^name: .*/name: vta-1x8x32/; s/block_in: 16, block_out: 16/block_in: 8, block_out: 32/' "$here/../platforms/vta-pynq-b.yaml" >"$out/other.yaml"
for network in resnet18 vgg16; do
    case $network in resnet18) layers=1-11 ;; *) layers=1-9 ;; esac # convolutions: a policy is of one set of knobs
    tune="$program codesign $network --select $layers --hardware fixed --no-report --quiet --log improving"
    [ -e "$out/transfer-$network-grid/summary.json" ] || $tune --platform "$out/other.yaml" -o "$out/transfer-$network-grid" >/dev/null
    for seed in 1 2 3 4 5; do
        policy=$out/policy-$network-$seed
        learn="$tune --budget 96 --seed $seed"
        [ -e "$policy" ] || $learn --optimizer dcoc --save-policy "$policy" -o "$out/teacher-$network-$seed" >/dev/null
        for way in cold moved frozen; do
            folder=$out/transfer-$network-$way-$seed
            [ -e "$folder/summary.json" ] && continue
            case $way in
            cold) set -- --optimizer dcoc ;;
            moved) set -- --optimizer dcoc --policy "$policy" ;;
            frozen) set -- --optimizer dcoc:updates=false --policy "$policy" ;;
            esac
            $learn --platform "$out/other.yaml" "$@" -o "$folder" >/dev/null
        done
    done
done
