#!/bin/sh
# channel-split.sh PROGRAM DATA FOLDER [STAGE...]: splits that are learned against fixed ones (docs/studies/channel-split.md). DATA is the
# folder with the image sets fashion and fsdd-mfcc. A cell is one run, single-threaded, JOBS (2) of them at a time; finished cells are kept
# when the command is given again, and a cell that was cut off goes on. channel-split.py makes the tables.
set -euf
if [ "$1" = cell ]; then # PROGRAM FOLDER NAME OPTION...: one run
    program=$2 out=$3 name=$4
    shift 4
    [ -e "$out/$name/cpu_s" ] && exit
    mkdir -p "$out/$name"
    if [ -e "$out/$name/run.jsonl" ]; then
        set -- --resume "$out/$name"
    else
        set -- "$@" --warmup_cache "$out/warm" --threads 1 -o "$out/$name"
    fi
    /usr/bin/time -f %U -o "$out/$name/cpu.part" "$program" split "$@" --no-report --quiet >"$out/$name/messages" 2>&1 || {
        cat "$out/$name/messages"
        exit 255
    }
    cat "$out/$name"/cpu*.part >"$out/$name/cpu.sum"
    exec mv "$out/$name/cpu.sum" "$out/$name/cpu_s"
fi
program=$1
data=$2
out=$3
here=$(dirname "$0")
shift 3
[ $# -gt 0 ] || set -- hard fashion spoken darkside remedies
mkdir -p "$out"
queue=$out/queue.$$
trap 'rm -f "$queue"' EXIT

add() { echo "$*" >>"$queue"; } # NAME OPTION...: a cell to run
start() { # all cells that were added
    [ ! -e "$queue" ] || xargs -P "${JOBS:-2}" -L 1 sh "$0" cell "$program" "$out" <"$queue"
    rm -f "$queue"
}
fixed() { # STUDY SEEDS SOLVERS: mappings that are not searched; the first one leaves the float network for the others
    for seed in $2; do add "$1/${3%% *}-$seed" $options --seed "$seed" --optimizer "${3%% *}" --evaluator "$training"; done
    start
    for seed in $2; do
        for solver in $3; do add "$1/$solver-$seed" $options --seed "$seed" --optimizer "$solver" --evaluator "$training"; done
    done
}
searched() { # STUDY SEEDS NAME SEARCH [TRAINING]
    for seed in $2; do
        add "$1/$3-$seed" $options --seed "$seed" --optimizer "odimo:$4" --evaluator "$training${5:+,$5}"
    done
}

baselines="all_8bit all_ternary io_8bit min_latency min_energy layer_wise half sensitivity"
hard_case() {
    [ -e "$out/data/fashion-small" ] || python3 "$here/channel-split.py" data "$data" "$out/data"
    options="resnet8@input=1x28x28 --platform diana --dataset fashion-small --data $out/data --samples 500 --batch_size 50 --shift 2 --flip true --warmup_epochs 60 --test_noise 0.1 --test_shift 4"
    training=split_train:finetune_epochs=8,answers=true
    search=search_epochs=12,alpha_rate=0.05
    lambdas=lambda=[0.3,3,10,30,100]
}
# ResNet8 with 500 images: 5 strengths, all ways to differentiate the cost, all fixed mappings.
hard() {
    hard_case
    fixed hard "${SEEDS:-1 2 3}" "$baselines"
    for mode in exact chord expected ste; do
        searched hard "${SEEDS:-1 2 3}" $mode "$lambdas,$search" gradient=$mode
    done
    searched hard "${SEEDS:-1 2 3}" score "$lambdas,$search,cost_gradient=score"
    start
}
for stage; do $stage; done
