#!/bin/sh
# run-faults.sh BUILD_FOLDER: the tests of tests/faults over every call instead of a sample.
build=$(cd "$1" && pwd) || exit 1
source=$(cd "$(dirname "$0")/.." && pwd)
export MERCATOR="$build/mercator" MERCATOR_BUILD_DIR="$build" MERCATOR_SOURCE_DIR="$source" MERCATOR_FAULTS=all
failed=0
for script in "$source"/tests/faults/*.sh; do
    echo "$(basename "$script" .sh):"
    sh "$source/tests/run_test.sh" sh "$script" || failed=1
done
exit $failed
