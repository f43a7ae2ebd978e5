// SPDX-License-Identifier: Apache-2.0
#include "models/npu/layer_npu.h"

#include "models/npu/client_traffic.h"

namespace npuscope {

LayerNpu::LayerNpu(const sc_core::sc_module_name& name, const Config& config, FindingLog& log)
    : sc_core::sc_module(name),
      mcif("mcif", config.mcif, log),
      tinpu("tinpu", config.engine, config.mcif.bus_width, log) {
    mcif.connect(tinpu.input.port);
    mcif.connect(tinpu.residual.port);
    mcif.connect(tinpu.weights.port);
    mcif.connect(tinpu.constants.port);
    mcif.connect(tinpu.output);
}

std::vector<Mcif::Traffic> LayerNpu::traffic() const {
    std::vector<Mcif::Traffic> merged;
    merge_traffic(merged, mcif.traffic());
    return merged;
}

}  // namespace npuscope
