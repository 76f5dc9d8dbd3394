# A small version of docs/studies/multi-network-scheduling.md: every kind of cell of its experiments with both
# job tables, and the answers that do not hang on the budget.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 "$MERCATOR" schedule "$MERCATOR_SOURCE_DIR/experiments/multi-network-tiny.yaml" --quiet --no-report -o tiny
test -s tiny/120/summary.json

# value ROW COLUMN: the number in a column (from 1) of the only row of `out` that begins so.
value()
{
    grep -F "| $1 |" out >row
    test "$(wc -l <row)" -eq 1 || { cat out; echo "expected one row: $1"; exit 1; }
    awk -F'|' -v column="$2" '{split($(column + 1), words, " "); print words[1]}' row
}

# at_least A B and less A B
at_least() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a + 0 >= b + 0)}' || { cat out; echo "$1 < $2"; exit 1; }; }
less() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a + 0 < b + 0)}' || { cat out; echo "$1 >= $2"; exit 1; }; }

compat='mix | 16 | m3e-compat'
own='vision | 256 | own'
expect 0 "$MERCATOR" report tiny --metrics cycles,traffic_bytes
says out '| workload | bandwidth | table | platform | share | optimizer | crossover_gen | runs | cycles [cycle] | traffic_bytes [B] |'
for table in "$compat" "$own"; do
    herald=$(value "$table | s2 | proportional | herald_like | " 9)
    less "$herald" "$(value "$table | s2 | proportional | aimt_like | " 9)"
    at_least "$herald" "$(value "$table | s2 | proportional | list_annealing | " 9)"
    less "$(value "$table | s4 | proportional | list_annealing | " 9)" "$(value "$table | s2 | proportional | list_annealing | " 9)"
done
four=$(value "$compat | s4 | proportional | list_annealing | " 9)
two=$(value "$compat | s2 | proportional | list_annealing | " 9)

# the default is nearer to the bound than MAGMA after so few evaluations
expect 0 "$MERCATOR" report tiny --metrics gap
less "$(value "$own | s2 | proportional | list_annealing | " 9)" "$(value "$own | s2 | proportional | magma | 0.9" 9)"

# --over: quotients of the same means, without the row that all are divided by
expect 0 "$MERCATOR" report tiny --metrics cycles,traffic_bytes --over platform=s4
if grep -q '| s4 |' out; then exit 1; fi
ratio=$(value "$compat | s2 | proportional | list_annealing | " 9)
awk -v r="$ratio" -v a="$two" -v b="$four" 'BEGIN {d = r * b / a - 1; exit !(d < 0.001 && d > -0.001)}'
flexible="$compat | s4-flexible | proportional | list_annealing | "
less "$(value "$flexible" 9)" 1
less 1 "$(value "$flexible" 10)"

expect 0 "$MERCATOR" report tiny --metrics cycles --over share=proportional
at_least "$(value "$own | s4 | even | list_annealing | " 9)" 1
expect 1 "$MERCATOR" report tiny --metrics cycles --over share=equal
says err '--over has "share=equal"'
expect 1 "$MERCATOR" report tiny --metrics cycles --over rule=fcfs
says err 'expected at most 8 times COLUMN=VALUE'
expect 2 "$MERCATOR" report tiny --over platform=s4
says err '--over needs --metrics'

expect 0 "$MERCATOR" compare tiny --format markdown
says out 'table=m3e-compat'
says out '### Final quality by task'
