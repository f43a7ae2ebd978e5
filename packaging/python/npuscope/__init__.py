# SPDX-License-Identifier: Apache-2.0
"""An NPU in Python: registers, memory, interrupts, cycles.

    import npuscope
    with npuscope.Device("nv_small", ["memory=dram_200"]) as npu:
        npu.write_memory(0x80000000, npuscope.pack(frame, "feature:atom=8"))
        npu.write(registers["NVDLA_PDP.D_OP_ENABLE_0"], 1)
        npu.run_until_interrupt()
        print(npu.result()["operations"])

The work is done by libnpuscope.so, found through NPUSCOPE_LIBRARY (a file), where the package was installed,
or in the system's library path. Arrays are numpy's, and are passed without a copy.
"""
from ._library import Device, Error, Limit, Stopped, WrongInput, pack, registers, run, unpack, version
from .lockstep import Difference, Lockstep, Surface
from .playing import play
from .recording import Recorder, replay

__all__ = ["Device", "Difference", "Error", "Limit", "Lockstep", "Recorder", "Stopped", "Surface", "WrongInput", "pack", "play",
           "registers", "replay", "run", "unpack", "version"]
