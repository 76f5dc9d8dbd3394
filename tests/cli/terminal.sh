# What a person sees at a terminal: lines that fit it, shortened names, colours there and nowhere else.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"
unset NO_COLOR COLUMNS || true
escape=$(printf '\033')

# at COLUMNS COMMAND: what it prints on a terminal of that width, in `seen`; carriage returns begin a line.
at()
{
    TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | tr '\r' '\n' >raw
    sed "s/$escape\[[0-9;]*m//g" raw | sed 's/ *$//' | grep -v '^$' >seen || true
}

# fits COLUMNS: no line of `seen` is longer.
fits()
{
    awk -v most="$1" 'length($0) > most { print "longer than " most ": " $0; bad = 1 } END { exit bad }' seen
}

# Tables: names are shortened, columns are left out and named, nothing wraps.
for columns in 40 60 80 120 200; do
    at $columns "$MERCATOR map resnet18 --optimizer random --budget 300 --quiet --no-report -o table --force"
    fits $columns
    says seen 'edp'
    grep -q '^total .* %' seen
done
says seen '/layer2/layer2.0/downsample/downsample.0/Conv'
at 80 "$MERCATOR map resnet18 --optimizer random --budget 300 --quiet --no-report -o table"
says seen '..'
says seen '(not in 80 columns: '
for columns in 40 80; do
    for what in metrics formats exporters; do
        at $columns "$MERCATOR list $what"
        fits $columns
    done
done
at 80 "$MERCATOR --help; $MERCATOR map --help-all; $MERCATOR list optimizers annealing"
fits 80
for verb in map schedule codesign place split evaluate inspect calibrate list compare report demo completion; do
    at 80 "$MERCATOR $verb --help"
    fits 80
done
at 80 "$MERCATOR place alexnet --quiet --no-report -o placed"
says seen 'what if, same placement'
fits 80
at 80 "$MERCATOR evaluate placed/placement.yaml"
says seen 'what if, same placement'
fits 80
at 80 "$MERCATOR schedule mix --select 1 --budget 50 --quiet --no-report -o queues; $MERCATOR evaluate queues/schedule.yaml"
says seen 'jobs: '
fits 80
at 80 "$MERCATOR map resnet18 --select 1 --budget 300 --pareto energy,cycles --no-report -o front"
says seen '; using annealing'
fits 80
at 80 "$MERCATOR inspect resnet18"
fits 80
grep -q 'C256 Y7 X7 /2' seen # sizes are never cut

# The tables of a study: titles are broken into lines, what still does not fit is named.
at 80 "$MERCATOR compare resnet18 --select 1-2 --optimizer random --optimizer genetic --seed 1-2 --budget 300 --quiet \
    --no-report -o study; $MERCATOR compare study"
for columns in 40 80; do
    at $columns "$MERCATOR compare study"
    fits $columns
done
says seen 'optimizer  samples'
says seen '(not in 80 columns: '
at 200 "$MERCATOR compare study"
says seen 'saving on its own last find (95 % interval)'

# No terminal: nothing is cut, and there are no colours.
expect 0 "$MERCATOR" map resnet18 --optimizer random --budget 300 --quiet --no-report -o table
says out '/layer2/layer2.0/downsample/downsample.0/Conv'
says out 'utilisation'
lacks "$escape" out

# Colours: for titles, errors and warnings, unless somebody minds.
at 80 "$MERCATOR list metrics"
grep -q "$escape" raw
at 80 "$MERCATOR inspect nothing_of_that_name; true"
grep -q "$escape\[1;31mmercator:" raw
at 80 "NO_COLOR=1 $MERCATOR list metrics; NO_COLOR=1 $MERCATOR inspect nothing_of_that_name; TERM=dumb $MERCATOR list metrics"
lacks "$escape" raw

# The progress line: the best with its unit, the rate and the time left, in every width.
for columns in 40 80 200; do
    at $columns "$MERCATOR map resnet18 --select 2-3 --optimizer random --threads 1 --total-time 0.5 --no-report -o line --force"
    fits $columns
    grep '/2 .*/s' seen | head -n 1 >line.txt
    test "$(wc -c <line.txt)" -le "$columns" # with the newline: the last column would wrap
    says line.txt 'J.cycle'
    grep -q '[0-9]:[0-9][0-9]' line.txt
done
says seen ' evaluations, best '
says seen '/layer1/layer1.0/conv1/Conv: '

# The lines of several runs stand alone, not behind the progress line.
at 80 "$MERCATOR map resnet18 --select 2 --optimizer random --seed 1-4 --budget 3000 --threads 1 --no-report -o cells"
test "$(grep -c '^cells/00[1-4]: ' seen)" -eq 4
