# SPDX-License-Identifier: Apache-2.0
"""Invalid files and options, whose refusal is compared, and the lists of what exists."""

import re

from compare.case import CYCLE_LIMIT, ROOT, Case, check, run, saved_plan


def broken_programs(trace):
    text = next(trace.glob("*.cfg")).read_text()
    lines = text.splitlines()
    write = next(i for i, line in enumerate(lines) if line.startswith("reg_write"))
    with_line = lambda line: "\n".join(lines[:write] + [line] + lines[write:]) + "\n"
    yield from {
        "empty": "", "half": text[: len(text) // 2], "garbage": "\x00\x01 not a program\n" * 3,
        "unknown register": with_line("reg_write(NVDLA_CDMA.D_NO_SUCH_0, 0x1);"),
        "unknown block": with_line("reg_write(NVDLA_NONE.D_OP_ENABLE_0, 0x1);"),
        "no suffix": with_line("reg_write(NVDLA_CDMA.D_DATAIN_SIZE, 0x1);"),
        "not a number": with_line("reg_write(NVDLA_CDMA.D_OP_ENABLE_0, yes);"),
        "too large": with_line("reg_write(NVDLA_CDMA.D_OP_ENABLE_0, 0x123456789);"),
        "missing file": with_line('mem_load(pri_mem, 0x80000000, "absent.dat");'),
        "outside folder": with_line('mem_load(pri_mem, 0x80000000, "../../absent.dat");'),
        "unknown statement": with_line("do_something(1, 2);"),
        "missing bracket": with_line("reg_write(NVDLA_CDMA.D_OP_ENABLE_0, 0x1"),
        "unknown memory": with_line('mem_init(ter_mem, 0x80000000, 0x10, ALL_ZERO);'),
        "read only": with_line("reg_write(NVDLA_CDMA.S_STATUS_0, 0x1);"),
        "bad crc": re.sub(r"(check_crc\(.*), 0x\w+\);", r"\1, 0x12345678);", text),
        "never awaited": re.sub(r"intr_notify\(.*\n", "", text),
    }.items()


def broken_tables(text):
    changed = lambda pattern, by: re.sub(pattern, by, text, count=1)
    yield from {
        "unknown key": text.replace("channels:", "chanels:", 1),
        "not YAML": "layers: [",
        "empty": "",
        "no layers": text.split("layers:")[0],
        "unknown kind": text.replace("kind: conv", "kind: convolve", 1),
        "negative": changed(r"kernels: \d+", "kernels: -3"),
        "zero": changed(r"kernel: \d+", "kernel: 0"),
        "wrong output": changed(r"output: \d+x", "output: 999x"),
        "twice": text + text,
        "huge": changed(r"height: \d+", "height: 100000000"),
        "list": "- 1\n- 2\n",
    }.items()


WRONG_OPTIONS = {
    "unknown key": ["--set", "npu.cdma.nothing=1"],
    "bad value": ["--set", "memory.read_latency=x"],
    "negative": ["--set", "memory.read_latency=-1"],
    "no value": ["--set", "memory.read_latency"],
    "zero width": ["--set", "npu.mcif.bus_width=0"],
    "odd banks": ["--set", "npu.cbuf.banks=3"],
    "unknown memory": ["--memory", "none"],
    "bad values": ["--values", "maybe"],
    "unknown option": ["--what"],
    "stopped": ["--max-cycles", "10"],
    "inputs of a trace": ["--inputs", "."],
}


def wrong_programs(trace):
    links = tuple((f"p/{path.name}", ("link", path)) for path in sorted(trace.glob("*.dat")))
    for note, text in broken_programs(trace):
        files = (*links, ("p/program.cfg", ("text", text)))
        for make, extra in (run, CYCLE_LIMIT), (check, ()):
            yield make("broken", "p/program.cfg", "nv_small", extra, note, "program", files=files)
    for note, extra in WRONG_OPTIONS.items():
        yield run("broken", trace, "nv_small", extra, note)
    yield run("broken", trace, "nv_smal", (), "unknown preset")
    yield run("broken", trace, "tinpu_f28p55", (), "registers on a TINPU")
    yield run("broken", trace / "absent.cfg", "nv_small", (), "no such file")


def broken(data):
    trace = data / "nvdla/nv_small_traces/dc_8x8x36_4x4x36x16_dilation_int8_0"
    if trace.is_dir():
        yield from wrong_programs(trace)
    text = (ROOT / "configs/workload/lenet.yaml").read_text()
    for note, changed in broken_tables(text):
        files = (("net.yaml", ("text", changed)),)
        for npu in "nv_small", "tinpu_f28p55":
            yield run("broken", "net.yaml", npu, ["--values", "off"], note, "table", files=files)
        yield saved_plan("broken", "net.yaml", "nv_small", note=note, name="table", files=files)
        yield check("broken", "net.yaml", "nv_small", (), note, "table", files=files)
    for model in sorted((data / "onnx/net").glob("*/model.onnx")):
        for cut in 1, 7, 100, 1000:
            files = (("model.onnx", ("head", model, cut)),)
            for npu in "nv_small", "tinpu_f28p55":
                name = model.parent.name
                yield run("broken", "model.onnx", npu, (), f"{cut} bytes", name, files=files)


def lists(_):
    for topic in "presets", "layouts", "registers", "patterns", "fields":
        for npu in "nv_small", "nv_full", "tinpu_f28p55":
            yield Case("lists", topic, npu, ("list", topic, "--npu", npu))
