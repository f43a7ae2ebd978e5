// SPDX-License-Identifier: Apache-2.0
// The assembly of an NPU that runs whole layers: a TINPU with a memory interface. A host launches
// layers directly, because no register map is public, or through the port, whose registers are
// ours.
#pragma once

#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/mcif/mcif.h"
#include "models/npu/machine.h"
#include "models/tinpu/tinpu.h"
#include "models/tinpu/tinpu_port.h"

namespace npuscope {

class LayerNpu : public sc_core::sc_module, public Machine {
 public:
    struct Config {
        McifConfig mcif;
        TinpuConfig engine;
    };
    LayerNpu(const sc_core::sc_module_name& name, const Config& config, DiagnosticLog& log)
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

    Mcif mcif;
    Tinpu tinpu;
    TinpuPort port;  ///< for a host that knows registers and descriptors

    void bind_memory(Memory& memory) override {
        mcif.memory.bind(memory.socket);
        mcif.leave_late_where([&memory] { return memory.looks_back(); });
    }
    std::size_t launch_queue() const override { return launch_queue_; }
    /// Launches a TinpuJob.
    void launch(const std::shared_ptr<const UnitJob>& job, Ended ended) override {
        const auto* layer = dynamic_cast<const TinpuJob*>(job.get());
        NPU_CHECK(layer != nullptr, "a TINPU runs layers of its own kind");
        tinpu.launch(*layer, values_,
                     [this, told = std::move(ended)](const OperationRecord& record) {
                         operations_.push_back(record);
                         told(record);
                     });
    }
    void leave_out_values() override { values_ = false; }
    void record_to(Recorder* recorder) override { tinpu.record_to(recorder); }
    /// Those of layers that were launched directly.
    const std::vector<OperationRecord>& operations() const override { return operations_; }
    std::vector<UnitEntry> units() override { return {{"tinpu", &tinpu}}; }
    /// Without the port's client if the port was not used.
    std::vector<Mcif::Traffic> traffic() const override {
        std::vector<Mcif::Traffic> merged;
        merge_traffic(merged, mcif.traffic());
        std::erase_if(merged, [&](const Mcif::Traffic& entry) {
            return entry.client == port.descriptor.port.client() && entry.moved.read_beats == 0;
        });
        return merged;
    }
    std::vector<PortTraffic> ports() const override {
        return {{"memory", mcif.total(), mcif.width()}};
    }
    std::vector<OperationTraffic> operation_traffic() const override {
        std::vector<OperationTraffic> all;
        add_operation_traffic(all, mcif, "memory");
        return all;
    }

 private:
    const std::size_t launch_queue_;
    bool values_ = true;
    std::vector<OperationRecord> operations_;
};

}  // namespace npuscope
