# The Nth open, write, fsync or rename of every verb fails. A signal or a short write is no failure. An error is one line
# with the file and the reason, and exit code 1; every file is the old or the new one; and the same command, or
# --resume, then gives what an undisturbed run gives.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/faults/lib.sh.inc"
stride=${MERCATOR_FAULT_STRIDE:-17} # one call in so many
[ "${MERCATOR_FAULTS:-}" = all ] && stride=1
prepare
cases >list
runs=0
turn=0

# all_new [EXCEPT]: the folder is as an undisturbed run leaves it.
all_new()
{
    (cd after && find . -type f ! -name clock.jsonl) >files
    (cd work && find . -type f ! -name clock.jsonl) >>files
    sort -u files >every
    while read -r path; do
        case $path in
        "${1:-none}" | ./cache/*) ;;
        *) same "work/$path" "after/$path" || complain "$path is not as an undisturbed run leaves it" ;;
        esac
    done <every
}

# A disturbed run that failed is run again.
goes_on()
{
    again=$command
    if [ "$(head -c 1 work/new/run.jsonl 2>/dev/null)" ] && [ -s work/new/clock.jsonl ]; then
        again="${command%% *} --resume new --quiet"
    fi
    # shellcheck disable=SC2086
    if ! (cd work && XDG_CACHE_HOME=$PWD/cache exec "$MERCATOR" $again) >out 2>err </dev/null; then
        complain "then fails: $again"
    else
        all_new './new/report.html' # it shows when the run was started
    fi
}

try()
{
    reset
    # shellcheck disable=SC2086
    disturbed "$1" $command
    runs=$((runs + 1))
    reason=
    case $1 in
    *:EIO) reason='Input/output error' ;;
    *:ENOSPC) reason='No space left on device' ;;
    esac
    if [ $code -eq 0 ]; then
        same out expected || complain "exit code 0, but the output differs"
        all_new
    elif [ -z "$reason" ] || [ $code -ne 1 ]; then
        complain "exit code $code"
    else
        pattern="^mercator: (.*$reason|cannot write to standard output$)"
        most=1
        case $case in
        list | compare) most=1000 ;; # one for each platform or cell
        esac
        [ "$(wc -l <err)" -le $most ] && grep -Eq "$pattern" err && ! grep -Evq "$pattern" err ||
            complain "expected one line with '$reason'"
        nothing_half_written
        goes_on
    fi
}

while read -r case command; do
    for kind in open write fsync rename; do
        errors='EIO ENOSPC EINTR'
        [ $kind = write ] && errors="$errors short"
        [ $kind = rename ] && errors='EIO ENOSPC' # no signal interrupts it
        # shellcheck disable=SC2086
        calls=$(count $kind $command)
        mv out expected
        for error in $errors; do
            number=1
            while [ $number -le "$calls" ]; do
                turn=$((turn + 1))
                # once, or from then on: a disk that is full stays full
                plus=
                case $error in
                E*[OC]) [ $((turn / stride % 2)) -eq 1 ] && plus=+ ;;
                esac
                [ $((turn % stride)) -eq 0 ] && try "$kind:$number$plus:$error"
                number=$((number + 1))
            done
        done
    done
done <list

# `demo` runs what was tried above, and takes long: its first files.
case=demo
for fault in open:9+:EIO write:1:ENOSPC write:3+:ENOSPC fsync:2:EIO rename:1:ENOSPC; do
    is_wanted demo || break
    reset
    disturbed "$fault" demo -o new
    runs=$((runs + 1))
    [ $code -eq 1 ] || complain "exit code $code, expected 1"
    grep -Eq 'Input/output error|No space left on device|cannot write to standard output' err || complain "expected a line with the reason"
    [ -z "$(find work -name '*.part*')" ] || complain "half a file is left"
done
finish
