#!/usr/bin/env python3
"""Measurements until a tuner is within 1 % of the optimum, from the logs of codesign-fixed.yaml (grid has the optimum).

    python3 experiments/codesign-samples.py runs/codesign-fixed

Tuners with a model share 64 random points per seed; their measurements are counted after these, at least 1. Not reached
counts as 512. Tasks on which random points need 65 to 511 measurements (median) enter the means: the small ones, and those that
random points do not solve, are shown only."""
import json
import math
import pathlib
import random
import statistics
import sys

INITIAL, CAP, NEAR = 64, 512, 1.01
MODELS = ("dcoc", "chameleon", "autotvm")


def read(folder):
    """{(workload, task): {optimizer: {seed: [(measurement, latency)]}}}, and the optima"""
    curves, optima = {}, {}
    for path in sorted(pathlib.Path(folder).glob("*/run.jsonl")):
        tasks, first = [], {}
        for line in open(path):
            entry = json.loads(line)
            if entry["type"] == "header":
                workload, seed = entry["workload"]["name"], entry["seed"]
                optimizer = entry["optimizer"]["name"]
                tasks = [t["name"] for t in entry["tasks"]]
            elif entry["type"] == "trial" and "cost" in entry:
                key, latency = (workload, tasks[entry["task"]]), entry["cost"]["latency"]
                first.setdefault(key, entry["index"])
                if optimizer == "grid":
                    optima[key] = min(latency, optima.get(key, latency))
                else:
                    curve = curves.setdefault(key, {}).setdefault(optimizer, {}).setdefault(seed, [])
                    curve.append((entry["index"] - first[key] + 1, latency))
    return curves, optima


def needed(curve, target, offset):
    for measurement, latency in curve:
        if latency <= target:
            return min(max(measurement - offset, 1), CAP)
    return CAP


def gap_at(curve, optimum, measurements):
    return min([l for m, l in curve if m <= measurements] or [math.inf]) / optimum - 1


def geometric(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def interval(pairs, draws=2000):
    """95 % of the ratio of geometric means over tasks drawn again"""
    rng = random.Random(1)
    ratios = sorted(geometric([a / b for a, b in (rng.choice(pairs) for _ in pairs)]) for _ in range(draws))
    return ratios[int(0.025 * draws)], ratios[int(0.975 * draws)]


def main():
    curves, optima = read(sys.argv[1])
    names = [n for n in ("dcoc", "chameleon", "autotvm", "genetic", "random") if any(n in c for c in curves.values())]
    medians, kept = {}, []
    print("| task | optimum ms | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    for key in sorted(curves, key=lambda k: optima[k]):
        row = {}
        for name in names:
            offset = INITIAL if name in MODELS else 0
            runs = curves[key].get(name, {})
            row[name] = statistics.median(needed(c, NEAR * optima[key], offset) for c in runs.values()) if runs else CAP
        medians[key] = row
        mark = "" if 65 <= row["random"] < CAP else " (left out)"
        if not mark:
            kept.append(key)
        cells = " | ".join(f"{row[n]:.0f}" if row[n] < CAP else "512+" for n in names)
        print(f"| {key[0]} {key[1]}{mark} | {1e3 * optima[key]:.3f} | {cells} |")
    print(f"\nGeometric mean over {len(kept)} tasks: "
          + ", ".join(f"{n} {geometric([medians[k][n] for k in kept]):.1f}" for n in names) + "\n")
    for rival in names[1:]:
        pairs = [(medians[k]["dcoc"], medians[k][rival]) for k in kept]
        low, high = interval(pairs)
        print(f"- dcoc over {rival}: {geometric([a / b for a, b in pairs]):.3f} ({low:.3f} to {high:.3f})")
    print("\nMedian gap to the optimum in % over all tasks and seeds, by number of measurements:\n")
    print("| tuner | 64 | 128 | 256 | 512 |\n|---|---:|---:|---:|---:|")
    for name in (n for n in names if any(n in c for c in curves.values())):
        offset = INITIAL if name in MODELS else 0
        gaps = [[100 * gap_at(c, optima[k], at + offset) for k in curves for c in curves[k].get(name, {}).values()]
                for at in (64, 128, 256, 512)]
        print(f"| {name} | " + " | ".join(f"{statistics.median(g):.2f} (mean {statistics.fmean(g):.2f})" for g in gaps) + " |")


main()
