// SPDX-License-Identifier: Apache-2.0
// What a planned program is expected to leave in memory: a CRC for the result of every layer,
// compared when the layer's last interrupt has come, before its bytes are used again.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/compile/nvdla/plan.h"
#include "sim/program/program.h"

namespace npuscope {

/// A layer's bytes, gaps included, and the id behind which they are there.
struct ExpectedResult {
    std::string layer;
    std::string sync;
    Address address;
    Bytes bytes;
    MemoryPort memory = MemoryPort::Primary;
};

/// In the order of the layers.
std::vector<ExpectedResult> expected_results(const Plan& plan);

/// Puts a statement behind the one that raises an id; a bug of ours where there is none.
void insert_behind(Program& program, const std::string& sync, Statement statement);

/// Adds a comparison for every result; their places are the numbers of the results, from 1 on.
/// `crcs`: one for each result, or none: zeros.
void add_expectations(Program& program, const std::vector<ExpectedResult>& results,
                      const std::vector<std::uint32_t>& crcs);

}  // namespace npuscope
