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
        set -- "$@" --pareto accuracy,latency --warmup_cache "$out/warm" --threads 1 -o "$out/$name"
    fi
    /usr/bin/time -q -a -f %U -o "$out/$name/cpu.part" "$program" split "$@" --no-report --quiet >"$out/$name/messages" 2>&1 || {
        cat "$out/$name/messages"
        exit 255
    }
    exec mv "$out/$name/cpu.part" "$out/$name/cpu_s"
fi
program=$1
data=$2
out=$3
here=$(dirname "$0")
shift 3
[ $# -gt 0 ] || set -- hard more energy remedies fashion spoken thrifty frugal darkside brief ends
default=exact # the way to differentiate the cost that won
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

polished() { # STUDY SEEDS NAME COUNT: the searched splits after the polish
    for seed in $2; do
        add "$1/$3_polished-$seed" $options --seed "$seed" --optimizer polish:all=true --warm "$out/$1/$3-$seed:$4" --evaluator "$training"
    done
    start
}
baselines="all_8bit all_ternary io_8bit min_latency min_energy layer_wise half sensitivity"
images() { [ -e "$out/data/spoken-more" ] || python3 "$here/channel-split.py" data "$data" "$out/data"; }
hard_case() {
    images
    options="resnet8@input=1x14x14 --platform diana --dataset fashion-14 --data $out/data --samples 1000 --shift 1 --flip true --warmup_epochs 60 --test_noise 0.1 --test_shift 2"
    training=split_train:finetune_epochs=8,answers=true
    search=search_epochs=10,alpha_rate=0.05
    lambdas=lambda=[0.03,0.3,3,10,100]
}
# ResNet8 with 1,000 images of 14 x 14: 5 strengths, all ways to differentiate the cost, all fixed mappings.
hard() {
    hard_case
    fixed hard "${SEEDS:-1 2 3}" "$baselines"
    for mode in exact chord expected ste; do
        searched hard "${SEEDS:-1 2 3}" $mode "$lambdas,$search" gradient=$mode
    done
    searched hard "${SEEDS:-1 2 3}" score "$lambdas,$search,cost_gradient=score"
    start
}
# More seeds for the comparison with fixed mappings, and the splits after the polish.
added="4 5 6 7 8 9 10 11 12 13 14"
ten="1 2 3 4 5 6 7 8 9 10"
six="1 2 3 4 5 6"
sixteen="$ten 11 12 13 14 15 16"
more() {
    hard_case
    fixed hard "$added" "$baselines"
    searched hard "$added" $default "$lambdas,$search" gradient=$default
    start
    for seed in 1 2 3 $added; do # nearer to the cheapest split than half way
        add "hard/sensitivity_20-$seed" $options --seed $seed --optimizer sensitivity:target=0.2 --evaluator "$training"
    done
    polished hard "1 2 3 $added" $default 5
    fixed hard "15 16 17 18" "all_8bit all_ternary" # which differs most from seed to seed
    start
}
# The same search for energy.
energy() {
    hard_case
    options="$options --objective energy"
    searched hard "1 2 3 $added 15 16 17 18" energy "$lambdas,$search" gradient=$default
    searched hard "1 2 3 $added 15 16 17 18" energy_expected "$lambdas,$search" gradient=expected
    start
    polished hard "1 2 3 $added" energy 5
    start
}
# What else was tried where a fixed mapping is not matched: two strengths.
remedies() {
    hard_case
    few=lambda=[10,100]
    searched hard "1 2 3" epochs "$few,search_epochs=20,alpha_rate=0.05" gradient=$default
    searched hard "1 2 3" faster "$few,search_epochs=10,alpha_rate=0.2" gradient=$default
    searched hard "1 2 3" gumbel "$few,$search,gate=gumbel" gradient=$default
    searched hard "1 2 3" sigmoid "$few,$search,gate=sigmoid" gradient=$default
    searched hard "1 2 3" montecarlo "$few,$search,estimator=montecarlo:2" gradient=$default
    searched hard "1 2 3" ramp "$few,$search,ramp=linear" gradient=$default
    searched hard "1 2 3" target "target=0.4,$search" gradient=$default
    start
}
# Smaller studies: 3 strengths, few epochs.
fashion_case() {
    images
    options="resnet8 --platform diana --dataset fashion-more --data $out/data --samples 1000 --batch_size 50 --shift 3 --flip true --warmup_epochs 12 --test_noise 0.1 --test_shift 4"
    training=split_train:finetune_epochs=4,answers=true
}
spoken_case() {
    images
    options="ds_cnn --platform diana --dataset spoken-more --data $out/data --samples 1000 --batch_size 50 --roll 5 --warmup_epochs 12 --test_noise 0.05 --test_shift 3"
    training=split_train:finetune_epochs=5,answers=true
}
darkside_case() {
    images
    options="mobilenet_v1@input=1x28x28@width=0.25@stem_stride=1 --platform darkside --dataset fashion-more --data $out/data --samples 1000 --batch_size 50 --shift 2 --flip true --warmup_epochs 30 --test_noise 0.1 --test_shift 4"
    training=split_train:finetune_epochs=8,answers=true
}
small=search_epochs=5,alpha_rate=0.05
fashion() {
    fashion_case
    seeds=$sixteen
    fixed fashion "$seeds" "all_8bit all_ternary io_8bit min_latency min_energy half"
    searched fashion "$seeds" searched "lambda=[0.3,10,100],$small" gradient=$default
    searched fashion "$seeds" low "lambda=[0.003,0.03],$small" gradient=$default
    start
    polished fashion "$seeds" searched 3
    fixed fashion "17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34" "all_8bit all_ternary" # which differs most from seed to seed
    start
}
spoken() {
    spoken_case
    fixed spoken "$ten" "all_8bit all_ternary io_8bit min_latency min_energy half"
    searched spoken "$ten" searched "lambda=[0.3,10,100],$small" gradient=$default
    searched spoken "$ten" low "lambda=[0.003,0.03],$small" gradient=$default
    start
    polished spoken "$ten" searched 3
}
# The same two searched for energy.
thrifty() {
    spoken_case
    options="$options --objective energy"
    searched spoken "$ten" energy "lambda=[0.3,10,100],$small" gradient=$default
    start
    polished spoken "$ten" energy 3
    fashion_case
    options="$options --objective energy"
    searched fashion "$sixteen 17 18 19" energy "lambda=[0.3,10,100],$small" gradient=$default
    start
    polished fashion "$sixteen" energy 3
}
# What was tried so that a split within all_8bit's energy is as accurate.
frugal() {
    spoken_case
    options="$options --objective energy"
    searched spoken "$six" energy_low "lambda=[0.003,0.03],$small" gradient=$default
    start
    polished spoken "$six" energy_low 2
    fashion_case
    options="$options --objective energy"
    searched fashion "$six" energy_low "lambda=[0.003,0.03],$small" gradient=$default
    searched fashion "1 2 3" energy_expected "lambda=[0.3],$small" gradient=expected
    searched fashion "1 2 3" energy_epochs "lambda=[0.3],search_epochs=10,alpha_rate=0.05" gradient=$default
    searched fashion "1 2 3" energy_faster "lambda=[0.3],search_epochs=5,alpha_rate=0.2" gradient=$default
    start
    polished fashion "$six" energy_low 2
}
long=search_epochs=8,alpha_rate=0.05
fresh="21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40"
# 24 epochs of fine-tune: with 8 the ends are far from trained, and differ by points from seed to seed (stage brief). Seeds that the other
# stages do not have.
darkside() {
    darkside_case
    training=split_train:finetune_epochs=24,answers=true
    for seed in ${SEEDS:-$fresh}; do # all cells of a seed, then the next: the command can be stopped at any time
        fixed darkside_24 $seed "all_conv all_depthwise half"
        searched darkside_24 $seed high "lambda=[10],$long" gradient=$default
        searched darkside_24 $seed searched "lambda=[0.1,1],$long,ramp=linear" gradient=$default
        start
    done
}
# The same with 8 epochs, and three times as many for the two ends.
brief() {
    darkside_case
    fixed darkside "$ten" "all_conv all_depthwise"
    searched darkside "$ten" high "lambda=[10],$long" gradient=$default
    for seed in $ten; do
        for end in conv depthwise; do
            [ "$end" = depthwise ] && [ "$seed" -gt 6 ] ||
                add "darkside/${end}_24_epochs-$seed" $options --seed $seed --optimizer all_$end --evaluator split_train:finetune_epochs=24,answers=true
        done
    done
    searched darkside "$ten" searched "lambda=[0.01,0.1,1],$long,ramp=linear" gradient=$default
    for seed in $six; do
        add "darkside/half-$seed" $options --seed $seed --optimizer half --evaluator "$training"
    done
    start
}
# What was tried so that the search on Darkside reaches all_depthwise.
ends() {
    darkside_case
    searched darkside "1 2 3" higher "lambda=[100],$long" gradient=$default
    searched darkside "1 2 3" longer "lambda=[10],search_epochs=16,alpha_rate=0.05" gradient=$default
    searched darkside "1 2 3" quicker "lambda=[10],search_epochs=8,alpha_rate=0.2" gradient=$default
    searched darkside "1 2 3" by_expected "lambda=[10],$long" gradient=expected
    searched darkside "1 2 3" by_chord "lambda=[10],$long" gradient=chord
    polished darkside "1 2 3" high 1
}
# For the tests: seconds, numbers that mean nothing.
tiny() {
    options="resnet8 --platform diana --dataset digits8x8 --samples 60 --warmup_epochs 1 --test_noise 0.1 --test_shift 1"
    training=split_train:finetune_epochs=1,answers=true
    fixed hard "1 2" "all_8bit io_8bit"
    searched hard "1 2" exact "lambda=[0.1,1],search_epochs=2" gradient=exact
    searched hard "1 2" score "lambda=[0.1,1],search_epochs=2,cost_gradient=score"
    start
}
for stage; do $stage; done
