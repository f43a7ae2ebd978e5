// SPDX-License-Identifier: Apache-2.0
#include "sim/run/static_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "models/npu/npu_config.h"
#include "sim/check/rules.h"
#include "sim/compile/tinpu/restrictions.h"

namespace npuscope {
namespace {

/// Mistakes that this memory and its latency hide: races between operations, and operands that were
/// never loaded at all. The run cannot see them, but a static check can.
void add_hazards(Diagnostics checked, Diagnostics& findings) {
    for (Diagnostic& one : checked) {
        const Rule* rule = find_rule(one.id);
        if (rule == nullptr || rule->told_as.empty()) {
            continue;
        }
        const bool told = std::ranges::any_of(findings, [&](const Diagnostic& other) {
            return other.operation == one.operation &&
                   (other.id == one.id || other.id == rule->told_as);
        });
        if (!told) {
            one.severity = Severity::Warning;
            findings.push_back(std::move(one));
        }
    }
}

}  // namespace

std::string likely_causes(const Program& program, const SystemConfig& system,
                          const RunOptions& options) {
    const NpuConfig* npu = system.npu.find<NpuConfig>();
    if (npu == nullptr) {
        return {};
    }
    constexpr std::size_t most = 3;
    Diagnostics errors = check_program(program, {*npu, system.memory}).findings;
    std::erase_if(errors, [](const Diagnostic& one) { return one.severity != Severity::Error; });
    const auto stuck = [](const Diagnostic& one) {
        const Rule* rule = find_rule(one.id);
        return rule != nullptr && rule->hangs();
    };
    if (!options.values || std::ranges::any_of(errors, stuck)) {
        std::erase_if(errors, std::not_fn(stuck));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(most, errors.size()); ++i) {
        const std::string place = to_string(errors[i].place);
        const std::string& name = errors[i].register_name;
        const bool named = name.empty() || errors[i].sentence.starts_with(name);
        text += fmt::format("\n  likely cause: {}{}{}{}{} [{}]; {}", place,
                            place.empty() ? "" : ": ", named ? "" : name, named ? "" : ": ",
                            errors[i].sentence, errors[i].id, errors[i].remedy);
    }
    return text;
}

std::future<CheckReport> begin_check(const Program& program, const SystemConfig& system,
                                     const RunOptions& options) {
    const NpuConfig* npu = system.npu.find<NpuConfig>();
    const bool of_file =
        !program.statements.empty() && !program.statements.front().place.file.empty();
    if (npu == nullptr || !of_file || !options.check || !options.shadow) {
        return {};
    }
    return std::async(std::launch::async, [&program, &system, npu, map = options.map] {
        return check_program(program, {*npu, system.memory, map});
    });
}

void explain(const Program& program, const SystemConfig& system,
             const std::optional<CheckReport>& checked, Result& result) {
    constexpr std::size_t most = 16;  // comparisons; a program that is wrong early has many
    const NpuConfig* npu = system.npu.find<NpuConfig>();
    std::vector<CheckResult*> failed;
    std::vector<ByteRun> regions;
    for (CheckResult& check : result.checks) {
        const bool region = check.kind != CheckKind::Register && check.bytes > Bytes(0);
        if (!check.pass && check.reached && region && failed.size() < most) {
            failed.push_back(&check);
            // for an image the address is that of the first byte that differs
            regions.push_back(
                {check.address, check.kind == CheckKind::Crc32 ? check.bytes : Bytes(1)});
        }
    }
    const bool wrong = !failed.empty() || std::ranges::any_of(result.findings, [](const auto& one) {
        return one.severity == Severity::Error;
    });
    if (npu == nullptr) {
        return;
    }
    if (!wrong) {
        if (checked) {
            add_hazards(checked->findings, result.findings);
        }
        return;
    }
    Explanation explanation =
        explain_failure(program, {*npu, system.memory}, regions, result.findings);
    for (std::size_t i = 0; i < failed.size(); ++i) {
        std::ranges::move(explanation.writers[i], std::back_inserter(failed[i]->writers));
    }
    std::ranges::move(explanation.findings, std::back_inserter(result.findings));
}

CheckReport check_on(const SystemConfig& system, const Program& program, bool map,
                     std::span<const ProgramOutput> outputs) {
    const auto* npu = system.npu.find<NpuConfig>();
    const auto* jobs = system.npu.find<LayerNpuConfig>();
    const Bytes alignment = jobs != nullptr ? jobs->engine.alignment : Bytes(1);
    const auto check = [&](const Program& checked) {
        return npu != nullptr ? check_program(checked, {*npu, system.memory, map, outputs})
                              : check_jobs(checked, system.memory, alignment);
    };
    const std::vector<ProgramPart> parts = parts_of(program);
    CheckReport report;
    report.subject = program.name;
    for (const ProgramPart& part : parts) {
        report.add(parts.size() > 1 ? check(program_of(part)) : check(program),
                   part.segment != nullptr ? part.segment->name : "");
    }
    return report;
}

}  // namespace npuscope
