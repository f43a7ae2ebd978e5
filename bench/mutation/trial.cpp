// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/trial.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "bench/mutation/other_contents.h"
#include "models/base/check.h"
#include "sim/check/causes.h"
#include "sim/check/job_proof.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

constexpr std::array effect_names{
    std::pair{Effect::None, std::string_view("none")},
    std::pair{Effect::Hazard, std::string_view("hazard")},
    std::pair{Effect::Masked, std::string_view("masked")},
    std::pair{Effect::Cycles, std::string_view("cycles")},
    std::pair{Effect::Bytes, std::string_view("bytes")},
    std::pair{Effect::Outcome, std::string_view("outcome")},
    std::pair{Effect::Lost, std::string_view("lost")},
};

std::string signature(const Diagnostic& finding) {
    return finding.id + " " + finding.register_name + " " + finding.operation;
}

/// Cycles that differ by more than 5 % change an operation's time.
bool times_differ(std::uint64_t one, std::uint64_t other) {
    return 20 * (std::max(one, other) - std::min(one, other)) > one;
}

}  // namespace

std::string_view effect_name(Effect effect) {
    return std::ranges::find(effect_names, effect, &std::pair<Effect, std::string_view>::first)
        ->second;
}

Effect effect_from_name(std::string_view name) {
    const auto found =
        std::ranges::find(effect_names, name, &std::pair<Effect, std::string_view>::second);
    return found == effect_names.end() ? Effect::Lost : found->first;
}

std::vector<ByteRun> compared_regions(const Program& program, const MemoryConfig& memory,
                                      bool without_loads) {
    std::vector<ByteRun> regions;
    constexpr Bytes around(4096);
    const auto add = [&](Address address, Bytes bytes) {
        constexpr Bytes most(std::uint64_t{4} << 20U);
        const Address first(std::max(address.value, around.value) - around.value);
        const ByteRun wide{first, std::min(bytes, most) + around + around};
        if (memory.holds(wide.address, wide.bytes)) {
            regions.push_back(wide);
        } else if (memory.holds(address, bytes)) {
            regions.push_back({address, std::min(bytes, most)});
        }
    };
    std::vector<ByteRun> loads;
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            loads.push_back({load->address, Bytes(load->image.end())});
            if (!without_loads) {
                add(load->address, Bytes(load->image.end()));
            }
        } else if (const auto* crc = std::get_if<CheckCrc>(&statement.action)) {
            add(crc->address, crc->bytes);
        } else if (const auto* image = std::get_if<CheckImage>(&statement.action)) {
            add(image->address, image->bytes);
        }
    }
    if (without_loads) {  // what is loaded near a result is not part of it
        std::vector<ByteRun> kept;
        for (ByteRun region : regions) {
            for (const ByteRun& load : loads) {
                if (load.address <= region.address && load.end() > region.address) {
                    region = {load.end(),
                              load.end() < region.end() ? region.end() - load.end() : Bytes(0)};
                } else if (load.address > region.address && load.address < region.end()) {
                    region.bytes = load.address - region.address;
                }
            }
            if (region.bytes.value > 0) {
                kept.push_back(region);
            }
        }
        return kept;
    }
    return regions;
}

Outcome run_for_outcome(const Program& program, const SystemConfig& system,
                        const std::vector<ByteRun>& regions, std::uint64_t most_cycles,
                        const std::vector<NamedMap>& results) {
    Outcome outcome;
    RunOptions options;
    options.max_cycles = Cycles(most_cycles);
    for (const ByteRun& region : regions) {
        options.keep.push_back({region, {}});
    }
    for (const NamedMap& result : results) {
        options.keep.push_back({result.run(), result.after});
    }
    try {
        Result result = run_program(program, system, options);
        outcome.end = enum_name(result.status());
        outcome.cycles = result.cycles.value;
        outcome.bytes = std::move(result.kept);
        for (const Diagnostic& finding : result.findings) {
            if (finding.severity != Severity::Note) {
                outcome.findings.push_back(signature(finding));
            }
        }
        std::ranges::sort(outcome.findings);
    } catch (const ConfigError&) {
        outcome.end = "refused";
    } catch (const MachineStopped&) {
        outcome.end = "stopped";
    }
    return outcome;
}

namespace {

bool names(const Diagnostic& finding, const Mistake& mistake) {
    const auto mentions = [&](const std::string& name) {
        return finding.register_name == name || finding.sentence.find(name) != std::string::npos ||
               finding.remedy.find(name) != std::string::npos;
    };
    const auto inside = [&](const ByteRun& run) {
        return finding.address && *finding.address >= run.address && *finding.address < run.end();
    };
    return std::ranges::any_of(mistake.registers, mentions) ||
           std::ranges::any_of(mistake.bytes, inside) ||
           (finding.place.line > 0 &&
            std::ranges::find(mistake.places, finding.place) != mistake.places.end());
}

}  // namespace

Answer answer_of(const CheckReport& good, const CheckReport& bad, const Mistake& mistake) {
    std::vector<std::string> known;
    std::ranges::transform(good.findings, std::back_inserter(known), signature);
    const std::vector<std::optional<std::size_t>> causes = causes_of(bad);
    Answer answer;
    for (std::size_t i = 0; i < bad.findings.size(); ++i) {
        const Diagnostic& finding = bad.findings[i];
        if (finding.severity == Severity::Note ||
            std::ranges::find(known, signature(finding)) != known.end()) {
            continue;
        }
        if (!answer.found) {
            answer = {.found = true,
                      .named = names(finding, mistake),
                      .id = finding.id,
                      .first = finding.register_name + ": " + finding.sentence};
        }
        answer.causes += causes[i] ? 0U : 1U;
    }
    return answer;
}

namespace {

std::vector<NamedMap> job_results(const Program& program) {
    std::vector<NamedMap> results;
    for (const NamedSurface& surface : program.surfaces) {
        if (std::optional<NamedMap> map = map_of(surface); map && surface.is_result) {
            results.push_back(std::move(*map));
        }
    }
    return results;
}

}  // namespace

Trial::Trial(const Subject& subject)
    : system_(system_of(subject)),
      npu_(system_.npu.find<NpuConfig>() != nullptr ? nvdla_npu(system_) : NpuConfig{}),
      program_(program_of(subject, system_)),
      results_(launches_known_jobs(program_) ? job_results(program_) : std::vector<NamedMap>{}),
      site_(site_of(program_, system_.family->registers(system_.npu).blocks, npu_)),
      good_report_(report_of(program_)) {}

Outcome Trial::run(const Program& program, const SystemConfig& system, bool without_loads,
                   std::uint64_t most_cycles) const {
    return run_for_outcome(program, system,
                           compared_regions(program_, system_.memory, without_loads), most_cycles,
                           results_);
}

CheckReport Trial::report_of(const Program& program) const {
    return system_.npu.find<NpuConfig>() != nullptr ? check_program(program, {npu_, system_.memory})
                                                    : check_jobs(program, system_.memory);
}

const Outcome& Trial::good(bool without_loads) {
    const auto [place, added] = good_.try_emplace(without_loads);
    if (added) {
        constexpr std::uint64_t most = 100'000'000;
        place->second = run(program_, system_, without_loads, most);
        NPU_CHECK(place->second.end == "pass" || place->second.end == "unchecked",
                  "a good program ends with " + place->second.end);
    }
    return place->second;
}

namespace {

/// Nothing where the program cannot even be read.
std::optional<Program> spoiled(Program program, const Mistake& mistake) {
    try {
        mistake.make(program);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
    return program;
}

}  // namespace

Effect Trial::effect_of(const Mistake& mistake) {
    const Outcome& good = this->good(mistake.in_images);
    const std::optional<Program> program = spoiled(program_, mistake);
    if (!program) {
        return Effect::Outcome;
    }
    const Outcome bad = run(*program, system_, mistake.in_images, 20 * good.cycles + 200'000);
    if (bad.end != good.end) {
        return Effect::Outcome;
    }
    if (bad.bytes != good.bytes) {
        return Effect::Bytes;
    }
    if (times_differ(good.cycles, bad.cycles)) {
        return Effect::Cycles;
    }
    if (!std::ranges::includes(good.findings, bad.findings)) {
        return Effect::Hazard;
    }
    return is_masked(mistake) ? Effect::Masked : Effect::None;
}

bool Trial::is_masked(const Mistake& mistake) {
    const std::uint64_t most_cycles = 20 * good(mistake.in_images).cycles + 1'000'000;
    const OtherContents others(site_, compared_regions(program_, system_.memory, false));
    Program bad_program = program_;
    mistake.make(bad_program);
    const auto is_as = [](const Outcome& one, const Outcome& other) {
        const auto ends = [](const Outcome& outcome, const char* end) {
            return outcome.end == end;
        };
        return one.bytes == other.bytes && ends(one, "refused") == ends(other, "refused") &&
               ends(one, "stopped") == ends(other, "stopped");
    };
    struct Variation {
        OtherBytes bytes;
        unsigned latency;
    };
    constexpr std::array variations{Variation{OtherBytes::Wide, 50}, Variation{OtherBytes::Wide, 1},
                                    Variation{OtherBytes::Wide, 400},
                                    Variation{OtherBytes::Small, 50}};
    return std::ranges::any_of(variations, [&](const Variation& variation) {
        SystemConfig system = system_;
        system.memory.read_latency = Cycles(variation.latency);
        const auto with_others = [&](const Program& program) {
            return run(others.with_others(program, variation.bytes), system, mistake.in_images,
                       most_cycles);
        };
        return !is_as(with_others(bad_program), with_others(program_));
    });
}

Answer Trial::answer_to(const Mistake& mistake) const {
    Program program = program_;
    try {
        mistake.make(program);
        return answer_of(good_report_, report_of(program), mistake);
    } catch (const ConfigError& error) {
        CheckReport refused;
        refused.findings = {error.diagnostic()};
        return answer_of(good_report_, refused, mistake);
    }
}

}  // namespace npuscope::bench
