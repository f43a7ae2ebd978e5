// SPDX-License-Identifier: Apache-2.0
// The configuration bus: a TLM-2.0 target for 32-bit register accesses, routed to the blocks' register
// files. What an op-enable or an interrupt register sets off is told to one listener, the NPU's assembly.
// Not modelled: the bus as a shared resource; an access costs its fixed cycles.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/finding.h"
#include "models/csb/csb_config.h"
#include "models/csb/register_blocks.h"
#include "models/csb/register_file.h"

namespace npuscope {

/// What the assembly hears of the bus.
class CsbListener {
   public:
    virtual ~CsbListener() = default;
    virtual void register_written(RegisterFile& file, const WriteEffect& effect) = 0;
    /// Before a read, so that a register that the hardware computes can be brought up to date.
    virtual void register_about_to_be_read(RegisterFile& file) = 0;
};

class Csb : public sc_core::sc_module {
   public:
    Csb(const sc_core::sc_module_name& name, const CsbConfig& config, FindingLog& log);

    tlm_utils::simple_target_socket<Csb> socket{"socket"};

    void listen(CsbListener& listener) { listener_ = &listener; }
    /// A block by its published name, e.g. `NVDLA_CDMA`; an unknown name is a bug of ours.
    RegisterFile& file(std::string_view block_name);

   private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void write(RegisterFile& file, std::uint32_t offset, std::uint32_t value);
    std::uint32_t read(RegisterFile& file, std::uint32_t offset);
    RegisterFile* file_at(std::uint64_t address);

    const CsbConfig config_;
    FindingLog& log_;
    CsbListener* listener_ = nullptr;
    std::deque<RegisterFile> files_;
};

}  // namespace npuscope
