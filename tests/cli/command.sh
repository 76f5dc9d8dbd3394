# Evaluator `command`: a program prices plans. What it answers, how it fails, and that threads, resume and `evaluate` work with it.
set -eu
. "$MERCATOR_SOURCE_DIR/tests/cli/lib.sh.inc"

model="command:sh $MERCATOR_SOURCE_DIR/examples/ideal-array.sh"
sh_model='command:while read -r line; do echo "{\"cycles\": ${#line}, \"makespan\": ${#line}, \"latency\": ${#line}, \"throughput\": ${#line}}"; done'

# The same bytes for any number of programs, and after a stop; solvers that need a model give way.
expect 0 "$MERCATOR" map resnet18 --select 3,5 --evaluator "$model" --objective cycles --budget 300 --threads 1 --quiet --no-report -o one
says err "exact_nest solves problem map with evaluator loopnest, found map with command; using annealing"
says out "no bound known"
expect 0 "$MERCATOR" map resnet18 --select 3,5 --evaluator "$model" --objective cycles --budget 300 --threads 4 --workers 2 --quiet --no-report -o four
sed 1d one/run.jsonl >one.trials
sed 1d four/run.jsonl >four.trials
cmp one.trials four.trials
mkdir cut
head -n 200 one/run.jsonl >cut/run.jsonl
expect 0 "$MERCATOR" map resnet18 --select 3,5 --evaluator "$model" --objective cycles --budget 300 --threads 1 --quiet --no-report --resume cut
cmp one/run.jsonl cut/run.jsonl

# No plan that the problem's own evaluator refuses was asked about, unless the user wants that.
says one/run.jsonl '"reason":"fan-out: '
expect 0 "$MERCATOR" map resnet18 --select 3 --evaluator "$model" --check false --objective cycles --budget 300 --quiet --no-report -o free
if grep -q '"reason"' free/run.jsonl; then
    echo "a plan was refused without a check" >&2
    exit 1
fi

# Plans read back with the program's price, and with another evaluator's.
expect 0 "$MERCATOR" evaluate one/mapping.yaml --json
says out '"cycles":'
expect 0 "$MERCATOR" evaluate one/mapping.yaml --evaluator loopnest --json
says out '"energy":'

# Every problem has plans that a program can price.
expect 0 "$MERCATOR" schedule synthetic:8:1 --evaluator "$sh_model" --budget 30 --quiet --no-report -o jobs
expect 0 "$MERCATOR" place alexnet --evaluator "$sh_model" --budget 30 --quiet --no-report -o graph
says out "annealing"
expect 0 "$MERCATOR" split resnet8 --evaluator "$sh_model" --budget 30 --quiet --no-report -o channels
expect 0 "$MERCATOR" codesign resnet18 --select 2 --evaluator "$sh_model" --budget 30 --quiet --no-report -o core
says out "dcoc"

# A program may leave after each answer.
expect 0 "$MERCATOR" map resnet18 --select 3 --evaluator 'command:read -r line; echo "{\"cycles\": 7}"' --objective cycles --check false --budget 20 --quiet --no-report -o single
says out "0 % infeasible"

# or before it has read its line
for i in 1 2 3; do
    expect 0 "$MERCATOR" map resnet18 --select 3 --evaluator 'command:echo "{\"cycles\": 7}"' --objective cycles --check false --budget 20 --quiet --no-report --force -o hasty
    says out " 0 % infeasible"
done

# fails COMMAND REASON: nothing but REASON comes of it, and soon.
fails()
{
    expect 1 "$MERCATOR" map resnet18 --select 3 --evaluator "$1" --objective cycles --check false --timeout-s 0.3 --budget 10 --optimizer random --quiet --no-report -o bad --force
    says err "$2"
}
fails 'command:./no-such-program 2>/dev/null' "crash: ended with code 127 without an answer (not found)"
fails 'command:./no-such-program 2>/dev/null' "crash: given up, the command failed 3 times and gave no answer"
says err "hint: the evaluator's program failed"
fails 'command:read -r line; kill -SEGV $$' "crash: ended by signal 11"
fails 'command:sleep 30' "timeout: no answer within 0.3 s"
fails 'command:while read -r line; do echo no; done' 'answer: found "no", expected one JSON object'
fails 'command:while read -r line; do echo "{\"speed\": 1}"; done' 'answer: unknown key "speed", expected metrics or infeasible'
fails 'command:while read -r line; do echo "{\"cycles\": null}"; done' "answer: cycles is no number"
fails 'command:while read -r line; do echo "{\"cycles\": -5}"; done' "answer: cycles is -5, expected at least 0"
fails 'command:while read -r line; do echo "{\"energy\": 1}"; done' "unsupported: the evaluator gives no cycles"
says err "hint: choose an --objective that the evaluator gives"
# plans that do not fit, among the trials or near them, are not what the search lacks
expect 1 "$MERCATOR" map resnet18 --select 3 --evaluator 'command:while read -r line; do echo "{\"cycles\": 5}"; done' \
    --objective energy --budget 20 --quiet --no-report -o unpriced
says err 'fan-out: GLB needs'
says err 'nearest miss of all: unsupported: the evaluator gives no energy'
says err 'hint: choose an --objective that the evaluator gives'
# one infinite value says nothing of other plans: the search for what is in the way goes on
echo 'n=0; while read -r line; do n=$((n + 1)); e=200; [ $n -lt 25 ] || e=2; echo "{\"cycles\": 1e$e, \"energy\": 1e$e}"; done' >late.sh
expect 1 "$MERCATOR" map resnet18 --select 3 --evaluator 'command:sh late.sh' --check false --objective edp --optimizer random \
    --threads 1 --budget 20 --quiet --no-report -o infinite
says err 'edp is infinite, expected a finite number'
says err 'feasible plans exist, one was met afterwards'
fails 'command:while read -r line; do echo "{\"infeasible\": \"size: is 5, at most 4\"}"; done' "size: is 5, at most 4"
expect 1 "$MERCATOR" map resnet18 --evaluator command
says err "evaluator command has no command, expected command:'./simulator'"
expect 1 "$MERCATOR" map resnet18 --optimizer annealing:foo
says err 'annealing:foo: found "foo", expected key=value'

# echoes SCRIPT CODE: a program of the shell prices 40 plans.
echoes()
{
    echo "$1" >echoes.sh
    expect "$2" "$MERCATOR" map resnet18 --select 3 --evaluator 'command:sh echoes.sh' --objective cycles --check false --optimizer random \
        --threads 1 --budget 40 --quiet --no-report -o echoes --force
}

# Of two lines for one plan the second is no answer to the next plan, however they are written;
for lines in 'printf "{\"cycles\": $n}\n{\"cycles\": 1000000}\n"' 'echo "{\"cycles\": $n}"; echo "{\"cycles\": 1000000}"'; do
    echoes "n=0; while read -r line; do n=\$((n + 1)); $lines; done" 1
    lacks '"cycles":1000000' echoes/run.jsonl # the second line may come late
done
says echoes/run.jsonl 'answer: the program wrote more than one line for a plan, first \"{\"cycles\": 1'

# nor is what it says before it is asked, or while it takes long for the first plan;
echoes 'echo "{\"cycles\": 1000000}"; while read -r line; do echo "{\"cycles\": 1}"; done' 1
says echoes/run.jsonl 'answer: the program wrote more than one line for a plan, first \"{\"cycles\": 1000000}\"'
lacks '"cycles":' echoes/run.jsonl
echoes 'echo hello; while read -r line; do sleep 0.2; echo "{\"cycles\": 1}"; done' 1
says err 'answer: found "hello", expected one JSON object'
lacks '"cycles":' echoes/run.jsonl
echoes 'echo "{\"ready\": true}"; while read -r line; do sleep 0.2; echo "{\"cycles\": 1}"; done' 1
lacks '"cycles":' echoes/run.jsonl
# a second line that comes now and then is seen before the next question, or by its id;
echoes 'n=0; while read -r line; do n=$((n + 1)); more=; [ $n -ne 5 ] || more="{\"cycles\": 1000000}\n"; printf "{\"cycles\": 1}\n$more"; done' 0
says echoes/run.jsonl '"reason":"answer: the program wrote more than one line for a plan'
lacks '"cycles":1000000' echoes/run.jsonl
id='id=${line##*\"id\":\"}; id=${id%%\"*}'
echoes "while read -r line; do $id"'; echo "{\"cycles\": 1, \"id\": \"$id\"}"; sleep 0.2; echo "{\"cycles\": 1000000, \"id\": \"$id\"}"; done' 0
says echoes/run.jsonl 'answer: id is \"'
lacks '"cycles":1000000' echoes/run.jsonl
# blank lines are no answers.
echoes 'echo; while read -r line; do echo "{\"cycles\": ${#line}}"; sleep 0.005; echo; done' 0
says out " 0 % infeasible"

# A front of what the program does not tell is none, and the console says why.
echo 'while read -r line; do echo "{\"cycles\": 100}"; done' >cycles-only.sh
expect 0 "$MERCATOR" map resnet18 --select 2 --evaluator 'command:sh cycles-only.sh' --objective cycles --pareto cycles,energy --optimizer random --budget 30 --quiet --no-report -o no-front
says out "trade-offs: none, since no plan has energy: what prices plans does not tell it"

# The page's evaluator in C: outside the tree, and the same prices as the script with its rules.
awk '/^```/ { on = !on && $2 == "ideal.c"; next } on' "$MERCATOR_SOURCE_DIR/docs/own-evaluator.md" >ideal.c
libraries=$(PKG_CONFIG_PATH=$MERCATOR_BUILD_DIR pkg-config --static --libs mercator | tr ' ' '\n' | grep -v -e '^-lmercator$' -e '^-L' -e '^-lgfortran$')
# shellcheck disable=SC2086
"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror $MERCATOR_TEST_FLAGS -I"$MERCATOR_SOURCE_DIR/include" ideal.c \
    "$MERCATOR_BUILD_DIR/libmercator.a" $libraries -o mercator-ideal
expect 0 ./mercator-ideal list evaluators
grep -q '^ideal  *every multiplier is busy' out
set -- map resnet18 --select 3,5 --objective cycles --optimizer random --budget 300 --quiet --no-report
expect 0 ./mercator-ideal "$@" --evaluator ideal -o in-c
expect 0 ./mercator-ideal "$@" --evaluator "$model" -o in-sh
for run in in-c in-sh; do
    grep -o '"cycles":[0-9]*' $run/run.jsonl >$run.cycles
done
test -s in-c.cycles
cmp in-c.cycles in-sh.cycles
