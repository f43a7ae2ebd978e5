# SPDX-License-Identifier: Apache-2.0
"""Two devices under one register program: first npuscope with a fast memory and one with a slow memory, then one with a
memory bit that flips. The second device may just as well be RTL behind an adapter.

    python3 lockstep.py /usr/share/npuscope/configs/experiment/three_layers
"""
import sys

import numpy as np

import npuscope

PROGRAM = sys.argv[1]


class Flipped(npuscope.Device):
    """A device in whose memory one bit flips."""

    place = 0

    def read_memory(self, address: int, size: "int | None" = None, out: "np.ndarray | None" = None) -> np.ndarray:
        data = super().read_memory(address, size, out)
        if address <= self.place < address + data.size:
            data[self.place - address] ^= 4
        return data


with npuscope.Device("nv_small", ["memory=dram_50"]) as model, npuscope.Device("nv_small", ["memory=dram_200"]) as other:
    pair = npuscope.Lockstep(model, other, names=("fast", "slow"))
    outcome = npuscope.play(PROGRAM, pair)
    pair.finish()
    print(f"{len(pair.compared)} surfaces compared, {outcome['checks']} checks, {model.cycle} and {other.cycle} cycles")
    assert not outcome["failed"] and model.cycle < other.cycle
    second = pair.compared[1]

with npuscope.Device("nv_small") as model, Flipped("nv_small") as other:
    other.place = second.address(channel=11, row=2, column=5)
    try:
        npuscope.play(PROGRAM, npuscope.Lockstep(model, other))
        raise SystemExit("the difference was not found")
    except npuscope.Difference as difference:
        print(difference)
        assert (difference.unit, difference.operation) == (second.unit, second.operation)
        assert (difference.channel, difference.row, difference.column, difference.count) == (11, 2, 5, 1)
