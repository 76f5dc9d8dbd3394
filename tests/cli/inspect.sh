# inspect and list: the built-in models have the known sizes; shipped files are all valid.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

# sizes NAME GMACS MPARAMETERS, from the architectures' published figures
sizes()
{
    expect 0 "$MERCATOR" inspect "$1" --json
    is_silent err
    summary=$(sed 's/.*"summary":{\([^}]*\).*/{\1}/' out)
    echo "$summary" >summary
    near "$(sed 's/.*"macs":\([0-9]*\).*/\1/' summary)" "$2" 0.005 "$1 macs"
    near "$(sed 's/.*"parameters":\([0-9]*\).*/\1/' summary)" "$3" 0.01 "$1 parameters"
}
sizes alexnet 714e6 61.1e6
sizes vgg16 15470e6 138.35e6
sizes vgg11 7609e6 132.85e6
sizes vgg13 11308e6 133.04e6
sizes vgg19 19632e6 143.65e6
sizes resnet34 3664e6 21.78e6
sizes resnet18 1814e6 11.68e6
sizes resnet50 4089e6 25.51e6
sizes mobilenet_v2 300.8e6 3.475e6
sizes mobilenet-v2 300.8e6 3.475e6
sizes densenet121 2834e6 7.93e6
sizes bert_base 11170e6 108.8e6
sizes lstm_lm 15130e6 37.28e6
sizes dlrm 47.2e6 17.33e6

expect 0 "$MERCATOR" inspect resnet18 --json
says out '"layers":21'
says out '"name":"/fc/Gemm","kind":"gemm"'
expect 0 "$MERCATOR" inspect resnet18
says out '21 layers of 12 shapes'

expect 0 "$MERCATOR" inspect s256
says out 'format: mercator-platform/1'
cp out resolved.yaml
expect 0 "$MERCATOR" inspect ./resolved.yaml
cmp out resolved.yaml
for platform in s256 diana; do # JSON is YAML: read back it is the same platform
    expect 0 "$MERCATOR" inspect $platform
    cp out resolved.yaml
    expect 0 "$MERCATOR" inspect $platform --json
    one_line out
    says out '{"format":"mercator-platform/1","kind":"'
    cp out resolved.json
    expect 0 "$MERCATOR" inspect ./resolved.json
    cmp out resolved.yaml
done

for kind in models platforms optimizers evaluators problems formats metrics; do
    expect 0 "$MERCATOR" list $kind
    is_silent err
    test -s out
done
expect 0 "$MERCATOR" list platforms
for platform in "$MERCATOR_SOURCE_DIR"/platforms/*.yaml; do
    says out "$(basename "$platform" .yaml)"
done
expect 2 "$MERCATOR" list platform
says err 'did you mean platforms'
