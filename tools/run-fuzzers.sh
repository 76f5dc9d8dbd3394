#!/bin/sh
# run-fuzzers.sh BUILD_FOLDER SECONDS JOBS [NAME...]: runs every fuzzer, or those named, each SECONDS of the processor's
# time and JOBS side by side, starting from its corpus, and prints a line for each: its name, inputs, seconds, findings.
# An input that breaks a parser is kept in the corpus, so that the tests replay it from then on;
# the inputs found on the way stay in the build folder.
set -eu
build=$1
seconds=$2
jobs=$3
shift 3
cd "$(dirname "$0")/.."

# fuzz NAME: libFuzzer counts seconds of the clock; where others take the processor it goes on until it has had its own.
fuzz()
{
    corpus=tests/fuzz/corpus/$1
    work=$build/corpus/$1
    mkdir -p "$corpus" "$work"
    had=0
    inputs=0
    findings=0
    while [ "$had" -lt "$seconds" ] && [ "$findings" -eq 0 ]; do
        sh -c '"$@"; code=$?; times >&2; exit $code' fuzz "$build/fuzz/fuzz_$1" \
            -max_total_time=$((seconds - had)) -timeout=120 -rss_limit_mb=2048 \
            -print_final_stats=1 -verbosity=0 -artifact_prefix="$corpus/found-" \
            "$work" "$corpus" >"$work.log" 2>&1 || findings=1
        # the last line of `times`: minutes and seconds of the children, as user and system time
        spent=$(tail -n 1 "$work.log" | awk '{ for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] }
            print int(sum) }')
        made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work.log")
        had=$((had + (spent > 0 ? spent : 1)))
        inputs=$((inputs + ${made:-0}))
    done
    [ "$findings" -eq 0 ] || cat "$work.log" >&2
    echo "$1 $inputs inputs $had s $findings findings"
    return "$findings"
}

if [ "$jobs" = one ]; then
    fuzz "$1"
    exit
fi
[ $# -gt 0 ] || set -- $(ls tests/fuzz | sed -n 's/^fuzz_\(.*\)\.c$/\1/p')
[ $# -gt 0 ] || { echo "no fuzzers in tests/fuzz"; exit 1; }
echo "fuzzing $# entries for $seconds s each"
printf '%s\n' "$@" | xargs -P "$jobs" -I NAME sh "tools/$(basename "$0")" "$build" "$seconds" one NAME
