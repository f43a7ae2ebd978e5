// SPDX-License-Identifier: Apache-2.0
// The configuration bus: a TLM-2.0 target for 32-bit register accesses, routed to the blocks'
// register files. Writes are posted: the delay of b_transport is the time to the handshake, the
// register changes when the write has crossed the bus. The delay of a read is the time to the next
// access. What an op-enable or an interrupt register sets off is told to one listener, the NPU's
// assembly. Not modelled: several hosts on the bus.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <systemc>
#include <tlm>

#include "models/base/finding.h"
#include "models/csb/csb_config.h"
#include "models/csb/csb_timing.h"
#include "models/csb/register_blocks.h"
#include "models/csb/register_file.h"
#include "models/link/channel.h"
#include "models/link/unit.h"

namespace npuscope {

/// What the assembly hears of the bus.
class CsbListener {
 public:
    virtual ~CsbListener() = default;
    virtual void register_written(RegisterFile& file, const WriteEffect& effect) = 0;
    /// Before a read, so that a register that the hardware computes can be brought up to date.
    virtual void register_about_to_be_read(RegisterFile& file) = 0;
};

class Csb : public Unit {
 public:
    Csb(const sc_core::sc_module_name& name, const CsbConfig& config, FindingLog& log);

    tlm_utils::simple_target_socket<Csb> socket{"socket"};

    void listen(CsbListener& listener) { listener_ = &listener; }
    /// A block by its published name, e.g. `NVDLA_CDMA`; an unknown name is a bug of ours.
    RegisterFile& file(std::string_view block_name);

    /// No write is on its way to a register.
    bool idle() const { return on_the_way_ == 0; }

 private:
    struct PostedWrite {
        RegisterFile* file = nullptr;
        std::uint32_t offset = 0;
        std::uint32_t value = 0;
        Cycles effect;
    };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void deliver(Activity& activity);
    void write(const PostedWrite& posted);
    std::uint32_t read(RegisterFile& file, std::uint32_t offset);
    RegisterFile* file_at(std::uint64_t address);

    const CsbConfig config_;
    FindingLog& log_;
    CsbQueue queue_;
    Channel<PostedWrite> posted_{"csb.posted_writes"};
    unsigned on_the_way_ = 0;
    CsbListener* listener_ = nullptr;
    std::deque<RegisterFile> files_;
};

}  // namespace npuscope
