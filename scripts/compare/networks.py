# SPDX-License-Identifier: Apache-2.0
"""Networks: ONNX models with their inputs, and shape tables on every preset."""

import json
import re

from compare.case import MODEL_NPUS, ROOT, check, folders, run, saved_plan

NVDLA = ("nv_small nv_small_256 nv_small_256_full nv_medium_512 nv_medium_1024_full nv_large nv_full "
         "kl520 kl630 kl720 kl730").split()
LARGE = {"resnet50", "tiny_yolo", "vgg16", "resnet18", "mobilenet_v1", "mobilenet_v2"}


def model_cases(folder):
    """The input files of every case of a model: file in the case's folder, source."""
    meta = json.loads((folder / "meta.json").read_text())
    if (folder / "inputs").is_dir():
        return [tuple((f"in/{path.name}", ("link", path)) for path in sorted(case.iterdir()))
                for case in folders(folder / "inputs")]
    cases = meta.get("cases") or [{meta["input"]["name"]: f"input_{i}.npy"} for i in (0, 1)]
    return [tuple((f"in/{name.replace('/', '_')}.npy", ("link", folder / file))
                  for name, file in case.items() if file.startswith("input")) for case in cases]


def model_runs(group, folder, npu):
    model = folder / "model.onnx"
    for number, files in enumerate(model_cases(folder)):
        extra = ["--inputs", "in", "--outputs", "out"]
        yield run(group, model, npu, extra, f"case {number}", folder.name, files=files)
    yield run(group, model, npu, ["--values", "off"], "values off", folder.name)


def onnx(data):
    top = data / "onnx"
    for npu in MODEL_NPUS:
        for folder in folders(top / "good") + folders(top / "net"):
            yield from model_runs("onnx", folder, npu)
        for folder in folders(top / "net") + folders(top / "good")[::5]:
            yield saved_plan("onnx", folder / "model.onnx", npu, name=folder.name)
        for folder in folders(top / "reject") + folders(top / "malformed"):
            model = folder / "model.onnx"
            yield run("onnx", model, npu, ["--values", "off"], "values off", folder.name)
            yield saved_plan("onnx", model, npu, name=folder.name)


def models(data):
    for folder in folders(data / "models"):
        for npu in MODEL_NPUS:
            yield from model_runs("models", folder, npu)
        for npu in "nv_small", "nv_full":
            yield saved_plan("models", folder / "model.onnx", npu, name=folder.name)


def table_input(path):
    """Channels, height and width of a shape table's input."""
    line = next(line for line in path.read_text().splitlines() if line.startswith("input:"))
    return [int(re.search(rf"{key}: *(\d+)", line).group(1)) for key in ("channels", "height", "width")]


def tables(_):
    for path in sorted((ROOT / "configs/workload").glob("*.yaml")):
        is_large = path.stem in LARGE
        name, files = path.name, ((path.name, ("link", path)),)
        for npu in (*NVDLA, "tinpu_f28p55"):
            heavy = path.stem in ("vgg16", "resnet50") and npu.startswith("tinpu")
            extra = ["--values", "off"]
            yield run("tables", name, npu, extra, "values off", name, files=files, heavy=heavy)
            if npu.startswith("tinpu"):
                continue
            yield check("tables", name, npu, name=name, files=files, heavy=path.stem == "vgg16")
            if not is_large or npu in ("nv_small", "nv_full"):
                yield run("tables", name, npu, name=name, files=files, heavy=is_large)
            if path.stem != "vgg16" and (not is_large or npu in ("nv_small", "nv_full", "kl720")):
                extra = ["--no-expectations"] if is_large else []
                yield saved_plan("tables", name, npu, extra, name=name, files=files, heavy=is_large)
        if not is_large:
            yield from small_table(path, files)


def small_table(path, files):
    """Choices of the planner, and inputs from files."""
    for npu in "nv_full", "nv_large", "nv_small_256_full":
        for text in ("--winograd", "--compress always", "--compress never", "--no-pixels",
                     "--memory dram_50_sram_4m --winograd"):
            yield saved_plan("tables", path.name, npu, text.split(), text, path.name, files=files)
    inputs = (*files, ("in/input.npy", ("npy", table_input(path), path.stem)))
    for npu in NVDLA:
        extra = ["--inputs", "in", "--outputs", "out"]
        yield run("tables", path.name, npu, extra, "inputs", path.name, files=inputs)
