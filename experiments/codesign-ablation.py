#!/usr/bin/env python3
"""What the parts of dcoc are worth, from the runs of codesign-ablation.yaml: latency of the network over the proven optimum,
median of the seeds (least-most), and the mean of its logarithm over both networks.

    python3 experiments/codesign-ablation.py runs/codesign-ablation"""
import json
import math
import pathlib
import statistics
import sys

cells, optimum, plain = {}, {}, None
for path in sorted(pathlib.Path(sys.argv[1]).glob("*/summary.json")):
    header, summary = json.loads(open(path.parent / "run.jsonl").readline()), json.load(open(path))
    network, options = header["workload"]["name"], header["optimizer"].get("options")
    if header["optimizer"]["name"] == "grid":
        optimum[network] = summary["best"]["latency"]
        continue
    plain = plain or options  # the first ones are the defaults
    label = ", ".join(f"{k}={v}" for k, v in options.items() if v != plain[k]) or "dcoc"
    cells.setdefault(label, {}).setdefault(network, {})[header["seed"]] = summary["best"]["latency"]
networks = sorted(optimum)
print("| setting | " + " | ".join(networks) + " | geometric mean | seeds better, worse than dcoc |\n|---|" + "---:|" * (len(networks) + 2))
for label, found in cells.items():
    row, logs, wins, losses = [], [], 0, 0
    for network in networks:
        values = {s: v / optimum[network] for s, v in found.get(network, {}).items()}
        base = {s: v / optimum[network] for s, v in cells["dcoc"][network].items()}
        row.append(f"{statistics.median(values.values()):.4f} ({min(values.values()):.3f}-{max(values.values()):.3f})" if values else "-")
        logs += map(math.log, values.values())
        wins += sum(values[s] < base[s] * (1 - 1e-9) for s in values if s in base)
        losses += sum(values[s] > base[s] * (1 + 1e-9) for s in values if s in base)
    print(f"| {label} | " + " | ".join(row) + f" | {math.exp(statistics.fmean(logs)):.4f} | {wins}, {losses} |")
