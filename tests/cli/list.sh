# list: every kind as a table and as JSON; one by its name; solvers apart from optimizers; defaults as --help has them.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

for kind in models platforms problems optimizers solvers evaluators exporters formats metrics; do
    expect 0 "$MERCATOR" list $kind
    is_silent err
    mv out table
    expect 0 "$MERCATOR" list $kind --json
    one_line out
    grep -q '^\[{"name":"' out
    # every name of one form is in the other
    tr '{' '\n' <out | sed -n 's/^"name":"\([^"]*\)",.*"summary".*/\1/p; s/^"name":"\([^"]*\)",.*"\(macs\|meaning\|writes\|what\)".*/\1/p' |
        grep -v '^$' >names
    test -s names
    while read -r name; do
        grep -q "^$name[: ]" table || { echo "$kind: $name is not in the table" >&2; exit 1; }
    done <names
done

# A black box knows any problem, a solver one.
expect 0 "$MERCATOR" list optimizers
grep -q '^annealing ' out
lacks '^exact_nest ' out
expect 0 "$MERCATOR" list solvers
grep -q '^exact_nest  *map ' out
lacks '^annealing ' out

# By name: all options, of either kind.
expect 0 "$MERCATOR" list optimizers annealing
says out '  hot=0.2 '
test "$(grep -c '^[a-z]' out)" -eq 1
expect 0 "$MERCATOR" list optimizers exact_nest
says out 'of problem map'
expect 0 "$MERCATOR" list optimizers annealing --json
says out '{"name":"hot","type":"number","default":"0.2","minimum":1e-12,"maximum":1000000,"help":'
expect 0 "$MERCATOR" list models resnet18 --json
says out '[{"name":"resnet18","macs":1814073344,'
expect 2 "$MERCATOR" list optimizers anealing
says err 'none of the optimizers is called "anealing", did you mean annealing'
expect 2 "$MERCATOR" list optimiser
says err 'did you mean optimizers'
expect 2 "$MERCATOR" list
expect 2 "$MERCATOR" list models a b
expect 2 "$MERCATOR" list models --all
expect 2 "$MERCATOR" list knobs
says err 'knobs depend on network and platform'

# list problems and --help agree on the defaults, and the run takes them.
expect 0 "$MERCATOR" list problems
mv out problems
for problem in $(sed -n 's/^\([a-z]*\): .*/\1/p' problems); do
    line=$(sed -n "/^$problem: /,/defaults/p" problems | sed -n 's/.*defaults: //p')
    expect 0 "$MERCATOR" "$problem" --help
    for what in evaluator optimizer objective; do
        says out "default $(echo "$line" | sed "s/.*$what \([a-z_]*\).*/\1/");"
    done
    says out "default $(echo "$line" | sed 's/.*budget \([0-9]*\).*/\1/')"
done
three_layers >net.csv
expect 0 "$MERCATOR" map net.csv --quiet --no-report -o defaults
says out 'exact_nest, objective edp'

# Help: options as they are typed, the common ones first, the rest on demand.
expect 0 "$MERCATOR" map --help
says out '  --budget N '
says out '  --select TEXT '
says out 'mercator map --help-all shows the rest'
lacks '--gap' out
lacks '^  [a-z_]*=' out
expect 0 "$MERCATOR" map --help-all
says out '  --gap N '
says out '  --save-policy TEXT '
says out '  --log auto|all|improving '
says out '  --tune NAME'
test "$(grep -n -e '--budget N' out | cut -d: -f1)" -lt "$(grep -n -e '--gap N' out | cut -d: -f1)"
expect 0 "$MERCATOR" list --help-all
says out 'usage: mercator list KIND [NAME] [--json]'

# names in any case
expect 0 "$MERCATOR" list metrics EDP
says out 'edp'
expect 0 "$MERCATOR" list Optimizers Annealing
says out 'annealing'
