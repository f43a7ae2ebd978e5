# SPDX-License-Identifier: Apache-2.0
"""Pools a frame on the PDP of an nv_small, compares it with numpy, and shows where a network's time goes."""
import numpy as np

import npuscope

FROM, TO = 0x80000000, 0x80100000
CHANNELS, SIDE, ATOM = 16, 24, 8
HALF = SIDE // 2

frame = np.random.default_rng(1).integers(-128, 128, (1, CHANNELS, SIDE, SIDE), np.int8)
address = npuscope.registers("nv_small")

with npuscope.Device("nv_small", ["memory=dram_50"]) as npu:
    npu.write_memory(FROM, npuscope.pack(frame, "feature:atom=8"))
    npu.write(address["NVDLA_GLB.S_INTR_MASK_0"], 0)
    both = {"D_DATA_CUBE_IN_WIDTH_0": SIDE - 1, "D_DATA_CUBE_IN_HEIGHT_0": SIDE - 1, "D_DATA_CUBE_IN_CHANNEL_0": CHANNELS - 1,
            "D_SRC_BASE_ADDR_LOW_0": FROM, "D_SRC_LINE_STRIDE_0": SIDE * ATOM, "D_SRC_SURFACE_STRIDE_0": SIDE * SIDE * ATOM}
    reader = {**both, "D_FLYING_MODE_0": 1, "D_SRC_RAM_CFG_0": 1, "D_POOLING_KERNEL_CFG_0": 0x11}
    pool = {**both, "D_DATA_CUBE_OUT_WIDTH_0": HALF - 1, "D_DATA_CUBE_OUT_HEIGHT_0": HALF - 1,
            "D_DATA_CUBE_OUT_CHANNEL_0": CHANNELS - 1, "D_OPERATION_MODE_CFG_0": 0x11, "D_POOLING_KERNEL_CFG_0": 0x110101,
            "D_DST_BASE_ADDR_LOW_0": TO, "D_DST_LINE_STRIDE_0": HALF * ATOM, "D_DST_SURFACE_STRIDE_0": HALF * HALF * ATOM,
            "D_DST_RAM_CFG_0": 1}
    for unit, fields in (("NVDLA_PDP_RDMA", reader), ("NVDLA_PDP", pool)):
        for name, value in fields.items():
            npu.write(address[f"{unit}.{name}"], value)
    npu.write(address["NVDLA_PDP.D_OP_ENABLE_0"], 1)
    npu.write(address["NVDLA_PDP_RDMA.D_OP_ENABLE_0"], 1)
    cycles = npu.run_until_interrupt()
    pooled = npuscope.unpack(npu.read_memory(TO, CHANNELS * HALF * HALF), (1, CHANNELS, HALF, HALF), np.int8, "feature:atom=8")
    result = npu.result()

expected = frame.reshape(1, CHANNELS, HALF, 2, HALF, 2).max(axis=(3, 5))
print(f"pooled in {cycles} cycles, bound by {result['operations'][0]['bound_by']}: "
      f"{'as numpy does' if (pooled == expected).all() else 'WRONG'}")
assert (pooled == expected).all()

for banks in (16, 32):
    network = npuscope.run("lenet", npu="nv_small", changes=[f"npu.cbuf.banks={banks}"], values="off")
    print(f"lenet with {banks} banks: {network['cycles']} cycles")
