// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

Cycles stage_delay(const SdpConfig& config, const SdpXStage& stage) {
    if (stage.bypass) {
        return Cycles(0);
    }
    return config.stage_latency + (stage.alu.bypass ? Cycles(0) : config.alu_latency) +
           (stage.mul.bypass ? Cycles(0) : config.mul_latency);
}

}  // namespace

SdpStageDelays sdp_stage_delays(const SdpConfig& config, const SdpStages& stages) {
    return {stage_delay(config, stages.bs), stage_delay(config, stages.bn),
            stages.ew.bypass ? Cycles(0) : config.element_wise_latency};
}

Cycles sdp_atom_cycles(const SdpConfig& config, const SdpStages& stages, std::uint64_t elements) {
    std::uint32_t throughput = config.output_throughput;
    if (!stages.bs.bypass) {
        throughput = std::min(throughput, config.bs_throughput);
    }
    if (!stages.bn.bypass) {
        throughput = std::min(throughput, config.bn_throughput);
    }
    if (!stages.ew.bypass) {
        throughput = std::min(throughput, config.element_wise_throughput);
    }
    return Cycles(divide_up(elements, throughput));
}

}  // namespace npuscope
