# Streams of a codesign run as files: binary, listing and C arrays say the same, `inspect` reads them back with the time
# of the run, and names what is wrong with damaged ones.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
cat >net.csv <<'CSV'
layer,type,K,C,Y,X,R,S,stride
a/b,conv,32,16,16,16,3,3,1
c,conv,64,32,14,14,3,3,2
CSV

expect 0 "$MERCATOR" codesign net.csv --quiet --no-report -o run --export vta_listing --export vta_c
for file in a-b.vta a-b.uop a-b.vta.json c.vta c.uop c.vta.json a-b.lst c.lst vta_streams.c vta_streams.h trace.json; do
    test -s "run/$file"
done

# every trace slice belongs to one of three stages of two layers
test "$(grep -o '"name":"thread_name"' run/trace.json | wc -l)" -eq 6
test "$(grep -o '"ph":"X"' run/trace.json | wc -l)" -ge 20

# what inspect says of the file is what the run said of the plan, and the listing is the same
expect 0 "$MERCATOR" inspect run/a-b.vta
is_silent err
says out 'every rule of the hardware is kept'
grep -v '^#\|^uop' run/a-b.lst >listed
head -n "$(wc -l <listed)" out | cmp - listed
expect 0 "$MERCATOR" inspect run/a-b.vta --json
says out '"legal":true,"reason":null'
says out '"fields":{"opcode":0,"pop_prev":0,"pop_next":0,"push_prev":0,"push_next":0,"memory_type":0,"sram_base":0'
says out '"dst_factor_out":'
says out '"task":"a/b"'
expect 0 "$MERCATOR" inspect run/c.vta --json
seconds=$(number out seconds)
expect 0 "$MERCATOR" evaluate run/mapping.yaml --json
near "$seconds" "$(sed 's/.*"latency":\([0-9.e-]*\).*/\1/' out)" 1e-12 "seconds of the stream"

# the C arrays hold the bytes of the binary files
cat >dump.c <<'C'
#include "run/vta_streams.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    for (int t = 0; t < VTA_STREAM_COUNT; t++) {
        const VtaStream *s = &vta_streams[t];
        FILE *words = fopen(strcmp(s->task, "c") == 0 ? "c.words" : "a-b.words", "wb");
        FILE *uops = fopen(strcmp(s->task, "c") == 0 ? "c.uops" : "a-b.uops", "wb");
        for (uint32_t i = 0; i < 4 * s->instruction_count; i++) {
            uint64_t half = s->instructions[i / 4][i / 2 % 2] >> 32 * (i % 2);
            for (int b = 0; b < 4; b++) fputc((int)(half >> 8 * b & 255), words);
        }
        for (uint32_t i = 0; i < 4 * s->uop_count; i++) fputc((int)(s->uops[i / 4] >> 8 * (i % 4) & 255), uops);
        if (s->wgt.entry_bytes != s->block_in * s->block_out || s->out.entries == 0) return 1;
        fclose(words);
        fclose(uops);
    }
    return 0;
}
C
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror dump.c run/vta_streams.c -o dump
./dump
for task in a-b c; do
    cmp "$task.words" "run/$task.vta"
    cmp "$task.uops" "run/$task.uop"
done

# without the description the core is that of --platform; without micro-ops nothing can be said of the kernels
expect 0 "$MERCATOR" codesign net.csv --hardware fixed --quiet --no-report -o fixed
mkdir alone
cp fixed/c.vta fixed/c.uop alone
expect 0 "$MERCATOR" inspect alone/c.vta
says out 'c.vta: '
says out 'core 1x16x16'
says out 'every rule of the hardware is kept'
expect 0 "$MERCATOR" inspect alone/c.vta --platform vta-pynq-a
says out 'with the host on vta-pynq-a'
rm alone/c.uop
expect 0 "$MERCATOR" inspect alone/c.vta
says out 'the file of the micro-ops is missing'

# damaged: cut within an instruction, without its end, with bits that no field has, with a flag that no stage takes
cp fixed/c.uop alone
head -c 100 fixed/c.vta >alone/c.vta
expect 1 "$MERCATOR" inspect alone/c.vta
one_line err
says err 'expected instructions of 16 bytes each'
head -c 160 fixed/c.vta >alone/c.vta
expect 0 "$MERCATOR" inspect alone/c.vta
says out 'refused, stream: it does not end with FINISH'
{ cat fixed/c.vta; printf '\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377'; } >alone/c.vta
expect 1 "$MERCATOR" inspect alone/c.vta
one_line err
says err 'has unknown opcode'
{ printf '\013\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'; } >alone/c.vta
expect 0 "$MERCATOR" inspect alone/c.vta
says out 'refused, tokens: instruction 0 has a flag that its stage must not have'
: >alone/c.vta
expect 1 "$MERCATOR" inspect alone/c.vta
one_line err
expect 1 "$MERCATOR" inspect fixed/c.vta --platform s256
says err 'of kind pe-array, expected vta'
expect 2 "$MERCATOR" inspect resnet18 --platform s256
echo '{"format":"mercator-vta/9"}' >alone/c.vta.json
cp fixed/c.vta alone
expect 1 "$MERCATOR" inspect alone/c.vta
says err 'format is not mercator-vta/1'
