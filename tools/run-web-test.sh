#!/bin/sh
# run-web-test.sh PROGRAM: tests the report page in a headless browser, in a folder of its own.
# Without a browser the test is skipped, except in CI, where that is a failure.
program=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/mercator-web-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
case $program in
/*) ;;
*) program=$PWD/$program ;;
esac

sh tests/web/run.sh "$program" "$folder"
code=$?
if [ $code -eq 77 ] && [ "${CI:-}" != true ]; then
    echo "test-web: skipped"
    exit 0
fi
if [ $code -ne 0 ]; then
    echo "test-web: failed (exit code $code)" >&2
    exit 1
fi
