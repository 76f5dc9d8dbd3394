# --list-knobs: the names and choices that --fix takes; wrong ones are answered with near ones.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

expect 0 "$MERCATOR" map resnet18 --select 2 --platform s256 --list-knobs
is_silent err
says out '34 knobs'
says out 'tile.K.2.0'
says out '0=RF 1=GLB 2=GLB.x 3=GLB.y 4=DRAM'
test "$(wc -l <out)" -eq 36
test ! -e runs

# every listed knob can be fixed to its first choice
fixed=$(awk 'NR > 2 { split($3, first, "="); printf "%s%s=%s", (NR > 3 ? "," : ""), $1, first[1] }' out)
expect 1 "$MERCATOR" map resnet18 --select 2 --platform s256 --optimizer random --budget 1 --quiet --no-report --fix "$fixed" -o all
says err 'RF needs'

expect 0 "$MERCATOR" map resnet18 --select 2,3 --platform edge --evaluator datacentric --list-knobs --json
one_line out
says out '"name":"levels"'
says out '"values":[2]'
test "$(grep -o '"log10_size"' out | wc -l)" -eq 2

# several runs on the same inputs have one list
expect 0 "$MERCATOR" map resnet18 --select 2 --seed 1-3 --optimizer random --optimizer genetic --list-knobs
test "$(grep -c '34 knobs' out)" -eq 1

expect 1 "$MERCATOR" map resnet18 --select 2 --fix order.K.GLBB=1 --quiet
one_line err
says err 'no knob "order.K.GLBB" to fix, did you mean order.K.GLB'
expect 1 "$MERCATOR" map resnet18 --select 2 --fix order.K.GLB=17 --quiet
says err 'knob order.K.GLB cannot be fixed to 17, expected one of 0 .. 5'
expect 2 "$MERCATOR" list knobs
says err 'mercator PROBLEM NETWORK --list-knobs'
expect 1 "$MERCATOR" map resnet18 --platform two-gpu-box --list-knobs
says err 'two-gpu-box is of kind cluster'
