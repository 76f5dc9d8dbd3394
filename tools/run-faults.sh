#!/bin/sh
# run-faults.sh BUILD_FOLDER JOBS: the tests of tests/faults over every call instead of a sample, JOBS verbs at once.
build=$(cd "$1" && pwd) || exit 1
source=$(cd "$(dirname "$0")/.." && pwd)
export MERCATOR="$build/mercator" MERCATOR_BUILD_DIR="$build" MERCATOR_SOURCE_DIR="$source" MERCATOR_FAULTS=all

# one NAME CASE: a line for each test and verb.
if [ "$2" = one ]; then
    said=$(MERCATOR_FAULT_CASES="^$4 " sh "$source/tests/run_test.sh" sh "$source/tests/faults/$3.sh" 2>&1)
    code=$?
    echo "$3 of $4: $said"
    exit $code
fi

cases=$(sed -n "/<<'CASES'/,/^CASES\$/p" "$source/tests/faults/lib.sh.inc" | sed '1d; $d' | cut -d ' ' -f 1)
for name in disk memory; do
    for case in $cases demo; do
        echo "$name $case"
    done
done | xargs -P "$2" -L 1 sh "$0" "$build" one
