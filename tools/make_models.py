#!/usr/bin/env python3
"""Writes the built-in architectures that are not exported from a framework: vgg11, vgg13, vgg19, resnet34.

    python3 tools/make_models.py models

ONNX without weights: they are declared as external data in weights.bin, which does not exist."""
import sys


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def ints(name, values):
    return field(5, field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7))


def integer(name, value):
    return field(5, field(1, name) + field(3, value) + field(20, 2))


class Network:
    def __init__(self, name):
        self.name, self.body, self.count = name, b"", 0

    def weight(self, name, dims):
        external = field(13, field(1, "location") + field(2, "weights.bin"))
        tensor = b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + external + field(14, 1)
        self.body += field(5, tensor)
        return name

    def node(self, kind, inputs, attributes=b"", name=None):
        self.count += 1
        output = f"t{self.count}"
        node = b"".join(field(1, i) for i in inputs) + field(2, output)
        self.body += field(1, node + field(3, name or f"{kind.lower()}{self.count}") + field(4, kind) + attributes)
        return output

    def conv(self, name, x, ci, co, kernel, stride=1, pad=None):
        pad = kernel // 2 if pad is None else pad
        w = self.weight(name + ".weight", [co, ci, kernel, kernel])
        attributes = (ints("kernel_shape", [kernel] * 2) + ints("strides", [stride] * 2) + ints("pads", [pad] * 4))
        return self.node("Conv", [x, w], attributes, name)

    def relu(self, x):
        return self.node("Relu", [x])

    def pool(self, x, kernel, stride, pad=0):
        attributes = ints("kernel_shape", [kernel] * 2) + ints("strides", [stride] * 2) + ints("pads", [pad] * 4)
        return self.node("MaxPool", [x], attributes)

    def dense(self, name, x, ci, co):
        w = self.weight(name + ".weight", [co, ci])
        return self.node("Gemm", [x, w], integer("transB", 1), name)

    def write(self, folder, output, classes=1000):
        def value(name, dims):
            shape = b"".join(field(1, field(1, d)) for d in dims)
            return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

        graph = self.body + field(2, self.name) + field(11, value("input", [1, 3, 224, 224]))
        graph += field(12, value(output, [1, classes]))
        model = field(1, 8) + field(2, "mercator") + field(7, graph) + field(8, field(2, 17))
        with open(f"{folder}/{self.name}.onnx", "wb") as file:
            file.write(model)


def vgg(folder, depth, blocks):
    net, x, ci = Network(f"vgg{depth}"), "input", 3
    for b, (layers, co) in enumerate(zip(blocks, [64, 128, 256, 512, 512]), 1):
        for l in range(1, layers + 1):
            x, ci = net.relu(net.conv(f"conv{b}_{l}", x, ci, co, 3)), co
        x = net.pool(x, 2, 2)
    x = net.node("Flatten", [x])
    x = net.relu(net.dense("fc6", x, 512 * 7 * 7, 4096))
    x = net.relu(net.dense("fc7", x, 4096, 4096))
    net.write(folder, net.dense("fc8", x, 4096, 1000))


def resnet34(folder):
    net = Network("resnet34")
    x, ci = net.pool(net.relu(net.conv("conv1", "input", 3, 64, 7, 2)), 3, 2, 1), 64
    for g, (blocks, co) in enumerate(zip([3, 4, 6, 3], [64, 128, 256, 512]), 1):
        for b in range(blocks):
            stride = 2 if g > 1 and b == 0 else 1
            y = net.relu(net.conv(f"layer{g}.{b}.conv1", x, ci, co, 3, stride))
            y = net.conv(f"layer{g}.{b}.conv2", y, co, co, 3)
            if ci != co:
                x = net.conv(f"layer{g}.{b}.downsample", x, ci, co, 1, stride, 0)
            x, ci = net.relu(net.node("Add", [y, x])), co
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    net.write(folder, net.dense("fc", x, 512, 1000))


if __name__ == "__main__":
    vgg(sys.argv[1], 11, [1, 1, 2, 2, 2])
    vgg(sys.argv[1], 13, [2, 2, 2, 2, 2])
    vgg(sys.argv[1], 19, [2, 2, 4, 4, 4])
    resnet34(sys.argv[1])
