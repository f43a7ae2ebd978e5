// SPDX-License-Identifier: Apache-2.0
// The assembly: a vector unit behind a memory interface. The host launches its jobs directly; it
// has no registers.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "models/npu/machine.h"
#include "vector_unit.h"

namespace vector_npu {

class VectorNpu : public sc_core::sc_module, public npuscope::Machine {
 public:
    VectorNpu(const sc_core::sc_module_name& name, const VectorNpuConfig& config,
              npuscope::DiagnosticLog& log);

    npuscope::Mcif mcif;
    VectorUnit unit;

    void bind_memory(npuscope::Memory& memory) override { mcif.memory.bind(memory.socket); }
    std::size_t launch_queue() const override { return launch_queue_; }
    void launch(const std::shared_ptr<const npuscope::UnitJob>& job, Ended ended) override;
    void leave_out_values() override { values_ = false; }
    void record_to(npuscope::Recorder* recorder) override { unit.record_to(recorder); }
    const std::vector<npuscope::OperationRecord>& operations() const override {
        return operations_;
    }
    std::vector<UnitEntry> units() override { return {{"vector", &unit}}; }
    std::vector<npuscope::Mcif::Traffic> traffic() const override;
    std::vector<PortTraffic> ports() const override;
    std::vector<OperationTraffic> operation_traffic() const override;

 private:
    const std::size_t launch_queue_;
    bool values_ = true;
    std::vector<npuscope::OperationRecord> operations_;
};

}  // namespace vector_npu
