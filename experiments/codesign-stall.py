#!/usr/bin/env python3
"""Where dcoc stalls on ResNet-18: the best latency so far of one layer in the round that decides, over its optimum there.

    python3 experiments/codesign-stall.py runs/codesign-shared docs/studies/codesign-stall.svg"""
import json
import math
import pathlib
import sys

LAYER, CORE, BUDGET = "/layer3/layer3.0/downsample/downsample.0/Conv", "1x4x64", 576
COLOURS = {"dcoc": "#b5483a", "autotvm": "#2a6ca8"}
WIDTH, HEIGHT, LEFT, TOP, ACROSS, DOWN = 640, 330, 60, 20, 560, 250


def curve(lines, task):
    """improvements of the task in the round on CORE: (measurement, latency)"""
    found, first, is_there = [], None, False
    for entry in lines:
        if entry["type"] == "note" and entry["name"] == "round":
            is_there = entry["value"]["name"] == CORE
        elif is_there and entry["type"] == "trial" and entry["task"] == task and "cost" in entry:
            first = entry["index"] if first is None else first
            found.append((entry["index"] - first + 1, entry["cost"]["latency"]))
    return found


def main():
    curves, optimum = [], math.inf
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*/run.jsonl")):
        with open(path) as file:
            header = json.loads(file.readline())
            name = header["optimizer"]["name"]
            if header["workload"]["name"] != "resnet18" or header["budget"] != BUDGET or name not in ("grid", *COLOURS):
                continue
            task = [t["name"] for t in header["tasks"]].index(LAYER)
            lines = [json.loads(line) for line in file]
        if name == "grid":
            optimum = min(l["cost"]["latency"] for l in lines if l["type"] == "trial" and l["task"] == task)
        else:
            curves.append((name, curve(lines, task)))
    most = max(m for _, c in curves for m, _ in c) * 1.05
    x = lambda m: LEFT + ACROSS * (m - 1) / (most - 1)
    y = lambda r: TOP + DOWN * (1 - min(1, math.log(r) / math.log(4)))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for ratio in (1, 1.07, 1.2, 1.5, 2, 4):
        out.append(f'<line x1="{LEFT}" x2="{LEFT + ACROSS}" y1="{y(ratio):.1f}" y2="{y(ratio):.1f}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(ratio) + 4:.1f}" text-anchor="end">{ratio:g}</text>')
    for name, points in curves:
        points = points + [(most, points[-1][1])]
        steps, before = [], None
        for m, latency in points:
            if before is not None:
                steps.append(f"{x(m):.1f},{y(before / optimum):.1f}")
            steps.append(f"{x(m):.1f},{y(latency / optimum):.1f}")
            before = latency
        out.append(f'<polyline points="{" ".join(steps)}" fill="none" stroke="{COLOURS[name]}" stroke-opacity="0.6" stroke-width="1.5"/>')
    out.append(f'<text x="{LEFT}" y="{TOP + DOWN + 22}">trials of the layer in the round on {CORE} (1 to {most:.0f}); ten seeds each</text>')
    for i, (name, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{LEFT + 120 * i}" y="{TOP + DOWN + 44}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{LEFT + 260}" y="{TOP + DOWN + 44}">vertical: best latency so far over the optimum</text></svg>')
    open(sys.argv[2], "w").write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
