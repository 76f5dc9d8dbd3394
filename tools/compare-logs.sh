#!/bin/sh
# compare-logs.sh BASE [HEAD]: do two commits write the same run logs? Builds both in a temporary folder, runs the
# commands of the table below with both on this machine, and prints one line for each of them: equal, or the first
# line that differs, both sides cut to 200 characters around the first difference. Fails if one differs.
# Without HEAD: the last commit. Compared is run.jsonl of every run folder, without the lines of type `note`: those
# are what a report shows, and what is shown may change. Everything that was searched (header, trials, summary) may not.
#   --notes           compare the notes, too
#   --allow REGEX     commands whose line in the table matches may differ, and in an experiment the logs of a matching
#                     optimizer (`magma.*rules=paper`); may be repeated
#   --only REGEX      run only the commands whose line matches
#   --programs A B    compare two programs that are built already, each with the data it finds
#   --keep            leave the temporary folder with all logs in place, and say where
# Experiment and job files are those of BASE (of the working tree with --programs), for both sides.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

# NAME COMMAND: a command is given `--threads 1 --quiet --no-report -o NAME`, and may read what a line above it wrote.
commands()
{
    cat <<'TABLE'
map-exact        map resnet18 --select 1-12 --budget 30000
map-padded       map resnet18 --select 2,5 --factors padded --budget 300 --platform eyeriss-like --objective cycles
map-gamma        map mobilenet_v2 --evaluator datacentric --platform edge --optimizer gamma --budget 1000
map-annealing    map vgg16 --optimizer annealing --dataflow weight --platform eyeriss-like --objective energy --budget 2000
map-pareto       map resnet50 --select 3-8 --pareto energy,cycles --budget 2000
map-distinct     map alexnet --select 1-5 --optimizer genetic --count distinct --fix order.K.GLB=3 --budget 2000
map-cmaes        map bert_base --optimizer cmaes --platform cloud --budget 1500
map-bayes        map resnet18 --select 5 --optimizer bayes --budget 120
map-marl         map resnet18 --select 1-4 --optimizer marl --platform s256 --budget 1000
map-ppo          map dlrm --evaluator datacentric --platform edge --optimizer ppo:transfer=1 --budget 600
map-a2c          map lstm_lm --optimizer a2c --budget 1000
map-warm         map resnet18 --select 1-6 --optimizer annealing --warm map-exact:4 --budget 1000
map-experiment   map experiments/multi-agent-mapping-tiny.yaml
schedule-list    schedule vision --select 1-2 --platform s4 --bandwidth 64 --budget 3000
schedule-maxmin  schedule vision --select 1 --platform s3 --share maxmin --switch-cycles 100 --objective edp --budget 2000
schedule-fast    schedule mix --select 3 --platform s4 --table m3e-compat --bandwidth 16 --precision fast --optimizer annealing --budget 2000
schedule-shipped schedule vision --select 1 --platform s2 --table m3e-compat --optimizer magma:rules=shipped --budget 3000
schedule-paper   schedule mix --groups 1..3 --platform s2 --table m3e-compat --bandwidth 16 --optimizer magma:rules=paper --budget 2000
schedule-exact   schedule synthetic:20:3 --group-size 10 --bandwidth 40 --optimizer exact_schedule
schedule-chain   schedule synthetic:160:7 --group-size 40 --groups 1..4 --bandwidth 1000 --optimizer genetic --budget 2000
schedule-distinct schedule synthetic:8:2 --platform s2 --optimizer de --count distinct --budget 2000
schedule-online  schedule experiments/online-jobs.yaml --platform s2 --arrivals poisson --rate 5 --late drop --optimizer online:moves=10 --objective miss_rate
schedule-late    schedule experiments/online-jobs.yaml --platform s4 --rate 2 --jitter-ms 1 --optimizer annealing --objective tardiness --budget 100
schedule-xr      schedule experiments/online-jobs.yaml --platform s2 --rate 3 --late drop --objective xr_score --budget 100
schedule-experiment schedule experiments/multi-network-tiny.yaml
compare          compare mix --select 1 --optimizer lpt --optimizer random --optimizer tbpsa --optimizer pso --seed 1-2 --budget 300
TABLE
}

usage()
{
    sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
    exit 2
}

fail()
{
    echo "compare-logs: $1" >&2
    exit 1
}

notes='^{"type":"note",' # lines left out; "" leaves out none
allow=
only=
programs=
keep=
while [ $# -gt 0 ]; do
    case $1 in
    --notes) notes= ;;
    --allow) [ $# -ge 2 ] || usage; allow="$allow${allow:+|}($2)"; shift ;;
    --only) [ $# -ge 2 ] || usage; only=$2; shift ;;
    --programs) [ $# -eq 3 ] || usage; programs=yes ;;
    --keep) keep=yes ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -ge 1 ] && [ $# -le 2 ] || usage

work=$(mktemp -d "${TMPDIR:-/tmp}/mercator-logs-XXXXXX")
# finish: waits for what still runs, and takes the two worktrees back.
finish()
{
    wait
    for side in base head; do
        [ ! -e "$work/$side/tree" ] || git -C "$root" worktree remove --force "$work/$side/tree"
    done
    if [ -n "$keep" ]; then
        echo "compare-logs: the logs are in $work"
    else
        rm -rf "$work"
    fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# build SIDE COMMIT: a Release build of the program in a worktree; ccache, if there, knows what was compiled before.
build()
{
    commit=$(git -C "$root" rev-parse --verify --quiet "$2^{commit}") || fail "there is no commit $2"
    mkdir -p "$work/$1"
    git -C "$root" worktree add --quiet --detach "$work/$1/tree" "$commit"
    launcher=
    if command -v ccache >/dev/null; then
        launcher=-DCMAKE_C_COMPILER_LAUNCHER=ccache
        export CCACHE_BASEDIR="$work/$1" CCACHE_NOHASHDIR=1
    fi
    # shellcheck disable=SC2086
    if ! {
        sh "$work/$1/tree/tools/configure.sh" "$work/$1/build" -DCMAKE_BUILD_TYPE=Release -DMERCATOR_TESTS=OFF \
            -DMERCATOR_SHARED=OFF $launcher && cmake --build "$work/$1/build" -j 2 --target mercator
    } >"$work/$1/build.log" 2>&1; then
        tail -n 30 "$work/$1/build.log" >&2
        fail "$2 does not build"
    fi
}

started=$(date +%s)
mkdir -p "$work/base/runs" "$work/head/runs"
inputs=$root/experiments
if [ -n "$programs" ]; then
    for program; do
        [ -x "$program" ] || fail "$program is no program"
    done
    base=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    head=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
else
    build base "$1"
    build head "${2:-HEAD}"
    base=$work/base/build/mercator
    head=$work/head/build/mercator
    inputs=$work/base/tree/experiments
    echo "$(git -C "$root" rev-parse --short "$1") and $(git -C "$root" rev-parse --short "${2:-HEAD}") built in $(($(date +%s) - started)) s"
fi
for side in base head; do
    cp -r "$inputs" "$work/$side/runs/experiments"
done

# run SIDE PROGRAM NAME ARGUMENT...: in a folder and with a price cache of its own.
run()
{
    side=$work/$1
    program=$2
    name=$3
    shift 3
    cd "$side/runs"
    XDG_CACHE_HOME=$side/cache
    export XDG_CACHE_HOME
    code=0
    "$program" "$@" --threads 1 --quiet --no-report -o "$name" >"$name.out" 2>&1 </dev/null || code=$?
    echo "$code" >"$name.code"
}

# logs SIDE NAME: the paths of its logs.
logs()
{
    cd "$work/$1/runs" && find "$2" -name run.jsonl | LC_ALL=C sort
}

# first_difference A B LABEL: "LABEL:LINE: A | B" of the first line that differs, nothing if all are equal.
first_difference()
{
    LC_ALL=C awk -v other="$2" -v label="$3" -v skip="$notes" '
        # The next line of the other file that counts; 0 at its end.
        function next_other()
        {
            while ((getline theirs < other) > 0) {
                if (skip == "" || theirs !~ skip) return 1
            }
            return 0
        }
        # Cut around the first difference: what is equal before it is long and says nothing.
        function show(line, at,    from)
        {
            from = at > 60 ? at - 60 : 1
            return (from > 1 ? "..." : "") substr(line, from, 200)
        }
        function tell(mine, theirs,    at)
        {
            for (at = 1; at <= length(mine) && substr(mine, at, 1) == substr(theirs, at, 1); at++) {}
            printf "%s:%d: %s | %s\n", label, FNR, show(mine, at), show(theirs, at)
            told = 1
            exit
        }
        skip != "" && $0 ~ skip { next }
        {
            if (!next_other()) tell($0, "(end of the log)")
            if ($0 "" != theirs "") tell($0, theirs)
        }
        END { if (!told && next_other()) tell("(end of the log)", theirs) }' "$1"
}

# optimizer LOG: the optimizer in its header, as `{name=magma,options={rules=paper,...`.
optimizer()
{
    head -n 1 "$1" | sed 's/.*"optimizer"//; s/"//g; s/:/=/g'
}

# compare NAME ARGUMENTS: prints "equal", "allowed" or "differs" and what was found.
compare()
{
    verdict=differs
    ! is_allowed "$1 $2" || verdict=allowed
    for side in base head; do
        if [ "$(cat "$work/$side/runs/$1.code")" != 0 ]; then
            echo "differs $1: $side failed: $(tail -n 1 "$work/$side/runs/$1.out" | cut -c 1-200)"
            return
        fi
    done
    logs base "$1" >"$work/base/logs"
    logs head "$1" >"$work/head/logs"
    if ! cmp -s "$work/base/logs" "$work/head/logs"; then
        echo "$verdict $1: $(wc -l <"$work/base/logs") logs | $(wc -l <"$work/head/logs") logs, or under other names"
        return
    elif [ ! -s "$work/base/logs" ]; then
        echo "differs $1: neither side wrote a log"
        return
    fi
    lines=0
    excused=
    while read -r log; do
        lines=$((lines + $(wc -l <"$work/base/runs/$log")))
        reason=$(first_difference "$work/base/runs/$log" "$work/head/runs/$log" "$log")
        if [ -z "$reason" ]; then
            continue
        elif [ $verdict = differs ] && ! is_allowed "$(optimizer "$work/base/runs/$log")"; then
            echo "differs $1: $reason"
            return
        fi
        excused=${excused:-$reason}
    done <"$work/base/logs"
    if [ -n "$excused" ]; then
        echo "allowed $1: $excused"
    else
        echo "equal   $1: $(wc -l <"$work/base/logs") logs, $lines lines"
    fi
}

# is_allowed TEXT: may what the text describes differ?
is_allowed()
{
    [ -n "$allow" ] && printf '%s\n' "$1" | grep -qE -e "$allow"
}

commands | grep -E -e "${only:-.}" >"$work/table" || fail "no command matches $only"
while read -r name arguments; do
    # Both sides at once, one thread each: the results do not depend on it.
    # shellcheck disable=SC2086
    (run base "$base" "$name" $arguments) &
    # shellcheck disable=SC2086
    (run head "$head" "$name" $arguments) &
    wait
    compare "$name" "$arguments" | tee -a "$work/verdicts"
done <"$work/table"
differing=$(grep -c '^differs' "$work/verdicts" || true)
echo "$(wc -l <"$work/table") commands, $differing differ, $(grep -c "^allowed" "$work/verdicts" || true) more were allowed to; $(($(date +%s) - started)) s"
[ "$differing" -eq 0 ]
