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

# open_page PAGE DOM [MILLISECONDS]: the elements as the browser has them after the page's script has run.
open_page() {
    profile=$(mktemp -d "$folder/profile-XXXXXX") || exit 1
    timeout 240 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --enable-logging=stderr --user-data-dir="$profile" --virtual-time-budget="${3:-5000}" --window-size=1600,1000 --dump-dom "file://$1" \
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

# has NAME DOM TESTID...: elements that must be there.
has() {
    name=$1 dom=$2
    shift 2
    for id in "$@"; do
        checks=$((checks + 1))
        grep -q "data-testid=\"$id\"" "$dom" || fail "$name: no $id"
    done
}

# count_of DOM TESTID: how many elements have it.
count_of() {
    sed 's/</\n</g' "$1" | grep -c "data-testid=\"$2\""
}

# says_text NAME DOM TEXT...: what must be read somewhere.
says_text() {
    name=$1 dom=$2
    shift 2
    for text in "$@"; do
        checks=$((checks + 1))
        tr '\n' ' ' <"$dom" | grep -qF -- "$text" || fail "$name: does not say '$text'"
    done
}

# with_script SCRIPT PAGE: a copy of the page that runs the scripts of these files as well.
with_script() {
    awk -v files="$1" '
        BEGIN { count = split(files, list, " ") }
        /<\/body>/ {
            for (i = 1; i <= count; i++) {
                print "<script>"
                while ((getline line < list[i]) > 0) { gsub(/<\/script/, "<\\/script", line); print line }
                print "</script>"
            }
        }
        { print }' "$2"
}

# audit NAME PAGE[#ADDRESS]...: each page in windows of three widths; what audit.js finds there is a failure. The rules
# of axe are applied too where web/build.sh has installed them.
audit() {
    name=$1
    shift
    axe=$here/../../web/node_modules/axe-core/axe.min.js
    [ -f "$axe" ] || axe=
    frames= number=0
    for page in "$@"; do
        number=$((number + 1))
        with_script "$axe $here/audit.js" "${page%%#*}" >"$folder/$name-$number.html"
        case $page in *"#"*) address="#${page#*#}" ;; *) address= ;; esac
        for width in 390 1280 1920; do
            frames="$frames<iframe src=\"$name-$number.html$address\" width=$width height=900 style=\"border:0\"></iframe>"
        done
    done
    cat >"$folder/$name-audit.html" <<HTML
<!doctype html><html data-ready="true"><body>$frames<ol data-testid="audits" data-value="0"></ol><script>
const list = document.querySelector("ol");
addEventListener("message", ({ data }) => {
    list.dataset.value++;
    for (const text of data.found) list.append(Object.assign(document.createElement("li"), { textContent: "FOUND " + data.width + " " + data.page + ": " + text }));
});
</script></body></html>
HTML
    open_page "$folder/$name-audit.html" "$folder/$name-audit.dom" 20000 || return
    same "$name: audits done" "$(value_of "$folder/$name-audit.dom" audits)" $((number * 3))
    sed 's/<li>/\n<li>/g; s/<\/ol>/\n/g' "$folder/$name-audit.dom" | sed -n 's/^<li>FOUND //p' >"$folder/$name.found"
    checks=$((checks + 1))
    [ ! -s "$folder/$name.found" ] || fail "$name: $(wc -l <"$folder/$name.found") things on the page, first: $(head -n 12 "$folder/$name.found")"
}

# open_seconds PAGE: seconds of processor time that all processes of the browser take until the page is painted; other
# work on the machine makes it no longer.
open_seconds() {
    awk '/<\/body>/ {
            print "<script>addEventListener(\"load\", () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>"
            print "console.log(\"painted \" + document.documentElement.dataset.ready + \" after \" + performance.now().toFixed(0) + \" ms\")))))</script>"
        }
        { print }' "$1" >"$folder/timed.html"
    profile=$(mktemp -d "$folder/profile-XXXXXX") || exit 1
    rm -f "$folder/session" "$folder/timed.messages"
    setsid sh -c 'echo $$ >"$0"; exec timeout 120 "$@"' "$folder/session" "$browser" --headless --no-sandbox --disable-gpu --disable-quic \
        --no-first-run --disable-background-networking --disable-component-update --disable-sync --enable-logging=stderr \
        --remote-debugging-port=0 --user-data-dir="$profile" --window-size=1280,900 "file://$folder/timed.html" >/dev/null 2>"$folder/timed.messages" &
    tries=0
    until grep -q 'painted true' "$folder/timed.messages" 2>/dev/null || [ $((tries += 1)) -gt 1100 ]; do
        sleep 0.1
    done
    session=$(cat "$folder/session")
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v session="$session" -v ticks="$(getconf CLK_TCK)" '
        { sub(/.*\) /, ""); if ($4 == session) used += $12 + $13 } END { printf "%.2f\n", used / ticks }'
    kill "$session" 2>/dev/null
    wait
    rm -rf "$profile"
}

# opens_soon NAME PAGE: painted within two seconds, what an empty page takes aside. A browser that has to wait for the
# processor works on by its timers: the best of three tries counts.
opens_soon() {
    checks=$((checks + 1))
    size=$(wc -c <"$2")
    for attempt in 1 2 3; do
        took=$(open_seconds "$2")
        echo "test-web: $1: a page of $size bytes takes $took s of processor time, an empty one $empty_took s;" \
            "$(grep -o 'painted true after [0-9]* ms' "$folder/timed.messages" | head -n 1) by the clock"
        grep -q 'painted true' "$folder/timed.messages" &&
            awk -v took="$took" -v empty="$empty_took" 'BEGIN { exit took - empty > 2 }' && return
    done
    fail "$1: opened in $took s of processor time, an empty page in $empty_took s, expected 2 s more at most"
}

# A made-up run with every kind of panel.
sh "$here/make_sample.sh" "$folder/sample" annealing 1 400 11 all || exit 1
if make_page "$folder/one" "$folder/sample" && open_page "$folder/one/report.html" "$folder/one.dom"; then
    dom=$folder/one.dom
    check_run sample "$dom" "$folder/sample/summary.json"
    no_address "$folder/one/report.html"
    has sample "$dom" curves plan view-energy view-memories view-stages view-fill view-small view-large view-pareto \
        view-pairs view-parts view-partition view-recluster view-shares view-beside warnings warning-drift warning-same \
        partition-picture partition-cut partition-groups stages-groups stages-stack-0 stages-stack-1 fill-stack-0
    checks=$((checks + 1))
    grep -q '<b>not markup</b>' "$dom" && fail "sample: text of a note became markup"
    # drawn points of the scatter, and who is on its front: 40 points, energies of seven sizes, accuracy and latency rise
    same "sample: drawn points" "$(count_of "$dom" pareto-point)" 40
    # the timeline: 96 items, 24 sets and one that never ran; set 5 is late
    same "sample: sets" "$(value_of "$dom" stages-sets)" 25
    same "sample: missed sets" "$(value_of "$dom" stages-missed)" 2
    same "sample: dropped" "$(value_of "$dom" stages-dropped)" 1
    # 34 nodes are drawn as they are, 1,000 as a hundred blocks, 11 tasks and what joins them, and 300 of 1,200
    same "sample: nodes" "$(count_of "$dom" graph-node)" 346
    same "sample: blocks" "$(count_of "$dom" graph-block)" 100
    # a hundred blocks do not fit beside each other
    checks=$((checks + 1))
    [ "$(sed 's/</\n</g' "$dom" | grep -c 'class="graph-row"')" -gt 4 ] || fail "sample: the large graph is one row"
    # tables, bars and facts keep their numbers
    same "sample: table cell" "$(value_of "$dom" memories-1-2)" 0.75
    same "sample: empty cell" "$(value_of "$dom" memories-0-2)" ""
    same "sample: bar" "$(value_of "$dom" shares-0-1)" 0.75
    # where bars have limits, percentages are of these
    same "sample: share of a limit" "$(value_of "$dom" energy-mac-share | cut -c1-12)" 0.8
    checks=$((checks + 1))
    grep -q 'data-testid="energy-dram-share"' "$dom" && fail "sample: a percentage of a bar without a limit beside one with"
    same "sample: agents" "$(value_of "$dom" partition-fact-agents)" 8
    same "sample: feasible samples" "$(value_of "$dom" partition-fact-feasible-samples)" 63
    same "sample: samples" "$(value_of "$dom" partition-fact-samples-for-clustering text | tr -d '\342\200\257')" "80 (20.0% of the task)"
    # two groups of several leaves have a frame, the others are listed together
    groups=$(tr '\n' ' ' <"$dom" | sed 's/.*data-testid="partition-groups"//; s/<\/ul>.*//')
    for text in 'agent 1 ' 'agent 2 ' '6 agents with one knob' '<code>order.K.0</code>' '<code>tile.S.1</code>'; do
        checks=$((checks + 1))
        case $groups in *"$text"*) ;; *) fail "sample: no '$text' in the list of groups" ;; esac
    done
    frames=$(sed 's/</\n</g' "$dom" | grep -c '<rect.*fill="none"')
    same "sample: frames of two trees" "$frames" 4
    # a warning of several tasks: each with its own numbers; the same one of all is said once
    says_text sample "$dom" 'drift, 11 times' 'after 240 samples – conv1<' 'after 250 samples – fc<' 'alike: in every task – all tasks.' \
        'platform s256 is not calibrated.' 'no feasible point – layer1.conv3x3.' 'Try larger memories.'
    # what cannot be drawn is shown as it stands
    says_text sample "$dom" '"columns": "no list"' '"panel": "orrery"'
fi

# What can be done on it: tasks are chosen by row, column and key, Back undoes it, and every chart can be saved. The
# plan stays beside the table in a wide window.
with_script "$here/actions.js" "$folder/one/report.html" >"$folder/acted.html"
if open_page "$folder/acted.html" "$folder/acted.dom" 20000; then
    dom=$folder/acted.dom
    same "acted" "$(value_of "$dom" acted)" "done"
    for pair in row:4:3 column:6:5 key:7:6 back:6:5 twice-back:4:3; do
        step=${pair%%:*} rest=${pair#*:}
        same "address after $step" "$(value_of "$dom" "$step-address")" "#task=${rest%:*}"
        same "task after $step" "$(value_of "$dom" "$step-picked")" "task-row-${rest#*:}"
    done
    same "column is pressed" "$(value_of "$dom" column-pressed)" true
    # graphs: what they can be coloured by, tasks chosen in them, all nodes on demand, one window after the other
    same "colours of tasks" "$(value_of "$dom" tasks-colours)" 'cycles, energy, EDP, utilisation, gap to the bound, operator'
    same "first colour of tasks" "$(value_of "$dom" tasks-colour)" energy
    same "colours of other nodes" "$(value_of "$dom" long-colours)" 'unit, model, time, use'
    same "legend of the gap" "$(value_of "$dom" legend-of-gap)" true
    same "fills by operator" "$(value_of "$dom" fills-by-group)" 2
    checks=$((checks + 1))
    [ "$(value_of "$dom" fills-by-number)" -gt 4 ] || fail "energies of tasks have $(value_of "$dom" fills-by-number) colours"
    for pair in node:5:4 node-key:6:5; do
        step=${pair%%:*} rest=${pair#*:}
        same "address after $step" "$(value_of "$dom" "$step-address")" "#task=${rest%:*}"
        same "task after $step" "$(value_of "$dom" "$step-picked")" "task-row-${rest#*:}"
    done
    same "node is pressed" "$(value_of "$dom" node-pressed)" true
    same "all nodes" "$(value_of "$dom" all-nodes)" 23
    same "window" "$(value_of "$dom" window)" '1 – 300 of 1200'
    same "next window" "$(value_of "$dom" next-window)" '301 – 600 of 1200'
    same "nodes of an opened block" "$(value_of "$dom" opened-block)" 10
    same "plan beside the table" "$(value_of "$dom" plan-beside)" sticky
    charts=$(value_of "$dom" buttons-svg)
    checks=$((checks + 1))
    [ "${charts:-0}" -ge 13 ] || fail "acted: only '$charts' charts can be saved"
    for kind in svg png csv; do
        same "charts saved as $kind" "$(value_of "$dom" saved-$kind)$(value_of "$dom" bad-$kind)" "$charts"
        same "buttons for $kind" "$(value_of "$dom" buttons-$kind)" "$charts"
    done
    same "columns of the table of tasks" "$(value_of "$dom" first-csv | sed 's/&quot;//g')" \
        'task,count,cycles (cycle),energy (pJ),energy DRAM (pJ),energy GLB (pJ),energy MAC (pJ)'
    # each task as often as it occurs, cut into the bars of its view
    same "column of a task that occurs four times" "$(value_of "$dom" alltasks-cycles-1)" \
        "$(member "$folder/sample/summary.json" tasks 1 best cycles | awk '{ printf "%.17g", 4 * $1 }')"
    for text in 'evaluations per task' 'gap to the bound' 'Gap to the bound against' 'accuracy against latency'; do
        says_text axes "$folder/one.dom" "$text"
    done
fi

# The examples of docs/report-data.md can be drawn, each of them.
mkdir -p "$folder/examples"
head -n 1 "$folder/sample/run.jsonl" >"$folder/examples/run.jsonl"
awk '/^```json$/ { on = 1; next } /^```$/ { on = 0 } on { printf "%s%s", /^{/ ? "\n" : "", $0 } END { print "" }' "$here/../../docs/report-data.md" |
    sed -n '/"panel"/s/.*/{"type":"note","index":1,"task":null,"source":"docs","name":"view","value":&}/p' >>"$folder/examples/run.jsonl"
if make_page "$folder/examples-page" "$folder/examples" && open_page "$folder/examples-page/report.html" "$folder/examples.dom"; then
    dom=$folder/examples.dom
    has examples "$dom" view-online warning-sparse view-memories view-energy view-stages view-fill view-placement view-front view-links \
        view-partition view-modules plan
    same "examples: notes" "$(grep -c '"name":"view"' "$folder/examples/run.jsonl")" 12
    same "examples: not drawn" "$(sed 's/</\n</g' "$dom" | grep -c 'class="raw"')" 0
fi

# A run all of whose tasks are proven says so, although the product of sums in its total is not.
mkdir -p "$folder/proven"
cp "$folder/sample"/* "$folder/proven"
sed 's/"proven":false},"evaluations"/"proven":true},"evaluations"/g' "$folder/sample/summary.json" >"$folder/proven/summary.json"
if make_page "$folder/proven-page" "$folder/proven" && open_page "$folder/proven-page/report.html" "$folder/proven.dom"; then
    same "proven: all tasks" "$(value_of "$folder/proven.dom" proven text)" "all 11 tasks proven optimal"
    checks=$((checks + 1))
    case $(value_of "$folder/proven.dom" headline text) in
    "11 of 11 tasks proven optimal; resnet18 within "*" of its bound, because each task is optimised alone") ;;
    *) fail "proven: the headline says '$(value_of "$folder/proven.dom" headline text)'" ;;
    esac
fi

# Without bounds the curves are relative to the best plans, and say so.
for tasks in 1 3; do
    sh "$here/make_sample.sh" "$folder/bound-$tasks" annealing 1 100 $tasks || exit 1
    mkdir -p "$folder/unbound-$tasks"
    for file in run.jsonl summary.json; do sed 's/"bound":{[^}]*}/"bound":null/g' "$folder/bound-$tasks/$file" >"$folder/unbound-$tasks/$file"; done
    make_page "$folder/unbound-$tasks-page" "$folder/unbound-$tasks" && open_page "$folder/unbound-$tasks-page/report.html" "$folder/unbound-$tasks.dom"
done
says_text unbound "$folder/unbound-3.dom" 'Best so far, relative to the best plan found' 'so far and the best plan found, per task.' 'aria-label="Gap to the best plan found against'
checks=$((checks + 1))
grep -q 'points. Dashed: bound' "$folder/unbound-1.dom" && fail "unbound: a bound is drawn that is not known"

# To a bound of 0 there is no gap: the curve is of the score, and the headline has both numbers.
mkdir -p "$folder/zero"
for file in run.jsonl summary.json; do
    sed 's/"bound":{[^}]*}/"bound":{"value":0,"kind":"zero","scope":"","gap":null,"proven":false}/g' "$folder/bound-3/$file" >"$folder/zero/$file"
done
if make_page "$folder/zero-page" "$folder/zero" && open_page "$folder/zero-page/report.html" "$folder/zero.dom"; then
    says_text zero "$folder/zero.dom" 'data-testid="headline">Best found: EDP ' 'aria-label="Best edp of'
fi

# Tasks with a bound of 0 have no gap. The means are over the others, and say so; who is not drawn is not said to be blue.
# zero_bounds PLACES FROM TO: a copy of a run with a bound of 0 in these places of its summary, 1: the whole, 2: the first task.
zero_bounds() {
    mkdir -p "$3"
    cp "$2/run.jsonl" "$3"
    edits=
    for place in $1; do edits="$edits;s/\"bound\":{[^}]*}/\"bound\":{\"value\":0,\"kind\":\"zero\",\"scope\":\"\",\"gap\":null,\"proven\":false}/$place"; done
    sed "${edits#;}" "$2/summary.json" >"$3/summary.json"
}
sh "$here/make_sample.sh" "$folder/bound-rival" genetic 1 100 3 || exit 1
for case in 'one 3' 'two 3 4' 'every 2 3 4'; do
    name=${case%% *}
    zero_bounds "${case#* }" "$folder/bound-3" "$folder/zero-$name/annealing"
    zero_bounds "${case#* }" "$folder/bound-rival" "$folder/zero-$name/genetic"
    make_page "$folder/zero-$name-page" "$folder/zero-$name/annealing" "$folder/zero-$name/genetic" &&
        open_page "$folder/zero-$name-page/report.html" "$folder/zero-$name.dom"
done
says_text zero-one "$folder/zero-one.dom" 'Gap to the bound, geometric mean over 2 of 3 tasks; the others have no gap, as their limit is 0 or unknown.'
says_text zero-two "$folder/zero-two.dom" 'Gap to the bound of conv1, 1 of 3 tasks; the others have no gap'
says_text zero-every "$folder/zero-every.dom" 'No task has a gap to draw'
says_text bounds "$folder/zero-every.dom" 'resnet18 on s256, EDP.<'
for name in one two; do
    checks=$((checks + 1))
    ends=$(grep -o 'aria-label="Gap to the bound by optimizer, at the end: [^"]*"' "$folder/zero-$name.dom" | head -n 1)
    echo "$ends" | grep -q 'annealing [0-9.]*[^0-9]*%, genetic [0-9.]*[^0-9]*%"$' || fail "zero-$name: curves end at '$ends'"
done
if make_page "$folder/zero-alone" "$folder/zero-one/annealing" && open_page "$folder/zero-alone/report.html" "$folder/zero-alone.dom" &&
    open_page "$folder/zero-alone/report.html#task=1" "$folder/zero-chosen.dom"; then
    # the task with the most work is chosen, which has no gap
    says_text zero-alone "$folder/zero-alone.dom" 'geometric mean of 2 tasks. A gap below'
    says_text zero-chosen "$folder/zero-chosen.dom" 'geometric mean of 2 tasks. Blue: conv1. A gap below'
fi

# Where one task has no plan, the others are not passed over.
mkdir -p "$folder/partly"
cp "$folder/sample"/* "$folder/partly"
none='"best":{"score":null,"feasible":false,"reason":"capacity: RF needs 300 words, has 256"}'
sed "s/\"best\":{[^}]*}/$none/2; s/\"best\":{[^}]*}/$none/" "$folder/sample/summary.json" >"$folder/partly/summary.json"
if make_page "$folder/partly-page" "$folder/partly" && open_page "$folder/partly-page/report.html" "$folder/partly.dom"; then
    same "partly: headline" "$(value_of "$folder/partly.dom" headline text)" \
        "10 of 11 tasks have a feasible plan; nearest miss of the others: capacity: RF needs 300 words, has 256"
fi

# Tasks that an interrupted run did not come to are not said to be infeasible.
mkdir -p "$folder/interrupted"
cp "$folder/sample/run.jsonl" "$folder/interrupted"
never='"best":{"feasible":false,"reason":"interrupted"},"bound":null,"evaluations":0}'
sed "s/\"best\":{[^}]*},\"bound\":{[^}]*},\"evaluations\":400}/$never/g; s/$never/\"best\":{\"score\":1,\"feasible\":true},\"evaluations\":400}/; s/\"best\":{[^}]*}/\"best\":{\"feasible\":false,\"reason\":\"interrupted\"}/; s/\"stopped\":\"budget\"/\"stopped\":\"interrupted\"/" \
    "$folder/sample/summary.json" >"$folder/interrupted/summary.json"
if make_page "$folder/interrupted-page" "$folder/interrupted" && open_page "$folder/interrupted-page/report.html" "$folder/interrupted.dom"; then
    same "interrupted: headline" "$(value_of "$folder/interrupted.dom" headline text)" \
        "1 of 11 tasks have a feasible plan; 10 tasks not searched (interrupted)"
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
    # The bootstrap interval of three seeds reaches from the least to the largest. Six ranks can be shared out in 20
    # ways: where all of one side are better, p is 2 of 20.
    ends=$(for seed in 1 2 3; do member "$folder/random-$seed/summary.json" best score; done | sort -g | sed -n '1p; 3p' | tr '\n' ' ')
    for place in 1 2; do
        same "comparison: interval, end $place" "$(value_of "$folder/many.dom" method-0-0-interval | cut -d' ' -f$place)" "$(echo "$ends" | cut -d' ' -f$place)"
    done
    p=$(for optimizer in random genetic; do for seed in 1 2 3; do
        echo "$(member "$folder/$optimizer-$seed/summary.json" best score) $optimizer"; done; done | sort -g | awk '
        { sum += $2 == "random" ? NR : 0 }
        END { far = sum - 10.5; if (far < 0) far = -far
              for (a = 1; a < 5; a++) for (b = a + 1; b < 6; b++) for (c = b + 1; c < 7; c++) {
                  d = a + b + c - 10.5; if (d < 0) d = -d; all++; if (d >= far) extreme++ }
              printf "%.17g", extreme / all }')
    same "comparison: p" "$(value_of "$folder/many.dom" method-0-0-p)$(value_of "$folder/many.dom" method-0-1-p)" "$p"
    same "comparison: seconds" "$(value_of "$folder/many.dom" method-0-0-seconds)" "$(member "$folder/random-2/summary.json" wall_s)"
    # One question: its best run in words.
    best=$(for run in random-1 random-2 random-3 genetic-1 genetic-2 genetic-3; do
        echo "$(member "$folder/$run/summary.json" best score) $run"; done | sort -g | head -n 1 | cut -d' ' -f2)
    says_text comparison "$folder/many.dom" "best of 6 runs: $best"
    says_text comparison "$folder/many.dom" "resnet18 within "
    # All of these runs have one plan.
    same "comparison: difference of plans" "$(value_of "$folder/many.dom" difference-lines)" 0
fi

# as SED FROM TO: a copy of a run that says other things of itself.
as() {
    mkdir -p "$3"
    sed "$1" "$2/run.jsonl" >"$3/run.jsonl"
    sed "$1" "$2/summary.json" >"$3/summary.json"
}
# One question on six platforms: six points. Runs of another workload, problem or evaluator are no rivals.
sweep=
for size in 1 2 3 4 5 6; do
    sh "$here/make_sample.sh" "$folder/sized" random "$size" 100 3 || exit 1
    as "s/s256/s256 words=${size}Ki/; s/0b86ad1f33c09e52/0b86ad1f33c09e5$size/" "$folder/sized" "$folder/sweep-$size"
    sweep="$sweep $folder/sweep-$size"
done
# Two with the same cycles: both are drawn.
sed 's/"best":{"score":[^,]*,"feasible":true,"cycles":[0-9]*/"best":{"score":1,"feasible":true,"cycles":1000/' \
    "$folder/sweep-1/summary.json" >"$folder/same.json"
cp "$folder/same.json" "$folder/sweep-2/summary.json"
cp "$folder/same.json" "$folder/sweep-1/summary.json"
if make_page "$folder/sweep" $sweep && open_page "$folder/sweep/report.html" "$folder/sweep.dom"; then
    same "sweep: drawn points" "$(count_of "$folder/sweep.dom" trade-off-point)" 6
    says_text sweep "$folder/sweep.dom" '>words=3Ki, seed 3</text>'
    same "sweep: no matrix of one parameter" "$(count_of "$folder/sweep.dom" trade-off-matrix)" 0
fi
# One number: it is the axis, with the knee that the command and its table name.
if "$program" map resnet18 --select 2,6,12 --sweep memories.GLB.words=8Ki..256Ki:x2 --quiet -o "$folder/swept" >/dev/null 2>"$folder/swept.messages" &&
    open_page "$folder/swept/report.html" "$folder/swept.dom"; then
    knee=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["knee"] == 1 { print $3 }' "$folder/swept/sweep.csv")
    says_text swept "$folder/swept.dom" "knee: words=$((knee / 1024))Ki." ">words=$((knee / 1024))Ki, knee</text>"
    says_text swept "$folder/swept.dom" "aria-label=\"EDP against GLB.words, 6 points\""
else
    fail "the sweep failed: $(head -n 1 "$folder/swept.messages")"
fi
# Two base platforms and three seeds: a curve of medians and a knee for each base, the same as in the table.
if "$program" map resnet18 --select 2 --sweep memories.DRAM.words_per_cycle=0.25..4:x2 --platform s256 --platform eyeriss-like --seed 1-3 \
    --budget 300 --optimizer annealing --quiet -o "$folder/bases" >/dev/null 2>"$folder/bases.messages" &&
    open_page "$folder/bases/report.html" "$folder/bases.dom"; then
    knees=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["knee"] == 1 { gsub(/"/, ""); print $at["platform"] " words_per_cycle=" $3 }' \
        "$folder/bases/sweep.csv" | uniq)
    same "bases: knees" "$(echo "$knees" | wc -l)" 2
    says_text bases "$folder/bases.dom" "; knees: $(echo "$knees" | head -n 1), $(echo "$knees" | tail -n 1)." 'Lines: medians over the seeds.' \
        '</i>eyeriss-like</span>'
    same "bases: marked points" "$(sed 's/</\n</g' "$folder/bases.dom" | grep -c '^<text class="point-name".*knee')" 2
    # the lowest of the middle seeds: sorted by score, the second that a platform and a setting come
    best=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { sub(/ .*/, "", $i); at[$i] = i } next }
        { gsub(/"/, ""); print $at["objective"] + 0, $at["platform"] " words_per_cycle=" $3 }' OFMT=%.17g "$folder/bases/sweep.csv" |
        sort -g | awk '{ sub(/^[^ ]* /, "") } ++seen[$0] == 2 { print; exit }')
    says_text bases "$folder/bases.dom" "Best of 10 platforms by the median of the seeds: $best;"
    same "bases: lines" "$(sed 's/</\n</g' "$folder/bases.dom" | grep -c '<path class="line-of"')" 2
else
    fail "the sweep of two platforms failed: $(head -n 1 "$folder/bases.messages")"
fi
# Budgets are told apart, too.
for budget in 100 200; do
    for size in 1 2 3; do
        as "s/s256/s256 words=${size}Ki/; s/0b86ad1f33c09e52/0b86ad1f33c09e5$size/; s/\"budget\":100/\"budget\":$budget/" "$folder/sized" "$folder/b-$budget-$size"
    done
done
if make_page "$folder/budgets" "$folder"/b-?00-? && open_page "$folder/budgets/report.html" "$folder/budgets.dom"; then
    says_text budgets "$folder/budgets.dom" '</i>budget 100</span>' '</i>budget 200</span>'
fi
# scored SCORE RUN: gives it another score.
scored() {
    sed "s/\"best\":{\"score\":[^,]*/\"best\":{\"score\":$1/" "$2/summary.json" >"$folder/scored.json" && mv "$folder/scored.json" "$2/summary.json"
}
# A straight line has no knee, whether it rises or falls; nor has a curve that ends no better than it begins.
for curve in rises:1:2:3:4:1Ki falls:4:3:2:1:4Ki valley:4:1:2:4:2Ki; do
    name=${curve%%:*} line=
    for size in 1 2 3 4; do
        as "s/s256/s256 words=${size}Ki/; s/0b86ad1f33c09e52/0b86ad1f33c09e5$size/" "$folder/sized" "$folder/$name-$size"
        scored "$(echo "$curve" | cut -d: -f$((size + 1)))" "$folder/$name-$size"
        line="$line $folder/$name-$size"
    done
    if make_page "$folder/$name" $line && open_page "$folder/$name/report.html" "$folder/$name.dom"; then
        says_text "$name" "$folder/$name.dom" "Best of 4 platforms: words=${curve##*:}."
    fi
done
# Two parameters: a matrix, and points that name both.
pairs=
for size in 1 2; do
    for lanes in 8 16; do
        as "s/s256/s256 a.words=${size}Ki b.lanes=$lanes/; s/0b86ad1f33c09e52/0b86ad1f33c0$size$lanes/" "$folder/genetic-$size" "$folder/pair-$size-$lanes"
        pairs="$pairs $folder/pair-$size-$lanes"
    done
done
# Of two base platforms, each has rows of its own.
as 's/s256/other a.words=1Ki b.lanes=8/; s/0b86ad1f33c09e52/4444444444444444/' "$folder/genetic-1" "$folder/pair-other"
if make_page "$folder/pair-bases" $pairs "$folder/pair-other" && open_page "$folder/pair-bases/report.html" "$folder/pair-bases.dom"; then
    says_text pair-bases "$folder/pair-bases.dom" 'Matrix of 4 by 2 values'
fi
if make_page "$folder/pairs" $pairs && open_page "$folder/pairs/report.html" "$folder/pairs.dom"; then
    has pairs "$folder/pairs.dom" trade-off-matrix
    says_text pairs "$folder/pairs.dom" 'By a.words and b.lanes' 'Matrix of 2 by 2 values' 'words=2Ki lanes=16'
fi
as 's/resnet18/vgg16/; s/5d1f0c3a9be27764/1111111111111111/; s/0b86ad1f33c09e52/2222222222222222/' "$folder/sized" "$folder/other-workload"
as 's/"loopnest"/"datacentric"/; s/0b86ad1f33c09e52/2222222222222222/' "$folder/sized" "$folder/other-evaluator"
as 's/"name":"map"/"name":"schedule"/; s/0b86ad1f33c09e52/2222222222222222/' "$folder/sized" "$folder/other-problem"
as 's/"objective":"edp"/"objective":"cycles"/; s/0b86ad1f33c09e52/2222222222222222/' "$folder/sized" "$folder/other-objective"
if make_page "$folder/strangers" "$folder/sized" "$folder/other-workload" "$folder/other-evaluator" "$folder/other-problem" \
    "$folder/other-objective" && open_page "$folder/strangers/report.html" "$folder/strangers.dom"; then
    same "strangers: no trade-off" "$(count_of "$folder/strangers.dom" trade-off-point)" 0
    has strangers "$folder/strangers.dom" run-row-4
    # Five questions: a section with a picture for each, in the order of the runs.
    has strangers "$folder/strangers.dom" overview headline-0 headline-4 overview-open-4
    same "strangers: pictures" "$(count_of "$folder/strangers.dom" alltasks)" 5
    says_text strangers "$folder/strangers.dom" 'schedule: resnet18 on s256' 'map: vgg16 on s256'
fi
audit all-panels "$folder/one/report.html"
audit several-runs "$folder/zero-one-page/report.html" "$folder/zero-every-page/report.html" "$folder/strangers/report.html" "$folder/pairs/report.html" "$folder/many/report.html" "$folder/swept/report.html"
# With one of them a rival comes on another platform: two points, not five.
as 's/s256/s64/; s/0b86ad1f33c09e52/3333333333333333/' "$folder/sized" "$folder/rival"
if make_page "$folder/rivals" "$folder/sized" "$folder/rival" "$folder/other-workload" "$folder/other-problem" &&
    open_page "$folder/rivals/report.html" "$folder/rivals.dom"; then
    same "rivals: drawn points" "$(count_of "$folder/rivals.dom" trade-off-point)" 2
fi

# Two plans, line by line: one line of the first is two in the second.
as 's/DRAM: ... | GLB/DRAM: ...\\nGLB/' "$folder/sized" "$folder/other-plan"
if make_page "$folder/plans" "$folder/sized" "$folder/other-plan" && open_page "$folder/plans/report.html" "$folder/plans.dom"; then
    same "plans: lines that differ" "$(value_of "$folder/plans.dom" difference-lines)" 3
    says_text plans "$folder/plans.dom" 'class="line-out">− DRAM: ... | GLB' 'class="line-in">+ DRAM: ...<'
fi

# Pages of a thousand runs and of a million trials open soon.
printf '<!doctype html>\n<html data-ready="true">\n<body>\n</body></html>\n' >"$folder/empty.html"
if [ -r /proc/self/stat ] && command -v setsid >/dev/null; then
    empty_took=$(open_seconds "$folder/empty.html")
    sh "$here/make_sample.sh" "$folder/seed" random 1 60 11 || exit 1
    mkdir -p "$folder/thousand"
    (cd "$folder/thousand" && seq -f run-%04.0f 1 1000 | xargs mkdir -p)
    awk -v into="$folder/thousand" '
        FNR == 1 { file = FILENAME; sub(/.*\//, "", file) }
        { lines[++count] = $0; of[count] = file }
        END {
            split("random genetic annealing tabu", names, " ")
            for (run = 1; run <= 1000; run++) {
                folder = sprintf("%s/run-%04d/", into, run)
                for (i = 1; i <= count; i++) {
                    line = lines[i]
                    if (line !~ /"type":"(trial|note)"/) {
                        gsub(/"random"/, "\"" names[run % 4 + 1] "\"", line)
                        gsub(/"seed":1,/, "\"seed\":" run ",", line)
                        sub(/"best":{"score":/, "&" run, line) # another one for each run
                    }
                    print line >(folder of[i])
                }
                close(folder "run.jsonl"); close(folder "summary.json"); close(folder "clock.jsonl")
            }
        }' "$folder/seed/run.jsonl" "$folder/seed/summary.json" "$folder/seed/clock.jsonl"
    if make_page "$folder/thousand-page" "$folder/thousand"/run-* && open_page "$folder/thousand-page/report.html" "$folder/thousand.dom"; then
        opens_soon "a thousand runs" "$folder/thousand-page/report.html"
        # the first hundred rows, and a way to the others
        same "a thousand runs: rows" "$(sed 's/</\n</g' "$folder/thousand.dom" | grep -c 'data-testid="run-row-')" 100
        says_text "a thousand runs" "$folder/thousand.dom" 'show all 1,000 rows'
        # what is read only when a run is opened
        if open_page "$folder/thousand-page/report.html#run=run-0700" "$folder/opened.dom"; then
            has "one of a thousand runs" "$folder/opened.dom" plan view-energy view-memories
        fi
    fi
    rm -rf "$folder/thousand"
    if "$program" map alexnet --select 2 --platform s256 --optimizer random --budget 1000000 --log improving --quiet \
        -o "$folder/million" >/dev/null 2>"$folder/million.messages"; then
        opens_soon "a million trials" "$folder/million/report.html"
    else
        fail "a million trials: $(head -n 1 "$folder/million.messages")"
    fi
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
        row=$(sed -n '/^### Final quality$/,/^### /p' "$folder/study.md" | grep '^| marl:samples=150 |' | head -n 1)
        same "study: final quality of marl" "$(value_of "$folder/study.dom" final-1-2 text)" "$(echo "$row" | cut -d'|' -f4 | sed 's/^ //; s/ $//')"
        checks=$((checks + 1))
        grep -q '>bayes<' "$folder/study.dom" || fail "study: no row of bayes"
    fi
else
    fail "the study failed: $(head -n 1 "$folder/cells.messages") $(head -n 1 "$folder/study.messages")"
fi

# A multi-agent search names its knobs.
if "$program" map mobilenet_v2 --select 2 --platform edge --evaluator datacentric --genome ten --optimizer marl:samples=200 --budget 400 --quiet \
    -o "$folder/marl" >/dev/null 2>"$folder/marl.messages"; then
    if open_page "$folder/marl/report.html" "$folder/marl.dom"; then
        has marl "$folder/marl.dom" partition-picture partition-fact-agents
        says_text marl "$folder/marl.dom" '<code>tile.C.outer</code>'
    fi
else
    fail "mercator map with marl failed: $(head -n 1 "$folder/marl.messages")"
fi

# A schedule with dependencies, deadlines and tenants. Pointing at a job says what it waits for.
# point PAGE X Y: a copy of the page on which the pointer moves there on the timeline.
point() {
    sed "s|</body>|<script>setTimeout(() => { const c = document.querySelector('.timeline canvas'); \
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
        has schedule "$folder/schedule.dom" view-timeline view-graph graph-node timeline-groups timeline-stack-0 view-tenants view-cores tenants-row-1 cores-row-3
        for metric in stp antt jain; do
            same "schedule: $metric" "$(value_of "$folder/schedule.dom" tenants-fact-$metric)" "$(member "$folder/schedule/summary.json" best $metric)"
        done
        # columns of schedule.csv: 2 model, 8 end_cycle (empty: dropped), 13 release, 14 deadline
        dropped=$(awk -F, 'NR > 1 && $8 == ""' "$folder/schedule/schedule.csv" | wc -l)
        requests=$(awk -F, 'NR > 1 && $14 != "" { print $2, $13 }' "$folder/schedule/schedule.csv" | sort -u | wc -l)
        missed=$(awk -F, 'NR > 1 && $14 != "" && ($8 == "" || $8 > $14 + 0) { print $2, $13 }' "$folder/schedule/schedule.csv" | sort -u | wc -l)
        same "schedule: dropped jobs" "$(value_of "$folder/schedule.dom" timeline-dropped)" "$dropped"
        # Requests, not the times of their deadlines: the page and the metric are of the same.
        same "schedule: requests" "$(value_of "$folder/schedule.dom" timeline-sets)" "$requests"
        same "schedule: missed requests" "$(value_of "$folder/schedule.dom" timeline-missed)" "$missed"
        same "schedule: miss rate" "$(awk -v a="$missed" -v b="$requests" 'BEGIN { printf "%.17g", a / b }')" \
            "$(member "$folder/schedule/summary.json" best miss_rate)"
        pointed=$(value_of "$folder/schedule.dom" timeline-readout text)
        checks=$((checks + 1))
        case $pointed in *" on hb0: "*" · before "*) ;; *) fail "schedule: pointing at a job says '$pointed'" ;; esac
    fi
else
    fail "mercator schedule failed: $(head -n 1 "$folder/schedule.messages")"
fi
# Without drops there is a curve of cycles against bandwidth, whatever the rules.
if (cd "$folder" && "$program" schedule jobs.yaml --platform s1 --share maxmin --optimizer fcfs --cache off --quiet -o curve) \
    >/dev/null 2>"$folder/curve.messages" && open_page "$folder/curve/report.html" "$folder/curve.dom"; then
    has schedule "$folder/curve.dom" view-sensitivity
    same "schedule: the platform on the curve" "$(count_of "$folder/curve.dom" sensitivity-point)" 1
fi

# The best is 0, which a log axis has no place for.
if (cd "$folder" && "$program" schedule resnet18 alexnet --deadline-ms resnet18=30,alexnet=50 --objective tardiness --cache off --quiet -o in-time) \
    >/dev/null 2>"$folder/in-time.messages" && open_page "$folder/in-time/report.html" "$folder/in-time.dom"; then
    says_text in-time "$folder/in-time.dom" 'points. Dashed: bound. The axis is linear'
else
    fail "scheduling with deadlines failed: $(head -n 1 "$folder/in-time.messages")"
fi

# A planner on line says how long it took to decide.
if (cd "$folder" && "$program" schedule jobs.yaml --platform s1 --late drop --optimizer online:ms=1 --cache off --quiet -o online) \
    >/dev/null 2>"$folder/online.messages" && open_page "$folder/online/report.html" "$folder/online.dom"; then
    same "online: no roofline without a roof" "$(count_of "$folder/online.dom" roofline-point)" 0
    same "online: decisions" "$(value_of "$folder/online.dom" decisions)" "$(member "$folder/online/summary.json" decisions count)"
    same "online: worst decision" "$(value_of "$folder/online.dom" decision-worst)" "$(member "$folder/online/summary.json" decisions worst_ms)"
else
    fail "scheduling on line failed: $(head -n 1 "$folder/online.messages")"
fi

# A training says how long its phases took beside a plain one.
if (cd "$folder" && "$program" split resnet8 --dataset digits8x8 --samples 50 --warmup_epochs 1 --optimizer all_8bit \
    --evaluator split_train:finetune_epochs=2 --quiet -o trained) >/dev/null 2>"$folder/trained.messages" &&
    open_page "$folder/trained/report.html" "$folder/trained.dom"; then
    same "training: plain epochs" "$(value_of "$folder/trained.dom" training-warmup)" 1
    same "training: epochs with choices" "$(value_of "$folder/trained.dom" training-finetune)" \
        "$(sed -n 's/.*"phase":"finetune"[^}]*"relative":\([0-9.e-]*\)}.*/\1/p' "$folder/trained/summary.json")"
else
    fail "training a split failed: $(head -n 1 "$folder/trained.messages")"
fi

# A stream of groups: what was carried to each, and what generations made of it. The budget
# ends before the hundredth, which a group that is proven optimal has anyway.
if (cd "$folder" && "$program" schedule synthetic:60:3 --group-size 20 --bandwidth 1000 --groups 1..3 --optimizer magma:population=20 \
    --budget 600 --cache off --quiet -o stream) >/dev/null 2>"$folder/stream.messages" &&
    open_page "$folder/stream/report.html" "$folder/stream.dom"; then
    for task in 0 1 2; do
        for pair in 0:0 1:1 2:30 3:100; do
            same "stream: group $task after ${pair#*:} generations" "$(value_of "$folder/stream.dom" "task-$task-after-${pair#*:}")" \
                "$(member "$folder/stream/summary.json" tasks "$task" milestones "${pair%:*}" value)"
        done
    done
    checks=$((checks + 2))
    case $(value_of "$folder/stream.dom" task-1-after-0) in "" | 0) fail "stream: nothing was carried to the second group" ;; esac
    grep -q 'id="milestones-panel"' "$folder/schedule.dom" && fail "schedule: milestones without a stream"
else
    fail "the stream failed: $(head -n 1 "$folder/stream.messages")"
fi

# A real search, and the page it wrote itself.
if "$program" map resnet18 --platform s256 --optimizer annealing --budget 300 --seed 1 --quiet -o "$folder/real" >/dev/null 2>"$folder/real.messages"; then
    if open_page "$folder/real/report.html" "$folder/real.dom"; then
        check_run map "$folder/real.dom" "$folder/real/summary.json"
        no_address "$folder/real/report.html"
        has map "$folder/real.dom" curves plan view-energy view-memories view-accesses view-graph
        # a point for each task below one roof
        same "map: points on the roofline" "$(count_of "$folder/real.dom" roofline-point)" 12
        # 21 convolutions and matrix products, 8 additions
        same "map: nodes of the graph" "$(count_of "$folder/real.dom" graph-node)" 29
        # the chosen task is the one with the most work: its total is the energy of its row
        chosen=$(sed 's/</\n</g' "$folder/real.dom" | sed -n 's/.*class="picked".*data-testid="task-row-\([0-9]*\)".*/\1/p; s/.*data-testid="task-row-\([0-9]*\)".*class="picked".*/\1/p' | head -n 1)
        same "map: energy of the bars" "$(value_of "$folder/real.dom" energy-fact-total)" "$(member "$folder/real/summary.json" tasks "$chosen" best energy)"
    fi
else
    fail "mercator map failed: $(head -n 1 "$folder/real.messages")"
fi

# A search for several things: of one task the front among some of the trials, of several tasks the front of the chosen one.
if "$program" map resnet18 --select 3 --pareto cycles,energy --optimizer genetic --budget 2500 --quiet -o "$folder/front" >/dev/null 2>"$folder/front.messages" &&
    "$program" map resnet18 --select 2,12 --pareto cycles,energy --optimizer genetic --budget 1000 --quiet -o "$folder/fronts" >/dev/null 2>>"$folder/front.messages"; then
    for run in front fronts; do open_page "$folder/$run/report.html" "$folder/$run.dom"; done
    drawn=$(count_of "$folder/front.dom" front-point)
    checks=$((checks + 1))
    [ "$drawn" -ge 200 ] || fail "front: only $drawn trials are drawn"
    feasible=$((2500 - $(member "$folder/front/summary.json" infeasible count)))
    says_text front "$folder/front.dom" "$drawn of $(echo $feasible | sed 's/...$/,&/') feasible trials, among them"
    same "fronts: points of the first task" "$(count_of "$folder/fronts.dom" front-point)" \
        "$(member "$folder/fronts/summary.json" tasks 0 front | grep -o '"index"' | wc -l)"
else
    fail "a search for several things failed: $(head -n 1 "$folder/front.messages")"
fi

# Of a task that occurs four times, too, the trials are drawn.
if "$program" map resnet18 --select 2 --pareto cycles,energy --optimizer random --budget 6000 --quiet -o "$folder/often" >/dev/null 2>"$folder/often.messages" &&
    open_page "$folder/often/report.html" "$folder/often.dom"; then
    drawn=$(count_of "$folder/often.dom" front-point)
    checks=$((checks + 1))
    [ "$drawn" -ge 200 ] || fail "often: only $drawn trials are drawn"
else
    fail "a search of a task that occurs four times failed: $(head -n 1 "$folder/often.messages")"
fi
# With distinct plans counted there are more trials than evaluations: shares are of the trials. Of equal ones one is chosen.
printf 'name,K,C,Y,X,R,S\na,4,2,2,2,1,1\n' >"$folder/tiny.csv"
"$program" inspect s256 2>/dev/null | sed '/name: RF/s/words: 256/words: 6/' >"$folder/small.yaml"
if (cd "$folder" && "$program" map tiny.csv --platform ./small.yaml --count distinct --pareto cycles,energy --optimizer random --budget 3000 --quiet \
    -o distinct) >/dev/null 2>"$folder/distinct.messages" && open_page "$folder/distinct/report.html" "$folder/distinct.dom"; then
    dom=$folder/distinct.dom
    trials=$(member "$folder/distinct/summary.json" trials)
    refused=$(member "$folder/distinct/summary.json" infeasible count)
    checks=$((checks + 1))
    [ "$refused" -gt 3000 ] || fail "distinct: $refused trials are refused, expected more than evaluations"
    grouped() { echo "$1" | sed 's/...$/,&/'; }
    says_text distinct "$dom" "$(count_of "$dom" front-point) of $(grouped $((trials - refused))) feasible trials, among them" \
        "$(grouped "$refused") of $(grouped "$trials") trials." 'against trials, from'
    same "distinct: infeasible" "$(value_of "$dom" infeasible-share)" "$(awk -v a="$refused" -v b="$trials" 'BEGIN { printf "%.17g", a / b }')"
    same "distinct: chosen" "$(sed 's/</\n</g' "$dom" | grep -c 'class="point-name".*>chosen')" 1
else
    fail "a search that counts distinct plans failed: $(head -n 1 "$folder/distinct.messages")"
fi

# A layer that waits for the reads of a memory with two ports is on the roof: 16 words of 2 bytes in a cycle.
if "$program" map resnet18 --select 12 --quiet -o "$folder/roof" >/dev/null 2>"$folder/roof.messages" && open_page "$folder/roof/report.html" "$folder/roof.dom"; then
    same "map: bytes per cycle at the roof" "$(value_of "$folder/roof.dom" roofline-point | awk -F, '{ printf "%.6g", $2 / $1 }')" 32
else
    fail "mapping one layer failed: $(head -n 1 "$folder/roof.messages")"
fi

# Every problem whose workload is a network draws it, and says what its nodes can be coloured by.
# colours DOM PANEL: the choices.
colours() {
    tr '\n' ' ' <"$1" | sed "s/.*data-testid=\"view-$2\"//; s/<\/select>.*//; s/.*aria-label=\"Colour by\">//; s/<[^>]*>/,/g; s/,,/,/g; s/^,//; s/,$//"
}
if "$program" place resnet18 --platform four-v100-nvlink --budget 200 --quiet -o "$folder/place" >/dev/null 2>"$folder/place.messages" &&
    "$program" split resnet8 --platform diana --quiet -o "$folder/split" >/dev/null 2>"$folder/split.messages" &&
    "$program" codesign resnet18 --select 2,3 --platform vta-pynq-b --budget 50 --quiet -o "$folder/codesign" >/dev/null 2>"$folder/codesign.messages"; then
    for run in place split codesign; do open_page "$folder/$run/report.html" "$folder/$run.dom"; done
    # Points that legends speak of are seen although others beat them: the platform's own geometry, and this split.
    says_text split "$folder/split.dom" '>this split</text>'
    same "codesign: geometries in colours of their own" "$(sed 's/</\n</g' "$folder/codesign.dom" | grep 'data-testid="geometries-point"' | grep -c 'series-[23]')" 2
    same "map: colours" "$(colours "$folder/real.dom" graph)" "cycles,energy,EDP,traffic bytes,utilisation,bandwidth use,gap to the bound,operator"
    same "codesign: colours" "$(colours "$folder/codesign.dom" graph)" \
        "cycles,latency,throughput,traffic bytes,mac units,sram bytes,utilisation,gap to the bound,operator"
    same "schedule: colours" "$(colours "$folder/schedule.dom" graph)" "core,model,cycles,waits for memory,bytes moved,energy"
    same "place: colours" "$(colours "$folder/place.dom" placement)" "unit,memory that stays taken,size of the result,time"
    same "split: colours" "$(colours "$folder/split.dom" graph)" "unit,cycles,energy,channels on digital,channels on analog"
    audit networks "$folder/real/report.html#task=3" "$folder/schedule/report.html" "$folder/place/report.html" "$folder/split/report.html" \
        "$folder/codesign/report.html"
else
    fail "a network was not placed, split or designed for: $(cat "$folder/place.messages" "$folder/split.messages" "$folder/codesign.messages" 2>/dev/null | head -n 1)"
fi

echo "test-web: $checks checks, $failures failures"
[ "$failures" -eq 0 ]
