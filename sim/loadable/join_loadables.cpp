// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/join_loadables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {
namespace {

template <class T>
std::uint16_t size_of(const std::vector<T>& list) {
    if (list.size() > UINT16_MAX) {
        throw ConfigError(fmt::format("the loadable would have a list of {} entries, more than {}",
                                      list.size(), UINT16_MAX),
                          "plan it as a register program: --out DIR");
    }
    return static_cast<std::uint16_t>(list.size());
}

std::uint16_t bound(const Loadable& loadable, bool inputs) {
    return static_cast<std::uint16_t>(
        std::ranges::count_if(loadable.memories, [&](const LoadableMemory& memory) {
            return inputs ? memory.is_input() : memory.is_output();
        }));
}

/// Memories, with their contents, before the tensors of the part.
void append_memories(Loadable& all, Loadable& part, std::size_t number) {
    const std::uint16_t tensors = size_of(all.tensors);
    const std::uint16_t inputs = bound(all, true);
    const std::uint16_t outputs = bound(all, false);
    const auto named = [number](const std::string& blob) {
        return fmt::format("part-{}-{}", number, blob);
    };
    for (LoadableMemory& memory : part.memories) {
        for (LoadableContent& content : memory.contents) {
            content.blob = named(content.blob);
        }
        if (memory.is_input() || memory.is_output()) {
            memory.bind_id =
                static_cast<std::uint16_t>(memory.bind_id + (memory.is_input() ? inputs : outputs));
            memory.tensor = static_cast<std::uint16_t>(memory.tensor + tensors);
        }
        all.memories.push_back(std::move(memory));
    }
    for (LoadableBlob& blob : part.blobs) {
        blob.name = named(blob.name);
        all.blobs.push_back(std::move(blob));
    }
}

void append(Loadable& all, Loadable part, std::size_t number) {
    NPU_CHECK(part.relocs.empty(), "planned loadables have no relocations");
    const std::uint16_t memories = size_of(all.memories);
    const std::uint16_t addresses = size_of(all.addresses);
    const std::uint16_t events = size_of(all.events);
    const std::uint16_t tasks = size_of(all.tasks);
    append_memories(all, part, number);
    for (LoadableAddress& address : part.addresses) {
        address.memory = static_cast<std::uint16_t>(address.memory + memories);
        all.addresses.push_back(address);
    }
    for (LoadableTensor& tensor : part.tensors) {
        tensor.memory = static_cast<std::uint16_t>(tensor.memory + memories);
        all.tensors.push_back(std::move(tensor));
    }
    for (LoadableEvent& event : part.events) {
        event.target = static_cast<std::uint16_t>(event.target + events);
        all.events.push_back(event);
    }
    for (LoadableTask& task : part.tasks) {
        for (std::uint16_t& address : task.addresses) {
            address = static_cast<std::uint16_t>(address + addresses);
        }
        for (auto* actions : {&task.pre_actions, &task.post_actions}) {
            for (std::uint16_t& event : *actions) {
                event = static_cast<std::uint16_t>(event + events);
            }
        }
        all.tasks.push_back(std::move(task));
    }
    for (std::vector<std::uint16_t>& submit : part.submits) {
        for (std::uint16_t& task : submit) {
            task = static_cast<std::uint16_t>(task + tasks);
        }
        all.submits.push_back(std::move(submit));
    }
    static_cast<void>(size_of(all.addresses));
    static_cast<void>(size_of(all.memories));
}

}  // namespace

Loadable join_loadables(std::vector<Loadable> parts) {
    NPU_CHECK(!parts.empty(), "there is a part");
    Loadable all = std::move(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) {
        append(all, std::move(parts[i]), i);
    }
    return all;
}

}  // namespace npuscope
