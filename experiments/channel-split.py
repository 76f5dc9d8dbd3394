#!/usr/bin/env python3
"""Images and tables of docs/studies/channel-split.md.

    python3 experiments/channel-split.py data DATA FOLDER     the small image set of the hard case, made from DATA/fashion
    python3 experiments/channel-split.py tables RUNS [STUDY...]   from the runs of channel-split.sh

Differences of accuracy are paired by seed and test image; their intervals are the middle 95 % of 2,000 draws of seeds and images, both
with replacement.
"""
import glob
import json
import os
import random
import struct
import sys

DRAWS = 2000
PARTS = ("test", "noisy", "shifted")


# ---- images: 1,500 to train with, the next 2,000 and the 1,000 of the test part to test with


def read_idx(path):
    with open(path, "rb") as file:
        data = file.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return shape, data[4 + 4 * rank:]


def write_idx(path, shape, data):
    with open(path + ".part", "wb") as file:
        file.write(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data)
    os.rename(path + ".part", path)


def make_data(source, folder, train=1500, more=2000):
    here = folder + "/fashion-small.part"
    os.makedirs(here, exist_ok=True)
    for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"):
        shape, first = read_idx(f"{source}/fashion/train-{kind}")
        _, second = read_idx(f"{source}/fashion/test-{kind}")
        size = len(first) // shape[0]
        test = first[train * size:(train + more) * size] + second
        write_idx(f"{here}/train-{kind}", (train,) + shape[1:], first[:train * size])
        write_idx(f"{here}/test-{kind}", (len(test) // size,) + shape[1:], test)
    os.rename(here, folder + "/fashion-small")


# ---- runs


def bits(text, count):
    """Right answers, one number: a seed's images are its binary digits."""
    return [int(text[i // 4], 16) >> (3 - i % 4) & 1 for i in range(count)]


class Mapping:
    """One split of one seed: what it costs and which images it gets right."""

    def __init__(self, trial, answers, search):
        cost = trial["cost"]
        self.cycles, self.energy = cost["cycles"], cost["energy"] / 1e6
        self.accuracy, self.validation = cost["test_accuracy"], cost["accuracy"]
        self.search = search
        self.digital = trial["point"].count(0) / max(1, len(trial["point"]))
        self.right = {part: [int(d, 16) for d in text] for part, text in answers.items()}
        self.correct = {part: sum(bin(d).count("1") for d in right) for part, right in self.right.items()}


def read_run(folder):
    mappings, answers, search, warnings = [], {}, {}, 0
    with open(folder + "/run.jsonl") as log:
        for line in log:
            row = json.loads(line)
            if row["type"] == "note" and row["name"] == "answers":
                answers[row["value"]["part"]] = row["value"]["right"]
            elif row["type"] == "note" and row["name"] == "warning":
                warnings += 1
            elif row["type"] == "epoch" and row["phase"] == "search":
                search = row["values"]
            elif row["type"] == "trial":
                mappings.append(Mapping(row, answers, search))
                answers = {}
    for mapping in mappings:
        mapping.warnings = warnings / len(mappings)
    return mappings


class Study:
    def __init__(self, root, name):
        self.runs = {}  # of a method: seed -> mappings
        for path in glob.glob(f"{root}/{name}/*/cpu_s"):
            method, seed = os.path.basename(os.path.dirname(path)).rsplit("-", 1)
            self.runs.setdefault(method, {})[int(seed)] = read_run(os.path.dirname(path))
        self.fixed = [m for m in self.runs if all(len(r) == 1 for r in self.runs[m].values())]
        self.searched = [m for m in self.runs if m not in self.fixed]

    def seeds(self, *methods):
        return sorted(set.intersection(*(set(self.runs[m]) for m in methods)))


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def difference(pairs, part="test"):
    """Mean and half-width, in points, of pairs of mappings, one pair per seed."""
    rows = []
    for a, b in pairs:
        rows.append([bin(x).count("1") - bin(y).count("1") for x, y in zip(a.right[part], b.right[part])])
    blocks, images = len(rows[0]), 4 * len(rows[0])
    draw = random.Random(1)
    means = []
    for _ in range(DRAWS):
        seeds = draw.choices(rows, k=len(rows))
        where = draw.choices(range(blocks), k=blocks)
        means.append(sum(sum(map(row.__getitem__, where)) for row in seeds) / (len(rows) * images))
    means.sort()
    low, high = means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]
    return 100 * mean(sum(row) / images for row in rows), 50 * (high - low)


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


if __name__ == "__main__":
    if sys.argv[1] == "data":
        make_data(sys.argv[2], sys.argv[3])
