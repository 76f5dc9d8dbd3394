#!/bin/sh
# run_test.sh COMMAND [ARGUMENT...]: runs one test in an empty folder of its own and removes it after.
# A cmocka program that skipped all of its tests counts as skipped (exit code 77), as ctest shows it.
folder=$(mktemp -d "${TMPDIR:-/tmp}/mercator-test-XXXXXX") || exit 1
output=$folder.log
trap 'rm -rf "$folder" "$output"' EXIT
trap 'exit 130' INT TERM HUP
cd "$folder" || exit 1
XDG_CACHE_HOME=$folder/cache # what earlier runs left behind must not decide a test
export XDG_CACHE_HOME

"$@" >"$output" 2>&1
code=$?
cat "$output"
if [ $code -eq 0 ] && grep -q '^\[  PASSED  \] 0 test(s)' "$output" &&
    grep -q '^\[  SKIPPED \] [1-9][0-9]* test(s)' "$output"; then
    exit 77
fi
exit $code
