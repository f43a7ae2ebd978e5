// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_descriptor.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/tinpu/tinpu_job.h"
#include "models/tinpu/tinpu_math.h"
#include "models/tinpu/tinpu_timing.h"
#include "tests/models/tinpu/sample_job.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

std::span<const std::uint8_t, descriptor_bytes> whole(const std::vector<std::uint8_t>& bytes) {
    return std::span<const std::uint8_t, descriptor_bytes>(bytes.data(), descriptor_bytes);
}

TinpuJob job_of(TinpuWork work) {
    TinpuJob job = sample::pointwise_job(6);
    job.work = work;
    if (work == TinpuWork::Depthwise) {
        job.weights->shape = {1, 4, 1, 1};
    }
    if (work == TinpuWork::AveragePool || work == TinpuWork::MaxPool) {
        job.weights.reset();
        job.rows = 2;
        job.geometry.pad_top = job.pad_bottom = 1;
        job.output.shape.height = job.geometry.out_height = 7;
    }
    if (work == TinpuWork::AveragePool) {
        job.count_padding = true;
        job.rounding = HalfRounding::Up;
        job.residual = MapSurface{Address(0x1'2345'6780), job.output.shape, true};
    }
    if (work == TinpuWork::MaxPool) {
        job.constants.reset();
        job.clip = {};
    }
    return job;
}

std::vector<TinpuJob> sample_jobs() {
    std::vector<TinpuJob> jobs;
    for (const auto& [work, name] : EnumNames<TinpuWork>::names) {
        jobs.push_back(job_of(work));
    }
    return jobs;
}

void expect_same(const TinpuJob& a, const TinpuJob& b) {
    EXPECT_EQ(store_descriptor(a), store_descriptor(b));
    EXPECT_EQ(a.work, b.work);
    EXPECT_EQ(a.geometry, b.geometry);
    EXPECT_EQ(a.clip, b.clip);
    EXPECT_EQ(a.residual.has_value(), b.residual.has_value());
    EXPECT_EQ(a.constants, b.constants);
    ASSERT_EQ(a.weights.has_value(), b.weights.has_value());
    if (a.weights) {
        EXPECT_EQ(a.weights->base, b.weights->base);
        EXPECT_EQ(a.weights->shape, b.weights->shape);
        EXPECT_EQ(a.weights->bits, b.weights->bits);
    }
    EXPECT_EQ(tinpu_traffic(a).read, tinpu_traffic(b).read);
}

TEST(TinpuDescriptor, HoldsEveryLayer) {
    for (const TinpuJob& job : sample_jobs()) {
        SCOPED_TRACE(enum_name(job.work));
        expect_same(load_descriptor(whole(store_descriptor(job))), job);
    }
}

/// The message for a descriptor with one word changed.
std::string message_with(TinpuWork work, std::size_t word, std::uint32_t value) {
    std::vector<std::uint8_t> bytes = store_descriptor(job_of(work));
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[4 * word + i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    return sample::message_of([&] { load_descriptor(whole(bytes)); });
}

TEST(TinpuDescriptor, NamesWhatIsWrong) {
    struct Row {
        TinpuWork work;
        std::size_t word;
        std::uint32_t value;
        const char* message;
    };
    const Row rows[] = {
        {TinpuWork::Convolution, 0, 0x02130800, "version is 2, must be 1"},
        {TinpuWork::Convolution, 0, 0x01130805, "work is 5, must be 0 to 4"},
        {TinpuWork::Convolution, 0, 0x01130300, "weight bits are 3; must"},
        {TinpuWork::Convolution, 0, 0x01030800,
         "constants are not set, but only a max pool has none"},
        {TinpuWork::MaxPool, 0, 0x01010004,
         "input and output of a max pool must both be signed or both unsigned"},
        {TinpuWork::Convolution, 23, 7,
         "word 23 of the descriptor: it is reserved, but it is not 0"},
        {TinpuWork::Convolution, 12, 0, "input height of the layer: 0, must be 1 to"},
        {TinpuWork::Convolution, 14, 0x10001, "output channels of the layer: 65537, must be"},
        {TinpuWork::Depthwise, 14, 8, "output channels of the layer: 8 instead of 4"},
        {TinpuWork::Convolution, 15, 7, "its windows span 7 rows, but the padded input has 6"},
        {TinpuWork::Convolution, 17, 0, "window of the layer: it has no rows"},
        {TinpuWork::Convolution, 18, 0x10000, "stride of the layer: 0 rows, must be at least 1"},
        {TinpuWork::Convolution, 22, 0x80'0000, "clip of the layer: 0 to 128"},
        {TinpuWork::MaxPool, 20, 4, "covers only padding rows"},
        {TinpuWork::AveragePool, 15, 20, "last window begins after the 8 rows of the padded input"},
        {TinpuWork::Transposed, 15, 9, "the transposed input spans only 6"}};
    for (const Row& row : rows) {
        EXPECT_THAT(message_with(row.work, row.word, row.value), HasSubstr(row.message));
    }
}

/// What is accepted can be run: small layers are.
void expect_sound(const std::vector<std::uint8_t>& bytes) {
    try {
        const TinpuJob job = load_descriptor(whole(bytes));
        expect_same(load_descriptor(whole(store_descriptor(job))), job);
        const std::uint64_t window = std::uint64_t{job.rows} * job.columns;
        const std::uint64_t all = job.input.shape.elements() + job.output.shape.elements();
        if (all > 4096 || window > 64) {
            return;
        }
        TinpuOperands operands;
        operands.input = Tensor<std::int32_t>(job.input.shape);
        operands.constants.resize(job.output.shape.channels);
        if (job.residual) {
            operands.residual = Tensor<std::int32_t>(job.output.shape);
        }
        if (job.weights) {
            operands.weights = Kernels<std::int8_t>(job.weights->shape);
        }
        ClipCounters clipped;
        const Tensor<std::int32_t> result = tinpu_result(job, operands, clipped);
        const auto fits = [](std::int32_t value) { return value >= -128 && value <= 255; };
        EXPECT_TRUE(std::ranges::all_of(result.values, fits));
        EXPECT_EQ(tinpu_pieces(job, {}).back().output, job.output.bytes());
    } catch (const ConfigError& error) {
        EXPECT_FALSE(error.sentence().empty());
    }
}

TEST(TinpuDescriptor, DamagedOnesAreRefusedOrSound) {
    std::mt19937 dice(7);
    for (const TinpuJob& job : sample_jobs()) {
        const std::vector<std::uint8_t> good = store_descriptor(job);
        for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
            std::vector<std::uint8_t> bytes = good;
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
            expect_sound(bytes);
        }
        for (unsigned round = 0; round < 3000; ++round) {
            std::vector<std::uint8_t> bytes = good;
            for (unsigned changes = dice() % 4 + 1; changes > 0; --changes) {
                const std::size_t place = dice() % 92;
                bytes[place] = static_cast<std::uint8_t>(dice() % 3 == 0 ? dice() : dice() % 9);
            }
            expect_sound(bytes);
        }
    }
}

}  // namespace
}  // namespace npuscope
