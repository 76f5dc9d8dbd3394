# A core and schedules together: the proof, limits on power and energy, tuners over several layers with one core for all,
# the time on a board, and a small study of the tuners.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
three_layers >net.csv
values() { # RUN METRIC: of the network, then of its layers
    grep -o '"best":{[^}]*}' "$1/summary.json" | sed "s/.*\"$2\":\([0-9.eE+-]*\).*/\1/"
}
value() { values "$@" | head -n 1; }
less() { # A B WHAT
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || { echo "$3: expected $1 below $2" >&2; exit 1; }
}

expect 0 "$MERCATOR" codesign net.csv --quiet --no-report -o best
says out 'proven optimal, gap 0.00 %'
expect 0 "$MERCATOR" codesign net.csv --hardware fixed --quiet --no-report -o fixed
less "$(value best latency)" "$(value fixed latency)" 'a free core'

# Limits: a hard one is kept by every layer; with a penalty the answer lies between; without energies it is refused.
energy="$MERCATOR codesign net.csv --platform vta-energy --quiet --no-report"
expect 0 $energy -o free
expect 0 $energy -o hard --max-power-mw 94
expect 0 $energy -o soft --max-power-mw 94 --over penalty
values hard power | awk '$1 > 94 { exit 1 }'
test "$(values free power | awk '$1 > 94' | wc -l)" -ge 2
less "$(value free latency)" "$(value soft latency)" 'a penalty'
awk -v a="$(value soft latency)" -v b="$(value hard latency)" 'BEGIN { exit !(a <= b) }'
most=$(values free energy | sed 1d | sort -g | tail -n 1 | awk '{ print 4e-9 * $1 }')
expect 0 $energy -o little --max-energy-mj "$most" --optimizer random
says little/run.jsonl '"reason":"limit: energy is '
expect 1 "$MERCATOR" codesign net.csv --max-energy-mj 1 --quiet --no-report -o none
one_line err
says err 'platform vta-pynq-b has no `energy`, so max_energy_mj says nothing; vta-energy has some'
# No layer can keep it: one line per reason, no rounds with cores that nobody chose.
expect 1 $energy -o never --max-power-mw 1
says err "limit: mean power is "

# Every tuner answers with one core for all layers, never below the proof; measurements take time on a board.
cat >study.yaml <<'YAML'
format: mercator-experiment/1
name: tuners
problem: codesign
workload: net.csv
platform: vta-pynq-b
evaluator: vta
optimizer:
  - {name: dcoc, initial: 16, draw: 16, steps: 10}
  - {name: chameleon, initial: 16, steps: 10}
  - {name: autotvm, initial: 16, plan_size: 16}
  - {name: genetic, preset: autotvm}
  - {name: random, unique: true}
seed: 1-2
budget: 64
YAML
expect 0 "$MERCATOR" codesign study.yaml --no-report --quiet -o study
test "$(ls -d study/*/ | wc -l)" -eq 10
for run in study/*/; do
    awk -v found="$(value "$run" latency)" -v least="$(value best latency)" \
        'BEGIN { exit !(found >= least * (1 - 1e-12) && found <= 3 * least) }' ||
        { echo "$run: $(value "$run" latency), the optimum is $(value best latency)" >&2; exit 1; }
    test "$(values "$run" sram_bytes | sed 1d | sort -u | wc -l)" -eq 1
    awk -v spent="$(number "$run/summary.json" simulated_s)" 'BEGIN { exit !(spent > 5 * 32) }'
done
expect 0 "$MERCATOR" compare study --format markdown
says out 'dcoc'
says out 'Variance between seeds'

# What the models of a tuner are worth on the whole space; the search itself is the same.
for assess in 0 100000; do
    expect 0 "$MERCATOR" codesign net.csv --hardware fixed --select 2 --optimizer dcoc:steps=10,draw=8 --budget 90 --assess $assess \
        --quiet --no-report -o assess-$assess
    grep '"type":"trial"' assess-$assess/run.jsonl >trials-$assess
done
cmp trials-0 trials-100000
says assess-100000/run.jsonl '"title":"Models on the whole space"'

# Quotients of throughput and what a core costs are proven too, and no search finds better.
for cost in mac_units sram_bytes; do
    expect 0 "$MERCATOR" codesign net.csv --objective "max:throughput/$cost" --quiet --no-report -o quotient-$cost
    says out 'proven optimal, gap 0.00 %'
    expect 0 "$MERCATOR" codesign net.csv --objective "max:throughput/$cost" --optimizer random:unique=true --budget 1500 --quiet --no-report \
        -o search-$cost
    awk -v best="$(value quotient-$cost score)" -v found="$(value search-$cost score)" \
        'BEGIN { exit !(best <= found * (1 - 1e-12) && best >= 1.5 * found) }' ||
        { echo "$cost: $(value quotient-$cost score), found $(value search-$cost score)" >&2; exit 1; }
done
least=$(value quotient-mac_units mac_units)
expect 0 "$MERCATOR" codesign net.csv --mac-budget "$least" --quiet --no-report -o least
near "$(value quotient-mac_units throughput)" "$(value least throughput)" 1e-12 'throughput on as many multipliers'

# A policy that was saved of a network can be loaded on it: further rounds and layers with fewer knobs do not replace it.
cat >dense.csv <<'CSV'
name,type,K,C,Y,X,R,S,stride
a,conv,32,16,16,16,3,3,1
b,FC,10,64,1,1,1,1,1
CSV
for hardware in shared fixed; do
    expect 0 "$MERCATOR" codesign dense.csv --hardware $hardware --optimizer dcoc:steps=10,draw=8 --budget 60 --save-policy policy-$hardware --quiet \
        --no-report -o taught-$hardware
    expect 0 "$MERCATOR" codesign dense.csv --hardware $hardware --optimizer dcoc:steps=10,draw=8,updates=false --budget 60 --policy policy-$hardware --quiet \
        --no-report -o learned-$hardware
done
expect 1 "$MERCATOR" codesign dense.csv --hardware fixed --optimizer dcoc:agents=one --policy policy-fixed --quiet --no-report -o other
says err 'which is not what agents= says'

# Where single layers choose one core there is one further round, with all that is left of the budget.
expect 0 "$MERCATOR" codesign resnet8 --select 1 --optimizer dcoc:steps=10,draw=8 --budget 64 --json --quiet --no-report -o rounds
says out '"evaluations":64,'
