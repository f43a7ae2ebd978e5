// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/base/rule_ids.h"
#include "sim/check/program_operations.h"

namespace npuscope {
namespace {

/// Exactly the same bytes: elements are read before they are replaced.
bool in_place(const SurfaceUse& one, const SurfaceUse& other) {
    return one.base == other.base && one.runs == other.runs && one.unit.starts_with("NVDLA_SDP") &&
           other.unit.starts_with("NVDLA_SDP");
}

bool suspicious_pair(const SurfaceUse& one, const SurfaceUse& other) {
    if (one.writes || other.writes) {
        return !in_place(one, other);
    }
    return one.kind != other.kind && (one.constant || other.constant);
}

class OverlapCheck {
 public:
    OverlapCheck(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log)
        : operations_(operations), index_(index), log_(log) {}

    void run() {
        for (std::size_t i = 0; i < operations_.all().size(); ++i) {
            const bool same_chain = operations_.head_of(i) == operations_.head_of(index_);
            const CheckedOperation& other = operations_.all()[i];
            if (same_chain && i <= index_) {
                within_chain(other);
            } else if (!same_chain && !other.finished && operations_.is_fed(i)) {
                between_operations(i);
            }
        }
    }

 private:
    const CheckedOperation& newest() const { return operations_.all()[index_]; }

    void within_chain(const CheckedOperation& other) {
        for (const SurfaceUse& one : newest().uses) {
            for (const SurfaceUse& two : other.uses) {
                const bool once = &newest() != &other || &one < &two;
                if (once && suspicious_pair(one, two)) {
                    check_pair(newest(), one, other, two, log_);
                }
            }
        }
    }

    /// Whether a unit of the chain of `index` is `unit`.
    bool chain_has(std::size_t index, Pipeline unit) const {
        for (std::optional<std::size_t> i = operations_.head_of(index); i;
             i = operations_.all()[*i].consumer) {
            if (operations_.all()[*i].unit == unit) {
                return true;
            }
        }
        return false;
    }

    void between_operations(std::size_t index) {
        const CheckedOperation& other = operations_.all()[index];
        for (const SurfaceUse& later : newest().uses) {
            // a writer of the same unit waits for the previous operation anyway
            const bool ordered = later.writes && newest().unit && chain_has(index, *newest().unit);
            for (const SurfaceUse& earlier : other.uses) {
                if (!ordered && (later.writes || earlier.writes)) {
                    report_race(later, other, earlier);
                }
            }
        }
    }

    void report_race(const SurfaceUse& later, const CheckedOperation& other,
                     const SurfaceUse& earlier) {
        const auto shared = common_byte(later.runs, earlier.runs);
        if (!shared) {
            return;
        }
        Diagnostic finding = surface_finding(
            newest(), later, rule_ids::race,
            fmt::format("{} {} bytes of its {} that {} {} as its {} (first at {}), and nothing "
                        "orders the two",
                        newest().name, later.writes ? "overwrites" : "reads", later.surface,
                        other.name, earlier.writes ? "writes" : "reads", earlier.surface,
                        to_hex(*shared)),
            fmt::format("wait for the end of {} before enabling {}", other.name, newest().name));
        finding.address = *shared;
        log_.add(std::move(finding));
    }

    const ProgramOperations& operations_;
    std::size_t index_;
    DiagnosticLog& log_;
};

}  // namespace

void check_host_write(const ProgramOperations& operations, const ByteRun& run, const Place& place,
                      DiagnosticLog& log) {
    for (std::size_t i = 0; i < operations.all().size(); ++i) {
        const CheckedOperation& operation = operations.all()[i];
        if (operation.finished || !operation.launched || !operations.is_fed(i)) {
            continue;
        }
        for (const SurfaceUse& use : operation.uses) {
            const auto shared = common_byte(use.runs, {run});
            if (!shared) {
                continue;
            }
            Diagnostic finding = surface_finding(
                operation, use, rule_ids::race,
                fmt::format("the host writes bytes of the {} of {} (first at {}), and the program "
                            "has not waited for its end",
                            use.surface, operation.name, to_hex(*shared)),
                fmt::format("write them before {} is enabled, or after its end", operation.name));
            finding.address = *shared;
            finding.place = place;
            log.add(std::move(finding));
        }
    }
}

void check_overlaps(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log) {
    OverlapCheck(operations, index, log).run();
}

void check_delivery(const ProgramOperations& operations, std::size_t index, DiagnosticLog& log) {
    const CheckedOperation& newest = operations.all()[index];
    if (!newest.short_delivery) {
        return;
    }
    for (std::size_t i = index; i > 0; --i) {
        const CheckedOperation& before = operations.all()[i - 1];
        if (before.unit != Pipeline::Conv) {
            continue;
        }
        if (!before.finished) {
            Diagnostic finding = *newest.short_delivery;
            finding.sentence += fmt::format(
                " {} leaves it, because nothing orders the two: an extra end marker then remains, "
                "and the SDP ends a later convolution too early",
                before.name);
            finding.operation = newest.name;
            finding.place = newest.place;
            log.add(std::move(finding));
        }
        return;
    }
}

}  // namespace npuscope
