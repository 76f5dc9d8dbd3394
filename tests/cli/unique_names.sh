# A name says which file is meant: no two files of src/ and include/ have the same one, and X.c and X.h of src/ stand
# in the same folder. Names that must occur twice are listed here, one per word, with the reason beside them.
set -eu
allowed=''

# twice ROOT: names that occur twice, with their folders.
twice()
{
    (cd "$1" && find src include -name '*.[ch]') | LC_ALL=C sort | awk -v allowed="$allowed" '
        BEGIN {
            count = split(allowed, list, " ")
            for (i = 1; i <= count; i++) is_allowed[list[i]] = 1
        }
        {
            name = folder = stem = $0
            sub(/.*\//, "", name)
            sub(/\/[^\/]*$/, "", folder)
            stem = name
            sub(/\.[ch]$/, "", stem)
            if (name in is_allowed) next
            if (name in first) print name ": in " first[name] " and in " folder
            else if (folder ~ /^src/ && (stem in home) && home[stem] != folder) print name ": in " folder ", and another " stem " in " home[stem]
            first[name] = folder
            if (folder ~ /^src/ && !(stem in home)) home[stem] = folder
        }'
}

mkdir -p tree/src/map/cost tree/src/run tree/include/mercator
touch tree/src/map/map.c tree/src/map/map.h tree/src/map/cost/traffic.h tree/src/run/run.c tree/include/mercator/run.h
test -z "$(twice tree)"
touch tree/src/run/traffic.h tree/src/run/map.c tree/src/run/traffic.c
twice tree >found
cat >expected <<'TEXT'
map.c: in src/map and in src/run
traffic.c: in src/run, and another traffic in src/map/cost
traffic.h: in src/map/cost and in src/run
TEXT
diff expected found

found=$(twice "$MERCATOR_SOURCE_DIR")
if [ -n "$found" ]; then
    echo "expected every file name once, found:" >&2
    printf '%s\n' "$found" >&2
    exit 1
fi
