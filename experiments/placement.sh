#!/bin/sh
# placement.sh PROGRAM GRAPHS FOLDER [STAGE...]: learned placement against classical solvers (docs/studies/placement.md). GRAPHS is a
# folder with the published graphs (msr-throughput-layer/..., pipedream/...). Finished runs are kept when the command is given
# again; placement.py makes the tables. One thread per run, so that CPU times can be compared.
set -eu
program=$1
graphs=$2
out=$3
shift 3
[ $# -gt 0 ] || set -- bars learned transfer unseen matrix ablation colocation tasks time noise
mkdir -p "$out"
layer=$graphs/msr-throughput-layer
operator=$graphs/msr-throughput-operator
golden="$layer/bert24_training.json $layer/gnmt_inference.json $layer/resnet50_inference.json $operator/bert_l-3_inference.json $operator/resnet50_training.json"
others="$graphs/pipedream/vgg16.txt $graphs/pipedream/inception_v3.txt $graphs/pipedream/resnet50.txt $graphs/pipedream/gnmt_large.txt"
small=preset=small
tune=go:$small,updates=50,warm_up=1 # 50 updates from a policy: of cuts alone

run() { # NAME OPTION...: one run, unless it is there
    name=$1
    shift
    [ -e "$out/$name/summary.json" ] && return
    rm -rf "${out:?}/$name"
    /usr/bin/time -f %U -o "$out/cpu.$$" "$program" place "$@" --threads 1 --no-report --quiet -o "$out/$name" >"$out/last.$$" 2>&1 || {
        cat "$out/last.$$"
        exit 1
    }
    mv "$out/cpu.$$" "$out/$name/cpu_s"
}
seeds() { # NAME OPTION...: seeds 1 to 3
    runs=$1
    shift
    for seed in 1 2 3; do
        run "$runs-$seed" "$@" --seed $seed
    done
}
short() { basename "$1" | sed 's/\.[a-z]*$//'; }
but() { # GRAPH GRAPH...: all others
    left=
    without=$1
    shift
    for g; do [ "$g" = "$without" ] || left="$left $g"; done
    echo "$left"
}

# At most 5,000 samples of one graph. The graphs of PipeDream were not looked at while the policies were made.
bars() {
    for g in $golden $others; do
        n=$(short "$g")
        for o in go:$small random annealing cross_entropy genetic; do
            seeds "bars/$n/${o%%:*}" "$g" --optimizer "$o" --budget 5000
        done
        for o in portfolio exact expert single; do run "bars/$n/$o-1" "$g" --optimizer $o; done
    done
}
learned() {
    for g in $golden $others; do
        for o in hdp:$small reinforce_lstm:$small; do
            seeds "bars/$(short "$g")/${o%%:*}" "$g" --optimizer "$o" --budget 5000
        done
    done
}
# A policy from the other golden graphs: as it is, with 50 updates, and 50 updates of none.
transfer() {
    for g in $golden; do
        n=$(short "$g")
        for seed in 1 2 3; do
            policy=$out/transfer-$n-$seed.policy
            # shellcheck disable=SC2046
            [ -e "$policy" ] || /usr/bin/time -f %U -o "$policy.cpu_s" "$program" place --train $(but "$g" $golden) --optimizer go:$small --budget 3000 --passes 10 \
                --seed $seed --threads 1 --no-report --quiet -o "$out/train-$n-$seed" --save-policy "$policy" >"$out/last.$$" 2>&1
            run "transfer/$n/zero-$seed" "$g" --optimizer go:$small,updates=0 --budget 20 --policy "$policy" --seed $seed
            run "transfer/$n/tuned-$seed" "$g" --optimizer $tune --budget 5000 --policy "$policy" --seed $seed
            run "transfer/$n/fresh-$seed" "$g" --optimizer $tune --budget 5000 --seed $seed
        done
    done
}
# A policy from all golden graphs on graphs of another source.
unseen() {
    for seed in 1 2 3; do
        policy=$out/golden-$seed.policy
        # shellcheck disable=SC2086
        [ -e "$policy" ] || "$program" place --train $golden --optimizer go:$small --budget 3000 --passes 10 --seed $seed --threads 1 --no-report --quiet \
            -o "$out/train-golden-$seed" --save-policy "$policy" >"$out/last.$$" 2>&1
        for g in $others; do
            n=$(short "$g")
            run "unseen/$n/zero-$seed" "$g" --optimizer go:$small,updates=0 --budget 20 --policy "$policy" --seed $seed
            run "unseen/$n/tuned-$seed" "$g" --optimizer $tune --budget 5000 --policy "$policy" --seed $seed
            run "unseen/$n/fresh-$seed" "$g" --optimizer $tune --budget 5000 --seed $seed
        done
    done
}
# Families: what is learned on one, tried on all.
family() {
    case $1 in
        bert) echo "$layer/bert24_training.json $operator/bert_l-3_inference.json" ;;
        gnmt) echo "$layer/gnmt_inference.json $graphs/piper/gnmt.json" ;;
        resnet) echo "$layer/resnet50_inference.json $operator/resnet50_training.json" ;;
    esac
}
matrix() {
    for from in bert gnmt resnet; do
        for seed in 1 2 3; do
            policy=$out/family-$from-$seed.policy
            # shellcheck disable=SC2046
            [ -e "$policy" ] || "$program" place --train $(family $from) --optimizer go:$small --budget 3000 --passes 10 \
                --seed $seed --threads 1 --no-report --quiet -o "$out/train-$from-$seed" --save-policy "$policy" >"$out/last.$$" 2>&1
            for g in $golden; do
                run "matrix/$from/$(short "$g")-zero-$seed" "$g" --optimizer go:$small,updates=0 --budget 20 --policy "$policy" --seed $seed
                run "matrix/$from/$(short "$g")-tuned-$seed" "$g" --optimizer $tune --budget 5000 --policy "$policy" --seed $seed
            done
        done
    done
}
ablation() {
    for g in $layer/resnet50_inference.json $operator/bert_l-3_inference.json; do
        for change in none embedding=0 attention=false modulation=false rounds=0 rounds=2 pairs=false positions=false improve=0 start=none; do
            o=go:$small
            [ $change = none ] || o=$o,$change
            seeds "ablation/$(short "$g")/$change" "$g" --optimizer "$o" --budget 5000
        done
    done
}
colocation() {
    for way in off output group blocks; do
        case $way in blocks) option="--blocks true" ;; *) option="--single-consumer $way" ;; esac
        for n in bert_base; do
            # shellcheck disable=SC2086
            for o in go:$small annealing; do
                seeds "colocation/$n/$way-${o%%:*}" $n --platform four-v100-nvlink --optimizer $o --budget 2000 $option
            done
        done
    done
}
# Placement, order and fusion of our own networks on four GPUs.
tasks() {
    for n in bert_base resnet50 lstm_lm; do
        on="--platform four-v100-nvlink"
        case $n in bert_base) budget=2000 ;; *) budget=5000 ;; esac
        # shellcheck disable=SC2086
        for decide in place place,order place,fuse place,order,fuse; do
            seeds "tasks/$n/go-$decide" $n $on --decide $decide --optimizer go:$small --budget $budget
            run "tasks/$n/portfolio-$decide-1" $n $on --decide $decide
        done
        # shellcheck disable=SC2086
        for o in single expert; do run "tasks/$n/$o-1" $n $on --optimizer $o; done
    done
}
# About as much processor time as 5,000 samples of go take; the hybrid is annealing from go's placements.
time() {
    g=$layer/resnet50_inference.json
    for o in annealing genetic cross_entropy place_annealing; do
        how=$o
        case $o in annealing) budget=4700000 ;; genetic) budget=2600000 ;; cross_entropy) budget=2500000 ;; *) budget=100000 how=$o:moves=110000000 ;; esac
        seeds "time/$o" "$g" --optimizer $how --budget $budget --log improving
    done
    run time/portfolio-1 "$g"
    for seed in 1 2 3; do
        run "time/go-half-$seed" "$g" --optimizer go:$small --budget 2500 --seed $seed
        run "time/go-then-annealing-$seed" "$g" --optimizer annealing --budget 2300000 --log improving --warm "$out/time/go-half-$seed:8" --seed $seed
    done
}
noise() {
    for sigma in 0 0.05 0.1 0.2 0.5; do
        for o in go:$small annealing cross_entropy; do
            seeds "noise/${o%%:*}-$sigma" $layer/resnet50_inference.json --evaluator maxload:noise=$sigma --optimizer "$o" --budget 5000
        done
    done
}
for stage; do $stage; done
