/* The reference machine and a layer's problem as Timeloop v0.3 files. */
#ifndef MERCATOR_TESTS_TIMELOOP_S256_H
#define MERCATOR_TESTS_TIMELOOP_S256_H

static const char timeloop_s256_tree[] =
    "architecture:\n"
    "  version: 0.3\n"
    "  subtree:\n"
    "    - name: system\n"
    "      local:\n"
    "        - {name: DRAM, class: DRAM, attributes: {width: 16, block-size: 1, datawidth: 16, "
    "word-bits: 16, "
    "read_bandwidth: 16, write_bandwidth: 16}}\n"
    "      subtree:\n"
    "        - name: chip\n"
    "          local:\n"
    "            - {name: GLB, class: SRAM, attributes: {memory_depth: 65536, memory_width: 16, "
    "block-size: 1, "
    "datawidth: 16, word-bits: 16, n_banks: 1, read_bandwidth: 32, write_bandwidth: 32}}\n"
    "          subtree:\n"
    "            - name: PE[0..255]\n"
    "              local:\n"
    "                - {name: RF, class: regfile, attributes: {memory_depth: 256, memory_width: "
    "16, block-size: 1, "
    "datawidth: 16, word-bits: 16, meshX: 16, read_bandwidth: 4, write_bandwidth: 4}}\n"
    "                - {name: MAC, class: intmac, attributes: {datawidth: 16, word-bits: 16, "
    "meshX: 16}}\n";

static const char timeloop_s256_energies[] =
    "ERT:\n"
    "  version: 0.3\n"
    "  tables:\n"
    "    - {name: system.DRAM, actions: [{name: read, energy: 200.0}, {name: write, energy: "
    "200.0}, "
    "{name: update, energy: 200.0}]}\n"
    "    - {name: system.chip.GLB, actions: [{name: read, energy: 6.0}, {name: write, energy: "
    "6.0}, "
    "{name: update, energy: 6.0}]}\n"
    "    - {name: 'system.chip.PE[0..255].RF', actions: [{name: read, energy: 1.0}, {name: write, "
    "energy: 1.0}, "
    "{name: update, energy: 1.0}]}\n"
    "    - {name: 'system.chip.PE[0..255].MAC', actions: [{name: mac, energy: 1.0}, {name: "
    "compute, energy: 1.0}, "
    "{name: mac_random, energy: 1.0}]}\n";

static const char timeloop_s256_keeps[] =
    "mapspace_constraints:\n"
    "  - {target: DRAM, type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}\n"
    "  - {target: GLB,  type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}\n"
    "  - {target: RF,   type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}\n";

/* printf format: M C R S P Q and twice the stride. */
#define TIMELOOP_PROBLEM                                                                           \
    "problem:\n"                                                                                   \
    "  version: 0.3\n"                                                                             \
    "  shape:\n"                                                                                   \
    "    name: conv\n"                                                                             \
    "    dimensions: [C, M, R, S, N, P, Q]\n"                                                      \
    "    coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1}, {name: "         \
    "Wdilation, default: 1}, "                                                                     \
    "{name: Hdilation, default: 1}]\n"                                                             \
    "    data-spaces:\n"                                                                           \
    "      - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}\n"                          \
    "      - {name: Inputs,  projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, "     \
    "Hdilation], "                                                                                 \
    "[Q, Hstride]]]}\n"                                                                            \
    "      - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read-write: True}\n"        \
    "  instance: {N: 1, M: %d, C: %d, R: %d, S: %d, P: %d, Q: %d, Wstride: %d, Hstride: %d, "      \
    "Wdilation: 1, "                                                                               \
    "Hdilation: 1}\n"

#endif
