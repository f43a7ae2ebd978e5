// SPDX-License-Identifier: Apache-2.0
// Whether what is read, written and compared has the same extent and kind: an operand inside what
// was loaded or written, a comparison of a complete result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/rule_ids.h"
#include "sim/check/memory_rules.h"
#include "sim/check/placing.h"

namespace npuscope {
namespace {

/// Bytes at the end of the last atom that belong to no channel may be missing from a file.
Bytes pad_of(const SurfaceUse& use) {
    if (!use.cube) {
        return use.padding;
    }
    const std::uint32_t lanes = use.cube->surfaces() * use.cube->channels_per_atom();
    return use.cube->element * (lanes - use.cube->shape.channels);
}

/// Sparse files leave zeros out, but seldom the entire last quarter of a surface.
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

MemoryRules::SeenBytes MemoryRules::see(std::span<const ByteRun> runs) const {
    SeenBytes seen;
    for (const ByteRun& run : runs) {
        bytes_.visit(run,
                     [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
    }
    return seen;
}

namespace {

/// Whether the bytes of one surface cannot be those of the other, too. A map of one row and one
/// column may hold per-channel values.
bool differ_in_kind(const SurfaceUse& one, const SurfaceUse& other) {
    const auto is_weights = [](const SurfaceUse& use) {
        return use.constant && use.unit == "NVDLA_CDMA";
    };
    const auto is_map = [](const SurfaceUse& use) { return use.cube && !use.constant; };
    const auto is_large_map = [&](const SurfaceUse& use) {
        return is_map(use) && std::uint64_t{use.cube->shape.width} * use.cube->shape.height > 1;
    };
    const auto differ = [&](const SurfaceUse& a, const SurfaceUse& b) {
        return is_weights(a) ? is_map(b) || (b.constant && a.surface != b.surface)
                             : a.constant && is_large_map(b);
    };
    const bool widths = one.constant && other.constant && one.cube && other.cube &&
                        one.surface == other.surface && one.base == other.base &&
                        one.cube->element != other.cube->element;
    return widths || differ(one, other) || differ(other, one);
}

}  // namespace

void MemoryRules::judge_kind(const CheckedOperation& operation, const SurfaceUse& use,
                             const SeenBytes& seen, DiagnosticLog& log) {
    const auto report = [&](const std::string& name, const SurfaceUse& other) {
        Diagnostic one = surface_finding(
            operation, use, rule_ids::operand_kind,
            fmt::format("{} bytes with the {} of {}, which holds data of another kind",
                        surface_does(operation, use, "share"), other.surface, name),
            fmt::format("correct whichever of {} and {} has the wrong address",
                        spelled(use.unit, use.address_register),
                        spelled(other.unit, other.address_register)));
        one.severity = Severity::Warning;
        log.add(std::move(one));
    };
    for (const std::size_t writer : seen.writers) {
        const Owner& owner = owners_[writer];
        if (!owner.use.address_register.empty() && differ_in_kind(use, owner.use)) {
            return report(owner.operation, owner.use);
        }
    }
    const std::vector<ByteRun> extent{use.extent()};
    for (const std::size_t number : seen.loads) {
        Load& load = loads_[number];
        const auto other = std::ranges::find_if(load.readers, [&](const auto& reader) {
            return differ_in_kind(use, reader.second) && common_byte(extent, reader.second.runs);
        });
        if (other != load.readers.end()) {
            return report(other->first, other->second);
        }
        const bool known = std::ranges::any_of(load.readers, [&](const auto& reader) {
            return reader.second.surface == use.surface && reader.second.runs == extent;
        });
        if (!known) {
            load.readers.emplace_back(operation.name, use);
            load.readers.back().second.runs = extent;
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

bool MemoryRules::report_extent(const CheckedOperation& operation, const SurfaceUse& use,
                                const Diagnostic& found, const ByteRun& region,
                                DiagnosticLog& log) const {
    const Suspect suspect = suspect_of(use, region, machine_.atom);
    Diagnostic one =
        surface_finding(operation, use, found.id.c_str(), found.sentence, remedy_for(use, suspect));
    one.severity = Severity::Warning;
    one.register_name = suspect.register_name;
    one.address = found.address;
    log.add(std::move(one));
    return true;
}

bool MemoryRules::judge_extent(const CheckedOperation& operation, const SurfaceUse& use,
                               const SeenBytes& seen, DiagnosticLog& log) const {
    if (seen.written == 0) {
        return !seen.loads.empty() &&
               (judge_loaded(operation, use, seen, log) || judge_batches(operation, use, log));
    }
    if (seen.loaded > 0 || seen.filled + seen.unwritten == 0) {
        return false;
    }
    const Owner& owner = owners_[*seen.writers.begin()];
    if (owner.use.address_register.empty()) {
        return false;  // by the host
    }
    return report_extent(
        operation, use,
        {.id = rule_ids::partly_written,
         .sentence = fmt::format("{0} {1} bytes from {2} on that {3} writes, but also {4} bytes "
                                 "that {3} does not write",
                                 surface_does(operation, use, "read"), seen.written,
                                 to_hex(*seen.first_written), owner.operation,
                                 seen.filled + seen.unwritten),
         .address = seen.first_missing},
        owner.use.extent(), log);
}

bool MemoryRules::holds_values(const CheckedOperation& operation, const SurfaceUse& use,
                               const ByteRun& file) const {
    if (!operation.compressed || use.base != operation.compressed->places.values) {
        return false;
    }
    const CompressedUse& weights = *operation.compressed;
    const auto mask = contents({weights.places.mask, used_mask_bytes(weights.layout)});
    return mask &&
           file.end() >= use.base + Bytes(CompressedGroups(weights.layout, *mask).weight_bytes());
}

namespace {

/// Cubes that the surface consists of.
std::size_t batches_of(const SurfaceUse& use) {
    const bool one = use.batches > 1 || !use.cube || use.cube->lines_of_batch() == 0;
    return one ? use.batches : use.cube->shape.height / use.cube->lines_of_batch();
}

}  // namespace

bool MemoryRules::judge_batches(const CheckedOperation& operation, const SurfaceUse& use,
                                DiagnosticLog& log) const {
    const std::size_t batches = batches_of(use);
    if (batches < 2) {
        return false;
    }
    std::vector<ByteRun> all = use.runs;
    if (const ByteRun joined = all.front(); all.size() == 1) {  // adjacent cubes
        const Bytes size{joined.bytes.value / batches};
        all.clear();
        for (std::size_t batch = 0; batch < batches; ++batch) {
            all.push_back({joined.address + size * batch, size});
        }
    }
    const std::size_t runs = all.size() / batches;
    if (all.size() % batches != 0) {
        return false;
    }
    for (std::size_t batch = 0; batch < batches; ++batch) {
        SurfaceUse part = use;
        part.batches = 1;
        if (part.cube) {
            part.cube->shape.height = use.cube->lines_of_batch();
            part.cube->batch_lines = 0;
        }
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(batch * runs);
        part.runs.assign(first, first + static_cast<std::ptrdiff_t>(runs));
        part.base = part.runs.front().address;
        const SeenBytes seen = see(part.runs);
        if (!seen.loads.empty() && judge_loaded(operation, part, seen, log)) {
            return true;
        }
    }
    return false;
}

bool MemoryRules::judge_loaded(const CheckedOperation& operation, const SurfaceUse& use,
                               const SeenBytes& seen, DiagnosticLog& log) const {
    const ByteRun extent = use.extent();
    const auto report = [&](const std::string& sentence, const ByteRun& region, Address at) {
        return report_extent(operation, use,
                             {.id = rule_ids::partly_loaded, .sentence = sentence, .address = at},
                             region, log);
    };
    const Load& first = loads_[seen.first_load];
    const Load& last = loads_[seen.last_load];
    const ByteRun file{first.run().address, last.run().end() - first.run().address};
    const bool one_file = seen.loads.size() == 1;
    if (extent.address < first.run().address && seen.head > 0) {
        return report(fmt::format("{} at {}, {} byte{} before '{}', which is loaded at {}",
                                  surface_does(operation, use, "begin"), to_hex(extent.address),
                                  (first.run().address - extent.address).value,
                                  first.run().address - extent.address == Bytes(1) ? "" : "s",
                                  first.load->file, to_hex(first.run().address)),
                      one_file ? file : extent, extent.address);
    }
    const bool straddles =
        !one_file && extent.address > first.run().address && extent.address < first.run().end() &&
        (use.constant || 2 * (first.run().end() - extent.address).value < extent.bytes.value) &&
        last.run().address > extent.address && last.run().end() >= extent.end();
    if (straddles && seen.loads.size() == 2) {
        return report(
            fmt::format("{} at {}, within the last {} bytes of '{}', and the rest is '{}', which "
                        "is loaded at {}",
                        surface_does(operation, use, "begin"), to_hex(extent.address),
                        (first.run().end() - extent.address).value, first.load->file,
                        last.load->file, to_hex(last.run().address)),
            last.run(), extent.address);
    }
    if (seen.tail == 0 || extent.end() <= last.run().end()) {
        return false;
    }
    const Bytes missing = extent.end() - last.run().end();
    if (missing <= pad_of(use) || holds_values(operation, use, last.run()) ||
        (last.sparse() &&
         is_left_out(Bytes(seen.tail), Bytes(seen.loaded + seen.filled + seen.unwritten)))) {
        return false;
    }
    return report(fmt::format("{} at {}, {} byte{} after '{}', which is loaded at {} and has "
                              "{} bytes",
                              surface_does(operation, use, "end"), to_hex(extent.end()),
                              missing.value, missing == Bytes(1) ? "" : "s", last.load->file,
                              to_hex(last.run().address), last.run().bytes.value),
                  one_file ? file : extent, last.run().end());
}

std::string MemoryRules::elsewhere(const ByteRun& region) const {
    const Owner* owner = meant_for(region);
    if (owner == nullptr || owner->use.extent().bytes != region.bytes) {
        return {};
    }
    return fmt::format("; the {} of {}, which nothing reads, has the same size and is at {} ({})",
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
    const Owner* meant = meant_for(run);  // before look_at()
    compared_ = true;
    const SeenBytes seen = look_at({&run, 1});
    const auto add = [&](const char* id, const std::string& message, Address address) {
        Diagnostic one{
            .id = id,
            .sentence = message,
            .remedy =
                "compare the result of an operation; if the compared range has gaps that it "
                "does not write, initialise them first",
            .address = address,
            .place = place};
        if (meant != nullptr) {
            const Suspect suspect = suspect_of(meant->use, run, machine_.atom);
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
        add(rule_ids::out_of_bounds,
            fmt::format("the {} compared bytes at {} lie outside every memory region",
                        run.bytes.value, to_hex(run.address)),
            run.address);
    } else if (lost_track_) {
        return std::nullopt;
    } else if (seen.written == 0 && (seen.loaded == 0 || !machine_.zeroed || meant != nullptr)) {
        add("compares_no_result",
            run.bytes == Bytes(1)
                ? fmt::format("no operation writes the byte compared at {}", to_hex(run.address))
                : fmt::format(
                      "no operation writes any of the {} bytes compared at {}{}", run.bytes.value,
                      to_hex(run.address),
                      only_compares_.empty()
                          ? ""
                          : fmt::format("; {} only compares (EW_ALU_ALGO = 3 in {}) and "
                                        "writes nothing",
                                        only_compares_, spelled("NVDLA_SDP", "D_DP_EW_ALU_CFG"))),
            run.address);
    } else if (seen.unwritten > 0 && !machine_.zeroed) {
        add(rule_ids::compares_unwritten,
            fmt::format("{} of the {} bytes compared at {} {} uninitialised, the first at {}",
                        seen.unwritten, run.bytes.value, to_hex(run.address),
                        seen.unwritten == 1 ? "is" : "are", to_hex(*seen.first_unwritten)),
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

void MemoryRules::compare(const CheckImage& check, const Place& place, DiagnosticLog& log) {
    const ByteRun run{check.address, check.bytes};
    if (const std::optional<SeenBytes> seen = compare_bytes(run, place, log)) {
        judge_compared(run, *seen, place, log);
        judge_expected(check, place, log);
    }
}

void MemoryRules::judge_expected(const CheckImage& check, const Place& place,
                                 DiagnosticLog& log) const {
    std::uint64_t differ = 0;
    std::string first;
    Address first_address;
    for (const MemoryImage::Run& run : check.image.runs) {
        if (run.offset >= check.bytes.value) {
            continue;
        }
        const ByteRun compared{check.address + Bytes(run.offset),
                               Bytes(std::min(run.size, check.bytes.value - run.offset))};
        bytes_.visit(compared, [&](const ByteRun& piece, const ByteState* state) {
            if (state == nullptr ? !machine_.zeroed : state->origin == ByteOrigin::Written) {
                return;
            }
            std::vector<std::uint8_t> there(piece.bytes.value, 0);
            put_contents(piece, state, there);
            const std::uint64_t at = run.position + (piece.address - compared.address).value;
            for (std::uint64_t i = 0; i < there.size(); ++i) {
                if (const std::uint8_t expected = check.image.bytes[at + i];
                    there[i] != expected && differ++ == 0) {
                    first_address = piece.address + Bytes(i);
                    first = fmt::format("{:#04x} is expected at {}, where it is {:#04x}", expected,
                                        to_hex(first_address), there[i]);
                }
            }
        });
    }
    if (differ > 0) {
        log.add({.id = "compares_no_result",
                 .sentence = fmt::format(
                     "no operation writes {} byte{} that differ{} from '{}': {}", differ,
                     differ == 1 ? "" : "s", differ == 1 ? "s" : "", check.file, first),
                 .remedy = "correct the sizes and strides of the operation that should write them, "
                           "or the file",
                 .address = first_address,
                 .place = place});
    }
}

void MemoryRules::judge_compared(const ByteRun& run, const SeenBytes& seen, const Place& place,
                                 DiagnosticLog& log) const {
    const auto report = [&](const Owner& owner, const std::string& what) {
        const Suspect suspect = suspect_of(owner.use, run, machine_.atom);
        const ByteRun extent = owner.use.extent();
        log.add({.severity = Severity::Warning,
                 .id = "compares_partly",
                 .sentence = fmt::format(
                     "{} byte{} at {} {} compared, but the {} of {} {}: it lies from {} to {}",
                     run.bytes.value, run.bytes == Bytes(1) ? "" : "s", to_hex(run.address),
                     run.bytes == Bytes(1) ? "is" : "are", owner.use.surface, owner.operation, what,
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
    if (first == nullptr || last == nullptr) {
        return;
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
