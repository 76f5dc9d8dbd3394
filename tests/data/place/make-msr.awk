# A small training graph in the msr form, made for the tests: blocks of three forward operators with a by-pass, each with its backward
# operator in the same class, and weights that nothing precedes. Times and bytes are made up; both spellings of booleans occur, some
# operators have no class, ids are neither dense nor sorted.
#   awk -f make-msr.awk -v blocks=4 -v backward=1 >tiny-training.json
function node(name, id, fast, slow, bytes, back, class, supported) {
    printf "%s\n  {\"name\": \"%s\", \"id\": %d, \"supportedOnFpga\": %s, \"cpuLatency\": %s, \"fpgaLatency\": %s, \"isBackwardNode\": %s, \"size\": %.1f%s}", count++ ? "," : "", name, id, supported, slow, fast, back ? (id % 2 ? "true" : "1") : (id % 2 ? "false" : "0"), bytes, class < 0 ? "" : ", \"colorClass\": " class
}
function edge(from, to, bytes) { edges = edges sprintf("%s\n  {\"sourceId\": %d, \"destId\": %d, \"cost\": %.9g, \"size\": %d}", edges == "" ? "" : ",", from, to, bytes * 1000 / 2147483648, bytes) }
BEGIN {
    printf "{\"maxSizePerFPGA\": 3200000.0, \"maxFPGAs\": 3, \"maxCPUs\": 1, \"nodes\": ["
    for (b = blocks - 1; b >= 0; b--) {
        for (i = 0; i < 3; i++) {
            id = 100 * b + 7 * i + 3
            node("block" b ".op" i, id, 0.25 + 0.5 * ((b * 3 + i * 5) % 7), 2 * (0.25 + 0.5 * ((b * 3 + i * 5) % 7)), 400000 + 100000 * ((b + i) % 3), 0, i == 1 && !backward ? -1 : 10 * b + i, (b == 1 && i == 2) ? "false" : "true")
            if (backward) node("block" b ".op" i ".grad", id + 1000, 0.75 + 0.5 * ((b + i) % 4), 1.5 + ((b + i) % 4), 100000, 1, 10 * b + i, (b == 1 && i == 2) ? "0" : "1")
        }
        node("block" b ".weight", 100 * b + 50, 0, 0, 300000, 0, -1, "1")
        bytes = 1000000 * (1 + b % 3)
        edge(100 * b + 50, 100 * b + 10, 300000)
        edge(100 * b + 3, 100 * b + 10, bytes); edge(100 * b + 3, 100 * b + 17, bytes); edge(100 * b + 10, 100 * b + 17, bytes / 2)
        if (b > 0) edge(100 * (b - 1) + 17, 100 * b + 3, 1500000)
        if (backward) {
            edge(100 * b + 1017, 100 * b + 1010, bytes / 2); edge(100 * b + 1017, 100 * b + 1003, bytes / 2); edge(100 * b + 1010, 100 * b + 1003, bytes)
            if (b > 0) edge(100 * b + 1003, 100 * (b - 1) + 1017, 1500000)
            if (b == blocks - 1) edge(100 * b + 17, 100 * b + 1017, 1000)
        }
    }
    printf "\n ], \"edges\": [%s\n ]}\n", edges
}
