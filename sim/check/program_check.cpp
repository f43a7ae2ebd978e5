// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/register_map.h"
#include "models/base/rule_ids.h"
#include "models/npu/pipelines.h"
#include "sim/check/causes.h"
#include "sim/check/check_report.h"
#include "sim/check/memory_rules.h"
#include "sim/check/program_operations.h"
#include "sim/check/rules.h"
#include "sim/check/sync_rules.h"

namespace npuscope {
namespace {

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
    const bool named = base != std::string::npos;  // the convolution's input has its own names
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

/// What an operation reads, and the registers that define how it computes.
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
        const std::string_view unit = block_of(name);
        // the unit once for all its registers
        const std::string shown = unit == last_unit ? name.substr(unit.size() + 1) : name;
        text += fmt::format("{}{} = {:#x}", text.empty() ? "" : ", ", shown, value);
        last_unit = unit;
    }
    if (!text.empty()) {
        lines.push_back(
            fmt::format("{} computes with {} (those at 0 left out)", operation.name, text));
    }
}

class ProgramCheck {
 public:
    ProgramCheck(const Program& program, const CheckTarget& target)
        : program_(program),
          target_(target),
          operations_(target.npu),
          memory_({target.memory, target.npu.mcif.address_bits, program.zeroed_memory,
                   target.npu.datapath.memory_atom}),
          sync_(operations_, log_) {
        for (const NamedSurface& surface : program.surfaces) {
            if (target.map && surface.is_result && !surface.after.empty()) {
                results_[surface.after].push_back(surface.name);
                map_.expect_names();
            }
        }
    }

    CheckReport run() {
        for (const Statement& statement : program_.statements) {
            place_ = statement.place;
            statement_place_ = &statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        start_unfed();
        std::ranges::for_each(comparisons_, [this](const AwaitedCheck& one) { make(one); });
        operations_.report_stuck(log_);
        sync_.report_pending();
        memory_.report_unread(log_);
        for (const ProgramOutput& output : target_.outputs) {
            memory_.expect_written(output.name, output.bytes, log_);
        }
        CheckReport report;
        report.subject = program_.name;
        report.npu = target_.npu.name;
        report.operations = operations_.all().size();
        for (const CheckedOperation& operation : operations_.all()) {
            report.surfaces += operation.uses.size();
        }
        for (const CheckedOperation& operation : operations_.all()) {
            if (operation.producer) {  // of an earlier operation
                const std::string& feeder = operations_.all()[*operation.producer].name;
                const auto chain = report.chains.find(feeder);
                report.chains[operation.name] =
                    chain == report.chains.end() ? feeder : chain->second;
            }
        }
        report.map = std::move(map_);
        report.findings = log_.findings();
        std::ranges::for_each(report.findings, [this](Diagnostic& finding) { place(finding); });
        if (report.clean()) {  // files that only the host reads are not mistakes
            std::erase_if(report.findings, [](const Diagnostic& finding) {
                return rule_is(&Rule::beside_others, finding.id);
            });
        }
        const bool undecoded =
            std::ranges::any_of(operations_.all(), &CheckedOperation::undecoded) ||
            std::ranges::any_of(report.findings, [](const Diagnostic& finding) {
                const Rule* rule = find_rule(finding.id);
                return rule != nullptr && rule->refuses();
            });
        std::ranges::stable_sort(report.findings, {}, [&](const Diagnostic& finding) {
            const Rule* rule = find_rule(finding.id);
            const bool hangs = rule != nullptr && rule->hangs();
            return undecoded && hangs ? static_cast<int>(Shows::End) : remoteness(finding);
        });
        return report;
    }

    /// Before the run: operations keep the origin that `writers_of` reports.
    void keep_origins() { operations_.keep_settings(); }
    /// After the run: what the operations did to a region, one line each; with `origin` also where
    /// the values of the last one come from.
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
        std::ranges::for_each(operations_.all(), add);
        constexpr std::size_t most = 3;  // the last ones decide
        lines.erase(lines.begin(),
                    lines.end() - static_cast<std::ptrdiff_t>(std::min(lines.size(), most)));
        const SurfaceUse all = with_runs({}, std::move(written));
        const std::uint64_t left = region.bytes.value - bytes_inside(all.runs, region);
        if (left > 0) {
            lines.push_back(left == region.bytes.value
                                ? std::string("no operation writes it")
                                : fmt::format("no operation writes {} of its {} bytes", left,
                                              region.bytes.value));
        }
        while (origin && last != nullptr) {
            add_origin(*last, lines);
            last = last->producer ? &operations_.all()[*last->producer] : nullptr;
        }
        return lines;
    }

    /// Adds the surface's register to what a run found about a surface of an operation.
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
    /// A finding about a register of an operation is reported where the program set it.
    void place(Diagnostic& finding) const {
        if (rule_is(&Rule::of_order, finding.id) || finding.operation.empty() ||
            finding.register_name.empty()) {
            return;
        }
        const CheckedOperation* operation = operations_.named(finding.operation);
        const RegisterWrite* write =
            operation == nullptr ? nullptr : find_write(*operation, finding.register_name);
        if (write != nullptr) {
            finding.place = *write->place;
            return;
        }
        const Rule* rule = find_rule(finding.id);
        if (operation != nullptr && rule != nullptr && rule->refuses() && !finding.field.empty()) {
            finding.sentence += fmt::format("; {} is never written", finding.register_name);
        }
    }
    void follow(const InitMemory& init) {
        check_host_write(operations_, {init.address, init.bytes}, place_, log_);
        memory_.fill(init, place_, log_);
    }
    void follow(const LoadMemory& load) {
        for (const MemoryImage::Run& run : load.image.runs) {
            check_host_write(operations_, {load.address + Bytes(run.offset), Bytes(run.size)},
                             place_, log_);
        }
        memory_.load(load, place_, log_);
        if (target_.map) {
            map_.load(load);
        }
    }
    void follow(const RunNode& node) { memory_.run(node, place_); }
    void follow(const WriteRegister& write) {
        const std::size_t before = operations_.all().size();
        const bool launches = operations_.write(write, *statement_place_, log_);
        for (std::size_t i = before; i < operations_.all().size(); ++i) {
            if (target_.map) {
                map_.add(operations_.all()[i]);
            }
            if (operations_.is_fed(i)) {
                start(i);
            }
        }
        if (launches) {
            sync_.launched();
        }
        sync_.note(write);
        make_comparisons();
    }
    /// Operations that take a result on the fly that is never produced: their surfaces are judged.
    void start_unfed() {
        for (std::size_t i = 0; i < operations_.all().size(); ++i) {
            if (operations_.all()[i].takes && !operations_.all()[i].producer) {
                start(i);
            }
        }
    }
    /// An operation, and what takes its result on the fly, which starts no earlier.
    void start(std::size_t index) {
        const CheckedOperation& operation = operations_.all()[index];
        if (operation.undecoded) {
            memory_.lose_track();  // what it would have written is missing from now on
        }
        check_overlaps(operations_, index, log_);
        check_delivery(operations_, index, log_);
        check_flush(operation);
        check_compressed(operation);
        memory_.launch(operation, log_);
        if (operation.consumer) {
            start(*operation.consumer);
        }
    }
    /// Once: the first convolution of a program that never checks the flush status.
    void check_flush(const CheckedOperation& operation) {
        if (operation.unit != Pipeline::Conv || flush_awaited_) {
            return;
        }
        flush_awaited_ = true;
        log_.add({.severity = Severity::Note,
                  .id = rule_ids::flush_not_awaited,
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
        if (!operation.compressed) {
            return;
        }
        const CompressedUse& use = *operation.compressed;
        Diagnostics findings = compressed_findings(use, memory_);
        if (const auto mask = memory_.contents({use.places.mask, used_mask_bytes(use.layout)})) {
            const CompressedGroups groups(use.layout, *mask);
            if (auto finding =
                    too_few_weight_banks(use.layout, *use.store, groups.weight_ends, target_.npu)) {
                findings.push_back(std::move(*finding));
            }
        }
        for (Diagnostic& finding : findings) {
            finding.unit = "NVDLA_CDMA";
            finding.operation = operation.name;
            finding.place = operation.place;
            log_.add(std::move(finding));
        }
    }
    /// Statements without register rules.
    template <class Other>
    void follow(const Other& /*action*/) {}
    void follow(const ReadRegister& read) {
        operations_.expect(read, place_, log_);
        if (read.comparison == Comparison::Equal) {
            sync_.know(read.name, read.mask, read.expected);
        }
    }
    void follow(const PollRegister& poll) {
        flush_awaited_ = flush_awaited_ || poll.name == flush_register;
        sync_.know(poll.name, poll.mask, poll.expected);
    }
    void follow(const NotifyOnInterrupt& notify) {
        sync_.note(notify, place_);
        if (const auto named = results_.find(notify.sync); named != results_.end()) {
            map_.name_result(fmt::format("{}", fmt::join(named->second, ", ")));
        }
        make_comparisons();
    }
    void follow(const WaitForInterrupt& wait) { sync_.note(wait, place_); }
    void follow(const ReadMemory& read) {
        const ByteRun word{read.address, Bytes(sizeof read.expected)};
        memory_.compare_word(word, place_, log_);
        sync_.compares("", word, place_);
    }
    void follow(const SyncNotify& notify) {
        sync_.note(notify);
        make_comparisons();
    }
    void follow(const SyncWait& wait) { sync_.note(wait, place_); }
    void follow(const CheckCrc& check) { compare(check.sync, {check.address, check.bytes}); }
    void follow(const CheckImage& check) {
        compare(check.sync, {check.address, check.bytes}, &check);
    }

    void follow(const CheckNothing& nothing) { sync_.compares(nothing.sync, {}, place_); }
    void compare(const std::string& sync, const ByteRun& region,
                 const CheckImage* image = nullptr) {
        comparisons_.push_back({sync, region, place_, image});
        make_comparisons();
    }
    /// Those whose id has been raised, or will be by an operation that has started.
    void make_comparisons() {
        std::erase_if(comparisons_, [this](const AwaitedCheck& one) {
            const bool comes = sync_.comes(one.sync);
            if (comes) {
                make(one);
            }
            return comes;
        });
    }
    struct AwaitedCheck {
        std::string sync;
        ByteRun region;
        Place place;
        const CheckImage* image;  ///< null: only the sum of the bytes is known
    };
    void make(const AwaitedCheck& one) {
        if (target_.map) {
            map_.compare(one.region);
        }
        if (one.image != nullptr) {
            memory_.compare(*one.image, one.place, log_);
        } else {
            memory_.compare(one.region, one.place, log_);
        }
        sync_.compares(one.sync, one.region, one.place);
    }

    const Program& program_;
    const CheckTarget& target_;
    DiagnosticLog log_;
    ProgramOperations operations_;
    MemoryRules memory_;
    SyncRules sync_;
    MemoryMap map_;
    std::map<std::string, std::vector<std::string>> results_;  ///< names, by the id that ends them
    std::vector<AwaitedCheck> comparisons_;                    ///< whose ids are yet to be raised
    Place place_;
    const Place* statement_place_ = nullptr;
    bool flush_awaited_ = false;
};

}  // namespace

Explanation explain_failure(const Program& program, const CheckTarget& target,
                            std::span<const ByteRun> regions, std::span<Diagnostic> found) {
    ProgramCheck check(program, target);
    check.keep_origins();
    Explanation explanation;
    explanation.findings = check.run().findings;
    for (const ByteRun& region : regions) {  // later regions may depend on what the first spoils
        explanation.writers.push_back(check.writers_of(region, explanation.writers.empty()));
    }
    for (Diagnostic& finding : found) {
        const auto twin = std::ranges::find_if(explanation.findings, [&](const Diagnostic& told) {
            return told.id == finding.id && told.address && told.address == finding.address;
        });
        if (finding.operation.empty() && twin != explanation.findings.end()) {
            finding = *twin;  // it knows the operation that was meant
        } else if (finding.register_name.empty()) {
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
