# Ctrl-C: what is done is said, with the command that goes on; the report is there; that command ends the work.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv

# stop FILE COMMAND...: interrupts it once FILE has something in it; out and err hold what it printed.
stop()
{
    file=$1
    shift
    "$@" >out 2>err </dev/null &
    process=$!
    while [ ! -s "$file" ]; do
        sleep 0.02
    done
    sleep 0.2
    kill -INT $process
    kill -TERM $process # timeout(1) sends two at once
    code=0
    wait $process || code=$?
    if [ $code -ne 130 ]; then
        echo "expected exit code 130, found $code: $*" >&2
        cat out err >&2
        exit 1
    fi
}

# One run, whose folder needs quotes.
stop 'a run/run.jsonl' "$MERCATOR" map net.csv --platform s256 --optimizer random --time 20 --threads 1 --quiet -o 'a run'
says out ', interrupted'
says err 'mercator: interrupted: 0 of 3 tasks done, and '
says err ' evaluations of a'
says err "to go on: mercator map --resume 'a run'"
says 'a run/report.html' '"format":"mercator-report/1"'

# The command that it gave goes on; here with a budget, so that it ends.
stop one/run.jsonl "$MERCATOR" map net.csv --platform s256 --optimizer random --budget 2000000 --log improving --threads 1 --no-report --quiet -o one
test ! -e one/report.html
command=$(sed -n 's/^to go on: //p' err)
test "$command" = 'mercator map --resume one'

# A walk over a model that was cut off is walked again: the log is that of a run that nothing stopped.
clustered='codesign resnet18 --select 2,3 --optimizer chameleon --budget 300 --quiet --no-report'
expect 0 "$MERCATOR" $clustered -o whole
stop walked/run.jsonl "$MERCATOR" $clustered -o walked
expect 0 "$MERCATOR" codesign --resume walked --quiet --no-report
cmp whole/run.jsonl walked/run.jsonl

# --json: one object on stdout, the rest on stderr.
stop json/run.jsonl "$MERCATOR" map net.csv --platform s256 --optimizer random --time 20 --quiet --json -o json
one_line out
says out '"stopped":"interrupted"'
says err 'to go on: mercator map --resume json'

# Several runs: a page of those that were begun, and the same command for all.
stop many/001/run.jsonl "$MERCATOR" map net.csv --platform s256 --optimizer random --seed 1-3 --time 5 --quiet -o many
says err 'mercator: interrupted: 0 of 3 runs done'
grep -q '^many/001: net on s256, random, seed 1: .*, interrupted$' out
says err 'to go on: mercator map --resume many'
says many/report.html '"format":"mercator-report/1"'
test ! -e many/003/run.jsonl

# A comparison goes on by --resume, too.
stop both/001/run.jsonl "$MERCATOR" compare net.csv --problem map --platform s256 --optimizer random --optimizer annealing \
    --budget 400000 --log improving --threads 1 --quiet -o both
says err 'of 2 runs done'
says err 'to go on: mercator compare --resume both'
test -s both/report.html
expect 0 "$MERCATOR" compare --resume both --quiet
says out 'equal samples: 400000'
test -s both/comparison.json
expect 1 "$MERCATOR" compare --resume nowhere
says err 'nowhere'

# The demo: a page of what was shown, and how its last scene goes on.
stop shown/map/run.jsonl "$MERCATOR" demo -o shown
says err 'to go on: mercator '
says out 'The report, to open in a browser: shown/report.html'
test -s shown/report.html
