// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check/memory_bounds.h"

namespace npuscope {

Found surface_found(const CheckedOperation& operation, const SurfaceUse& use, const char* kind,
                    const std::string& message) {
    Found found;
    found.finding.id = kind;
    found.finding.sentence = message;
    found.finding.address = use.base;
    found.finding.unit = use.unit;
    found.finding.surface = use.surface;
    found.finding.operation = operation.name;
    found.finding.place = operation.place;
    found.register_name = spelled(use.unit, use.address_register);
    return found;
}

bool MemoryRules::in_memory(const ByteRun& run) const { return holds(machine_.memory, run); }

void MemoryRules::fill(const InitMemory& init, const Place& place, FoundList& found) {
    const ByteRun run{init.address, init.bytes};
    if (!in_memory(run)) {
        Found one;
        one.finding.id = "out_of_bounds";
        one.finding.sentence = fmt::format("{} bytes at {} are filled outside every memory region",
                                           run.bytes.value, to_hex(run.address));
        one.finding.address = run.address;
        one.finding.place = place;
        one.remedy = "move it into a region (memory.regions)";
        found.add(std::move(one));
        return;
    }
    bytes_.put(run, {ByteOrigin::Filled, fills_.size(), false});
    fills_.push_back(init.fill);
}

void MemoryRules::load(const LoadMemory& load, const Place& place, FoundList& found) {
    const std::size_t number = loads_.size();
    loads_.push_back(&load);
    const auto add = [&](const char* kind, const std::string& message, Address address) {
        Found one;
        one.finding.id = kind;
        one.finding.sentence = message;
        one.finding.address = address;
        one.finding.surface = load.file;
        one.finding.place = place;
        one.remedy = "load it elsewhere";
        found.add(std::move(one));
    };
    for (const MemoryImage::Run& run : load.image.runs) {
        const ByteRun bytes{load.address + Bytes(run.offset), Bytes(run.size)};
        if (!in_memory(bytes)) {
            add("out_of_bounds",
                fmt::format("'{}' reaches outside every memory region: {} bytes at {}", load.file,
                            run.size, to_hex(bytes.address)),
                bytes.address);
            continue;
        }
        bytes_.visit(bytes, [&](const ByteRun& piece, const ByteState* state) {
            if (state != nullptr && state->origin == ByteOrigin::Loaded && state->by != number &&
                !state->looked_at) {
                add("load_overlap",
                    fmt::format("'{}' overwrites bytes of '{}' that nobody has read", load.file,
                                loads_[state->by]->file),
                    piece.address);
            }
        });
        bytes_.put(bytes, {ByteOrigin::Loaded, number, false});
    }
}

void MemoryRules::check_use(const CheckedOperation& operation, const SurfaceUse& use,
                            FoundList& found) {
    const std::uint32_t bits = machine_.npu.mcif.address_bits;
    for (const ByteRun& run : use.runs) {
        const bool reachable = bits >= 64 || (run.end().value - 1) >> bits == 0;
        if (!reachable || !in_memory(run)) {
            Found one = surface_found(
                operation, use, "out_of_bounds",
                fmt::format("{} of {} reaches {} bytes at {}, {}", use.surface, operation.name,
                            run.bytes.value, to_hex(run.address),
                            reachable ? "outside every memory region"
                                      : fmt::format("beyond an address of {} bits", bits)));
            one.finding.address = run.address;
            one.remedy = "move the surface into a region (memory.regions), or mend its strides";
            found.add(std::move(one));
            break;
        }
    }
    if (use.overlaps_itself) {
        Found one = surface_found(
            operation, use, "lines_overlap",
            fmt::format("lines of the {} of {} overlap each other: its strides are too small",
                        use.surface, operation.name));
        one.register_name = spelled(use.unit, use.stride_register);
        one.remedy = "a line takes width x atom bytes, a surface height x line stride";
        found.add(std::move(one));
    }
}

void MemoryRules::write(const CheckedOperation& operation, const SurfaceUse& use,
                        FoundList& found) {
    const std::size_t number = owners_.size();
    owners_.push_back({operation.name, use, operation.place, false});
    owners_.back().use.runs.clear();
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
            if (state == nullptr || state->origin != ByteOrigin::Written || state->looked_at ||
                state->by == number || owners_[state->by].read) {
                return;
            }
            const Owner& lost = owners_[state->by];
            Found one = surface_found(
                operation, use, "result_lost",
                fmt::format("{} of {} overwrites the result of {} at {} before anyone has read it",
                            use.surface, operation.name, lost.operation, to_hex(piece.address)));
            one.finding.address = piece.address;
            one.remedy = "keep the two results apart";
            found.add(std::move(one));
        });
        bytes_.put(run, {ByteOrigin::Written, number, false});
    }
}

void MemoryRules::check_bounds(const CheckedOperation& operation, FoundList& found) {
    for (const SurfaceUse& use : operation.uses) {
        check_use(operation, use, found);
    }
}

void MemoryRules::launch(const CheckedOperation& operation, FoundList& found) {
    for (const SurfaceUse& use : operation.uses) {
        check_use(operation, use, found);
        if (!use.writes) {
            read(operation, use, found);
        }
    }
    for (const SurfaceUse& use : operation.uses) {
        if (use.writes) {
            write(operation, use, found);
        }
    }
}

void MemoryRules::report_unread(FoundList& found) const {
    if (lost_track_) {
        return;
    }
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
        // strides over the last rows of a result leave some of it unread
        if (shares[i].read == 0 || 5 * shares[i].unread < 2 * shares[i].read) {
            continue;
        }
        const Owner& owner = owners_[i];
        CheckedOperation operation;
        operation.name = owner.operation;
        operation.place = owner.place;
        Found one = surface_found(
            operation, owner.use, "partly_unread",
            fmt::format("{} bytes of the {} of {} are never looked at, the first at {}; the others "
                        "are",
                        shares[i].unread, owner.use.surface, owner.operation,
                        to_hex(shares[i].first)));
        one.finding.severity = Severity::Warning;
        one.finding.address = shares[i].first;
        one.remedy = "mend address, strides or sizes of writer or reader";
        found.add(std::move(one));
    }
}

}  // namespace npuscope
