// SPDX-License-Identifier: Apache-2.0
// What is wrong with bytes that an operation reads or the program compares.
#include <fmt/format.h>

#include "sim/check/memory_rules.h"
#include "sim/check/seen_bytes.h"

namespace npuscope {

void MemoryRules::compare(const ByteRun& run, const Place& place, FoundList& found) {
    SeenBytes seen;
    bytes_.visit(run,
                 [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
    bytes_.look_at(run);
    for (const std::size_t writer : seen.writers) {
        owners_[writer].read = true;
    }
    const auto add = [&](const char* kind, const std::string& message, Address address) {
        Found one;
        one.finding.id = kind;
        one.finding.sentence = message;
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
    } else if (lost_track_) {
        return;
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

void MemoryRules::read(const CheckedOperation& operation, const SurfaceUse& use, FoundList& found) {
    SeenBytes seen;
    for (const ByteRun& run : use.runs) {
        bytes_.visit(run,
                     [&](const ByteRun& piece, const ByteState* state) { seen.add(piece, state); });
        bytes_.look_at(run);
    }
    for (const std::size_t writer : seen.writers) {
        owners_[writer].read = true;
    }
    judge(operation, use, seen, found);
}

void MemoryRules::judge(const CheckedOperation& operation, const SurfaceUse& use,
                        const SeenBytes& seen, FoundList& found) const {
    if (lost_track_) {
        return;
    }
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
    judge_strides(operation, use, seen, found);
}

void MemoryRules::judge_strides(const CheckedOperation& operation, const SurfaceUse& use,
                                const SeenBytes& seen, FoundList& found) const {
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

}  // namespace npuscope
