// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace npuscope {

/// What a surface that is read consists of.
struct MemoryRules::Seen {
    std::uint64_t nobody = 0;
    std::uint64_t filled = 0;
    std::uint64_t tail = 0;  ///< filled bytes behind the last one that was loaded or written
    std::uint64_t loaded = 0;
    std::uint64_t written = 0;
    std::optional<Address> first_nobody;
    Address first_filled;  ///< of the tail
    std::optional<Address> first_written;
    std::set<std::size_t> writers;

    void add(const ByteRun& piece, const ByteState* state) {
        if (state == nullptr) {
            nobody += piece.bytes.value;
            first_nobody = first_nobody.value_or(piece.address);
            return;
        }
        switch (state->origin) {
            case ByteOrigin::Filled:
                filled += piece.bytes.value;
                first_filled = tail == 0 ? piece.address : first_filled;
                tail += piece.bytes.value;
                return;
            case ByteOrigin::Loaded:
                loaded += piece.bytes.value;
                tail = 0;
                return;
            case ByteOrigin::Written:
                written += piece.bytes.value;
                tail = 0;
                first_written = first_written.value_or(piece.address);
                writers.insert(state->by);
                return;
        }
    }
};

Found surface_found(const CheckedOperation& operation, const SurfaceUse& use, const char* kind,
                    const std::string& message) {
    Found found;
    found.finding.kind = kind;
    found.finding.message = message;
    found.finding.address = use.base;
    found.finding.unit = use.unit;
    found.finding.surface = use.surface;
    found.finding.operation = operation.name;
    found.finding.place = operation.place;
    found.register_name = spelled(use.unit, use.address_register);
    return found;
}

bool MemoryRules::in_memory(const ByteRun& run) const {
    return std::ranges::any_of(machine_.memory.regions, [&](const MemoryRegionConfig& region) {
        return run.address >= region.base && run.bytes <= region.size &&
               run.address - region.base <= region.size - run.bytes;
    });
}

void MemoryRules::fill(const ByteRun& run, const Place& place, FoundList& found) {
    if (!in_memory(run)) {
        Found one;
        one.finding.kind = "out_of_bounds";
        one.finding.message = fmt::format("{} bytes at {} are filled outside every memory region",
                                          run.bytes.value, to_hex(run.address));
        one.finding.address = run.address;
        one.finding.place = place;
        one.remedy = "move it into a region (memory.regions)";
        found.add(std::move(one));
        return;
    }
    bytes_.put(run, {ByteOrigin::Filled, 0, false});
}

void MemoryRules::load(const LoadMemory& load, const Place& place, FoundList& found) {
    const std::size_t number = loads_.size();
    loads_.push_back(load.file);
    const auto add = [&](const char* kind, const std::string& message, Address address) {
        Found one;
        one.finding.kind = kind;
        one.finding.message = message;
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
                                loads_[state->by]),
                    piece.address);
            }
        });
        bytes_.put(bytes, {ByteOrigin::Loaded, number, false});
    }
}

void MemoryRules::compare(const ByteRun& run, const Place& place, FoundList& found) {
    Seen seen;
    bytes_.visit(run,
                 [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
    bytes_.look_at(run);
    const auto add = [&](const char* kind, const std::string& message, Address address) {
        Found one;
        one.finding.kind = kind;
        one.finding.message = message;
        one.finding.address = address;
        one.finding.place = place;
        one.remedy = "compare what an operation writes; fill the gaps in it beforehand";
        found.add(std::move(one));
    };
    if (!in_memory(run)) {
        add("out_of_bounds",
            fmt::format("{} bytes at {} are compared outside every memory region", run.bytes.value,
                        to_hex(run.address)),
            run.address);
    } else if (seen.nobody > 0 && !machine_.zeroed) {
        add("compares_unwritten",
            fmt::format("{} of the {} bytes compared at {} are written by nobody, the first at {}",
                        seen.nobody, run.bytes.value, to_hex(run.address),
                        to_hex(*seen.first_nobody)),
            *seen.first_nobody);
    } else if (seen.written == 0 && (seen.loaded == 0 || !machine_.zeroed)) {
        add("compares_no_result",
            fmt::format("no operation writes any of the {} bytes compared at {}", run.bytes.value,
                        to_hex(run.address)),
            run.address);
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

void MemoryRules::read(const CheckedOperation& operation, const SurfaceUse& use, FoundList& found) {
    Seen seen;
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run,
                     [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
        bytes_.look_at(run);
    }
    judge(operation, use, seen, found);
}

void MemoryRules::judge(const CheckedOperation& operation, const SurfaceUse& use, const Seen& seen,
                        FoundList& found) const {
    const auto add = [&](const char* kind, const std::string& message, Address address,
                         const char* remedy) {
        Found one = surface_found(operation, use, kind, message);
        one.finding.address = address;
        one.remedy = remedy;
        found.add(std::move(one));
    };
    if (seen.nobody > 0 && !machine_.zeroed) {
        add("uninitialised_read",
            fmt::format("{} of {} reads {} bytes that nobody loaded or wrote before, the first at "
                        "{}",
                        use.surface, operation.name, seen.nobody, to_hex(*seen.first_nobody)),
            *seen.first_nobody, "load them first, or mend address, strides and sizes");
        return;
    }
    if (seen.loaded == 0 && seen.written == 0 && !use.runs.empty()) {
        add("never_loaded",
            fmt::format("{} of {} consists of bytes that nobody loaded or wrote before",
                        use.surface, operation.name),
            use.base, "load the surface first, or mend its address");
        return;
    }
    // files leave zeros out, but seldom the whole last quarter of a surface
    constexpr std::uint64_t short_tail = 128;
    if (seen.loaded > 0 && seen.tail > short_tail &&
        4 * seen.tail > seen.loaded + seen.filled + seen.written) {
        Found one = surface_found(
            operation, use, "partly_loaded",
            fmt::format(
                "{} of {} was loaded, but its last {} bytes were only filled, the first at {}",
                use.surface, operation.name, seen.tail, to_hex(seen.first_filled)));
        one.finding.severity = Severity::Warning;
        one.finding.address = seen.first_filled;
        one.remedy = "load the whole surface, or mend address, strides and sizes";
        found.add(std::move(one));
        return;
    }
    if (seen.written > 0 && seen.loaded > 0) {
        const Owner& owner = owners_[*seen.writers.begin()];
        add("overwritten_operand",
            fmt::format("{} of {} was loaded, but the {} of {} overwrites {} bytes of it from {} "
                        "on",
                        use.surface, operation.name, owner.use.surface, owner.operation,
                        seen.written, to_hex(*seen.first_written)),
            *seen.first_written, "keep the two surfaces apart");
        return;
    }
    for (const std::size_t writer : seen.writers) {
        const Owner& owner = owners_[writer];
        const SurfaceStrides& theirs = owner.use.strides;
        const auto differ = [](const std::optional<Bytes>& one, const std::optional<Bytes>& other) {
            return one && other && *one != *other;
        };
        const bool lines = differ(use.strides.line, theirs.line);
        if (!use.constant && (lines || differ(use.strides.surface, theirs.surface))) {
            Found one = surface_found(
                operation, use, "stride_mismatch",
                fmt::format("{} of {} is read with a {} stride of {}, but {} wrote it with {}",
                            use.surface, operation.name, lines ? "line" : "surface",
                            lines ? use.strides.line->value : use.strides.surface->value,
                            owner.operation, lines ? theirs.line->value : theirs.surface->value));
            one.finding.severity = Severity::Warning;
            one.register_name = spelled(use.unit, use.stride_register);
            one.remedy = "read a result with the strides that it was written with";
            found.add(std::move(one));
            return;
        }
    }
}

void MemoryRules::write(const CheckedOperation& operation, const SurfaceUse& use,
                        FoundList& found) {
    const std::size_t number = owners_.size();
    owners_.push_back({operation.name, use, operation.place});
    owners_.back().use.runs.clear();
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
            if (state == nullptr || state->origin != ByteOrigin::Written || state->looked_at ||
                state->by == number) {
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
        if (shares[i].read == 0 || shares[i].unread == 0) {
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
