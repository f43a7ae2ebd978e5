// SPDX-License-Identifier: Apache-2.0
// Whether what is loaded, read, written and compared has one extent: a file that is read from its
// beginning to its end, an operand that lies inside what was loaded or written, a comparison of a
// whole result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/check/memory_rules.h"
#include "sim/check/placing.h"

namespace npuscope {
namespace {

/// Bytes at the end of the last atom that belong to no channel may be missing from a file.
Bytes pad_of(const SurfaceUse& use) {
    if (!use.cube) {
        return {};
    }
    const std::uint32_t lanes = use.cube->surfaces() * use.cube->channels_per_atom();
    return use.cube->element * (lanes - use.cube->shape.channels);
}

/// An operand begins at the address; of pixels with an offset those that are skipped come first.
bool begins_at(const SurfaceUse& use, Address address) {
    constexpr std::uint64_t most = 64;  // source: X offsets of nv_full, in bytes
    if (use.base == address || use.kind != DataKind::Pixels || use.runs.empty()) {
        return use.base == address;
    }
    const Address first = use.runs.front().address;
    return first == address ||
           (first != use.base && first >= address && (first - address).value < most);
}

/// Sparse files leave zeros out, but seldom the whole last quarter of a surface.
bool is_left_out(Bytes missing, Bytes all) {
    constexpr std::uint64_t short_tail = 512;
    return missing.value <= short_tail || 4 * missing.value <= all.value;
}

}  // namespace

void MemoryRules::SeenBytes::add(const ByteRun& piece, const ByteState* state) {
    const std::uint64_t bytes = piece.bytes.value;
    after_written += bytes;
    if (written == 0 && (state == nullptr || state->origin != ByteOrigin::Written)) {
        before_written += bytes;
    }
    if (state == nullptr || state->origin == ByteOrigin::Filled) {
        (state == nullptr ? unwritten : filled) += bytes;
        head += loaded + written == 0 ? bytes : 0;
        tail += bytes;
        first_missing = first_missing.value_or(piece.address);
        if (state == nullptr) {
            first_unwritten = first_unwritten.value_or(piece.address);
        }
        return;
    }
    tail = 0;
    if (state->origin == ByteOrigin::Loaded) {
        loaded += bytes;
        first_load = loads.empty() ? state->by : first_load;
        last_load = state->by;
        loads.insert(state->by);
        return;
    }
    written += bytes;
    after_written = 0;
    first_written = first_written.value_or(piece.address);
    writers.insert(state->by);
}

bool MemoryRules::lie_lines_apart(const SurfaceUse& one, const SurfaceUse& other) {
    if (!one.cube || !other.cube || one.constant || other.constant ||
        one.cube->line_stride != other.cube->line_stride ||
        one.cube->surface_stride != other.cube->surface_stride ||
        one.cube->line_stride.value == 0) {
        return true;
    }
    const Address low = std::min(one.base, other.base);
    const Address high = std::max(one.base, other.base);
    return (high - low).value % one.cube->line_stride.value == 0;
}

void MemoryRules::report_slice(const CheckedOperation& operation, const SurfaceUse& use,
                               const SurfaceUse& other, DiagnosticLog& log) const {
    Diagnostic one = surface_finding(
        operation, use, "slice_offset",
        fmt::format("{} begins at {}, which is no whole number of lines of {} bytes from {}, where "
                    "another part of the surface begins",
                    surface_label(operation, use), to_hex(use.base), use.cube->line_stride.value,
                    to_hex(other.base)),
        "let parts of one surface begin with a line");
    one.severity = Severity::Warning;
    log.add(std::move(one));
}

void MemoryRules::note_reader(const CheckedOperation& operation, const SurfaceUse& use,
                              DiagnosticLog& log) {
    std::set<std::size_t> read;
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run, [&](const ByteRun& /*piece*/, const ByteState* state) {
            if (state != nullptr && state->origin == ByteOrigin::Loaded) {
                read.insert(state->by);
            }
        });
    }
    const Bytes gap = use.unit == "NVDLA_CDMA" && use.constant
                          ? operation.weights_left
                          : gap_after(use, operation.lines_left);
    for (const std::size_t number : read) {
        Load& load = loads_[number];
        load.begins_there = load.begins_there || begins_at(use, load.load->address);
        load.copied = load.copied || use.unit == "NVDLA_BDMA";
        if (use.cube && !use.constant) {
            const auto apart = std::ranges::find_if(
                load.slices, [&](const SurfaceUse& other) { return !lie_lines_apart(use, other); });
            if (apart != load.slices.end()) {
                report_slice(operation, use, *apart, log);
            }
            load.slices.push_back(use);
            load.slices.back().runs.clear();
        }
        load.gap = std::max(load.gap, gap);
        if (!load.use) {
            load.operation = operation.name;
            load.use = use;
            load.use->runs = {use.extent()};
        }
    }
}

ByteRun MemoryRules::expected_region(const SurfaceUse& use, const SeenBytes& seen) const {
    if (!seen.writers.empty()) {
        return owners_[*seen.writers.begin()].use.extent();
    }
    if (seen.loads.size() == 1) {
        return loads_[seen.first_load].run();
    }
    return use.extent();
}

bool MemoryRules::judge_extent(const CheckedOperation& operation, const SurfaceUse& use,
                               const SeenBytes& seen, DiagnosticLog& log) const {
    const ByteRun extent = use.extent();
    const auto report = [&](const char* id, const std::string& sentence, const ByteRun& region,
                            Address at) {
        const Suspect suspect = suspect_of(use, region);
        Diagnostic one = surface_finding(operation, use, id, sentence, remedy_for(use, suspect));
        one.severity = Severity::Warning;
        one.register_name = suspect.register_name;
        one.address = at;
        log.add(std::move(one));
        return true;
    };
    const std::string label = surface_label(operation, use);
    if (seen.written > 0) {
        if (seen.loaded > 0 || seen.filled + seen.unwritten == 0) {
            return false;
        }
        const Owner& owner = owners_[*seen.writers.begin()];
        if (owner.use.address_register.empty()) {
            return false;  // by the host
        }
        return report("partly_written",
                      fmt::format("{} reads {} bytes that {} does not write, beside {} that it "
                                  "writes from {} on",
                                  label, seen.filled + seen.unwritten, owner.operation,
                                  seen.written, to_hex(*seen.first_written)),
                      owner.use.extent(), *seen.first_missing);
    }
    if (seen.loads.empty()) {
        return false;
    }
    const Load& first = loads_[seen.first_load];
    const Load& last = loads_[seen.last_load];
    const ByteRun file{first.run().address, last.run().end() - first.run().address};
    const bool one_file = seen.loads.size() == 1;
    if (extent.address < first.run().address && seen.head > 0) {
        return report(
            "partly_loaded",
            fmt::format("{} begins at {}, {} bytes before '{}', which is loaded at {}", label,
                        to_hex(extent.address), (first.run().address - extent.address).value,
                        first.load->file, to_hex(first.run().address)),
            one_file ? file : extent, extent.address);
    }
    const bool straddles = !one_file && extent.address > first.run().address &&
                           extent.address < first.run().end() &&
                           2 * (first.run().end() - extent.address).value < extent.bytes.value &&
                           last.run().address > extent.address && last.run().end() >= extent.end();
    if (straddles && seen.loads.size() == 2) {
        return report(
            "partly_loaded",
            fmt::format("{} begins at {}, within the last {} bytes of '{}'; the rest of it "
                        "is '{}', which is loaded at {}",
                        label, to_hex(extent.address), (first.run().end() - extent.address).value,
                        first.load->file, last.load->file, to_hex(last.run().address)),
            last.run(), extent.address);
    }
    if (seen.tail == 0 || extent.end() <= last.run().end()) {
        return false;
    }
    const Bytes missing = extent.end() - last.run().end();
    if (missing <= pad_of(use) ||
        (last.sparse() &&
         is_left_out(Bytes(seen.tail), Bytes(seen.loaded + seen.filled + seen.unwritten)))) {
        return false;
    }
    return report("partly_loaded",
                  fmt::format("{} ends at {}, {} bytes after '{}', which is loaded at {} and has "
                              "{} bytes",
                              label, to_hex(extent.end()), missing.value, last.load->file,
                              to_hex(last.run().address), last.run().bytes.value),
                  one_file ? file : extent, last.run().end());
}

bool MemoryRules::holds_zeros(const ByteRun& run) const {
    const auto bytes = contents(run);
    return bytes && std::ranges::all_of(*bytes, [](std::uint8_t byte) { return byte == 0; });
}

bool MemoryRules::is_part_of_line(const Load& load, const ByteRun& hole) {
    const bool split = load.use && load.use->unit == "NVDLA_PDP_RDMA";  // read slice by slice
    if (!load.use || load.copied || split) {
        return false;
    }
    if (load.use->kind == DataKind::Pixels) {  // lines end with pixels that nothing shows
        return load.use->strides.line && hole.bytes > *load.use->strides.line;
    }
    // strides may leave whole lines out
    return load.use->constant ||
           (load.use->cube && load.slices.size() == 1 && hole.bytes < load.use->cube->line_stride);
}

void MemoryRules::report_unread_loads(DiagnosticLog& log) const {
    struct Unread {
        std::optional<ByteRun> hole;  ///< between what is read, the first that is not 0
        std::uint64_t head = 0;
        std::uint64_t tail = 0;
        std::uint64_t read = 0;
        std::uint64_t unread = 0;
    };
    std::vector<Unread> all(loads_.size());
    bytes_.visit_all([&](const ByteRun& piece, const ByteState* state) {
        if (state->origin != ByteOrigin::Loaded) {
            return;
        }
        Unread& one = all[state->by];
        const ByteRun file = loads_[state->by].run();
        if (state->looked_at) {
            one.read += piece.bytes.value;
            return;
        }
        one.unread += piece.bytes.value;
        one.head += piece.address == file.address ? piece.bytes.value : 0;
        one.tail = piece.end() == file.end() ? piece.bytes.value : one.tail;
        const bool inside = piece.address != file.address && piece.end() != file.end();
        if (inside && !one.hole && is_part_of_line(loads_[state->by], piece) &&
            !holds_zeros(piece)) {
            one.hole = piece;
        }
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Load& load = loads_[i];
        const ByteRun file = load.run();
        const auto tell = [&](std::uint64_t bytes, Address at, const char* where) {
            Diagnostic one{.severity = Severity::Warning,
                           .id = "loaded_unread",
                           .address = at,
                           .surface = load.load->file,
                           .place = load.place};
            if (load.use) {
                const Suspect suspect = suspect_of(*load.use, file);
                one.sentence = fmt::format(
                    "{} bytes at the {} of '{}', from {} on, are never read; the {} of {} lies "
                    "from {} to {}",
                    bytes, where, load.load->file, to_hex(at), load.use->surface, load.operation,
                    to_hex(load.use->extent().address), to_hex(load.use->extent().end()));
                one.remedy = remedy_for(*load.use, suspect);
                one.unit = load.use->unit;
                one.register_name = suspect.register_name;
                one.operation = load.operation;
            } else {
                one.severity = Severity::Note;  // the host itself may read it
                one.sentence = fmt::format("no operation reads '{}', which is loaded at {}",
                                           load.load->file, to_hex(file.address));
                one.remedy = "load it where an operand lies, or leave it out";
            }
            log.add(std::move(one));
        };
        const auto zeros = [&](std::uint64_t tail) {
            const auto bytes = contents({Address(file.end().value - tail), Bytes(tail)});
            return bytes &&
                   std::ranges::all_of(*bytes, [](std::uint8_t byte) { return byte == 0; });
        };
        // of a file that was read, results may lie over all but its end by now
        if (all[i].read == 0 && all[i].unread > 0 && !load.use) {
            tell(all[i].unread, file.address, "beginning");
        } else if (all[i].head > 0 && !load.begins_there) {
            tell(all[i].head, file.address, "beginning");
        } else if (!load.copied && all[i].tail > load.gap.value && !zeros(all[i].tail)) {
            tell(all[i].tail, Address(file.end().value - all[i].tail), "end");
        } else if (!load.copied && all[i].hole) {
            tell(all[i].hole->bytes.value, all[i].hole->address, "inside");
        }
    }
}

std::string MemoryRules::elsewhere(const ByteRun& region) const {
    const Owner* owner = meant_for(region);
    if (owner == nullptr || owner->use.extent().bytes != region.bytes) {
        return {};
    }
    return fmt::format("; the {} of {}, which nothing reads, has as many bytes and lies at {} ({})",
                       owner->use.surface, owner->operation, to_hex(owner->use.extent().address),
                       fmt::join(placing_registers(owner->use), ", "));
}

const MemoryRules::Owner* MemoryRules::meant_for(const ByteRun& region) const {
    const Owner* best = nullptr;
    for (const Owner& owner : owners_) {
        if (owner.use.writes && !owner.read &&
            (best == nullptr || owner.use.extent().bytes == region.bytes)) {
            best = &owner;
        }
    }
    return best;
}

std::optional<MemoryRules::SeenBytes> MemoryRules::compare_bytes(const ByteRun& run,
                                                                 const Place& place,
                                                                 DiagnosticLog& log) {
    const Owner* meant = meant_for(run);  // before the look
    const SeenBytes seen = look_at({&run, 1});
    const auto add = [&](const char* id, const std::string& message, Address address) {
        Diagnostic one{.id = id,
                       .sentence = message,
                       .remedy = "compare what an operation writes; fill the gaps in it beforehand",
                       .address = address,
                       .place = place};
        if (meant != nullptr) {
            const Suspect suspect = suspect_of(meant->use, run);
            one.sentence += fmt::format("; the {} of {} lies from {} to {}", meant->use.surface,
                                        meant->operation, to_hex(meant->use.extent().address),
                                        to_hex(meant->use.extent().end()));
            one.remedy = remedy_for(meant->use, suspect);
            one.unit = meant->use.unit;
            one.register_name = suspect.register_name;
            one.surface = meant->use.surface;
            one.operation = meant->operation;
        }
        log.add(std::move(one));
    };
    if (!in_memory(run)) {
        meant = nullptr;
        add("out_of_bounds",
            fmt::format("{} bytes at {} are compared outside every memory region", run.bytes.value,
                        to_hex(run.address)),
            run.address);
    } else if (lost_track_) {
        return std::nullopt;
    } else if (seen.written == 0 && (seen.loaded == 0 || !machine_.zeroed || meant != nullptr)) {
        add("compares_no_result",
            fmt::format("no operation writes any of the {} bytes compared at {}", run.bytes.value,
                        to_hex(run.address)),
            run.address);
    } else if (seen.unwritten > 0 && !machine_.zeroed) {
        add("compares_unwritten",
            fmt::format("{} of the {} bytes compared at {} are uninitialised, the first at {}",
                        seen.unwritten, run.bytes.value, to_hex(run.address),
                        to_hex(*seen.first_unwritten)),
            *seen.first_unwritten);
    } else if (seen.written > 0) {
        return seen;
    }
    return std::nullopt;
}

void MemoryRules::compare(const ByteRun& run, const Place& place, DiagnosticLog& log) {
    if (const std::optional<SeenBytes> seen = compare_bytes(run, place, log)) {
        judge_compared(run, *seen, place, log);
    }
}

void MemoryRules::judge_compared(const ByteRun& run, const SeenBytes& seen, const Place& place,
                                 DiagnosticLog& log) const {
    const auto report = [&](const Owner& owner, const std::string& what) {
        const Suspect suspect = suspect_of(owner.use, run);
        const ByteRun extent = owner.use.extent();
        log.add({.severity = Severity::Warning,
                 .id = "compares_partly",
                 .sentence = fmt::format(
                     "{} bytes at {} are compared, but the {} of {} {}: it lies from {} to {}",
                     run.bytes.value, to_hex(run.address), owner.use.surface, owner.operation, what,
                     to_hex(extent.address), to_hex(extent.end())),
                 .remedy = remedy_for(owner.use, suspect),
                 .address = extent.address,
                 .unit = owner.use.unit,
                 .register_name = suspect.register_name,
                 .surface = owner.use.surface,
                 .operation = owner.operation,
                 .place = place});
    };
    Bytes gap{};
    const Owner* first = nullptr;
    const Owner* last = nullptr;
    for (const std::size_t writer : seen.writers) {
        const Owner& owner = owners_[writer];
        const ByteRun extent = owner.use.extent();
        if (first == nullptr || extent.address < first->use.extent().address) {
            first = &owner;
        }
        if (last == nullptr || extent.end() > last->use.extent().end()) {
            last = &owner;
        }
        gap = std::max(gap, owner.gap);
    }
    if (first->use.extent().address < run.address) {
        report(*first, "begins before them");
    } else if (seen.before_written > 0) {
        report(*first, "begins after the first of them");
    } else if (last->use.extent().end() > run.end()) {
        report(*last, "ends after them");
    } else if (seen.after_written > gap.value) {
        report(*last, "ends before the last of them");
    }
}

}  // namespace npuscope
