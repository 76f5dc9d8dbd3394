# The Nth allocation of every verb fails, alone or with all after it: one line, exit code 1, nothing half-written.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/faults/lib.sh.inc"
samples=${MERCATOR_FAULT_SAMPLES:-40} # of each verb
[ "${MERCATOR_FAULTS:-}" = all ] && samples=1000000000
prepare
cases >list
runs=0
while read -r case command; do
    # shellcheck disable=SC2086
    calls=$(count alloc $command)
    step=$((calls / samples + 1))
    # the first step of each verb differs, so that calls which all verbs share are not always the same ones
    number=$((1 + runs % step))
    reset
    while [ "$number" -le "$calls" ]; do
        plus=
        [ $((runs % 2)) -eq 1 ] && plus=+
        # shellcheck disable=SC2086
        disturbed "alloc:$number$plus" $command
        runs=$((runs + 1))
        [ $code -eq 1 ] || complain "exit code $code, expected 1"
        [ "$(wc -l <err)" -eq 1 ] && grep -q '^mercator: out of memory' err || complain "expected one line 'mercator: out of memory'"
        nothing_half_written
        [ -s changed ] && reset
        number=$((number + step))
    done
done <list

# `demo` runs what was tried above, and takes long: a few places of its own.
case=demo
for number in 1300 2500 9000+; do
    is_wanted demo || break
    reset
    disturbed "alloc:$number" demo -o new
    runs=$((runs + 1))
    [ $code -eq 1 ] || complain "exit code $code, expected 1"
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^mercator: out of memory' err || complain "expected one line 'mercator: out of memory'"
    [ -z "$(find work -name '*.part*')" ] || complain "half a file is left"
done
finish
