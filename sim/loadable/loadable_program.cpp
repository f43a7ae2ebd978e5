// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/loadable_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/loadable/descriptor_bytes.h"
#include "sim/loadable/emulated.h"
#include "sim/loadable/firmware.h"
#include "sim/loadable/tensor_bytes.h"

namespace npuscope {
namespace {

constexpr std::uint64_t page = 4096;  // source: Linux, pages of the driver's memory
constexpr std::uint64_t largest_alignment = 1U << 30U;  // far more than any unit requires

constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return divide_up(bytes, page) * page; }

/// The memories of a loadable in the simulated one.
class Placement {
 public:
    Placement(const Loadable& loadable, const std::string& file, const SystemConfig& system)
        : loadable_(loadable), file_(file), regions_(system.memory.regions) {
        const bool has_sram = nvdla_npu(system).mcif.secondary_port && regions_.size() > 1;
        std::array<std::uint64_t, 2> next{};
        for (std::size_t i = 0; i < loadable.memories.size(); ++i) {
            const LoadableMemory& memory = loadable.memories[i];
            if (memory.in_sram && !has_sram) {
                fail(i, "it is in SRAM, which this NPU and memory do not have",
                     "choose an NPU with a second memory port, and a memory with a second region");
            }
            const std::size_t region = memory.in_sram ? 1 : 0;
            const std::uint64_t alignment = std::max<std::uint64_t>(memory.alignment, page);
            if (!std::has_single_bit(alignment) || alignment > largest_alignment) {
                fail(i,
                     fmt::format("alignment {} is not a power of two up to {}", memory.alignment,
                                 largest_alignment),
                     "compile the loadable again, or copy it again");
            }
            const std::uint64_t room = regions_[region].size.value;
            const std::uint64_t base = regions_[region].base.value;
            const std::uint64_t start =
                divide_up(base + next[region], alignment) * alignment - base;
            if (memory.size > room || start > room || whole_pages(memory.size) > room - start) {
                fail(i,
                     fmt::format("its {} bytes do not fit region '{}' of {} bytes", memory.size,
                                 regions_[region].name, room),
                     "choose a larger memory: memory.regions");
            }
            places_.push_back(Address(base + start));
            next[region] = start + whole_pages(memory.size);
        }
    }

    Address place(std::size_t memory) const { return places_[memory]; }
    Bytes pages(std::size_t memory) const {
        return Bytes(whole_pages(loadable_.memories[memory].size));
    }

    /// Resolves a task's address, if `bytes` bytes are available after the offset.
    Address address_of(const LoadableTask& task, const std::string& who, std::int16_t index,
                       std::uint64_t offset, std::uint64_t bytes, const std::string& what) const {
        const LoadableAddress& entry = entry_of(task, who, index, what);
        const std::uint64_t room = pages(entry.memory).value;
        const std::uint64_t start = entry.offset + offset;
        if (start > room || bytes > room - start) {
            throw ConfigError(
                Place{file_},
                fmt::format("{}: its {} would need bytes {} to {} of memory {}, which has {}", who,
                            what, start, start + bytes, entry.memory, room),
                "name the NPU that it was compiled for (--npu), or compile or copy it again");
        }
        return places_[entry.memory] + Bytes(start);
    }

    const LoadableAddress& entry_of(const LoadableTask& task, const std::string& who,
                                    std::int16_t index, const std::string& what) const {
        if (index < 0 || static_cast<std::size_t>(index) >= task.addresses.size()) {
            throw ConfigError(
                Place{file_},
                fmt::format("{}: address {} of its {} is not among the {} of the task", who, index,
                            what, task.addresses.size()),
                "compile the loadable again, or copy it again");
        }
        return loadable_.addresses[task.addresses[static_cast<std::size_t>(index)]];
    }

 private:
    [[noreturn]] void fail(std::size_t memory, const std::string& sentence,
                           const std::string& remedy) const {
        throw ConfigError(Place{file_}, fmt::format("memory_list[{}]: {}", memory, sentence),
                          remedy);
    }

    const Loadable& loadable_;
    const std::string& file_;
    const std::vector<MemoryRegionConfig>& regions_;
    std::vector<Address> places_;
};

/// A task's lists as bytes, and the version that they are for.
class TaskBytes {
 public:
    TaskBytes(const Loadable& loadable, const Placement& placement, const LoadableTask& task,
              std::string who, const std::string& file)
        : loadable_(loadable),
          placement_(placement),
          task_(task),
          who_(std::move(who)),
          file_(file) {}

    /// Contents of a blob of the loadable from an address on.
    std::span<const std::uint8_t> list(std::int16_t index, const std::string& what) const {
        const LoadableAddress& entry = placement_.entry_of(task_, who_, index, what);
        const LoadableContent& content = content_at(entry, what);
        return std::span(loadable_.blob(content.blob)->data).subspan(entry.offset - content.offset);
    }
    /// Its first bytes.
    std::span<const std::uint8_t> list(std::int16_t index, const std::string& what,
                                       std::uint64_t bytes) const {
        const auto all = list(index, what);
        if (all.size() < bytes) {
            fail(fmt::format("its {} has {} bytes, not {}", what, all.size(), bytes));
        }
        return all.first(bytes);
    }
    LoadableVersion version(std::int16_t index, const std::string& what) const {
        const LoadableAddress& entry = placement_.entry_of(task_, who_, index, what);
        return loadable_.blob(content_at(entry, what).blob)->version;
    }
    [[noreturn]] void fail(const std::string& sentence) const {
        throw ConfigError(Place{file_}, who_ + ": " + sentence,
                          "compile the loadable again, or copy it again");
    }

 private:
    const LoadableContent& content_at(const LoadableAddress& entry, const std::string& what) const {
        for (const LoadableContent& content : loadable_.memories[entry.memory].contents) {
            const std::uint64_t size = loadable_.blob(content.blob)->data.size();
            if (entry.offset >= content.offset && entry.offset - content.offset < size) {
                return content;
            }
        }
        fail(fmt::format("its {} is in memory {}, which the loadable does not initialise", what,
                         entry.memory));
    }

    const Loadable& loadable_;
    const Placement& placement_;
    const LoadableTask& task_;
    std::string who_;
    const std::string& file_;
};

/// Reads a task's descriptors.
class TaskReader {
 public:
    TaskReader(const TaskBytes& lists, DlaTask& task) : lists_(lists), task_(task) {}

    void read() {
        version_ = lists_.version(0, "network");
        if (version_ > LoadableVersion{0, dla_current_version.minor, 255}) {
            lists_.fail(fmt::format("its descriptors have version {}.{}.{}", version_.major,
                                    version_.minor, version_.sub_minor) +
                        fmt::format(", and this program knows those up to {}.{}",
                                    dla_current_version.major, dla_current_version.minor));
        }
        version_ = version_ == LoadableVersion{} ? dla_current_version : version_;
        task_.network =
            read_descriptor<DlaNetwork>(lists_.list(0, "network", dla_network_bytes), version_);
        const DlaNetwork& network = task_.network;
        if (network.operations == 0) {
            return;
        }
        if (network.rois == 0 || network.dynamic_roi != 0) {
            lists_.fail(network.rois == 0 ? "its network has no region of interest"
                                          : "its regions of interest are given at run time, which "
                                            "is not supported");
        }
        const std::uint64_t entries = std::uint64_t{network.operations} * network.rois;
        const auto graph = lists_.list(network.dependencies_address, "dependency graph",
                                       entries * dla_common_bytes);
        const auto operations = lists_.list(network.operations_address, "list of operations",
                                            entries * dla_operation_bytes);
        const auto surfaces =
            lists_.list(network.surfaces_address, "list of surfaces", entries * dla_surfaces_bytes);
        for (std::uint64_t i = 0; i < entries; ++i) {
            const auto common = read_descriptor<DlaCommonOperation>(
                graph.subspan(i * dla_common_bytes, dla_common_bytes), version_);
            task_.graph.push_back(common);
            task_.operations.push_back(read_operation(
                i, common.unit, operations.subspan(i * dla_operation_bytes, dla_operation_bytes),
                surfaces.subspan(i * dla_surfaces_bytes, dla_surfaces_bytes)));
        }
    }

 private:
    using Bytes = std::span<const std::uint8_t>;

    /// For the unit with this number and those after it.
    template <std::size_t number = 0>
    DlaOperation read_operation(std::uint64_t index, DlaUnit unit, Bytes operation,
                                Bytes surfaces) {
        if constexpr (number == dla_units) {
            lists_.fail(fmt::format("operation {} has unit {}, but the last unit is {}", index,
                                    static_cast<unsigned>(unit), dla_units - 1));
        } else {
            if (static_cast<std::size_t>(unit) != number) {
                return read_operation<number + 1>(index, unit, operation, surfaces);
            }
            std::variant_alternative_t<number, DlaOperation> read;
            read.operation = read_descriptor<decltype(read.operation)>(operation, version_);
            read.surfaces = read_descriptor<decltype(read.surfaces)>(surfaces, version_);
            if constexpr (requires { read.table; }) {
                read.table = table(index, read.operation.table);
            }
            return read;
        }
    }

    DlaLut table(std::uint64_t operation, std::int16_t index) {
        if (index < 0) {
            return {};
        }
        const DlaNetwork& network = task_.network;
        if (index >= network.tables) {
            lists_.fail(fmt::format("operation {} uses table {}, but there are only {}", operation,
                                    index, network.tables));
        }
        const auto all =
            lists_.list(network.tables_address, "list of tables", network.tables * dla_lut_bytes);
        return read_descriptor<DlaLut>(
            all.subspan(static_cast<std::size_t>(index) * dla_lut_bytes, dla_lut_bytes), version_);
    }

    const TaskBytes& lists_;
    DlaTask& task_;
    LoadableVersion version_;
};

class Compiler {
 public:
    Compiler(const Loadable& loadable, const std::string& file, const SystemConfig& system)
        : loadable_(loadable),
          file_(file),
          system_(system),
          npu_(nvdla_npu(system)),
          placement_(loadable, file, system),
          script_(nvdla_register_blocks(npu_.csb.address_map, npu_.csb.wide_fields), file) {}

    LoadableProgram compile(const LoadableInputs& inputs, const BeforeSubmit& before) {
        result_.program.name = std::filesystem::path(file_).stem().string();
        result_.inputs = bound(true);
        result_.outputs = bound(false);
        std::vector<RunNode> host_parts;  // before each submit after the first
        for (std::size_t i = 1; before && i < loadable_.submits.size(); ++i) {
            host_parts.push_back(before(i, result_));
        }
        load_memories(inputs, host_parts);
        for (std::size_t i = 0; i < loadable_.submits.size(); ++i) {
            if (i > 0 && before) {
                script_.add(std::move(host_parts[i - 1]));
            }
            for (const std::uint16_t task : loadable_.submits[i]) {
                add_task(task);
            }
        }
        result_.program.statements = std::move(script_.statements());
        name_surfaces();
        return std::move(result_);
    }

 private:
    std::vector<BoundTensor> bound(bool input) const {
        std::vector<BoundTensor> all = bound_tensors(loadable_, input, npu_.datapath.memory_atom);
        for (BoundTensor& one : all) {
            const auto memory =
                std::ranges::find_if(loadable_.memories, [&](const LoadableMemory& each) {
                    return (input ? each.is_input() : each.is_output()) &&
                           each.bind_id == one.bind_id;
                });
            const auto index =
                static_cast<std::size_t>(std::distance(loadable_.memories.begin(), memory));
            if (one.tensor.offset > memory->size ||
                one.tensor.size > memory->size - one.tensor.offset) {
                throw ConfigError(
                    Place{file_},
                    fmt::format("tensor '{}' of {} bytes at offset {} does not fit "
                                "the {} bytes of memory {}",
                                one.name, one.tensor.size, one.tensor.offset, memory->size, index),
                    "compile the loadable again, or copy it again");
            }
            if (has_elements(one.tensor)) {
                try {
                    check_elements(one);
                } catch (const ConfigError& error) {
                    throw ConfigError(Place{file_}, error.sentence(), error.remedy());
                }
            }
            one.address = placement_.place(index) + Bytes(one.tensor.offset);
        }
        return all;
    }

    static MemoryImage whole(std::vector<std::uint8_t> bytes) {
        MemoryImage image;
        image.runs.push_back({0, 0, bytes.size()});
        image.bytes = std::move(bytes);
        return image;
    }

    void load_memories(const LoadableInputs& inputs, const std::vector<RunNode>& host_parts) {
        ImageBudget budget;
        const auto load = [&](MemoryPort port, Address address, std::vector<std::uint8_t> bytes,
                              const std::string& name) {
            MemoryImage image = whole(std::move(bytes));
            budget.take(image, Place{file_});
            script_.add(LoadMemory{port, address, std::move(image), name + ".dat"});
        };
        for (std::size_t i = 0; i < loadable_.memories.size(); ++i) {
            const LoadableMemory& memory = loadable_.memories[i];
            const MemoryPort port = memory.in_sram ? MemoryPort::Secondary : MemoryPort::Primary;
            script_.add(
                InitMemory{port, placement_.place(i), placement_.pages(i), FillPattern::AllZero});
            for (const LoadableContent& content : memory.contents) {
                const std::vector<std::uint8_t>& data = loadable_.blob(content.blob)->data;
                if (!data.empty()) {
                    load(port, placement_.place(i) + Bytes(content.offset), data,
                         fmt::format("memory_{}_{}", i, content.offset));
                }
            }
        }
        for (const BoundTensor& input : result_.inputs) {
            const auto given = inputs.find(input.bind_id);
            NPU_CHECK(given == inputs.end() || given->second.size() == input.tensor.size,
                      "an input fills its tensor");
            const ByteRun bytes{input.address, Bytes(input.tensor.size)};
            const auto writes_it = [&](const RunNode& part) {
                return std::ranges::find(part.writes, bytes) != part.writes.end();
            };
            if (given == inputs.end() && std::ranges::any_of(host_parts, writes_it)) {
                continue;
            }
            load(MemoryPort::Primary, input.address,
                 given == inputs.end() ? std::vector<std::uint8_t>(input.tensor.size)
                                       : given->second,
                 fmt::format("input_{}", input.bind_id));
        }
    }

    std::string who(std::size_t task) const { return fmt::format("task {}", task); }

    void add_task(std::size_t index) {
        const LoadableTask& task = loadable_.tasks[index];
        const TaskBytes lists(loadable_, placement_, task, who(index), file_);
        if (task.interface == LoadableInterface::Emulator) {
            add_emulated(index, task, lists);
            return;
        }
        DlaTask read;
        read.name = who(index);
        read.tag = tag(index);
        read.file = file_;
        TaskReader(lists, read).read();
        const TaskAddresses addresses{
            .find =
                [&](const std::string& name, std::int16_t entry, std::uint64_t offset,
                    std::uint64_t bytes, const std::string& what) {
                    return placement_.address_of(task, name, entry, offset, bytes, what);
                },
            .in_sram =
                [&](std::int16_t entry) {
                    const std::uint16_t address = task.addresses[static_cast<std::size_t>(entry)];
                    return loadable_.memories[loadable_.addresses[address].memory].in_sram;
                }};
        run_firmware(read, npu_, addresses, pointers_, script_);
    }

    /// Ids and layers of several tasks must differ; a task that is submitted twice runs twice.
    std::string tag(std::size_t task) {
        const auto is_dla = [](const LoadableTask& each) {
            return each.interface == LoadableInterface::Dla;
        };
        const unsigned runs = ++runs_[task];
        const std::string again = runs > 1 ? fmt::format("_run_{}", runs) : "";
        return std::ranges::count_if(loadable_.tasks, is_dla) > 1
                   ? fmt::format("_task_{}{}", task, again)
                   : again;
    }

    LoadableVersion newest_interface() const {
        LoadableVersion newest;
        for (const LoadableBlob& blob : loadable_.blobs) {
            if (blob.interface != LoadableInterface::Emulator) {
                newest = std::max(newest, blob.version);
            }
        }
        return newest;
    }

    void add_emulated(std::size_t index, const LoadableTask& task, const TaskBytes& lists) {
        const auto operations = read_emulated(
            [&](std::int16_t entry, const std::string& what) { return lists.list(entry, what); },
            newest_interface(), who(index), file_);
        for (std::size_t i = 0; i < operations.size(); ++i) {
            add_emulated(operations[i], task, fmt::format("{}, operation {}", who(index), i));
        }
    }

    void add_emulated(const EmulatedOperation& operation, const LoadableTask& task,
                      const std::string& who) {
        const auto place = [&](const EmulatedBuffer& buffer, const char* what) {
            return placement_.address_of(task, who, buffer.address, buffer.offset, buffer.extent(),
                                         what);
        };
        const Address source = place(operation.source, "source");
        const Address destination = place(operation.destination, "destination");
        RunNode node{.name = fmt::format("{}_{}", operation.name(), emulated_++)};
        node.op = operation.name();
        node.cycles = Cycles(operation.source.elements() * system_.host.cycles_per_element) +
                      system_.host.operator_overhead;
        node.work = [operation, source, destination](HostMemory& memory) {
            std::vector<std::uint8_t> in(operation.source.extent());
            std::vector<std::uint8_t> out(operation.destination.extent());
            memory.read(source, in);
            memory.read(destination, out);  // gaps between lines remain as they are
            emulate(operation, in, out);
            memory.load(destination, out);
        };
        const std::uint64_t read =  // gaps of its atoms are of no use to it
            std::max<std::uint64_t>(operation.source.extent(), operation.source.size);
        node.reads = {{source, Bytes(read)}};
        node.writes = {{destination, Bytes(operation.destination.extent())}};
        script_.add(std::move(node));
    }

    void name_surfaces() {
        for (const auto* side : {&result_.inputs, &result_.outputs}) {
            for (const BoundTensor& one : *side) {
                const std::string layout = tensor_layout_text(one.tensor, one.memory_atom);
                if (layout.empty()) {
                    continue;
                }
                const TensorType type = tensor_type(one.tensor);
                result_.program.surfaces.push_back(
                    {.name = one.name,
                     .spec = fmt::format("{}:{}:{}:{}", to_hex(one.address), sizes_text(type.sizes),
                                         enum_name(type.element), layout)});
            }
        }
    }

    const Loadable& loadable_;
    const std::string& file_;
    const SystemConfig& system_;
    const NpuConfig& npu_;
    Placement placement_;
    RegisterScript script_;
    FirmwarePointers pointers_{};
    LoadableProgram result_;
    std::map<std::size_t, unsigned> runs_;
    std::size_t emulated_ = 0;
};

}  // namespace

LoadableProgram loadable_program(const Loadable& loadable, const std::string& file,
                                 const SystemConfig& system, const LoadableInputs& inputs,
                                 const BeforeSubmit& before) {
    return Compiler(loadable, file, system).compile(inputs, before);
}

}  // namespace npuscope
