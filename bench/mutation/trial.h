// SPDX-License-Identifier: Apache-2.0
// One good program and one with a mistake in it, on the machine and in `check`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/mutation/mutant.h"
#include "bench/mutation/subjects.h"
#include "sim/check/check_report.h"
#include "sim/check/job_maps.h"

namespace npuscope::bench {

/// What a mistake does on the machine. Hazard: bytes, cycles and outcome are the same, but the run
/// itself warns. Masked: they are the same with these images, in this empty memory and at its
/// latency, but bytes differ with others. Lost: the run did not end by itself.
enum class Effect { None, Hazard, Masked, Cycles, Bytes, Outcome, Lost };

std::string_view effect_name(Effect effect);
Effect effect_from_name(std::string_view name);

inline bool matters(Effect effect) {
    return effect != Effect::None && effect != Effect::Hazard && effect != Effect::Masked;
}

/// The outcome of a run that can be compared with another.
struct Outcome {
    std::string end;  ///< `pass`, `refused`, `stopped`, ...
    std::uint64_t cycles = 0;
    std::vector<std::vector<std::uint8_t>> bytes;
    std::vector<std::string> findings;  ///< ids and registers of warnings
};

/// The regions of memory that are compared: what a program fills, compares and, unless
/// `without_loads`, loads, each with its surroundings.
std::vector<ByteRun> compared_regions(const Program& program, const MemoryConfig& memory,
                                      bool without_loads);

/// And what each of `results`, maps of jobs, holds when its job has ended.
Outcome run_for_outcome(const Program& program, const SystemConfig& system,
                        const std::vector<ByteRun>& regions, std::uint64_t most_cycles,
                        const std::vector<NamedMap>& results = {});

/// What `check` reports about a mistake.
struct Answer {
    bool found = false;      ///< a warning or an error that the good program does not have
    bool named = false;      ///< the first of them names what is wrong
    std::size_t causes = 0;  ///< how many do not follow from an earlier one
    std::string id{};        ///< of the first
    std::string first{};     ///< its register and message
};

Answer answer_of(const CheckReport& good, const CheckReport& bad, const Mistake& mistake);

struct TrialRow {
    std::string program;
    std::string kind;
    std::string what;
    bool content = false;
    Effect effect = Effect::None;
    Answer answer;
};

/// A good program with all that is needed to try mistakes in it.
class Trial {
 public:
    explicit Trial(const Subject& subject);

    const MutationSite& site() const { return site_; }
    const CheckReport& good_report() const { return good_report_; }
    /// Errors about the program itself: the machine refuses it, so nothing can be compared.
    bool is_refused() const {
        return std::ranges::any_of(good_report_.findings, [](const Diagnostic& finding) {
            return finding.severity == Severity::Error;
        });
    }
    /// Runs the good program if none of its mistakes was tried on the machine yet.
    Effect effect_of(const Mistake& mistake);
    Answer answer_to(const Mistake& mistake) const;

 private:
    const Outcome& good(bool without_loads);
    /// Whether other images, other bytes around them or another latency show the mistake.
    bool is_masked(const Mistake& mistake);

    Outcome run(const Program& program, const SystemConfig& system, bool without_loads,
                std::uint64_t most_cycles) const;
    CheckReport report_of(const Program& program) const;

    SystemConfig system_;
    NpuConfig npu_;  ///< if it has registers
    Program program_;
    std::vector<NamedMap> results_;  ///< of jobs
    MutationSite site_;
    CheckReport good_report_;
    std::map<bool, Outcome> good_;
};

}  // namespace npuscope::bench
