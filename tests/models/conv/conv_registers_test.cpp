// SPDX-License-Identifier: Apache-2.0
// Random parts of a convolution, written to registers and read back.
#include "models/conv/conv_registers.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/refusal.h"

namespace npuscope {
namespace {

ConvFeatures all_features() {
    ConvFeatures features;
    features.datapath.int16 = features.datapath.fp16 = true;
    features.secondary_port = features.weight_compression = features.winograd = true;
    features.max_batch = 32;
    return features;
}

class RandomJobs {
 public:
    std::uint32_t number(std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
    }
    bool flag() { return number(0, 1) == 1; }
    Precision precision() { return static_cast<Precision>(number(0, 2)); }
    Shape shape() { return {number(1, 8192), number(1, 64), number(1, 64)}; }
    BufferReuse reuse() { return {flag(), flag(), flag(), flag()}; }

    CaccJob cacc() {
        return {.precision = precision(),
                .winograd = flag(),
                .output = shape(),
                .batches = number(1, 32),
                .clip_truncate = number(0, 31),
                .line_packed = flag(),
                .surface_packed = flag()};
    }
    CscJob csc() {
        CscJob job;
        job.mode = static_cast<ConvMode>(number(0, 2));
        job.precision = precision();
        job.reuse = reuse();
        job.input = shape();
        job.kernels = {number(1, 8192), number(1, 8192), number(1, 32), number(1, 32)};
        job.row_group = 1U << number(0, 2);
        job.entries_per_slice = number(1, 16384);
        job.weight_bytes = Bytes(number(0, 0xffffffffU));
        job.compressed = flag();
        job.mask_bytes = Bytes(job.compressed ? number(0, 0xfffffffU) : 0);
        job.batches = number(1, 32);
        job.output = shape();
        job.atomics = number(1, 1U << 21U);
        job.release_slices = number(1, 4096);
        job.stride_y = number(1, 8);
        job.stride_x = number(1, 8);
        job.pad_top = number(0, 31);
        job.pad_value = static_cast<std::uint16_t>(number(0, 0xffff));
        job.banks = {number(1, 32), number(1, 32)};
        if (job.mode == ConvMode::Winograd) {
            job.patch_truncate = number(0, 3);
        }
        if (job.mode != ConvMode::Image) {
            job.dilation_y = number(1, 32);
            job.dilation_x = number(1, 32);
            job.pad_left = number(0, 31);
        }
        return job;
    }
    /// Feature data of int8.
    CdmaJob cdma() {
        CdmaJob job;
        job.reuse = reuse();
        job.input = {number(1, 64), number(1, 64), number(1, 64)};
        job.batches = number(1, 4);
        job.feature = {.base = Address(std::uint64_t{number(0, 0xffffffffU)} * 8),
                       .line_stride = Bytes(8) * number(1, 1000),
                       .surface_stride = Bytes(8) * number(1, 1000),
                       .shape = job.input};
        if (job.batches > 1) {
            job.feature.batch_lines = job.input.height;
            job.feature.shape.height *= job.batches;
            job.feature.batch_stride = Bytes(8) * number(1, 1000);
        }
        job.line_packed = flag();
        job.surface_packed = flag();
        job.lines_per_fetch = job.line_packed ? number(1, 4096) : 1;
        job.entries_per_slice = number(1, 16384);
        job.weight_address = Address(std::uint64_t{number(0, 0xffffffffU)} * 8);
        job.weight_bytes = Bytes(128) * number(1, 1000);
        job.bytes_per_kernel = Bytes(number(1, 1000));
        job.kernels = number(1, 1000);
        if (flag()) {
            job.compression = {Address(std::uint64_t{number(0, 0xffffffffU)} * 8),
                               Bytes(128) * number(1, 1000),
                               Address(std::uint64_t{number(0, 0xffffffffU)} * 8)};
        }
        job.conversion.enabled = flag();
        job.conversion.offset = static_cast<std::int16_t>(number(0, 0xffff));
        job.conversion.scale = static_cast<std::int16_t>(number(0, 0xffff));
        job.conversion.truncate = number(0, 63);
        job.flush_nan = flag();
        job.count_performance = flag();
        job.banks = {number(1, 32), number(1, 32)};
        job.data_in_secondary = flag();
        job.weight_in_secondary = flag();
        return job;
    }

 private:
    std::mt19937 random_{5};
};

TEST(ConvRegisters, DecodingUndoesEncoding) {
    RandomJobs random;
    const ConvFeatures features = all_features();
    CscJob window;  // one pixel: no padding
    window.input = window.output = {1, 1, 1};
    window.kernels = {1, 1, 1, 1};
    for (int round = 0; round < 200; ++round) {
        const CmacJob cmac{random.precision(), random.flag()};
        const CaccJob cacc = random.cacc();
        const CscJob csc = random.csc();
        const CdmaJob cdma = random.cdma();
        ASSERT_EQ(decoded([&](Diagnostics& findings) {
                      return decode_cmac(encode_cmac(cmac_b_block, cmac), features, findings);
                  }),
                  cmac);
        ASSERT_EQ(decoded([&](Diagnostics& findings) {
                      return decode_cacc(encode_cacc(cacc, {}), features, findings);
                  }),
                  cacc);
        ASSERT_EQ(decoded([&](Diagnostics& findings) {
                      return decode_csc(encode_csc(csc), features, findings);
                  }),
                  csc);
        ASSERT_EQ(decoded([&](Diagnostics& findings) {
                      return decode_cdma(encode_cdma(cdma, window), features, findings);
                  }),
                  cdma);
    }
}

}  // namespace
}  // namespace npuscope
