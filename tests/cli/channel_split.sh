# The study of learned channel splits in small: cells that are kept, images made from others, and tables.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
study=$MERCATOR_SOURCE_DIR/experiments/channel-split

expect 0 sh "$study.sh" "$MERCATOR" . runs tiny
[ "$(ls runs/warm | wc -l)" -eq 2 ] # one float network for each seed
cp runs/hard/exact-2/run.jsonl before
rm runs/hard/exact-2/cpu_s # as if the cell had been cut off
dd if=before of=runs/hard/exact-2/run.jsonl bs=1 count=$(($(wc -c <before) / 2)) 2>/dev/null
expect 0 sh "$study.sh" "$MERCATOR" . runs tiny
cmp before runs/hard/exact-2/run.jsonl

expect 0 python3 "$study.py" tables runs
says out '| io_8bit | 2 | 14147 |'
says out '| exact, 0.03 | 2 |'
says out '| score |'
says out 'the cheapest mapping by hand within 0.5 points of all_8bit'

# 2 x 2 pixels become one; the end of the training part goes to the test part
mkdir -p raw/fashion raw/fsdd-mfcc
python3 - <<'END'
import struct
def write(name, shape, data, kind=8, folder="fashion"):
    with open(f"raw/{folder}/{name}", "wb") as file:
        file.write(bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data)
images = [bytes([i % 251] * 4 + [(i + 2) % 251] * 4 + [i % 251] * 8) for i in range(4000)]
write("train-images-idx3-ubyte", (4000, 4, 4), b"".join(images))
write("train-labels-idx1-ubyte", (4000,), bytes(i % 10 for i in range(4000)))
write("test-images-idx3-ubyte", (8, 4, 4), b"".join(images[:8]))
write("test-labels-idx1-ubyte", (8,), bytes(range(8)))
for part, count in (("train", 1600), ("test", 4)):
    write(part + "-mfcc-idx3-byte", (count, 3, 2), bytes(6 * count), 9, "fsdd-mfcc")
    write(part + "-labels-idx1-ubyte", (count,), bytes(count), 8, "fsdd-mfcc")
END
expect 0 python3 "$study.py" data raw made
[ "$(wc -c <made/fashion-14/train-images-idx3-ubyte)" -eq $((16 + 1500 * 4)) ]
[ "$(wc -c <made/fashion-14/test-labels-idx1-ubyte)" -eq $((8 + 2008)) ]
[ "$(od -An -tu1 -j16 -N4 made/fashion-14/train-images-idx3-ubyte | tr -s ' ')" = " 1 1 0 0" ]
[ "$(wc -c <made/fashion-more/test-images-idx3-ubyte)" -eq $((16 + 2508 * 16)) ]
[ "$(wc -c <made/spoken-more/test-mfcc-idx3-byte)" -eq $((16 + 104 * 6)) ]
[ "$(od -An -tu1 -j2 -N1 made/spoken-more/train-mfcc-idx3-byte | tr -d ' ')" -eq 9 ] # signed bytes stay signed
