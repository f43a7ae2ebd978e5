// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/base/rule_ids.h"
#include "sim/check/placing.h"

namespace npuscope {

namespace {

/// What the packets of a file put at `offset` and after it, where the last one wins; bytes in no
/// packet stay as they are.
void copy_loaded(const MemoryImage& image, std::uint64_t offset, std::span<std::uint8_t> bytes) {
    for (const MemoryImage::Run& run : image.runs) {
        const std::uint64_t begin = std::max(run.offset, offset);
        const std::uint64_t end = std::min(run.offset + run.size, offset + bytes.size());
        if (begin < end) {
            std::copy_n(&image.bytes[run.position + (begin - run.offset)], end - begin,
                        &bytes[begin - offset]);
        }
    }
}

}  // namespace

bool MemoryRules::in_memory(const ByteRun& run) const {
    return machine_.memory.holds(run.address, run.bytes);
}

namespace {

/// Where the program left the address at its reset value, that is what to correct.
std::string remedy_outside(const CheckedOperation& operation, const SurfaceUse& use) {
    const std::string name = address_name(use);
    const bool unwritten = use.base == Address(0) && !operation.writes.empty() && !name.empty() &&
                           find_write(operation, name) == nullptr;
    return unwritten ? fmt::format("write the address to {}, which the program leaves at 0", name)
                     : "move the surface into a region (memory.regions), or correct its strides";
}

/// The stride that is too small: the line stride if a line does not fit it, that of batches if all
/// else fits.
std::string overlapping_stride(const SurfaceUse& use) {
    const bool lines_fit = use.cube && (use.cube->shape.height == 1 ||
                                        use.cube->line_stride >= use.cube->line_bytes());
    const bool surfaces_fit = lines_fit && (use.cube->surfaces() == 1 ||
                                            use.cube->surface_stride >=
                                                use.cube->line_stride * use.cube->lines_of_batch());
    if (surfaces_fit && (use.batches > 1 || use.cube->lines_of_batch() < use.cube->shape.height)) {
        if (use.unit == "NVDLA_SDP") {
            return "D_DST_BATCH_STRIDE";
        }
        if (use.unit == "NVDLA_CDMA") {
            return "D_BATCH_STRIDE";
        }
    }
    return lines_fit && !use.surface_stride_register.empty() ? use.surface_stride_register
                                                             : use.stride_register;
}

/// Which stride is too small, and what it must be.
std::string overlap_text(const SurfaceUse& use) {
    if (use.cube) {
        const FeatureCube& cube = *use.cube;
        const Bytes lines = cube.line_stride * cube.lines_of_batch();
        const auto text = [](const char* stride, Bytes value, Bytes least) {
            return fmt::format("the {} stride is {:#x}, but must be at least {:#x}", stride,
                               value.value, least.value);
        };
        if (cube.shape.height > 1 && cube.line_stride < cube.line_bytes()) {
            return text("line", cube.line_stride, cube.line_bytes());
        }
        if (cube.surfaces() > 1 && cube.surface_stride < lines) {
            return text("surface", cube.surface_stride, lines);
        }
    }
    return "the strides are too small";
}

}  // namespace

void MemoryRules::check_use(const CheckedOperation& operation, const SurfaceUse& use,
                            DiagnosticLog& log) const {
    const std::uint32_t bits = machine_.address_bits;
    const auto reachable = [&](const ByteRun& run) {
        return bits >= 64 || (run.end().value - 1) >> bits == 0;
    };
    const auto outside = std::ranges::find_if(
        use.runs, [&](const ByteRun& run) { return !reachable(run) || !in_memory(run); });
    if (outside != use.runs.end()) {
        Diagnostic one = surface_finding(
            operation, use, rule_ids::out_of_bounds,
            fmt::format("{} {} bytes at {}, {}", surface_does(operation, use, "cover"),
                        outside->bytes.value, to_hex(outside->address),
                        reachable(*outside) ? "outside every memory region"
                                            : fmt::format("beyond an address of {} bits", bits)),
            remedy_outside(operation, use));
        one.address = outside->address;
        log.add(std::move(one));
    }
    if (use.overlaps_itself) {
        const bool several =
            use.cube && (use.batches > 1 || use.cube->lines_of_batch() < use.cube->shape.height);
        Diagnostic one = surface_finding(
            operation, use, "lines_overlap",
            fmt::format(
                "lines of {}{} overlap each other: {}", operation.name.empty() ? "" : "the ",
                surface_label(operation, use),
                use.repeats && !use.writes ? "a stride of 0 repeats them" : overlap_text(use)),
            !use.cube ? "strides >= the bytes of what they separate"
            : several
                ? "line stride >= width x atom, surface stride >= height x line stride, batch "
                  "stride >= surfaces x surface stride"
                : "line stride >= width x atom, surface stride >= height x line stride");
        one.register_name = spelled(use.unit, overlapping_stride(use));
        if (!operation.name.empty() && !use.writes) {  // bytes that are read twice do no harm
            one.severity = use.repeats ? Severity::Note : Severity::Warning;
        }
        log.add(std::move(one));
    }
}

void MemoryRules::expect_written(const std::string& output, std::span<const ByteRun> runs,
                                 DiagnosticLog& log) const {
    const SeenBytes seen = see(runs);
    const std::uint64_t missing = seen.unwritten + seen.filled + seen.loaded;
    if (lost_track_ || missing == 0) {
        return;
    }
    const Address first = seen.first_missing.value_or(runs.front().address);
    log.add({.severity = Severity::Warning,
             .id = rule_ids::partly_written,
             .sentence = fmt::format("{} of the {} bytes of output '{}' are written by no "
                                     "operation, the first at {}",
                                     missing, missing + seen.written, output, to_hex(first)),
             .remedy = "correct address, sizes or strides of the operation that should write them",
             .address = first,
             .surface = output});
}

MemoryRules::SeenBytes MemoryRules::look_at(std::span<const ByteRun> runs) {
    SeenBytes seen = see(runs);
    for (const ByteRun& run : runs) {
        bytes_.change(run, [](ByteState& state) { state.looked_at = true; });
    }
    for (const std::size_t writer : seen.writers) {
        owners_[writer].read = true;
    }
    return seen;
}

void MemoryRules::run(const RunNode& node, const Place& place) {
    look_at(node.reads);
    if (node.writes.empty()) {
        return;
    }
    const std::size_t number = owners_.size();
    owners_.push_back({node.name, {}, place, true, {}, 0});
    for (const ByteRun& run : node.writes) {
        bytes_.put(run, {ByteOrigin::Written, number, true});
    }
}

void MemoryRules::judge(const CheckedOperation& operation, const SurfaceUse& use,
                        const SeenBytes& seen, DiagnosticLog& log) const {
    if (lost_track_) {
        return;
    }
    const auto add = [&](const char* id, const std::string& message, Address address,
                         const char* remedy) {
        Diagnostic one = surface_finding(operation, use, id, message, remedy);
        one.address = address;
        log.add(std::move(one));
    };
    if (seen.unwritten > 0 && !machine_.zeroed) {
        const Suspect suspect = suspect_of(use, expected_region(use, seen), machine_.atom);
        Diagnostic one =
            surface_finding(operation, use, rule_ids::uninitialised_read,
                            fmt::format("{} {} uninitialised byte{}, the first at {}{}",
                                        surface_does(operation, use, "read"), seen.unwritten,
                                        seen.unwritten == 1 ? "" : "s",
                                        to_hex(*seen.first_unwritten), elsewhere(use.extent())),
                            fmt::format("load them first, or {}", remedy_for(use, suspect)));
        one.register_name = suspect.register_name;
        one.address = seen.first_unwritten;
        log.add(std::move(one));
        return;
    }
    if (seen.loaded == 0 && seen.written == 0 && !use.runs.empty()) {
        add(rule_ids::never_loaded,
            fmt::format("{} {}{}", surface_does(operation, use, "are"),
                        seen.unwritten == 0 && seen.filled > 0
                            ? "filled by mem_init, but neither loaded nor written by an operation"
                            : "neither loaded nor written by an operation",
                        elsewhere(use.extent())),
            use.base, "load the surface first, or correct its address");
        return;
    }
    if (judge_extent(operation, use, seen, log)) {
        return;
    }
    if (seen.written > 0 && seen.loaded > 0) {
        const Owner& owner = owners_[*seen.writers.begin()];
        add("overwritten_operand",
            fmt::format("{} loaded, but the {} of {} overwrites {} of these bytes from {} on",
                        surface_does(operation, use, "are"), owner.use.surface, owner.operation,
                        seen.written, to_hex(*seen.first_written)),
            *seen.first_written, "keep the two surfaces apart");
        return;
    }
    judge_strides(operation, use, seen, log);
}

void MemoryRules::judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                                const SeenBytes& seen, DiagnosticLog& log) const {
    for (const std::size_t writer : seen.writers) {
        const Owner& owner = owners_[writer];
        if (!lie_lines_apart(use, owner.use)) {
            report_slice(operation, use, owner.use, log);
            return;
        }
        const SurfaceStrides& theirs = owner.use.strides;
        const auto differ = [](const std::optional<Bytes>& one, const std::optional<Bytes>& other) {
            return one && other && *one != *other;
        };
        const bool lines = differ(use.strides.line, theirs.line);
        if (!use.constant && (lines || differ(use.strides.surface, theirs.surface))) {
            Diagnostic one = surface_finding(
                operation, use, "stride_mismatch",
                fmt::format("{} is read with a {} stride of {}, but {} wrote it with {}",
                            surface_label(operation, use), lines ? "line" : "surface",
                            lines ? use.strides.line->value : use.strides.surface->value,
                            owner.operation, lines ? theirs.line->value : theirs.surface->value),
                "read a result with the strides that it was written with");
            one.severity = Severity::Warning;
            if (const std::string& name = lines ? use.stride_register : use.surface_stride_register;
                !name.empty()) {
                one.register_name = spelled(use.unit, name);
            }
            log.add(std::move(one));
            return;
        }
    }
}

void MemoryRules::write(const CheckedOperation& operation, const SurfaceUse& use,
                        DiagnosticLog& log) {
    const std::size_t number = owners_.size();
    owners_.push_back({operation.name, use, operation.place, false, gap_after(use), 0});
    owners_.back().use.runs = {use.extent()};
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
            if (state != nullptr && state->origin == ByteOrigin::Loaded && !state->looked_at) {
                loads_[state->by].overwritten.push_back(piece);
            }
            if (state == nullptr || state->origin != ByteOrigin::Written || state->looked_at ||
                state->by == number || owners_[state->by].read) {
                return;
            }
            const Owner& lost = owners_[state->by];
            Diagnostic one = surface_finding(
                operation, use, rule_ids::result_lost,
                fmt::format("{} overwrites the result of {} at {} before anything has read it",
                            surface_label(operation, use), lost.operation, to_hex(piece.address)),
                "keep the two results apart");
            one.address = piece.address;
            log.add(std::move(one));
        });
        bytes_.put(run, {ByteOrigin::Written, number, false});
    }
}

namespace {

/// The planes of one picture do not share pixels.
void check_planes(const CheckedOperation& operation, DiagnosticLog& log) {
    const SurfaceUse* first = nullptr;
    for (const SurfaceUse& use : operation.uses) {
        if (use.kind != DataKind::Pixels) {
            continue;
        }
        if (first != nullptr && common_byte(first->runs, use.runs)) {
            Diagnostic one = surface_finding(
                operation, *first, "lines_overlap",
                fmt::format("lines of the {} overlap the {}", surface_label(operation, *first),
                            surface_label(operation, use)),
                "move the second plane after the end of the first");
            one.register_name = spelled(first->unit, first->stride_register);
            log.add(std::move(one));
        }
        first = &use;
    }
}

}  // namespace

void MemoryRules::launch(const CheckedOperation& operation, DiagnosticLog& log) {
    const std::size_t told_before = log.findings().size();
    if (operation.only_compares) {
        only_compares_ = operation.name;
    }
    check_planes(operation, log);
    for (const SurfaceUse& use : operation.uses) {
        check_use(operation, use, log);
        if (!use.writes) {
            note_reader(operation, use, log);
            const SeenBytes seen = look_at(use.runs);
            for (const std::size_t writer : seen.writers) {
                owners_[writer].lines_left += 2 * operation.lines_left;
            }
            judge(operation, use, seen, log);
            if (log.findings().size() == told_before) {
                judge_kind(operation, use, seen, log);
            }
        }
        const auto is_told = [&](const Diagnostic& one) { return one.surface == use.surface; };
        if (std::none_of(log.findings().begin() + static_cast<std::ptrdiff_t>(told_before),
                         log.findings().end(), is_told)) {
            check_strides_apart(operation, use, log);
        }
    }
    for (const SurfaceUse& use : operation.uses) {
        if (use.writes) {
            write(operation, use, log);
        }
    }
}

std::optional<std::vector<std::uint8_t>> MemoryRules::contents(const ByteRun& run) const {
    if (lost_track_ || run.bytes > most_contents || !in_memory(run)) {
        return std::nullopt;
    }
    bool known = true;
    bytes_.visit(run, [&](const ByteRun& /*piece*/, const ByteState* state) {
        known =
            known && (state == nullptr ? machine_.zeroed : state->origin != ByteOrigin::Written);
    });
    if (!known) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(run.bytes.value, 0);
    bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
        const std::uint64_t at = (piece.address - run.address).value;
        put_contents(piece, state, std::span(bytes).subspan(at, piece.bytes.value));
    });
    return bytes;
}

void MemoryRules::put_contents(const ByteRun& piece, const ByteState* state,
                               std::span<std::uint8_t> bytes) const {
    if (state == nullptr) {
        return;
    }
    if (state->origin == ByteOrigin::Loaded) {
        const LoadMemory& load = *loads_[state->by].load;
        copy_loaded(load.image, (piece.address - load.address).value, bytes);
    } else {
        for (std::uint64_t i = 0; i < bytes.size(); ++i) {
            bytes[i] = fill_byte(fills_[state->by], piece.address + Bytes(i));
        }
    }
}

void MemoryRules::report_unused(const Owner& owner, DiagnosticLog& log) {
    CheckedOperation operation;
    operation.name = owner.operation;
    operation.place = owner.place;
    Diagnostic one = surface_finding(
        operation, owner.use, "result_unused",
        fmt::format("{} at {} is neither read nor compared, though other results are compared",
                    surface_label(operation, owner.use), to_hex(owner.use.base)),
        "correct its address, or that of its reader, or compare it");
    one.severity = Severity::Warning;
    log.add(std::move(one));
}

void MemoryRules::report_unread(DiagnosticLog& log) const {
    if (lost_track_) {
        return;
    }
    report_unread_loads(log);
    struct Share {
        std::uint64_t read = 0;
        std::uint64_t unread = 0;
        Address first;
    };
    std::vector<Share> shares(owners_.size());
    bytes_.visit_all([&](const ByteRun& piece, const ByteState* state) {
        if (state->origin != ByteOrigin::Written) {
            return;
        }
        Share& share = shares[state->by];
        if (state->looked_at) {
            share.read += piece.bytes.value;
        } else if ((share.unread += piece.bytes.value) == piece.bytes.value) {
            share.first = piece.address;
        }
    });
    for (std::size_t i = 0; i < shares.size(); ++i) {
        // strides over the last rows of a result leave part of it unread
        const Owner& owner = owners_[i];
        const std::uint64_t line = owner.use.strides.line.value_or(Bytes(0)).value;
        // for a part of a result, surfaces are farther apart than its size
        const std::uint64_t surfaces = owner.use.cube ? owner.use.cube->surfaces() : 1;
        const std::uint64_t left = owner.lines_left * line * surfaces;
        if (compared_ && !owner.read && shares[i].unread > 0) {
            report_unused(owner, log);
            continue;
        }
        if (shares[i].read == 0 || 5 * shares[i].unread < 2 * shares[i].read ||
            shares[i].unread <= left) {
            continue;
        }
        CheckedOperation operation;
        operation.name = owner.operation;
        operation.place = owner.place;
        Diagnostic one = surface_finding(operation, owner.use, "partly_unread",
                                         fmt::format("{} bytes of the {} of {} are never read, the "
                                                     "first at {}; its other bytes are read",
                                                     shares[i].unread, owner.use.surface,
                                                     owner.operation, to_hex(shares[i].first)),
                                         "correct address, strides or sizes of writer or reader");
        one.severity = Severity::Warning;
        one.address = shares[i].first;
        log.add(std::move(one));
    }
}

std::vector<Diagnostic> compressed_findings(const CompressedUse& use, const MemoryRules& memory) {
    const WeightLayout& layout = use.layout;
    const auto mask = memory.contents({use.places.mask, used_mask_bytes(layout)});
    const auto size_bytes = memory.contents({use.places.sizes, Bytes(4) * layout.groups()});
    if (!mask || !size_bytes) {
        return {};  // reported as bytes that are never loaded
    }
    std::vector<std::uint32_t> sizes(layout.groups());
    std::memcpy(sizes.data(), size_bytes->data(), size_bytes->size());
    const std::uint64_t kept = CompressedGroups(layout, *mask).weight_bytes();
    std::optional<std::vector<std::uint8_t>> values = std::vector<std::uint8_t>{};
    if (kept > 0) {
        values = memory.contents({use.places.values, Bytes(kept)});
    }
    if (!values) {
        values = std::vector<std::uint8_t>(kept, 1);
    }
    const DecompressedWeights weights = decompress_weights(layout, {*values, *mask, sizes});
    return compression_findings(layout, *mask, weights.faults, use.places);
}

}  // namespace npuscope
