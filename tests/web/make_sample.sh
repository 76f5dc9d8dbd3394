#!/bin/sh
# make_sample.sh DIR OPTIMIZER SEED BUDGET [TASKS [NOTES]]: a made-up run directory with numbers of the
# right size, so that the page can be tested without a search. TASKS is 1..11, NOTES `plain` or `all`.
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

function access(reads, energy) {
    return sprintf("{\"reads\":%.0f,\"fills\":%.0f,\"updates\":%.0f,\"energy\":%.0f}", reads, reads / 3, reads / 5, reads * energy)
}

function breakdown_note(t,    m, e) {
    m = macs[t]
    e = best_energy[t] - 4 * m
    return sprintf("{\"levels\":[{\"name\":\"DRAM\",\"tensors\":{\"W\":%s,\"I\":%s,\"O\":%s},\"occupancy_words\":%d,\"capacity_words\":null,\"bandwidth_use\":%.3f},{\"name\":\"GLB\",\"tensors\":{\"W\":%s,\"I\":%s,\"O\":%s},\"occupancy_words\":%d,\"capacity_words\":65536,\"bandwidth_use\":%.3f},{\"name\":\"RF\",\"tensors\":{\"W\":%s,\"I\":%s,\"O\":%s},\"occupancy_words\":%d,\"capacity_words\":256,\"bandwidth_use\":0.75}],\"mac_energy\":%.0f,\"binding\":\"%s\"}",
        access(e * 0.2 / 200, 200), access(e * 0.28 / 200, 200), access(e * 0.1 / 200, 200), 400000, 0.4 + 0.5 * random(),
        access(e * 0.05 / 6, 6), access(e * 0.11 / 6, 6), access(e * 0.07 / 6, 6), 30000 + 30000 * random(), 0.2 + 0.5 * random(),
        access(m, 1), access(m * 0.9, 1), access(m * 1.1, 1), 120 + 130 * random(), m, t % 3 ? "compute" : "DRAM bandwidth")
}

function note(task, source, name, value) {
    printf "{\"type\":\"note\",\"index\":%d,\"task\":%s,\"source\":\"%s\",\"name\":\"%s\",\"value\":%s}\n", total, task, source, name, value > log_file
}

function correlation(size,    i, j, rows, row, labels) {
    for (i = 0; i < size; i++) {
        row = ""
        for (j = 0; j < size; j++)
            row = row (j ? "," : "") sprintf("%.3f", i == j ? 1 : (int(i / 3) == int(j / 3) ? 0.75 : 0.35 * sin(i * j + 1)))
        rows = rows (i ? "," : "") "[" row "]"
        labels = labels (i ? "," : "") "\"" (i % 2 ? "tile." : "order.") "knob" i "\""
    }
    label_list = labels
    return "{\"labels\":[" labels "],\"matrix\":[" rows "]}"
}

function dendrogram(size,    i, merges) {
    merges = "[0,1,0.1]"
    for (i = 2; i < size; i++) merges = merges sprintf(",[%d,%d,%.2f]", i, size + i - 2, 0.1 + i * 0.07)
    return "{\"labels\":[" label_list "],\"merges\":[" merges "],\"cut\":0.5}"
}

# What marl leaves: knobs 0-3 go together, 4 and 5 do, the rest stands alone.
function partition(size,    i, j, row, rows, owner, merges) {
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
    return "{\"samples\":80,\"feasible\":63,\"agents\":" (size - 4) ",\"owner\":[" owner "],\"matrix\":[" rows "],\"merges\":[" merges "]}"
}

function knob_names(size,    i, names) {
    for (i = 0; i < size; i++) names = names (i ? "," : "") "\"" (i % 2 ? "tile." : "order.") substr("KCYXRS", int(i / 2) % 6 + 1, 1) "." int(i / 6) "\""
    return "[" names "]"
}

function gantt(units, jobs,    u, j, at, length_, items, lanes, edge, segments) {
    for (u = 0; u < units; u++) {
        at = 0; items = ""
        for (j = 0; j < jobs; j++) {
            length_ = int(2000 + 30000 * random() * random())
            items = items (j ? "," : "") sprintf("{\"name\":\"%s.%d\",\"start\":%d,\"end\":%d,\"group\":\"%s\",\"stall\":%d}", j % 2 ? "camera" : "speech", j, at, at + length_, j % 2 ? "camera" : "speech", j % 4 ? 0 : length_ / 3)
            at += length_ + (j % 5 ? 0 : 3000)
        }
        lanes = lanes (u ? "," : "") "{\"name\":\"hb" u "\",\"items\":[" items "]}"
    }
    for (j = 0; j < 60; j++) {
        segments = segments (j ? "," : "") sprintf("[%d,%d", j * at / 60, (j + 1) * at / 60)
        for (u = 0; u < units; u++) segments = segments sprintf(",%.2f", 16 / units * random())
        segments = segments "]"
    }
    return "{\"unit\":\"cycles\",\"lanes\":[" lanes "],\"bandwidth\":{\"limit\":16,\"unit\":\"B/cycle\",\"segments\":[" segments "]}}"
}

function graph(size,    i, nodes, edges) {
    for (i = 0; i < size; i++) {
        nodes = nodes (i ? "," : "") sprintf("{\"id\":%d,\"label\":\"%s_%d\",\"group\":\"gpu%d\"}", i, i % 3 ? "conv" : "add", i, int(i * 3 / size))
        if (i) edges = edges (i > 1 ? "," : "") "[" i - 1 "," i "]"
        if (i > 3 && i % 3 == 0) edges = edges ",[" i - 3 "," i "]"
    }
    return "{\"nodes\":[" nodes "],\"edges\":[" edges "]}"
}

function pareto(size,    i, points) {
    for (i = 0; i < size; i++)
        points = points (i ? "," : "") sprintf("{\"x\":%.6g,\"y\":%.4f,\"dominated\":%s}", 0.0004 + i * 0.00002, 0.83 + 0.09 * log(1 + i) / log(size) - (i % 3 ? 0.02 * random() : 0), i % 3 ? "true" : "false")
    return "{\"x\":\"latency\",\"y\":\"accuracy\",\"points\":[" points "]}"
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
        note(t, "loopnest", "breakdown", breakdown_note(t))
        sum_cycles += counts[t] * best_cycles[t]; sum_energy += counts[t] * best_energy[t]
        low_cycles += counts[t] * least_cycles[t]; low_energy += counts[t] * least_energy[t]
        results = results (t ? "," : "") sprintf("{\"name\":\"%s\",\"count\":%d,\"best\":{\"score\":%.17g,\"feasible\":true,\"cycles\":%d,\"energy\":%.17g,\"edp\":%.17g,\"utilisation\":%.4f},\"bound\":{\"value\":%.17g,\"kind\":\"traffic\",\"scope\":\"\",\"gap\":%.17g,\"proven\":false},\"evaluations\":%d}", names[t], counts[t], best[t], best_cycles[t], best_energy[t], best[t], best_use[t], bound[t], best[t] / bound[t] - 1, budget)
    }
    if (notes == "all") {
        note("null", "marl", "correlation", correlation(12)); note("null", "marl", "dendrogram", dendrogram(12))
        for (t = 0; t < tasks; t++) {
            note(t, "marl", "partition", partition(12)); note(t, "marl", "recluster", partition(12))
            note(t, "marl", "correlation_drift", "{\"trials\":240,\"adjusted_rand\":0.31,\"agents\":8,\"agents_best\":5,\"try\":\"recluster=1000\"}")
        }
        note(1, "marl", "sparse_reward", "{\"trials\":100,\"feasible\":0,\"found\":\"no feasible point\",\"try\":\"larger memories\"}")
        note("null", "bandwidth", "gantt", gantt(4, 24)); note("null", "bandwidth", "cycles_by_bandwidth", "[[1,900],[2,500],[4,400]]"); note("null", "cluster", "graph", graph(34))
        note("null", "split_train", "pareto", pareto(40)); note("null", "hw", "warning", "\"platform s256 is not calibrated\"")
        note("null", "genetic", "diversity", "{\"generation\":12,\"text\":\"</script><b>not markup</b>\"}")
    }
    for (name in reasons) reason_list = reason_list (reason_list == "" ? "" : ",") "\"" name "\":" reasons[name]
    value = sum_cycles * sum_energy; limit = low_cycles * low_energy
    printf "{\"type\":\"summary\",\"trials\":%d}\n", total > log_file
    printf "{\"format\":\"mercator-summary/1\",\"problem\":\"map\",\"workload\":\"resnet18\",\"platform\":\"s256\",\"evaluator\":\"loopnest\",\"optimizer\":\"%s\",\"objective\":\"edp\",\"seed\":%d,\"budget\":%d,\"evaluations\":%d,\"wall_s\":%.2f,\"evaluations_per_s\":31250,\"stopped\":\"budget\",\"reproducible\":true,\"best\":{\"score\":%.17g,\"feasible\":true,\"cycles\":%.0f,\"energy\":%.17g,\"edp\":%.17g},\"bound\":{\"value\":%.17g,\"kind\":\"traffic\",\"scope\":\"\",\"gap\":%.17g,\"proven\":false},\"infeasible\":{\"count\":%d,\"reasons\":{%s}},\"front\":[],\"tasks\":[%s],\"files\":[\"mapping.yaml\",\"report.html\"]}\n", optimizer, seed, budget, total, total / 31250, value, sum_cycles, sum_energy, value, limit, value / limit - 1, infeasible, reason_list, results > summary_file
    printf "{\"host\":\"bench\",\"threads\":2,\"command\":\"mercator map resnet18\",\"started\":\"2026-01-01T00:00:00Z\"}\n{\"trials\":%d,\"wall_s\":%.2f,\"cpu_s\":%.2f}\n", total, total / 31250, total / 20000 > clock_file
}' </dev/null
