#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of real runs keep docs/result.schema.json. Usage: result_schema_test.py NPUSCOPE"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RUNS = [
    ["configs/experiment/three_layers/program.cfg", "--npu", "nv_small"],
    ["configs/workload/lenet.yaml", "--npu", "nv_large"],
    ["configs/workload/ds_cnn.yaml", "--npu", "nv_full", "--memory", "ddr4_3200", "--values", "off"],
    ["configs/workload/ti_cls_1k.yaml", "--npu", "tinpu_f28p55"],
    ["configs/workload/lenet.yaml", "--compare-layers"],
]

schema = json.loads((ROOT / "docs/result.schema.json").read_text())
for run in RUNS:
    command = [sys.argv[1], "run", str(ROOT / run[0]), *run[1:], "--json", "-"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    jsonschema.validate(json.loads(ended.stdout), schema)
    print("keeps the schema:", *run)

with tempfile.TemporaryDirectory() as folder:
    zeros = pathlib.Path(folder) / "zeros.bin"
    zeros.write_bytes(bytes(9216))
    command = [sys.argv[1], "run", str(ROOT / RUNS[0][0]), "--json", "-",
               "--golden", f"0x80040000:1x16x24x24:int8:feature:atom=8={zeros}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    result = json.loads(ended.stdout)
    jsonschema.validate(result, schema)
    assert result["checks"][-1]["difference"]["mismatches"] > 0
    print("keeps the schema: a result with a difference")
