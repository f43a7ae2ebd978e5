// SPDX-License-Identifier: Apache-2.0
// The BDMA's registers as a queue: CFG_OP adds a command, a launch hands all that were added since
// the last one to the unit as group 0 or 1. STATUS holds the number of free places and the busy
// groups. source: nv_full RTL, NV_NVDLA_BDMA_csb.v
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/bdma/bdma.h"
#include "models/bdma/bdma_config.h"

namespace npuscope {

class BdmaQueue {
 public:
    BdmaQueue(const BdmaConfig& config, Bytes memory_atom, DiagnosticLog& log)
        : config_(config), memory_atom_(memory_atom), log_(log) {}

    /// Where the NPU has the unit.
    void attach(Bdma& unit) { unit_ = &unit; }
    /// A register of the block was written; the launch that it sets off, or null.
    std::shared_ptr<BdmaWork> written(std::string_view register_name, const RegisterValues& values);
    void done(unsigned group) { busy_.at(group) = false; }
    bool busy(unsigned group) const { return busy_.at(group); }
    /// What STATUS reads.
    std::uint32_t status() const;

 private:
    std::shared_ptr<BdmaWork> launch(unsigned group);
    void add_command(const RegisterValues& values);
    std::uint64_t waiting() const { return added_ - (unit_ == nullptr ? 0 : unit_->begun()); }
    void report(std::string id, std::string register_name, const std::string& problem,
                std::string remedy);

    const BdmaConfig config_;
    const Bytes memory_atom_;
    DiagnosticLog& log_;
    Bdma* unit_ = nullptr;
    std::vector<BdmaJob> gathered_;
    std::uint64_t added_ = 0;
    std::array<bool, 2> busy_{};
};

}  // namespace npuscope
