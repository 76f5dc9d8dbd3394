# Every command that README.md and docs/ show works, in the order of its page, in a folder of its own that has the
# clone's experiments, examples and tests. In a page
#   - a block ```sh is a script;
#   - in other blocks `$ mercator ...` is a command, and what stands below it what it prints;
#   - in the manual page an indented `mercator ...` is a command;
#   - a block with a name, such as ```yaml jobs.yaml, is a file that is there from the start.
# The studies show how long runs were made; the commands of docs/multi-agent-mapping.md are those of cli/marl_guide.
set -eu
root=$PWD
wrong=0

mkdir bin
ln -s "$MERCATOR" bin/mercator
PATH=$root/bin:$PATH

for page in "$MERCATOR_SOURCE_DIR"/README.md "$MERCATOR_SOURCE_DIR"/docs/*.md "$MERCATOR_SOURCE_DIR"/docs/*.scd; do
    name=$(basename "$page")
    mkdir "$root/$name"
    cd "$root/$name"
    ln -s "$MERCATOR_SOURCE_DIR/experiments" "$MERCATOR_SOURCE_DIR/examples" "$MERCATOR_SOURCE_DIR/tests" .
    awk -v page="$name" '
        /^```/ {
            is_open = !is_open
            language = is_open ? substr($1, 4) : ""
            file = is_open ? $2 : ""
            next
        }
        page ~ /\.scd$/ && sub(/^\tmercator /, "mercator ") { print NR "\t" $0 >"../commands" }
        !is_open { next }
        file != "" { print >file; next }
        language == "sh" { print NR "\t" $0 >"../commands"; next }
        sub(/^\$ mercator /, "mercator ") { print NR "\t" $0 >"../commands"; next }
        /^ *mercator / { print page ":" NR ": a command in a block that is not marked sh"; found = 1 }
        END { exit found }' "$page" || wrong=1
    [ -e ../commands ] || continue
    mv ../commands "../$name.commands"
    [ "$page" != "$MERCATOR_SOURCE_DIR/docs/multi-agent-mapping.md" ] || continue
    while IFS='	' read -r line command; do
        if ! sh -ec "$command" >../out 2>../err </dev/null; then
            echo "$name:$line: $command" >&2
            cat ../err >&2
            wrong=1
        fi
    done <"../$name.commands"
done
cat "$root"/*.commands | grep -c mercator >"$root/count"
test "$(cat "$root/count")" -ge 40
exit $wrong
