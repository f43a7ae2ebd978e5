# SPDX-License-Identifier: Apache-2.0
"""Layouts: conversions of known bytes, and descriptions of memory images with and without mistakes."""

import json
import re

from compare.case import Case


def convert(case, kind, there, options, source, back=False):
    """A conversion of a vector's file to layout `there` (or back from it)."""
    ends = ["--from", there, "--to", "nchw"] if back else ["--to", there]
    files = ["in.bin", "out.bin"]
    arguments = ("convert", *options, *ends, *files, "--json", "-")
    given = (("in.bin", ("link", source)),)
    return Case("layouts", case, kind, arguments, given, "back" if back else "")


def nvdla_layout(item):
    """Layout text and shape of a vector of NVDLA's formats, or nothing."""
    get = item.get
    groups = f"group={get('kernels_per_group')},cube={get('channels_per_cube')}"
    kernels = f"{get('K')}x{get('C')}x{get('R')}x{get('S')}"
    wide = f"{get('K')}x{get('extended_channels', 0) // max(1, get('S') or 1)}x{get('R')}x{get('S')}"
    cube = f"{get('components', 1)}x{get('C')}x{get('H')}x{get('W')}"
    pair = "batch_norm" if get("components") == 2 else "bias"
    operand = "elementwise" if get("per_element") else pair
    strides = (f"atom={get('atom_bytes')},line_stride={get('line_stride')},"
               f"surface_stride={get('surface_stride')}")
    steps = f"stride_y={get('stride_y')},stride_x={get('stride_x')}"
    return {
        "feature": (f"feature:{strides}", cube, cube),
        "weight_dc": (f"weight_dc:{groups}", kernels, kernels),
        "weight_image_pre_ext": (f"weight_image:{groups}", kernels, wide),
        "weight_image_post_ext": (f"weight_image_post:group={get('kernels_per_group')},"
                                  f"rows={get('post_extension')}", kernels, wide),
        "weight_winograd": (f"weight_winograd:group={get('kernels_per_group')}", None,
                            f"{get('K')}x{get('extended_channels')}x4x4"),
        "weight_deconv_split": (f"weight_deconv:{groups},{steps}", kernels, kernels),
        "weight_compressed": (f"weight_dc:{groups}", kernels, None),
        "sdp_operand": (f"{operand}:lanes={get('elements_per_atom')}", cube, cube),
    }.get(item["kind"])


def manifest_of(folder):
    path = folder / "manifest.json"
    return json.loads(path.read_text()) if path.is_file() else []


def layouts(data):
    top = data / "layout"
    for item in manifest_of(top / "nvdla"):
        found = nvdla_layout(item)
        if found is None:
            continue
        there, shape, stored = found
        kind = item.get("dtype") or {1: "int8", 2: "int16"}[item["bytes_per_component"]]
        axes = ["--axes", "KCRS"] if "K" in item else []
        if shape:
            yield convert(item["id"], "nvdla", there, ["--shape", shape, "--type", kind, *axes],
                          top / "nvdla" / item["logical"])
        if stored and "memory" in item:
            yield convert(item["id"], "nvdla", there, ["--shape", stored, "--type", kind, *axes],
                          top / "nvdla" / item["memory"], True)
    yield from kneron_layouts(top / "kneron", manifest_of(top / "kneron") or {})
    for item in manifest_of(top / "ncnn"):
        logical = item["logical"]
        axes = {1: "W", 2: "HW", 3: "CHW", 4: "CDHW"}[item["dims"]]
        shape = "x".join(str(logical[axis.lower()]) for axis in axes)
        kind = {1: "int8", 2: "int16", 4: "float32"}[item["lane_bytes"]]
        layout = lambda side, item=item: f"ncnn:elempack={item[side]['elempack']},padding=1"
        options = ["--shape", shape, "--axes", axes, "--type", kind, "--from", layout("src")]
        source = top / "ncnn" / item["src"]["file"]
        yield convert(str(item["id"]), "ncnn", layout("dst"), options, source)


def kneron_layouts(top, manifest):
    for item in manifest.get("v2", []):
        listed = lambda name, item=item: "/".join(str(number) for number in item[name])
        axis = "NCHW"[item["quantized_axis"]]
        shape = ["--shape", "x".join(map(str, item["shape_nchw"])), "--type", item["scalar_type"]]
        numbers = f"scale={listed('scale')},radix={listed('radix')},axis={axis}"
        case, there = str(item["id"]), item["layout"]
        to_fixed, to_float = [*shape, "--quantize", numbers], [*shape, "--dequantize", numbers]
        yield convert(case, "kneron", there, to_fixed, top / item["input_f32"])
        yield convert(case, "kneron", there, to_float, top / item["npu"], True)
        strides = [*shape, "--stride-npu", ",".join(map(str, item["stride_npu_scalars"]))]
        yield convert(f"{case} strides", "kneron", there, strides, top / item["quantized"])
    for item in manifest.get("v1", []):
        there = f"{item['layout']}:chip={item['chip'][2:]}"
        shape = ["--shape", "x".join(map(str, item["shape_npu"])), "--type", item["scalar_type"]]
        yield convert(item["id"], "kneron", there, shape, top / item["chw"])
        yield convert(item["id"], "kneron", there, shape, top / item["raw"], True)


def image_text(item, top, npu):
    """A description of a vector's memory image: text with the address of its surface."""
    surface = nvdla_layout(item)
    names = {"feature": "feature", "weight_dc": "weight_dc", "weight_image_pre_ext": "weight_image",
             "sdp_operand": "per_element" if item.get("per_element") else "per_channel"}
    kind = {"int8": "int8", "int16": "int16", "float16": "fp16"}.get(item.get("dtype", "int8"), "int8")
    address, size = 0x80000000, (top / item["memory"]).stat().st_size
    shape, components = surface[2], ""
    if item["kind"] == "sdp_operand":
        count, shape = surface[2].split("x", 1)
        shape, components = f"1x{shape}", f"components: {count}, "
    line = (f"{{name: s, layout: {names[item['kind']]}, type: {kind}, shape: {shape}, {components}"
            f"address: {address:#x}, ")
    if "line_stride" in item:
        line += f"line_stride: {item['line_stride']}, surface_stride: {item['surface_stride']}}}"
    else:
        line += f"bytes: {size}}}"
    loaded = f"{{file: {top / item['memory']}, address: {address:#x}, format: bin}}"
    return f"npu: {npu}\nmemory:\n  - {loaded}\nsurfaces:\n  - {line}\n"


def image_variants(text):
    """The description, and the same with one mistake each."""
    yield "right", text
    yield "unaligned", text.replace("address: 0x80000000, b", "address: 0x80000004, b").replace(
        "address: 0x80000000, l", "address: 0x80000004, l")
    yield "outside", text.replace("address: 0x80000000", "address: 0x10000000")
    yield "not loaded", re.sub(r"(file: .*address: )0x80000000", r"\g<1>0x80100000", text)
    yield "short", re.sub(r"(bytes|line_stride): (\d+)", lambda m: f"{m[1]}: {int(m[2]) // 2}", text)
    yield "odd stride", re.sub(r"(surface_stride): (\d+)", lambda m: f"{m[1]}: {int(m[2]) + 3}", text)
    yield "twice", text + text.splitlines()[-1].replace("name: s", "name: t") + "\n"
    yield "no layout", text.replace("layout: ", "layout: un")


def images(data):
    top = data / "layout/nvdla"
    manifest = manifest_of(top)
    for item in manifest:
        if item["kind"] not in ("feature", "weight_dc", "weight_image_pre_ext", "sdp_operand"):
            continue
        for npu in item["config"], "nv_medium_1024_full":
            for note, text in image_variants(image_text(item, top, npu)):
                arguments = ("check", "image.yaml", "--json", "-")
                yield Case("images", item["id"], npu, arguments, (("image.yaml", ("text", text)),), note)
    for item in manifest:
        if item["kind"] == "weight_compressed":
            yield from compressed_images(item, top)


def compressed_images(item, top):
    shape = nvdla_layout(item)[1]
    kind = {"int8": "int8", "int16": "int16", "float16": "fp16"}[item["dtype"]]
    places = {"weights": 0x80000000, "wmb": 0x80100000, "wgs": 0x80200000}
    size = {name: (top / item[name]).stat().st_size for name in places}
    text = f"npu: {item['config']}\nmemory:\n"
    for name, address in places.items():
        text += f"  - {{file: {top / item[name]}, address: {address:#x}, format: bin}}\n"
    surface = "  - {{name: {}, layout: {}, address: {:#x}, bytes: {}}}\n".format
    text += "surfaces:\n"
    text += surface("w", f"weight_dc, type: {kind}, shape: {shape}", 0x80000000, size["weights"])
    text += surface("m", "wmb, of: w", 0x80100000, size["wmb"])
    text += surface("g", "wgs, of: w", 0x80200000, size["wgs"])
    weights, mask = str(top / item["weights"]), str(top / item["wmb"])
    swapped = text.replace(mask, "MASK").replace(weights, mask).replace("MASK", weights)
    moved = text.replace("0x80100000, b", "0x80100080, b")
    variants = {"right": text, "swapped": swapped, "moved": moved,
                "no sizes": "\n".join(text.splitlines()[:-1]) + "\n"}
    command = ("check", "image.yaml", "--json", "-")
    for note, changed in variants.items():
        files = (("image.yaml", ("text", changed)),)
        yield Case("images", item["id"], item["config"], command, files, note)
