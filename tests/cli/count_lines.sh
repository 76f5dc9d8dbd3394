# tools/count-lines.sh counts lines with code on them: comments, blanks, and what looks like a comment in a text.
set -eu
mkdir -p tree/tools tree/src/run/log tree/include/mercator
cp "$MERCATOR_SOURCE_DIR/tools/count-lines.sh" tree/tools
cat >tree/src/run/log/a.c <<'C'
/* A comment
   of two lines */

int a; /* counts */
/* counts */ int b; /* and
goes on */
// not
const char *url = "http://x", *open = "/*"; // counts
int c = '"';
    
{
}
C
echo 'int main;' >tree/src/registry.c
printf '#define A \\\n    1\n\n' >tree/include/mercator/a.h
sh tree/tools/count-lines.sh >found
cat >expected <<'TEXT'
include/mercator        2
src                     1
src/run                 6
total                   9
TEXT
diff expected found
