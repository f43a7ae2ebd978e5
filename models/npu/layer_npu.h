// SPDX-License-Identifier: Apache-2.0
// The assembly of an NPU that runs whole layers: a TINPU behind a memory interface. Its host
// launches layers directly, for no register map is public.
#pragma once

#include <systemc>
#include <vector>

#include "models/base/finding.h"
#include "models/mcif/mcif.h"
#include "models/tinpu/tinpu.h"

namespace npuscope {

class LayerNpu : public sc_core::sc_module {
 public:
    struct Config {
        McifConfig mcif;
        TinpuConfig engine;
    };
    LayerNpu(const sc_core::sc_module_name& name, const Config& config, FindingLog& log);

    Mcif mcif;
    Tinpu tinpu;

    /// One entry a client.
    std::vector<Mcif::Traffic> traffic() const;
};

}  // namespace npuscope
