# The commands of docs/multi-agent-mapping.md run as they stand, and its tables name every option.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
guide=$MERCATOR_SOURCE_DIR/docs/multi-agent-mapping.md

awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$guide" >commands
test "$(grep -c '^mercator ' commands)" -ge 8
while read -r command; do
    expect 0 sh -c "\"$MERCATOR\" ${command#mercator} --quiet"
done <commands
for run in turns paper layers alone teach use samples warm; do
    test -s runs/$run/report.html
done
says runs/turns/run.jsonl '"id":"partition"'
says runs/use/run.jsonl '"name":"samples for clustering","value":0,'
says runs/warm/run.jsonl '"name":"samples for clustering","value":400,'

expect 0 "$MERCATOR" list optimizers marl
awk '/^  [a-z_0-9]*=/ && !/preset=/ { sub(/=.*/, ""); print $1 }' out >options
test "$(wc -l <options)" -ge 30
while read -r option; do
    grep -q "\`$option[\`=]" "$guide" || { echo "the guide does not explain $option" >&2; exit 1; }
done <options
