#!/bin/sh
# coverage.sh BUILD_FOLDER JOBS [CTEST_OPTION...]: builds with --coverage, runs the tests (those that the options of
# ctest choose) and prints which share of the lines and branches of src ran, by folder and in all. A branch is a way
# that a condition can go, as gcov counts them in code built with -O1; assertions count, and their failing side never runs.
# BUILD_FOLDER/coverage.info has the lines, for genhtml. Fails if a test fails.
set -eu
build=$1
jobs=$2
shift 2
cd "$(dirname "$0")/.."

# Whole in every run: counts of an earlier one would flatter this one.
find "$build" -name '*.gcda' -exec rm -f {} + 2>/dev/null || true
sh tools/configure.sh "$build" -DMERCATOR_TESTS=ON -DMERCATOR_COVERAGE=ON -DMERCATOR_WERROR=OFF \
    -DCMAKE_C_FLAGS_RELEASE='-O1 -g'
cmake --build "$build" -j "$jobs"
failed=0
sh tools/run-tests.sh "$build" -j "$jobs" "$@" || failed=1

# collect FILE OPTION...: what the counters say, or with --initial that nothing ran.
collect()
{
    file=$1
    shift
    lcov --quiet --capture "$@" --rc lcov_branch_coverage=1 --output-file "$file" \
        --directory "$build/CMakeFiles/mercator-objects.dir/src" --directory "$build/CMakeFiles/mercator.dir/src" \
        >"$build/lcov.log" 2>&1 || { cat "$build/lcov.log" >&2; exit 1; }
}
# A file that no program links has no counters, and counts all the same.
collect "$build/none.info" --initial
collect "$build/some.info"
lcov --quiet --rc lcov_branch_coverage=1 --add-tracefile "$build/none.info" --add-tracefile "$build/some.info" \
    --output-file "$build/all.info"
lcov --quiet --rc lcov_branch_coverage=1 --extract "$build/all.info" "$PWD/src/*" --output-file "$build/coverage.info"

awk -F : -v root="$PWD/" '
    function share(part, all) { return all ? sprintf("%5.1f %%", 100 * part / all) : "      -" }
    function row(name) {
        printf "%-14s %6d lines %s   %6d branches %s\n", name, lines[name], share(hit[name], lines[name]),
            branches[name], share(taken[name], branches[name]) | "LC_ALL=C sort"
    }
    function add(key, value) {
        if (key == "LF") lines[folder] += value
        if (key == "LH") hit[folder] += value
        if (key == "BRF") branches[folder] += value
        if (key == "BRH") taken[folder] += value
    }
    $1 == "SF" {
        path = substr($2, length(root) + 1)
        split(path, part, "/")
        home = part[3] == "" ? "src" : "src/" part[2]
        homes[home] = 1
    }
    $1 ~ /^(LF|LH|BRF|BRH)$/ {
        folder = home
        add($1, $2)
        folder = "total"
        add($1, $2)
    }
    END {
        for (name in homes) row(name)
        close("LC_ALL=C sort")
        row("total")
    }' "$build/coverage.info"
exit $failed
