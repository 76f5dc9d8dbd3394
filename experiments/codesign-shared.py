#!/usr/bin/env python3
"""One core for a network: how far tuners end from the proven optimum, from the runs of codesign-shared.yaml.

    python3 experiments/codesign-shared.py runs/codesign-shared

Per network and budget: the median over seeds of latency over the optimum. Pairs: dcoc against each rival on the same
network and seed; the p-value is of the sign test over networks (medians) and over all pairs. Time: measurements on a
board (spent.simulated_s) and the tuner's own wall clock."""
import json
import math
import pathlib
import statistics
import sys

NAMES = ["dcoc", "chameleon", "autotvm", "genetic", "random"]


def read(folders):
    """{budget: {network: {optimizer: {seed: summary}}}}"""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*/summary.json")):
            summary = json.load(open(path))
            header = json.loads(open(path.parent / "run.jsonl").readline())
            optimizer = header["optimizer"]["name"]
            cell = found.setdefault(header["budget"], {}).setdefault(header["workload"]["name"], {})
            if summary.get("best"):
                cell.setdefault(optimizer, {})[header["seed"]] = summary
    return found


def sign_test(wins, losses):
    n = wins + losses
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n if n else 1
    return min(1, 2 * tail)


def main():
    for budget, networks in sorted(read(sys.argv[1:]).items()):
        names = [n for n in NAMES if any(n in cell for cell in networks.values())]
        print(f"\n### {budget - 64} measurements per layer after 64 random ones\n")
        print("| network | optimum ms | Gop/s | " + " | ".join(names) + " |")
        print("|---|---:|---:|" + "---:|" * len(names))
        ratios = {}
        for network, cell in sorted(networks.items()):
            best = next(iter(cell["grid"].values()))["best"]
            row = []
            for name in names:
                runs = {s: r["best"]["latency"] / best["latency"] for s, r in cell.get(name, {}).items()}
                ratios.setdefault(name, {})[network] = runs
                values = sorted(runs.values())
                row.append(f"{statistics.median(values):.4f} ({values[0]:.3f}-{values[-1]:.3f})" if values else "-")
            print(f"| {network} | {1e3 * best['latency']:.2f} | {best['throughput'] / 1e9:.2f} | " + " | ".join(row) + " |")
        print("\n| dcoc against | networks: better, worse, p | pairs of seeds: better, worse, p | geometric mean of ratios |")
        print("|---|---|---|---:|")
        for name in names[1:]:
            pairs = [ratios[name][n][s] / ratios["dcoc"][n][s] for n in ratios[name] for s in ratios[name][n] if s in ratios["dcoc"][n]]
            medians = [statistics.median(ratios[name][n].values()) / statistics.median(ratios["dcoc"][n].values()) for n in ratios[name] if ratios[name][n]]
            texts = []
            for values in (medians, pairs):
                wins, losses = sum(v > 1 + 1e-9 for v in values), sum(v < 1 - 1e-9 for v in values)
                texts.append(f"{wins}, {losses}, {sign_test(wins, losses):.2g}")
            print(f"| {name} | {texts[0]} | {texts[1]} | {math.exp(statistics.fmean(map(math.log, pairs))):.4f} |")
        print("\n| network | " + " | ".join(f"{n}: board h, tuner s" for n in names) + " |")
        print("|---|" + "---:|" * len(names))
        for network, cell in sorted(networks.items()):
            row = []
            for name in names:
                runs = list(cell.get(name, {}).values())
                board = statistics.median(r.get("spent", {}).get("simulated_s", math.nan) for r in runs) / 3600 if runs else math.nan
                own = statistics.median(r["wall_s"] for r in runs) if runs else math.nan
                row.append("-" if not runs else f"{own:.1f}" if math.isnan(board) else f"{board:.2f}, {own:.1f}")
            print(f"| {network} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
