# SPDX-License-Identifier: Apache-2.0
"""Random float networks, layer by layer: what scripts/write_random_networks quantises."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def out_size(size, kernel, stride, pads, dilation, up=False):
    span = (kernel - 1) * dilation + 1
    return (size + pads - span + (stride - 1 if up else 0)) // stride + 1


class FloatNetwork:
    """Float nodes, with the sizes of all tensors."""

    def __init__(self, seed, least_opset, batch=None):
        self.random = np.random.default_rng(seed)
        self.batch = batch or (1 if self.chance(0.85) else int(self.random.integers(2, 5)))
        self.opset = int(self.random.integers(least_opset, 18))
        self.nodes, self.constants, self.sizes = [], {}, {}
        side = int(self.random.integers(6, 20))
        self.maps = []
        self.input = self.new("input", (self.batch, self.pick([1, 2, 3, 3, 4, 8, 16]), side,
                                        side + int(self.random.integers(0, 4))))
        for _ in range(int(self.random.integers(2, 9))):
            self.step()
        if self.chance(0.6):
            self.classify()
        read = {name for node in self.nodes for name in node.input}
        self.outputs = [name for name in self.sizes if name not in read and name != self.input]
        if not self.outputs:
            self.convolve(self.input)
            self.outputs = [self.maps[-1]]

    def chance(self, share):
        return self.random.random() < share

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low, high):
        return int(self.random.integers(low, high + 1))

    def new(self, name, sizes):
        self.sizes[name] = tuple(int(size) for size in sizes)
        self.maps.append(name)
        return name

    def constant(self, name, array):
        self.constants[name] = array
        return name

    def numbers(self, sizes, deviation=1.0):
        return self.random.normal(0, deviation, sizes).astype(np.float32)

    def node(self, op, inputs, sizes, outputs=None, **attributes):
        """Adds a node with one new map of these sizes."""
        name = f"{op.lower()}_{len(self.nodes)}"
        names = outputs or [f"{name}_y"]
        self.nodes.append(helper.make_node(op, inputs, names, name=name, **attributes))
        for one in names:
            self.new(one, sizes)
        return names[-1]

    def step(self):
        cubes = [name for name in self.maps if len(self.sizes[name]) == 4]
        x = cubes[-1] if self.chance(0.7) else self.pick(cubes)
        steps = [self.convolve] * 6 + [self.transposed, self.max_pool, self.average_pool, self.add, self.add,
                                       self.concatenate, self.slice, self.split, self.activate, self.resize,
                                       self.shuffle, self.normalise, self.scale, self.pad]
        self.pick(steps)(x)

    def pads(self, kernel, axes, auto=True):
        """Attributes, and the sum on each axis; of all sizes."""
        most = [kernel[i] // 2 for i in range(axes)]
        if self.chance(0.6):
            begin = end = most
        else:
            begin = [self.whole(0, one) for one in most]
            end = [self.whole(0, one) for one in most]
        return {"pads": [*begin, *end]}, [a + b for a, b in zip(begin, end)]

    def convolve(self, x, kernels=None):
        n, c, h, w = self.sizes[x]
        square = self.pick([1, 1, 3, 3, 3, 5, 7])
        kernel = [square, square if self.chance(0.85) else self.pick([1, 3])]
        dilation = [self.pick([1, 1, 1, 2, 3])] * 2
        stride = [self.pick([1, 1, 1, 2, 3])] * 2
        if any((kernel[i] - 1) * dilation[i] + 1 > (h, w)[i] for i in (0, 1)):
            kernel, dilation = [1, 1], [1, 1]
        attributes, total = self.pads([(kernel[i] - 1) * dilation[i] + 1 for i in (0, 1)], 2)
        groups = 1
        if self.chance(0.3):
            groups = self.pick([g for g in range(1, c + 1) if c % g == 0])
        kernels = kernels or groups * self.whole(1, max(1, 24 // groups))
        out = [out_size((h, w)[i], kernel[i], stride[i], total[i], dilation[i]) for i in (0, 1)]
        if self.chance(0.1) and dilation == [1, 1]:
            attributes = {"auto_pad": self.pick(["SAME_UPPER", "SAME_LOWER"])}
            out = [-(-size // stride[i]) for i, size in enumerate((h, w))]
        name = f"w{len(self.nodes)}"
        inputs = [x, self.constant(name, self.numbers((kernels, c // groups, *kernel),
                                                      (c // groups * kernel[0] * kernel[1]) ** -0.5))]
        if self.chance(0.8):
            inputs.append(self.constant(name + "_bias", self.numbers(kernels, 0.3)))
        if groups > 1:
            attributes["group"] = groups
        y = self.node("Conv", inputs, (n, kernels, *out), kernel_shape=kernel, strides=stride,
                      dilations=dilation, **attributes)
        self.follow(y)

    def follow(self, y):
        """An activation that quantisers fuse with the product."""
        if self.chance(0.5):
            self.rectify(y)

    def rectify(self, y):
        if self.chance(0.6):
            return self.node("Relu", [y], self.sizes[y])
        low, high = self.pick([(0, 6), (0, 1), (-1, 1), (0, None)])
        if self.opset < 11:
            limits = {"min": float(low)} | ({} if high is None else {"max": float(high)})
            return self.node("Clip", [y], self.sizes[y], **limits)
        inputs = [y, self.constant(f"low{len(self.nodes)}", np.array(low, np.float32))]
        if high is not None:
            inputs.append(self.constant(f"high{len(self.nodes)}", np.array(high, np.float32)))
        return self.node("Clip", inputs, self.sizes[y])

    def transposed(self, x):
        n, c, h, w = self.sizes[x]
        if h * w > 300:
            return
        kernel, stride = self.pick([(2, 2), (3, 2), (4, 2), (3, 1), (3, 3), (2, 1)])
        pad, more = self.whole(0, (kernel - 1) // 2), self.whole(0, stride - 1)
        kernels = self.whole(1, 12)
        name = f"w{len(self.nodes)}"
        inputs = [x, self.constant(name, self.numbers((c, kernels, kernel, kernel), (c * kernel) ** -0.5))]
        if self.chance(0.7):
            inputs.append(self.constant(name + "_bias", self.numbers(kernels, 0.3)))
        sizes = [(size - 1) * stride + kernel - 2 * pad + more for size in (h, w)]
        y = self.node("ConvTranspose", inputs, (n, kernels, *sizes), kernel_shape=[kernel] * 2,
                      strides=[stride] * 2, pads=[pad] * 4, output_padding=[more] * 2)
        self.follow(y)

    def window(self, x):
        n, c, h, w = self.sizes[x]
        kernel = self.pick([2, 2, 3, 3, 5, min(h, w)])
        kernel = min(kernel, h, w)
        stride = self.pick([1, 2, kernel])
        up = self.chance(0.2) and self.opset >= 10
        attributes, total = self.pads([kernel] * 2, 2)
        if up:
            attributes, total = {"pads": [0] * 4, "ceil_mode": 1}, [0, 0]
        sizes = [out_size((h, w)[i], kernel, stride, total[i], 1, up) for i in (0, 1)]
        if up and any((size - 1) * stride >= (h, w)[i] for i, size in enumerate(sizes)):
            del attributes["ceil_mode"]
            sizes = [out_size((h, w)[i], kernel, stride, 0, 1) for i in (0, 1)]
        return (n, c, *sizes), attributes | {"kernel_shape": [kernel] * 2, "strides": [stride] * 2}

    def max_pool(self, x):
        sizes, attributes = self.window(x)
        self.node("MaxPool", [x], sizes, **attributes)

    def average_pool(self, x):
        sizes, attributes = self.window(x)
        if self.chance(0.5):
            attributes["count_include_pad"] = 1
        self.node("AveragePool", [x], sizes, **attributes)

    def add(self, x):
        same = [name for name in self.maps if self.sizes[name] == self.sizes[x] and name != x]
        if not same:  # a residual
            n, c, h, w = self.sizes[x]
            name = f"w{len(self.nodes)}"
            self.constant(name, self.numbers((c, c, 3, 3), (9 * c) ** -0.5))
            same = [self.node("Conv", [x, name], (n, c, h, w), kernel_shape=[3, 3], pads=[1] * 4)]
        y = self.node("Add", self.pick([[x, same[-1]], [same[-1], x]]), self.sizes[x])
        self.follow(y)

    def concatenate(self, x):
        n, c, h, w = self.sizes[x]
        fits = [name for name in self.maps
                if len(self.sizes[name]) == 4 and self.sizes[name][2:] == (h, w) and name != x]
        others = fits[-2:] or [x]
        self.node("Concat", [x, *others], (n, c + sum(self.sizes[one][1] for one in others), h, w), axis=1)

    def slice(self, x):
        sizes = list(self.sizes[x])
        axis = self.pick([1, 2, 3])
        if sizes[axis] < 2 or self.opset < 10:
            return
        begin = self.whole(0, sizes[axis] - 2)
        end = self.whole(begin + 1, sizes[axis])
        sizes[axis] = end - begin
        parts = [self.constant(f"{part}{len(self.nodes)}", np.array([number], np.int64))
                 for part, number in (("begin", begin), ("end", end), ("axis", axis))]
        self.node("Slice", [x, *parts], sizes)

    def split(self, x):
        n, c, h, w = self.sizes[x]
        if c % 2:
            return
        names = [f"split{len(self.nodes)}_a", f"split{len(self.nodes)}_b"]
        self.node("Split", [x], (n, c // 2, h, w), names, axis=1)

    def activate(self, x):
        ops = ["Sigmoid", "Tanh", "LeakyRelu", "PRelu", "Elu", "HardSigmoid", "Mul"]
        op = self.pick(ops + (["HardSwish"] if self.opset >= 14 else []))
        if op == "PRelu":
            slope = self.constant(f"slope{len(self.nodes)}", np.abs(self.numbers((self.sizes[x][1], 1, 1), 0.2)))
            self.node(op, [x, slope], self.sizes[x])
        elif op == "Mul":  # SiLU
            gate = self.node("Sigmoid", [x], self.sizes[x])
            self.node(op, [x, gate], self.sizes[x])
        else:
            self.node(op, [x], self.sizes[x])

    def resize(self, x):
        n, c, h, w = self.sizes[x]
        if self.opset < 13 or h * w > 300:
            return
        scales = self.constant(f"scales{len(self.nodes)}", np.array([1, 1, 2, 2], np.float32))
        mode = self.pick([("nearest", "asymmetric"), ("nearest", "half_pixel"), ("linear", "half_pixel"),
                          ("linear", "asymmetric"), ("linear", "align_corners")])
        more = {"nearest_mode": "floor"} if mode[0] == "nearest" else {}
        self.node("Resize", [x, "", scales], (n, c, 2 * h, 2 * w), mode=mode[0],
                  coordinate_transformation_mode=mode[1], **more)

    def shuffle(self, x):
        n, c, h, w = self.sizes[x]
        if c % 4 == 0 and self.chance(0.5):
            more = {"mode": self.pick(["DCR", "CRD"])} if self.opset >= 11 else {}
            self.node("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, **more)
        elif h % 2 == 0 and w % 2 == 0 and self.chance(0.5):
            self.node("SpaceToDepth", [x], (n, 4 * c, h // 2, w // 2), blocksize=2)
        else:
            self.node("Transpose", [x], (n, c, w, h), perm=[0, 1, 3, 2])

    def normalise(self, x):
        sizes = self.sizes[x]
        c = sizes[1]
        name = f"norm{len(self.nodes)}"
        kind = self.pick(["LRN", "InstanceNormalization", "BatchNormalization", "LayerNormalization"])
        scale = self.constant(name + "_scale", np.abs(self.numbers(c, 0.3)) + 0.5)
        shift = self.constant(name + "_shift", self.numbers(c, 0.3))
        if kind == "LRN":
            self.node(kind, [x], sizes, size=self.pick([3, 5]), alpha=0.01)
        elif kind == "InstanceNormalization":
            self.node(kind, [x, scale, shift], sizes)
        elif kind == "BatchNormalization":
            mean = self.constant(name + "_mean", self.numbers(c, 0.2))
            spread = self.constant(name + "_spread", np.abs(self.numbers(c, 0.5)) + 0.5)
            self.node(kind, [x, scale, shift, mean, spread], sizes)
        elif self.opset >= 17:
            ones = self.constant(name + "_gain", np.abs(self.numbers(sizes[-1], 0.2)) + 0.8)
            self.node(kind, [x, ones], sizes, axis=-1)

    def scale(self, x):
        factor = self.numbers(1, 1.0) if self.chance(0.5) else self.numbers((1, self.sizes[x][1], 1, 1))
        op = self.pick(["Mul", "Add", "Sub"])
        self.node(op, [x, self.constant(f"factor{len(self.nodes)}", factor)], self.sizes[x])

    def pad(self, x):
        if self.opset < 11:
            return
        n, c, h, w = self.sizes[x]
        pads = self.constant(f"pads{len(self.nodes)}", np.array([0, 0, 1, 1, 0, 0, 1, 2], np.int64))
        mode = self.pick(["constant", "edge"] + (["reflect"] if min(h, w) > 2 else []))
        self.node("Pad", [x, pads], (n, c, h + 2, w + 3), mode=mode)

    def classify(self):
        cubes = [name for name in self.maps if len(self.sizes[name]) == 4]
        x = cubes[-1]
        n, c, h, w = self.sizes[x]
        way = self.pick(["GlobalAveragePool", "ReduceMean", "Flatten", "GlobalMaxPool"])
        if way == "Flatten" and c * h * w > 4000:
            way = "GlobalAveragePool"
        if way == "ReduceMean":
            x = self.node(way, [x], (n, c), axes=[2, 3], keepdims=0)
        else:
            if way != "Flatten":
                x = self.node(way, [x], (n, c, 1, 1))
                h = w = 1
            if self.chance(0.5):
                x = self.node("Flatten", [x], (n, c * h * w))
            else:
                shape = self.constant(f"shape{len(self.nodes)}", np.array([n, -1], np.int64))
                x = self.node("Reshape", [x, shape], (n, c * h * w))
        for _ in range(self.whole(1, 2)):
            inner, classes = self.sizes[x][1], self.whole(2, 40)
            name = f"w{len(self.nodes)}"
            weights = self.numbers((inner, classes), inner ** -0.5)
            bias = self.numbers(classes, 0.3)
            if self.chance(0.5):
                turned = self.chance(0.6)
                inputs = [x, self.constant(name, weights.T.copy() if turned else weights),
                          self.constant(name + "_bias", bias)]
                x = self.node("Gemm", inputs, (n, classes), transB=int(turned))
            else:
                x = self.node("MatMul", [x, self.constant(name, weights)], (n, classes))
                if self.chance(0.7):
                    x = self.node("Add", [x, self.constant(name + "_bias", bias)], (n, classes))
            if self.chance(0.3):
                x = self.node("Relu", [x], self.sizes[x])
        if self.chance(0.4):
            self.node("Softmax", [x], self.sizes[x], axis=1)

    def model(self, nodes, constants, outputs, types=None, input_type=TensorProto.FLOAT):
        types = types or {}
        graph = helper.make_graph(
            nodes, "random", [helper.make_tensor_value_info(self.input, input_type, self.sizes[self.input])],
            [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), self.sizes[name])
             for name in outputs],
            [numpy_helper.from_array(array, name) for name, array in constants.items()])
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, producer_name="write_random_networks", opset_imports=opsets,
                                 ir_version=7)
