#!/usr/bin/env python3
"""Tables of docs/studies/placement.md, from the runs of placement.sh.

    python3 experiments/placement.py runs/placement GRAPHS PROGRAM

GRAPHS and PROGRAM as given to placement.sh; they price the expert splits of the published graphs.
"""
import glob
import json
import os
import subprocess
import sys

ROOT, GRAPHS, PROGRAM = sys.argv[1:4]


def trials(run):
    """Scores in the order of the log, ms; and the indices that were most likely placements."""
    scores, greedy = [], []
    with open(run + "/run.jsonl") as log:
        for line in log:
            row = json.loads(line)
            if row["type"] == "trial":
                scores.append((row.get("score") or float("inf")) * 1e3)
            elif row["type"] == "note" and row.get("name") == "greedy":
                greedy.append(row["value"]["trial"])
    return scores, greedy


def value(run):
    with open(run + "/summary.json") as file:
        best = json.load(file)["best"]
    return best["score"] * 1e3 if best.get("score") is not None else float("inf")


def cpu(run):
    with open(run + "/cpu_s") as file:
        return float(file.read().split()[-1])


def seeds(name):
    return sorted(glob.glob(f"{ROOT}/{name}-[0-9]"))


def spread(values, digits=2):
    if not values:
        return "-"
    middle = sorted(values)[len(values) // 2]
    if min(values) == max(values):
        return f"{middle:.{digits}f}"
    return f"{middle:.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def likely(name):
    """The arg-max placement: the last trial of a learned policy."""
    return [trials(run)[0][-1] for run in seeds(name)]


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def graphs_of(folder):
    return sorted(os.path.basename(path) for path in glob.glob(f"{ROOT}/{folder}/*") if os.path.isdir(path))


def bars():
    learned = ["go", "hdp", "reinforce_lstm"]
    others = ["random", "annealing", "cross_entropy", "genetic"]
    print("## At most 5,000 samples, ms: median of 3 seeds (least-most); policies: their most likely placement\n")
    rows = []
    for graph in graphs_of("bars"):
        row = [graph]
        row += [spread(likely(f"bars/{graph}/{o}")) for o in learned]
        row += [spread([value(run) for run in seeds(f"bars/{graph}/{o}")]) for o in others]
        row += [spread([value(run) for run in seeds(f"bars/{graph}/{o}")]) for o in ("expert", "exact", "portfolio")]
        rows.append(row)
    table(["graph"] + learned + others + ["expert", "contiguous optimum", "portfolio"], rows)
    print("## The same, the best placement met\n")
    table(["graph"] + learned, [[graph] + [spread([value(run) for run in seeds(f"bars/{graph}/{o}")]) for o in learned]
                                for graph in graphs_of("bars")])
    print("## CPU-seconds of a run\n")
    table(["graph"] + learned + others, [[graph] + [spread([cpu(run) for run in seeds(f"bars/{graph}/{o}")], 1) for o in learned + others]
                                         for graph in graphs_of("bars")])


def until(run, limit):
    scores, _ = trials(run)
    for i, score in enumerate(scores):
        if score <= limit:
            return i + 1
    return 5000


def transfer(folder="transfer", title="Pre-trained on the other golden graphs"):
    print(f"## {title}: most likely placement, ms; samples until within 10 % of the contiguous optimum\n")
    rows = []
    for graph in graphs_of(folder):
        best = value(f"{ROOT}/bars/{graph}/exact-1")
        row = [graph, f"{best:.2f}"]
        row += [spread(likely(f"{folder}/{graph}/{way}")) if way != "zero" else
                spread([trials(run)[0][0] for run in seeds(f"{folder}/{graph}/zero")]) for way in ("zero", "tuned", "fresh")]
        needed = {way: [until(run, 1.1 * best) for run in seeds(name)]
                  for way, name in (("tuned", f"{folder}/{graph}/tuned"), ("fresh", f"{folder}/{graph}/fresh"), ("hdp", f"bars/{graph}/hdp"))}
        row += [spread(needed[way], 0) for way in ("tuned", "fresh", "hdp")]
        ratios = [b / a for a, b in zip(needed["tuned"], needed["hdp"])]
        row.append(spread(ratios, 1))
        with_cpu = glob.glob(f"{ROOT}/transfer-{graph}-*.policy.cpu_s")
        row.append(spread([float(open(path).read().split()[-1]) for path in with_cpu if os.path.getsize(path)], 0))
        rows.append(row)
    table(["graph", "optimum", "zero-shot", "50 updates", "50 updates, not pre-trained", "samples: tuned", "not pre-trained", "hdp",
           "hdp / tuned", "CPU-s of pre-training"], rows)


def unseen():
    transfer("unseen", "Pre-trained on all golden graphs, PipeDream's graphs")


def expert():
    print("## go against the experts' splits of the published files\n")
    rows, gains = [], []
    for graph in ("bert24_training", "gnmt_inference", "resnet50_inference"):
        file = f"{GRAPHS}/msr-expert/{graph}_expert.json"
        workload = f"{GRAPHS}/msr-throughput-layer/{graph}.json"
        out = subprocess.run([PROGRAM, "evaluate", file, "--workload", workload, "--evaluator", "maxload:price_infeasible=true", "--json"],
                             capture_output=True, text=True, check=False).stdout
        split = json.loads(out)["tasks"][0]["best"]["period"] * 1e3
        go = likely(f"bars/{graph}/go")
        gain = [1 - g / split for g in go]
        gains.append(sum(gain) / len(gain))
        rows.append([graph, f"{split:.2f}", spread(go), spread([100 * g for g in gain], 1)])
    table(["graph", "expert ms", "go ms", "less, %"], rows)
    print(f"mean {100 * sum(gains) / len(gains):.1f} %\n")


def ablation():
    print("## Ablation of go: most likely placement after 5,000 samples, ms\n")
    graphs = graphs_of("ablation")
    changes = ["none", "embedding=0", "attention=false", "modulation=false", "rounds=0", "rounds=2", "pairs=false", "positions=false", "improve=0",
               "start=none"]
    table(["change"] + graphs + [f"best met, {graph}" for graph in graphs],
          [[change] + [spread(likely(f"ablation/{graph}/{change}")) for graph in graphs] +
           [spread([value(run) for run in seeds(f"ablation/{graph}/{change}")]) for graph in graphs] for change in changes])
    print("## Co-location: makespan on four-v100-nvlink after 2,000 samples, ms\n")
    table(["groups"] + [f"{n}, {o}" for n in graphs_of("colocation") for o in ("go", "annealing")],
          [[way] + [spread([value(run) for run in seeds(f"colocation/{n}/{way}-{o}")], 3) for n in graphs_of("colocation") for o in ("go", "annealing")]
           for way in ("off", "output", "group", "blocks")])


def matrix():
    print("## Trained on one family, tried on all graphs: zero-shot / after 50 updates, ms\n")
    rows = []
    for graph in graphs_of("transfer"):
        row = [graph]
        for family in ("bert", "gnmt", "resnet"):
            zero = [trials(run)[0][0] for run in seeds(f"matrix/{family}/{graph}-zero")]
            row.append(spread(zero) + " / " + spread(likely(f"matrix/{family}/{graph}-tuned")))
        row.append(spread([trials(run)[0][0] for run in seeds(f"transfer/{graph}/fresh")]) + " / " + spread(likely(f"transfer/{graph}/fresh")))
        rows.append(row)
    table(["graph", "bert", "gnmt", "resnet", "not trained"], rows)


def single_fused(run):
    """Best trial with all groups on one unit and some fusion."""
    best, third = float("inf"), 0
    with open(run + "/run.jsonl") as log:
        for line in log:
            row = json.loads(line)
            if row["type"] == "trial":
                third = len(row["point"]) // 3
                if len(set(row["point"][:third])) == 1 and any(row["point"][2 * third:]):
                    best = min(best, row["score"] * 1e3)
    return best


def tasks():
    print("## Placement, order and fusion on four-v100-nvlink: makespan, ms (best of 5,000 samples, bert_base 2,000)\n")
    rows = []
    for n in graphs_of("tasks"):
        row = [n] + [spread([value(run) for run in seeds(f"tasks/{n}/go-{d}")], 3) for d in ("place", "place,order", "place,fuse", "place,order,fuse")]
        joint = [value(run) for run in seeds(f"tasks/{n}/go-place,order,fuse")]
        split = value(f"{ROOT}/tasks/{n}/expert-1")
        row += [f"{value(f'{ROOT}/tasks/{n}/single-1'):.3f}", f"{single_fused(f'{ROOT}/tasks/{n}/portfolio-place,order,fuse-1'):.3f}", f"{split:.3f}",
                f"{value(f'{ROOT}/tasks/{n}/portfolio-place,order,fuse-1'):.3f}", spread([100 * (1 - j / split) for j in joint], 1)]
        rows.append(row)
    table(["network", "place", "place, order", "place, fuse", "all three", "single", "single, greedy fusion", "expert", "portfolio, all three",
           "all three below expert, %"], rows)


def same_time():
    print("## About equal processor time on resnet50_inference: ms, CPU-s\n")
    rows = []
    for way, name in (("go, 5,000 samples", "bars/resnet50_inference/go"), ("hdp, 5,000", "bars/resnet50_inference/hdp"),
                      ("reinforce_lstm, 5,000", "bars/resnet50_inference/reinforce_lstm"), ("annealing", "time/annealing"), ("genetic", "time/genetic"),
                      ("cross_entropy", "time/cross_entropy"), ("place_annealing", "time/place_annealing"), ("portfolio", "time/portfolio"),
                      ("go, 2,500, then annealing", "time/go-then-annealing")):
        runs = seeds(name)
        spent = [cpu(run) for run in runs]
        if way.startswith("go, 2,500"):
            spent = [a + b for a, b in zip(spent, [cpu(run) for run in seeds("time/go-half")])]
        rows.append([way, spread([value(run) for run in runs], 3), spread(spent, 1)])
    table(["", "best ms", "CPU-s"], rows)


def noise():
    print("## Noise in what the search is told: true value of the best placement met, resnet50_inference, 5,000 samples, ms\n")
    table(["sigma", "go", "annealing", "cross_entropy"],
          [[sigma] + [spread([value(run) for run in seeds(f"noise/{o}-{sigma}")]) for o in ("go", "annealing", "cross_entropy")]
           for sigma in ("0", "0.05", "0.1", "0.2", "0.5")])


def hours():
    total = sum(cpu(os.path.dirname(path)) for path in glob.glob(f"{ROOT}/**/cpu_s", recursive=True))
    total += sum(float(open(path).read().split()[-1]) for path in glob.glob(f"{ROOT}/*.policy.cpu_s"))
    print(f"CPU-hours of all runs: {total / 3600:.1f}")


PARTS = [bars, transfer, unseen, expert, ablation, matrix, tasks, same_time, noise, hours]
for part in [p for p in PARTS if len(sys.argv) < 5 or p.__name__ in sys.argv[4:]]:
    part()
