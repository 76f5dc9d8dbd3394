#!/bin/sh
# make_sample.sh DIR OPTIMIZER SEED BUDGET [TASKS [NOTES]]: a made-up run directory with numbers of the
# right size, so that the page can be tested without a search. TASKS is 1..11, NOTES `plain` or `all` (each panel).
# The same arguments give the same bytes.
set -eu
mkdir -p "$1"
awk -v log_file="$1/run.jsonl" -v summary_file="$1/summary.json" -v clock_file="$1/clock.jsonl" \
    -v optimizer="$2" -v seed="$3" -v budget="$4" -v wanted="${5:-11}" -v notes="${6:-plain}" '
function random() { # a small generator of our own: awks differ in theirs
    state = (state * 16807) % 2147483647
    return state / 2147483647
}

function layer(name, count, k, c, y, x, r, s, stride) {
    if (tasks >= wanted) return
    names[tasks] = name; counts[tasks] = count; macs[tasks] = k * c * y * x * r * s
    dims[tasks] = sprintf("{\"kind\":\"conv\",\"K\":%d,\"C\":%d,\"Y\":%d,\"X\":%d,\"R\":%d,\"S\":%d,\"stride\":[%d,%d]}", k, c, y, x, r, s, stride, stride)
    K[tasks] = k; C[tasks] = c; Y[tasks] = y; X[tasks] = x; R[tasks] = r; S[tasks] = s
    words = k * c * r * s + c * y * x * stride * stride + k * y * x
    least_cycles[tasks] = (macs[tasks] / 256 > words / 16) ? macs[tasks] / 256 : words / 16
    least_energy[tasks] = macs[tasks] * 4 + words * 206
    bound[tasks] = least_cycles[tasks] * least_energy[tasks]
    tasks++
}

function divisor(value, most,    d) {
    for (d = most; d > 1; d--) if (value % d == 0) return d
    return 1
}

function loops(list, letter, size) {
    return size > 1 ? list (list == "" ? "" : ",") "\"" letter size "\"" : list
}

function plan_note(t,    kx, cy, k, c, y, x, dram, glb, rf) {
    kx = divisor(K[t], 16); cy = divisor(C[t], 16)
    k = K[t] / kx; c = C[t] / cy; y = Y[t]; x = X[t]
    k1 = divisor(k, 8); c1 = divisor(c, 4); y1 = divisor(y, 7); x1 = divisor(x, 4)
    dram = loops(loops(loops("", "K", k / k1), "Y", y / y1), "C", c / c1)
    glb = loops(loops(loops("", "C", c1), "X", x / x1), "K", k1)
    rf = loops(loops(loops(loops("", "Y", y1), "X", x1), "R", R[t]), "S", S[t])
    return sprintf("{\"name\":\"%s\",\"count\":%d,\"kind\":\"nest\",\"text\":\"DRAM: ... | GLB: ... | RF: ...\",\"body\":{\"op\":%s,\"levels\":[{\"name\":\"DRAM\",\"temporal\":[%s],\"keep\":[\"W\",\"I\",\"O\"]},{\"name\":\"GLB\",\"temporal\":[%s],\"x\":[\"K%d\"],\"y\":[\"C%d\"],\"keep\":[\"I\",\"O\"]},{\"name\":\"RF\",\"temporal\":[%s],\"keep\":[\"W\",\"I\",\"O\"]}]}}", names[t], counts[t], dims[t], dram, glb, kx, cy, rf)
}

function energy_view(t,    m, e) {
    m = macs[t]
    e = best_energy[t] - 4 * m
    return sprintf("{\"panel\":\"bars\",\"id\":\"energy\",\"title\":\"Energy by level and tensor\",\"facts\":[{\"name\":\"time is bound by\",\"text\":\"%s\"}],\"unit\":\"pJ\",\"series\":[\"weights\",\"inputs\",\"outputs\",\"MAC\"],\"rows\":[{\"name\":\"DRAM\",\"values\":[%.0f,%.0f,%.0f,0]},{\"name\":\"GLB\",\"values\":[%.0f,%.0f,%.0f,0]},{\"name\":\"MAC\",\"values\":[0,0,0,%.0f],\"limit\":%.0f}]}",
        t % 3 ? "compute" : "DRAM bandwidth", e * 0.2, e * 0.28, e * 0.2, e * 0.05, e * 0.16, e * 0.11, 4 * m, 5 * m)
}

function memories_view(t) {
    return sprintf("{\"panel\":\"table\",\"id\":\"memories\",\"title\":\"Memories\",\"columns\":[{\"name\":\"memory\"},{\"name\":\"held\",\"unit\":\"word\"},{\"name\":\"filled\",\"unit\":\"share\",\"bar\":true,\"help\":\"share of its words\"}],\"rows\":[[\"DRAM\",400000,null],[\"GLB\",%d,0.75]]}", 30000 + t)
}

function nest_view(t) {
    return "{\"panel\":\"text\",\"id\":\"plan\",\"title\":\"Loop nest\",\"facts\":[{\"name\":\"K\",\"value\":" K[t] ",\"unit\":\"1\"}],\"keywords\":\"for in\",\"blocks\":[{\"title\":\"DRAM\",\"depth\":0,\"tags\":[{\"text\":\"W\"},{\"text\":\"I\",\"off\":true}],\"text\":\"for k in 0 .. 4\"},{\"title\":\"RF\",\"depth\":1,\"note\":\"K16\",\"text\":\"for c in 0 .. 3\\nfor y in 0 .. 7\"},{\"depth\":2,\"text\":\"multiply\"}]}"
}

function note(task, source, name, value) {
    printf "{\"type\":\"note\",\"index\":%d,\"task\":%s,\"source\":\"%s\",\"name\":\"%s\",\"value\":%s}\n", total, task, source, name, value > log_file
}

function view(task, source, value) { note(task, source, "view", value) }

function heatmap(size,    i, j, rows, row, labels) {
    for (i = 0; i < size; i++) {
        row = ""
        for (j = 0; j < size; j++)
            row = row (j ? "," : "") sprintf("%.3f", i == j ? 1 : 0.35 * sin(i * j + 1))
        rows = rows (i ? "," : "") "[" row "]"
        labels = labels (i ? "," : "") "\"knob" i "\""
    }
    return "{\"panel\":\"heatmap\",\"id\":\"pairs\",\"title\":\"Pairs\",\"rows\":[" labels "],\"values\":[" rows "]}"
}

# What marl leaves: knobs 0-3 go together, 4 and 5 do, the rest stands alone.
function partition(size, id,    i, j, row, rows, owner, merges) {
    for (i = 0; i < size; i++) {
        row = ""
        for (j = 0; j < size; j++)
            row = row (j ? "," : "") sprintf("%.4g", i == j ? 1 : (i < 4 && j < 4 ? 0.62 : (i < 6 && j < 6 && i > 3 && j > 3 ? -0.5 : 0.1 * cos(i + j))))
        rows = rows (i ? "," : "") "[" row "]"
        owner = owner (i ? "," : "") (i < 4 ? 0 : i < 6 ? 1 : i - 4)
    }
    merges = sprintf("[0,1,0],[2,%d,0.05],[3,%d,0.1],[4,5,0.2]", size, size + 1)
    for (i = 6; i < size; i++) merges = merges sprintf(",[%d,%d,%.3f]", i, i == 6 ? size + 3 : size + i - 3, 0.55 + (i - 6) * 0.3 / size)
    merges = merges sprintf(",[%d,%d,0.9]", size + 2, size + size - 3)
    return "{\"panel\":\"tree\",\"id\":\"" id "\",\"title\":\"Agents and their knobs\",\"mark\":{\"at\":80,\"text\":\"80 samples for clustering\"},\"facts\":[{\"name\":\"agents\",\"value\":" (size - 4) ",\"unit\":\"1\"},{\"name\":\"samples for clustering\",\"value\":80,\"unit\":\"evaluation\"},{\"name\":\"feasible samples\",\"value\":63,\"unit\":\"1\"}],\"names\":{\"leaf\":\"knob\",\"group\":\"agent\",\"height\":\"distance\"},\"leaves\":" knob_names(size) ",\"groups\":[" owner "],\"merges\":[" merges "],\"cut\":0.5,\"matrix\":[" rows "]}"
}

function hierarchy() {
    return "{\"panel\":\"tree\",\"id\":\"parts\",\"title\":\"Parts\",\"unit\":\"B\",\"nodes\":[{\"name\":\"all\",\"parent\":-1,\"value\":96},{\"name\":\"left\",\"parent\":0,\"value\":64},{\"name\":\"right\",\"parent\":0,\"value\":32}]}"
}

function knob_names(size,    i, names) {
    for (i = 0; i < size; i++) names = names (i ? "," : "") "\"" (i % 2 ? "tile." : "order.") substr("KCYXRS", int(i / 2) % 6 + 1, 1) "." int(i / 6) "\""
    return "[" names "]"
}

# Three stages with tokens between them, a deadline that is missed and one item that never ran.
function timeline(units, items_each,    u, j, at, length_, items, lanes, segments, list) {
    for (u = 0; u < units; u++) {
        at = 0; items = ""
        for (j = 0; j < items_each; j++) {
            length_ = int(2000 + 30000 * random() * random())
            items = items (j ? "," : "") sprintf("{\"id\":%d,\"name\":\"%s.%d\",\"start\":%d,\"end\":%d,\"group\":\"%s\",\"kind\":\"k%d\",\"stall\":%d,\"amount\":%d,\"deadline\":%d,\"set\":\"%d\",\"after\":[%s]}", u * items_each + j, j % 2 ? "camera" : "speech", j, at, at + length_, j % 2 ? "camera" : "speech", j % 3, j % 4 ? 0 : length_ / 3, j, j == 5 ? 1 : 9e9, j, u ? (u - 1) * items_each + j : "")
            at += length_ + (j % 5 ? 0 : 3000)
        }
        lanes = lanes (u ? "," : "") "{\"name\":\"hb" u "\",\"items\":[" items "]}"
    }
    for (j = 0; j < 60; j++) {
        segments = segments (j ? "," : "") sprintf("[%d,%d", j * at / 60, (j + 1) * at / 60)
        for (u = 0; u < units; u++) segments = segments sprintf(",%.2f", 16 / units * random())
        segments = segments "]"
    }
    list = "{\"name\":\"bandwidth\",\"limit\":16,\"unit\":\"B/cycle\",\"segments\":[" segments "]}"
    areas = "{\"panel\":\"areas\",\"id\":\"fill\",\"title\":\"Fill over time\",\"x\":{\"name\":\"time\",\"unit\":\"cycle\"},\"name\":\"SRAM\",\"unit\":\"B\",\"limit\":16,\"series\":[\"a\",\"b\",\"c\",\"d\"],\"segments\":[" segments "]}"
    return "{\"panel\":\"timeline\",\"id\":\"stages\",\"title\":\"Stages\",\"unit\":\"cycle\",\"amount_unit\":\"B\",\"names\":{\"item\":\"step\",\"set\":\"batch\"},\"lanes\":[" lanes "],\"dropped\":[{\"id\":999,\"name\":\"never\",\"deadline\":7,\"set\":\"lost\"}],\"below\":[" list "," list "]}"
}

# A chain with jumps, in blocks of ten, on three devices; every fourth node is marked.
function graph(size, id,    i, nodes, edges) {
    for (i = 0; i < size; i++) {
        nodes = nodes (i ? "," : "") sprintf("{\"name\":\"%s_%d\",\"group\":\"gpu%d\",\"parent\":\"block%d\",\"value\":%d%s}", i % 3 ? "conv" : "add", i, int(i * 3 / size), int(i / 10), i, i % 4 ? "" : ",\"marked\":true")
        if (i) edges = edges (i > 1 ? "," : "") "[" i - 1 "," i "]"
        if (i > 3 && i % 3 == 0) edges = edges ",[" i - 3 "," i "]"
    }
    return "{\"panel\":\"graph\",\"id\":\"" id "\",\"title\":\"Operators\",\"unit\":\"s\",\"group_name\":\"device\",\"nodes\":[" nodes "],\"edges\":[" edges "]}"
}

# The tasks in a row with something between them that only passes results on, and one node at the end that joins two of them.
function tasks_graph(    t, nodes, edges) {
    for (t = 0; t < tasks; t++) {
        nodes = nodes (t ? "," : "") "{\"name\":\"" names[t] "\",\"group\":\"conv\",\"task\":" t "},{\"name\":\"relu_" t "\",\"group\":\"relu\"}"
        edges = edges (t ? ",[" 2 * t - 1 "," 2 * t "]," : "") "[" 2 * t "," 2 * t + 1 "]"
    }
    nodes = nodes ",{\"name\":\"join\",\"group\":\"add\"}"
    edges = edges ",[1," 2 * tasks "],[" 2 * tasks - 1 "," 2 * tasks "]"
    return "{\"panel\":\"graph\",\"id\":\"tasks\",\"title\":\"Tasks\",\"group_name\":\"operator\",\"nodes\":[" nodes "],\"edges\":[" edges "]}"
}

# More nodes than are drawn at once, with columns to colour them by and without blocks.
function long_graph(size,    i, nodes, edges) {
    for (i = 0; i < size; i++) {
        nodes = nodes (i ? "," : "") sprintf("{\"name\":\"step_%d\",\"group\":\"hb%d\",\"cells\":[\"m%d\",%d,%s]}", i, i % 3, i % 2, i, i % 5 ? 0.5 : "null")
        if (i) edges = edges (i > 1 ? "," : "") "[" i - 1 "," i "]"
    }
    return "{\"panel\":\"graph\",\"id\":\"long\",\"title\":\"Long\",\"group_name\":\"unit\",\"columns\":[{\"name\":\"model\"},{\"name\":\"time\",\"unit\":\"s\"},{\"name\":\"use\",\"unit\":\"share\"}],\"nodes\":[" nodes "],\"edges\":[" edges "]}"
}

function pareto(size,    i, points) {
    for (i = 0; i < size; i++)
        points = points (i ? "," : "") sprintf("{\"values\":[%.6g,%.4f,%.4g],\"group\":\"g%d\",\"spread\":0.01}", 0.0004 + i * 0.00002, 0.83 + 0.09 * log(1 + i) / log(size), 1e6 * (1 + i % 7), i % 2)
    return "{\"panel\":\"scatter\",\"id\":\"pareto\",\"title\":\"Trade-offs\",\"axes\":[{\"name\":\"latency\",\"unit\":\"s\",\"better\":-1},{\"name\":\"accuracy\",\"unit\":\"share\",\"better\":1},{\"name\":\"energy\",\"unit\":\"pJ\",\"better\":-1,\"log\":true}],\"points\":[" points "],\"lines\":[{\"name\":\"bound\",\"points\":[[0.0004,0.93],[0.001,0.93]]}]}"
}

BEGIN {
    tasks = total = infeasible = 0
    state = 1000003 * seed + 7 * length(optimizer) + 12345
    layer("conv1", 1, 64, 3, 112, 112, 7, 7, 2); layer("layer1.conv3x3", 4, 64, 64, 56, 56, 3, 3, 1)
    layer("layer2.0.conv1", 1, 128, 64, 28, 28, 3, 3, 2); layer("layer2.conv3x3", 3, 128, 128, 28, 28, 3, 3, 1)
    layer("layer2.0.downsample", 1, 128, 64, 28, 28, 1, 1, 2); layer("layer3.0.conv1", 1, 256, 128, 14, 14, 3, 3, 2)
    layer("layer3.conv3x3", 3, 256, 256, 14, 14, 3, 3, 1); layer("layer3.0.downsample", 1, 256, 128, 14, 14, 1, 1, 2)
    layer("layer4.0.conv1", 1, 512, 256, 7, 7, 3, 3, 2); layer("layer4.conv3x3", 3, 512, 512, 7, 7, 3, 3, 1)
    layer("fc", 1, 1000, 512, 1, 1, 1, 1, 1)
    speed = optimizer == "annealing" ? 0.75 : optimizer == "genetic" ? 0.55 : 0.3

    for (t = 0; t < tasks; t++)
        task_list = task_list (t ? "," : "") sprintf("{\"name\":\"%s\",\"count\":%d,\"macs\":%d,\"knobs\":12,\"knob_names\":%s,\"log10_size\":%.2f,\"hash\":\"%08x%08x\",\"bound\":{\"value\":%.17g,\"kind\":\"traffic\",\"scope\":\"\"}}", names[t], counts[t], macs[t], knob_names(12), 14 + t * 0.4, 305419896 + t * 7919, 2596069104 + t * 104729, bound[t])
    printf "{\"type\":\"header\",\"format\":\"mercator-run/1\",\"version\":\"0.1.0\",\"problem\":{\"name\":\"map\",\"options\":{\"genome\":\"divisors\"}},\"workload\":{\"name\":\"resnet18\",\"hash\":\"5d1f0c3a9be27764\"},\"platform\":{\"name\":\"s256\",\"hash\":\"0b86ad1f33c09e52\"},\"evaluator\":{\"name\":\"loopnest\",\"options\":{}},\"optimizer\":{\"name\":\"%s\",\"options\":{\"population\":50}},\"objective\":\"edp\",\"seed\":%d,\"budget\":%d,\"count\":\"all\",\"log\":\"all\",\"reproducible\":true,\"tasks\":[%s]}\n", optimizer, seed, budget, task_list > log_file

    for (t = 0; t < tasks; t++) {
        best[t] = -1; luck = 1 + 0.3 * random()
        for (i = 0; i < budget; i++) {
            printf "{\"type\":\"trial\",\"index\":%d,\"task\":%d,\"point\":[%d,%d,%d,%d],", total, t, 12 * random(), 12 * random(), 5 * random(), 5 * random() > log_file
            total++
            if (random() < 0.38 - 0.25 * i / budget) {
                pick = random(); infeasible++
                if (pick < 0.7) { reasons["capacity"]++; reason = sprintf("capacity: %s needs %d words, has %d", pick < 0.5 ? "RF" : "GLB", 1 + (pick < 0.5 ? 256 : 65536) * (1.002 + 3 * random()), pick < 0.5 ? 256 : 65536) }
                else if (pick < 0.95) { reasons["fan-out"]++; reason = sprintf("fan-out: x needs %d units, has 16", 17 + 40 * random()) }
                else { reasons["coverage"]++; reason = "coverage: loops cover 6 of 7 rows <of Y>" }
                printf "\"score\":null,\"reason\":\"%s\"}\n", reason > log_file
                continue
            }
            far = luck * (0.04 + t * 0.012 + 40 * random() * (1 + i) ^ -speed) * (1 + 2 * (random() < 0.5))
            slow = (1 + far) ^ 0.45
            cycles = int(least_cycles[t] * slow) + 1
            energy = least_energy[t] * (1 + far) / slow
            score = cycles * energy
            printf "\"score\":%.17g,\"cost\":{\"cycles\":%d,\"energy\":%.17g,\"edp\":%.17g,\"utilisation\":%.4f}}\n", score, cycles, energy, score, 1 / slow > log_file
            if (best[t] < 0 || score < best[t]) { best[t] = score; best_cycles[t] = cycles; best_energy[t] = energy; best_use[t] = 1 / slow }
        }
    }
    for (t = 0; t < tasks; t++) {
        note(t, "run", "plan", plan_note(t))
        note(t, "loopnest", "breakdown", "{\"levels\":[]}")
        view(t, "loopnest", nest_view(t)); view(t, "loopnest", energy_view(t)); view(t, "loopnest", memories_view(t))
        sum_cycles += counts[t] * best_cycles[t]; sum_energy += counts[t] * best_energy[t]
        low_cycles += counts[t] * least_cycles[t]; low_energy += counts[t] * least_energy[t]
        results = results (t ? "," : "") sprintf("{\"name\":\"%s\",\"count\":%d,\"best\":{\"score\":%.17g,\"feasible\":true,\"cycles\":%d,\"energy\":%.17g,\"edp\":%.17g,\"utilisation\":%.4f},\"bound\":{\"value\":%.17g,\"kind\":\"traffic\",\"scope\":\"\",\"gap\":%.17g,\"proven\":false},\"evaluations\":%d}", names[t], counts[t], best[t], best_cycles[t], best_energy[t], best[t], best_use[t], bound[t], best[t] / bound[t] - 1, budget)
    }
    if (notes == "all") {
        for (t = 0; t < tasks; t++) {
            view(t, "marl", "{\"panel\":\"facts\",\"id\":\"partition\",\"facts\":[]}") # an older one of that id
            view(t, "marl", partition(12, "partition")); view(t, "marl", partition(12, "recluster"))
            view(t, "marl", "{\"panel\":\"warning\",\"id\":\"drift\",\"title\":\"drift\",\"text\":\"after " 240 + t " samples\",\"try\":\"recluster=1000\"}")
            view(t, "marl", "{\"panel\":\"warning\",\"id\":\"same\",\"title\":\"alike\",\"text\":\"in every task\"}")
        }
        view(1, "marl", "{\"panel\":\"warning\",\"id\":\"sparse\",\"title\":\"sparse reward\",\"text\":\"no feasible point\",\"try\":\"larger memories\"}")
        view("null", "made", timeline(4, 24)); view("null", "made", areas); view("null", "made", graph(34, "small")); view("null", "made", graph(1000, "large"))
        view("null", "made", tasks_graph()); view("null", "made", long_graph(1200))
        view("null", "made", pareto(40)); view("null", "made", heatmap(12)); view("null", "made", hierarchy())
        view("null", "made", "{\"panel\":\"bars\",\"id\":\"shares\",\"title\":\"Split by unit\",\"unit\":\"share\",\"parts\":true,\"rest\":true,\"series\":[\"busy\",\"idle\"],\"rows\":[{\"name\":\"one\",\"values\":[0.25,0.75]}]}")
        view("null", "made", "{\"panel\":\"bars\",\"id\":\"beside\",\"title\":\"Side by side\",\"grouped\":true,\"log\":true,\"series\":[\"x\",\"y\"],\"rows\":[{\"name\":\"one\",\"values\":[1,1000]}]}")
        view("null", "made", "{\"panel\":\"table\",\"id\":\"broken\",\"columns\":\"no list\"}"); view("null", "made", "{\"panel\":\"orrery\",\"id\":\"unknown\"}")
        note("null", "hw", "warning", "\"platform s256 is not calibrated\"")
        note("null", "genetic", "diversity", "{\"generation\":12,\"text\":\"</script><b>not markup</b>\"}")
    }
    for (name in reasons) reason_list = reason_list (reason_list == "" ? "" : ",") "\"" name "\":" reasons[name]
    value = sum_cycles * sum_energy; limit = low_cycles * low_energy
    printf "{\"type\":\"summary\",\"trials\":%d}\n", total > log_file
    printf "{\"format\":\"mercator-summary/1\",\"problem\":\"map\",\"workload\":\"resnet18\",\"platform\":\"s256\",\"evaluator\":\"loopnest\",\"optimizer\":\"%s\",\"objective\":\"edp\",\"seed\":%d,\"budget\":%d,\"evaluations\":%d,\"wall_s\":%.2f,\"evaluations_per_s\":31250,\"stopped\":\"budget\",\"reproducible\":true,\"best\":{\"score\":%.17g,\"feasible\":true,\"cycles\":%.0f,\"energy\":%.17g,\"edp\":%.17g},\"bound\":{\"value\":%.17g,\"kind\":\"traffic\",\"scope\":\"\",\"gap\":%.17g,\"proven\":false},\"infeasible\":{\"count\":%d,\"reasons\":{%s}},\"front\":[],\"tasks\":[%s],\"files\":[\"mapping.yaml\",\"report.html\"]}\n", optimizer, seed, budget, total, total / 31250, value, sum_cycles, sum_energy, value, limit, value / limit - 1, infeasible, reason_list, results > summary_file
    printf "{\"host\":\"bench\",\"threads\":2,\"command\":\"mercator map resnet18\",\"started\":\"2026-01-01T00:00:00Z\"}\n{\"trials\":%d,\"wall_s\":%.2f,\"cpu_s\":%.2f}\n", total, total / 31250, total / 20000 > clock_file
}' </dev/null
