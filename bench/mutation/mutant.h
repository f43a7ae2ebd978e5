// SPDX-License-Identifier: Apache-2.0
// Mistakes of drivers, put into good programs one at a time. A kind lists every place of a program
// that it can corrupt; nothing is changed before one of them is chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/register_map.h"
#include "models/layout/feature_cube.h"
#include "models/npu/npu_config.h"
#include "sim/program/program.h"

namespace npuscope::bench {

/// A write of a register that the next operation of its unit uses.
struct Write {
    std::size_t statement = 0;
    RegisterPlace place;
    std::uint32_t value = 0;
    std::size_t operation = 0;  ///< counted over the enables of its block, for writes of one launch

    std::string name() const { return place.name(); }
    bool is(std::string_view block, std::string_view row) const {
        return place.block->name == block && place.row->name == row;
    }
};

/// A program as seen by the search for places to corrupt.
struct MutationSite {
    const Program& program;
    std::span<const RegisterBlock> blocks;
    const NpuConfig& npu;       ///< for an NPU without registers: an NVDLA's defaults
    std::vector<Write> writes;  ///< those that count: the last one to each register

    const Statement& at(std::size_t statement) const { return program.statements[statement]; }
};

MutationSite site_of(const Program& program, std::span<const RegisterBlock> blocks,
                     const NpuConfig& npu);

/// One mistake: how it is made, and what a finding must name to have named it.
struct Mistake {
    std::string what;  ///< `NVDLA_CDMA.D_LINE_STRIDE_0 0x78 -> 0x80`
    std::vector<std::string> registers{};
    std::vector<ByteRun> bytes{};
    std::vector<Place> places{};  ///< of statements
    std::function<void(Program&)> make{};
    bool in_images = false;  ///< other data are loaded: they are not compared
};

using Mistakes = std::vector<Mistake>;

struct MistakeKind {
    std::string_view name;
    std::string_view sentence;
    /// Contents, which a tool that does not know what the layer is meant to compute cannot judge.
    bool content = false;
    Mistakes (*list)(const MutationSite&) = nullptr;
};

/// Every kind, in the order of the table.
std::span<const MistakeKind> mistake_kinds();

// The lists of the kinds, by what they corrupt.
std::span<const MistakeKind> register_kinds();
std::span<const MistakeKind> mode_kinds();
std::span<const MistakeKind> order_kinds();
std::span<const MistakeKind> image_kinds();
std::span<const MistakeKind> job_kinds();

/// The write gets another value.
Mistake with_value(const Write& write, std::uint32_t value);
/// The statement is left out.
Mistake without(const MutationSite& site, std::size_t statement, std::string what);

/// The value of a field in a register's word, and the word with another one.
std::uint32_t field_of(std::uint32_t word, const RegisterField& field);
std::uint32_t with_field(std::uint32_t word, const RegisterField& field, std::uint32_t value);

}  // namespace npuscope::bench
