#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the Python examples with the installed module, and tests what it refuses. FLAGS are those of the library's own build;
# under AddressSanitizer its runtime is loaded first, and leaks are not checked, as the interpreter has many of its own.
# Skipped (77) without numpy.
set -euo pipefail
prefix=$1 examples=$2
flags=${3:-}
/usr/bin/python3 -c "import numpy" 2>/dev/null || {
    echo "skipped: python3-numpy is not installed"
    exit 77
}
if [[ $flags == *-fsanitize=*address* ]]; then
    LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
    export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0
fi
export PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$examples"/pool.py
/usr/bin/python3 "$examples"/lockstep.py "$prefix"/share/npuscope/configs/experiment/three_layers
/usr/bin/python3 "$(dirname "$0")"/same_programs.py
/usr/bin/python3 - "$prefix"/share/npuscope "$(dirname "$0")"/../golden/nv_full <<'END'
import copy
import pathlib
import sys
import tempfile

import numpy as np
import npuscope


def refused(kind, work):
    try:
        work()
    except kind as error:
        assert str(error), kind
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")


assert "did you mean 'nv_small'" in refused(npuscope.WrongInput, lambda: npuscope.Device("nv_smal"))
assert "did you mean 'resnet50'" in refused(npuscope.WrongInput, lambda: npuscope.run("resnet5"))
npu = npuscope.Device()
assert "no event is pending" in refused(npuscope.Stopped, npu.run_until_interrupt)
refused(npuscope.WrongInput, lambda: npu.read(0xFFFFFFFC))
refused(npuscope.WrongInput, lambda: npu.read_memory(0x80000000))
npu.advance(100)
assert npu.cycle >= 100 and not npu.interrupt
out = np.zeros(16, np.uint8)
npu.write_memory(0x80000000, bytes(range(16)))
assert npu.read_memory(0x80000000, out=out) is out and out[15] == 15
npu.fill_memory(0x80000002, 100_000, 7)
npu.fill_memory(0x80000006, 3)
assert list(npu.read_memory(0x80000000, 11)) == [0, 1, 7, 7, 7, 7, 0, 0, 0, 7, 7]
assert list(npu.read_memory(0x80000000 + 100_000, 4)) == [7, 7, 0, 0]
refused(npuscope.WrongInput, lambda: npu.fill_memory(0x80000000, 1, 256))
refused(npuscope.WrongInput, lambda: npu.fill_memory(0, 16))
npu.reset()
assert npu.cycle == 0
npu.close()
npu.close()
refused(npuscope.WrongInput, lambda: npu.advance(1))
array = np.arange(30, dtype=np.int16).reshape(1, 3, 2, 5)
packed = npuscope.pack(array, "feature:atom=16")
assert (npuscope.unpack(packed, array.shape, np.int16, "feature:atom=16") == array).all()
refused(npuscope.WrongInput, lambda: npuscope.pack(array, "featur"))

# values are those of an array, in whatever order its bytes are; what is not plain numbers, or does not fit, is refused
big = array.astype(">i2")
assert (npuscope.pack(big, "feature:atom=16") == packed).all()
unpacked = npuscope.unpack(packed, array.shape, ">i2", "feature:atom=16")
assert unpacked.dtype == ">i2" and (unpacked == array).all()
assert (npuscope.unpack(bytes(packed), array.shape, np.int16, "feature:atom=16") == array).all()
with npuscope.Device() as npu:
    at = 0x80000000
    for work, text in [
            (lambda: npu.write_memory(at, big), "astype('<i2')"),
            (lambda: npu.read_memory(at, out=np.zeros(2, ">i2")), "astype('<i2')"),
            (lambda: npu.read_memory(at, out=np.array([None, None])), "array of object"),
            (lambda: npu.read_memory(at, out=bytearray(2)), "not a numpy array"),
            (lambda: npu.read_memory(at, -1), "the size is -1"),
            (lambda: npu.write_memory(at, np.array(["xyz"])), "array of <U3"),
            (lambda: npu.write_memory(at, [1, 2, 3]), "numpy.uint8"),
            (lambda: npu.write_memory(at, "xyz"), "text.encode()"),
            (lambda: npu.write_memory(at + 2**64, b"x"), "the address is 0x10000000080000000"),
            (lambda: npu.write_memory(-1, b"x"), "the address is -1"),
            (lambda: npu.read_memory(at + 2**64, 1), "the address is"),
            (lambda: npu.fill_memory(at + 2**64, 1), "the address is"),
            (lambda: npu.fill_memory(at, -1), "the size is -1"),
            (lambda: npu.write(0x1_0000_1004, 5), "the address is 0x100001004, not 0 to 0xffffffff"),
            (lambda: npu.write(0x1004, 0x1_0000_0005), "the value is 0x100000005"),
            (lambda: npu.write(0x1004, -1), "the value is -1"),
            (lambda: npu.write(0x1004, 1.5), "the value is 1.5, not a whole number"),
            (lambda: npu.read(0x1_0000_1004), "the address is"),
            (lambda: npu.advance(-1), "cycles is -1"),
            (lambda: npu.run_until_interrupt(-1), "most is -1"),
            (lambda: npu.run_until_idle(2**64), "most is"),
            (lambda: npuscope.unpack(packed, (1, 3, 2, 2**32 + 5), np.int16, "feature:atom=16"), "size of the shape"),
            (lambda: npuscope.unpack([1, 2], array.shape, np.int16, "feature:atom=16"), "memory is a list"),
            (lambda: npuscope.registers("nv_smal"), "did you mean 'nv_small'"),
            (lambda: npuscope.registers(None), "npu is None"),
            (lambda: npuscope.Device(None), "npu is None"),
            (lambda: npuscope.Device("nv_small", "memory=dram_50"), "give a list, ['memory=dram_50']"),
            (lambda: npuscope.Device("nv_small", [5]), "a change is 5"),
            (lambda: npuscope.Device("nv_small", None), "changes is None"),
            # a text would end at its first 0
            (lambda: npuscope.Device("nv_small\0x"), "no character of it may be 0"),
            (lambda: npuscope.Device("nv_small", ["memory=dram_50\0junk"]), "no character of it may be 0"),
            (lambda: npuscope.Device("nv_small", ["memory=\udcff"]), "no text"),
            (lambda: npuscope.pack(array, "feature:atom=16\0x"), "no character of it may be 0"),
            (lambda: npuscope.unpack(packed, array.shape, np.int16, "feature:atom=16\0x"), "no character of it may be 0"),
            (lambda: npuscope.pack(array, None), "no text"),
            (lambda: npuscope.registers("nv_small\0"), "no character of it may be 0"),
            (lambda: npuscope.run(None), "no text"),
            (lambda: npuscope.play("x.cfg\0", npu), "no character of it may be 0"),
            (lambda: npuscope.play(None, npu), "no text")]:
        message = refused(npuscope.WrongInput, work)
        assert text in message, message
    assert npu.cycle == 0 and not npu.read_memory(at, 64).any()
    npu.write_memory(np.int64(at), memoryview(b"abc"))
    npu.write_memory(at + 3, array[0, 0, :, 1:3])  # strided: its elements in C order
    assert bytes(npu.read_memory(at, 11)) == b"abc" + array[0, 0, :, 1:3].tobytes()
    for duplicate in (copy.copy, copy.deepcopy):
        assert "create another" in refused(TypeError, lambda: duplicate(npu))
    assert npu.read(0x1000) >= 0  # it still exists
npuscope.Device(pathlib.Path(sys.argv[1]) / "configs/npu/nv_small.yaml").close()
assert npuscope.registers(pathlib.Path(sys.argv[1]) / "configs/npu/nv_small.yaml") == npuscope.registers()

# lock-step: another program for the second device is found where its results differ
class Wrong(npuscope.Device):
    def write(self, address, value):
        super().write(address, value + step if address == wrong else value)


# a byte of memory differs on one side
class Flipped(npuscope.Device):
    place = 0

    def read_memory(self, address, size=None, out=None):
        data = super().read_memory(address, size, out)
        if address <= self.place < address + data.size:
            data[self.place - address] ^= 4
        return data


# a .txn contains what its run left, and detects a wrong register
with npuscope.Device("nv_full") as npu:
    held = npuscope.play(sys.argv[2] + "/sdp_ew_f16_3", npu, "nv_full")
assert held["checks"] > 0 and not held["failed"], held
wrong = npuscope.registers("nv_full")["NVDLA_SDP_RDMA.D_SRC_LINE_STRIDE_0"]
step = 32
with Wrong("nv_full") as npu:
    assert npuscope.play(sys.argv[2] + "/sdp_ew_f16_3", npu, "nv_full")["failed"]

# what BDMA and RUBIK move is compared, too, to its last byte and not beyond
for name, unit in (("bdma_2_3d", "bdma"), ("rbk_contract_f16_0", "rubik"), ("rbk_merge_f16_0", "rubik"),
                   ("rbk_split_i16_3", "rubik")):
    program = f"{sys.argv[2]}/{name}"
    with npuscope.Device("nv_full") as model, npuscope.Device("nv_full", ["memory=dram_200"]) as other:
        pair = npuscope.Lockstep(model, other, "nv_full")
        assert not npuscope.play(program, pair, "nv_full")["failed"]
        pair.finish()
        surface = next(one for one in pair.compared if one.unit == unit)
    last = tuple(len(axis) - 1 for axis in (surface.channels, surface.rows, surface.columns))
    for place in ((0, 0, 0), (0, last[1], 0), last):
        with npuscope.Device("nv_full") as model, Flipped("nv_full") as other:
            other.place = surface.address(*place)
            try:
                pair = npuscope.Lockstep(model, other, "nv_full")
                npuscope.play(program, pair, "nv_full")
                pair.finish()
                raise SystemExit(f"{program}: the difference was not found")
            except npuscope.Difference as difference:
                assert (difference.unit, difference.operation) == (unit, surface.operation), difference
                assert (difference.channel, difference.row, difference.column, difference.count) == (*place, 1), difference

# every batch of an SDP operation is a surface of its own
program = sys.argv[2] + "/batch_fc_i8_0"
with npuscope.Device("nv_full") as model, npuscope.Device("nv_full") as other:
    pair = npuscope.Lockstep(model, other, "nv_full")
    assert not npuscope.play(program, pair, "nv_full")["failed"]
    pair.finish()
    batches = [surface for surface in pair.compared if surface.unit == "sdp"]
    written = sum(surface.values(np.zeros(surface.size, np.uint8)).nbytes for surface in batches)
    assert len(batches) > 1 and written == model.result()["traffic"]["by_client"]["sdp"]["write_bytes"], (batches, written)
for surface in batches[0], batches[1], batches[-1]:
    last = tuple(len(axis) - 1 for axis in (surface.channels, surface.rows, surface.columns))
    with npuscope.Device("nv_full") as model, Flipped("nv_full") as other:
        other.place = surface.address(*last)
        pair = npuscope.Lockstep(model, other, "nv_full")
        text = refused(npuscope.Difference, lambda: npuscope.play(program, pair, "nv_full"))
        assert text.startswith(f"sdp 0, surface at {surface.base:#x}: channel {last[0]}, row "), text

# RUBIK's contract by its definition: out(s, Y * y + j, X * x + i) = in((j * X + i) * S + s, y, x), atom by atom
X, Y, S, height, width, atom = 3, 2, 2, 3, 5, 32
names, rubik = npuscope.registers("nv_full"), {
    "MISC_CFG": 0x100, "DAIN_RAM_TYPE": 1, "DAOUT_RAM_TYPE": 1,  # contract, int16
    "DATAIN_SIZE_0": (height - 1) << 16 | width - 1, "DATAIN_SIZE_1": X * Y * S * atom // 2 - 1,
    "DATAOUT_SIZE_1": S * atom // 2 - 1, "DECONV_STRIDE": (Y - 1) << 16 | X - 1,
    "DAIN_ADDR_LOW": 0x80000000, "DAIN_LINE_STRIDE": width * atom, "DAIN_SURF_STRIDE": height * width * atom,
    "DAOUT_ADDR_LOW": 0x80800000, "DAOUT_LINE_STRIDE": X * width * atom, "CONTRACT_STRIDE_0": S * height * width * atom,
    "CONTRACT_STRIDE_1": Y * X * width * atom, "DAOUT_SURF_STRIDE": Y * height * X * width * atom}
cube = np.random.default_rng(1).integers(0, 256, (Y, X, S, height, width, atom), np.uint8)
with npuscope.Device("nv_full") as model, npuscope.Device("nv_full", ["memory=dram_200"]) as other:
    pair = npuscope.Lockstep(model, other, "nv_full")
    pair.write_memory(0x80000000, cube.tobytes())
    pair.write(names["NVDLA_GLB.S_INTR_MASK_0"], 0)
    pair.write(names["NVDLA_RBK.S_POINTER_0"], 0)
    for name, value in rubik.items():
        pair.write(names[f"NVDLA_RBK.D_{name}_0"], value)
    pair.write(names["NVDLA_RBK.D_OP_ENABLE_0"], 1)
    pair.run_until_interrupt()
    pair.write(names["NVDLA_GLB.S_INTR_STATUS_0"], pair.read(names["NVDLA_GLB.S_INTR_STATUS_0"]))
    pair.finish()
    surface = pair.compared[0]
    expected = cube.transpose(2, 3, 0, 4, 1, 5)  # s, y, j, x, i
    assert (np.asarray(pair.read_memory(0x80800000, cube.size)) == expected.reshape(-1)).all()
    assert (len(surface.channels), len(surface.rows), len(surface.columns)) == (S * atom // 2, Y * height, X * width)
    assert surface.size == cube.size, surface

step = 1
folder = sys.argv[1]
program = folder + "/configs/experiment/three_layers"
wrong = npuscope.registers()["NVDLA_SDP.D_CVT_OFFSET_0"]
with npuscope.Device() as model, Wrong() as other:
    text = refused(npuscope.Difference, lambda: npuscope.play(program, npuscope.Lockstep(model, other)))
    assert text == ("sdp 0, surface at 0x80020000: channel 6, row 1, column 1 (at 0x8002018e): npuscope has 72, "
                    "the other 71; 94 of 18432 differ"), text
wrong = npuscope.registers()["NVDLA_PDP.D_OP_ENABLE_0"]
with npuscope.Device() as model, Wrong() as other:  # it never starts
    text = refused(npuscope.Stopped, lambda: npuscope.play(program, npuscope.Lockstep(model, other)))
    assert text.startswith("npuscope has raised 0x10, the other: no event is pending"), text
with npuscope.Device() as model, npuscope.Device() as other:
    pair = npuscope.Lockstep(model, other)
    pair.write_memory(0x80000000, bytes(range(64)))
    other.write_memory(0x80000005, b"x")
    assert "at 0x80000005" in refused(npuscope.Difference, lambda: pair.read_memory(0x80000000, 64))
refused(npuscope.WrongInput, lambda: npuscope.play(folder, npuscope.Device()))

# a pair does what a device does
with npuscope.Device() as model, npuscope.Device("nv_small", ["memory=dram_200"]) as other:
    pair = npuscope.Lockstep(model, other)
    pair.fill_memory(0x80000000, 100_000, 7)
    assert all(device.read_memory(0x80000000 + 99_999, 2).tolist() == [7, 0] for device in (model, other))
    out = np.zeros((2, 4), np.int16)
    assert pair.read_memory(0x80000000, out=out) is out and (out == 0x0707).all()
    refused(npuscope.WrongInput, lambda: pair.read_memory(0x80000000))
    pair.advance(50)
    assert pair.cycle == model.cycle >= 50 and not pair.interrupt and pair.result()["npu"] == model.result()["npu"]
    pair.write(0x1004, 0)
    pair.write(0x1008, 1)
    pair.run_until_interrupt()
    assert pair.interrupt

# what a driver did, on another device; and on one that returns other bytes
with tempfile.TemporaryDirectory() as scratch:
    csv = scratch + "/driver.csv"
    with npuscope.Device() as npu, npuscope.Recorder(npu, csv) as recorder:
        assert npuscope.play(program, recorder) == {"checks": 3, "failed": []}
        assert recorder.cycle == npu.cycle
    assert npuscope.replay(csv, npuscope.Device("nv_small", ["memory=dram_200"])) == []
    pair = npuscope.Lockstep(npuscope.Device(), npuscope.Device())
    assert npuscope.replay(csv, pair) == [] and len(pair.compared) == 3
    wrong = npuscope.registers()["NVDLA_SDP.D_CVT_OFFSET_0"]
    assert ": memory at 0x8002018e has 0x47, not 0x48" in npuscope.replay(csv, Wrong())[0]
    refused(npuscope.WrongInput, lambda: npuscope.replay(program + "/program.cfg", npuscope.Device()))

    # everything that a driver can do is in a recording, of any size, and goes to both devices of a pair
    image = np.arange(100_000, dtype=np.uint32)
    with npuscope.Device() as npu, npuscope.Recorder(npu, csv) as recorder:
        recorder.write(0x1004, 5)
        recorder.reset()
        assert recorder.read(0x1004) == 0
        recorder.write_memory(0x80000000, image)
        recorder.fill_memory(0x80000010, 70_000, 7)
        out = np.zeros(image.size, np.uint32)
        assert recorder.read_memory(0x80000000, out=out) is out and out[0] == 0 and out[4] == 0x07070707
        recorder.advance(50)
        recorder.run_until_idle()
        refused(npuscope.Stopped, recorder.run_until_interrupt)
        refused(npuscope.WrongInput, lambda: recorder.write_memory(0x80000000, [1, 2]))
        ended = npu.cycle
    with npuscope.Device() as npu:
        assert npuscope.replay(csv, npu) == [] and npu.cycle == ended
    assert npuscope.replay(csv, npuscope.Lockstep(npuscope.Device(), npuscope.Device())) == []

    class Masked:  # its interrupts are masked when they are awaited
        def __init__(self, device):
            self.device = device

        def __getattr__(self, name):
            return getattr(self.device, name)

        def run_until_interrupt(self, most=1_000_000_000):
            self.device.write(0x1004, 0x3F03FF)
            return self.device.run_until_interrupt(most)

    masked_csv = scratch + "/masked.csv"
    with npuscope.Device() as npu, npuscope.Recorder(npu, masked_csv) as recorder:
        refused(npuscope.Stopped, lambda: npuscope.play(program, Masked(recorder)))
        assert recorder.read(0x100C) != 0  # the operation has ended
        ended = npu.cycle
    with npuscope.Device() as npu:
        assert npuscope.replay(masked_csv, npu) == [] and npu.cycle == ended

    class Plain:  # such as RTL: it has no way to fill memory
        def __init__(self, device):
            self.device = device

        def __getattr__(self, name):
            if name == "fill_memory":
                raise AttributeError(name)
            return getattr(self.device, name)

    assert npuscope.replay(csv, Plain(npuscope.Device())) == []
    for row, text in [("1,read", "2 columns"), ("1,write,zz,0x1", "'zz' is no number"), ("1,write,0x1004,", "'' is no number"),
                      ("1,foo,0x1004,1", "no such access: foo"), ("1,write_memory,0x80000000,abc", "hex"),
                      ("1,fill_memory,0x80000000,12", "'' is no number"), ("1,advance,,-5", "'-5' is no number"),
                      ("1,read,0x1004,", "'' is no number"), ("1,read_memory,,00", "'' is no number")]:
        with open(csv, "w") as file:
            file.write("cycle,access,address,value\n1,write,0x1004,0x0\n" + row + "\n")
        message = refused(npuscope.WrongInput, lambda: npuscope.replay(csv, npuscope.Device()))
        assert message.startswith(f"{csv}:3: ") and text in message, message
    for unreadable in (scratch, scratch + "/absent.csv"):
        assert "cannot read" in refused(npuscope.WrongInput, lambda: npuscope.replay(unreadable, npuscope.Device()))
    pathlib.Path(csv).write_bytes(bytes(range(256)))
    assert "is no recording" in refused(npuscope.WrongInput, lambda: npuscope.replay(csv, npuscope.Device()))
END
