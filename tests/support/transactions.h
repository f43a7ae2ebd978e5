// SPDX-License-Identifier: Apache-2.0
// The same program where memory is asked burst by burst, and where the bytes of the reads are all that the
// units compute with: no byte, no cycle and no finding differs from the fast way.
#pragma once

#include <gtest/gtest.h>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/session.h"

namespace npuscope::test {

inline void expect_the_same_by_transactions(const Program& program, const SystemConfig& system,
                                            const Result& expected) {
    for (const McifTransactions way : {McifTransactions::Bursts, McifTransactions::Values}) {
        SystemConfig asking = system;
        nvdla_npu(asking).mcif.transactions = way;
        const Result result = run_program(program, asking, {});
        EXPECT_EQ(result.status(), expected.status()) << program.name;
        EXPECT_EQ(result.cycles, expected.cycles) << program.name;
        EXPECT_EQ(result.findings.size(), expected.findings.size()) << program.name;
    }
}

}  // namespace npuscope::test
