// SPDX-License-Identifier: Apache-2.0
#include "models/memory/shadow_memory.h"

#include <fmt/format.h>

namespace npuscope {

std::string writer_text(const ByteWriter& writer) {
    if (!writer.operation.empty()) {
        return fmt::format("{} of {} (cycles {} to {})", writer.surface, writer.operation,
                           writer.first.value, writer.last.value);
    }
    return writer.surface.empty() ? "written by the host"
                                  : fmt::format("'{}', loaded by the host", writer.surface);
}

void ShadowMemory::write(const ByteRun& run, unsigned client, const std::string& operation,
                         const std::string& surface, Cycles at) {
    const auto [current, is_new] = current_.try_emplace(client, writers_.size());
    if (is_new || !writers_[current->second].is(operation, surface)) {
        current->second = writers_.size();
        writers_.push_back({operation, surface, at, at});
    }
    writers_[current->second].last = at;
    writers_at_.put(run, current->second);
}

void ShadowMemory::load(const ByteRun& run, const std::string& file) {
    if (writers_.empty() || !writers_.back().is("", file)) {
        writers_.push_back({"", file, {}, {}});
    }
    writers_at_.put(run, writers_.size() - 1);
}

void ShadowMemory::visit(const ByteRun& run, const Visit& visit) const {
    writers_at_.visit(run, [&](const ByteRun& piece, const std::size_t* writer) {
        visit(piece, writer == nullptr ? nullptr : &writers_[*writer]);
    });
}

}  // namespace npuscope
