// SPDX-License-Identifier: Apache-2.0
#include "sim/check/sync_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "models/base/rule_ids.h"
#include "models/npu/pipelines.h"
#include "sim/program/awaited_findings.h"

namespace npuscope {
namespace {

constexpr unsigned status_of_group_1_lsb = 16;  // source: register specification, STATUS_1
constexpr std::uint32_t status_bits = 3;        // source: register specification, STATUS_0
constexpr std::uint32_t bdma_idle = 1U << 8U;   // source: register specification, BDMA STATUS.IDLE

bool ends_operations(const Interrupt& interrupt) {
    return interrupt.source != InterruptSource::CdmaDat &&
           interrupt.source != InterruptSource::CdmaWt;
}

/// The interrupt source of a block whose S_STATUS says that its operation is over.
std::optional<InterruptSource> source_of_block(const std::string& register_name) {
    for (const PipelineRow& row : pipeline_rows) {
        const std::string_view block =
            row.done == InterruptSource::Cacc ? "NVDLA_CACC" : row.blocks.front();
        if (register_name.starts_with(std::string(block) + ".")) {
            return row.done;
        }
    }
    return std::nullopt;
}

bool writes_to(const CheckedOperation& operation, const ByteRun& region) {
    return std::ranges::any_of(operation.uses, [&](const SurfaceUse& use) {
        return use.writes && common_byte(use.runs, {region}).has_value();
    });
}

}  // namespace

void SyncRules::note(const NotifyOnInterrupt& notify, const Place& place) {
    Request request{std::nullopt, notify.sync, place};
    if (!notify.unit.empty()) {
        request.interrupt = interrupt_from_name(notify.unit);
        if (!request.interrupt) {
            throw ConfigError(place, fmt::format("unknown interrupt {}", notify.unit),
                              "give a unit and its register group, e.g. SDP_0");
        }
        if ((operations_.interrupt_mask() >> interrupt_bit(*request.interrupt) & 1U) != 0) {
            Diagnostic finding = masked_interrupt(notify.unit, {}, place);
            finding.unit = "NVDLA_GLB";
            finding.register_name = spelled("NVDLA_GLB", "S_INTR_MASK");
            log_.add(std::move(finding));
        }
    }
    if (!take_unserved(request) && !bind(request)) {
        requests_.push_back(std::move(request));
    }
}

void SyncRules::note(const SyncWait& wait, const Place& place) {
    if (const auto end = ends_.find(wait.sync); end != ends_.end()) {
        if (!has_started(end->second)) {
            early_waits_.emplace(wait.sync, place);
        }
        operations_.finish(end->second);
    } else if (std::ranges::find(requests_, wait.sync, &Request::sync) != requests_.end()) {
        early_waits_.emplace(wait.sync, place);
        operations_.finish_all();  // reported where the interrupt is requested
    } else if (std::ranges::find(raised_, wait.sync) == raised_.end()) {
        log_.add(endless_wait(
            fmt::format("'{}' is awaited, but nothing raises it before this point", wait.sync),
            "bind an interrupt to it (intr_notify), or enable its operation first", place));
    }
}

void SyncRules::report_early_waits() {
    std::erase_if(early_waits_, [this](const auto& wait) {
        const auto end = ends_.find(wait.first);
        if (end == ends_.end() || !has_started(end->second)) {
            return false;
        }
        log_.add(
            endless_wait(fmt::format("'{}' is awaited before {}, whose end raises it, is enabled",
                                     wait.first, operations_.all()[end->second].name),
                         "enable all blocks of the operation before the wait", wait.second));
        return true;
    });
}

bool SyncRules::hidden(const Interrupt& interrupt) const {
    return (operations_.interrupt_mask() >> interrupt_bit(interrupt) & 1U) != 0;
}

bool SyncRules::has_started(std::size_t index) const {
    return operations_.all()[index].launched && operations_.is_fed(index);
}

bool SyncRules::runs(std::size_t index) const {
    return !operations_.all()[index].finished && has_started(index);
}

std::size_t SyncRules::unmasked_of(std::size_t index) const {
    const CheckedOperation& operation = operations_.all()[index];
    const auto count = [&](InterruptSource source) {
        return hidden({source, operation.group}) ? 0U : 1U;
    };
    const bool conv = operation.unit == Pipeline::Conv;
    return (operations_.interrupts(index) ? count(operation.done) : 0U) +
           (conv ? count(InterruptSource::CdmaDat) + count(InterruptSource::CdmaWt) : 0U);
}

void SyncRules::count_interrupts() {
    rises_.resize(operations_.all().size());
    for (std::size_t i = 0; i < rises_.size(); ++i) {
        if (runs(i)) {
            rises_[i] = std::max(rises_[i], unmasked_of(i));
        }
    }
}

void SyncRules::count_wait(const Place& place) {
    count_interrupts();
    if (std::exchange(line_, true)) {
        return;
    }
    if (waits_++ < std::accumulate(rises_.begin(), rises_.end(), set_)) {
        return;
    }
    log_.add(endless_wait("an interrupt is awaited, but no operation runs that could raise one",
                          "enable all blocks of the operation, or launch the commands of the BDMA, "
                          "before the wait",
                          place));
    report_unenabled(std::nullopt);
}

void SyncRules::report_unenabled(std::optional<Interrupt> wanted) {
    for (Diagnostic& finding : operations_.unenabled(wanted)) {
        log_.add(std::move(finding));
    }
}

bool SyncRules::take_fetch(std::size_t index) {
    const CheckedOperation& operation = operations_.all()[index];
    const bool rises = operation.unit == Pipeline::Conv && runs(index) &&
                       !(hidden({InterruptSource::CdmaDat, operation.group}) &&
                         hidden({InterruptSource::CdmaWt, operation.group}));
    const bool taken = rises && fetches_seen_.insert(index).second;
    fetch_ended_wait_ = fetch_ended_wait_ || taken;
    return taken;
}

void SyncRules::note(const WaitForInterrupt& /*wait*/, const Place& place) {
    if (!report_masked(place)) {
        count_wait(place);
    }
    bool fetch = false;
    for (std::size_t i = 0; i < operations_.all().size(); ++i) {
        fetch = take_fetch(i) || fetch;
    }
    if (!fetch) {
        operations_.finish_all();
    }
}

void SyncRules::note(const WriteRegister& write) {
    if (write.name.starts_with("NVDLA_GLB.S_INTR_SET")) {
        set_ += static_cast<std::size_t>(std::popcount(write.value));
        raise_interrupts(write.value);
    } else if (write.name.starts_with("NVDLA_GLB.S_INTR_STATUS")) {
        line_ = false;
    } else if (write.name.starts_with("NVDLA_GLB.S_INTR_MASK")) {
        count_interrupts();
    }
}

void SyncRules::raise_interrupts(std::uint32_t bits) {
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            if ((bits >> interrupt_bit(interrupt) & 1U) == 0 || hidden(interrupt)) {
                continue;
            }
            const auto request = std::ranges::find_if(
                requests_, [&](const Request& one) { return one.takes(interrupt); });
            if (request == requests_.end()) {
                unserved_.push_back(interrupt);
            } else {
                raised_.push_back(request->sync);
                requests_.erase(request);
            }
        }
    }
}

bool SyncRules::take_unserved(const Request& request) {
    const auto one = std::ranges::find_if(
        unserved_, [&](const Interrupt& interrupt) { return request.takes(interrupt); });
    if (one == unserved_.end()) {
        return false;
    }
    unserved_.erase(one);
    raised_.push_back(request.sync);
    return true;
}

bool SyncRules::report_masked(const Place& place) {
    std::string names;
    for (const CheckedOperation& operation : operations_.all()) {
        if (operation.finished) {
            continue;
        }
        if (!hidden({operation.done, operation.group}) ||
            (operation.unit == Pipeline::Conv &&
             !(hidden({InterruptSource::CdmaDat, operation.group}) &&
               hidden({InterruptSource::CdmaWt, operation.group})))) {
            return false;
        }
        const std::string name = to_string(Interrupt{operation.done, operation.group});
        if (names.find(name) == std::string::npos) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    if (names.empty()) {
        return false;
    }
    Diagnostic finding = masked_interrupt(names, {}, place);
    finding.unit = "NVDLA_GLB";
    finding.register_name = spelled("NVDLA_GLB", "S_INTR_MASK");
    log_.add(std::move(finding));
    return true;
}

void SyncRules::know_interrupts(std::uint32_t bits) {
    for (const auto& [source, name] : EnumNames<InterruptSource>::names) {
        for (const unsigned group : {0U, 1U}) {
            const Interrupt interrupt{source, group};
            const auto index =
                (bits >> interrupt_bit(interrupt) & 1U) != 0
                    ? operations_.oldest_without(&CheckedOperation::finished, interrupt)
                    : std::nullopt;
            if (index) {
                operations_.finish(*index);
            }
        }
    }
}

void SyncRules::know(const std::string& register_name, std::uint32_t mask, std::uint32_t value) {
    if (register_name.starts_with("NVDLA_GLB.S_INTR_STATUS")) {
        know_interrupts(mask & value);
        return;
    }
    if (register_name.starts_with("NVDLA_BDMA.STATUS") && (mask & value & bdma_idle) != 0) {
        for (const unsigned group : {0U, 1U}) {
            while (const auto index = operations_.oldest_without(&CheckedOperation::finished,
                                                                 {InterruptSource::Bdma, group})) {
                operations_.finish(*index);
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
        while (const auto index =
                   operations_.oldest_without(&CheckedOperation::finished, {*source, group})) {
            operations_.finish(*index);
        }
    }
}

void SyncRules::launched() {
    count_interrupts();
    std::erase_if(requests_, [this](const Request& request) { return bind(request); });
    report_early_waits();
}

bool SyncRules::comes(const std::string& sync) const {
    const auto end = ends_.find(sync);
    return sync.empty() || (end != ends_.end() && has_started(end->second)) ||
           std::ranges::find(raised_, sync) != raised_.end();
}

void SyncRules::compares(const std::string& sync, const ByteRun& region, const Place& place) {
    if (!sync.empty()) {
        compares_.push_back({sync, region, place});
    }
    if (comes(sync)) {
        const auto end = ends_.find(sync);
        report_early(region, end == ends_.end() ? std::nullopt : std::optional(end->second), place);
    }
}

void SyncRules::report_early(const ByteRun& region, std::optional<std::size_t> end,
                             const Place& place) {
    const std::deque<CheckedOperation>& all = operations_.all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const CheckedOperation& operation = all[i];
        const bool over =
            operation.finished || (end && *end >= i && all[*end].unit == operation.unit);
        if (over || !writes_to(operation, region)) {
            continue;
        }
        log_.add(
            {.id = rule_ids::compared_early,
             .sentence = fmt::format("{} bytes at {} are compared while {} may still be writing "
                                     "them: the program has not waited for its end",
                                     region.bytes.value, to_hex(region.address), operation.name),
             .remedy = fmt::format("wait for {} before the comparison{}",
                                   to_string(Interrupt{operation.done, operation.group}),
                                   fetch_ended_wait_ ? "; mask the interrupts of the CDMA in "
                                                       "NVDLA_GLB.S_INTR_MASK_0, which rise earlier"
                                                     : ""),
             .address = region.address,
             .operation = operation.name,
             .place = place});
        return;
    }
}

bool SyncRules::raises(const std::string& sync) const {
    return ends_.contains(sync) || std::ranges::find(raised_, sync) != raised_.end() ||
           std::ranges::find(requests_, sync, &Request::sync) != requests_.end();
}

void SyncRules::report_pending() {
    for (const WaitingCompare& compare : compares_) {
        if (!raises(compare.sync)) {
            log_.add(
                {.id = rule_ids::check_not_made,
                 .sentence = fmt::format(
                     "{}: nothing raises '{}', so this check is never made",
                     compare.region.bytes.value == 0
                         ? std::string("a check waits for the end of a layer")
                         : fmt::format("{} bytes at {} are to be compared",
                                       compare.region.bytes.value, to_hex(compare.region.address)),
                     compare.sync),
                 .remedy = "bind an interrupt to it (intr_notify)",
                 .address = compare.region.address,
                 .place = compare.place});
        }
    }
    for (const Request& request : requests_) {
        log_.add(endless_wait(
            fmt::format("{} is awaited for '{}', but no operation raises it",
                        request.interrupt ? to_string(*request.interrupt) : "an interrupt",
                        request.sync),
            "enable an operation of that unit in that register group", request.place));
        report_unenabled(request.interrupt);
    }
}

bool SyncRules::bind_any(const Request& request) {
    for (std::size_t i = 0; i < operations_.all().size(); ++i) {
        if (take_fetch(i)) {
            raised_.push_back(request.sync);
            return true;
        }
    }
    const auto raises = [this](std::size_t index) {
        const CheckedOperation& operation = operations_.all()[index];
        return operations_.interrupts(index) && !operation.notified &&
               !hidden({operation.done, operation.group});
    };
    for (std::size_t i = 0; i < operations_.all().size(); ++i) {
        CheckedOperation& operation = operations_.at(i);
        // what feeds an operation ends before it
        const bool later = operation.producer && raises(*operation.producer);
        if (raises(i) && !later && has_started(i)) {
            operation.notified = true;
            ends_[request.sync] = i;
            return true;
        }
    }
    return false;
}

bool SyncRules::bind(const Request& request) {
    if (!request.interrupt) {
        return bind_any(request);
    }
    if (!ends_operations(*request.interrupt)) {
        raised_.push_back(request.sync);  // fetches end no operation
        return true;
    }
    const std::optional<std::size_t> index =
        operations_.oldest_without(&CheckedOperation::notified, *request.interrupt);
    if (!index) {
        return false;
    }
    operations_.at(*index).notified = true;
    ends_[request.sync] = *index;
    return true;
}

}  // namespace npuscope
