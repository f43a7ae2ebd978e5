// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/npu/pipelines.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "sim/check/check_report.h"
#include "sim/check/memory_rules.h"
#include "sim/check/program_operations.h"
#include "sim/program/awaited_findings.h"

namespace npuscope {
namespace {

constexpr unsigned status_of_group_1_lsb = 16;  // source: register specification, STATUS_1
constexpr std::uint32_t status_bits = 3;        // source: register specification, STATUS_0

bool ends_operations(const Interrupt& interrupt) {
    return interrupt.source == InterruptSource::Sdp || interrupt.source == InterruptSource::Pdp ||
           interrupt.source == InterruptSource::Cdp || interrupt.source == InterruptSource::Cacc;
}

/// The interrupt source of a block whose S_STATUS says that its operation is over.
std::optional<InterruptSource> source_of_block(const std::string& block) {
    constexpr std::array rows{std::pair{"NVDLA_SDP.", InterruptSource::Sdp},
                              std::pair{"NVDLA_PDP.", InterruptSource::Pdp},
                              std::pair{"NVDLA_CDP.", InterruptSource::Cdp},
                              std::pair{"NVDLA_CACC.", InterruptSource::Cacc}};
    for (const auto& [name, source] : rows) {
        if (block.starts_with(name)) {
            return source;
        }
    }
    return std::nullopt;
}

/// What the program knows of the end of its operations: interrupts that it asked to be told of, ids
/// that they raise, status registers that it polled.
class SyncRules {
 public:
    SyncRules(ProgramOperations& operations, DiagnosticLog& log)
        : operations_(operations), log_(log) {}

    void note(const NotifyOnInterrupt& notify, const Place& place) {
        Request request{std::nullopt, notify.sync, place};
        if (!notify.unit.empty()) {
            request.interrupt = interrupt_from_name(notify.unit);
            if (!request.interrupt) {
                throw ConfigError(place, fmt::format("no interrupt is called {}", notify.unit),
                                  "a unit and its register group, e.g. SDP_0");
            }
            if ((operations_.interrupt_mask() >> interrupt_bit(*request.interrupt) & 1U) != 0) {
                log_.add(masked_interrupt(notify.unit, {}, place));
            }
        }
        if (!bind(request)) {
            requests_.push_back(std::move(request));
        }
    }
    void note(const SyncNotify& notify) { raised_.push_back(notify.sync); }
    void note(const SyncWait& wait, const Place& place) {
        if (const auto end = ends_.find(wait.sync); end != ends_.end()) {
            operations_.finish(end->second);
        } else if (std::ranges::find(raised_, wait.sync) == raised_.end()) {
            log_.add(endless_wait(
                fmt::format("'{}' is awaited, but nothing before raises it", wait.sync),
                "name an interrupt for it (intr_notify), or enable its operation first", place));
        }
    }
    /// The interrupt line rose: any operation under way may have ended.
    void note(const WaitForInterrupt& /*wait*/) { operations_.finish_all(); }
    /// A register that is known to have held a value.
    void know(const std::string& register_name, std::uint32_t mask, std::uint32_t value) {
        const auto unfinished = [](const CheckedOperation& operation) {
            return !operation.finished;
        };
        if (register_name.starts_with("NVDLA_GLB.S_INTR_STATUS")) {
            for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
                for (const unsigned group : {0U, 1U}) {
                    const Interrupt interrupt{source, group};
                    const auto index = (mask & value) >> interrupt_bit(interrupt) & 1U
                                           ? operations_.find(interrupt, unfinished)
                                           : std::nullopt;
                    if (index) {
                        operations_.finish(*index);
                    }
                }
            }
            return;
        }
        const auto source = source_of_block(register_name);
        if (!source || register_name.find(".S_STATUS") == std::string::npos) {
            return;
        }
        for (const unsigned group : {0U, 1U}) {
            const std::uint32_t bits = status_bits << (group * status_of_group_1_lsb);
            if ((mask & bits) != bits || (value & bits) != 0) {
                continue;
            }
            while (const auto index = operations_.find({*source, group}, unfinished)) {
                operations_.finish(*index);
            }
        }
    }
    /// Operations were launched: requests that came before them find them now.
    void launched() {
        std::erase_if(requests_, [this](const Request& request) { return bind(request); });
    }
    void report_pending() {
        for (const Request& request : requests_) {
            log_.add(endless_wait(
                fmt::format("{} is awaited for '{}', but no operation raises it",
                            request.interrupt ? to_string(*request.interrupt) : "an interrupt",
                            request.sync),
                "enable an operation of that unit in that register group", request.place));
        }
    }

 private:
    struct Request {
        std::optional<Interrupt> interrupt;  ///< none: any
        std::string sync;
        Place place;
    };

    bool bind(const Request& request) {
        if (request.interrupt && !ends_operations(*request.interrupt)) {
            raised_.push_back(request.sync);  // fetches and copies end no operation
            return true;
        }
        const auto open = [](const CheckedOperation& operation) { return !operation.notified; };
        std::optional<std::size_t> index;
        if (request.interrupt) {
            index = operations_.find(*request.interrupt, open);
        } else {
            for (std::size_t i = 0; i < operations_.all().size() && !index; ++i) {
                if (open(operations_.all()[i]) && !operations_.all()[i].gives) {
                    index = i;
                }
            }
        }
        if (!index) {
            return false;
        }
        operations_.at(*index).notified = true;
        ends_[request.sync] = *index;
        return true;
    }
    ProgramOperations& operations_;
    DiagnosticLog& log_;
    std::vector<Request> requests_;            ///< for operations that are yet to come
    std::map<std::string, std::size_t> ends_;  ///< id to the operation whose end raises it
    std::vector<std::string> raised_;          ///< ids that mean nothing to operations
};

bool starts_mover(const std::string& register_name) {
    return std::ranges::any_of(
        movers, [&](const Mover& mover) { return register_name.starts_with(mover.start); });
}

std::string mover_names() {
    std::vector<std::string_view> names;
    std::ranges::transform(movers, std::back_inserter(names), &Mover::name);
    return fmt::format("{}", fmt::join(names, " and "));
}

std::uint64_t bytes_inside(const std::vector<ByteRun>& runs, const ByteRun& region) {
    std::uint64_t bytes = 0;
    for (const ByteRun& run : runs) {
        const Address begin = std::max(run.address, region.address);
        const Address end = std::min(run.end(), region.end());
        bytes += begin < end ? (end - begin).value : 0;
    }
    return bytes;
}

constexpr const char* flush_register = "NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0";

/// `NVDLA_SDP.D_DST_BASE_ADDR_LOW_0 = 0x80030000, D_DST_LINE_STRIDE = 0x180`.
std::string place_text(const SurfaceUse& use) {
    std::string text =
        fmt::format("{} = {}", spelled(use.unit, use.address_register), to_hex(use.base));
    const std::size_t base = use.address_register.find("_BASE");
    const bool named = base != std::string::npos;  // the convolution's input has names of its own
    const std::string stem = named ? use.address_register.substr(0, base) : "D";
    const auto add_stride = [&](const char* name, const std::optional<Bytes>& stride) {
        if (stride) {
            text += fmt::format(", {}{} = {:#x}", stem, name, stride->value);
        }
    };
    add_stride("_LINE_STRIDE", use.strides.line);
    add_stride(named ? "_SURFACE_STRIDE" : "_SURF_STRIDE", use.strides.surface);
    return text;
}

/// `conv 3 writes 30720 of its 36864 bytes: NVDLA_SDP.D_DST_BASE_ADDR_LOW_0 = 0x80030000, ...`.
std::string writer_line(const CheckedOperation& operation, const SurfaceUse& use,
                        std::uint64_t inside, const ByteRun& region) {
    const std::string share = inside == region.bytes.value
                                  ? "it"
                                  : fmt::format("{} of its {} bytes", inside, region.bytes.value);
    const std::string text =
        fmt::format("{} writes {}: {}", operation.name, share, place_text(use));
    return operation.place.file.empty()
               ? text
               : fmt::format("{} (enabled at {})", text, to_string(operation.place));
}

/// What an operation reads, and the registers that say how it computes.
void add_origin(const CheckedOperation& operation, std::vector<std::string>& lines) {
    for (const SurfaceUse& use : operation.uses) {
        if (!use.writes) {
            lines.push_back(
                fmt::format("{} reads {}: {}", operation.name, use.surface, place_text(use)));
        }
    }
    std::string text;
    std::string_view last_unit;
    for (const auto& [name, value] : operation.settings) {
        if (value == 0) {
            continue;
        }
        const std::string_view unit = std::string_view(name).substr(0, name.find('.'));
        // the unit once for all its registers
        const std::string shown = unit == last_unit ? name.substr(unit.size() + 1) : name;
        text += fmt::format("{}{} = {:#x}", text.empty() ? "" : ", ", shown, value);
        last_unit = unit;
    }
    if (!text.empty()) {
        lines.push_back(
            fmt::format("{} computes by {} (those at 0 left out)", operation.name, text));
    }
}

class ProgramCheck {
 public:
    ProgramCheck(const Program& program, const CheckTarget& target)
        : program_(program),
          target_(target),
          operations_(target.npu),
          memory_({target.memory, target.npu.mcif.address_bits, program.zeroed_memory}),
          sync_(operations_, log_) {}

    CheckReport run() {
        for (const Statement& statement : program_.statements) {
            place_ = statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        operations_.report_stuck(log_);
        sync_.report_pending();
        memory_.report_unread(log_);
        CheckReport report;
        report.subject = program_.name;
        report.npu = target_.npu.name;
        report.operations = operations_.all().size();
        for (const CheckedOperation& operation : operations_.all()) {
            report.surfaces += operation.uses.size();
        }
        report.findings = log_.findings();
        return report;
    }

    /// Before the run: operations keep what `writers_of` tells of their origin.
    void keep_origins() { operations_.keep_settings(); }
    /// After the run: what the operations did to a region, a line each; with `origin` also where
    /// the last of them has its values from.
    std::vector<std::string> writers_of(const ByteRun& region, bool origin) const {
        std::vector<std::string> lines;
        std::vector<ByteRun> written;
        const CheckedOperation* last = nullptr;
        const auto add = [&](const CheckedOperation& operation) {
            for (const SurfaceUse& use : operation.uses) {
                const std::uint64_t inside = use.writes ? bytes_inside(use.runs, region) : 0;
                if (inside > 0) {
                    last = &operation;
                    written.insert(written.end(), use.runs.begin(), use.runs.end());
                    lines.push_back(writer_line(operation, use, inside, region));
                }
            }
        };
        std::ranges::for_each(moves_, add);
        std::ranges::for_each(operations_.all(), add);
        constexpr std::size_t most = 3;  // the last ones decide
        lines.erase(lines.begin(),
                    lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), most)));
        const SurfaceUse all = with_runs({}, std::move(written));
        const std::uint64_t left = region.bytes.value - bytes_inside(all.runs, region);
        if (left > 0) {
            lines.push_back(
                fmt::format("no operation writes {} of its {} bytes", left, region.bytes.value));
        }
        while (origin && last != nullptr) {
            add_origin(*last, lines);
            last = last->producer ? &operations_.all()[*last->producer] : nullptr;
        }
        return lines;
    }

    /// What a run found about a surface of an operation gets the surface's register.
    void name_register(Diagnostic& finding) const {
        for (const CheckedOperation& operation : operations_.all()) {
            if (operation.name != finding.operation || !finding.address) {
                continue;
            }
            for (const SurfaceUse& use : operation.uses) {
                if (bytes_inside(use.runs, {*finding.address, Bytes(1)}) > 0) {
                    std::string name = use.address_register;
                    if (const std::size_t low = name.find("_LOW");
                        finding.address->value >> 32U != 0 && low != std::string::npos) {
                        name.replace(low, 4, "_HIGH");
                    }
                    finding.register_name = spelled(use.unit, name);
                    finding.place = operation.place;
                    return;
                }
            }
        }
    }

 private:
    void follow(const InitMemory& init) { memory_.fill(init, place_, log_); }
    void follow(const LoadMemory& load) { memory_.load(load, place_, log_); }
    void follow(const RunNode& node) { memory_.run(node, place_); }
    void follow(const WriteRegister& write) {
        if (starts_mover(write.name)) {
            lose_track(write);
        }
        const std::size_t before = operations_.all().size();
        operations_.write(write, place_, log_);
        for (CheckedOperation& move : operations_.take_moves()) {
            for (const SurfaceUse& use : move.uses) {
                memory_.check_use(move, use, log_);
            }
            moves_.push_back(std::move(move));
        }
        for (std::size_t i = before; i < operations_.all().size(); ++i) {
            const CheckedOperation& operation = operations_.all()[i];
            if (operation.undecoded) {
                memory_.lose_track();  // what it would have written is missing from here on
            }
            check_overlaps(operations_, i, log_);
            check_delivery(operations_, i, log_);
            check_flush(operation);
            check_compressed(operation);
            memory_.launch(operation, log_);
        }
        if (operations_.all().size() > before) {
            sync_.launched();
        }
    }
    void lose_track(const WriteRegister& write) {
        memory_.lose_track();
        log_.add({.severity = Severity::Note,
                  .id = "not_followed",
                  .sentence = "what " + mover_names() +
                              " move is not followed: from here on uninitialised bytes are not "
                              "reported",
                  .remedy = "run the program: it finds such reads",
                  .register_name = write.name,
                  .place = place_});
    }
    /// Once: the first convolution of a program that never looks.
    void check_flush(const CheckedOperation& operation) {
        if (operation.unit != Pipeline::Conv || flush_awaited_) {
            return;
        }
        flush_awaited_ = true;
        log_.add({.severity = Severity::Note,
                  .id = "flush_not_awaited",
                  .sentence = fmt::format("{} starts, but the program never waits until the "
                                          "convolution buffer is cleared after reset",
                                          operation.name),
                  .remedy = "poll the register until it is 1",
                  .unit = "NVDLA_CDMA",
                  .register_name = flush_register,
                  .operation = operation.name,
                  .place = operation.place});
    }
    /// As far as the program itself loads what the operation reads.
    void check_compressed(const CheckedOperation& operation) {
        if (operation.compressed) {
            for (Diagnostic& finding : compressed_findings(*operation.compressed, memory_)) {
                finding.unit = "NVDLA_CDMA";
                finding.operation = operation.name;
                finding.place = operation.place;
                log_.add(std::move(finding));
            }
        }
    }
    /// No rules of registers.
    template <class Other>
    void follow(const Other& /*action*/) {}
    void follow(const ReadRegister& read) {
        if (read.comparison == Comparison::Equal) {
            sync_.know(read.name, read.mask, read.expected);
        }
    }
    void follow(const PollRegister& poll) {
        flush_awaited_ = flush_awaited_ || poll.name == flush_register;
        sync_.know(poll.name, poll.mask, poll.expected);
    }
    void follow(const NotifyOnInterrupt& notify) { sync_.note(notify, place_); }
    void follow(const WaitForInterrupt& wait) { sync_.note(wait); }
    void follow(const ReadMemory& read) {
        memory_.compare({read.address, Bytes(sizeof read.expected)}, place_, log_);
    }
    void follow(const SyncNotify& notify) { sync_.note(notify); }
    void follow(const SyncWait& wait) { sync_.note(wait, place_); }
    void follow(const CheckCrc& check) {
        memory_.compare({check.address, check.bytes}, place_, log_);
    }
    void follow(const CheckImage& check) {
        memory_.compare({check.address, check.bytes}, place_, log_);
    }

    const Program& program_;
    const CheckTarget& target_;
    DiagnosticLog log_;
    ProgramOperations operations_;
    MemoryRules memory_;
    SyncRules sync_;
    Place place_;
    std::vector<CheckedOperation> moves_;
    bool flush_awaited_ = false;
};

}  // namespace

CheckReport check_jobs(const Program& program, const MemoryConfig& memory) {
    MemoryRules rules({.memory = memory, .zeroed = program.zeroed_memory});
    DiagnosticLog log;
    CheckReport report;
    report.subject = program.name;
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            rules.load(*load, statement.place, log);
        } else if (const auto* init = std::get_if<InitMemory>(&statement.action)) {
            rules.fill(*init, statement.place, log);
        } else if (const auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            CheckedOperation operation;
            operation.name = launch->job->name;
            operation.place = statement.place;
            ++report.operations;
            if (const auto* job = dynamic_cast<const TinpuJob*>(launch->job.get())) {
                operation.uses = surfaces_of(*job);
            }
            for (const SurfaceUse& use : operation.uses) {
                ++report.surfaces;
                rules.check_use(operation, use, log);
            }
        }
    }
    report.findings = log.findings();
    return report;
}

Explanation explain_failure(const Program& program, const CheckTarget& target,
                            std::span<const ByteRun> regions, std::span<Diagnostic> found) {
    ProgramCheck check(program, target);
    check.keep_origins();
    Explanation explanation;
    explanation.findings = check.run().findings;
    for (const ByteRun& region : regions) {  // what the first spoils, those after it may read
        explanation.writers.push_back(check.writers_of(region, explanation.writers.empty()));
    }
    for (Diagnostic& finding : found) {
        if (finding.register_name.empty()) {
            check.name_register(finding);
        }
    }
    std::erase_if(explanation.findings, [&](const Diagnostic& told) {
        return told.severity == Severity::Note ||
               std::ranges::any_of(found, [&](const Diagnostic& one) {
                   return one.id == told.id && one.operation == told.operation;
               });
    });
    return explanation;
}

CheckReport check_program(const Program& program, const CheckTarget& target) {
    return ProgramCheck(program, target).run();
}

}  // namespace npuscope
