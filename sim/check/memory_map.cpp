// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {
namespace {

bool share_bytes(const ByteRun& one, const ByteRun& other) {
    return one.address < other.end() && other.address < one.end();
}

ByteRun joined(const ByteRun& one, const ByteRun& other) {
    const Address begin = std::min(one.address, other.address);
    return {begin, std::max(one.end(), other.end()) - begin};
}

/// Lines of one result that several operations write: of the same strides, beside or between each
/// other.
bool is_part_of(const MappedBytes& entry, const SurfaceUse& use) {
    const auto same = [](const std::optional<Bytes>& a, const std::optional<Bytes>& b) {
        return a && b && *a == *b;
    };
    const ByteRun run = use.extent();
    return entry.kind == MappedKind::Result && same(entry.strides.line, use.strides.line) &&
           (!use.strides.surface || same(entry.strides.surface, use.strides.surface)) &&
           run.address <= entry.run.end() && entry.run.address <= run.end() &&
           run.address != entry.run.address &&
           std::ranges::all_of(entry.uses, &std::pair<std::size_t, bool>::second);
}

}  // namespace

std::size_t MappedBytes::begin() const {
    return kind == MappedKind::File || uses.empty() ? 0 : uses.front().first;
}
std::size_t MappedBytes::end() const { return uses.empty() ? 0 : uses.back().first; }

MappedBytes* MemoryMap::holder_of(const ByteRun& run) {
    const auto newest =
        std::find_if(entries_.rbegin(), entries_.rend(),
                     [&](const MappedBytes& entry) { return share_bytes(entry.run, run); });
    return newest == entries_.rend() ? nullptr : &*newest;
}

void MemoryMap::load(const LoadMemory& load) {
    entries_.push_back({.kind = MappedKind::File,
                        .name = load.file,
                        .run = {load.address, Bytes(load.image.end())}});
}

void MemoryMap::add(const CheckedOperation& operation) {
    const std::size_t number = operations_++;
    for (const bool writes : {false, true}) {  // what is read is what was there before
        for (const SurfaceUse& use : operation.uses) {
            if (use.writes != writes || use.extent().bytes == Bytes(0)) {
                continue;
            }
            const auto whole = std::find_if(
                entries_.rbegin(), entries_.rend(),
                [&](const MappedBytes& entry) { return writes && is_part_of(entry, use); });
            MappedBytes* holder = whole == entries_.rend() ? holder_of(use.extent()) : &*whole;
            if (whole != entries_.rend()) {
                holder->run = joined(holder->run, use.extent());
            } else if (writes || holder == nullptr) {
                entries_.push_back({.kind = writes ? MappedKind::Result : MappedKind::Unknown,
                                    .name = fmt::format("{} of {}", use.surface, operation.name),
                                    .run = use.extent(),
                                    .strides = use.strides});
                holder = &entries_.back();
            }
            holder->uses.emplace_back(number, writes);
        }
    }
}

void MemoryMap::compare(const ByteRun& run) {
    if (MappedBytes* holder = holder_of(run); holder != nullptr && operations_ > 0) {
        holder->uses.emplace_back(operations_ - 1, false);
    }
}

void MemoryMap::add_surface(const std::string& name, const ByteRun& run) {
    entries_.push_back({.kind = MappedKind::Surface, .name = name, .run = run});
}

std::vector<MappedBytes> MemoryMap::entries() const {
    std::vector<MappedBytes> sorted = entries_;
    std::ranges::stable_sort(sorted, {}, [](const MappedBytes& one) { return one.run.address; });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        for (std::size_t j = i + 1; j < sorted.size(); ++j) {
            MappedBytes& one = sorted[i];
            MappedBytes& other = sorted[j];
            if (other.run.address >= one.run.end()) {
                break;
            }
            if (share_bytes(one.run, other.run) && one.begin() <= other.end() &&
                other.begin() <= one.end() && one.kind != MappedKind::Unknown &&
                other.kind != MappedKind::Unknown && one.end() != other.begin() &&
                other.end() != one.begin()) {
                one.overlaps = other.overlaps = true;
            }
        }
    }
    return sorted;
}

namespace {

/// A character for so many operations.
std::string bar_of(const MappedBytes& entry, std::size_t operations, std::size_t columns) {
    std::string bar(columns, ' ');
    const auto column = [&](std::size_t operation) { return operation * columns / operations; };
    for (std::size_t i = column(entry.begin()); i <= column(entry.end()); ++i) {
        bar[i] = '-';
    }
    for (const auto& [operation, writes] : entry.uses) {
        char& mark = bar[column(operation)];
        const char own = writes ? 'w' : 'r';
        mark = mark == '-' || mark == own ? own : 'b';
    }
    return bar;
}

}  // namespace

std::string memory_map_text(const MemoryMap& map, std::size_t width) {
    const std::vector<MappedBytes> entries = map.entries();
    if (entries.empty()) {
        return {};
    }
    constexpr std::size_t most_columns = 40;
    const std::size_t columns = std::min(map.operations(), most_columns);
    std::vector<TextTable::Column> titles{{"address", Align::Left},
                                          {"bytes", Align::Right},
                                          {"what", Align::Left},
                                          {"", Align::Left}};
    if (columns > 0) {
        titles.push_back({fmt::format("operations 0 to {}", map.operations() - 1), Align::Left});
    }
    TextTable table(titles);
    const auto add = [&](std::vector<std::string> cells) {
        cells.resize(titles.size());
        table.add_row(std::move(cells));
    };
    Address end = entries.front().run.address;
    for (const MappedBytes& entry : entries) {
        if (entry.run.address > end) {
            add({"", with_separators((entry.run.address - end).value), "gap"});
        }
        add({to_hex(entry.run.address), with_separators(entry.run.bytes.value),
             (entry.kind == MappedKind::Unknown ? "never loaded: " : "") + entry.name,
             entry.overlaps ? "overlaps" : "",
             columns == 0 ? "" : bar_of(entry, map.operations(), columns)});
        end = std::max(end, entry.run.end());
    }
    return "memory map\n" + table.text(width);
}

}  // namespace npuscope
