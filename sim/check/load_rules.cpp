// SPDX-License-Identifier: Apache-2.0
// Memory that is filled, files that are loaded, and how they are read: parts of one surface have its
// strides and are whole lines apart, and a file is read from its beginning to its end.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "models/base/rule_ids.h"
#include "sim/check/memory_rules.h"
#include "sim/check/placing.h"

namespace npuscope {

void MemoryRules::fill(const InitMemory& init, const Place& place, DiagnosticLog& log) {
    const ByteRun run{init.address, init.bytes};
    if (!in_memory(run)) {
        log.add({.id = rule_ids::out_of_bounds,
                 .sentence = fmt::format("{} bytes at {} are filled outside every memory region",
                                         run.bytes.value, to_hex(run.address)),
                 .remedy = "move it into a region (memory.regions)",
                 .address = run.address,
                 .place = place});
        return;
    }
    bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
        if (state == nullptr || state->origin != ByteOrigin::Written || state->looked_at ||
            owners_[state->by].read) {
            return;
        }
        const Owner& lost = owners_[state->by];
        Diagnostic one =
            surface_finding({}, lost.use, rule_ids::result_lost,
                            fmt::format("the {} of {} is filled at {} before anything "
                                        "has read it",
                                        lost.use.surface, lost.operation, to_hex(piece.address)),
                            "fill memory before the operation, or keep them apart");
        one.operation = lost.operation;
        one.address = piece.address;
        one.place = place;
        one.register_name.clear();
        log.add(std::move(one));
    });
    bytes_.put(run, {ByteOrigin::Filled, fills_.size(), false});
    fills_.push_back(init.fill);
}

void MemoryRules::load(const LoadMemory& load, const Place& place, DiagnosticLog& log) {
    const std::size_t number = loads_.size();
    loads_.push_back({&load, place});
    const auto add = [&](const char* id, const std::string& message, Address address) {
        log.add({.id = id,
                 .sentence = message,
                 .remedy = "load it elsewhere",
                 .address = address,
                 .surface = load.file,
                 .place = place});
    };
    for (const MemoryImage::Run& run : load.image.runs) {
        const ByteRun bytes{load.address + Bytes(run.offset), Bytes(run.size)};
        if (!in_memory(bytes)) {
            add(rule_ids::out_of_bounds,
                fmt::format("'{}' lies outside every memory region: {} byte{} at {}", load.file,
                            run.size, run.size == 1 ? "" : "s", to_hex(bytes.address)),
                bytes.address);
            continue;
        }
        bytes_.visit(bytes, [&](const ByteRun& piece, const ByteState* state) {
            if (state != nullptr && state->origin == ByteOrigin::Loaded && state->by != number &&
                !state->looked_at && !loads_[state->by].is_again(load)) {
                add("load_overlap",
                    fmt::format("'{}' overwrites bytes of '{}' that were never read", load.file,
                                loads_[state->by].load->file),
                    piece.address);
            }
        });
        bytes_.put(bytes, {ByteOrigin::Loaded, number, false});
    }
}

void MemoryRules::expect_loaded(const SurfaceUse& use, DiagnosticLog& log) const {
    const SeenBytes seen = see(use.runs);
    if (seen.unwritten > 0) {
        Diagnostic one = surface_finding(
            {}, use, rule_ids::never_loaded,
            fmt::format("{} byte{} of '{}' {} never loaded, the first at {}", seen.unwritten,
                        seen.unwritten == 1 ? "" : "s", use.surface,
                        seen.unwritten == 1 ? "is" : "are", to_hex(*seen.first_unwritten)),
            "load them, correct address and strides, or set `role: output`");
        one.address = seen.first_unwritten;
        log.add(std::move(one));
    }
}

namespace {

/// An operand begins at the address; for pixels with an offset the skipped ones come first.
bool begins_at(const SurfaceUse& use, Address address) {
    constexpr std::uint64_t most = 64;  // source: X offsets of nv_full, in bytes
    if (use.base == address || use.kind != DataKind::Pixels || use.runs.empty()) {
        return use.base == address;
    }
    const Address first = use.runs.front().address;
    return first == address ||
           (first != use.base && first >= address && (first - address).value < most);
}

}  // namespace

bool MemoryRules::lie_lines_apart(const SurfaceUse& one, const SurfaceUse& other) {
    const auto has_batches = [](const SurfaceUse& use) {  // batches with their own surfaces
        return use.batches > 1 || use.cube->lines_of_batch() < use.cube->shape.height;
    };
    if (!one.cube || !other.cube || one.constant || other.constant || has_batches(one) ||
        has_batches(other) || one.cube->line_stride != other.cube->line_stride ||
        one.cube->surface_stride != other.cube->surface_stride ||
        one.cube->line_stride.value == 0) {
        return true;
    }
    const Address low = std::min(one.base, other.base);
    const Address high = std::max(one.base, other.base);
    return (high - low).value % one.cube->line_stride.value == 0;
}

namespace {

/// Two parts of one surface that, by their lines, disagree on where its next surface is.
bool differ_in_surfaces(const SurfaceUse& one, const SurfaceUse& other) {
    return one.cube && other.cube && !one.constant && !other.constant && one.batches == 1 &&
           other.batches == 1 && one.cube->surfaces() > 1 &&
           one.cube->surfaces() == other.cube->surfaces() &&
           one.cube->line_stride == other.cube->line_stride &&
           one.cube->surface_stride != other.cube->surface_stride;
}

}  // namespace

void MemoryRules::report_slice(const CheckedOperation& operation, const SurfaceUse& use,
                               const SurfaceUse& other, DiagnosticLog& log) const {
    if (differ_in_surfaces(use, other)) {
        Diagnostic one = surface_finding(
            operation, use, "slice_offset",
            fmt::format("{} is read with a surface stride of {}, but another part of the same "
                        "surface with {} (at {})",
                        surface_label(operation, use), use.cube->surface_stride.value,
                        other.cube->surface_stride.value, to_hex(other.base)),
            "read every part of a surface with the surface's strides");
        one.severity = Severity::Warning;
        if (!use.surface_stride_register.empty()) {
            one.register_name = spelled(use.unit, use.surface_stride_register);
        }
        log.add(std::move(one));
        return;
    }
    Diagnostic one =
        surface_finding(operation, use, "slice_offset",
                        fmt::format("{} begins at {}, not a multiple of the line stride ({} bytes) "
                                    "from {}, where another part of the surface begins",
                                    surface_label(operation, use), to_hex(use.base),
                                    use.cube->line_stride.value, to_hex(other.base)),
                        "start each part of a surface at a line");
    one.severity = Severity::Warning;
    log.add(std::move(one));
}

namespace {

/// Parts of one plane of pixels have its stride and are whole lines apart.
bool are_lines_of_one(const SurfaceUse& one, const SurfaceUse& other) {
    const Address low = std::min(one.base, other.base);
    const Address high = std::max(one.base, other.base);
    return one.surface != other.surface ||
           (*one.strides.line == *other.strides.line &&
            (one.strides.line->value == 0 || (high - low).value % one.strides.line->value == 0));
}

void report_plane(const CheckedOperation& operation, const SurfaceUse& use, const SurfaceUse& other,
                  DiagnosticLog& log) {
    const bool strides = *use.strides.line != *other.strides.line;
    Diagnostic one = surface_finding(
        operation, use, "slice_offset",
        fmt::format("{} begins at {} with lines of {} bytes, another part of it at {} with lines "
                    "of {}",
                    surface_label(operation, use), to_hex(use.base), use.strides.line->value,
                    to_hex(other.base), other.strides.line->value),
        "use the surface's strides for its parts, and start each at a line");
    one.severity = Severity::Warning;
    one.register_name = spelled(use.unit, strides ? use.stride_register : use.address_register);
    log.add(std::move(one));
}

/// At most this many bytes may stay unread after what the operation reads of a surface.
Bytes unread_after(const CheckedOperation& operation, const SurfaceUse& use) {
    if (use.unit == "NVDLA_CDMA" && use.constant) {
        return operation.weights_left;
    }
    Bytes gap = gap_after(use, operation.lines_left, operation.columns_left);
    if (use.kind == DataKind::Pixels && !use.strides.line) {
        gap +=
            operation.next_line * (operation.lines_left + (operation.columns_left > 0 ? 1U : 0U));
    }
    return gap;
}

/// The same where the surface goes on in another file: a line or a window may end earlier, but its
/// surface stride does not lead over the rest.
Bytes unread_between_files(const CheckedOperation& operation, const SurfaceUse& use) {
    SurfaceUse line = use;
    line.runs.clear();
    line.cube->surface_stride = Bytes(0);
    return unread_after(operation, line);
}

}  // namespace

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
    const bool several = read.size() > 1 && use.cube && !use.constant && use.batches == 1 &&
                         use.cube->lines_of_batch() == use.cube->shape.height;
    for (const std::size_t number : read) {
        Load& load = loads_[number];
        const Bytes gap = several && load.run().end() < use.extent().end()
                              ? unread_between_files(operation, use)
                              : unread_after(operation, use);
        load.begins_there = load.begins_there || begins_at(use, load.load->address);
        load.copied = load.copied || use.unit == "NVDLA_BDMA";
        if (use.cube && !use.constant) {
            const auto apart = std::ranges::find_if(load.slices, [&](const SurfaceUse& other) {
                return !lie_lines_apart(use, other) || differ_in_surfaces(use, other);
            });
            if (apart != load.slices.end()) {
                report_slice(operation, use, *apart, log);
            }
            load.slices.push_back(use);
            load.slices.back().runs.clear();
        }
        if (use.kind == DataKind::Pixels && use.strides.line) {
            const auto other = std::ranges::find_if(
                load.planes, [&](const SurfaceUse& one) { return !are_lines_of_one(one, use); });
            if (other != load.planes.end()) {
                report_plane(operation, use, *other, log);
            }
            load.planes.push_back(use);
            load.planes.back().runs.clear();
        }
        load.gap = std::max(load.gap, gap);
        load.lines_left = std::max(load.lines_left, operation.lines_left);
        load.columns_left = std::max(load.columns_left, operation.columns_left);
        if (!load.use) {
            load.operation = operation.name;
            load.use = use;
            load.use->runs = {use.extent()};
        }
    }
}

namespace {

/// Bytes of a part of the file up to its last one that is not 0, whatever has overwritten them
/// since.
Bytes without_last_zeros(const LoadMemory& load, const ByteRun& part) {
    const std::uint64_t begin = (part.address - load.address).value;
    const std::uint64_t end = begin + part.bytes.value;
    std::uint64_t held = begin;
    for (const MemoryImage::Run& run : load.image.runs) {
        const std::uint64_t first = std::max(run.offset, begin);
        for (std::uint64_t last = std::min(run.offset + run.size, end); last > first; --last) {
            if (load.image.bytes[run.position + (last - 1 - run.offset)] != 0) {
                held = std::max(held, last);
                break;
            }
        }
    }
    return Bytes(held - begin);
}

/// Whether the file has only zeros there.
bool holds_zeros(const LoadMemory& load, const ByteRun& part) {
    return without_last_zeros(load, part) == Bytes(0);
}

/// Surfaces with room for exactly one more line.
bool is_one_line_more(const FeatureCube& cube, const ByteRun& hole) {
    return cube.line_stride == hole.bytes && cube.line_bytes() == cube.line_stride &&
           cube.surface_stride == cube.line_stride * (cube.shape.height + 1U);
}

/// Values that no window reaches: at the end of a line, or in lines after a surface's last one.
bool lies_after_windows(const FeatureCube& cube, const ByteRun& hole, std::uint32_t lines,
                        std::uint32_t columns) {
    if (hole.address < cube.base || cube.surface_stride.value == 0 || cube.line_stride.value == 0) {
        return false;
    }
    const std::uint64_t begin = (hole.address - cube.base).value % cube.surface_stride.value;
    const std::uint64_t line = begin / cube.line_stride.value;
    const std::uint64_t end = begin + hole.bytes.value;
    if (line >= cube.shape.height) {
        return end <= cube.line_stride.value * (cube.shape.height + lines);
    }
    const std::uint64_t line_end = (line + 1) * cube.line_stride.value;
    return end == line_end && hole.bytes.value <= columns * cube.atom.value;
}

/// Line stride of the plane of pixels that the address is in or after.
std::optional<Bytes> line_at(const std::vector<SurfaceUse>& planes, Address address) {
    const SurfaceUse* nearest = nullptr;
    for (const SurfaceUse& plane : planes) {
        if (plane.base <= address && (nearest == nullptr || plane.base > nearest->base)) {
            nearest = &plane;
        }
    }
    return nearest == nullptr ? std::nullopt : nearest->strides.line;
}

/// Cubes that may be lines of one surface.
bool are_parts_of_one(const SurfaceUse& one, const SurfaceUse& other) {
    return one.cube->line_stride == other.cube->line_stride &&
           one.cube->surface_stride == other.cube->surface_stride &&
           one.cube->shape.width == other.cube->shape.width &&
           one.cube->surfaces() == other.cube->surfaces();
}

}  // namespace

bool MemoryRules::is_part_of_line(const Load& load, const ByteRun& hole) {
    const bool split = load.use && load.use->unit == "NVDLA_PDP_RDMA";  // read slice by slice
    if (!load.use || load.copied || split) {
        return false;
    }
    if (load.use->kind == DataKind::Pixels) {
        // a line ends with pixels that are not visible, a plane with lines that no window reaches
        const std::optional<Bytes> line = line_at(load.planes, hole.address);
        return line && without_last_zeros(*load.load, hole) > *line * (load.lines_left + 1U);
    }
    if (!load.use->constant && load.use->cube && load.slices.size() == 1 &&
        lies_after_windows(*load.use->cube, hole, load.lines_left, load.columns_left)) {
        return false;
    }
    // strides may skip whole lines
    return load.use->constant ||
           (load.use->cube && load.slices.size() == 1 &&
            (hole.bytes < load.use->cube->line_stride ||
             (load.lines_left == 0 && is_one_line_more(*load.use->cube, hole)))) ||
           lies_between_slices(load, hole);
}

Bytes MemoryRules::gap_of(const Load& load) {
    if (load.slices.size() < 2) {
        return load.gap;
    }
    const SurfaceUse& any = load.slices.front();
    const FeatureCube& cube = *any.cube;
    Address first = any.base;
    Address end = any.base;
    for (const SurfaceUse& slice : load.slices) {
        if (slice.batches != 1 || !are_parts_of_one(any, slice)) {
            return load.gap;
        }
        first = std::min(first, slice.base);
        end = std::max(end, slice.base + slice.cube->line_stride * slice.cube->shape.height);
    }
    if (end - first > cube.surface_stride || cube.line_bytes() > cube.line_stride) {
        return load.gap;
    }
    // a line-by-line reader has its own strides: only what a line or a window leaves
    return cube.line_stride * load.lines_left + (cube.line_stride - cube.line_bytes());
}

bool MemoryRules::lies_between_slices(const Load& load, const ByteRun& hole) {
    const auto lines_of = [](const SurfaceUse& use) {
        const FeatureCube& cube = *use.cube;
        return ByteRun{use.base, cube.line_stride * cube.shape.height};
    };
    const auto is_before = [&](const SurfaceUse& use) {
        return lines_of(use).end() <= hole.address;
    };
    const auto is_after = [&](const SurfaceUse& use) { return use.base >= hole.end(); };
    return std::ranges::any_of(load.slices, [&](const SurfaceUse& first) {
        const FeatureCube& cube = *first.cube;
        return first.batches == 1 && is_before(first) &&
               hole.bytes > cube.line_stride * std::max(load.lines_left, 1U) &&
               hole.end() <= first.base + cube.surface_stride &&
               std::ranges::any_of(load.slices, [&](const SurfaceUse& last) {
                   return is_after(last) && are_parts_of_one(first, last) &&
                          last.base < first.base + cube.surface_stride;
               });
    });
}

void MemoryRules::note_unread(const ByteRun& piece, const ByteState& state, Unread& one) const {
    const ByteRun file = loads_[state.by].run();
    if (state.looked_at) {
        one.read += piece.bytes.value;
        return;
    }
    one.unread += piece.bytes.value;
    one.head += piece.address == file.address ? piece.bytes.value : 0;
    one.tail = piece.end() == file.end() ? piece.bytes.value : one.tail;
    const bool inside = piece.address != file.address && piece.end() != file.end();
    if (inside && !one.hole && is_part_of_line(loads_[state.by], piece) &&
        !holds_zeros(*loads_[state.by].load, piece)) {
        one.hole = piece;
    }
}

std::vector<MemoryRules::Unread> MemoryRules::unread_loads() const {
    std::vector<Unread> all(loads_.size());
    for (std::size_t i = 0; i < loads_.size(); ++i) {
        const ByteRun file = loads_[i].run();
        for (const ByteRun& piece : loads_[i].overwritten) {
            all[i].head += piece.address == file.address ? piece.bytes.value : 0;
            all[i].tail += piece.end() == file.end() ? piece.bytes.value : 0;
            if (!all[i].hole && lies_between_slices(loads_[i], piece)) {
                all[i].hole = piece;
            }
        }
    }
    bytes_.visit_all([&](const ByteRun& piece, const ByteState* state) {
        if (state->origin == ByteOrigin::Loaded) {
            note_unread(piece, *state, all[state->by]);
        }
    });
    return all;
}

void MemoryRules::report_unread_loads(DiagnosticLog& log) const {
    const std::vector<Unread> all = unread_loads();
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
                const Suspect suspect = suspect_of(*load.use, file, machine_.atom);
                one.sentence = fmt::format(
                    "{} byte{} at the {} of '{}', from {} on, {} never read ({} of {}: {} to {})",
                    bytes, bytes == 1 ? "" : "s", where, load.load->file, to_hex(at),
                    bytes == 1 ? "is" : "are", load.use->surface, load.operation,
                    to_hex(load.use->extent().address), to_hex(load.use->extent().end()));
                one.remedy = remedy_for(*load.use, suspect);
                one.unit = load.use->unit;
                one.register_name = suspect.register_name;
                one.operation = load.operation;
            } else {
                one.severity = Severity::Note;  // the host itself may read it
                one.sentence = fmt::format("no operation reads '{}', which is loaded at {}",
                                           load.load->file, to_hex(file.address));
                one.remedy = "load it to the address of an operand, or remove it";
            }
            log.add(std::move(one));
        };
        const Unread& unread = all[i];
        const ByteRun tail{Address(file.end().value - unread.tail), Bytes(unread.tail)};
        // results may have overwritten all but the end of a file that was read
        if (unread.read == 0 && unread.unread > 0 && !load.use) {
            tell(unread.unread, file.address, "beginning");
        } else if (unread.head > 0 && !load.begins_there) {
            tell(unread.head, file.address, "beginning");
        } else if (!load.copied && tail.bytes > gap_of(load) && !holds_zeros(*load.load, tail)) {
            tell(tail.bytes.value, tail.address, "end");
        } else if (!load.copied && unread.hole) {
            tell(unread.hole->bytes.value, unread.hole->address, "middle");
        }
    }
}

}  // namespace npuscope
