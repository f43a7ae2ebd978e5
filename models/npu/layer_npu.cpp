// SPDX-License-Identifier: Apache-2.0
#include "models/npu/layer_npu.h"

#include <utility>

#include "models/npu/client_traffic.h"

namespace npuscope {

LayerNpu::LayerNpu(const sc_core::sc_module_name& name, const Config& config, DiagnosticLog& log)
    : sc_core::sc_module(name),
      mcif("mcif", config.mcif, log),
      tinpu("tinpu", config.engine, config.mcif.bus_width, log),
      port("tinpu_port", tinpu, config.mcif.bus_width, log),
      launch_queue_(config.engine.launch_queue) {
    mcif.connect(tinpu.input.port);
    mcif.connect(tinpu.residual.port);
    mcif.connect(tinpu.weights.port);
    mcif.connect(tinpu.constants.port);
    mcif.connect(tinpu.output);
    mcif.connect(port.descriptor.port);
}

void LayerNpu::launch(const std::shared_ptr<const UnitJob>& job, Ended ended) {
    const auto* layer = dynamic_cast<const TinpuJob*>(job.get());
    NPU_CHECK(layer != nullptr, "a TINPU runs layers of its own kind");
    tinpu.launch(*layer, values_, [this, told = std::move(ended)](const OperationRecord& record) {
        operations_.push_back(record);
        told(record);
    });
}

std::vector<Mcif::Traffic> LayerNpu::traffic() const {
    std::vector<Mcif::Traffic> merged;
    merge_traffic(merged, mcif.traffic());
    std::erase_if(merged, [&](const Mcif::Traffic& entry) {
        return entry.client == port.descriptor.port.client() && entry.moved.read_beats == 0;
    });
    return merged;
}

}  // namespace npuscope
