#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The network of digits as a model and as the register program that `plan` wrote of it: the program, given
what the model's NPU was given, leaves the same scores and recognises the same digits.

Usage: digits_replay.py NPUSCOPE DIGITS [NPU]     DIGITS: the folder examples/digits
Exit 77: python3-numpy or python3-onnx are missing.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy
    from onnx import load, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing} (python3-numpy, python3-onnx)")
    sys.exit(77)

PICTURES = 6


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def image_text(data):
    """A memory image as plans write it."""
    lines = []
    for at in range(0, len(data), 32):
        part = data[at:at + 32]
        lines.append(f"{{offset:{at:#x}, size:{len(part)}, payload:{' '.join(f'0x{byte:02x}' for byte in part)}}}")
    return "{\n" + " ,\n".join(lines) + "\n}\n"


def quantised(model, pictures):
    """The output of the model's first node for pictures, whose pixels are divided by 255."""
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    node = model.graph.node[0]
    assert node.op_type == "QuantizeLinear", node.op_type
    scale, zero = constants[node.input[1]], constants[node.input[2]]
    reals = pictures.astype(numpy.float32) * numpy.float32(1 / 255) / scale
    return numpy.clip(numpy.rint(reals) + zero, -128, 127).astype(numpy.int8)


def main():
    npuscope, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    npu = sys.argv[3] if len(sys.argv) > 3 else "nv_small"
    pictures = numpy.load(digits / "test_pictures.npy")
    labels = numpy.load(digits / "test_labels.npy")
    recognised = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model = folder / "digits.onnx"
        run(npuscope, "quantise", digits / "digits.onnx", "--calibration", digits / "calibration_pictures.npy",
            "--scale", "1/255", "--out", model)
        codes = quantised(load(str(model)), pictures[:PICTURES])
        choices = ["--npu", npu, "--no-pixels"]
        run(npuscope, "plan", model, *choices, "--no-expectations", "--out", folder / "plan")
        program = next((folder / "plan").rglob("program.cfg")).parent
        spec = re.search(r'// surface "?input"? = ([^\n]*)', (program / "program.cfg").read_text())[1]
        _, shape, element, layout = spec.split(":", 3)
        result = re.findall(r'// result "?([^" ]*)"? =', (program / "program.cfg").read_text())[-1]
        for i in range(PICTURES):
            numpy.save(folder / "picture.npy", pictures[i:i + 1])
            numpy.save(folder / "in.npy", codes[i:i + 1])
            run(npuscope, "run", model, *choices, "--scale", "1/255", "--input", folder / "picture.npy",
                "--outputs", folder / "y", "--dump", f"{result}={folder}/out.npy")
            run(npuscope, "convert", "--shape", shape, "--type", element, "--to", layout, folder / "in.npy",
                folder / "in.bin")
            (program / "input.dat").write_text(image_text((folder / "in.bin").read_bytes()))
            run(npuscope, "run", program, "--npu", npu, "--golden", f"{result}={folder}/out.npy")
            predicted = int(numpy.load(folder / "out.npy").argmax())
            if predicted != int(numpy.load(folder / "y/scores.npy").argmax()):
                sys.exit(f"picture {i}: the program says {predicted}, the model something else")
            recognised += predicted == labels[i]
    print(f"{PICTURES} pictures, the same digits; {recognised} of them recognised")
    return 0 if recognised > PICTURES // 2 else 1


if __name__ == "__main__":
    sys.exit(main())
