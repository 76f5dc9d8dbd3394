# Generic code names no problem: no identifier, string or comparison in src/run, src/report, src/cli, src/opt and
# web/src (comments aside) has
#   - the name of a problem, evaluator, solver or reader of a wing, in quotes and alone: "map", 'loopnest';
#   - its class (mer_problem_map, mer_optimizer_lpt), or a kind of plan (MER_PLAN_...);
#   - a word that means something in one problem alone, as a part of an identifier or a string (job_count, MerJobs,
#     "all jobs"), or in the name of the file.
# Presets of optimizers are aside: they are named after papers and problems. So are names of metrics, which all
# problems share, and the lines listed below, where an ordinary word is meant. Prints one line per finding,
# FILE:LINE: text; line 0 stands for the name of the file.
set -eu
wings='map schedule codesign place split'
words='job tenant arrival gantt nest directive mapping core makespan schedule scheduler scheduling codesign loopnest datacentric'

# FILE: the line, without spaces around it. Titles of papers, cores of the machine that searches, a label.
allowed()
{
    cat <<'LINES'
src/opt/magma.c: "Kao and Krishna, MAGMA: An Optimization Framework for Mapping Multiple DNNs on Multiple "
src/opt/magma.c: "Accelerator Cores, HPCA 2022",
src/report/studies/study_tables_at.c: "once as the machine had cores, and others may have used it.",
src/run/experiment/experiment.c: MER_INT(threads, "0", 0, 4096, "0: all cores; the result does not depend on it"),
LINES
}

# names ROOT: what wings register, one name per line.
names()
{
    for wing in $wings; do
        echo "$wing"
        [ ! -d "$1/src/$wing" ] || grep -rhoE 'Class mer_(problem|evaluator|optimizer|importer|exporter|plan_reader)_[a-z0-9_]+ =' "$1/src/$wing" |
            sed -E 's/Class mer_(problem|evaluator|optimizer|importer|exporter|plan_reader)_(.*) =/\2/'
    done | sort -u
}

# findings ROOT
findings()
{
    allowed >allowed
    names=$(names "$1" | tr '\n' ' ')
    (
        cd "$1"
        find src/run src/report src/cli src/opt web/src -type f \
            \( -name '*.[ch]' -o -name '*.js' -o -name '*.css' \) | LC_ALL=C sort
    ) | while read -r file; do
        awk -v names="$names" -v words="$words" -v file="$file" -v exceptions="$PWD/allowed" '
            BEGIN {
                count = split(words, list, " ")
                for (i = 1; i <= count; i++) {
                    is_word[list[i]] = is_word[list[i] "s"] = 1
                }
                gsub(/ +$/, "", names)
                gsub(/ /, "|", names)
                quoted = "[\"\047`](" names ")[\"\047`]"
                class = "(^|[^a-z0-9_])mer_(problem|evaluator|optimizer|importer|exporter|plan)_(" names ")($|[^a-z0-9_])"
                while ((getline line < exceptions) > 0) is_allowed[line] = 1
                if (has_word(file)) print file ":0: " file
            }
            # Is a part of an identifier or a text one of the words?
            function has_word(text,    parts, count, i)
            {
                while (match(text, /[a-z][A-Z]/)) {
                    text = substr(text, 1, RSTART) " " substr(text, RSTART + 1)
                }
                count = split(tolower(text), parts, /[^a-z]+/)
                for (i = 1; i <= count; i++) {
                    if (parts[i] in is_word) return 1
                }
                return 0
            }
            # The line without comments; `inside` goes on to the next one.
            function code_of(line,    code, end, found)
            {
                code = ""
                while (line != "") {
                    if (inside) {
                        end = index(line, "*/")
                        line = end ? substr(line, end + 2) : ""
                        inside = !end
                    } else if (match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|`([^`\\]|\\.)*`|\/\/|\/\*/)) {
                        found = substr(line, RSTART, RLENGTH)
                        code = code substr(line, 1, RSTART - 1)
                        inside = found == "/*"
                        if (!inside && found != "//") code = code found
                        line = found == "//" ? "" : substr(line, RSTART + RLENGTH)
                    } else {
                        code = code line
                        line = ""
                    }
                }
                return code
            }
            {
                code = code_of($0)
                gsub(/MER_METRIC_[A-Z_]+|"makespan"/, "", code)
                if (code ~ /MerPreset [a-z_]*\[\] =/) is_preset = 1
                if (!is_preset && (code ~ quoted || code ~ class || code ~ /(^|[^A-Za-z0-9_])MER_PLAN_/ || has_word(code))) {
                    text = $0
                    gsub(/^[ \t]+|[ \t]+$/, "", text)
                    if (!((file ": " text) in is_allowed)) print file ":" FNR ": " text
                }
                if (code ~ /;[ \t]*$/) is_preset = 0
            }' "$1/$file"
    done
}

# A planted tree: what is found in it, and what is not.
mkdir -p tree/src/run tree/src/report tree/src/cli tree/src/opt tree/src/schedule/solve tree/src/base tree/web/src
echo 'const MerOptimizerClass mer_optimizer_lpt = {.name = "lpt"};' >tree/src/schedule/solve/lpt.c
echo 'int jobs; /* a wing may, and so may what is below */' >tree/src/base/jobs.c
cat >tree/src/run/a.c <<'C'
/* "map" of jobs: a comment */ int jobless, encore, mapped, map; // of cores
if (strcmp(name, "map") == 0 || is("mapper") || is("a map")) {
    int b = x->job_count;
}
MerJobs *b;
double coreTime = 0; char *url = "http://a/b"; int tenants;
const void *c = &mer_problem_schedule, *d = mer_problem_find(name);
const void *e = &mer_optimizer_lpt;
int f = MER_PLAN_NEST, metric = MER_METRIC_MAKESPAN, other = find("makespan");
say("2 jobs"); use(MER_METRIC_MAKESPAN, "makespan");
/* several
   jobs */ int g;
int h = is("lpt");
int i = MER_METRIC_MAKESPAN, j = find("makespan");
C
cat >tree/src/opt/b.c <<'C'
static const MerPreset presets[] = {{"map", "a=1"},
                                    {"schedule", "a=2"}, {NULL, NULL}};
int nest;
C
cat >tree/web/src/gantt.js <<'JS'
a.map((x) => x); // Gantt
if (x === 'schedule') {}
const makespanOf = `map`;
JS
findings tree >found
cat >expected <<'TEXT'
src/opt/b.c:3: int nest;
src/run/a.c:2: if (strcmp(name, "map") == 0 || is("mapper") || is("a map")) {
src/run/a.c:3: int b = x->job_count;
src/run/a.c:5: MerJobs *b;
src/run/a.c:6: double coreTime = 0; char *url = "http://a/b"; int tenants;
src/run/a.c:7: const void *c = &mer_problem_schedule, *d = mer_problem_find(name);
src/run/a.c:8: const void *e = &mer_optimizer_lpt;
src/run/a.c:9: int f = MER_PLAN_NEST, metric = MER_METRIC_MAKESPAN, other = find("makespan");
src/run/a.c:10: say("2 jobs"); use(MER_METRIC_MAKESPAN, "makespan");
src/run/a.c:13: int h = is("lpt");
web/src/gantt.js:0: web/src/gantt.js
web/src/gantt.js:2: if (x === 'schedule') {}
web/src/gantt.js:3: const makespanOf = `map`;
TEXT
diff expected found

findings "$MERCATOR_SOURCE_DIR" >found
if [ -s found ]; then
    cat found
    exit 1
fi
