#!/bin/sh
# run-tests.sh BUILD_FOLDER [CTEST_OPTION...]: runs ctest and says, just before ctest's own summary,
# which single test cases were skipped inside the test programs, and why.
build=$1
shift
log=$build/Testing/Temporary/LastTest.log

# The sanitizers stop at the first finding; the fixed load address keeps ThreadSanitizer's memory map.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"

# Cases that cmocka skipped and "skipped: reason" lines of shell tests: how many, and by reason in which tests.
list_skipped()
{
    awk 'function skip(reason) {
             if (!(reason in tests)) {
                 reasons[++reason_count] = reason
             }
             if (++cases[reason, test] == 1) {
                 tests[reason] = tests[reason] (tests[reason] == "" ? "" : " ") test
             }
             all++
         }
         /^[0-9]+\/[0-9]+ Test: / { test = $3 }
         /^\[ RUN      \] / { running = $4; reason = "skipped by the test" }
         /^missing reference data: / { reason = "without " $4 }
         /^\[  SKIPPED \] / && $4 == running { skip(reason); running = "" }
         /^skipped: / { skip(substr($0, 10)) }
         END {
             print "skipped test cases: " all + 0
             for (i = 1; i <= reason_count; i++) {
                 text = ""
                 count = split(tests[reasons[i]], names, " ")
                 for (n = 1; n <= count; n++) {
                     text = text (n > 1 ? ", " : "") names[n] " (" cases[reasons[i], names[n]] ")"
                 }
                 print "  " reasons[i] ": " text
             }
         }' "$log" 2>/dev/null || echo "skipped test cases: 0"
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
        list_skipped
        echo
        printf '%s' "$held"
    fi
}
exit "$(cat "$code")"
