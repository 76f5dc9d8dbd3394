# The how-to's optimizer builds as it stands, with one line in the registry, and runs.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
guide=$MERCATOR_SOURCE_DIR/docs/how-to-add-an-optimizer.md

awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$guide" >hillclimb.c
line=$(awk '/^```$/ { on = 1; next } on && /X\(/ { print; exit }' "$guide")
test -n "$line"
awk -v line="$line" '{ print } /^#define OPTIMIZERS\(X\)/ { print line }' "$MERCATOR_SOURCE_DIR/src/registry.c" >registry.c
test "$(diff "$MERCATOR_SOURCE_DIR/src/registry.c" registry.c | grep -c '^>')" -eq 1

flags="-std=c11 -D_POSIX_C_SOURCE=200809L -DMERCATOR_VERSION=\"0\" -Wall -Wextra -Wpedantic -Werror $MERCATOR_TEST_FLAGS"
libraries=$(PKG_CONFIG_PATH=$MERCATOR_BUILD_DIR pkg-config --static --libs mercator | tr ' ' '\n' | grep -v -e '^-lmercator$' -e '^-L' -e '^-lgfortran$')
"$CC" $flags -I"$MERCATOR_SOURCE_DIR/include" -I"$MERCATOR_SOURCE_DIR/src" \
    hillclimb.c registry.c "$MERCATOR_SOURCE_DIR"/src/cli/*.c "$MERCATOR_BUILD_DIR/libmercator.a" \
    $libraries -o mercator-toy

expect 0 ./mercator-toy list optimizers hillclimb
says out 'hillclimb: hill climbing with restarts'
says out 'patience=200'
expect 0 ./mercator-toy map resnet18 --select 2 --budget 3000 --optimizer hillclimb:patience=50 --json --quiet -o run
says out '"optimizer":"hillclimb"'
says run/run.jsonl '"options":{"patience":50}'
