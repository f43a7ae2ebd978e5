#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages hold what they should, and the unpacked program finds its presets.
Usage: debian_package_test.py CPACK BUILD FOLDER"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM_FILES = [
    "usr/bin/npuscope",
    "usr/share/doc/npuscope/README.md",
    "usr/share/doc/npuscope/changelog.gz",
    "usr/share/doc/npuscope/copyright",
    "usr/share/doc/npuscope/docs/data_path.svg",
    "usr/share/doc/npuscope/docs/tutorials/architect.md",
    "usr/share/doc/npuscope/packaging/README.md",
    "usr/share/man/man1/npuscope.1.gz",
    "usr/share/npuscope/configs/npu/nv_small.yaml",
    "usr/share/npuscope/configs/memory/dram_50.yaml",
    "usr/share/npuscope/configs/workload/lenet.yaml",
    "usr/share/npuscope/configs/experiment/three_layers/program.cfg",
]
DEVELOPMENT_FILES = [
    "usr/include/npuscope/models/npu/npu.h",
    "usr/include/npuscope/sim/run/session.h",
    "usr/lib/npuscope/libnpu_run.a",
    "usr/lib/cmake/npuscope/npuscopeConfig.cmake",
    "usr/lib/cmake/npuscope/FindSystemC.cmake",
    "usr/share/doc/npuscope-dev/copyright",
]
DEPENDENCIES = ["libsystemc", "libyaml-cpp0.7", "libonnx1", "zlib1g"]

problems = []


def expect(good, what):
    if not good:
        problems.append(what)


def output(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def unpack(package, folder, files):
    """Unpacks it; every path and permission is what a package may have."""
    listed = output("dpkg-deb", "--contents", str(package)).splitlines()
    paths = {line.split()[5].removeprefix("./").rstrip("/"): line.split()[0] for line in listed}
    for path in files:
        expect(path in paths, f"{package.name} has no {path}")
    for path, mode in paths.items():
        expect(path == "" or path.split("/")[0] == "usr", f"{package.name} has {path} outside of usr")
        link = mode[0] == "l"  # its mode means nothing
        expect(link or (mode[5] != "w" and mode[8] != "w"), f"{package.name}: {path} may be written by others")
    output("dpkg-deb", "--extract", str(package), str(folder))
    return paths


def run_unpacked(folder):
    environment = {key: value for key, value in os.environ.items() if key != "NPUSCOPE_CONFIGS"}
    npuscope = folder / "usr/bin/npuscope"
    example = folder / "usr/share/npuscope/configs/experiment/three_layers"
    text = output(str(npuscope), "run", str(example), "--npu", "nv_small", cwd="/", env=environment)
    expect("pass: 3 checks made, all held" in text, f"the example says: {text.splitlines()[0]}")
    names = output(str(npuscope), "list", "presets", cwd="/", env=environment)
    for name in ("nv_small", "tinpu_f28p55", "ddr4_3200"):
        expect(name in names, f"the unpacked program knows no preset {name}")


def dead_links(documentation):
    """Links of the pages to files that are not there, as (page, link)."""
    return [(page.name, link) for page in documentation.rglob("*.md")
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
            if not (page.parent / link).exists()]


def main():
    cpack, build, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("dpkg-deb"):
        print("skipped: dpkg-dev is not installed")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    output(cpack, "--config", f"{build}/CPackConfig.cmake", "-B", str(folder))
    (program,) = folder.glob("npuscope_*.deb")
    (development,) = folder.glob("npuscope-dev_*.deb")
    paths = unpack(program, folder / "program", PROGRAM_FILES)
    expect(not any(path.endswith((".h", ".a", ".cmake")) for path in paths),
           "the program's package has files for development")
    unpack(development, folder / "development", DEVELOPMENT_FILES)
    depends = output("dpkg-deb", "--field", str(program), "Depends")
    for name in DEPENDENCIES:
        expect(name in depends, f"the package does not depend on {name}: {depends}")
    run_unpacked(folder / "program")
    output("dpkg-deb", "--extract", str(development), str(folder / "program"))
    for page, link in dead_links(folder / "program/usr/share/doc/npuscope"):
        expect(False, f"{page} links to {link}, which is not installed")
    print("\n".join(problems) if problems else f"{program.name}: {len(paths)} paths, {depends.strip()}")
    shutil.rmtree(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
