// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/firmware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "models/base/error.h"
#include "models/glb/interrupt.h"
#include "models/npu/pipelines.h"
#include "sim/loadable/firmware_registers.h"
#include "sim/loadable/task_lists.h"

namespace npuscope {
namespace {

InterruptSource done_interrupt(DlaUnit unit) {
    const PipelineRow* row = row_of(unit);
    return row == nullptr ? InterruptSource::Bdma : row->done;
}

struct Group {
    std::optional<OperationIndex> operation{};  ///< nothing: it is free
    unsigned rdma_group = 0;
    bool uses_rdma = false;
    bool pending = false;      ///< assigned, not programmed yet
    bool programming = false;  ///< events triggered by this do not enable it
    bool active = false;       ///< enabled
    std::int16_t table = -1;
};

struct Processor {
    std::array<Group, 2> groups{};
    std::array<bool, 2> rdma_taken{};
    std::optional<OperationIndex> tail{};  ///< the last one that was submitted
    std::deque<unsigned> running{};        ///< groups, in the order in which they were enabled
};

/// An event reported by an interrupt, and when it would arrive.
struct Happening {
    DlaUnit unit = DlaUnit::Bdma;
    unsigned group = 0;
    DlaEvent event = DlaEvent::Completed;
    std::uint64_t cycle = 0;
};

class Scheduler {
 public:
    Scheduler(const DlaTask& task, const NpuConfig& npu, const TaskAddresses& addresses,
              FirmwarePointers& pointers, RegisterScript& script)
        : task_(task),
          lists_(task),
          npu_(npu),
          addresses_(addresses),
          pointers_(pointers),
          script_(script) {
        for (const DlaCommonOperation& operation : task.graph) {
            waits_.push_back(operation.dependencies);
        }
        flags_.resize(task.graph.size());
    }

    void run() {
        for (std::size_t roi = 0; roi < task_.network.rois; ++roi) {
            for (std::size_t index = 0; index < task_.network.operations; ++index) {
                lists_.check_consumers({index, roi});
            }
        }
        start_heads();
        while (completed_ < task_.network.operations) {
            const std::optional<Happening> next = next_happening();
            if (!next) {
                fail_stuck();
            }
            now_ = std::max(now_, next->cycle);
            happen(*next);
        }
    }

 private:
    struct Flags {
        bool weights_read = false;  ///< has been reported
        bool data_read = false;
        std::uint64_t start = 0;
        std::uint64_t end = 0;
    };

    // --- the task's lists ---

    std::size_t entry(OperationIndex operation) const { return lists_.entry(operation); }
    const DlaCommonOperation& common(OperationIndex operation) const {
        return lists_.common(operation);
    }
    const DlaOperation& details(OperationIndex operation) const {
        return lists_.details(operation);
    }
    Processor& processor(DlaUnit unit) { return processors_[static_cast<std::size_t>(unit)]; }
    UnitPointers& pointer(DlaUnit unit) { return pointers_[static_cast<std::size_t>(unit)]; }

    OperationContext context(OperationIndex operation, unsigned index, const Group& group) const {
        const std::string name = lists_.name_of(operation);
        return {.script = script_,
                .npu = npu_,
                .name = name,
                .file = task_.file,
                .address =
                    [this, name](std::int16_t entry, std::uint64_t offset, std::uint64_t bytes,
                                 const std::string& what) {
                        return addresses_.find(name, entry, offset, bytes, what);
                    },
                .in_sram = addresses_.in_sram,
                .group = index,
                .uses_rdma = group.uses_rdma,
                .counts = task_.network.statistics_address != -1};
    }

    // --- submitting, programming and enabling ---

    void start_heads() {
        for (std::size_t i = 0; i < dla_units; ++i) {
            const std::int16_t head = task_.network.heads[i];
            if (head == -1) {
                continue;
            }
            const auto unit = static_cast<DlaUnit>(i);
            submit(lists_.find({0, 0}, head, unit, 0));
            take_next(unit);
        }
    }

    /// Assigns a group to it; programs it where its tables can be written, and enables it where it
    /// waits for nothing.
    void submit(OperationIndex operation) {
        const DlaUnit unit = common(operation).unit;
        const std::optional<unsigned> taken = take_group(operation);
        if (!taken || !is_ready(unit, *taken)) {
            return;
        }
        program(unit, *taken);
        if (waits_[entry(operation)] == 0) {
            enable(operation);
        }
    }

    std::optional<unsigned> take_group(OperationIndex operation) {
        const DlaUnit unit = common(operation).unit;
        Processor& own = processor(unit);
        const bool first = own.groups[0].operation.has_value();
        const bool second = own.groups[1].operation.has_value();
        if (first && second) {
            return std::nullopt;
        }
        const auto free = [](bool taken0, bool taken1, unsigned next) {
            return !taken0 && !taken1 ? next : (taken1 ? 0U : 1U);
        };
        // the queue of the BDMA has no pointer: group 0 when both are idle
        const unsigned next = unit == DlaUnit::Bdma ? 0 : pointer(unit).group;
        const unsigned index = free(first, second, next);
        Group& group = own.groups[index];
        group = Group{
            .operation = operation,
            .rdma_group = free(own.rdma_taken[0], own.rdma_taken[1], pointer(unit).rdma_group),
            .uses_rdma = uses_rdma(details(operation)),
            .pending = true};
        if (group.uses_rdma) {
            own.rdma_taken[group.rdma_group] = true;
        }
        own.tail = operation;
        return index;
    }

    /// Both groups share one table; the BDMA's commands share one queue.
    bool is_ready(DlaUnit unit, unsigned index) {
        const Group& group = processor(unit).groups[index];
        const Group& other = processor(unit).groups[index ^ 1U];
        if (unit == DlaUnit::Bdma) {
            return !other.operation || other.active;
        }
        const std::int16_t table = table_of(details(*group.operation));
        return table == -1 || other.table == table || (other.table == -1 && !other.active);
    }

    void program(DlaUnit unit, unsigned index) {
        Group& group = processor(unit).groups[index];
        const OperationIndex operation = *group.operation;
        group.programming = true;
        write_producer(script_, unit, index, group.rdma_group);
        write_operation(context(operation, index, group), details(operation));
        const std::int16_t table = table_of(details(operation));
        group.table = table >= 0 ? table : group.table;
        group.pending = false;
        tell_consumers(operation, DlaEvent::Programmed);
        group.programming = false;
    }

    void enable(OperationIndex operation) {
        const DlaUnit unit = common(operation).unit;
        Processor& own = processor(unit);
        for (const unsigned index : {0U, 1U}) {
            Group& group = own.groups[index];
            if (group.operation != operation || group.pending) {
                continue;
            }
            if (group.programming || group.active) {
                return;
            }
            write_producer(script_, unit, index, group.rdma_group);
            begin_layer(operation);
            write_enable(context(operation, index, group), details(operation), index);
            await(unit, index, operation);
            group.active = true;
            own.running.push_back(index);
            estimate(unit, operation);
            tell_consumers(operation, DlaEvent::Enabled);
            return;
        }
    }

    void take_next(DlaUnit unit) {
        const Processor& own = processor(unit);
        const OperationIndex tail = *own.tail;
        if (tail.roi + 1 < task_.network.rois) {
            submit({tail.index, tail.roi + 1});
            return;
        }
        const std::int16_t next = common(tail).consumers[static_cast<std::size_t>(unit)].index;
        if (next != -1) {
            submit(lists_.find(tail, next, unit, 0));
        }
    }

    // --- dependencies ---

    void tell_consumers(OperationIndex operation, DlaEvent event) {
        const DlaCommonOperation& own = common(operation);
        for (std::size_t i = 0; i < dla_units; ++i) {
            tell(operation, own.consumers[i], static_cast<DlaUnit>(i), event);
        }
        if (own.unit != DlaUnit::Bdma) {
            const auto before = static_cast<DlaUnit>(static_cast<unsigned>(own.unit) - 1);
            tell(operation, own.fused_parent, before, event);
        }
    }

    void tell(OperationIndex from, const DlaConsumer& consumer, DlaUnit unit, DlaEvent event) {
        if (consumer.index == -1 || consumer.event != event) {
            return;
        }
        const OperationIndex waiting = lists_.find(from, consumer.index, unit, from.roi);
        std::uint8_t& count = waits_[entry(waiting)];
        if (count == 0) {
            lists_.fail(
                waiting,
                fmt::format(
                    "operation {} signals it more often than its dependency count of {} allows",
                    from.index, common(waiting).dependencies));
        }
        if (--count == 0) {
            enable(waiting);
        }
    }

    // --- interrupts ---

    std::string sync_of(OperationIndex operation, DlaEvent event) const {
        const char* what = event == DlaEvent::WeightsRead ? "_weights"
                           : event == DlaEvent::DataRead  ? "_data"
                                                          : "";
        const std::string roi = operation.roi > 0 ? fmt::format("_roi{}", operation.roi) : "";
        return fmt::format("{}_{}{}{}{}", enum_name(common(operation).unit), operation.index, roi,
                           what, task_.tag);
    }

    void await(DlaUnit unit, unsigned group, OperationIndex operation) {
        const auto expect = [&](InterruptSource source, DlaEvent event) {
            script_.add(
                NotifyOnInterrupt{to_string(Interrupt{source, group}), sync_of(operation, event)});
        };
        if (unit == DlaUnit::Conv) {
            if (lists_.is_told(operation, DlaEvent::WeightsRead)) {
                expect(InterruptSource::CdmaWt, DlaEvent::WeightsRead);
            }
            if (lists_.is_told(operation, DlaEvent::DataRead)) {
                expect(InterruptSource::CdmaDat, DlaEvent::DataRead);
            }
        }
        if (!is_empty(details(operation))) {
            expect(done_interrupt(unit), DlaEvent::Completed);
        }
    }

    void happen(const Happening& happening) {
        Processor& own = processor(happening.unit);
        const OperationIndex operation = *own.groups[happening.group].operation;
        if (happening.event != DlaEvent::Completed || !is_empty(details(operation))) {
            script_.add(SyncWait{std::string(enum_name(happening.unit)),
                                 sync_of(operation, happening.event)});
        }
        Flags& flags = flags_[entry(operation)];
        if (happening.event == DlaEvent::WeightsRead) {
            flags.weights_read = true;
            tell_consumers(operation, DlaEvent::WeightsRead);
        } else if (happening.event == DlaEvent::DataRead) {
            flags.data_read = true;
            tell_consumers(operation, DlaEvent::DataRead);
        } else {
            complete(happening.unit, happening.group);
        }
    }

    void complete(DlaUnit unit, unsigned index) {
        Processor& own = processor(unit);
        Group& group = own.groups[index];
        const OperationIndex operation = *group.operation;
        completed_ += operation.roi + 1U == task_.network.rois ? 1U : 0U;
        if (group.uses_rdma) {
            own.rdma_taken[group.rdma_group] = false;
            pointer(unit).rdma_group = group.rdma_group ^ 1U;
        }
        pointer(unit).group = index ^ 1U;
        std::erase(own.running, index);
        given_[static_cast<std::size_t>(unit)] += flies_out(operation) ? 1U : 0U;
        taken_[static_cast<std::size_t>(unit)] += flies_in(operation) ? 1U : 0U;
        group = Group{};
        tell_consumers(operation, DlaEvent::Completed);
        if (completed_ == task_.network.operations) {
            return;
        }
        const unsigned other = index ^ 1U;
        if (own.groups[other].pending && is_ready(unit, other)) {
            const OperationIndex next = *own.groups[other].operation;
            program(unit, other);
            if (waits_[entry(next)] == 0) {
                enable(next);
            }
        }
        take_next(unit);
    }

    // --- when interrupts come ---

    void estimate(DlaUnit unit, OperationIndex operation) {
        Flags& flags = flags_[entry(operation)];
        auto& free = free_at_[static_cast<std::size_t>(unit)];
        flags.start = std::max(now_, free);
        flags.end = flags.start + predicted_cycles(details(operation), npu_);
        free = flags.end;
    }

    /// An operation that receives or passes data on the fly ends with the adjacent unit.
    std::optional<Happening> next_happening() {
        std::optional<Happening> first;
        const auto consider = [&](const Happening& happening) {
            if (!first || happening.cycle < first->cycle) {
                first = happening;
            }
        };
        for (std::size_t i = 0; i < dla_units; ++i) {
            const auto unit = static_cast<DlaUnit>(i);
            const std::optional<unsigned> current = current_group(unit);
            if (!current) {
                continue;
            }
            const Processor& own = processors_[i];
            const unsigned group = *current;
            const OperationIndex operation = *own.groups[group].operation;
            const Flags& flags = flags_[entry(operation)];
            if (!has_partners(unit, operation)) {
                continue;
            }
            Happening happening{unit, group, DlaEvent::Completed, flags.end};
            const std::uint64_t half = flags.start + (flags.end - flags.start) / 2;
            if (lists_.is_told(operation, DlaEvent::WeightsRead) && !flags.weights_read) {
                happening = {unit, group, DlaEvent::WeightsRead, half};
            } else if (lists_.is_told(operation, DlaEvent::DataRead) && !flags.data_read) {
                happening = {unit, group, DlaEvent::DataRead, half};
            }
            consider(happening);
        }
        return first;
    }

    /// The group that runs: units use theirs in turn, whichever was enabled first.
    std::optional<unsigned> current_group(DlaUnit unit) {
        const Processor& own = processor(unit);
        if (unit == DlaUnit::Bdma) {
            return own.running.empty() ? std::nullopt : std::optional(own.running.front());
        }
        const unsigned next = pointer(unit).group;
        return own.groups[next].active ? std::optional(next) : std::nullopt;
    }

    bool flies_in(OperationIndex operation) const { return takes_on_the_fly(details(operation)); }
    bool flies_out(OperationIndex operation) const { return gives_on_the_fly(details(operation)); }

    /// A producer ends only while its consumer runs; a consumer only after its producer.
    bool has_partners(DlaUnit unit, OperationIndex operation) {
        if (flies_out(operation)) {
            const auto next = static_cast<DlaUnit>(static_cast<unsigned>(unit) + 1);
            const std::optional<unsigned> taker = current_group(next);
            const bool runs = taker && flies_in(*processor(next).groups[*taker].operation);
            if (!runs ||
                given_[static_cast<std::size_t>(unit)] != taken_[static_cast<std::size_t>(next)]) {
                return false;
            }
        }
        if (flies_in(operation)) {
            const auto before = static_cast<DlaUnit>(static_cast<unsigned>(unit) - 1);
            return given_[static_cast<std::size_t>(before)] >
                   taken_[static_cast<std::size_t>(unit)];
        }
        return true;
    }

    [[noreturn]] void fail_stuck() {
        for (std::size_t i = 0; i < task_.graph.size(); ++i) {
            const OperationIndex operation{i % task_.network.operations,
                                           i / task_.network.operations};
            if (waits_[i] > 0) {
                lists_.fail(operation, fmt::format("it waits for {} more of its {} dependencies, "
                                                   "and no running operation will complete one",
                                                   waits_[i], common(operation).dependencies));
            }
        }
        throw ConfigError(
            Place{task_.file},
            fmt::format("{}: {} of {} operations complete, and none is running", task_.name,
                        completed_, task_.network.operations),
            "every operation must be the head of its unit's list, or depend on an earlier one");
    }

    // --- names for results ---

    void begin_layer(OperationIndex operation) {
        if (flies_in(operation) || is_empty(details(operation))) {
            return;  // part of its producer's layer
        }
        const DlaUnit unit = common(operation).unit;
        std::string name = fmt::format("{}_{}", enum_name(unit), operation.index);
        OperationIndex last = operation;
        while (flies_out(last)) {
            const std::optional<OperationIndex> taker = taker_of(last);
            if (!taker) {
                break;
            }
            name += fmt::format("+{}_{}", enum_name(common(*taker).unit), taker->index);
            last = *taker;
        }
        script_.add(BeginLayer{name + task_.tag, std::string(enum_name(unit)),
                               useful_macs(details(operation)), 1});
    }

    std::optional<OperationIndex> taker_of(OperationIndex operation) const {
        const std::size_t next = static_cast<std::size_t>(common(operation).unit) + 1;
        const std::int16_t index = common(operation).consumers[next].index;
        if (index < 0 || index >= task_.network.operations) {
            return std::nullopt;
        }
        return OperationIndex{static_cast<std::size_t>(index), operation.roi};
    }

    const DlaTask& task_;
    TaskLists lists_;
    const NpuConfig& npu_;
    const TaskAddresses& addresses_;
    FirmwarePointers& pointers_;
    RegisterScript& script_;
    std::array<Processor, dla_units> processors_{};
    std::vector<std::uint8_t> waits_;  ///< dependencies that have not happened
    std::vector<Flags> flags_;
    std::array<std::uint64_t, dla_units> free_at_{};
    std::array<std::size_t, dla_units> given_{};  ///< results passed on the fly
    std::array<std::size_t, dla_units> taken_{};
    std::uint64_t now_ = 0;
    std::size_t completed_ = 0;
};

}  // namespace

void run_firmware(const DlaTask& task, const NpuConfig& npu, const TaskAddresses& addresses,
                  FirmwarePointers& pointers, RegisterScript& script) {
    if (task.network.operations > 0) {
        Scheduler(task, npu, addresses, pointers, script).run();
    }
}

}  // namespace npuscope
