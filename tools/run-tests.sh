#!/bin/sh
# run-tests.sh BUILD_FOLDER [CTEST_OPTION...]: runs ctest and says, just before ctest's own summary,
# how many single test cases were skipped inside the test programs.
build=$1
shift
log=$build/Testing/Temporary/LastTest.log

# The sanitizers stop at the first finding; the fixed load address keeps ThreadSanitizer's memory map.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"

# Cases that cmocka counted as skipped, and "skipped: reason" lines of shell tests.
count_skipped()
{
    awk '/^\[  SKIPPED \] [0-9]+ test\(s\)/ { cases += $4 }
         /^skipped: / { cases++ }
         END { print cases + 0 }' "$log" 2>/dev/null || echo 0
}

code=$(mktemp) || exit 1
trap 'rm -f "$code"' EXIT
{
    ctest --test-dir "$build" --output-on-failure --no-label-summary --no-tests=error "$@" 2>&1
    echo $? >"$code"
} | {
    summary=
    while IFS= read -r line; do
        case $line in
        *"% tests passed, "*" failed out of "*) summary=yes && held= ;;
        esac
        if [ -z "$summary" ]; then
            printf '%s\n' "$line"
        else
            held="$held$line
"
        fi
    done
    if [ -n "$summary" ]; then
        echo "skipped test cases: $(count_skipped)"
        echo
        printf '%s' "$held"
    fi
}
exit "$(cat "$code")"
