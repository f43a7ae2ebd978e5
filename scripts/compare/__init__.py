# SPDX-License-Identifier: Apache-2.0
"""What `compare_builds` compares: every invocation of npuscope over the programs of the reference data.

A group is one function that yields cases. Another kind of program is another function, named here.
"""

from compare.broken import broken, lists
from compare.layouts import images, layouts
from compare.networks import models, onnx, tables
from compare.programs import memory, mutants, presets, reports, rtl, traces, vectors

GROUPS = (traces, vectors, rtl, presets, memory, reports, mutants, onnx, models, tables, layouts, images,
          broken, lists)


def all_cases(data):
    return [case for group in GROUPS for case in group(data)]


def sample(cases, share):
    """An even selection of every kind of case; none that takes long."""
    kinds = {}
    for case in cases:
        if not case.heavy:
            kinds.setdefault((case.group, case.npu, case.verb, bool(case.note)), []).append(case)
    chosen = []
    for kind in kinds.values():
        count = max(1, -(-len(kind) // share))
        chosen += [kind[i * len(kind) // count] for i in range(count)]
    return chosen
