#!/bin/sh
# count-lines.sh [COMMIT]: code lines of src and include by folder, of the working tree or of a commit.
# Counted are the lines of *.c and *.h on which something is left once comments are gone: no blank lines, no lines
# of comment alone; braces, preprocessor lines and tables count. Nothing that the build generates is counted.
set -eu
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
    folder=$(mktemp -d "${TMPDIR:-/tmp}/mercator-lines-XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    git archive --output "$folder/tree.tar" "$1" src include
    tar -xf "$folder/tree.tar" -C "$folder"
    cd "$folder"
fi

find src include -name '*.[ch]' -exec awk '
    FNR == 1 {
        inside = 0
        split(FILENAME, part, "/")
        folder = part[1] == "src" && part[3] == "" ? "src" : part[1] "/" part[2]
    }
    {
        # Looks for what comes first: a literal, which may hold what looks like a comment, or a comment.
        line = $0
        code = 0
        while (line != "") {
            if (inside) {
                end = index(line, "*/")
                line = end ? substr(line, end + 2) : ""
                inside = !end
            } else if (match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/\/|\/\*/)) {
                found = substr(line, RSTART, RLENGTH)
                inside = found == "/*"
                code = code || substr(line, 1, RSTART - 1) ~ /[^ \t]/ || found !~ /^\//
                line = found == "//" ? "" : substr(line, RSTART + RLENGTH)
            } else {
                code = code || line ~ /[^ \t]/
                line = ""
            }
        }
        if (code) count[folder]++
    }
    END { for (folder in count) print folder, count[folder] }' {} + |
    awk '{ count[$1] += $2; total += $2 }
        END {
            for (folder in count) printf "%-18s %6d\n", folder, count[folder] | "LC_ALL=C sort"
            close("LC_ALL=C sort")
            printf "%-18s %6d\n", "total", total
        }'
