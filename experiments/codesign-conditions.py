#!/usr/bin/env python3
"""Tables of codesign-conditions.sh: python3 experiments/codesign-conditions.py runs/codesign-conditions

Latency over the proven optimum, median of the seeds (least-most). Transfer: sum over layers of the best latency so far,
over that of the optimum, after so many measurements of each layer (half of 96 are random)."""
import json
import pathlib
import statistics
import sys


def text(values):
    values = sorted(values)
    return f"{statistics.median(values):.4f} ({values[0]:.3f}-{values[-1]:.3f})" if values else "-"


def conditions(folder):
    print("| condition | network | core | optimum ms | Gop/s | dcoc | autotvm |\n|---|---|---|---:|---:|---:|---:|")
    for path in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(("transfer", "teacher"))):
        cells = {}
        for run in sorted(path.glob("*/summary.json")):
            header, summary = json.loads(open(run.parent / "run.jsonl").readline()), json.load(open(run))
            cell = cells.setdefault(header["workload"]["name"], {}).setdefault(header["optimizer"]["name"], [])
            if summary.get("best"):
                cell.append(summary)
        for network, found in sorted(cells.items()):
            best = found["grid"][0]["best"]
            row = [text([r["best"]["latency"] / best["latency"] for r in found.get(n, [])]) for n in ("dcoc", "autotvm")]
            core = f"{best['mac_units']:.0f} multipliers, {best['sram_bytes'] / 1024:.0f} KiB"
            print(f"| {path.name} | {network} | {core} | {1e3 * best['latency']:.2f} | {best['throughput'] / 1e9:.2f} | " + " | ".join(row) + " |")


def curve(path):
    """{task: [(measurement of the task, latency)]}, counts"""
    tasks, counts, first, curves = [], {}, {}, {}
    for line in open(path / "run.jsonl"):
        entry = json.loads(line)
        if entry["type"] == "header":
            tasks = [t["name"] for t in entry["tasks"]]
            counts = {t["name"]: t["count"] for t in entry["tasks"]}
        elif entry["type"] == "trial" and "cost" in entry:
            name = tasks[entry["task"]]
            first.setdefault(name, entry["index"])
            curves.setdefault(name, []).append((entry["index"] - first[name] + 1, entry["cost"]["latency"]))
    return curves, counts


def transfer(folder):
    points = (48, 56, 64, 96)
    print("\n| network | policy | " + " | ".join(f"after {p}" for p in points) + " |\n|---|---|" + "---:|" * len(points))
    for network in ("resnet18", "vgg16"):
        optimum, counts = curve(folder / f"transfer-{network}-grid")
        least = sum(counts[t] * min(l for _, l in c) for t, c in optimum.items())
        for way in ("cold", "moved", "frozen"):
            rows = []
            for seed in range(1, 6):
                path = folder / f"transfer-{network}-{way}-{seed}"
                if (path / "summary.json").exists():
                    curves, _ = curve(path)
                    rows.append([sum(counts[t] * min(l for m, l in c if m <= max(p, c[0][0])) for t, c in curves.items()) / least for p in points])
            if rows:
                print(f"| {network} | {way} | " + " | ".join(text([r[i] for r in rows]) for i in range(len(points))) + " |")


if __name__ == "__main__":
    conditions(pathlib.Path(sys.argv[1]))
    transfer(pathlib.Path(sys.argv[1]))
