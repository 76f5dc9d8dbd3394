#!/bin/sh
# check_includes.sh [ROOT]: prints every #include that points the wrong way, and fails if there is one.
# The table says which layers a layer may include beside itself. Every row contains the rows of what it
# lists (opt reaches no platform through space), so that looking at direct includes is enough.
cd "${1:-$(dirname "$0")/..}" || exit 2
[ -d include/mercator ] && [ -d src ] || { echo "check_includes: no include/mercator and src here" >&2; exit 2; }

# A folder that defines a problem is a wing.
wings=$(grep -rl '^const MerProblemClass mer_problem_' src | cut -d / -f 2 | sort -u | tr '\n' ' ')

find include src -name '*.[ch]' -exec awk -v wings="$wings" '
BEGIN {
    allow("base",     "")
    allow("graph",    "base")
    allow("hw",       "base mercator/graph.h") # the loop letters are defined there, once
    allow("space",    "base graph mercator/plan.h mercator/export.h")
    allow("contract", "base graph hw space") # headers alone: what wings give and run calls, and opt never sees
    allow("layer",    "base graph hw space contract")
    allow("import",   "base graph")
    allow("tensor",   "base")
    allow("learn",    "base tensor")
    allow("opt",      "base graph space tensor learn")
    allow("run",      "base graph hw space contract tensor learn import")
    allow("report",   "base run/log/runlog.h mercator/metric.h") # run logs, and the units of what is in them
    allow("cli",      "base graph hw space contract tensor learn import run report")
    allow("registry", "base graph hw space contract layer tensor learn import opt run report cli") # and every wing

    # The wings: all that belongs to one problem. None sees another one, nor what stands above.
    wing("map schedule codesign place split " wings)

    public("base",    "error arena rng option notes json yaml text threads trainable view")
    public("graph",   "graph")
    public("hw",      "platform")
    public("space",   "space metric search")
    public("contract", "plan problem evaluator export")
    public("import",  "import")
    public("run",     "registry run")
    public("cli",     "program")

    for (i = 1; i < ARGC; i++) {
        known[ARGV[i]] = 1
    }
}

function allow(layer, others,    list, count, i) {
    layers[layer] = 1
    count = split(others, list, " ")
    for (i = 1; i <= count; i++) {
        allowed[layer, list[i]] = 1
    }
}

function wing(names,    list, count, i) {
    count = split(names, list, " ")
    for (i = 1; i <= count; i++) {
        allow(list[i], "base graph hw space contract layer import tensor learn")
        allow("registry", list[i])
    }
}

function public(layer, headers,    list, count, i) {
    count = split(headers, list, " ")
    for (i = 1; i <= count; i++) {
        header_layer["mercator/" list[i] ".h"] = layer
    }
}

function complain(message) {
    printf "%s:%d: %s\n", FILENAME, FNR, message
    wrong = 1
}

# The layer of a file: of a public header by the table, of a source by its folder; "" if unknown.
# src/registry.c alone sees everything.
function layer_of_file(path,    part) {
    if (path ~ /^include\//) {
        return header_layer[substr(path, 9)]
    }
    if (path == "src/registry.c") {
        return "registry"
    }
    split(path, part, "/")
    return (part[2] in layers) ? part[2] : ""
}

FNR == 1 {
    from = layer_of_file(FILENAME)
    if (from == "") {
        complain("no layer is known for this file: add it to the table in tools/check_includes.sh")
    }
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ && from != "" {
    quoted = $0 ~ /include[ \t]*"/
    target = $0
    sub(/^[^"<]*["<]/, "", target)
    sub(/[">].*$/, "", target)
    split(target, part, "/")
    if (!quoted && part[1] != "mercator" && !(part[1] in layers)) {
        next # of the system or of a library
    }
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    if (target ~ /\.\.\//) {
        complain("\"" target "\": expected a path from src/ or include/, without ..")
    } else if (target ~ /^mercator\//) {
        if (!(target in header_layer)) {
            complain("\"" target "\": no layer is known for this public header")
        } else {
            check(header_layer[target])
        }
    } else if (FILENAME ~ /^include\//) {
        complain("\"" target "\": a public header includes only public headers")
    } else if (target ~ /\.pb-c\.h$/) {
        check("import")
    } else if ((folder target) in known) {
        next
    } else if (part[1] in layers) {
        check(part[1])
    } else {
        complain("\"" target "\": no such header in this folder, nor a folder of src/")
    }
}

function check(to) {
    if (to != from && !((from, to) in allowed) && !((from, target) in allowed)) {
        complain("\"" target "\": " from " may not include " to)
    }
}

END { exit wrong }
' {} +
