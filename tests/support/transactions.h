// SPDX-License-Identifier: Apache-2.0
// The same program with memory accessed burst by burst, with the bytes of the reads as all that the
// units compute with, and with a second thread that computes all values: no byte, no cycle and no
// finding differs from the usual way.
#pragma once

#include <gtest/gtest.h>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/session.h"

namespace npuscope::test {

inline void expect_the_same_by_transactions(const Program& program, const SystemConfig& system,
                                            const Result& expected) {
    const auto expect_same = [&](const SystemConfig& changed, const RunOptions& options) {
        const Result result = run_program(program, changed, options);
        EXPECT_EQ(result.status(), expected.status()) << program.name;
        EXPECT_EQ(result.cycles, expected.cycles) << program.name;
        EXPECT_EQ(result.findings.size(), expected.findings.size()) << program.name;
    };
    expect_same(system, {.value_thread = 0});
    for (const McifTransactions way : {McifTransactions::Bursts, McifTransactions::Values}) {
        SystemConfig asking = system;
        nvdla_npu(asking).mcif.transactions = way;
        expect_same(asking, {});
    }
}

}  // namespace npuscope::test
