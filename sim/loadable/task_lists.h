// SPDX-License-Identifier: Apache-2.0
// The lists of a task, by operation and region of interest.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "models/base/error.h"
#include "sim/loadable/firmware.h"

namespace npuscope {

/// An entry of the task's lists.
struct OperationIndex {
    std::size_t index = 0;
    std::size_t roi = 0;

    bool operator==(const OperationIndex&) const = default;
};

class TaskLists {
 public:
    explicit TaskLists(const DlaTask& task) : task_(task) {}

    std::size_t entry(OperationIndex operation) const {
        return operation.roi * task_.network.operations + operation.index;
    }
    const DlaCommonOperation& common(OperationIndex operation) const {
        return task_.graph[entry(operation)];
    }
    const DlaOperation& details(OperationIndex operation) const {
        return task_.operations[entry(operation)];
    }
    std::string name_of(OperationIndex operation) const {
        const std::string roi =
            task_.network.rois > 1 ? fmt::format(", region {}", operation.roi) : "";
        return fmt::format("{}, operation {} ({}){}", task_.name, operation.index,
                           enum_name(common(operation).unit), roi);
    }
    [[noreturn]] void fail(OperationIndex operation, const std::string& sentence) const {
        throw ConfigError(Place{task_.file}, name_of(operation) + ": " + sentence,
                          "the firmware would hang here: recompile the loadable");
    }
    /// The operation that an entry of the graph names; its unit must match the entry's.
    OperationIndex find(OperationIndex from, std::int16_t index, DlaUnit unit,
                        std::size_t roi) const {
        if (index < 0 || index >= task_.network.operations) {
            fail(from,
                 fmt::format("it refers to operation {}, but the task has {} operation{}", index,
                             task_.network.operations, task_.network.operations == 1 ? "" : "s"));
        }
        const OperationIndex found{static_cast<std::size_t>(index), roi};
        if (common(found).unit != unit) {
            fail(from, fmt::format("operation {}, which it refers to, belongs to {}, not to {}",
                                   index, enum_name(common(found).unit), enum_name(unit)));
        }
        return found;
    }
    /// Every consumer that an operation of the task names is one of its operations, of that unit,
    /// and waits for an event that exists.
    void check_consumers(OperationIndex operation) const {
        const DlaCommonOperation& own = common(operation);
        const auto check = [&](const DlaConsumer& consumer, DlaUnit unit) {
            if (consumer.index == -1) {
                return;
            }
            find(operation, consumer.index, unit, operation.roi);
            if (consumer.event < DlaEvent::Completed || consumer.event > DlaEvent::DataRead) {
                fail(operation, fmt::format("operation {} waits for its event {}, which is none of "
                                            "1 to 5",
                                            consumer.index, static_cast<unsigned>(consumer.event)));
            }
        };
        for (std::size_t i = 0; i < own.consumers.size(); ++i) {
            check(own.consumers[i], static_cast<DlaUnit>(i));
        }
        if (own.unit != DlaUnit::Bdma) {
            check(own.fused_parent, static_cast<DlaUnit>(static_cast<unsigned>(own.unit) - 1));
        }
    }
    bool is_told(OperationIndex operation, DlaEvent event) const {
        const DlaCommonOperation& own = common(operation);
        const auto waits = [event](const DlaConsumer& consumer) {
            return consumer.index != -1 && consumer.event == event;
        };
        return std::ranges::any_of(own.consumers, waits) || waits(own.fused_parent);
    }

 private:
    const DlaTask& task_;
};

}  // namespace npuscope
