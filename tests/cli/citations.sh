# Every page that a comment cites is in the repository, with the section it names; no other document is cited; and
# links between pages lead somewhere.
set -eu
cd "$MERCATOR_SOURCE_DIR"
folder=$OLDPWD
written='tables\.md|study\.md' # files that commands write

# Comments cite pages as: docs/NAME.md, "Heading" (and "Heading"), over the ends of lines.
find src include tests bench tools cmake experiments platforms web/src .ci Makefile CMakeLists.txt \
    -type f ! -path '*/corpus/*' ! -path 'tests/data/*' ! -name citations.sh -exec grep -l '\.md' {} + |
    sort >"$folder/files"
while read -r file; do
    sed 's/^[[:space:]]*\(\*\|\/\/\|#\)\{0,1\}[[:space:]]*//' "$file" | tr '\n' ' ' |
        grep -aoE '[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md(((, | and )"[^"]*")+|[^A-Za-z0-9_]|$)' | sed "s|^|$file:|" || :
done <"$folder/files" >"$folder/cited"
test "$(grep -c ':docs/.*, "' "$folder/cited")" -ge 80 # the pattern finds what it is for

wrong=0
complain()
{
    echo "$1" >&2
    wrong=1
}

# heading PAGE TEXT: the page has that heading, of any level.
heading()
{
    sed -n 's/^##* //p' "$1" | grep -qxF -- "$2"
}

while IFS= read -r line; do
    file=${line%%:*}
    rest=${line#*:}
    page=$(printf '%s' "$rest" | sed 's/\.md.*/.md/; s|^.*/docs/|docs/|')
    case $page in
    docs/* | web/* | tests/*) ;;
    *) printf '%s' "$page" | grep -qE "(^|/)($written)$" && continue ;;
    esac
    if [ ! -f "./$page" ] && ! [ -f "$(dirname "$file")/$page" ] && ! [ -f "web/$page" ]; then
        complain "$file cites $page, which is not in the repository"
        continue
    fi
    printf '%s' "$rest" | grep -oE '"[^"]*"' | sed 's/^"//; s/"$//' >"$folder/headings" || :
    while IFS= read -r text; do
        heading "$page" "$text" || complain "$file cites $page, \"$text\": there is no such heading"
    done <"$folder/headings"
done <"$folder/cited"

# Links of pages: the file is there, and so is the heading of an anchor.
for page in *.md docs/*.md docs/studies/*.md tests/data/*.md; do
    grep -oE '\]\([^)[:space:]]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' >"$folder/links" || :
    while IFS= read -r link; do
        target=$(dirname "$page")/${link%%#*}
        [ "${link%%#*}" ] || target=$page
        [ -e "$target" ] || { complain "$page links to $link, which is not there" && continue; }
        case $link in
        *#*) sed -n 's/^##* //p' "$target" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qxF -- "${link#*#}" ||
            complain "$page links to $link: there is no such heading" ;;
        esac
    done <"$folder/links"
done
exit $wrong
