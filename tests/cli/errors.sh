# Bad input gets one clear line and exit code 1, wrong usage exit code 2; nothing is half-written.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
platform=$MERCATOR_SOURCE_DIR/platforms/s256.yaml

# bad CODE TEXT ARGUMENTS...: one line on stderr that says TEXT, nothing on stdout
bad()
{
    code=$1
    text=$2
    shift 2
    expect "$code" "$MERCATOR" "$@"
    one_line err
    is_silent out
    says err "$text"
    says err 'mercator: '
}

# usage
bad 2 'unknown verb "mpa", did you mean map' mpa resnet18
bad 2 'map needs a network' map
bad 2 '--budget needs a value' map resnet18 --budget
bad 2 '--budget needs a value' map resnet18 --budget --seed 3
bad 1 'tie is "maybe", expected true or false' split resnet8 --tie maybe
bad 2 'map has no option "budgte", did you mean "budget"' map resnet18 --budgte 5
bad 2 'map has no option "bud", did you mean "budget"' map resnet18 --bud 5
bad 2 'map has no option "arch", use --platform NAME|FILE' map resnet18 --arch x.yaml
bad 2 'map has no option "csv", use mercator report DIR --results FILE.csv' map resnet18 --csv x.csv
bad 2 'map has no option "layers", use --select' map resnet18 --layers 3
bad 2 'but optimizer go has: --optimizer go:layers=3' map resnet18 --optimizer go --layers 3
bad 2 'map has no option "verbose"' map resnet18 --verbose
bad 2 'unknown verb "sweep", use PROBLEM NETWORK --sweep' sweep resnet18
bad 1 "--evaluator 'command:./sim --json'" map resnet18 --evaluator './sim --json'
bad 1 '--pareto takes several metrics' map resnet18 --objective latency,energy
bad 1 'budget is "0"' map resnet18 --budget 0
bad 1 'budget is "many"' map resnet18 --budget many
bad 1 'seed is "-1"' map resnet18 --seed -1
bad 1 'unknown optimizer "anealing", did you mean annealing' map resnet18 --optimizer anealing
bad 1 'unknown option "populaton"' map resnet18 --optimizer genetic:populaton=3
bad 1 'population is 0' map resnet18 --optimizer genetic:population=0
bad 1 'unknown metric "lat", did you mean latency' map resnet18 --objective lat
bad 1 'unknown metric "engery", did you mean energy' map resnet18 --objective engery
bad 1 'objective accuracy needs accuracy' map resnet18 --objective accuracy
bad 1 '--select is "99"' map resnet18 --select 99
bad 1 '--select is "1,99" with "99", expected layers in 1 .. 12 of resnet18' map resnet18 --select 1,99
bad 1 '--select is "3-99", expected layers in 1 .. 12' codesign resnet18 --select 3-99
bad 1 '--select is "0-3", expected layers in 1 .. 12' map resnet18 --select 0-3
bad 2 'unexpected argument --jsno' inspect resnet18 --jsno

expect 0 "$MERCATOR" help map
says out 'usage: mercator map NETWORK'

# files
bad 1 'nothing.onnx' inspect nothing.onnx
bad 1 'resnet50' inspect resnet5
: >empty.onnx
bad 1 'empty' inspect ./empty.onnx
mkdir folder.onnx
bad 1 'folder' inspect ./folder.onnx
head -c 10000 "$MERCATOR_SOURCE_DIR/models/resnet18.onnx" >cut.onnx
bad 1 'cut.onnx' inspect ./cut.onnx
head -c 3000 /dev/urandom >noise.onnx
bad 1 'noise.onnx' inspect ./noise.onnx
bad 1 'nowhere.yaml' map resnet18 --platform nowhere.yaml
bad 1 'two-gpu-box is of kind cluster, which problem map cannot use, expected pe-array' map resnet18 --platform two-gpu-box

# platforms: each line changes s256 into something wrong
wrong()
{
    sed "$1" "$platform" >wrong.yaml
    bad 1 "$2" map resnet18 --platform ./wrong.yaml
    says err 'wrong.yaml:'
}
wrong 's/words: 256/wrods: 256/' 'did you mean "words"'
wrong 's/words: 256/words: -4/' 'words is -4'
wrong 's/words: 256/words: .nan/' 'words is'
wrong 's/words: 256/words: 256X/' 'words is'
wrong 's/words: 256,/words: 256, words: 256,/' 'words'
wrong 's/x: 16/x: 0/' 'fanout.x is 0'
wrong 's/mercator-platform.1/mercator-platform\/2/' '2'

# outputs that cannot be written
: >file
bad 1 'file' map resnet18 --select 1 --budget 10 --quiet -o file/run
if [ -e /dev/full ]; then
    mkdir full
    ln -s /dev/full full/run.jsonl
    bad 1 'full/run.jsonl was not written by a run' map resnet18 --select 1 --budget 5000 --quiet -o full
    test ! -e full/summary.json
    rm full/run.jsonl
    expect 1 sh -c "trap '' XFSZ; ulimit -f 8; exec \"\$0\" \"\$@\"" "$MERCATOR" map resnet18 --select 1 \
        --optimizer random --budget 50000 --quiet -o full
    one_line err
    says err 'full/run.jsonl: cannot write: File too large'
    test ! -e full/summary.json
fi
bad 1 'no log to resume' map resnet18 --resume nowhere --quiet
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 500 locked
    bad 1 'locked' map resnet18 --select 1 --budget 10 --quiet -o locked/run
fi

bad 1 'seed is "5-1", expected a whole number from 0 to 2^63 - 1, or a range such as 1-5' map resnet18 --seed 5-1
printf 'name,K,C,Y,X,R,S\na,16,3,18,18,3,3\nb,2000000000,2000000000,2000000000,2000000000,3,3\n' >big.csv
bad 1 'big.csv:3:1: layer b has more multiplications or bytes than 2^63' inspect big.csv
mkdir many
: >many/001
expect 1 "$MERCATOR" map resnet18 --select 1 --seed 1,2 --budget 10 --quiet --no-report -o many
test "$(cat err)" = 'mercator: many/001: the run directory is a file'
expect 0 "$MERCATOR" map resnet18 --select 1 --seed 1,2 --budget 10 --quiet --no-report -o seeds
bad 1 'seeds holds several runs, expected one: seeds/001' evaluate seeds

# a policy that does not fit the second network
expect 1 "$MERCATOR" map resnet18 alexnet --optimizer reinforce --train --budget 100 --select 1 --quiet --no-report -o taught
one_line err
says err 'other options (resnet18, not alexnet); policies of reinforce are for tasks with the same knobs'

# a flag is named as it was typed; a share may be said in percent
bad 1 '--time is "nan", expected' map resnet18 --time nan
bad 1 '--gap is "x%", expected' map resnet18 --gap=x%
bad 1 '--gap is "-5%", expected' map resnet18 --gap -5%
expect 0 "$MERCATOR" map resnet18 --select 1 --gap 5% --budget 50 --quiet --no-report -o share
says share/run.jsonl '"gap":0.05'

# resumed with other inputs: refused at the header, the log stays as it was
expect 0 "$MERCATOR" map resnet18 --select 1 --budget 50 --quiet -o run
cp run/run.jsonl before
bad 1 'run.jsonl:1:' map resnet18 --select 1 --budget 50 --seed 2 --quiet --resume run
cmp before run/run.jsonl
bad 1 'run.jsonl:1: problem.options.select is "1" in the log, "2" now' map resnet18 --select 2 --budget 50 --quiet --resume run
bad 1 'run is a run of map, not of place: mercator map --resume run' place --resume run
bad 1 'run is a run of map, not of schedule' schedule alexnet --resume run
bad 1 'nowhere is not the folder of a run' map --resume nowhere
cmp before run/run.jsonl

# nothing feasible: exit code 1, the reasons counted, the nearest miss named
sed 's/words: 256/words: 2/' "$platform" >tiny.yaml
expect 1 "$MERCATOR" map resnet18 --select 1 --platform ./tiny.yaml --optimizer annealing --budget 300 --quiet -o none
says err 'no feasible plan in 300 trials'
says err 'capacity'
says err 'words, has 2'
