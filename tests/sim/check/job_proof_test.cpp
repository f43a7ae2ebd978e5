// SPDX-License-Identifier: Apache-2.0
// Layers of a TINPU equal reference operators, in every kind of work, width and sign; and what
// differs is found.
#include "sim/check/job_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/tinpu/tinpu_job.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/system_config.h"
#include "sim/run/session.h"

namespace npuscope::job_proof_test {
namespace {

constexpr Address weights_at(0x4000);
constexpr Address constants_at(0x6000);

struct Row {
    const char* name;
    TinpuWork work;
    unsigned bits;
    bool input_signed;
    bool residual;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr Row rows[] = {
    {"convolution of 8 bits", TinpuWork::Convolution, 8, false, false},
    {"convolution of 4 bits", TinpuWork::Convolution, 4, true, false},
    {"convolution of 2 bits", TinpuWork::Convolution, 2, false, false},
    {"convolution and residual", TinpuWork::Convolution, 8, true, true},
    {"depth-wise of 8 bits", TinpuWork::Depthwise, 8, true, false},
    {"depth-wise of 4 bits", TinpuWork::Depthwise, 4, false, false},
    {"transposed", TinpuWork::Transposed, 8, true, false},
    {"average", TinpuWork::AveragePool, 8, true, false},
    {"maximum", TinpuWork::MaxPool, 8, true, false},
};

class JobProof : public testing::TestWithParam<Row> {
 protected:
    JobProof() {
        MemoryRegionConfig region;
        region.base = Address(0x1000);
        region.size = Bytes(0x8000);
        system_.memory.regions = {region};
    }

    /// 4x7x6 by 3x3 windows with stride 2 and padding 1; transposed the other way round.
    std::shared_ptr<TinpuJob> job() const {
        const Row& row = GetParam();
        auto job = std::make_shared<TinpuJob>();
        job->name = "layer";
        job->work = row.work;
        const bool by_channel =
            row.work != TinpuWork::Convolution && row.work != TinpuWork::Transposed;
        job->input = {Address(0x1000), {4, 7, 6}, row.input_signed};
        job->output = {Address(0x2000), {by_channel ? 4U : 8U, 4, 3}, true};
        if (row.work == TinpuWork::Transposed) {
            job->output.shape = {8, 13, 11};
        }
        job->rows = job->columns = 3;
        Convolution& g = job->geometry;
        g.stride_x = g.stride_y = 2;
        g.pad_left = g.pad_top = 1;
        job->pad_bottom = job->pad_right = 1;
        g.out_height = job->output.shape.height;
        g.out_width = job->output.shape.width;
        job->clip = {-128, 127};
        if (row.residual) {
            job->residual = MapSurface{Address(0x3000), job->output.shape, false};
        }
        if (row.work != TinpuWork::AveragePool && row.work != TinpuWork::MaxPool) {
            const std::uint32_t kernels = row.work == TinpuWork::Depthwise ? 1 : 8;
            job->weights = WeightSurface{weights_at, {kernels, 4, 3, 3}, row.bits};
        }
        if (row.work != TinpuWork::MaxPool) {
            job->constants = constants_at;
        }
        return job;
    }

    Program program(std::shared_ptr<const TinpuJob> job) const {
        Program program;
        std::mt19937 random(5);
        const auto add = [&](const char* file, Address address, std::vector<std::uint8_t> bytes) {
            LoadMemory load;
            load.file = file;
            load.address = address;
            load.image.runs = {{0, 0, bytes.size()}};
            load.image.bytes = std::move(bytes);
            program.statements.push_back({{}, std::move(load)});
        };
        if (job->weights) {
            std::vector<std::uint8_t> bytes(job->weights->bytes().value);
            std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
            add("weights.dat", weights_at, std::move(bytes));
        }
        if (job->constants) {
            std::vector<BnormChannel> channels(job->output.shape.channels);
            for (BnormChannel& channel : channels) {
                channel.bias = static_cast<std::int32_t>(random() % 4096) - 2048;
                channel.scale = static_cast<std::uint8_t>(1 + random() % 8);
                channel.shift = static_cast<std::uint8_t>(5 + random() % 4);
            }
            add("constants.dat", constants_at, store_constants(channels));
        }
        program.surfaces = {{.name = "input", .spec = spec(job->input)}};
        if (job->residual) {
            program.surfaces.push_back({.name = "residual", .spec = spec(*job->residual)});
        }
        program.statements.push_back({{}, LaunchJob{.job = std::move(job)}});
        program.statements.push_back({{}, WaitForJobs{}});
        return program;
    }

    static std::string spec(const MapSurface& map) {
        return to_hex(map.base) + ":1x" + std::to_string(map.shape.channels) + "x" +
               std::to_string(map.shape.height) + "x" + std::to_string(map.shape.width) + ":" +
               (map.is_signed ? "int8" : "uint8") + ":N H W C";
    }

    std::vector<std::uint8_t> machine(const Program& program, const ProvedResult& result) const {
        RunOptions options;
        options.keep.push_back({result.surface->extent(), result.after});
        return run_program(program, system_, options).kept.at(0);
    }

    SystemConfig system_ = tinpu_system(LayerNpuConfig{}, MemoryConfig{}, HostConfig{});
};

TEST_P(JobProof, HoldsForWhatTheMachineLeaves) {
    const Program drawn = with_host_maps(program(job()), {});
    std::vector<ProvedResult> results = plain_job_results(drawn, MemoryConfig{}, true);
    ASSERT_EQ(results.size(), 1U);
    ASSERT_TRUE(results[0].surface) << results[0].unproved;
    std::vector<std::uint8_t> bytes = machine(drawn, results[0]);
    EXPECT_GT(std::ranges::count_if(bytes, [&](auto byte) { return byte != bytes.front(); }), 8);
    hold_against(results[0], bytes);
    EXPECT_TRUE(results[0].proved()) << proof_findings(results).front().sentence;
    EXPECT_EQ(results[0].elements, job()->output.shape.elements());
    EXPECT_EQ(results[0].arrays.size(),
              2U + (job()->weights ? 1U : 0U) + (job()->residual ? 1U : 0U));

    bytes.back() ^= 1U;
    results[0].elements = 0;
    hold_against(results[0], bytes);
    ASSERT_TRUE(results[0].difference);
    EXPECT_EQ(results[0].difference->elements, 1U);
    EXPECT_EQ(results[0].difference->first.channel, job()->output.shape.channels - 1);
}

TEST_P(JobProof, SeesOtherOperandsThanTheMachineHad) {
    const Program drawn = with_host_maps(program(job()), {});
    const std::vector<std::uint8_t> ones(job()->input.bytes().value, 1);
    const Program other = with_host_maps(program(job()), {{"input", ones}});
    std::vector<ProvedResult> results = plain_job_results(other, MemoryConfig{}, false);
    hold_against(results[0], machine(drawn, results[0]));
    EXPECT_FALSE(results[0].proved());
}

TEST_P(JobProof, TakesTheNumbersThatTheHostIsGiven) {
    const std::vector<std::uint8_t> ones(job()->input.bytes().value, 1);
    const Program given = with_host_maps(program(job()), {{"input", ones}});
    const std::vector<ProvedResult> results = plain_job_results(given, MemoryConfig{}, true);
    for (const double number : results[0].arrays.front().numbers) {
        EXPECT_EQ(number, 1);
    }
}

TEST_P(JobProof, ProvesNothingOfBytesThatNothingWrites) {
    Program program = this->program(job());
    program.surfaces.clear();
    const std::vector<ProvedResult> results =
        plain_job_results(with_host_maps(std::move(program), {}), MemoryConfig{}, false);
    EXPECT_EQ(results[0].unproved, "it reads bytes that the program never writes: its input");
    EXPECT_FALSE(results[0].surface);
}

INSTANTIATE_TEST_SUITE_P(Layers, JobProof, testing::ValuesIn(rows), [](const auto& row) {
    std::string name = row.param.name;
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace npuscope::job_proof_test
