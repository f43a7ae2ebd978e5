// SPDX-License-Identifier: Apache-2.0
#include "sim/check/memory_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace npuscope {
/// What the bytes of a surface are, added up over its pieces.
struct MemoryRules::SeenBytes {
    std::uint64_t unwritten = 0;
    std::uint64_t filled = 0;
    std::uint64_t tail = 0;  ///< filled bytes after the last one that was loaded or written
    std::uint64_t loaded = 0;
    std::uint64_t written = 0;
    std::optional<Address> first_unwritten;
    Address first_filled;  ///< of the tail
    std::optional<Address> first_written;
    std::set<std::size_t> writers;

    void add(const ByteRun& piece, const ByteState* state) {
        if (state == nullptr) {
            unwritten += piece.bytes.value;
            first_unwritten = first_unwritten.value_or(piece.address);
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

Diagnostic surface_finding(const CheckedOperation& operation, const SurfaceUse& use, const char* id,
                           const std::string& message) {
    Diagnostic finding;
    finding.id = id;
    finding.sentence = message;
    finding.address = use.base;
    finding.unit = use.unit;
    finding.surface = use.surface;
    finding.operation = operation.name;
    finding.place = operation.place;
    finding.register_name = spelled(use.unit, use.address_register);
    return finding;
}

bool MemoryRules::in_memory(const ByteRun& run) const {
    return machine_.memory.holds(run.address, run.bytes);
}

void MemoryRules::fill(const InitMemory& init, const Place& place, DiagnosticLog& log) {
    const ByteRun run{init.address, init.bytes};
    if (!in_memory(run)) {
        Diagnostic one;
        one.id = "out_of_bounds";
        one.sentence = fmt::format("{} bytes at {} are filled outside every memory region",
                                   run.bytes.value, to_hex(run.address));
        one.address = run.address;
        one.place = place;
        one.remedy = "move it into a region (memory.regions)";
        log.add(std::move(one));
        return;
    }
    bytes_.put(run, {ByteOrigin::Filled, fills_.size(), false});
    fills_.push_back(init.fill);
}

void MemoryRules::load(const LoadMemory& load, const Place& place, DiagnosticLog& log) {
    const std::size_t number = loads_.size();
    loads_.push_back(&load);
    const auto add = [&](const char* id, const std::string& message, Address address) {
        Diagnostic one;
        one.id = id;
        one.sentence = message;
        one.address = address;
        one.surface = load.file;
        one.place = place;
        one.remedy = "load it elsewhere";
        log.add(std::move(one));
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
                    fmt::format("'{}' overwrites bytes of '{}' that were never read", load.file,
                                loads_[state->by]->file),
                    piece.address);
            }
        });
        bytes_.put(bytes, {ByteOrigin::Loaded, number, false});
    }
}

void MemoryRules::check_use(const CheckedOperation& operation, const SurfaceUse& use,
                            DiagnosticLog& log) {
    const std::uint32_t bits = machine_.npu.mcif.address_bits;
    for (const ByteRun& run : use.runs) {
        const bool reachable = bits >= 64 || (run.end().value - 1) >> bits == 0;
        if (!reachable || !in_memory(run)) {
            Diagnostic one = surface_finding(
                operation, use, "out_of_bounds",
                fmt::format("{} of {} reaches {} bytes at {}, {}", use.surface, operation.name,
                            run.bytes.value, to_hex(run.address),
                            reachable ? "outside every memory region"
                                      : fmt::format("beyond an address of {} bits", bits)));
            one.address = run.address;
            one.remedy = "move the surface into a region (memory.regions), or correct its strides";
            log.add(std::move(one));
            break;
        }
    }
    if (use.overlaps_itself) {
        Diagnostic one = surface_finding(
            operation, use, "lines_overlap",
            fmt::format("lines of the {} of {} overlap each other: its strides are too small",
                        use.surface, operation.name));
        one.register_name = spelled(use.unit, use.stride_register);
        one.remedy = "a line takes width x atom bytes, a surface height x line stride";
        log.add(std::move(one));
    }
}

void MemoryRules::compare(const ByteRun& run, const Place& place, DiagnosticLog& log) {
    SeenBytes seen;
    bytes_.visit(run,
                 [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
    bytes_.look_at(run);
    for (const std::size_t writer : seen.writers) {
        owners_[writer].read = true;
    }
    const auto add = [&](const char* id, const std::string& message, Address address) {
        Diagnostic one;
        one.id = id;
        one.sentence = message;
        one.address = address;
        one.place = place;
        one.remedy = "compare what an operation writes; fill the gaps in it beforehand";
        log.add(std::move(one));
    };
    if (!in_memory(run)) {
        add("out_of_bounds",
            fmt::format("{} bytes at {} are compared outside every memory region", run.bytes.value,
                        to_hex(run.address)),
            run.address);
    } else if (lost_track_) {
        return;
    } else if (seen.unwritten > 0 && !machine_.zeroed) {
        add("compares_unwritten",
            fmt::format("{} of the {} bytes compared at {} are uninitialised, the first at {}",
                        seen.unwritten, run.bytes.value, to_hex(run.address),
                        to_hex(*seen.first_unwritten)),
            *seen.first_unwritten);
    } else if (seen.written == 0 && (seen.loaded == 0 || !machine_.zeroed)) {
        add("compares_no_result",
            fmt::format("no operation writes any of the {} bytes compared at {}", run.bytes.value,
                        to_hex(run.address)),
            run.address);
    }
}

void MemoryRules::read(const CheckedOperation& operation, const SurfaceUse& use,
                       DiagnosticLog& log) {
    SeenBytes seen;
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run,
                     [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
        bytes_.look_at(run);
    }
    for (const std::size_t writer : seen.writers) {
        owners_[writer].read = true;
    }
    judge(operation, use, seen, log);
}

void MemoryRules::judge(const CheckedOperation& operation, const SurfaceUse& use,
                        const SeenBytes& seen, DiagnosticLog& log) const {
    if (lost_track_) {
        return;
    }
    const auto add = [&](const char* id, const std::string& message, Address address,
                         const char* remedy) {
        Diagnostic one = surface_finding(operation, use, id, message);
        one.address = address;
        one.remedy = remedy;
        log.add(std::move(one));
    };
    if (seen.unwritten > 0 && !machine_.zeroed) {
        add("uninitialised_read",
            fmt::format("{} of {} reads {} uninitialised bytes, the first at {}", use.surface,
                        operation.name, seen.unwritten, to_hex(*seen.first_unwritten)),
            *seen.first_unwritten, "load them first, or correct address, strides and sizes");
        return;
    }
    if (seen.loaded == 0 && seen.written == 0 && !use.runs.empty()) {
        add("never_loaded",
            fmt::format("{} of {} consists of uninitialised bytes", use.surface, operation.name),
            use.base, "load the surface first, or correct its address");
        return;
    }
    // files leave zeros out, but seldom the whole last quarter of a surface
    constexpr std::uint64_t short_tail = 128;
    if (seen.loaded > 0 && seen.tail > short_tail &&
        4 * seen.tail > seen.loaded + seen.filled + seen.written) {
        Diagnostic one = surface_finding(
            operation, use, "partly_loaded",
            fmt::format(
                "{} of {} was loaded, but its last {} bytes were only filled, the first at {}",
                use.surface, operation.name, seen.tail, to_hex(seen.first_filled)));
        one.severity = Severity::Warning;
        one.address = seen.first_filled;
        one.remedy = "load the whole surface, or correct address, strides and sizes";
        log.add(std::move(one));
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
    judge_strides(operation, use, seen, log);
}

void MemoryRules::judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                                const SeenBytes& seen, DiagnosticLog& log) const {
    for (const std::size_t writer : seen.writers) {
        const Owner& owner = owners_[writer];
        const SurfaceStrides& theirs = owner.use.strides;
        const auto differ = [](const std::optional<Bytes>& one, const std::optional<Bytes>& other) {
            return one && other && *one != *other;
        };
        const bool lines = differ(use.strides.line, theirs.line);
        if (!use.constant && (lines || differ(use.strides.surface, theirs.surface))) {
            Diagnostic one = surface_finding(
                operation, use, "stride_mismatch",
                fmt::format("{} of {} is read with a {} stride of {}, but {} wrote it with {}",
                            use.surface, operation.name, lines ? "line" : "surface",
                            lines ? use.strides.line->value : use.strides.surface->value,
                            owner.operation, lines ? theirs.line->value : theirs.surface->value));
            one.severity = Severity::Warning;
            one.register_name = spelled(use.unit, use.stride_register);
            one.remedy = "read a result with the strides that it was written with";
            log.add(std::move(one));
            return;
        }
    }
}

void MemoryRules::write(const CheckedOperation& operation, const SurfaceUse& use,
                        DiagnosticLog& log) {
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
            Diagnostic one = surface_finding(
                operation, use, "result_lost",
                fmt::format("{} of {} overwrites the result of {} at {} before it was read",
                            use.surface, operation.name, lost.operation, to_hex(piece.address)));
            one.address = piece.address;
            one.remedy = "keep the two results apart";
            log.add(std::move(one));
        });
        bytes_.put(run, {ByteOrigin::Written, number, false});
    }
}

void MemoryRules::check_bounds(const CheckedOperation& operation, DiagnosticLog& log) {
    for (const SurfaceUse& use : operation.uses) {
        check_use(operation, use, log);
    }
}

void MemoryRules::launch(const CheckedOperation& operation, DiagnosticLog& log) {
    for (const SurfaceUse& use : operation.uses) {
        check_use(operation, use, log);
        if (!use.writes) {
            read(operation, use, log);
        }
    }
    for (const SurfaceUse& use : operation.uses) {
        if (use.writes) {
            write(operation, use, log);
        }
    }
}

std::optional<std::vector<std::uint8_t>> MemoryRules::contents(const ByteRun& run) const {
    if (lost_track_ || !in_memory(run)) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(run.bytes.value, 0);
    bool known = true;
    bytes_.visit(run, [&](const ByteRun& piece, const ByteState* state) {
        const std::uint64_t at = (piece.address - run.address).value;
        const std::span<std::uint8_t> part = std::span(bytes).subspan(at, piece.bytes.value);
        if (state == nullptr) {
            known = known && machine_.zeroed;
        } else if (state->origin == ByteOrigin::Written) {
            known = false;
        } else if (state->origin == ByteOrigin::Loaded) {
            const LoadMemory& load = *loads_[state->by];
            copy_loaded(load.image, (piece.address - load.address).value, part);
        } else {
            for (std::uint64_t i = 0; i < part.size(); ++i) {
                part[i] = fill_byte(fills_[state->by], piece.address + Bytes(i));
            }
        }
    });
    return known ? std::optional(std::move(bytes)) : std::nullopt;
}

void MemoryRules::report_unread(DiagnosticLog& log) const {
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
        Diagnostic one = surface_finding(
            operation, owner.use, "partly_unread",
            fmt::format("{} bytes of the {} of {} are never read, the first at {}; the others are",
                        shares[i].unread, owner.use.surface, owner.operation,
                        to_hex(shares[i].first)));
        one.severity = Severity::Warning;
        one.address = shares[i].first;
        one.remedy = "correct address, strides or sizes of writer or reader";
        log.add(std::move(one));
    }
}

}  // namespace npuscope
