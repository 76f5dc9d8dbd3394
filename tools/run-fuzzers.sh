#!/bin/sh
# run-fuzzers.sh BUILD_FOLDER SECONDS: runs every fuzzer in turn, starting from its corpus.
# An input that breaks a parser is kept in the corpus, so that the tests replay it from then on;
# the inputs found on the way stay in the build folder.
set -eu
build=$1
seconds=$2
cd "$(dirname "$0")/.."
failed=0

for source in tests/fuzz/fuzz_*.c; do
    [ -e "$source" ] || { echo "no fuzzers in tests/fuzz"; exit 1; }
    program=$(basename "$source" .c)
    name=${program#fuzz_}
    corpus=tests/fuzz/corpus/$name
    work=$build/corpus/$name
    mkdir -p "$corpus" "$work"
    echo "fuzzing $name for $seconds s"
    if ! "$build/fuzz/$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -verbosity=0 -artifact_prefix="$corpus/found-" \
        "$work" "$corpus" >"$work.log" 2>&1; then
        failed=$((failed + 1))
        cat "$work.log" >&2
    fi
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)' "$work.log" || true
done

echo "fuzzers with findings: $failed"
[ "$failed" -eq 0 ]
