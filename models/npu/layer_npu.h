// SPDX-License-Identifier: Apache-2.0
// The assembly of an NPU that runs whole layers: a TINPU with a memory interface. A host launches
// layers directly, for no register map is public, or through the port, whose registers are ours.
#pragma once

#include <systemc>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/mcif/mcif.h"
#include "models/tinpu/tinpu.h"
#include "models/tinpu/tinpu_port.h"

namespace npuscope {

class LayerNpu : public sc_core::sc_module {
 public:
    struct Config {
        McifConfig mcif;
        TinpuConfig engine;
    };
    LayerNpu(const sc_core::sc_module_name& name, const Config& config, DiagnosticLog& log);

    Mcif mcif;
    Tinpu tinpu;
    TinpuPort port;  ///< for a host that knows registers and descriptors

    /// One entry a client; without the port's where it was not used.
    std::vector<Mcif::Traffic> traffic() const;
};

}  // namespace npuscope
