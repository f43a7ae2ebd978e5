# SPDX-License-Identifier: Apache-2.0
"""Register programs: NVIDIA's traces, vectors of every unit, layers and networks that the RTL ran,
and mutants: programs with one statement changed.
"""

from compare.case import (CYCLE_LIMIT, MODEL_NPUS, ROOT, both, check, folders, measured, run, saved_plan,
                          setting)


def traces(data):
    small = data / "nvdla/nv_small_traces"
    for folder in folders(small):
        yield from both("traces", folder, "nv_small")
        yield run("traces", folder, "nv_small", ["--values", "off"], "values off")
        yield from both("traces", folder, "nv_full", note="other preset")
    table = data / "rtl/nv_small_traces.csv"
    yield from measured("traces", table, lambda _, name: small / name, "nv_small")
    for folder in folders(data / "nvdla/nv_full_traces"):
        yield from both("traces", folder, "nv_full")
        yield from both("traces", folder, "nv_small", note="other preset")


def vectors(data):
    for folder in folders(data / "nv_full/vectors"):
        yield from both("vectors", folder, "nv_full")
        same_map = ["--set", "npu.csb.address_map=nv_full"]
        yield from both("vectors", folder, "nv_small", same_map, "other preset")
        off = ["--values", "off", *setting(200, 1)]
        yield run("vectors", folder, "nv_full", off, "values off, 200/1")


def rtl(data):
    programs = data / "rtl/vectors"
    table = data / "rtl/nv_small_layers.csv"
    yield from measured("rtl", table, lambda _, name: programs / name, "nv_small")
    for folder in folders(programs):
        yield run("rtl", folder, "nv_small", ["--values", "off"], "values off")


def presets(data):
    top = data / "rtl/presets"
    other = {"nv_full_vectors": data / "nv_full/vectors",
             "nv_full_official": data / "nvdla/nv_full_traces",
             "nv_small_master": top / "nv_small_planned/programs"}
    for group in folders(top):
        programs = other.get(group.name, group / "programs")
        extra = ["--memory", "dram_50_sram_4m"] if group.name.endswith("two_ports") else []

        def folder_of(row, name, programs=programs, network=group.name == "networks"):
            return programs / row["npu"] / name if network else programs / name

        yield from measured("presets", group / "rows.csv", folder_of, None, extra)


def memory(data):
    small = folders(data / "nvdla/nv_small_traces")[::9]
    large = folders(data / "rtl/presets/nv_large/programs")[::6]
    for preset in sorted(path.stem for path in (ROOT / "configs/memory").glob("*.yaml")):
        for folder in small:
            yield run("memory", folder, "nv_small", ["--memory", preset], preset)
        for folder in large:
            yield run("memory", folder, "nv_large", ["--memory", preset], preset)


def reports(data):
    for folder in folders(data / "nvdla/nv_small_traces")[::8]:
        yield run("reports", folder, "nv_small", ["--out", "out", "--timeline", "out/timeline.json"])
    for name in "lenet", "ds_cnn":
        for npu in MODEL_NPUS:
            extra = ["--values", "off", "--out", "out", "--timeline", "out/timeline.json"]
            files = (("net.yaml", ("link", ROOT / f"configs/workload/{name}.yaml")),)
            yield run("reports", "net.yaml", npu, extra, name=name, files=files)


def given(folder, npus):
    """Programs, models and shape tables of any other folder; `npus`: if empty, the preset that a
    name begins with, else those of models.
    """
    presets = [path.stem for path in (ROOT / "configs/npu").glob("*.yaml")]
    presets.sort(key=len, reverse=True)
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".cfg", ".txn", ".onnx", ".yaml") or path.name == "memory_map.yaml":
            continue
        name = path.relative_to(folder).as_posix()
        named = [preset for preset in presets if name.startswith(f"{preset}_")][:1]
        for npu in npus or named or MODEL_NPUS:
            yield run("given", path, npu, CYCLE_LIMIT, name=name)
            if path.suffix in (".onnx", ".yaml"):
                yield saved_plan("given", path, npu, name=name)
            if path.suffix != ".onnx":
                yield check("given", path, npu, name=name)


def mutated_program(group, folder, npu, number):
    """Check and run of a mutant of the program in `folder`."""
    program = next(path for path in sorted(folder.iterdir()) if path.suffix in (".cfg", ".txn"))
    files = tuple((f"program/{path.name}", ("link", path)) for path in sorted(folder.iterdir())
                  if path != program)
    files += ((f"program/{program.name}", ("mutant", program, number)),)
    common = {"name": folder.name, "note": f"mutant {number}", "files": files}
    yield check(group, "program", npu, **common)
    yield run(group, "program", npu, CYCLE_LIMIT, **common)


def mutants(data):
    small = folders(data / "nvdla/nv_small_traces") + folders(data / "rtl/vectors")[::4]
    full = folders(data / "nv_full/vectors")
    planned = folders(data / "rtl/presets/nv_small_256_full/programs")
    sets = (small, "nv_small", 6), (full, "nv_full", 3), (planned, "nv_small_256_full", 3)
    for programs, npu, count in sets:
        for index, folder in enumerate(programs):
            for number in range(count):
                # Kinds of change rotate, so that even few mutants per program cover every kind.
                yield from mutated_program("mutants", folder, npu, number + index % 6)
