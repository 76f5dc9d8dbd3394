# What an objective can mean: products with a factor that is always 0 are refused, ties are broken, and what a proof
# speaks of is said.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# a platform without energies: nothing is optimal by energy x delay
cat >plain.yaml <<'YAML'
format: mercator-platform/1
kind: pe-array
name: plain
units: [{name: MAC}]
memories:
  - {name: DRAM, words_per_cycle: 16, keep: [W, I, O]}
  - {name: GLB, words: 65536, words_per_cycle: 32, keep: [W, I, O], fanout: {x: 16, y: 16}}
  - {name: RF, words: 256, words_per_cycle: 4, keep: [W, I, O]}
YAML
for objective in edp energy 'energy*cycles'; do
    expect 1 "$MERCATOR" map resnet18 --select 2 --platform plain.yaml --objective "$objective" --quiet -o none
    one_line err
    says err 'is the same for every plan: the platform has no energies'
    says err 'choose another objective such as cycles'
done
expect 0 "$MERCATOR" map resnet18 --select 2 --platform plain.yaml --objective cycles --quiet --no-report -o plain
expect 0 "$MERCATOR" map resnet18 --select 2 --platform plain.yaml --objective 'energy+cycles' --optimizer random \
    --budget 50 --quiet --no-report -o sum

# equal cycles: less energy, both in the solver and in the run's choice
number() { sed -n "s/.*\"$2\":\([0-9.e+]*\).*/\1/p" "$1" | head -n 1; }
expect 0 "$MERCATOR" map resnet18 --select 2 --objective cycles --quiet --no-report --json -o fast
tied=$(number out energy)
expect 0 "$MERCATOR" map resnet18 --select 2 --objective edp --quiet --no-report --json -o both
both=$(number out energy)
awk -v tied="$tied" -v both="$both" 'BEGIN { exit !(tied <= 1.05 * both) }'

# the scope of a proof
says out '"scope":"perfect factors"'
expect 0 "$MERCATOR" map resnet18 --select 2 --quiet --no-report -o both
says out '(among perfect factors)'
expect 0 "$MERCATOR" map resnet18 --select 2 --factors padded --budget 300 --quiet --no-report --json -o padded
if grep -q 'perfect factors' out; then
    echo 'expected no scope of perfect factors with --factors padded' >&2
    exit 1
fi

# what the model leaves out of a platform is said once
expect 0 "$MERCATOR" map resnet18 --select 2-4 --platform edge --optimizer random --budget 100 --quiet --no-report -o edge
test "$(grep -c 'loopnest does not use' err)" -eq 1
says err 'fanout.latency_cycles of L2'

# a chain needs tasks between which points can be carried
expect 1 "$MERCATOR" map resnet18 --select 2-3 --optimizer random --budget 50 --warm chain --quiet -o chain
one_line err
says err 'which problem map cannot'
