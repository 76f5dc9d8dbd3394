"""Training rates beside PyTorch's: images per second of the processor on one thread, both programs in turn, the best of all turns.

    python3 bench/train_torch.py [BENCH_TRAIN] [TURNS]

BENCH_TRAIN is build/bench/bench_train (the target of that name). PyTorch gets the same layers, batch (64), SGD with momentum and
decay, and images of numbers; every turn is the best of 5 times 2 steps. Nothing is read from outside and no test needs this."""
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

BATCH, REPEATS, STEPS = 64, 5, 2


def conv(inputs, outputs, kernel, stride=1, groups=1, padding=None, norm=True, relu=True):
    padding = kernel // 2 if padding is None else padding
    parts = [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=not norm)]
    parts += [nn.BatchNorm2d(outputs)] if norm else []
    parts += [nn.ReLU()] if relu else []
    return nn.Sequential(*parts)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, shortcut_norm):
        super().__init__()
        self.first = conv(inputs, outputs, 3, stride)
        self.second = conv(outputs, outputs, 3, relu=False)
        self.shortcut = (conv(inputs, outputs, 1, stride, padding=0, norm=shortcut_norm, relu=False)
                         if stride > 1 else nn.Identity())

    def forward(self, x):
        return F.relu(self.second(self.first(x)) + self.shortcut(x))


def tail(channels, classes):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


def resnet(blocks, shortcut_norm):
    parts, inputs = [conv(3, 16, 3)], 16
    for outputs in (16, 32, 64):
        for b in range(blocks):
            parts.append(Block(inputs, outputs, 2 if b == 0 and outputs > 16 else 1, shortcut_norm))
            inputs = outputs
    return nn.Sequential(*parts, *tail(64, 10))


def separable(inputs, outputs, stride=1):
    return [conv(inputs, inputs, 3, stride, groups=inputs), conv(inputs, outputs, 1, padding=0)]


def mobilenet(width):
    parts, inputs = [conv(3, int(32 * width), 3, 2)], int(32 * width)
    for outputs, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1),
                            (512, 1), (512, 1), (1024, 2), (1024, 1)):
        parts += separable(inputs, int(outputs * width), stride)
        inputs = int(outputs * width)
    return nn.Sequential(*parts, *tail(inputs, 10))


def ds_cnn():
    parts = [conv(1, 64, (10, 4), 2, padding=(5, 1))]
    for _ in range(4):
        parts += separable(64, 64)
    return nn.Sequential(*parts, *tail(64, 10))


NETWORKS = {
    "resnet8@input=3x32x32": (lambda: resnet(1, False), (3, 32, 32)),
    "resnet20": (lambda: resnet(3, True), (3, 32, 32)),
    "ds_cnn": (ds_cnn, (1, 49, 10)),
    "mobilenet_v1@width=0.25@input=3x32x32": (lambda: mobilenet(0.25), (3, 32, 32)),
    "mobilenet_v1@width=0.25@input=3x96x96": (lambda: mobilenet(0.25), (3, 96, 96)),
}


class Torch:
    def __init__(self, make, shape):
        torch.manual_seed(1)
        self.net = make().train()
        self.updater = torch.optim.SGD(self.net.parameters(), 1e-3, momentum=0.9, weight_decay=5e-4)
        self.images = (torch.arange(BATCH * torch.Size(shape).numel()) % 97 / 97.0).reshape(BATCH, *shape)
        self.labels = torch.zeros(BATCH, dtype=torch.long)

    def step(self):
        self.updater.zero_grad()
        F.cross_entropy(self.net(self.images), self.labels).backward()
        self.updater.step()

    def rate(self):
        best = 1e30
        for repeat in range(REPEATS + 1):  # the first only warms up
            start = time.process_time()
            for _ in range(STEPS):
                self.step()
            best = min(best, (time.process_time() - start) / STEPS) if repeat > 0 else best
        return BATCH / best


def ours(program, network):
    out = subprocess.run([program, network, "diana"], check=True, capture_output=True, text=True).stdout
    rates = dict(line.split()[:2] for line in out.splitlines())
    return float(rates[network + "_float"]), float(rates[network + "_quantised"])


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bench_train"
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    torch.set_num_threads(1)
    print("| network | float | with quantisers and mixed units | PyTorch", torch.__version__, "| float / PyTorch |")
    print("|---|---|---|---|---|")
    for network, (make, shape) in NETWORKS.items():
        rival, best = Torch(make, shape), [0.0, 0.0, 0.0]
        for _ in range(turns):
            best = [max(a, b) for a, b in zip(best, (*ours(program, network), rival.rate()))]
        print("| %s | %.0f | %.0f | %.0f | %.2f |" % (network, *best, best[0] / best[2]), flush=True)


if __name__ == "__main__":
    main()
