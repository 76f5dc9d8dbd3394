# report --csv and --results: trials and results of many runs in one file each, with units.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv
expect 0 "$MERCATOR" map net.csv --platform s256 --optimizer random --optimizer annealing --seed 1-2 --budget 60 --quiet --no-report -o cells
expect 0 "$MERCATOR" map net.csv --platform s256 --select 1 --optimizer random --budget 40 --objective energy --quiet --no-report -o alone

# One run: its trials.
expect 0 "$MERCATOR" report alone --csv one.csv
test "$(wc -l <one.csv)" -eq 41
head -n 1 one.csv >titles
grep -q '^index,task,score \[pJ\],feasible,reason,' titles
says titles ',cycles [cycle]'
says titles ',energy [pJ]'

# Many, in folders and by name: what tells them apart stands before the trials.
expect 0 "$MERCATOR" report cells alone --csv all.csv
test "$(wc -l <all.csv)" -eq $((1 + 4 * 3 * 60 + 40))
head -n 1 all.csv >titles
grep -q '^run,problem,workload,platform,optimizer,objective,unit,seed,index,task,score \[unit\],feasible,reason,' titles # two units
says all.csv '"cells/003","map","net","s256","annealing","edp","pJ.cycle",1,'
# every row has as many cells as there are titles (no text of these has a comma but the quoted reasons)
sed 's/"[^"]*"//g' all.csv | awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad }'

# Results: a row for each task and one for the total.
expect 0 "$MERCATOR" report cells alone --results results.csv
test "$(wc -l <results.csv)" -eq $((1 + 4 * 4 + 2))
head -n 1 results.csv >titles
grep -q '^run,problem,workload,platform,evaluator,optimizer,objective,unit,seed,task,count,macs,feasible,score \[unit\],cycles \[cycle\],' titles
grep -q ',bound \[unit\],bound_kind,gap \[1\],proven,trials,evaluations,stopped,wall \[s\]$' titles
sed 's/"[^"]*"//g' results.csv | awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad }'
grep '^"alone",' results.csv >rows
test "$(wc -l <rows)" -eq 2
grep -q '"total"' rows
score=$(sed 's/.*"best":{"score":\([^,]*\),.*/\1/' alone/summary.json)
says rows ",1,$score,"
expect 0 "$MERCATOR" report cells --results cells.csv --csv trials.csv
head -n 1 cells.csv >titles
says titles ',score [pJ.cycle],'
test -s trials.csv

expect 1 "$MERCATOR" report nowhere --csv none.csv
one_line err
test ! -e none.csv
rm alone/summary.json
expect 1 "$MERCATOR" report alone --results none.csv
says err 'alone: none of its runs has ended, expected one with summary.json'
test ! -e none.csv

# A folder of folders: sweeps stand among runs. It says what it wrote.
mkdir runs
cp -r cells runs
expect 0 "$MERCATOR" report runs --results deep.csv
says out 'deep.csv: the results of 4 runs'
test "$(wc -l <deep.csv)" -eq "$(wc -l <cells.csv)"
expect 2 "$MERCATOR" report alone --xlsx x
says err 'unknown option --xlsx, use mercator report DIR --results FILE.csv'
expect 2 "$MERCATOR" report alone --result x
says err 'did you mean --results'

# A run that has not ended has no results; those of the others are told.
expect 0 "$MERCATOR" map net.csv --platform s256 --optimizer random --budget 10 --seed 1-3 --quiet --no-report -o ended
rm ended/002/summary.json
expect 0 "$MERCATOR" report ended --results ended.csv
test "$(cut -d , -f 1 ended.csv | sort -u | wc -l)" -eq 3
says err 'mercator: 1 of 3 runs have not ended and are left out'
expect 0 "$MERCATOR" report ended --metrics edp
says out '| 2 |'
rm ended/00?/summary.json
expect 1 "$MERCATOR" report ended --metrics edp
says err 'ended: none of its runs has ended'

# "-" is the standard output, with the table alone.
expect 0 "$MERCATOR" report cells --results -
test ! -e ./-
grep -q '^run,problem,' out
lacks 'the results of' out
ln -s /proc/self/fd/1 stdout # as /dev/stdout, which must stay a link
"$MERCATOR" report cells --results stdout >both
test -h stdout
grep -q '^run,problem,' both
says both 'stdout: the results of'
expect 1 "$MERCATOR" report missing --results -
says err 'missing: no such file or folder'
