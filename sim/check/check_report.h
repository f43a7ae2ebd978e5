// SPDX-License-Identifier: Apache-2.0
// Static checks: nothing is run. A driver's program is compared with the rules of the machine,
// statement by statement, every operation at the moment it is enabled: misaligned addresses and
// strides, registers that make no job or contradict each other, surfaces outside memory or on top
// of each other, reads of uninitialised bytes, groups used in the wrong order, and operations that
// race. Values and times are not checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/check/memory_map.h"
#include "sim/config/text_table.h"
#include "sim/program/program.h"

namespace npuscope {

/// Bytes that a program leaves for its user.
struct ProgramOutput {
    std::string name;
    std::vector<ByteRun> bytes;
};

struct CheckTarget {
    const NpuConfig& npu;
    const MemoryConfig& memory;
    bool map = false;  ///< the report gets a map of memory
    std::span<const ProgramOutput> outputs{};
};

enum class ProofStatus { Proved, Differs, NotProved };

template <>
struct EnumNames<ProofStatus> {
    static constexpr std::array names{
        std::pair{ProofStatus::Proved, std::string_view("proved")},
        std::pair{ProofStatus::Differs, std::string_view("differs")},
        std::pair{ProofStatus::NotProved, std::string_view("not_proved")}};
};

/// A result of a program, and whether its bytes are those of the tensor operation.
struct ProofLine {
    std::string operation;  ///< the operation that writes it
    std::string unit;       ///< where its chain of operations began
    std::string meaning;    ///< the tensor operation in words
    ProofStatus status = ProofStatus::NotProved;
    std::string reason;          ///< why it is not proved
    std::uint64_t elements = 0;  ///< number of elements compared
};

/// A layer of the model that a program is compared with.
struct LayerLine {
    std::string layer;
    std::string status;  ///< `equal`, or the reason why it is not
};

struct CheckReport {
    std::string subject;  ///< the program's or the image's name
    std::string npu;
    std::size_t operations = 0;
    std::size_t surfaces = 0;
    Diagnostics findings;
    std::vector<ProofLine> proof{};   ///< if requested
    std::vector<LayerLine> layers{};  ///< of a model, if requested
    /// For operations that read their input on the fly: the first of those that feed them.
    std::map<std::string, std::string> chains{};
    MemoryMap map{};  ///< if requested, and for jobs and images
    /// Of a model's segments, each in the memory of its own machine.
    std::vector<std::pair<std::string, MemoryMap>> segment_maps{};

    /// Notes are not mistakes: silicon ignores what they report.
    bool clean() const;
    /// What was found in a part of the subject; an unnamed part is all of it and gives its map.
    void add(CheckReport part, const std::string& segment = "");
    /// All maps, each entry with its segment.
    std::vector<MappedBytes> mapped_bytes() const;
};

/// ConfigError if a statement makes no sense at all.
CheckReport check_program(const Program& program, const CheckTarget& target);

/// Why a run of a program failed.
struct Explanation {
    /// For each region: which operations write to it, by which registers, and how much is never
    /// written, one line each; for the first region also their inputs and settings.
    std::vector<std::vector<std::string>> writers;
    Diagnostics findings;  ///< of the static check: errors and warnings that the run did not report
};
/// `regions`: those found wrong by comparisons. Findings in `found` get the registers of surfaces.
Explanation explain_failure(const Program& program, const CheckTarget& target,
                            std::span<const ByteRun> regions, std::span<Diagnostic> found);
/// For a program that launches jobs: whether files and surfaces are in memory, and surfaces at
/// multiples of `alignment`. The report has a map.
CheckReport check_jobs(const Program& program, const MemoryConfig& memory,
                       Bytes alignment = Bytes(1));

/// For people and for other programs.
std::string check_text(const CheckReport& report, std::size_t width = report_width);
std::string memory_maps_text(const CheckReport& report, std::size_t width = report_width);
std::string check_json(const CheckReport& report);
/// The format that code hosts and editors show next to the source: a result per finding, and the
/// rules broken. source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0
std::string check_sarif(const CheckReport& report, const std::string& version);

}  // namespace npuscope
