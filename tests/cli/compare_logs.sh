# tools/compare-logs.sh: a program writes the logs that it writes, and one that searches otherwise is found out.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
compare="sh $MERCATOR_SOURCE_DIR/tools/compare-logs.sh"

expect 0 $compare --notes --only '^(map-bayes|schedule-exact|compare) ' --programs "$MERCATOR" "$MERCATOR"
test "$(grep -c '^equal ' out)" -eq 3
says out '3 commands, 0 differ, 0 more were allowed to'
grep -qE '^equal   compare: 8 logs, [0-9]{3,} lines$' out

# wrapper TEXT: a program that does TEXT first.
wrapper()
{
    printf '#!/bin/sh\n%s\nexec "%s" "$@"\n' "$1" "$MERCATOR" >other
    chmod +x other
}
wrapper 'set -- "$@" --seed 7'
expect 1 $compare --only '^(map-bayes|schedule-exact) ' --programs "$MERCATOR" other
grep -qE '^differs map-bayes: map-bayes/run.jsonl:1: .*"seed":1.* \| .*"seed":7' out
says out '2 commands, 2 differ'
expect 1 $compare --only '^(map-bayes|schedule-exact) ' --allow exact_schedule --programs "$MERCATOR" other
says out 'allowed schedule-exact: '
says out '2 commands, 1 differ, 1 more were allowed to'

# after SCRIPT FILES: a program whose logs FILES are edited by sed's SCRIPT after the run.
after()
{
    wrapper "for out; do :; done
\"$MERCATOR\" \"\$@\" || exit
sed -i '$1' $2
exit"
}
# Of several runs those of one optimizer may differ.
after 's/"score":[0-9]*/"score":0/' '$(grep -l "\"optimizer\":{\"name\":\"pso\"" $(find "$out" -name run.jsonl))'
expect 1 $compare --only '^compare ' --allow 'name=lpt' --programs "$MERCATOR" other
grep -qE '^differs compare: compare/.*/run.jsonl:2: .* \| .*"score":0' out
expect 0 $compare --only '^compare ' --allow 'name=pso' --programs "$MERCATOR" other
says out 'allowed compare: '

# What is shown may change, what was searched may not.
after 's/"source":"run"/"source":"ran"/' '"$out/run.jsonl"'
expect 0 $compare --only '^map-bayes ' --programs "$MERCATOR" other
expect 1 $compare --notes --only '^map-bayes ' --programs "$MERCATOR" other
says out '"source":"ran"'

# A command that fails on both sides is no equality.
wrapper 'exit 3'
expect 1 $compare --only '^map-bayes ' --allow . --programs other other
says out 'differs map-bayes: base failed'
expect 2 $compare --programs "$MERCATOR"
expect 1 $compare --only nothing --programs "$MERCATOR" other
says err 'no command matches nothing'
