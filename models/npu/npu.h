// SPDX-License-Identifier: Apache-2.0
// The assembly: one member per room, one line per wire. The host reaches it through the
// configuration bus, it reaches memory through one port or two. The dispatcher turns op-enables
// into launches.
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/base/value_thread.h"
#include "models/bdma/bdma.h"
#include "models/cdp/cdp.h"
#include "models/conv/cacc.h"
#include "models/conv/cbuf.h"
#include "models/conv/cdma.h"
#include "models/conv/csc.h"
#include "models/csb/csb.h"
#include "models/glb/glb.h"
#include "models/mcif/mcif.h"
#include "models/npu/dispatcher.h"
#include "models/npu/machine.h"
#include "models/npu/npu_config.h"
#include "models/npu/repeated_operations.h"
#include "models/npu/steady_groups.h"
#include "models/pdp/pdp.h"
#include "models/rubik/rubik.h"
#include "models/sdp/sdp.h"

namespace npuscope {

class Npu : public sc_core::sc_module, public Machine {
 public:
    Npu(const sc_core::sc_module_name& name, const NpuConfig& config, DiagnosticLog& log);

    ValueThread values;
    Csb csb;
    Glb glb{"glb"};
    Mcif mcif;
    std::optional<Mcif> cvif;  ///< second port, where the NPU has one

    Cbuf cbuf;
    Cacc cacc;
    Cmac cmac;
    Csc csc;
    Cdma cdma;
    Pdp pdp;
    Sdp sdp;
    Cdp cdp;
    std::optional<Bdma> bdma;    ///< where the NPU has one
    std::optional<Rubik> rubik;  ///< likewise

    void bind_memory(Memory& memory) override;
    std::optional<Registers> registers() override { return Registers{csb, glb, map_}; }
    void leave_out_values() override { dispatcher_.leave_out_values(); }
    void work_values_out_beside(Memory& memory, std::size_t operations) override {
        if (!mcif.asks_for_bursts()) {  // they carry values
            values.start_after(operations);
            memory.move_late_on(values);
        }
    }
    void leave_out_repeats(const Surroundings& surroundings) override;
    Cycles counted(Cycles simulated) const override {
        return steady_ ? steady_->counted(simulated) : simulated;
    }
    /// Also records what the convolution buffer holds.
    void record_to(Recorder* recorder) override;
    const std::vector<OperationRecord>& operations() const override {
        return dispatcher_.operations();
    }
    std::vector<UnitEntry> units() override;
    std::vector<EnabledGroup> enabled_groups() override;
    std::vector<Mcif::Traffic> traffic() const override;
    std::vector<PortTraffic> ports() const override;
    std::vector<ActionCount> actions() const override;
    std::vector<OperationTraffic> operation_traffic() const override;

 private:
    /// Calls `use(name, unit, config)` for the units that not every NPU has; `config`: a member of
    /// NpuConfig.
    template <class Use>
    void with_optional_units(const Use& use) {
        use("bdma", bdma, &NpuConfig::bdma);
        use("rubik", rubik, &NpuConfig::rubik);
    }
    void connect(DmaPort& port);
    void connect_clients();

    const AddressMap map_;
    const DiagnosticLog& log_;
    Dispatcher dispatcher_;
    std::optional<SteadyGroups> steady_;
    std::optional<RepeatedOperations> repeated_;
};

}  // namespace npuscope
