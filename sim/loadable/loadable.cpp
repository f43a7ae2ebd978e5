// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/loadable.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "loadable_generated.h"
#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope {
namespace {

using flatbuffers::Offset;

// source: NVDLA sw, nvdla_ioctl.h and emu_interface.h: buffers of one task; entries have
// 16-bit indices, so no further entries of a loadable's lists could be referred to.
constexpr std::size_t most_entries = 65536;
constexpr unsigned verify_depth = 8;  // nested tables; a loadable has two levels
constexpr unsigned verify_tables = 1U << 20U;

class Reader {
 public:
    Reader(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

    Loadable read() {
        verify();
        const wire::Loadable& root = *wire::GetLoadable(bytes_.data());
        loadable_.version = version(root.version());
        if (loadable_.version.major != loadable_tables_version.major ||
            loadable_.version.minor > loadable_tables_version.minor) {
            fail("version",
                 fmt::format("the loadable has version {}.{}.{}", loadable_.version.major,
                             loadable_.version.minor, loadable_.version.sub_minor),
                 "this program reads versions up to 0.7");
        }
        read_blobs(root);
        read_tensors(root);
        read_memories(root);
        read_addresses(root);
        read_events(root);
        read_tasks(root);
        read_submits(root);
        read_relocs(root);
        return std::move(loadable_);
    }

 private:
    [[noreturn]] void fail(const std::string& where, const std::string& sentence,
                           const std::string& remedy) const {
        throw ConfigError(Place{file_}, where.empty() ? sentence : where + ": " + sentence, remedy);
    }
    [[noreturn]] void fail_entry(const char* list, std::size_t index, const std::string& sentence,
                                 const std::string& remedy = compile_again) const {
        fail(fmt::format("{}[{}]", list, index), sentence, remedy);
    }
    static constexpr const char* compile_again = "recompile or re-copy the loadable";

    void verify() const {
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes_.data());
        if (bytes_.size() < 8 || bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
            fail("",
                 fmt::format("a file of {} byte{} is too small or too large to be a loadable",
                             bytes_.size(), bytes_.size() == 1 ? "" : "s"),
                 compile_again);
        }
        // loadables of the first compilers have no magic
        constexpr bool aligned = false;  // nor are their values aligned
        flatbuffers::Verifier verifier(data, bytes_.size(), verify_depth, verify_tables, aligned);
        if (!verifier.VerifyBuffer<wire::Loadable>(nullptr)) {
            fail("",
                 fmt::format(
                     "not a loadable, or a damaged one: flatbuffer tables lie outside its {} bytes",
                     bytes_.size()),
                 compile_again);
        }
    }

    static LoadableVersion version(const wire::Version* version) {
        return version == nullptr
                   ? LoadableVersion{}
                   : LoadableVersion{version->major(), version->minor(), version->sub_minor()};
    }
    static std::string text(const flatbuffers::String* text) {
        return text == nullptr ? "" : text->str();
    }
    template <class T>
    static std::vector<T> numbers(const flatbuffers::Vector<T>* all) {
        std::vector<T> copy;
        for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
            copy.push_back(all->Get(static_cast<flatbuffers::uoffset_t>(i)));
        }
        return copy;
    }
    /// Entries are found by position, as in the runtime: ids agree with it.
    template <class Table, class Use>
    void each(const char* list, const flatbuffers::Vector<Offset<Table>>* all, const Use& use) {
        const std::size_t size = all == nullptr ? 0 : all->size();
        if (size > most_entries) {
            fail(list, fmt::format("{} entries are more than {}", size, most_entries),
                 compile_again);
        }
        for (std::size_t i = 0; i < size; ++i) {
            const Table* entry = all->Get(static_cast<flatbuffers::uoffset_t>(i));
            if constexpr (requires { entry->id(); }) {
                if (entry->id() != i) {
                    fail_entry(list, i,
                               fmt::format("its id is {}, not its place in the list", entry->id()));
                }
            }
            use(i, *entry);
        }
    }
    void require(const char* list, std::size_t index, const char* what, std::uint64_t value,
                 std::uint64_t size) const {
        if (value >= size) {
            fail_entry(list, index,
                       size == 0 ? fmt::format("{} {} does not exist: there is none", what, value)
                                 : fmt::format("{} {} does not exist: the last one is {}", what,
                                               value, size - 1));
        }
    }

    void read_blobs(const wire::Loadable& root) {
        std::set<std::string> names;
        each("blobs", root.blobs(), [&](std::size_t i, const wire::Blob& blob) {
            LoadableBlob& copy = loadable_.blobs.emplace_back();
            copy.name = text(blob.name());
            copy.interface = static_cast<LoadableInterface>(blob.interface());
            copy.sub_interface = blob.sub_interface();
            copy.version = version(blob.version());
            const std::size_t held = blob.data() == nullptr ? 0 : blob.data()->size();
            if (blob.size() != held) {
                fail_entry("blobs", i,
                           fmt::format("'{}' should have {} bytes, but has {}", copy.name,
                                       blob.size(), held));
            }
            if (held > 0) {
                copy.data.assign(blob.data()->begin(), blob.data()->end());
            }
            if (!names.insert(copy.name).second) {
                fail_entry("blobs", i, fmt::format("the name '{}' is used twice", copy.name));
            }
        });
    }

    void read_tensors(const wire::Loadable& root) {
        const std::size_t memories = root.memory_list() == nullptr ? 0 : root.memory_list()->size();
        constexpr const char* list = "tensor_desc_list";
        each(list, root.tensor_desc_list(), [&](std::size_t i, const wire::Tensor& tensor) {
            require(list, i, "memory", tensor.mem_id(), memories);
            loadable_.tensors.push_back(
                {text(tensor.name()),
                 tensor.mem_id(),
                 tensor.size(),
                 tensor.offset(),
                 tensor.data_format(),
                 static_cast<LoadableType>(tensor.data_type()),
                 tensor.data_category(),
                 tensor.pixel_format(),
                 tensor.pixel_mapping(),
                 tensor.n(),
                 tensor.c(),
                 tensor.h(),
                 tensor.w(),
                 {tensor.stride_0(), tensor.stride_1(), tensor.stride_2(), tensor.stride_3(),
                  tensor.stride_4(), tensor.stride_5(), tensor.stride_6(), tensor.stride_7()}});
        });
    }

    void read_memories(const wire::Loadable& root) {
        constexpr const char* list = "memory_list";
        each(list, root.memory_list(), [&](std::size_t i, const wire::Memory& memory) {
            LoadableMemory& copy = loadable_.memories.emplace_back();
            if (memory.domain() > 1) {
                fail_entry(list, i,
                           fmt::format("domain {} is neither system memory (0) nor SRAM "
                                       "(1)",
                                       memory.domain()));
            }
            copy.in_sram = memory.domain() == 1;
            copy.flags = memory.flags();
            copy.size = memory.size();
            copy.alignment = memory.alignment();
            copy.bind_id = memory.bind_id();
            copy.tensor = memory.tensor_desc_id();
            if (copy.is_input() || copy.is_output()) {
                require(list, i, "tensor descriptor", copy.tensor, loadable_.tensors.size());
            }
            if (copy.is_set()) {
                read_contents(i, memory, copy);
            }
        });
        for (const bool input : {true, false}) {
            check_binds(input);
        }
    }

    void read_contents(std::size_t index, const wire::Memory& memory, LoadableMemory& copy) {
        constexpr const char* list = "memory_list";
        const std::size_t names = memory.contents() == nullptr ? 0 : memory.contents()->size();
        const std::vector<std::uint64_t> offsets = numbers(memory.offsets());
        if (names != offsets.size()) {
            fail_entry(list, index,
                       fmt::format("the number of its contents is {}, but that of their offsets {}",
                                   names, offsets.size()));
        }
        for (std::size_t i = 0; i < names; ++i) {
            const std::string name =
                text(memory.contents()->Get(static_cast<flatbuffers::uoffset_t>(i)));
            const LoadableBlob* blob = loadable_.blob(name);
            if (blob == nullptr) {
                fail_entry(list, index,
                           fmt::format("its content, blob '{}', does not exist", name));
            }
            if (offsets[i] > copy.size || blob->data.size() > copy.size - offsets[i]) {
                fail_entry(list, index,
                           fmt::format("blob '{}' of {} bytes at offset {} does not fit its {} "
                                       "bytes",
                                       name, blob->data.size(), offsets[i], copy.size));
            }
            copy.contents.push_back({name, offsets[i]});
        }
    }

    /// Users bind inputs and outputs by numbers starting at 0.
    void check_binds(bool input) const {
        std::set<std::uint16_t> seen;
        for (std::size_t i = 0; i < loadable_.memories.size(); ++i) {
            const LoadableMemory& memory = loadable_.memories[i];
            if (!(input ? memory.is_input() : memory.is_output())) {
                continue;
            }
            if (!seen.insert(memory.bind_id).second) {
                fail_entry("memory_list", i,
                           fmt::format("a second {} has bind id {}", input ? "input" : "output",
                                       memory.bind_id));
            }
        }
        if (!seen.empty() && *seen.rbegin() >= seen.size()) {
            fail("memory_list",
                 fmt::format("bind ids of {} {}{} must be 0 to {}, but reach {}", seen.size(),
                             input ? "input" : "output", seen.size() == 1 ? "" : "s",
                             seen.size() - 1, *seen.rbegin()),
                 compile_again);
        }
    }

    void read_addresses(const wire::Loadable& root) {
        constexpr const char* list = "address_list";
        each(list, root.address_list(), [&](std::size_t i, const wire::Address& address) {
            require(list, i, "memory", address.mem_id(), loadable_.memories.size());
            const std::uint64_t size = loadable_.memories[address.mem_id()].size;
            if (address.offset() > size) {
                fail_entry(list, i,
                           fmt::format("offset {} lies outside the {} bytes of memory {}",
                                       address.offset(), size, address.mem_id()));
            }
            loadable_.addresses.push_back({address.mem_id(), address.offset(), address.size()});
        });
    }

    void read_events(const wire::Loadable& root) {
        each("event_list", root.event_list(), [&](std::size_t i, const wire::Event& event) {
            if (event.op() > 1) {
                fail_entry(
                    "event_list", i,
                    fmt::format("operation {} is neither wait (0) nor signal (1)", event.op()));
            }
            loadable_.events.push_back({event.type(), event.target(), event.val(),
                                        static_cast<LoadableEventOp>(event.op())});
        });
    }

    void read_tasks(const wire::Loadable& root) {
        constexpr const char* list = "task_list";
        each(list, root.task_list(), [&](std::size_t i, const wire::Task& task) {
            LoadableTask& copy = loadable_.tasks.emplace_back();
            copy.interface = static_cast<LoadableInterface>(task.interface());
            copy.instance = task.instance();
            copy.addresses = numbers(task.address_list());
            copy.pre_actions = numbers(task.pre_actions());
            copy.post_actions = numbers(task.post_actions());
            if (copy.interface != LoadableInterface::Dla &&
                copy.interface != LoadableInterface::Emulator) {
                fail_entry(list, i,
                           fmt::format("interface {} is neither the NPU (1) nor the emulator (2)",
                                       task.interface()));
            }
            for (const std::uint16_t address : copy.addresses) {
                require(list, i, "address", address, loadable_.addresses.size());
            }
            for (const auto* actions : {&copy.pre_actions, &copy.post_actions}) {
                for (const std::uint16_t event : *actions) {
                    require(list, i, "event", event, loadable_.events.size());
                }
            }
        });
    }

    void read_submits(const wire::Loadable& root) {
        constexpr const char* list = "submit_list";
        each(list, root.submit_list(), [&](std::size_t i, const wire::Submit& submit) {
            std::vector<std::uint16_t>& tasks = loadable_.submits.emplace_back();
            tasks = numbers(submit.task_id());
            for (const std::uint16_t task : tasks) {
                require(list, i, "task", task, loadable_.tasks.size());
            }
        });
        if (loadable_.submits.empty() || loadable_.tasks.empty() || loadable_.memories.empty()) {
            fail("",
                 fmt::format(
                     "submits: {}, tasks: {}, memories: {}; a loadable needs at least one of each",
                     loadable_.submits.size(), loadable_.tasks.size(), loadable_.memories.size()),
                 compile_again);
        }
    }

    void read_relocs(const wire::Loadable& root) {
        each("reloc_list", root.reloc_list(), [&](std::size_t i, const wire::Reloc& reloc) {
            require("reloc_list", i, "address", reloc.address_id(), loadable_.addresses.size());
            loadable_.relocs.push_back({reloc.address_id(), reloc.write_id(), reloc.offset(),
                                        reloc.interface(), reloc.sub_interface(),
                                        reloc.reloc_type()});
        });
    }

    std::string_view bytes_;
    std::string file_;
    Loadable loadable_;
};

wire::Version wire_version(const LoadableVersion& version) {
    return {version.major, version.minor, version.sub_minor};
}

class Writer {
 public:
    explicit Writer(const Loadable& loadable) : loadable_(loadable) {}

    std::string write() {
        const auto tasks = list<wire::Task>(loadable_.tasks);
        const auto memories = list<wire::Memory>(loadable_.memories);
        const auto addresses = list<wire::Address>(loadable_.addresses);
        const auto events = list<wire::Event>(loadable_.events);
        const auto blobs = list<wire::Blob>(loadable_.blobs);
        const auto tensors = list<wire::Tensor>(loadable_.tensors);
        const auto relocs = list<wire::Reloc>(loadable_.relocs);
        const auto submits = list<wire::Submit>(loadable_.submits);
        const wire::Version version = wire_version(loadable_.version);
        wire::FinishLoadableBuffer(
            builder_, wire::CreateLoadable(builder_, &version, tasks, memories, addresses, events,
                                           blobs, tensors, relocs, submits));
        return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
    }

 private:
    template <class Table, class Entry>
    Offset<flatbuffers::Vector<Offset<Table>>> list(const std::vector<Entry>& entries) {
        std::vector<Offset<Table>> written;
        written.reserve(entries.size());
        for (const Entry& entry : entries) {
            written.push_back(add(entry, static_cast<std::uint16_t>(written.size())));
        }
        return builder_.CreateVector(written);
    }

    Offset<wire::Task> add(const LoadableTask& task, std::uint16_t id) {
        const auto addresses = builder_.CreateVector(task.addresses);
        const auto pre = builder_.CreateVector(task.pre_actions);
        const auto post = builder_.CreateVector(task.post_actions);
        return wire::CreateTask(builder_, id, static_cast<std::uint32_t>(task.interface),
                                task.instance, addresses, pre, post);
    }
    Offset<wire::Memory> add(const LoadableMemory& memory, std::uint16_t id) {
        std::vector<std::string> names;
        std::vector<std::uint64_t> offsets;
        for (const LoadableContent& content : memory.contents) {
            names.push_back(content.blob);
            offsets.push_back(content.offset);
        }
        const auto contents = builder_.CreateVectorOfStrings(names);
        const auto places = builder_.CreateVector(offsets);
        return wire::CreateMemory(builder_, id, memory.in_sram ? 1 : 0, memory.flags, memory.size,
                                  memory.alignment, contents, places, memory.bind_id,
                                  memory.tensor);
    }
    Offset<wire::Address> add(const LoadableAddress& address, std::uint16_t id) {
        return wire::CreateAddress(builder_, id, address.memory, address.offset, address.size);
    }
    Offset<wire::Event> add(const LoadableEvent& event, std::uint16_t id) {
        return wire::CreateEvent(builder_, id, event.type, event.target, event.value,
                                 static_cast<std::uint8_t>(event.op));
    }
    Offset<wire::Blob> add(const LoadableBlob& blob, std::uint16_t /*id*/) {
        const auto name = builder_.CreateString(blob.name);
        const auto data = builder_.CreateVector(blob.data);
        const wire::Version version = wire_version(blob.version);
        return wire::CreateBlob(builder_, name, blob.data.size(),
                                static_cast<std::uint32_t>(blob.interface), blob.sub_interface,
                                &version, data);
    }
    Offset<wire::Tensor> add(const LoadableTensor& tensor, std::uint16_t id) {
        const auto name = builder_.CreateString(tensor.name);
        const auto& strides = tensor.strides;
        return wire::CreateTensor(
            builder_, name, id, tensor.memory, tensor.size, tensor.offset, tensor.data_format,
            static_cast<std::uint8_t>(tensor.type), tensor.category, tensor.pixel_format,
            tensor.pixel_mapping, tensor.n, tensor.c, tensor.h, tensor.w, strides[0], strides[1],
            strides[2], strides[3], strides[4], strides[5], strides[6], strides[7]);
    }
    Offset<wire::Reloc> add(const LoadableReloc& reloc, std::uint16_t /*id*/) {
        return wire::CreateReloc(builder_, reloc.address, reloc.written, reloc.offset,
                                 reloc.interface, reloc.sub_interface, reloc.type);
    }
    Offset<wire::Submit> add(const std::vector<std::uint16_t>& tasks, std::uint16_t id) {
        const auto ids = builder_.CreateVector(tasks);
        return wire::CreateSubmit(builder_, id, ids);
    }

    const Loadable& loadable_;
    flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

const LoadableBlob* Loadable::blob(std::string_view name) const {
    const auto found = std::ranges::find(blobs, name, &LoadableBlob::name);
    return found == blobs.end() ? nullptr : &*found;
}

bool is_loadable_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        return false;
    }
    return path.ends_with(".fbuf") || path.ends_with("_fbuf") || path.ends_with(".nvdla");
}

Loadable parse_loadable(std::string_view bytes, const std::string& file) {
    // the verifier requires tables at addresses that a processor can read
    const std::vector<std::uint64_t> aligned = [&] {
        std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
        if (!bytes.empty()) {
            std::memcpy(words.data(), bytes.data(), bytes.size());
        }
        return words;
    }();
    return Reader({reinterpret_cast<const char*>(aligned.data()), bytes.size()}, file).read();
}

Loadable read_loadable(const std::string& path) {
    return parse_loadable(read_whole_file(path), path);
}

std::string loadable_bytes(const Loadable& loadable) { return Writer(loadable).write(); }

}  // namespace npuscope
