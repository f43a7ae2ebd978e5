// SPDX-License-Identifier: Apache-2.0
#include "models/arith/fp16_mac.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "models/arith/convolve_simd.h"
#include "models/arith/fixed_point.h"
#include "models/base/check.h"

namespace npuscope {

namespace {

/// Two vectors with the same sum as three.
struct CarrySave {
    std::uint32_t sum;
    std::uint32_t carry;
};

constexpr CarrySave compress(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return {a ^ b ^ c, ((a & b) | (b & c) | (a & c)) << 1U};
}

/// Compresses five vectors to two, one after the other.
constexpr CarrySave compress_five(const std::array<std::uint32_t, 5>& in) {
    CarrySave two = compress(in[0], in[1], in[2]);
    two = compress(two.sum, two.carry, in[3]);
    return compress(two.sum, two.carry, in[4]);
}

/// Bit 16 of a partial product is its inverted sign; adding this constant corrects all eight.
constexpr std::uint32_t sign_correction = 0xAAAB0000U;

/// What is left of the correction after a shift; from 20 bits on it is rounded up.
constexpr std::uint32_t shifted_correction(unsigned shift) {
    if (shift > 28) {
        return 0;
    }
    const auto shifted = static_cast<std::int32_t>(sign_correction) >> shift;
    return static_cast<std::uint32_t>(shifted) + (shift >= 20 ? 1U : 0U);
}

constexpr unsigned sum_bits = 38;          // of a block's sum
constexpr unsigned accumulator_bits = 40;  // of a partial sum's mantissa
constexpr std::uint64_t accumulator_mask = (std::uint64_t{1} << accumulator_bits) - 1;

/// Bits after the sign bit that repeat it, in a number of `bits` bits.
int spare_bits(std::int64_t value, unsigned bits) {
    const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
    return std::countl_zero(magnitude) - 1 - static_cast<int>(64 - bits);
}

}  // namespace

std::int32_t fp16_product(const Fp16Operand& data, const Fp16Operand& weight, unsigned shift) {
    if (shift >= 32) {
        return 0;
    }
    const bool negative = data.negative != weight.negative;
    const std::array<std::int8_t, 8> digits = booth_digits(weight.mantissa);
    std::array<std::uint32_t, 8> partial{};
    std::array<std::uint32_t, 8> inverted{};
    for (unsigned i = 0; i < 8; ++i) {
        const int digit = negative ? -digits[i] : digits[i];
        const std::uint32_t multiple = data.mantissa * static_cast<std::uint32_t>(std::abs(digit));
        partial[i] = (digit < 0 ? ~multiple & 0xFFFFU : multiple | 0x10000U) << (2 * i);
        inverted[i] = (digit < 0 ? 1U : 0U) << (2 * i);
    }
    const CarrySave low =
        compress_five({partial[0], partial[1] | inverted[0], partial[2] | inverted[1],
                       partial[3] | inverted[2], inverted[3]});
    const CarrySave high =
        compress_five({partial[4], partial[5] | inverted[4], partial[6] | inverted[5],
                       partial[7] | inverted[6], inverted[7]});
    CarrySave two = compress(low.sum, low.carry, high.sum);
    two = compress(two.sum, two.carry, high.carry);
    return static_cast<std::int32_t>((two.sum >> shift) + (two.carry >> shift) +
                                     shifted_correction(shift));
}

Fp16BlockSum fp16_block_sum(std::span<const Fp16> data, std::span<const Fp16> weights) {
    NPU_CHECK(data.size() == weights.size(), "a product has two factors");
    for (const std::span<const Fp16> numbers : {weights, data}) {  // a weight's NaN has priority
        const auto found = std::ranges::find_if(numbers, [](Fp16 x) { return is_nan(x); });
        if (found != numbers.end()) {
            return {.nan = true, .payload = *found};
        }
    }
    std::int32_t largest = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const Fp16Operand x = fp16_operand(data[i]);
        const Fp16Operand w = fp16_operand(weights[i]);
        largest = std::max(largest, x.zero() || w.zero() ? 0 : x.exponent + w.exponent);
    }
    Fp16BlockSum sum{.exponent = 4 * largest};
    for (std::size_t i = 0; i < data.size(); ++i) {
        const Fp16Operand x = fp16_operand(data[i]);
        const Fp16Operand w = fp16_operand(weights[i]);
        if (!x.zero() && !w.zero()) {
            const auto shift = static_cast<unsigned>(4 * (largest - x.exponent - w.exponent));
            sum.mantissa += fp16_product(x, w, shift);
        }
    }
    return sum;
}

void Fp16Accumulator::add(const Fp16BlockSum& sum) {
    if (nan_) {
        return;
    }
    if (sum.nan) {
        nan_ = true;
        payload_ = sum.payload;
    } else if (sum.mantissa != 0) {
        add_number(sum.mantissa, sum.exponent);
    }
}

void Fp16Accumulator::add_number(std::int64_t mantissa, std::int32_t exponent) {
    const int spare = spare_bits(mantissa, sum_bits);
    std::int64_t added = mantissa * (std::int64_t{1} << (spare + 2));
    std::int64_t kept = mantissa_;
    const std::int32_t added_exponent = exponent - spare + 49;  // biases: 101 - 50 - 2
    const std::int32_t kept_exponent = kept == 0 ? 0 : exponent_;
    const std::int32_t apart = added_exponent - kept_exponent;
    std::int64_t& smaller = apart > 0 ? kept : added;
    const auto shift = static_cast<unsigned>(std::abs(apart));
    std::uint64_t lost = 0;  // what was shifted out, left-aligned in 40 bits
    if (shift > accumulator_bits) {
        smaller = 0;
    } else if (shift > 0) {
        const std::uint64_t below = (std::uint64_t{1} << shift) - 1;
        lost = (static_cast<std::uint64_t>(smaller) & below) << (accumulator_bits - shift);
        smaller >>= shift;
    }
    const std::int32_t larger = std::max(added_exponent, kept_exponent);
    const std::int64_t sum = kept + added;
    const int room = spare_bits(sum, accumulator_bits);
    if (room < 0) {
        store(sum >> 1, larger + 1, (sum & 1) != 0 && (sum >= 0 || lost != 0));
        return;
    }
    const std::uint64_t filled = lost >> (accumulator_bits - static_cast<unsigned>(room));
    const std::uint64_t bits = static_cast<std::uint64_t>(sum) << room | filled;
    lost = lost << room & accumulator_mask;
    const bool guard = lost >> (accumulator_bits - 1) != 0;
    const bool sticky = (lost & (accumulator_mask >> 1U)) != 0;
    const std::int64_t normal = sign_extend(bits, accumulator_bits);
    store(normal, larger - room, guard && (normal >= 0 || sticky));
}

void Fp16Accumulator::store(std::int64_t sum, std::int32_t exponent, bool round) {
    const std::int64_t rounded =
        sign_extend(static_cast<std::uint64_t>(sum + (round ? 1 : 0)), accumulator_bits);
    if ((rounded < 0) == (sum < 0)) {
        mantissa_ = rounded;
    } else {  // the carry ran into the sign: it stays, the rest moves down
        const std::uint64_t rest = (static_cast<std::uint64_t>(rounded) & accumulator_mask) >> 1U;
        const std::uint64_t sign = sum < 0 ? std::uint64_t{1} << (accumulator_bits - 1) : 0;
        mantissa_ = sign_extend((rest & (accumulator_mask >> 1U)) | sign, accumulator_bits);
        exponent += 1;
    }
    exponent_ = mantissa_ == 0 ? 0 : exponent & 0xFF;
}

std::uint32_t Fp16Accumulator::fp32_bits() const {
    if (nan_) {
        const std::uint32_t sign =
            (payload_ & Fp16Format::sign_bit) != 0 ? Fp32Format::sign_bit : 0;
        return sign | Fp32Format::exponent_mask | (payload_ & Fp16Format::mantissa_mask);
    }
    if (mantissa_ == 0) {
        return 0;
    }
    const std::uint32_t sign = mantissa_ < 0 ? Fp32Format::sign_bit : 0;
    const auto magnitude = static_cast<std::uint64_t>(mantissa_ < 0 ? -mantissa_ : mantissa_);
    constexpr unsigned kDropped = accumulator_bits - 25;  // sign, hidden bit and 23 more are kept
    // -2^39 and a carry out of the rounding both reach bit 24 and leave zeros below
    const std::uint64_t rounded =
        (magnitude >> kDropped) + (magnitude >> (kDropped - 1U) & std::uint64_t{1});
    const auto carried = static_cast<std::uint32_t>(rounded >> 24U);
    const auto exponent = static_cast<std::uint32_t>(exponent_ + 64) + carried;
    const auto mantissa = static_cast<std::uint32_t>(rounded >> carried);
    return sign | (exponent & 0xFFU) << 23U | (mantissa & Fp32Format::mantissa_mask);
}

namespace {

constexpr std::uint32_t nan_mark = 1U << 14U;
/// Kernels that share one gather of the data.
constexpr std::uint32_t kernel_batch = 16;

/// A kernel's blocks as the inner loop reads them.
struct PreparedKernel {
    std::vector<Fp16Weight> weights;
    std::vector<std::size_t> ends;  // per block
    std::vector<Fp16> nans;         // per block: a weight that is a NaN, or 0
};

Fp16Weight prepared(Fp16 value, std::size_t element, std::uint32_t slot) {
    const Fp16Operand number = fp16_operand(value);
    Fp16Weight weight{.element = static_cast<std::uint32_t>(element),
                      .slot = slot,
                      .mantissa = number.mantissa,
                      .exponent = number.exponent,
                      .sign = number.negative ? ~0U : 0U};
    const std::array<std::int8_t, 8> digits = booth_digits(number.mantissa);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        weight.digits[i] = static_cast<std::uint8_t>(digits[i] < 0 ? 2 - digits[i] : digits[i]);
    }
    return weight;
}

PreparedKernel prepare(const Fp16Columns& columns, std::uint32_t kernel) {
    PreparedKernel result;
    const std::size_t length = columns.block_ends.back();
    const Fp16* values = columns.weights.data() + kernel * length;
    std::size_t element = 0;
    for (const std::size_t end : columns.block_ends) {
        Fp16 nan = 0;
        for (; element < end; ++element) {
            const Fp16 value = values[element];
            if (is_nan(value) && nan == 0) {
                nan = value;
            }
            if (!fp16_operand(value).zero()) {
                const std::uint32_t slot = columns.slots.empty() ? 0U : columns.slots[element];
                result.weights.push_back(prepared(value, element, slot));
            }
        }
        result.ends.push_back(result.weights.size());
        result.nans.push_back(nan);
    }
    return result;
}

/// The columns of one tile, and where in them a block's data is a NaN.
class Tile {
 public:
    explicit Tile(const Fp16Columns& columns)
        : columns_(columns),
          values_(columns.block_ends.back() * fp16_lanes),
          nans_(columns.block_ends.size()) {}

    void load(std::size_t first) {
        columns_.gather(first, values_.data());
        std::size_t begin = 0;
        for (std::size_t block = 0; block < nans_.size(); ++block) {
            const std::size_t end = columns_.block_ends[block] * fp16_lanes;
            std::uint32_t marks = 0;
            for (std::size_t i = begin; i < end; ++i) {
                marks |= values_[i];
            }
            nans_[block] = {};
            if ((marks & nan_mark) != 0) {
                find_nans(begin, end, nans_[block]);
            }
            begin = end;
        }
    }
    const std::uint32_t* values() const { return values_.data(); }
    /// Bits of the lane's first NaN in the block, or 0.
    Fp16 nan(std::size_t block, std::size_t lane) const { return nans_[block][lane]; }

 private:
    using LaneNans = std::array<Fp16, fp16_lanes>;

    void find_nans(std::size_t begin, std::size_t end, LaneNans& nans) const {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t value = values_[i];
            Fp16& nan = nans[i % fp16_lanes];
            if ((value & nan_mark) != 0 && nan == 0) {
                // exponent 31 shifts the mantissa by three
                nan = static_cast<Fp16>((value & Fp16Format::sign_bit) | Fp16Format::exponent_mask |
                                        (value >> 3U & Fp16Format::mantissa_mask));
            }
        }
    }

    const Fp16Columns& columns_;
    std::vector<std::uint32_t> values_;
    std::vector<LaneNans> nans_;
};

constexpr std::size_t max_results = 4;

/// One tile against one kernel.
class TileRun {
 public:
    TileRun(const Fp16Columns& columns, const Fp16Outputs& outputs)
        : columns_(columns), outputs_(outputs), slots_(columns.slots.empty() ? 1 : 16) {}

    void run(const Tile& tile, const PreparedKernel& kernel, std::size_t lanes) {
        for (std::size_t i = 0; i < lanes; ++i) {
            accumulators_[i].fill({});
        }
        Fp16LaneSums sums;
        for (std::size_t block = 0; block < columns_.block_ends.size(); ++block) {
            const std::size_t first = block == 0 ? 0 : kernel.ends[block - 1];
            multiply_fp16_block(
                std::span(kernel.weights).subspan(first, kernel.ends[block] - first), tile.values(),
                slots_, sums);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const Fp16 nan =
                    kernel.nans[block] != 0 ? kernel.nans[block] : tile.nan(block, lane);
                add(sums, lane, nan);
            }
        }
    }
    std::uint32_t bits(std::size_t lane, std::uint32_t result) const {
        return accumulators_[lane][result].fp32_bits();
    }

 private:
    void add(const Fp16LaneSums& sums, std::size_t lane, Fp16 nan) {
        std::array<std::int64_t, Fp16LaneSums::max_slots> slots{};
        std::array<std::int64_t, max_results> results{};
        for (std::size_t slot = 0; slot < slots_; ++slot) {
            slots[slot] = sums.mantissa[slot][lane];
        }
        if (outputs_.combine) {
            outputs_.combine(slots.data(), results.data());
        } else {
            results[0] = slots[0];
        }
        for (std::uint32_t i = 0; i < outputs_.results; ++i) {
            accumulators_[lane][i].add({results[i], sums.exponent[lane], nan != 0, nan});
        }
    }

    const Fp16Columns& columns_;
    const Fp16Outputs& outputs_;
    std::size_t slots_;
    std::array<std::array<Fp16Accumulator, max_results>, fp16_lanes> accumulators_;
};

}  // namespace

void convolve_fp16_columns(const Fp16Columns& columns, const Fp16Outputs& outputs) {
    NPU_CHECK(outputs.results <= max_results, "a block has at most four results");
    if (columns.block_ends.empty()) {
        return;
    }
    Tile tile(columns);
    TileRun run(columns, outputs);
    for (std::uint32_t batch = 0; batch < columns.kernels; batch += kernel_batch) {
        std::vector<PreparedKernel> kernels;
        const std::uint32_t last = std::min(columns.kernels, batch + kernel_batch);
        for (std::uint32_t k = batch; k < last; ++k) {
            kernels.push_back(prepare(columns, k));
        }
        for (std::size_t first = 0; first < columns.positions; first += fp16_lanes) {
            tile.load(first);
            const std::size_t lanes = std::min(fp16_lanes, columns.positions - first);
            for (std::uint32_t k = batch; k < last; ++k) {
                run.run(tile, kernels[k - batch], lanes);
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    for (std::uint32_t i = 0; i < outputs.results; ++i) {
                        outputs.store(k, first + lane, i, run.bits(lane, i));
                    }
                }
            }
        }
    }
}

}  // namespace npuscope
