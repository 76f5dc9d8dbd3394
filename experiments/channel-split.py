#!/usr/bin/env python3
"""Images and tables of docs/studies/channel-split.md.

    python3 experiments/channel-split.py data DATA FOLDER     the image sets, made from DATA/fashion and DATA/fsdd-mfcc
    python3 experiments/channel-split.py tables RUNS [STUDY...]   from the runs of channel-split.sh

Differences of accuracy are paired by seed and test image; their intervals are the middle 95 % of 1,000 draws of seeds and of images (four at a time), both
with replacement.
"""
import csv
import glob
import json
import os
import random
import struct
import sys

DRAWS = 1000
PARTS = ("test", "noisy", "shifted")


# ---- images: what is not needed to train with becomes test images, which make intervals narrower

TRAIN = 1500


def read_idx(path):
    with open(path, "rb") as file:
        data = file.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return data[2], shape, data[4 + 4 * rank:]


def write_idx(path, kind, shape, data):
    with open(path + ".part", "wb") as file:
        file.write(bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data)
    os.rename(path + ".part", path)


def halve(images, side):
    """Means of 2 x 2 pixels."""
    rows = []
    for top in range(0, len(images), 2 * side):
        upper, lower = images[top:top + side], images[top + side:top + 2 * side]
        sums = map(sum, zip(upper[::2], upper[1::2], lower[::2], lower[1::2]))
        rows.append(bytes((total + 2) // 4 for total in sums))
    return b"".join(rows)


def make_set(source, folder, kinds, more=None, change=None):
    """The first TRAIN samples to train with; the next ones and the test part to test with."""
    os.makedirs(folder + ".part", exist_ok=True)
    for kind in kinds:
        code, shape, first = read_idx(f"{source}/train-{kind}")
        _, _, second = read_idx(f"{source}/test-{kind}")
        sides = shape[1:]
        if change and sides:
            first, second, sides = change(first, sides[0]), change(second, sides[0]), tuple(side // 2 for side in sides)
        size = len(first) // shape[0]
        end = None if more is None else (TRAIN + more) * size
        test = first[TRAIN * size:end] + second
        write_idx(f"{folder}.part/train-{kind}", code, (TRAIN,) + sides, first[:TRAIN * size])
        write_idx(f"{folder}.part/test-{kind}", code, (len(test) // size,) + sides, test)
    os.rename(folder + ".part", folder)


def make_data(source, folder):
    images = ("images-idx3-ubyte", "labels-idx1-ubyte")
    for name, made in (("fashion-14", lambda path: make_set(source + "/fashion", path, images, 2000, halve)),
                       ("fashion-more", lambda path: make_set(source + "/fashion", path, images)),
                       ("spoken-more", lambda path: make_set(source + "/fsdd-mfcc", path, ("mfcc-idx3-byte", "labels-idx1-ubyte")))):
        if not os.path.exists(f"{folder}/{name}"):
            made(f"{folder}/{name}")


# ---- runs


class Mapping:
    """One split of one seed: what it costs, and how many of every four test images it gets right."""

    def __init__(self, trial, answers):
        cost = trial["cost"]
        self.cycles, self.energy, self.validation = cost["cycles"], cost["energy"] / 1e6, cost["accuracy"]
        self.first = trial["point"].count(0) / max(1, len(trial["point"]))  # share of channels on the first option
        self.right = {part: [bin(int(digit, 16)).count("1") for digit in text] for part, text in answers.items()}

    def accuracy(self, part="test"):
        return 25 * mean(self.right[part])  # the last digit is full: sets have multiples of 4


def read_run(folder):
    mappings, answers, warnings = [], {}, 0
    with open(folder + "/run.jsonl") as log:
        for line in log:
            row = json.loads(line)
            if row["type"] == "note" and row["name"] == "answers":
                answers[row["value"]["part"]] = row["value"]["right"]
            elif row["type"] == "note" and row["name"] == "warning":
                warnings += 1
            elif row["type"] == "trial":
                if not row.get("warm"):  # told from another run, counted there
                    mappings.append(Mapping(row, answers))
                answers = {}
    for mapping in mappings:
        mapping.warnings = warnings / len(mappings)
    if "_polished-" in folder:  # they come from the cheapest on, equal ones once
        mappings.sort(key=lambda m: m.cycles)
    return mappings


class Study:
    """Points: a fixed mapping, or one strength of a search, with a mapping for each seed."""

    def __init__(self, root, name):
        self.runs, self.cpu = {}, 0  # of a method: seed -> mappings
        for path in sorted(glob.glob(f"{root}/{name}/*/cpu_s")):
            method, seed = os.path.basename(os.path.dirname(path)).rsplit("-", 1)
            self.runs.setdefault(method, {})[int(seed)] = read_run(os.path.dirname(path))
            with open(path) as file:
                self.cpu += sum(float(line) for line in file)
        self.points = {}
        for method, runs in self.runs.items():
            count = min(len(run) for run in runs.values())
            for i in range(count):
                key = (method, i if count > 1 else None)
                self.points[key] = {seed: run[i] for seed, run in runs.items()}
        self.fixed = [key for key in self.points if key[1] is None and key[0] not in ("target", "high") and not key[0].startswith("energy_")]

    def of(self, *methods):
        return [key for key in self.points if key[0] in methods]

    def mean(self, key, what, seeds=None):
        return mean(what(m) for seed, m in self.points[key].items() if seeds is None or seed in seeds)

    def cycles(self, key, seeds=None):
        return self.mean(key, lambda m: m.cycles, seeds)

    def accuracy(self, key, part="test", seeds=None):
        return self.mean(key, lambda m: m.accuracy(part), seeds)

    def difference(self, a, b, part="test"):
        seeds = sorted(set(self.points[a]) & set(self.points[b]))
        return difference([(self.points[a][s].right[part], self.points[b][s].right[part]) for s in seeds])


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def difference(pairs):
    """Mean and half-width, in points, of pairs of right answers, one pair per seed."""
    rows = [[x - y for x, y in zip(a, b)] for a, b in pairs]
    blocks = len(rows[0])
    draw = random.Random(1)
    means = []
    for _ in range(DRAWS):
        columns = draw.choices(range(blocks), k=blocks)
        means.append(25 * mean(mean(map(row.__getitem__, columns)) for row in draw.choices(rows, k=len(rows))))
    means.sort()
    low, high = means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]
    return 25 * mean(mean(row) for row in rows), (high - low) / 2


def price(value):
    return f"{value:.0f}" if value > 1000 else f"{value:.3f}"


def signed(pair):
    return f"{pair[0]:+.2f} ± {pair[1]:.2f}"


def table(head, rows):
    """Rows that differ in the name alone become one."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    names = {}
    for row in rows:
        names.setdefault(tuple(row[1:]), []).append(row[0])
    for cells, equal in names.items():
        print("| " + " | ".join([", ".join(equal)] + [str(cell) for cell in cells]) + " |")
    print()


def name(key, strengths=()):
    method, index = key
    if index is None:
        return "searched, 10" if method == "high" else method
    if method in ("low", "energy_low"):
        return f"{'searched' if method == 'low' else 'energy'}, {(0.003, 0.03)[index]}"
    return f"{method}, no. {index + 1}" if method.endswith("_polished") else f"{method}, {strengths[index]}"


# ---- tables


def all_points(study, reference, strengths, methods=None):
    """Every mapping beside the reference; what changed test images do to it."""
    rows = []
    keys = [key for key in study.points if methods is None or key[0] in methods or key in study.fixed]
    for key in sorted(keys, key=study.cycles):
        row = [name(key, strengths), len(study.points[key]), f"{study.cycles(key):.0f}",
               f"{study.mean(key, lambda m: m.energy):.3f}", f"{100 * study.mean(key, lambda m: m.first):.0f}"]
        for part in PARTS:
            row.append(f"{study.accuracy(key, part):.2f}")
        row.append("" if key == reference else signed(study.difference(key, reference)))
        rows.append(row)
    table(["mapping, strength", "seeds", "cycles", "energy uJ", "% on the first unit", "test", "noisy", "shifted",
           f"test against {reference[0]}"], rows)


def front_profile(study, mode, seed, low, high):
    """Right answers of the best mapping within a budget, in the mean over 100 budgets."""
    mappings = [run[seed] for key, run in study.points.items() if key[0] == mode]
    start = study.points[("io_8bit", None)][seed]
    profile = [0.0] * len(start.right["test"])
    for i in range(100):
        budget = low + (high - low) * (i + 0.5) / 100
        best = max((m for m in mappings if m.cycles <= budget), key=Mapping.accuracy, default=start)
        profile = [p + r / 100 for p, r in zip(profile, best.right["test"])]
    return profile


def gradients(study, modes):
    low = min(m.cycles for runs in study.points.values() for m in runs.values())
    high = study.cycles(("all_8bit", None))
    seeds = sorted(set.intersection(*(set(study.runs[m]) for m in modes)))
    profiles = {mode: [front_profile(study, mode, seed, low, high) for seed in seeds] for mode in modes}
    rows = []
    for mode in modes:
        keys = study.of(mode)
        rows.append([mode, f"{25 * mean(map(mean, profiles[mode])):.2f}",
                     "" if mode == modes[0] else signed(difference(list(zip(profiles[mode], profiles[modes[0]])))),
                     " ".join(f"{study.cycles(k, seeds) / high:.2f}" for k in keys),
                     " ".join(f"{study.accuracy(k, seeds=seeds):.1f}" for k in keys),
                     f"{mean(m.warnings for k in keys for m in study.points[k].values()):.1f}"])
    table(["gradient", "front", f"against {modes[0]}", "cycles by strength, of all_8bit", "accuracy by strength",
           "warnings per search"], rows)


def matched(study, searched, strengths, cost):
    """For each fixed mapping the best strength that costs no more: is it as accurate?"""
    rows = []
    for fixed in sorted(study.fixed, key=study.cycles):
        limit = study.mean(fixed, cost) * (1 + 1e-9)
        keys = [key for key in searched if study.mean(key, cost) <= limit]
        if not keys:
            rows.append([fixed[0], price(limit), "none costs so little", "", "no"])
            continue
        best = max(keys, key=study.accuracy)
        gap = study.difference(best, fixed)
        verdict = "better" if gap[0] > gap[1] else "matched" if gap[0] >= -gap[1] else "no"
        rows.append([fixed[0], price(limit), f"{name(best, strengths)}: {price(study.mean(best, cost))}", signed(gap), verdict])
    table(["fixed mapping", "its cost", "searched, at most that", "points", ""], rows)


def claim(study, searched, strengths, reference, cost):
    """The cheapest mapping by hand within half a point of the reference, and the searched splits beside it."""
    near = [key for key in study.fixed if not key[0].startswith("sensitivity") and study.accuracy(key) >= study.accuracy(reference) - 0.5]
    cheapest = min(near, key=lambda key: study.mean(key, cost))
    print(f"{cheapest[0]} is the cheapest mapping by hand within 0.5 points of {reference[0]}: {price(study.mean(cheapest, cost))}, {study.accuracy(cheapest):.2f} %\n")
    rows = []
    for key in sorted(searched, key=lambda key: study.mean(key, cost)):
        ratio = study.mean(key, cost) / study.mean(cheapest, cost)
        if ratio < 1:
            rows.append([name(key, strengths), price(study.mean(key, cost)), f"{100 * (ratio - 1):+.0f} %", signed(study.difference(key, cheapest))])
    table(["searched", "cost", "against it", "points"], rows)


def changed(study, reference, strengths, methods):
    """What noise and shifts leave of a mapping's distance to the reference."""
    rows = []
    for key in sorted(study.fixed + study.of(*methods), key=study.cycles):
        if key != reference:
            rows.append([name(key, strengths)] + [signed(study.difference(key, reference, part)) for part in PARTS])
    table(["mapping, strength", "test", "noisy", "shifted"], rows)


def cycles(mapping):
    return mapping.cycles


def energy(mapping):
    return mapping.energy


def diana(root, folder, strengths, modes, searched_methods, energy_methods, others=()):
    study = Study(root, folder)
    if ("all_8bit", None) not in study.points:
        return
    print(f"## {folder}: {study.cpu / 3600:.2f} CPU-hours\n")
    all_points(study, ("all_8bit", None), strengths, searched_methods + energy_methods + others)
    if modes:
        gradients(study, modes)
        changed(study, ("all_8bit", None), strengths, searched_methods)
    for cost, methods in ((cycles, searched_methods), (energy, energy_methods)):
        print(f"### by {cost.__name__}\n")
        searched = study.of(*methods)
        matched(study, searched, strengths, cost)
        claim(study, searched, strengths, ("all_8bit", None), cost)


def fixed_part(folder):
    """Cycles and uJ of the layers that have one option only."""
    layers = {}
    with open(folder + "/split.csv") as file:
        for cells in list(csv.reader(file))[1:]:
            layers.setdefault(cells[0], []).append((float(cells[7]), float(cells[8]) / 1e6))
    alone = [rows[0] for rows in layers.values() if len(rows) == 1]
    return sum(row[0] for row in alone), sum(row[1] for row in alone)


def darkside(root, folder, strengths, rivals=()):
    study = Study(root, folder)
    conv = ("all_conv", None)
    if conv not in study.points:
        return
    print(f"## {folder}: {study.cpu / 3600:.2f} CPU-hours\n")
    cycles_of_rest, energy_of_rest = fixed_part(f"{root}/{folder}/all_conv-{min(study.points[conv])}")
    rivals = [(rival, None) for rival in ("all_conv",) + rivals]
    rows = []
    for key in sorted(study.points, key=study.cycles):
        costs = [study.mean(key, cycles), study.mean(key, energy)]
        times = [study.mean(conv, cycles) / costs[0], study.mean(conv, energy) / costs[1],
                 (study.mean(conv, cycles) - cycles_of_rest) / (costs[0] - cycles_of_rest),
                 (study.mean(conv, energy) - energy_of_rest) / (costs[1] - energy_of_rest)]
        rows.append([name(key, strengths), len(study.points[key]), f"{costs[0]:.0f}", f"{costs[1]:.1f}"] + [f"{t:.2f}x" for t in times] +
                    [f"{study.accuracy(key, part):.2f}" for part in PARTS] +
                    ["" if key == other else signed(study.difference(key, other)) for other in rivals])
    table(["mapping, strength", "seeds", "cycles", "energy uJ", "latency, network", "energy, network", "latency, searchable layers",
           "energy, searchable layers", "test", "noisy", "shifted"] + [f"against {rival[0]}" for rival in rivals], rows)
    matched(study, study.of("searched", "high"), strengths, cycles)


def remedies(study, strengths, default):
    """Two strengths of each change beside the same two of the default."""
    few = [strengths.index(10), strengths.index(100)]
    rows = []
    for method in sorted(study.runs):
        if method in ("epochs", "faster", "gumbel", "sigmoid", "montecarlo", "ramp", "target"):
            for i, key in enumerate(study.of(method)):
                other = (default, few[i] if key[1] is not None else few[1])
                rows.append([method if key[1] is None else f"{method}, {strengths[few[i]]}", f"{study.cycles(key):.0f}",
                             f"{study.cycles(other, study.points[key]):.0f}", f"{study.accuracy(key):.2f}", signed(study.difference(key, other))])
    if rows:
        table(["change, strength", "cycles", "cycles of the default", "test", "points against the default"], rows)


def tables(root):
    hard = Study(root, "hard")
    modes = [mode for mode in ("exact", "chord", "expected", "ste", "score") if mode in hard.runs]
    default = "exact"
    diana(root, "hard", (0.03, 0.3, 3, 10, 100), modes, (default, default + "_polished"), ("energy", "energy_polished"),
          ("energy_expected",))
    remedies(hard, (0.03, 0.3, 3, 10, 100), default)
    for folder in ("fashion", "spoken"):
        methods = ("low", "searched", "searched_polished")
        diana(root, folder, (0.3, 10, 100), [], methods, methods + ("energy", "energy_polished", "energy_low", "energy_low_polished"),
              ("energy_expected", "energy_epochs", "energy_faster"))
    darkside(root, "darkside_24", (0.1, 1), ("all_depthwise",))
    darkside(root, "darkside", (0.01, 0.1, 1), ("conv_24_epochs",))


if __name__ == "__main__":
    if sys.argv[1] == "data":
        make_data(sys.argv[2], sys.argv[3])
    else:
        tables(sys.argv[2])
