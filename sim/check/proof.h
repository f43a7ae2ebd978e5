// SPDX-License-Identifier: Apache-2.0
// What the results of a register program mean: its operations run on the reference operators, in
// the order in which the launch engine lets them start, over a byte memory that holds the loaded
// files. Each result is then compared with the bytes that the machine wrote. Nothing is proved of a
// result that no reference operator computes, or that depends on such a one. Times are not checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/check/check_report.h"
#include "sim/check/plain_operators.h"
#include "sim/program/program.h"

namespace npuscope {

/// The elements that differ between the tensor operation and the machine.
struct ProofDifference {
    std::uint64_t elements = 0;
    SurfacePlace first;
    Address address;
    std::int32_t plain = 0;    ///< as sign-extended bits
    std::int32_t machine = 0;  ///< as sign-extended bits
};

/// One result in memory and the operations that produced it, the last of which writes it.
struct ProvedResult {
    std::string operation;                ///< `sdp 4`: writes the result
    std::string unit;                     ///< its pipeline, or bdma: where it began
    std::string meaning;                  ///< the tensor operation in words
    std::optional<PlainSurface> surface;  ///< none: not proved
    std::string after;               ///< id after which its bytes are in memory; empty: at the end
    std::string unproved;            ///< why; empty if the surface can be compared
    std::vector<PlainArray> arrays;  ///< input, weights, result; only if they are kept
    std::uint64_t elements = 0;      ///< number of elements compared
    std::optional<ProofDifference> difference;
    Place place;

    bool proved() const { return unproved.empty() && !difference; }
};

/// Nothing outside of the machine's memory, which refuses the statement.
void fill_memory(const InitMemory& init, const MemoryConfig& machine, SparseMemory& memory);

std::vector<ProvedResult> plain_results(const Program& program, const CheckTarget& target,
                                        bool keep_arrays);

/// `machine`: the bytes of surface->extent() as the machine left them.
void hold_against(ProvedResult& result, std::span<const std::uint8_t> machine);

/// A difference is an error, an unproved result a note.
Diagnostics proof_findings(const std::vector<ProvedResult>& results);

}  // namespace npuscope
