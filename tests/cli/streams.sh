# Models, platforms and plans through pipes: read to the end, once, with the same result as from a file.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
model=$MERCATOR_SOURCE_DIR/models/resnet18.onnx
platform=$MERCATOR_SOURCE_DIR/platforms/s256.yaml

expect 0 "$MERCATOR" map resnet18 --select 2 --budget 500 --optimizer annealing --quiet --no-report -o file
best=$(number file/summary.json score)

# piped NAME COMMAND...: the command gets the model on its standard input
piped()
{
    name=$1
    shift
    code=0
    cat "$model" | "$@" --select 2 --budget 500 --optimizer annealing --quiet --no-report -o "$name" >out 2>err || code=$?
    if [ $code -ne 0 ]; then
        cat err >&2
        exit 1
    fi
    test "$(number "$name/summary.json" score)" = "$best"
    says "$name/summary.json" "\"workload\":\"stdin\""
}
piped stdin "$MERCATOR" map /dev/stdin
piped dash "$MERCATOR" map -

# what the shell calls process substitution: a descriptor by number
cat "$model" | "$MERCATOR" map /dev/fd/9 --select 2 --budget 500 --optimizer annealing --quiet --no-report -o nine 9<&0 </dev/null >out
test "$(number nine/summary.json score)" = "$best"
says nine/summary.json '"workload":"pipe"'

# a named pipe
mkfifo pipe.onnx
cat "$model" >pipe.onnx &
expect 0 "$MERCATOR" map ./pipe.onnx --select 2 --budget 500 --optimizer annealing --quiet --no-report -o named
wait
test "$(number named/summary.json score)" = "$best"

cat "$model" | "$MERCATOR" inspect - >piped
"$MERCATOR" inspect "$model" | sed 's/resnet18/stdin/' >read
cmp piped read
cat "$platform" | "$MERCATOR" map resnet18 --platform - --select 2 --budget 500 --optimizer annealing --quiet --no-report -o machine >out
test "$(number machine/summary.json score)" = "$best"
cat file/mapping.yaml | "$MERCATOR" evaluate /dev/stdin --json >out
test "$(number out score)" = "$best"

# what is no model says so, and nothing at all is called empty
code=0
echo 'no model' | "$MERCATOR" map /dev/stdin 2>err || code=$?
test $code -eq 1
says err '/dev/stdin is not a known network format'
expect 1 "$MERCATOR" map /dev/stdin
says err '/dev/stdin is empty'
