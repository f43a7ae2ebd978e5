#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the Python example with the installed module, and what it refuses. Skipped (77) without numpy.
set -euo pipefail
prefix=$1 example=$2
/usr/bin/python3 -c "import numpy" 2>/dev/null || {
    echo "skipped: python3-numpy is not installed"
    exit 77
}
export PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$example"
/usr/bin/python3 - <<'END'
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
assert "nothing is left" in refused(npuscope.Stopped, npu.run_until_interrupt)
refused(npuscope.WrongInput, lambda: npu.read(0xFFFFFFFC))
refused(npuscope.WrongInput, lambda: npu.read_memory(0x80000000))
npu.advance(100)
assert npu.cycle >= 100 and not npu.interrupt
out = np.zeros(16, np.uint8)
npu.write_memory(0x80000000, bytes(range(16)))
assert npu.read_memory(0x80000000, out=out) is out and out[15] == 15
npu.reset()
assert npu.cycle == 0
npu.close()
npu.close()
refused(npuscope.WrongInput, lambda: npu.advance(1))
array = np.arange(30, dtype=np.int16).reshape(1, 3, 2, 5)
packed = npuscope.pack(array, "feature:atom=16")
assert (npuscope.unpack(packed, array.shape, np.int16, "feature:atom=16") == array).all()
refused(npuscope.WrongInput, lambda: npuscope.pack(array, "featur"))
END
