# calibrate: the constants of a platform fitted to a log of our own making, the same on any number of threads, and
# written as a platform that reads back.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
expect 0 "$MERCATOR" codesign alexnet --hardware fixed --quiet --no-report -o alexnet --export autotvm_log
expect 0 "$MERCATOR" codesign resnet18 --hardware fixed --quiet --no-report -o resnet18 --export autotvm_log
cat alexnet/autotvm.log resnet18/autotvm.log >all.log

expect 0 "$MERCATOR" calibrate all.log --platform vta-pynq-b --threads 1 -o fitted.yaml
is_silent err
says out 'cross-validated'
says out 'timing.host_us_per_instruction'
cp out first
expect 0 "$MERCATOR" calibrate all.log --platform vta-pynq-b --threads 2
cmp out first
expect 0 "$MERCATOR" calibrate all.log --platform vta-pynq-b --json
test "$(number out records)" -eq "$(grep -vc '^#' all.log)"
says out '"before":{"mean_error":0,' # the log was made with these constants
near "$(number out timing.load_per_byte)" 0.2132 0.2 "load_per_byte"

# the platform says what was done, and runs
expect 0 "$MERCATOR" inspect fitted.yaml
cmp out fitted.yaml
says out 'name: fitted'
says out 'calibrated: true'
says out 'records of all.log; mean error'
expect 0 "$MERCATOR" codesign alexnet --platform fitted.yaml --hardware fixed --quiet --no-report

# records that are wanted, records that tell nothing, and wrong requests
expect 0 "$MERCATOR" calibrate all.log --platform vta-pynq-b --where task=conv2d_packed.vta --json
test "$(number out records)" -eq "$(grep -c '"conv2d_packed.vta"' all.log)"
echo '{"input": ["llvm", "x", [], {}], "config": {}}' >>all.log
expect 0 "$MERCATOR" calibrate all.log --platform vta-pynq-b --json
one_line err
says err '1 of other tasks or machines'
expect 1 "$MERCATOR" calibrate all.log --platform vta-pynq-b --where task=none
one_line err
says err '0 records can be used, expected at least 5'
expect 1 "$MERCATOR" calibrate alexnet/run.jsonl --platform vta-pynq-b
one_line err
says err 'not a log of AutoTVM'
expect 1 "$MERCATOR" calibrate all.log --platform s256
says err 'of kind pe-array, whose constants are not fitted'
expect 2 "$MERCATOR" calibrate all.log
says err 'needs a file of records and --platform P'
expect 2 "$MERCATOR" calibrate all.log --platform vta-pynq-b --where population
says err 'expected KEY=VALUE'
expect 2 "$MERCATOR" calibrate all.log --platform vta-pynq-b --folds 1
expect 0 "$MERCATOR" calibrate --help
says out '--prior W'
