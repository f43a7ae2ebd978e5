// SPDX-License-Identifier: Apache-2.0
#include "sim/run/open_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/base/rule_ids.h"
#include "sim/program/awaited_findings.h"
#include "sim/run/memory_checks.h"

namespace npuscope {
namespace {

Diagnostic awaited_in_vain(const SyncBoard::Awaited& awaited, std::uint32_t mask) {
    if (awaited.interrupt && (mask >> interrupt_bit(*awaited.interrupt) & 1U) != 0) {
        Diagnostic masked =
            masked_interrupt(to_string(*awaited.interrupt), awaited.sync, awaited.place);
        masked.unit = "NVDLA_GLB";
        masked.register_name = "NVDLA_GLB.S_INTR_MASK_0";
        return masked;
    }
    Diagnostic vain = endless_wait(
        fmt::format(
            "{} is awaited for '{}', but no operation raised it",
            awaited.interrupt ? "interrupt " + to_string(*awaited.interrupt) : "an interrupt",
            awaited.sync),
        "enable an operation of that unit in that register group, or await the interrupt of the "
        "unit that writes the result",
        awaited.place);
    vain.unit = "NVDLA_GLB";
    vain.register_name = "NVDLA_GLB.S_INTR_STATUS_0";
    return vain;
}

Diagnostic check_not_made(const std::string& sync, const char* subject, const Place& place) {
    return {.id = rule_ids::check_not_made,
            .sentence = fmt::format("{} waits for '{}', which nothing raises", subject, sync),
            .remedy = "bind an interrupt to it (intr_notify), or raise it (sync_notify)",
            .place = place};
}

/// The id that a statement needs; empty for most.
std::string needed_sync(const Action& action) {
    if (const auto* wait = std::get_if<SyncWait>(&action)) {
        return wait->sync;
    }
    if (const auto* crc = std::get_if<CheckCrc>(&action)) {
        return crc->sync;
    }
    if (const auto* image = std::get_if<CheckImage>(&action)) {
        return image->sync;
    }
    const auto* nothing = std::get_if<CheckNothing>(&action);
    return nothing == nullptr ? "" : nothing->sync;
}

/// The statement in which the host waits.
std::optional<Diagnostic> waits_in_vain(const Statement& statement) {
    if (const auto* wait = std::get_if<SyncWait>(&statement.action)) {
        return endless_wait(
            fmt::format("'{}' is awaited, but nothing raises it", wait->sync),
            "bind an interrupt to it (intr_notify), or raise it (sync_notify) first",
            statement.place);
    }
    if (std::holds_alternative<WaitForInterrupt>(statement.action)) {
        Diagnostic finding = endless_wait(
            "an interrupt is awaited, but none is raised",
            "enable an operation first, and clear its unit's bit in NVDLA_GLB.S_INTR_MASK_0",
            statement.place);
        finding.unit = "NVDLA_GLB";
        return finding;
    }
    return std::nullopt;
}

/// Statements not executed because of an endless wait: the first, and how many more.
std::optional<Diagnostic> never_executed(const ProgramEnd& end) {
    if (end.executed + 1 >= end.program.size()) {
        return std::nullopt;
    }
    const std::size_t more = end.program.size() - end.executed - 2;
    return Diagnostic{
        .id = "not_executed",
        .sentence = fmt::format("this statement{} never executed: the program is stuck before it",
                                more == 0 ? " was" : fmt::format(" and {} more were", more)),
        .remedy = "correct what the program waits for",
        .place = end.program[end.executed + 1].place};
}

/// What an executed statement needed and never got. `known`: ids that have already been reported.
Diagnostics in_vain(const ProgramEnd& end, const std::set<std::string>& known) {
    Diagnostics found;
    const auto add = [&](const Statement& statement, std::optional<Diagnostic> finding) {
        const std::string sync = needed_sync(statement.action);
        if (finding && (sync.empty() || !known.contains(sync))) {
            found.push_back(std::move(*finding));
        }
    };
    for (const std::size_t check : end.board.waiting_checks()) {
        const Statement& statement = end.program[check];
        add(statement,
            check_not_made(needed_sync(statement.action), "this check", statement.place));
    }
    for (const Statement& statement : end.program.first(end.executed)) {
        const auto* nothing = std::get_if<CheckNothing>(&statement.action);
        if (nothing != nullptr && !end.board.raised(nothing->sync)) {
            add(statement, check_not_made(nothing->sync, "the end of a layer", statement.place));
        }
    }
    if (end.executed < end.program.size()) {
        add(end.program[end.executed], waits_in_vain(end.program[end.executed]));
    }
    return found;
}

/// Where the op-enables of both groups of a block were last written.
std::array<Place, 2> enabled_at(std::span<const Statement> program, std::string_view block) {
    std::array<Place, 2> places;
    unsigned group = 0;
    const std::string prefix = std::string(block) + ".";
    for (const Statement& statement : program) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        if (write == nullptr || !write->name.starts_with(prefix)) {
            continue;
        }
        const std::string_view name = std::string_view(write->name).substr(prefix.size());
        if (name.starts_with("S_POINTER")) {
            group = write->value & 1U;
        } else if (name.starts_with("D_OP_ENABLE")) {
            places[group] = statement.place;
        } else if (name.starts_with("CFG_LAUNCH0") || name.starts_with("CFG_LAUNCH1")) {
            places[name.starts_with("CFG_LAUNCH0") ? 0 : 1] = statement.place;
        }
    }
    return places;
}

/// Blocks of a group that are still enabled at the end of the program, as one finding.
Diagnostic unfinished(unsigned group, const std::vector<std::string_view>& blocks,
                      std::span<const Statement> program) {
    std::string names;
    Place last;
    for (const std::string_view block : blocks) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", block);
        last = std::max(last, enabled_at(program, block)[group],
                        [](const Place& a, const Place& b) { return a.line < b.line; });
    }
    const std::string_view trigger = blocks.front() == "NVDLA_BDMA"
                                         ? (group == 0 ? "CFG_LAUNCH0" : "CFG_LAUNCH1")
                                         : "D_OP_ENABLE";
    return {
        .id = "unfinished",
        .sentence = fmt::format("{} {} enabled in register group {}, and the program ends "
                                "before the operation does",
                                names, blocks.size() == 1 ? "is" : "are", group),
        .remedy = std::ranges::all_of(blocks, [](auto block) { return block.ends_with("_RDMA"); })
                      ? "a read DMA has no interrupt: do not enable it where its unit takes "
                        "nothing from it"
                      : "wait for its interrupt before the program ends (intr_notify; wait in "
                        "a .txn)",
        .unit = std::string(blocks.front()),
        .register_name = fmt::format("{}.{}_0", blocks.front(), trigger),
        .place = last};
}

}  // namespace

std::vector<CheckResult> unmade_checks(const ProgramEnd& end) {
    std::vector<std::size_t> statements = end.board.waiting_checks();
    for (std::size_t i = end.executed; i < end.program.size(); ++i) {
        statements.push_back(i);
    }
    std::vector<CheckResult> checks;
    for (const std::size_t i : statements) {
        const Statement& statement = end.program[i];
        CheckResult check;
        check.actual = "not made";
        check.reached = false;
        check.place = statement.place;
        if (const auto* crc = std::get_if<CheckCrc>(&statement.action)) {
            check.address = crc->address;
            check.bytes = crc->bytes;
            check.expected = crc_text(crc->crc);
        } else if (const auto* image = std::get_if<CheckImage>(&statement.action)) {
            check.kind = CheckKind::Image;
            check.subject = image->file;
            check.address = image->address;
            check.bytes = image->bytes;
            check.expected = "the image";
        } else {
            continue;
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

Diagnostics open_ends(const ProgramEnd& end) {
    Diagnostics found;
    std::set<std::string> reported;
    for (const SyncBoard::Awaited& awaited : end.board.awaited()) {
        if (!end.board.ignores(awaited.sync)) {
            reported.insert(awaited.sync);
            found.push_back(awaited_in_vain(awaited, end.interrupt_mask));
        }
    }
    std::ranges::move(in_vain(end, reported), std::back_inserter(found));
    if (std::optional<Diagnostic> left = never_executed(end)) {
        found.push_back(std::move(*left));
    }
    std::map<unsigned, std::vector<std::string_view>> groups;
    for (const Machine::EnabledGroup& enabled : end.enabled) {
        groups[enabled.group].push_back(enabled.block);
    }
    for (const auto& [group, blocks] : groups) {
        found.push_back(unfinished(group, blocks, end.program));
    }
    return found;
}

}  // namespace npuscope
