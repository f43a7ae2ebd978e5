#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of real runs keep docs/result.schema.json. Usage: result_schema_test.py NPUSCOPE"""

import json
import pathlib
import subprocess
import sys

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
]

schema = json.loads((ROOT / "docs/result.schema.json").read_text())
for run in RUNS:
    command = [sys.argv[1], "run", str(ROOT / run[0]), *run[1:], "--json", "-"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    jsonschema.validate(json.loads(ended.stdout), schema)
    print("keeps the schema:", *run)
