# docs/mercator.1, which is installed, is what scdoc makes of docs/mercator.1.scd (but for its date and version), and
# knows every verb.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
page=$MERCATOR_SOURCE_DIR/docs/mercator.1

expect 0 "$MERCATOR" --help
for verb in $(sed -n 's/^  \([a-z]*\)  .*  .*/\1/p' out); do
    grep -q "\\\\fB$verb\\\\fR" "$page" || { echo "the manual page does not know $verb" >&2; exit 1; }
done
if ! command -v scdoc >/dev/null; then
    echo "scdoc is not here: whether the page is current was not checked"
    exit 0
fi
plain()
{
    sed '/^\.\\" /d; s/^\(\.TH "mercator" "1"\).*/\1/' "$1"
}
scdoc <"$MERCATOR_SOURCE_DIR/docs/mercator.1.scd" >made
plain made >wanted
plain "$page" >found
diff found wanted || { echo "make it anew: scdoc <docs/mercator.1.scd >docs/mercator.1" >&2; exit 1; }
