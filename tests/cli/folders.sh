# A run directory belongs to one command: results of another one, and files that no run has written, stay.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
run="map resnet18 --select 2 --optimizer random --budget 100 --quiet --no-report"

# the default name tells what was run
expect 0 "$MERCATOR" $run --objective cycles --seed 3
test -s runs/map-resnet18-s256-cycles-random-3/run.jsonl
expect 0 "$MERCATOR" $run --objective energy --platform eyeriss-like
test -s runs/map-resnet18-eyeriss-like-energy-random-1/run.jsonl

# the same command replaces its own results, another one is refused, --force replaces
expect 0 "$MERCATOR" $run -o dir
cp dir/run.jsonl first
expect 0 "$MERCATOR" $run -o dir
cmp first dir/run.jsonl
expect 1 "$MERCATOR" $run --objective cycles -o dir
one_line err
says err 'dir holds the results of another command (objective edp, not cycles)'
cmp first dir/run.jsonl
expect 1 "$MERCATOR" $run --batch 50 -o dir
says err '(with another batch)'
expect 1 "$MERCATOR" $run --select 3 -o dir
says err '(with another select)'
expect 1 "$MERCATOR" map resnet18 --select 2 --optimizer random:unique=true --budget 100 --quiet --no-report -o dir
says err '(with another unique)'
expect 1 "$MERCATOR" $run --count distinct -o dir
says err '(with another count)'
cmp first dir/run.jsonl
expect 0 "$MERCATOR" $run --objective cycles -o dir --force
if cmp -s first dir/run.jsonl; then exit 1; fi

# files that no run has written are neither replaced nor deleted
mkdir own
echo mine >own/summary.json
expect 1 "$MERCATOR" $run -o own
one_line err
says err 'own/summary.json was not written by a run'
test "$(cat own/summary.json)" = mine
test ! -e own/run.jsonl
mkdir notes
echo mine >notes/stats.txt
echo keep >notes/state-of-things.txt
expect 0 "$MERCATOR" $run -o notes
says err 'notes/stats.txt stays as it is'
expect 0 "$MERCATOR" $run -o notes
test "$(cat notes/stats.txt)" = mine
test "$(cat notes/state-of-things.txt)" = keep
mkdir log
echo 'not a log' >log/run.jsonl
expect 1 "$MERCATOR" $run -o log --force
says err 'log/run.jsonl is not a run log'
test "$(cat log/run.jsonl)" = 'not a log'

# a link is not followed
mkdir linked
cp first target
ln -s ../target linked/run.jsonl
expect 1 "$MERCATOR" $run -o linked --force
says err 'linked/run.jsonl was not written by a run'
cmp first target

# a page of the user's own stays, too
mkdir page
echo mine >page/report.html
expect 0 "$MERCATOR" map resnet18 --select 2 --optimizer random --budget 100 --quiet -o page
test "$(cat page/report.html)" = mine

# letters beyond ASCII tell default folders apart
three_layers >ä.csv
three_layers | sed 's/64/32/' >ö.csv
for name in ä ö; do
    expect 0 "$MERCATOR" map $name.csv --select 1 --optimizer random --budget 10 --quiet --no-report
    test -d runs/map-$name-s256-edp-random-1
done

# without a standard error, messages do not land in the log
expect 0 "$MERCATOR" map resnet18 --select 2 --optimizer random --budget 100 -o clean
"$MERCATOR" map resnet18 --select 2 --optimizer random --budget 100 -o closed 2>&- >/dev/null
cmp clean/run.jsonl closed/run.jsonl
"$MERCATOR" map resnet18 --select 2 --optimizer random --budget 100 -o closed2 2>&- >&- <&- && exit 1
cmp clean/run.jsonl closed2/run.jsonl
# without a standard output the table is lost, as on a full disk
for words in "list models" "map resnet18 --select 2 --optimizer random --budget 100 --quiet --json -o closed3"; do
    code=0
    "$MERCATOR" $words >&- 2>err || code=$?
    test $code -eq 1
    one_line err
    says err 'cannot write to standard output'
done
cmp clean/run.jsonl closed3/run.jsonl

# several layers with a time each: killed anywhere and resumed, the log goes on where it was
"$MERCATOR" map resnet18 --select 1-4 --optimizer random --time 0.3 --quiet --no-report -o timed >/dev/null 2>&1 &
process=$!
sleep 0.8
kill -KILL $process 2>/dev/null || true
wait $process 2>/dev/null || true
expect 0 "$MERCATOR" map --resume timed --quiet --no-report
test "$(grep -c '"type":"end"' timed/run.jsonl)" -eq 4
cp timed/run.jsonl ended
expect 0 "$MERCATOR" map --resume timed --quiet --no-report
cmp ended timed/run.jsonl

# a run that was killed while it wrote its files knows them by its clock, and takes halves of them away; the run that is
# made again in its folder, too, and where the killed one left half a line in its clock
expect 0 "$MERCATOR" map resnet18 --select 2 --optimizer annealing --budget 1500 --quiet --no-report -o whole
says whole/clock.jsonl '{"writes":"nest.txt"}'
cp -r whole twice
expect 0 "$MERCATOR" map resnet18 --select 2 --optimizer annealing --budget 1500 --quiet --no-report -o twice
says twice/clock.jsonl '{"writes":"nest.txt"}'
for first in whole twice; do
    rm -rf late
    cp -r $first late
    head -n 300 whole/run.jsonl >late/run.jsonl
    rm late/summary.json
    echo older >late/nest.txt
    printf '{"trials":1,"wa' >>late/clock.jsonl
    echo half >late/summary.json.part999999999
    echo half >late/nest.txt.part$$ # its writer lives
    echo mine >late/song.part1
    expect 0 "$MERCATOR" map --resume late --quiet --no-report
    for file in run.jsonl nest.txt layers.csv stats.txt mapping.yaml; do
        cmp whole/$file late/$file
    done
    test ! -e late/summary.json.part999999999
    test -e late/nest.txt.part$$
    test "$(cat late/song.part1)" = mine
    test "$(grep -c '^{"host"' late/clock.jsonl)" -eq 2
done

# halves in folders of the run and beside the runs of an experiment go, too; files of the user stay there
mkdir -p whole/deploy/src whole/others
echo '{"writes":"deploy/src/net.c"}' >>whole/clock.jsonl # as an exporter's
for file in deploy/src/net.c deploy/src/mine.c others/net.c; do
    echo half >whole/$file.part999999999
done
expect 0 "$MERCATOR" map --resume whole --quiet --no-report
test ! -e whole/deploy/src/net.c.part999999999
test -e whole/deploy/src/mine.c.part999999999
test -e whole/others/net.c.part999999999
expect 0 "$MERCATOR" $run --sweep memories.GLB.words=16Ki,32Ki -o sizes
echo half >sizes/sweep.csv.part999999999
expect 0 "$MERCATOR" $run --sweep memories.GLB.words=16Ki,32Ki -o sizes
test ! -e sizes/sweep.csv.part999999999

# A run that has not ended is not thrown away, and a folder holds one run or several.
three_layers >net.csv
run='map net.csv --platform s256 --optimizer annealing --quiet --no-report'
expect 0 "$MERCATOR" $run --budget 300 -o open
cp open/run.jsonl lines
rm open/summary.json
head -n 100 lines >open/run.jsonl
expect 0 "$MERCATOR" $run --budget 300 -o open
says err 'open holds this run, which has not ended: it goes on; --force begins anew'
cmp lines open/run.jsonl
expect 0 "$MERCATOR" $run --budget 300 -o open # it has ended: the same again
is_silent err
head -n 100 lines >open/run.jsonl
rm open/summary.json
expect 0 "$MERCATOR" $run --budget 300 -o open --force
is_silent err
cmp lines open/run.jsonl
rm open/summary.json
head -n 2 lines >open/run.jsonl # so does one that has no trial yet
expect 0 "$MERCATOR" $run --budget 300 -o open
says err 'it goes on'
cmp lines open/run.jsonl
expect 1 "$MERCATOR" $run --total-budget 300 -o open # another command
says err 'open holds the results of another command'
expect 1 "$MERCATOR" $run --budget 20 --seed 1-2 -o open
says err 'open holds a single run, expected an empty folder or one of several runs'
expect 0 "$MERCATOR" $run --budget 20 --seed 1-2 -o several
expect 1 "$MERCATOR" $run --budget 20 -o several
says err 'several holds several runs, expected an empty folder or one of a single run'
