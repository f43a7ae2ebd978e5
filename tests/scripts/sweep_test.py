# SPDX-License-Identifier: Apache-2.0
"""A sweep that is killed, or runs elsewhere, finds the same as an undisturbed one.

    sweep_test.py NPUSCOPE local|ssh|slurm [SLURM_LOCAL]

local: killed six times and started again. ssh: by GNU parallel, on this machine. slurm: on a cluster of
two nodes that SLURM_LOCAL starts, one of which is taken down half-way. Skipped (77) if the launcher is
not installed, and Slurm if not run as root.
"""
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SPACE = """
base: {program: resnet18, npu: nv_small, run: {values: off}}
axes:
  - {field: npu.datapath.atomic_c, values: [8, 16, 32]}
  - {field: npu.datapath.atomic_k, values: [8, 16]}
  - {name: banks, field: npu.cbuf.banks, values: [16, 32, 33]}
  - {field: memory.read_latency, values: [20, 100]}
"""


def content(folder):
    with sqlite3.connect(os.path.join(folder, "results.sqlite")) as database:
        return list(database.iterdump())


def sweep(*arguments, **options):
    return subprocess.run([NPUSCOPE, "sweep", *arguments], capture_output=True, text=True, **options)


def points_of(folder):
    """Points that are in the database, or in a part of it that a worker has written."""
    count = 0
    for file in pathlib.Path(folder).rglob("*.sqlite"):
        try:
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                count += database.execute("select count(*) from points where cycles is not null").fetchone()[0]
        except sqlite3.Error:  # it is being written
            pass
    return count


def killed(space, folder):
    """Kills the sweep at five random moments, and when a point is there, its workers with it or after it."""
    randomly = random.Random(5)
    for _ in range(5):
        process = subprocess.Popen([NPUSCOPE, "sweep", space, "--out", folder], stdout=subprocess.DEVNULL)
        time.sleep(randomly.uniform(0.05, 0.8))
        process.send_signal(signal.SIGKILL)
        process.wait()
    process = subprocess.Popen([NPUSCOPE, "sweep", space, "--out", folder], stdout=subprocess.DEVNULL)
    while process.poll() is None and points_of(folder) == 0:
        time.sleep(0.02)
    process.kill()
    process.wait()
    done = sweep(folder)
    assert done.returncode == 0, done.stderr
    assert " already in the database" in done.stdout, done.stdout


def elsewhere(space, folder, *options):
    done = sweep(space, "--out", folder, "--jobs", "1", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "36 designs, 36 run now\n" in done.stdout, done.stdout
    assert not os.path.exists(os.path.join(folder, "tasks")), os.listdir(folder)


def on_slurm(space, folder, slurm_local):
    cluster = os.path.join(os.path.dirname(folder), "cluster")
    environment = {**os.environ, "SLURM_CONF": os.path.join(cluster, "slurm.conf")}
    subprocess.run([slurm_local, "start", cluster], check=True)
    try:
        process = subprocess.Popen([NPUSCOPE, "sweep", space, "--out", folder, "--launcher", "slurm", "--tasks", "4", "--jobs", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(200):  # until tasks run on both nodes
            nodes = subprocess.run(["squeue", "--noheader", "--array", "--states=RUNNING", "--format=%N"], capture_output=True,
                                   text=True, env=environment).stdout.split()
            if len(set(nodes)) == 2 or process.poll() is not None:
                break
            time.sleep(0.1)
        assert process.poll() is None, process.communicate()
        subprocess.run([slurm_local, "down", cluster, "2"], check=True)
        time.sleep(1)
        subprocess.run([slurm_local, "up", cluster, "2"], check=True)
        out, errors = process.communicate(timeout=400)
        assert process.returncode == 0, out + errors
        assert "36 designs, 36 run now\n" in out, out
    finally:
        subprocess.run([slurm_local, "stop", cluster], check=False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        space = os.path.join(folder, "space.yaml")
        with open(space, "w") as file:
            file.write(SPACE)
        whole, other = os.path.join(folder, "whole"), os.path.join(folder, "other")
        done = sweep(space, "--out", whole, "--csv", os.path.join(folder, "whole.csv"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "12 illegal" in done.stdout and "24 unchecked" in done.stdout, done.stdout
        with open(os.path.join(folder, "whole.csv")) as file:
            assert len(file.readlines()) == 37
        kind = sys.argv[2]
        if kind == "ssh" and not shutil.which("parallel"):
            print("skipped: GNU parallel is not installed")
            return 77
        if kind == "slurm" and (os.geteuid() != 0 or not all(
                shutil.which(one, path=os.environ["PATH"] + ":/usr/sbin") for one in ("slurmctld", "slurmd", "munged", "sbatch"))):
            print("skipped: Slurm is not installed, or this is not root")
            return 77
        if kind == "local":
            killed(space, other)
            none = os.path.join(folder, "none.yaml")
            with open(none, "w") as file:
                file.write(SPACE.replace("values: [16, 32, 33]", "values: [33]"))
            done = sweep(none, "--out", os.path.join(folder, "none"))
            assert done.returncode == 1 and "12 illegal" in done.stdout, done.stdout + done.stderr
        elif kind == "ssh":
            elsewhere(space, other, "--launcher", "ssh", "--hosts", ":", "--tasks", "3")
        else:
            on_slurm(space, other, sys.argv[3])
        assert content(other) == content(whole)
    return 0


NPUSCOPE = sys.argv[1]
if __name__ == "__main__":
    sys.exit(main())
