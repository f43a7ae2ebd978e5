// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/config/json_writer.h"

namespace npuscope {
namespace {

bool share_bytes(const ByteRun& one, const ByteRun& other) {
    return one.address < other.end() && other.address < one.end();
}

ByteRun joined(const ByteRun& one, const ByteRun& other) {
    const Address begin = std::min(one.address, other.address);
    return {begin, std::max(one.end(), other.end()) - begin};
}

/// Lines of one result that several operations write: of the same strides, next to or between each
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

MappedBytes* MemoryMap::result_with(const SurfaceUse& part) {
    const auto whole =
        std::find_if(entries_.rbegin(), entries_.rend(),
                     [&](const MappedBytes& entry) { return is_part_of(entry, part); });
    return named_ || whole == entries_.rend() ? nullptr : &*whole;
}

MappedBytes* MemoryMap::file_before(const ByteRun& run) {
    MappedBytes* nearest = nullptr;
    for (const std::size_t index : without_bytes_) {
        MappedBytes& file = entries_[index];
        if (file.run.address <= run.address &&
            (nearest == nullptr || file.run.address > nearest->run.address)) {
            nearest = &file;
        }
    }
    return nearest;
}

void MemoryMap::load(const LoadMemory& load) {
    if (load.image.end() == 0) {
        without_bytes_.insert(entries_.size());
    }
    entries_.push_back({.kind = MappedKind::File,
                        .name = load.file,
                        .run = {load.address, Bytes(load.image.end())}});
}

void MemoryMap::add(const CheckedOperation& operation) {
    const std::size_t number = operations_++;
    for (const bool writes : {false, true}) {  // reads see what was there before
        for (const SurfaceUse& use : operation.uses) {
            if (use.writes != writes || use.extent().bytes == Bytes(0)) {
                continue;
            }
            MappedBytes* holder = writes ? result_with(use) : holder_of(use.extent());
            if (!writes && holder == nullptr) {
                holder = file_before(use.extent());
            }
            if (holder == nullptr) {
                entries_.push_back({.kind = writes ? MappedKind::Result : MappedKind::Unknown,
                                    .name = fmt::format("{} of {}", use.surface, operation.name),
                                    .run = use.extent(),
                                    .strides = use.strides});
                holder = &entries_.back();
            } else if (writes || without_bytes_.contains(index_of(*holder))) {
                holder->run = joined(holder->run, use.extent());
            }
            holder->uses.emplace_back(number, writes);
            if (!writes && holder->kind == MappedKind::File) {
                mark_other_files(use, *holder, number);
            }
        }
    }
}

void MemoryMap::mark_other_files(const SurfaceUse& use, const MappedBytes& holder,
                                 std::size_t operation) {
    for (MappedBytes& entry : entries_) {
        if (&entry != &holder && entry.kind == MappedKind::File &&
            !share_bytes(entry.run, holder.run) && common_byte(use.runs, {entry.run})) {
            entry.uses.emplace_back(operation, false);
        }
    }
}

void MemoryMap::name_result(const std::string& name) {
    MappedBytes* whole = nullptr;
    for (std::size_t i = named_entries_; i < entries_.size(); ++i) {
        MappedBytes& entry = entries_[i];
        if (entry.kind != MappedKind::Result) {
            continue;
        }
        if (whole == nullptr) {
            whole = &entry;
            whole->name = name;
            continue;
        }
        whole->run = joined(whole->run, entry.run);
        whole->uses.insert(whole->uses.end(), entry.uses.begin(), entry.uses.end());
        entry.run.bytes = Bytes(0);  // entries() leaves it out
    }
    if (whole != nullptr) {
        std::ranges::stable_sort(whole->uses, {}, &std::pair<std::size_t, bool>::first);
    }
    named_entries_ = entries_.size();
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
    std::vector<MappedBytes> sorted;
    std::ranges::copy_if(entries_, std::back_inserter(sorted), [](const MappedBytes& one) {
        return one.kind != MappedKind::Result || one.run.bytes > Bytes(0);
    });
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

/// One character per group of operations.
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
    const char* const legend =
        columns == 0 ? "" : "  w written, r read, b both, - kept for a later operation\n";
    return "memory map\n" + table.text(width) + legend;
}

Json memory_map_json(std::span<const MappedBytes> entries) {
    Json rows = Json::array();
    for (const MappedBytes& entry : entries) {
        Json row{{"name", entry.name},
                 {"kind", enum_name(entry.kind)},
                 {"address", to_json(entry.run.address)},
                 {"bytes", entry.run.bytes.value},
                 {"overlaps", entry.overlaps}};
        if (!entry.segment.empty()) {
            row["segment"] = entry.segment;
        }
        if (!entry.uses.empty()) {
            row["from"] = entry.begin();
            row["to"] = entry.end();
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace npuscope
