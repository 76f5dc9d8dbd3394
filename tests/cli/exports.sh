# The shared library shows exactly what include/mercator declares, under a name with an ABI version.
set -eu
library=$MERCATOR_BUILD_DIR/libmercator.so
if [ ! -e "$library" ]; then
    echo "skipped: this build has no shared library"
    exit 77
fi

# Read by the compiler, not by the script that made the linker's list. Once comments and macros are gone, a name
# of ours before a parenthesis is a function, and data is declared `extern`. The few that have their body there
# (static inline) are no part of the library.
for header in "$MERCATOR_SOURCE_DIR"/include/mercator/*.h; do
    echo "#include \"mercator/${header##*/}\""
done >all.c
"$CC" -std=c11 -E -P -I"$MERCATOR_SOURCE_DIR/include" all.c >declarations
{
    grep -oE '\bmer_[a-z0-9_]+ *\(' declarations
    grep -E '^ *extern [^(]*\bmer_' declarations | grep -oE '\bmer_[a-z0-9_]+' || true
} | tr -d ' (' | LC_ALL=C sort -u >named
tr '\n' ' ' <declarations | grep -oE 'static inline [^({;]*\(' | grep -oE 'mer_[a-z0-9_]+' | LC_ALL=C sort -u >inside
LC_ALL=C comm -23 named inside >declared
nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >exported

test "$(wc -l <declared)" -ge 70
if ! diff declared exported >difference; then
    echo "declared in include/mercator and not exported (<), or exported and not declared there (>):" >&2
    grep '^[<>]' difference >&2
    exit 1
fi

version=$(sed -n 's/^project(mercator VERSION \([0-9]*\)\..*/\1/p' "$MERCATOR_SOURCE_DIR/CMakeLists.txt")
if ! readelf -d "$library" | grep -qF "Library soname: [libmercator.so.$version]"; then
    echo "expected the soname libmercator.so.$version, found:" >&2
    readelf -d "$library" | grep -i soname >&2
    exit 1
fi
