// SPDX-License-Identifier: Apache-2.0
#include "sim/check/sync_rules.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

void SyncRules::add(const char* id, const std::string& message, const Place& place,
                    const std::string& remedy) {
    log_.add({.id = id, .sentence = message, .remedy = remedy, .place = place});
}

bool SyncRules::bind(const Request& request) {
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

void SyncRules::note(const NotifyOnInterrupt& notify, const Place& place) {
    Request request{std::nullopt, notify.sync, place};
    if (!notify.unit.empty()) {
        request.interrupt = interrupt_from_name(notify.unit);
        if (!request.interrupt) {
            throw ConfigError(place, fmt::format("no interrupt is called {}", notify.unit),
                              "a unit and its register group, e.g. SDP_0");
        }
        if ((operations_.interrupt_mask() >> interrupt_bit(*request.interrupt) & 1U) != 0) {
            add("interrupt_masked", fmt::format("interrupt {} is awaited, but masked", notify.unit),
                place, "clear its bit in NVDLA_GLB.S_INTR_MASK_0");
        }
    }
    if (!bind(request)) {
        requests_.push_back(std::move(request));
    }
}

void SyncRules::launched() {
    std::erase_if(requests_, [this](const Request& request) { return bind(request); });
}

void SyncRules::note(const SyncWait& wait, const Place& place) {
    if (const auto end = ends_.find(wait.sync); end != ends_.end()) {
        operations_.finish(end->second);
    } else if (std::ranges::find(raised_, wait.sync) == raised_.end()) {
        add("never_ends", fmt::format("'{}' is awaited, but nothing before raises it", wait.sync),
            place, "name an interrupt for it (intr_notify), or enable its operation first");
    }
}

void SyncRules::note(const WaitForInterrupt& /*wait*/, const Place& place) {
    if (operations_.all().empty()) {
        awaited_too_early_ = awaited_too_early_.value_or(place);
    }
    operations_.finish_all();
}

void SyncRules::know(const std::string& register_name, std::uint32_t mask, std::uint32_t value) {
    const auto unfinished = [](const CheckedOperation& operation) { return !operation.finished; };
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

void SyncRules::report_pending() {
    for (const Request& request : requests_) {
        add("never_ends",
            fmt::format("{} is awaited for '{}', but no operation raises it",
                        request.interrupt ? to_string(*request.interrupt) : "an interrupt",
                        request.sync),
            request.place, "enable an operation of that unit in that register group");
    }
}

}  // namespace npuscope
