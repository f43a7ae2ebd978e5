#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A shape table and the model that scripts/write_onnx makes of it must produce the same bytes; and
the model with signed maps those of the host's reference operators when NVDLA presets run it.

Usage: write_onnx_compare.py NPUSCOPE WRITE_ONNX TABLE.yaml ...
Exit 77: python3-onnx, python3-numpy or python3-yaml are missing.
"""

import filecmp
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (python3-onnx, python3-numpy, python3-yaml)")
    sys.exit(77)


TINPU = ["--npu", "tinpu_f28p55"]
HOST = [*TINPU, "--set", "npu.restrictions.batch=0"]  # no layer has a batch of 0


def run(npuscope, program, folder, outputs, npu=tuple(TINPU)):
    code = subprocess.run([npuscope, "run", program, *npu, "--inputs", folder / "in", "--outputs",
                           folder / outputs], check=False, stdout=subprocess.DEVNULL).returncode
    if code != (1 if npu is HOST else 0):  # a host-only model is no success
        sys.exit(f"{program} ends with {code} on {npu}")
    return sorted(path.name for path in (folder / outputs).glob("*.npy"))


def layer_of(name):
    """A table's files are named after its layers, a model's after tensors such as conv/clip_y."""
    return name.removesuffix(".npy").split("%2F")[0].removesuffix("_y") + ".npy"


def compare(npuscope, write_onnx, table, folder):
    """Sentences about what differs."""
    network = yaml.safe_load(table.read_text(encoding="utf-8"))
    source = network["input"]
    shapes = {"input": (1, source["channels"], source["height"], source["width"])}
    shapes |= {layer["name"]: (1, *map(int, layer["output"].split("x")))
               for layer in network["layers"] if layer["kind"] == "input"}
    (folder / "in").mkdir(parents=True)
    random = numpy.random.default_rng(7)
    for name, shape in shapes.items():
        values = random.integers(-128, 128, shape).astype(numpy.int8)
        numpy.save(folder / "in" / f"{name}.npy", values)
    model = folder / "model.onnx"
    subprocess.run([sys.executable, write_onnx, table, "--out", model], check=True)
    onnx.checker.check_model(onnx.load(str(model)))
    layers = run(npuscope, table, folder, "of_table")
    names = run(npuscope, model, folder, "of_model")
    if layers != [layer_of(name) for name in names]:
        return ["the outputs have other names"]
    wrong = [name for name in names
             if not filecmp.cmp(folder / "of_table" / layer_of(name),
                                folder / "of_model" / name, False)]
    flat = [name for name in names
            if len(numpy.unique(numpy.load(folder / "of_model" / name))) < 2]
    return ([f"{name} differs" for name in wrong] +
            [f"{name} is one number everywhere, which proves nothing" for name in flat] +
            compare_signed(npuscope, write_onnx, table, folder))


def compare_signed(npuscope, write_onnx, table, folder):
    model = folder / "signed.onnx"
    subprocess.run([sys.executable, write_onnx, table, "--out", model, "--maps", "signed"],
                   check=True)
    names = run(npuscope, model, folder, "of_host", HOST)
    found = []
    for preset in ("nv_small", "nv_full"):
        if names != run(npuscope, model, folder, preset, ["--npu", preset]):
            found.append(f"{preset} gives outputs of other names")
        found += [f"{name} differs on {preset}" for name in names
                  if not numpy.array_equal(numpy.load(folder / "of_host" / name),
                                           numpy.load(folder / preset / name))]
    return found


def main():
    npuscope, write_onnx, *tables = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for table in map(pathlib.Path, tables):
            found = compare(npuscope, write_onnx, table, pathlib.Path(folder) / table.stem)
            print(f"{table.stem}: {', '.join(found) or 'equal'}")
            failed = failed or bool(found)
    return 1 if failed or not tables else 0


sys.exit(main())
