// SPDX-License-Identifier: Apache-2.0
// Published run times of TI's generic time-series models on the F28P55x, and the layers of those
// models. A frame is a map of N x 1 with one channel.
// source: tinyml-tensorlab, docs/source/deployment/npu_device_deployment.rst (cycles on
// LAUNCHXL-F28P55X), tinyml_modelzoo/models/classification.py (layers)
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/tinpu/tinpu_job.h"
#include "sim/run/session.h"

namespace npuscope::bench {

struct PublishedRun {
    std::string_view model;
    std::uint32_t frame;
    std::uint64_t cycles;
    bool calibrated;  ///< the preset was calibrated on it
};

std::span<const PublishedRun> published_runs();

/// Launches of a model on a frame, with 8-bit weights; weights from 0x80000000, maps from
/// 0x50000000 on. Padding of convolutions and pools is half of the kernel.
std::vector<TinpuJob> model_jobs(std::string_view model, std::uint32_t frame);

/// Launches without values, one after the other.
Result time_jobs(const std::vector<TinpuJob>& jobs, const SystemConfig& system);

}  // namespace npuscope::bench
