// SPDX-License-Identifier: Apache-2.0
#include "sim/run/memory_checks.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "models/base/check.h"
#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

constexpr std::uint64_t chunk_bytes = 1 << 20;

/// Adds to an error without a place the place of the statement that caused it.
template <class Action>
void at_place(const Place& place, Action action) {
    try {
        action();
    } catch (const ConfigError& error) {
        throw ConfigError(place, error.sentence(), error.remedy());
    }
}

/// The sign before an expected value.
std::string_view comparison_sign(Comparison comparison) {
    switch (comparison) {
        case Comparison::Equal:
            return "";
        case Comparison::AtMost:
            return "<= ";
        case Comparison::AtLeast:
            return ">= ";
    }
    NPU_CHECK(false, "unknown comparison");
    return "";
}

std::uint32_t crc_of(const ReadBytes& read, Address address, Bytes bytes) {
    uLong crc = crc32(0, nullptr, 0);
    std::vector<std::uint8_t> chunk;
    for (std::uint64_t done = 0; done < bytes.value; done += chunk.size()) {
        chunk.resize(std::min(chunk_bytes, bytes.value - done));
        read(address + Bytes(done), chunk);
        crc = crc32(crc, chunk.data(), static_cast<uInt>(chunk.size()));
    }
    return static_cast<std::uint32_t>(crc);
}

}  // namespace

void init_memory(Memory& memory, const InitMemory& init, const Place& place) {
    at_place(place, [&] {
        if (init.fill == FillPattern::AllZero) {
            memory.zero(init.address, init.bytes);
            return;
        }
        fill_in_pieces(
            init, [&](Address at, std::span<const std::uint8_t> bytes) { memory.load(at, bytes); });
    });
}

void load_memory(Memory& memory, const LoadMemory& load, const Place& place) {
    at_place(place, [&] {
        for (const MemoryImage::Run& run : load.image.runs) {
            memory.load(load.address + Bytes(run.offset),
                        std::span(load.image.bytes).subspan(run.position, run.size), load.file);
        }
    });
}

std::string crc_text(std::uint32_t crc) { return fmt::format("{:#010x}", crc); }

CheckResult check_crc(const ReadBytes& read, const CheckCrc& check, const Place& place) {
    CheckResult result;
    result.kind = CheckKind::Crc32;
    result.address = check.address;
    result.bytes = check.bytes;
    result.place = place;
    at_place(place, [&] {
        const std::uint32_t crc = crc_of(read, check.address, check.bytes);
        result.expected = crc_text(check.crc);
        result.actual = crc_text(crc);
        result.pass = crc == check.crc;
    });
    return result;
}

CheckResult check_image(const ReadBytes& read, const CheckImage& check, const Place& place) {
    CheckResult result;
    result.kind = CheckKind::Image;
    result.subject = check.file;
    result.address = check.address;
    result.bytes = check.bytes;
    result.place = place;
    result.expected = result.actual = "the image";
    result.pass = true;
    std::vector<std::uint8_t> actual;
    for (const MemoryImage::Run& run : check.image.runs) {
        const std::uint64_t size =
            run.offset < check.bytes.value ? std::min(run.size, check.bytes.value - run.offset) : 0;
        actual.resize(size);
        at_place(place, [&] { read(check.address + Bytes(run.offset), actual); });
        const auto expected = std::span(check.image.bytes).subspan(run.position, size);
        const auto differs = std::ranges::mismatch(actual, expected);
        if (result.pass && differs.in1 != actual.end()) {
            const auto at = static_cast<std::uint64_t>(differs.in1 - actual.begin());
            result.pass = false;
            result.address = check.address + Bytes(run.offset + at);
            result.expected = fmt::format("{:#04x}", *differs.in2);
            result.actual = fmt::format("{:#04x}", *differs.in1);
        }
    }
    return result;
}

CheckResult check_word(const ReadBytes& read, const ReadMemory& expected, const Place& place) {
    CheckResult result;
    result.kind = CheckKind::Word;
    result.address = expected.address;
    result.bytes = Bytes(sizeof expected.expected);
    result.place = place;
    std::array<std::uint8_t, sizeof expected.expected> bytes{};
    at_place(place, [&] { read(expected.address, bytes); });
    std::uint32_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = value << 8U | bytes[i];
    }
    result.expected = fmt::format("{:#x}", expected.expected);
    result.actual = fmt::format("{:#x}", value & expected.mask);
    result.pass = (value & expected.mask) == expected.expected;
    result.skipped = expected.mask == 0 && expected.expected == 0;
    return result;
}

CheckResult register_check(const ReadRegister& read, std::uint32_t value, const Place& place) {
    CheckResult result;
    result.kind = CheckKind::Register;
    result.subject = read.name;
    result.address = Address(read.address);
    result.bytes = Bytes(sizeof value);
    result.expected = read.compares()
                          ? fmt::format("{}{:#x}", comparison_sign(read.comparison), read.expected)
                          : "nothing";
    result.actual = fmt::format("{:#x}", read.compares() ? value & read.mask : value);
    result.pass = read.holds(value);
    result.skipped = !read.compares();
    result.place = place;
    return result;
}

std::optional<Diagnostic> unwritten_finding(const Memory& memory, const ByteRun& region,
                                            const Place& place) {
    const std::optional<Address> first = memory.first_unwritten(region);
    if (!first) {
        return std::nullopt;
    }
    std::uint64_t missing = 0;
    memory.shadow()->visit(region, [&](const ByteRun& piece, const ByteWriter* writer) {
        missing += writer == nullptr ? piece.bytes.value : 0;
    });
    return Diagnostic{
        .id = rule_ids::compares_unwritten,
        .sentence =
            fmt::format("{} of the {} bytes that are compared were never written, the first "
                        "at {}",
                        missing, region.bytes.value, to_hex(*first)),
        .remedy = "compare bytes that an operation writes, or correct its destination address",
        .address = first,
        .place = place};
}

std::vector<std::string> writers_of(const Memory& memory, const ByteRun& run) {
    struct Share {
        const ByteWriter* writer;  ///< nullptr: never written
        ByteRun bytes;             ///< the first, and how many
    };
    std::vector<Share> shares;
    if (memory.shadow() != nullptr) {
        memory.shadow()->visit(run, [&](const ByteRun& piece, const ByteWriter* writer) {
            const auto known = std::ranges::find(shares, writer, &Share::writer);
            if (known == shares.end()) {
                shares.push_back({writer, piece});
            } else {
                known->bytes.bytes += piece.bytes;
            }
        });
    }
    constexpr std::size_t most = 8;
    std::vector<std::string> lines;
    for (const Share& share : std::span(shares).first(std::min(most, shares.size()))) {
        lines.push_back(
            fmt::format("{} byte{} from {} on: {}", share.bytes.bytes.value,
                        share.bytes.bytes == Bytes(1) ? "" : "s", to_hex(share.bytes.address),
                        share.writer == nullptr ? "never written" : writer_text(*share.writer)));
    }
    if (shares.size() > most) {
        lines.push_back(fmt::format("and {} other writer{}", shares.size() - most,
                                    shares.size() - most == 1 ? "" : "s"));
    }
    return lines;
}

}  // namespace npuscope
