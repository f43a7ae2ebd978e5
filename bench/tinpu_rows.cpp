// SPDX-License-Identifier: Apache-2.0
#include "bench/tinpu_rows.h"

#include <array>
#include <map>

#include "models/base/check.h"

namespace npuscope::bench {
namespace {

constexpr std::array runs{PublishedRun{"CLS_1k_NPU", 128, 103882, true},
                          PublishedRun{"CLS_1k_NPU", 256, 188397, false},
                          PublishedRun{"CLS_1k_NPU", 512, 372242, true},
                          PublishedRun{"CLS_1k_NPU", 1024, 692220, false},
                          PublishedRun{"CLS_4k_NPU", 128, 71595, true},
                          PublishedRun{"CLS_4k_NPU", 256, 109534, false},
                          PublishedRun{"CLS_4k_NPU", 512, 184981, true},
                          PublishedRun{"CLS_4k_NPU", 1024, 326782, false},
                          PublishedRun{"CLS_6k_NPU", 128, 107982, true},
                          PublishedRun{"CLS_6k_NPU", 256, 164676, false},
                          PublishedRun{"CLS_6k_NPU", 512, 261792, true},
                          PublishedRun{"CLS_6k_NPU", 1024, 462680, false},
                          PublishedRun{"CLS_13k_NPU", 128, 199691, true},
                          PublishedRun{"CLS_13k_NPU", 256, 312406, false},
                          PublishedRun{"CLS_13k_NPU", 512, 535437, true},
                          PublishedRun{"CLS_13k_NPU", 1024, 985529, false}};

enum class Kind { Conv, Depthwise, MaxPool, Sum, Product };

struct LayerRow {
    Kind kind;
    std::uint32_t kernels;  ///< 0: as many as input channels
    std::uint32_t kernel;
    std::uint32_t stride;
};

constexpr LayerRow max_pool{Kind::MaxPool, 0, 3, 2};
constexpr LayerRow sum{Kind::Sum, 0, 0, 1};
constexpr LayerRow two_classes{Kind::Product, 2, 1, 1};

const std::map<std::string_view, std::vector<LayerRow>>& models() {
    static const std::map<std::string_view, std::vector<LayerRow>> rows{
        {"CLS_1k_NPU",
         {{Kind::Conv, 8, 5, 1},
          {Kind::Conv, 8, 5, 1},
          max_pool,
          {Kind::Conv, 16, 3, 1},
          sum,
          two_classes}},
        {"CLS_4k_NPU",
         {{Kind::Conv, 8, 5, 2},
          {Kind::Conv, 8, 3, 1},
          max_pool,
          {Kind::Conv, 16, 5, 2},
          {Kind::Conv, 32, 5, 2},
          sum,
          two_classes}},
        {"CLS_6k_NPU",
         {{Kind::Conv, 16, 3, 4},
          max_pool,
          {Kind::Depthwise, 0, 3, 1},
          {Kind::Conv, 32, 1, 1},
          max_pool,
          {Kind::Depthwise, 0, 3, 1},
          {Kind::Conv, 48, 1, 1},
          {Kind::Conv, 16, 5, 1},
          sum,
          two_classes}},
        {"CLS_13k_NPU",
         {{Kind::Conv, 8, 5, 2},
          {Kind::Conv, 16, 3, 2},
          {Kind::Conv, 16, 3, 1},
          {Kind::Conv, 32, 3, 2},
          {Kind::Conv, 32, 3, 1},
          {Kind::Conv, 64, 3, 2},
          sum,
          two_classes}}};
    return rows;
}

constexpr Address weights_at{0x80000000};
constexpr std::array maps_at{Address(0x50000000), Address(0x50100000)};  // in turns

TinpuJob job_of(const LayerRow& row, const Shape& in, std::size_t number) {
    TinpuJob job;
    job.input.base = maps_at[number % 2];
    job.output.base = maps_at[(number + 1) % 2];
    job.rows = row.kind == Kind::Sum ? in.height : row.kernel;
    job.input.shape = in;
    const std::uint32_t room = in.height + 2 * (job.rows / 2) - job.rows;
    job.output.shape = {row.kernels == 0 ? in.channels : row.kernels, room / row.stride + 1, 1};
    job.geometry.out_height = job.output.shape.height;
    job.geometry.stride_y = row.stride;
    job.geometry.pad_top = job.rows / 2;
    switch (row.kind) {
        case Kind::Conv:
        case Kind::Product:
            job.weights = WeightSurface{weights_at, {row.kernels, in.channels, job.rows, 1}, 8};
            break;
        case Kind::Depthwise:
            job.work = TinpuWork::Depthwise;
            job.weights = WeightSurface{weights_at, {1, in.channels, job.rows, 1}, 8};
            break;
        case Kind::MaxPool:
            job.work = TinpuWork::MaxPool;
            break;
        case Kind::Sum:
            job.work = TinpuWork::AveragePool;
            job.output.shape.height = 1;
            job.geometry = {};
            break;
    }
    return job;
}

}  // namespace

std::span<const PublishedRun> published_runs() { return runs; }

std::vector<TinpuJob> model_jobs(std::string_view model, std::uint32_t frame) {
    const auto found = models().find(model);
    NPU_CHECK(found != models().end(), "a published run of a model without layers");
    std::vector<TinpuJob> jobs;
    Shape shape{1, frame, 1};
    for (const LayerRow& row : found->second) {
        jobs.push_back(job_of(row, shape, jobs.size()));
        shape = jobs.back().output.shape;
    }
    return jobs;
}

Result time_jobs(const std::vector<TinpuJob>& jobs, const SystemConfig& system) {
    Program program;
    for (const TinpuJob& job : jobs) {
        Statement& statement = program.statements.emplace_back();
        statement.action = LaunchJob{std::make_shared<TinpuJob>(job)};
    }
    return run_program(program, system, {.values = false});
}

}  // namespace npuscope::bench
