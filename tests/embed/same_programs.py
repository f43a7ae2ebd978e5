# SPDX-License-Identifier: Apache-2.0
"""Register programs that `npuscope.play` and `npuscope run` must treat alike: the same checks made, the same ones failed, the same
programs refused with the same words. python_door.sh runs it with the installed package."""
import pathlib
import tempfile

import npuscope

RAW = b"\x00\x10\x20\x30"
PACKET = "{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30} ,\n"
LOAD = 'mem_load(pri_mem, 0x80000000, "w.dat");\n'
CHECK = 'sync_notify(h, l);\ncheck_file(l, pri_mem, 0x80000000, 4, "raw.bin");\n'
UNMASK = "reg_write(NVDLA_GLB.S_INTR_MASK_0, 0);\n"
RAISE = "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x1);\n"
POINTER = "NVDLA_CDMA.S_POINTER_0"

# name, program, its image w.dat
PROGRAMS = [
    ("comment after bytes", LOAD + CHECK, "{offset:0x0, size:4, payload:0x00 0x10 // two\n 0x20 0x30} ,\n"),
    ("packet in a comment", LOAD + CHECK, PACKET + "# {offset:0x0, size:4, payload:0xff 0xff 0xff 0xff} ,\n"),
    ("comment in a listing", LOAD + CHECK, "Data_size = 0x4\n0x00 0x10 # x\n0x20 0x30\n"),
    ("listing that is cut short", LOAD + CHECK, "Data_size = 0x8\n0x00 0x10 0x20 0x30\n"),
    ("words in a listing", LOAD + CHECK, "junk here\n0x00 0x10 0x20 0x30\n"),
    ("packet that is cut short", LOAD + CHECK, "{offset:0x0, size:8, payload:0x00 0x10 0x20 0x30} ,\n"),
    ("packets that overlap", LOAD + CHECK, PACKET + "{offset:0x2, size:2, payload:0x55 0x66},\n{offset:0x2, size:2, payload:0x20 0x30},\n"),
    ("packets with a gap", LOAD + CHECK, "{offset:0x2, size:2, payload:0x20 0x30},\n{offset:0x0, size:2, payload:0x00 0x10},\n"),
    ("no image", LOAD + CHECK, None),
    ("byte of nine bits", LOAD + CHECK, "0x100 0x10 0x20 0x30\n"),
    ("image shorter than compared", LOAD + 'sync_notify(h, l);\ncheck_file(l, pri_mem, 0x80000000, 8, "w.dat");\n', PACKET),
    ("unknown register", "reg_write(NVDLA_PDP.NOPE_0, 1);\n", None),
    ("unknown pattern", "mem_init(pri_mem, 0x80000000, 4, RANDOM);\n", None),
    ("octal number", f"reg_write({POINTER}, 01);\n", None),
    ("missing argument", f"reg_write({POINTER});\n", None),
    ("two statements in a line", f"reg_write({POINTER}, 1); reg_write({POINTER}, 0);\nreg_read_check({POINTER}, 0);\n", None),
    ("wrong register", f"reg_write({POINTER}, 1);\nreg_read_check({POINTER}, 0);\nreg_read({POINTER}, seen);\n", None),
    ("poll under a mask", "poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x3, 0x1);\n" + LOAD + CHECK, PACKET),
    ("barrier", "mem_init(pri_mem, 0x80000000, 32, ADDR);\nmeet_instances();\nsync_notify(h, l);\n"
                "check_crc(l, pri_mem, 0x80000000, 32, 0x91267e8a);\ncheck_crc(l, pri_mem, 0x80000000, 31, 0x91267e8a);\n", None),
    ("check before its id", 'check_file(l, pri_mem, 0x80000000, 4, "raw.bin");\n' + LOAD + "sync_notify(h, l);\n", PACKET),
    ("id that nothing raises", LOAD + 'check_file(l, pri_mem, 0x80000000, 4, "raw.bin");\n', PACKET),
    ("unknown interrupt", UNMASK + "intr_notify(SDP_7, a);\n", None),
    ("one interrupt for each of two ids", UNMASK + RAISE + "intr_notify(a);\nintr_notify(b);\nsync_wait(h, a);\n" + RAISE
     + "sync_wait(h, b);\n" + LOAD + CHECK, PACKET),
    ("interrupt that is hidden at first", "reg_write(NVDLA_GLB.S_INTR_MASK_0, 2);\nreg_write(NVDLA_GLB.S_INTR_SET_0, 0x3);\n"
     "intr_notify(SDP_0, a);\nintr_notify(SDP_1, b);\nsync_wait(h, a);\n" + UNMASK + "sync_wait(h, b);\n" + LOAD + CHECK, PACKET),
    ("interrupt that is awaited later", UNMASK + "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x3);\nintr_notify(SDP_0, a);\n"
     "sync_wait(h, a);\nintr_notify(SDP_1, b);\nsync_wait(h, b);\n" + LOAD + CHECK, PACKET),
]
TRANSACTIONS = [
    ("image shorter than loaded", "load_mem 0x80000000 8 w.dat\ndump_mem 0x80000000 4 raw.bin\n", PACKET),
    ("image shorter than dumped", "load_mem 0x80000000 4 w.dat\ndump_mem 0x80000000 8 raw.bin\n", PACKET),
    ("masks", "write_mem 0x80000000 0x12345678\nread_mem 0x80000000 0xff 0x78\nread_mem 0x80000000 0xff 0x79\n", None),
    ("bits beside the mask", "write_mem 0x80000000 0x12345678\nread_mem 0x80000000 0xff 0x178\n"
                             "read_reg 0xffff0001 0xff 0x100 3\n", None),
    ("comparisons", "write_reg 0xffff0001 0x7\nread_reg 0xffff0001 0xffffffff >= 0x7 5\nread_reg 0xffff0001 0xffffffff <= 0x6 5\n"
                    "read_reg 0xffff0001 0xf == 0x7 5\n", None),
    ("comments", "write_mem 0x80000000 0x12345678 # c\n// whole\nread_mem 0x80000000 0xff 0x78 # x 0x79\n", None),
]


def outcome(play):
    """Checks made and failed, or the words of the refusal."""
    try:
        return play()
    except npuscope.Error as error:
        return type(error), str(error).removeprefix("npuscope: ")


def by_command_line(folder):
    passed = [check["pass"] for check in npuscope.run(folder)["checks"] if check["pass"] is not None]
    return len(passed), passed.count(False)


def by_play(folder):
    with npuscope.Device() as npu:
        played = npuscope.play(folder, npu)
    return played["checks"], len(played["failed"])


def same(scratch, suffix, name, text, image):
    folder = scratch / name.replace(" ", "_")
    folder.mkdir()
    (folder / f"input.{suffix}").write_text(text)
    (folder / "raw.bin").write_bytes(RAW)
    if image is not None:
        (folder / "w.dat").write_text(image)
    expected, found = outcome(lambda: by_command_line(folder)), outcome(lambda: by_play(folder))
    assert found == expected, f"{name}: {expected} by the command line, {found} by play()"


with tempfile.TemporaryDirectory() as scratch:
    for row in PROGRAMS:
        same(pathlib.Path(scratch), "cfg", *row)
    for row in TRANSACTIONS:
        same(pathlib.Path(scratch), "txn", *row)
    # what never ends: the command line has a finding for it
    program = pathlib.Path(scratch) / "program.cfg"
    for text, words in [(UNMASK + RAISE + "intr_notify(SDP_0, a);\nintr_notify(SDP_0, b);\nsync_wait(h, a);\nsync_wait(h, b);\n",
                         "no event is pending"),
                        ("sync_wait(h, a);\n", "program.cfg:1:1: 'a' is awaited, but nothing raises it"),
                        (f"poll_reg_equal({POINTER}, 0x3, 0x1);\n", "never read as 0x3")]:
        program.write_text(text)
        assert outcome(lambda: by_play(program))[0] is npuscope.Stopped, text
        assert words in outcome(lambda: by_play(program))[1], outcome(lambda: by_play(program))
    program.write_text(LOAD)
    (pathlib.Path(scratch) / "w.dat").write_text("\n".join(["0x12"] * 200_000))

    class Broken:  # an exception of the device reaches the caller of play()
        def write_memory(self, address, data):
            raise KeyboardInterrupt(address, len(data))

    try:
        npuscope.play(program, Broken())
        raise SystemExit("the exception was lost")
    except KeyboardInterrupt as error:
        assert error.args == (0x80000000, 200_000), error
