# codesign on a platform of kind native: kernels are compiled, checked and measured, the plan file reads back, and the
# exported library compiles and is right. Nothing here depends on speed.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

cat >tiny.csv <<'CSV'
name,type,K,C,Y,X,R,S,stride
first,conv,20,3,15,15,7,7,2
middle,conv,40,20,7,7,3,3,1
deep,dsconv,1,40,7,7,3,3,1
last,conv,33,40,7,7,1,1,2
CSV

expect 0 "$MERCATOR" codesign tiny.csv --platform native --budget 8 --export kernels -o run --quiet
says out "codesign tiny on native, dcoc, objective throughput"
says out "stays on the host: depthwise"
says run/run.jsonl '"measured":true'
says run/mapping.yaml "kind: kernel"
test "$(grep -c '"vector_bits"' run/mapping.yaml)" = 3

expect 0 "$MERCATOR" evaluate run/mapping.yaml
says out "register tile"
says out "Gop/s"

# Another compiler, as users name one.
cat >gcc.yaml <<'YAML'
{format: mercator-platform/1, kind: native, compiler: cc, flags: -O1, units: [{name: cpu, vector_bits: 128, threads: 2}]}
YAML
expect 0 "$MERCATOR" codesign tiny.csv --platform gcc.yaml --optimizer random --select 1 --budget 3 --list-knobs
says out "vector_bits     ordered   128"
says out "threads         ordered   1 2"
says out "0=KYC"
# layers are counted as inspect counts them, and what stays on the host is not lost silently
expect 0 "$MERCATOR" codesign tiny.csv --platform gcc.yaml --optimizer random --select 4 --budget 3 --list-knobs
grep -q '^last: ' out
for select in 3 deep; do
    expect 1 "$MERCATOR" codesign tiny.csv --platform gcc.yaml --select $select --budget 3 -o none
    says err "--select is \"$select\": deep stays on the host: depthwise"
done

# The library: no warnings, and its test program finds nothing wrong.
expect 0 make -C run/kernels check CC=cc CFLAGS="-O1 -march=native -Wall -Wextra -Werror"
test "$(grep -c ' ok ' out)" = 3
says out "GFLOP/s"
says run/kernels/kernels.h "void k1_"

# Its test program sees a wrong kernel.
sed -i 's/a0 += w0 \* v;/a0 -= w0 * v;/' run/kernels/k1_*.c
expect 2 make -C run/kernels check CC=cc CFLAGS=-O1
says out "WRONG"

# Plans of another kind are not theirs.
expect 1 "$MERCATOR" codesign tiny.csv --hardware fixed --export kernels=elsewhere -o vta --quiet
says err "exporter kernels cannot write plans of kind vta"

# One clear line where there is no compiler.
sed 's/compiler: cc/compiler: no-such-cc/' gcc.yaml >bare.yaml
expect 1 "$MERCATOR" codesign tiny.csv --platform bare.yaml --budget 3
one_line err
says err "needs the C compiler no-such-cc"
expect 1 "$MERCATOR" codesign tiny.csv --platform native --batch-size 2 --budget 3
one_line err
says err "native kernels work on one image"

# What would measure the whole space is refused before anything is compiled.
expect 1 "$MERCATOR" codesign tiny.csv --platform native --optimizer dcoc --assess 1000 --budget 3
says err "prices the whole space"

# A killed run takes the child that measures with it: its log is free at once.
cat >slow-cc <<'SH'
#!/bin/sh
[ ! -e slow ] || { : >waiting; exec sleep 60; }
exec cc "$@"
SH
chmod +x slow-cc
sed "s|compiler: cc|compiler: $PWD/slow-cc|" gcc.yaml >slow.yaml
: >slow
"$MERCATOR" codesign tiny.csv --platform slow.yaml --select 1 --budget 3 --quiet --no-report -o killed >/dev/null 2>&1 &
pid=$!
tries=0
while [ ! -e waiting ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -9 $pid
wait $pid 2>/dev/null || true
rm slow
expect 0 "$MERCATOR" codesign --resume killed --quiet --no-report
