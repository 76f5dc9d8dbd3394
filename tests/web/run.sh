#!/bin/sh
# run.sh PROGRAM FOLDER: opens report pages in a headless browser and compares what they show with the
# files of the runs. Exit code 77: there is no browser.
set -u
program=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$browser" ] || { echo "test-web: no chromium here" >&2; exit 77; }
mkdir -p "$folder"
failures=0
checks=0

fail() {
    echo "test-web: $1" >&2
    failures=$((failures + 1))
}

# open_page PAGE DOM: the elements as the browser has them after the page's script has run.
open_page() {
    profile=$(mktemp -d "$folder/profile-XXXXXX") || exit 1
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --enable-logging=stderr --user-data-dir="$profile" --virtual-time-budget=5000 --dump-dom "file://$1" \
        >"$2.raw" 2>"$2.messages" || { fail "the browser failed on $1: $(tail -n 1 "$2.messages")"; return 1; }
    rm -rf "$profile"
    # The data block holds the same numbers: only what was drawn may count.
    sed 's|<script type="application/json".*</script>||' "$2.raw" >"$2"
    checks=$((checks + 1))
    grep -q 'data-ready="true"' "$2" || { fail "$1 was not drawn: $(value_of "$2" failure text)"; return 1; }
    if grep -q 'CONSOLE.*Uncaught' "$2.messages"; then
        fail "$1: $(grep 'CONSOLE.*Uncaught' "$2.messages" | head -n 1)"
    fi
}

# value_of DOM TESTID [text]: the data-value (or the text) of the element with that data-testid.
value_of() {
    tr '\n' ' ' <"$1" | sed 's/</\n</g' | awk -v id="data-testid=\"$2\"" -v wants="${3:-value}" '
        index($0, id) {
            if (wants == "text") sub(/^[^>]*>/, "")
            else if (sub(/.*data-value="/, "")) sub(/".*/, "")
            else $0 = ""
            print
            exit
        }'
}

# member FILE KEY...: a scalar of a compact JSON object, by its path of keys (or list indices).
member() {
    file=$1
    shift
    printf '%s\n' "$@" | awk -v file="$file" '
        function skip(text,    depth, in_text, i, sign) { # length of the value at the start of text
            for (i = 1; i <= length(text); i++) {
                sign = substr(text, i, 1)
                if (in_text) {
                    if (sign == "\\") i++
                    else if (sign == "\"") in_text = 0
                } else if (sign == "\"") in_text = 1
                else if (sign == "{" || sign == "[") depth++
                else if (sign == "}" || sign == "]") { if (depth-- == 0) return i - 1 }
                else if (sign == "," && depth == 0) return i - 1
            }
            return length(text)
        }
        BEGIN { while ((getline line < file) > 0) text = text line }
        {
            sub(/^[ \t\n]*/, "", text)
            is_list = substr(text, 1, 1) == "["
            text = substr(text, 2)
            for (place = 0; ; place++) {
                sub(/^[ \t\n]*/, "", text)
                if (text == "" || text ~ /^[]}]/) { exit }
                key = place
                if (!is_list) {
                    match(text, /^"[^"]*"[ ]*:[ ]*/)
                    key = substr(text, 2, index(substr(text, 2), "\"") - 1)
                    text = substr(text, RLENGTH + 1)
                }
                size = skip(text)
                if (key == $0) { text = substr(text, 1, size); next }
                text = substr(text, size + 2)
            }
        }
        END { if (NR) { gsub(/^"|"$/, "", text); print text } }'
}

# same NAME SHOWN WANTED: equal as numbers to twelve digits, or as texts.
same() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" 'BEGIN {
        if (b == "null") b = ""
        if (a == "" || b == "") exit a != b
        if (a !~ /^[-+.0-9eE]+$/ || b !~ /^[-+.0-9eE]+$/) exit a != b
        d = a - b; if (d < 0) d = -d; m = b < 0 ? -b : b
        exit d > 1e-12 * m }' || fail "$1: the page shows '$2', the run has '$3'"
}

# no_address PAGE: nothing outside the comment with the licences names an address to fetch.
no_address() {
    checks=$((checks + 1))
    found=$(sed '/^<!--$/,/^-->$/d' "$1" | grep -o -i -E "(src|href)=[\"']?(https?:)?//[^\"' >]*|url\([\"']?(https?:)?//[^)]*|@import|https?://[a-z0-9.-]*\.[a-z]+[^\"' <]*" | head -n 3)
    [ -z "$found" ] || fail "$1 names an address: $found"
}

# check_run NAME DOM SUMMARY: headline values and the first task.
check_run() {
    for pair in "best-score best score" "bound-value bound value" "gap bound gap" "evaluations evaluations" \
        "infeasible-count infeasible count" "infeasible-capacity infeasible reasons capacity" \
        "task-0-gap tasks 0 bound gap" "task-0-energy tasks 0 best energy" "best-cycles best cycles"; do
        set -- "$1" "$2" "$3" $pair
        name=$1 dom=$2 summary=$3 id=$4
        shift 4
        wanted=$(member "$summary" "$@")
        case $id in infeasible-capacity) [ -n "$wanted" ] || { set -- "$name" "$dom" "$summary"; continue; } ;; esac
        [ -n "$wanted" ] || fail "$name: $summary has no $*"
        same "$name: $id" "$(value_of "$dom" "$id")" "$wanted"
        set -- "$name" "$dom" "$summary"
    done
    same "$1: bound kind" "$(value_of "$2" bound-kind text)" "$(member "$3" bound kind)"
}

# make_page OUT RUN...: report.html from run directories.
make_page() {
    out=$1
    shift
    mkdir -p "$out"
    "$program" report "$@" -o "$out/report.html" >/dev/null 2>"$out.messages" ||
        { fail "mercator report failed: $(head -n 1 "$out.messages")"; return 1; }
}

# A made-up run with a note for every panel.
sh "$here/make_sample.sh" "$folder/sample" annealing 1 400 11 all || exit 1
if make_page "$folder/one" "$folder/sample" && open_page "$folder/one/report.html" "$folder/one.dom"; then
    check_run sample "$folder/one.dom" "$folder/sample/summary.json"
    no_address "$folder/one/report.html"
    for panel in curves plan breakdown gantt cycles_by_bandwidth graph pareto correlation dendrogram warnings agents agents-picture cut \
        agent-list sparse_reward correlation_drift; do
        checks=$((checks + 1))
        grep -q "data-testid=\"$panel\"" "$folder/one.dom" || fail "sample: no $panel panel"
    done
    checks=$((checks + 1))
    grep -q '<b>not markup</b>' "$folder/one.dom" && fail "sample: text of a note became markup"
    # the agents of marl: knobs by name, 8 agents, of which two have several knobs; frames only around those
    same "sample: agents" "$(value_of "$folder/one.dom" agent-count text)" 8
    same "sample: clustering samples" "$(value_of "$folder/one.dom" clustering-samples)" 80
    same "sample: feasible samples" "$(value_of "$folder/one.dom" correlation-samples)" 63
    agents=$(tr '\n' ' ' <"$folder/one.dom" | sed 's/.*data-testid="agent-list"//; s/<\/ul>.*//')
    for text in 'agent 1 ' 'agent 2 ' '6 agents with one knob' '<code>order.K.0</code>' '<code>tile.S.1</code>'; do
        checks=$((checks + 1))
        case $agents in *"$text"*) ;; *) fail "sample: no '$text' in the list of agents" ;; esac
    done
    frames=$(sed 's/</\n</g' "$folder/one.dom" | grep -c '<rect.*fill="none"')
    same "sample: frames of clusters" "$frames" 2
fi

# Samples of an earlier run are free: no share of the evaluations, and no mark on the curve.
mkdir -p "$folder/free"
cp "$folder/sample"/* "$folder/free"
sed 's/"samples":80,/"samples":80,"warm":80,/' "$folder/sample/run.jsonl" >"$folder/free/run.jsonl"
if make_page "$folder/free-page" "$folder/free" && open_page "$folder/free-page/report.html" "$folder/free.dom"; then
    same "warm: clustering text" "$(value_of "$folder/free.dom" clustering-samples text)" "80 of an earlier run"
fi

# Several runs: a comparison. The median of three seeds is one of the three scores.
for seed in 1 2 3; do
    for optimizer in random genetic; do
        sh "$here/make_sample.sh" "$folder/$optimizer-$seed" "$optimizer" "$seed" 200 3 || exit 1
    done
done
if make_page "$folder/many" "$folder/random-1" "$folder/random-2" "$folder/random-3" \
    "$folder/genetic-1" "$folder/genetic-2" "$folder/genetic-3" &&
    open_page "$folder/many/report.html" "$folder/many.dom"; then
    same "comparison: first run" "$(value_of "$folder/many.dom" run-0-score)" "$(member "$folder/random-1/summary.json" best score)"
    median=$(for seed in 1 2 3; do member "$folder/random-$seed/summary.json" best score; done | sort -g | sed -n 2p)
    same "comparison: median" "$(value_of "$folder/many.dom" method-0-0-median)" "$median"
fi

# A study: the page shows the tables that the command prints.
tiny=$here/../../experiments/multi-agent-mapping-tiny.yaml
if "$program" map "$tiny" --quiet --no-report -o "$folder/cells" >/dev/null 2>"$folder/cells.messages" &&
    "$program" compare "$folder/cells" --reference marl:agents=1 --at 100 -o "$folder/study" --format markdown >"$folder/study.md" 2>"$folder/study.messages"; then
    if open_page "$folder/study/report.html" "$folder/study.dom"; then
        no_address "$folder/study/report.html"
        for panel in study study-curves final-0-0 reach-1-2 baseline-0-2 at-100-2-2 pairs-100-0-1 gap-0-0; do
            checks=$((checks + 1))
            grep -q "data-testid=\"$panel\"" "$folder/study.dom" || fail "study: no $panel"
        done
        row=$(sed -n '/^### Final quality$/,/^### /p' "$folder/study.md" | grep '^| marl |' | head -n 1)
        same "study: final quality of marl" "$(value_of "$folder/study.dom" final-1-2 text)" "$(echo "$row" | cut -d'|' -f4 | sed 's/^ //; s/ $//')"
        checks=$((checks + 1))
        grep -q '>bayes<' "$folder/study.dom" || fail "study: no row of bayes"
    fi
else
    fail "the study failed: $(head -n 1 "$folder/cells.messages") $(head -n 1 "$folder/study.messages")"
fi

# A multi-agent search names its knobs.
if "$program" map mobilenet_v2 --select 2 --platform edge --evaluator datacentric --genome ten --optimizer marl --budget 400 --quiet \
    -o "$folder/marl" >/dev/null 2>"$folder/marl.messages"; then
    if open_page "$folder/marl/report.html" "$folder/marl.dom"; then
        checks=$((checks + 2))
        grep -q 'data-testid="agents-picture"' "$folder/marl.dom" || fail "marl: no picture of the clusters"
        grep -q '<code>tile.C.outer</code>' "$folder/marl.dom" || fail "marl: the knobs have no names"
    fi
else
    fail "mercator map with marl failed: $(head -n 1 "$folder/marl.messages")"
fi

# A schedule with dependencies, deadlines and tenants. Pointing at a job says what it waits for.
# point PAGE X Y: a copy of the page on which the pointer moves there on the timeline.
point() {
    sed "s|</body>|<script>setTimeout(() => { const c = document.querySelector('.gantt canvas'); \
const r = c.getBoundingClientRect(); c.dispatchEvent(new PointerEvent('pointermove', \
{ clientX: r.left + $2, clientY: r.top + $3, bubbles: true })); }, 1000);</script></body>|" "$1"
}
cat >"$folder/jobs.yaml" <<'YAML'
format: mercator-jobs/1
models:
  - {name: cam, file: resnet18, tenant: vision, weight: 2}
  - {name: eyes, file: mobilenet_v2, fps: 600, deadline: period, tenant: xr}
  - {name: gaze, file: alexnet, fps: 600, after: [eyes], deadline: period, tenant: xr}
horizon_ms: 4
YAML
if (cd "$folder" && "$program" schedule jobs.yaml --platform s1 --late drop --optimizer fcfs --cache off --quiet -o schedule) \
    >/dev/null 2>"$folder/schedule.messages"; then
    point "$folder/schedule/report.html" 100 14 >"$folder/pointed.html"
    if open_page "$folder/pointed.html" "$folder/schedule.dom"; then
        no_address "$folder/schedule/report.html"
        for panel in gantt gantt-groups bandwidth-legend tenants schedule tenant-row-1 core-row-3; do
            checks=$((checks + 1))
            grep -q "data-testid=\"$panel\"" "$folder/schedule.dom" || fail "schedule: no $panel"
        done
        for metric in stp antt jain; do
            same "schedule: $metric" "$(value_of "$folder/schedule.dom" $metric)" "$(member "$folder/schedule/summary.json" best $metric)"
        done
        # columns of schedule.csv: 2 model, 8 end_cycle (empty: dropped), 13 release, 14 deadline
        dropped=$(awk -F, 'NR > 1 && $8 == ""' "$folder/schedule/schedule.csv" | wc -l)
        requests=$(awk -F, 'NR > 1 && $14 != "" { print $2, $13 }' "$folder/schedule/schedule.csv" | sort -u | wc -l)
        missed=$(awk -F, 'NR > 1 && $14 != "" && ($8 == "" || $8 > $14 + 0) { print $2, $13 }' "$folder/schedule/schedule.csv" | sort -u | wc -l)
        same "schedule: dropped jobs" "$(value_of "$folder/schedule.dom" gantt-dropped)" "$dropped"
        # Requests, not the times of their deadlines: the page and the metric are of the same.
        same "schedule: requests" "$(value_of "$folder/schedule.dom" gantt-requests)" "$requests"
        same "schedule: missed requests" "$(value_of "$folder/schedule.dom" gantt-missed)" "$missed"
        same "schedule: miss rate" "$(awk -v a="$missed" -v b="$requests" 'BEGIN { printf "%.17g", a / b }')" \
            "$(member "$folder/schedule/summary.json" best miss_rate)"
        pointed=$(value_of "$folder/schedule.dom" gantt-readout text)
        checks=$((checks + 1))
        case $pointed in *" on hb0: "*" · before "*) ;; *) fail "schedule: pointing at a job says '$pointed'" ;; esac
    fi
else
    fail "mercator schedule failed: $(head -n 1 "$folder/schedule.messages")"
fi
# Without drops there is a curve of cycles against bandwidth, whatever the rules.
if (cd "$folder" && "$program" schedule jobs.yaml --platform s1 --share maxmin --optimizer fcfs --cache off --quiet -o curve) \
    >/dev/null 2>"$folder/curve.messages" && open_page "$folder/curve/report.html" "$folder/curve.dom"; then
    checks=$((checks + 1))
    grep -q 'data-testid="cycles_by_bandwidth"' "$folder/curve.dom" || fail "schedule: no curve over bandwidths"
fi

# A planner on line says how long it took to decide.
if (cd "$folder" && "$program" schedule jobs.yaml --platform s1 --late drop --optimizer online:ms=1 --cache off --quiet -o online) \
    >/dev/null 2>"$folder/online.messages" && open_page "$folder/online/report.html" "$folder/online.dom"; then
    same "online: decisions" "$(value_of "$folder/online.dom" decisions)" "$(member "$folder/online/summary.json" decisions count)"
    same "online: worst decision" "$(value_of "$folder/online.dom" decision-worst)" "$(member "$folder/online/summary.json" decisions worst_ms)"
else
    fail "scheduling on line failed: $(head -n 1 "$folder/online.messages")"
fi

# A stream of groups: what was carried to each, and what generations made of it. The budget
# ends before the hundredth, which a group that is proven optimal has anyway.
if (cd "$folder" && "$program" schedule synthetic:60:3 --group-size 20 --bandwidth 1000 --groups 0..2 --optimizer magma:population=20 \
    --budget 600 --cache off --quiet -o stream) >/dev/null 2>"$folder/stream.messages" &&
    open_page "$folder/stream/report.html" "$folder/stream.dom"; then
    for task in 0 1 2; do
        for pair in 0:0 1:1 2:30 3:100; do
            same "stream: group $task after ${pair#*:} generations" "$(value_of "$folder/stream.dom" "task-$task-after-${pair#*:}")" \
                "$(member "$folder/stream/summary.json" tasks "$task" milestones "${pair%:*}" value)"
        done
    done
    checks=$((checks + 2))
    case $(value_of "$folder/stream.dom" task-1-after-0) in "" | 0) fail "stream: nothing was carried to group 1" ;; esac
    grep -q 'id="milestones-panel"' "$folder/schedule.dom" && fail "schedule: milestones without a stream"
else
    fail "the stream failed: $(head -n 1 "$folder/stream.messages")"
fi

# A real search, and the page it wrote itself.
if "$program" map resnet18 --platform s256 --optimizer annealing --budget 300 --seed 1 --quiet -o "$folder/real" >/dev/null 2>"$folder/real.messages"; then
    if open_page "$folder/real/report.html" "$folder/real.dom"; then
        check_run map "$folder/real.dom" "$folder/real/summary.json"
        no_address "$folder/real/report.html"
        for panel in curves plan breakdown; do
            checks=$((checks + 1))
            grep -q "data-testid=\"$panel\"" "$folder/real.dom" || fail "map: no $panel panel"
        done
    fi
else
    fail "mercator map failed: $(head -n 1 "$folder/real.messages")"
fi

echo "test-web: $checks checks, $failures failures"
[ "$failures" -eq 0 ]
