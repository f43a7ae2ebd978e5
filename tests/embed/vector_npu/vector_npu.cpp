// SPDX-License-Identifier: Apache-2.0
#include "vector_npu.h"

#include <utility>

#include "models/mcif/mcif.h"

namespace vector_npu {

VectorNpu::VectorNpu(const sc_core::sc_module_name& name, const VectorNpuConfig& config,
                     npuscope::DiagnosticLog& log)
    : sc_core::sc_module(name),
      mcif("mcif", config.mcif, log),
      unit("vector", config.engine, config.mcif.bus_width),
      launch_queue_(config.engine.launch_queue) {
    mcif.connect(unit.a.port);
    mcif.connect(unit.b.port);
    mcif.connect(unit.output);
}

void VectorNpu::launch(const std::shared_ptr<const npuscope::UnitJob>& job, Ended ended) {
    auto own = std::dynamic_pointer_cast<const VectorJob>(job);
    NPU_CHECK(own != nullptr, "a vector NPU runs jobs of its own kind");
    unit.launch({std::move(own), values_,
                 [this, told = std::move(ended)](const npuscope::OperationRecord& record) {
                     operations_.push_back(record);
                     told(record);
                 }});
}

std::vector<npuscope::Mcif::Traffic> VectorNpu::traffic() const {
    std::vector<npuscope::Mcif::Traffic> merged;
    npuscope::merge_traffic(merged, mcif.traffic());
    return merged;
}

std::vector<VectorNpu::PortTraffic> VectorNpu::ports() const {
    return {{"memory", mcif.total(), mcif.width()}};
}

std::vector<VectorNpu::OperationTraffic> VectorNpu::operation_traffic() const {
    std::vector<OperationTraffic> all;
    npuscope::add_operation_traffic(all, mcif, "memory");
    return all;
}

}  // namespace vector_npu
