// SPDX-License-Identifier: Apache-2.0
// Random register programs for nv_full's units downstream of the convolution, in int8, int16 and
// fp16, with the bytes that they must leave computed by plain loops in double precision. The same
// unit, precision and seed give the same program everywhere. No code of models/ but the register
// map. Not covered: tables other than flat ones, NaNs, infinities, batches; the golden programs are
// for those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/program.h"
#include "tests/support/generate_random.h"

namespace npuscope::full {

enum class Type : std::uint8_t { Int8 = 0, Int16 = 1, Fp16 = 2 };

constexpr std::uint32_t kAtom = 32;  // source: nv_full.spec, MEMORY_ATOMIC_SIZE_32

inline std::uint32_t size_of(Type type) { return type == Type::Int8 ? 1 : 2; }
inline std::uint32_t lanes_of(Type type) { return kAtom / size_of(type); }
inline std::uint32_t code_of(Type type) { return static_cast<std::uint32_t>(type); }

using ByteVector = std::vector<std::uint8_t>;

/// A feature cube in memory.
struct PlacedCube {
    Type type = Type::Int8;
    std::uint32_t channels = 1;
    std::uint32_t height = 1;
    std::uint32_t width = 1;
    std::uint64_t base = 0;
    std::uint64_t line = 0;
    std::uint64_t surface = 0;

    std::uint32_t surfaces() const { return (channels + lanes_of(type) - 1) / lanes_of(type); }
    std::uint32_t lanes() const { return surfaces() * lanes_of(type); }
    std::uint64_t extent() const { return surfaces() * surface; }
    std::uint64_t offset(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return c / lanes_of(type) * surface + y * line + std::uint64_t{x} * kAtom +
               std::uint64_t{c % lanes_of(type)} * size_of(type);
    }
};

/// Calls function(c, y, x) for every element, pad lanes too.
template <class Function>
void for_each_element(const PlacedCube& cube, Function function) {
    for (std::uint32_t c = 0; c < cube.lanes(); ++c) {
        for (std::uint32_t y = 0; y < cube.height; ++y) {
            for (std::uint32_t x = 0; x < cube.width; ++x) {
                function(c, y, x);
            }
        }
    }
}

/// A program under construction.
class Builder {
 public:
    explicit Builder(std::uint64_t seed) : random(seed) {}

    /// A separate place in DRAM, or occasionally in SRAM.
    std::uint64_t allocate(std::uint64_t bytes);
    PlacedCube place(Type type, std::uint32_t channels, std::uint32_t height, std::uint32_t width);
    /// Random elements; fp16 is between 2^-6 and 2^6.
    ByteVector random_elements(Type type, std::uint64_t bytes);
    void load(std::uint64_t address, const ByteVector& bytes);
    /// `NVDLA_SDP.D_CVT_SHIFT` without its first six letters and the underscore.
    void write(const std::string& name, std::uint32_t value);
    void wait();
    void expect(std::uint64_t address, ByteVector bytes);
    Program finish(const std::string& name);

    Random random;

 private:
    template <class Action>
    void add(Action action) {
        const auto line = static_cast<unsigned>(program_.statements.size() + 1);
        program_.statements.push_back({Place{"generated", line, 1}, std::move(action)});
    }

    Program program_;
    std::uint64_t dram_ = 0x80000000;
    std::uint64_t sram_ = 0x50000000;
};

inline bool in_sram(std::uint64_t address) { return address < 0x80000000; }
/// Field values of registers that choose the memory: 1 for DRAM.
inline std::uint32_t ram_type(std::uint64_t address) { return in_sram(address) ? 0 : 1; }
inline std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// Elements as numbers: integers, or the values of fp16.
double read_element(const ByteVector& bytes, std::uint64_t offset, Type type);
void write_element(ByteVector& bytes, std::uint64_t offset, Type type, double value);

/// `exact` with this many significant bits, ties to even.
double rounded(double exact, int significant);
inline double fp32(double exact) { return rounded(exact, 24); }
inline double fp17(double exact) { return rounded(exact, 11); }
/// Code of a value in fp16 or fp17; fp16 by rounding to even, never beyond 65504.
std::uint16_t fp16_code(double value);
std::uint32_t fp17_code(double value);
double fp16_value(std::uint32_t code);
/// value / 2^shift, ties away from zero, within this many bits.
double shifted(double value, std::uint32_t shift, unsigned bits);

Program random_sdp(Type type, std::uint64_t seed);
Program random_pdp(Type type, std::uint64_t seed);
Program random_cdp(Type type, std::uint64_t seed);
Program random_bdma(std::uint64_t seed);
Program random_rubik(Type type, std::uint64_t seed);

}  // namespace npuscope::full
