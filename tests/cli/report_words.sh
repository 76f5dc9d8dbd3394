# The report knows panels, tasks and metrics, not problems: no word of a problem, of its plug-ins or of one
# optimizer occurs in the page or in src/report, in whatever spelling (someJobs, MER_JOBS, some_jobs).
set -eu
cd "$MERCATOR_SOURCE_DIR"

words='job|jobs|tenant|tenants|core|cores|gantt|schedule|schedules|scheduling|scheduler|mapping|mappings|mapper|nest|nests|loopnest'
words="$words|directive|directives|datacentric|maestro|timeloop|layer|layers|network|networks|tensor|tensors|tile|tiles|codesign|vta|dcoc"
words="$words|placement|placements|colocated|odimo|soc|xrbench|magma|gamma|marl|agent|agents|partition|partitions|recluster|clustering"
words="$words|correlation|correlations|sparse|drift|annealing|fcfs|edf|instruction|instructions|channel|channels"
# Verbs that are words of every program count where they stand alone in quotes.
verbs='map|schedule|codesign|place|split'

# split FILES: one line for each of theirs, identifiers cut into words, with its place.
split_words() {
    awk '{
        line = $0
        while (match(line, /[a-z0-9][A-Z]/)) line = substr(line, 1, RSTART) " " substr(line, RSTART + 1)
        gsub(/[_.-]/, " ", line)
        print FILENAME ":" FNR ": " tolower(line)
    }' "$@"
}

search() {
    find "$@" -name '*.js' -o -name '*.css' -o -name '*.html' -path '*template*' -o -name '*.[ch]' | sort >"$OLDPWD/files"
    # shellcheck disable=SC2046
    split_words $(cat "$OLDPWD/files") | grep -E ":[0-9]+: (.*[^a-z0-9])?($words)([^a-z0-9]|\$)" || true
    # shellcheck disable=SC2046
    grep -nE "[\"'\`]($verbs)[\"'\`]" $(cat "$OLDPWD/files") || true
}

test -s web/src/main.js
test -s src/report/pages/html.c
found=$(search web/src src/report)
test "$(wc -l <"$OLDPWD/files")" -gt 50
# A sparse log is one that leaves trials out (docs/report-data.md).
found=$(printf '%s\n' "$found" | grep -v 'a sparse log leaves' || true)
if [ -n "$found" ]; then
    printf 'words of problems in the report:\n%s\n' "$found" >&2
    exit 1
fi

# It would see one.
mkdir -p "$OLDPWD/planted"
cd "$OLDPWD"
printf 'const draw%s = 1;\nint mer_%s_count;\nif (name === "%s") {}\n// score, nested and place are no such words\n' Jobs tenant map >planted/a.js
OLDPWD=$PWD
test "$(search planted | wc -l)" -eq 3
