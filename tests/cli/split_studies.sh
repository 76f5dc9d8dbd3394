# Experiment files of `split`, made small: every count of one layer, once, and where a search by gradients lands.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# the last layer instead of a wide one, one epoch of each kind, one seed
sed -e 's/|fc)/|s3b0c2)/' -e 's/warmup_epochs: .*/warmup_epochs: 1/' -e 's/finetune_epochs: [0-9]*/finetune_epochs: 1/' \
    -e 's/search_epochs: [0-9]*/search_epochs: 1/' -e 's/lambda: .*1\],/lambda: [0.1, 1],/' -e 's/^seed: .*/seed: 1/' \
    "$MERCATOR_SOURCE_DIR/experiments/split-one-layer.yaml" >one-layer.yaml
expect 0 "$MERCATOR" split one-layer.yaml --quiet --no-report -o one-layer
grep -o '"point":\[[0-9]*\]' one-layer/001/run.jsonl | sort -u >counts
[ "$(wc -l <counts)" -eq 11 ] # 0 .. 10 of 10 channels
grep -q '"point":\[0\],"score":[^}]*"cycles":14770.275,' one-layer/001/run.jsonl
grep -q '"point":\[10\],"score":[^}]*"cycles":14329.25,' one-layer/001/run.jsonl
[ "$(grep -c '"type":"trial"' one-layer/002/run.jsonl)" -eq 2 ]
says one-layer/003/run.jsonl '"point":[10],"score"'
