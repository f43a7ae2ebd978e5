// SPDX-License-Identifier: Apache-2.0
#include "models/arith/fp16_columns.h"

#include <algorithm>
#include <array>
#include <span>

#include "models/arith/convolve_fp16_simd.h"
#include "models/base/check.h"

namespace npuscope {

namespace {

constexpr std::uint32_t nan_mark = 1U << 14U;
/// Kernels that share one gathering of the data.
constexpr std::uint32_t kernel_batch = 16;

/// A kernel's blocks as the inner loop takes them.
struct PreparedKernel {
    std::vector<Fp16Weight> weights;
    std::vector<std::size_t> ends;  // per block
    std::vector<Fp16> nans;         // per block: a weight that is no number, or 0
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

/// The columns of one tile, and where in them a block's data is no number.
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
