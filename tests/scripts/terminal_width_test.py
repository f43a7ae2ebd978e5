#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What npuscope prints fits the terminal, and 100 columns in a pipe; nothing is cut.
Usage: terminal_width_test.py NPUSCOPE [--show COLUMNS]"""

import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
THREE_LAYERS = "configs/experiment/three_layers/program.cfg"
COMMANDS = [
    ["run", THREE_LAYERS],
    ["run", THREE_LAYERS, "--operations"],
    ["run", "configs/workload/lenet.yaml", "--operations"],
    ["run", "configs/workload/resnet50.yaml", "--npu", "nv_large", "--values", "off"],
    ["run", "configs/workload/mobilenet_v2.yaml", "--values", "off", "--operations"],
    ["run", "configs/workload/lenet.yaml", "--memory", "ddr4_3200", "--operations"],
    ["run", "configs/workload/ti_cls_1k.yaml", "--npu", "tinpu_f28p55", "--operations"],
    ["check", THREE_LAYERS],
    ["check", THREE_LAYERS, "--npu", "nv_large"],
    ["plan", "configs/workload/lenet.yaml", "--explain"],
    ["plan", "configs/workload/ti_cls_1k.yaml", "--npu", "tinpu_f28p55"],
    ["convert", "--shape", "1x20x3x5", "--type", "int8", "--to", "C/5 H W C%5", "--picture", "3",
     "--explain", "0,17,2,4"],
    ["list", "presets"],
    ["list", "networks"],
    ["list", "memories"],
    ["list", "experiments"],
    ["list", "fields"],
    ["list", "rules"],
    ["list", "layouts"],
    ["list", "registers"],
    ["list", "patterns"],
    ["list", "operators"],
    ["--help"],
    *[[command, "--help"] for command in ("run", "check", "plan", "convert", "list")],
]
PIPE_COLUMNS = 100


def in_terminal(command, columns):
    """What a terminal of this many columns shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, cwd=ROOT, stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(master)
    return shown.decode().replace("\r\n", "\n")


def in_pipe(command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def problems_of(text, columns):
    problems = [] if text.strip() else ["nothing is printed"]
    for line in text.splitlines():
        if len(line) > columns:
            problems.append(f"{len(line)} columns: {line}")
        if "..." in line or "\N{HORIZONTAL ELLIPSIS}" in line:
            # `[FILES...]` of a usage line says that there may be several, `int8, ...` that there are more
            whole = line.split("...")[0].endswith(("[FILES", ", "))
            problems += [] if whole else [f"cut: {line}"]
    return problems


def main():
    executable = str(pathlib.Path(sys.argv[1]).resolve())
    shown_columns = int(sys.argv[3]) if sys.argv[2:3] == ["--show"] else 0
    wrong = 0
    for command in COMMANDS:
        if shown_columns:
            print("$ npuscope", *command)
            print(in_terminal([executable, *command], shown_columns))
            continue
        for where, columns in (("60 columns", 60), ("80 columns", 80), ("120 columns", 120), ("a pipe", PIPE_COLUMNS)):
            text = (in_pipe([executable, *command]) if where == "a pipe"
                    else in_terminal([executable, *command], columns))
            for problem in problems_of(text, columns):
                print(f"npuscope {' '.join(command)}, in {where}: {problem}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
