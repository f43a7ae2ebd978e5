// SPDX-License-Identifier: Apache-2.0
// The configuration bus: a TLM-2.0 target for 32-bit register accesses, routed to the blocks'
// register files. Writes are posted: the delay of b_transport is the time to the handshake; the
// register changes when the write has crossed the bus. The delay of a read is the time to the next
// access. A host may run ahead of time with the delay annotated. What an op-enable or an interrupt
// register triggers is reported to one listener, the NPU's assembly. Only writes that trigger
// something wake the bus; the others are applied when observed, which is indistinguishable from
// applying each in its own cycle. Not modelled: several hosts on the bus.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <systemc>
#include <tlm>

#include "models/base/diagnostic.h"
#include "models/csb/csb_timing.h"
#include "models/csb/register_file.h"
#include "models/link/unit.h"

namespace npuscope {

/// What the bus reports to the assembly.
class CsbListener {
 public:
    virtual ~CsbListener() = default;
    /// `time` may be in the past unless the write triggers something.
    virtual void register_written(RegisterFile& file, const WriteEffect& effect, Cycles time) = 0;
    /// Before a read, so that a register that the hardware computes can be brought up to date.
    virtual void register_about_to_be_read(RegisterFile& file) = 0;
    /// Until when a register that was just read keeps its value whatever happens; `time` itself if
    /// nothing is known.
    virtual Cycles register_holds_until(const RegisterFile& file, const RegisterRow& row,
                                        Cycles time) const = 0;
};

/// Attached to a read that the host repeats until `(value & mask) == (expected & mask)`: the bus
/// then times reads that cannot succeed yet by itself.
struct PollExtension : tlm::tlm_extension<PollExtension> {
    std::uint32_t mask = 0;
    std::uint32_t expected = 0;
    unsigned reads_left = 0;  ///< in: reads before the host gives up; out: reads left

    tlm_extension_base* clone() const override { return new PollExtension(*this); }
    /// It is on the host's stack: a payload that is destroyed while it carries the extension, as
    /// when the host's thread is killed within a poll, must not free it.
    void free() override {}
    void copy_from(const tlm_extension_base& other) override {
        *this = static_cast<const PollExtension&>(other);
    }
    bool met(std::uint32_t value) const { return (value & mask) == (expected & mask); }
};

class Csb : public Unit {
 public:
    /// `blocks` outlive the bus.
    Csb(const sc_core::sc_module_name& name, const CsbConfig& config,
        std::span<const RegisterBlock> blocks, DiagnosticLog& log);

    tlm_utils::simple_target_socket<Csb> socket{"socket"};

    void listen(CsbListener& listener) { listener_ = &listener; }
    /// A block by its published name, e.g. `NVDLA_CDMA`; an unknown name is a bug of the simulator.
    RegisterFile& file(std::string_view block_name);

    const std::deque<RegisterFile>& files() const { return files_; }

    /// Applies the writes that have reached their register by now.
    void settle();
    /// No write is in flight to a register.
    bool idle() {
        settle();
        return posted_.empty();
    }
    /// No write that triggers something is in flight.
    bool untriggered() const { return triggers_.empty(); }
    /// To be called while idle.
    void add_state(Fingerprint& state) const { queue_.add_state(state); }

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
    void post(const PostedWrite& posted);
    /// Waits until the read reaches the register; while polling, until the first read that may see
    /// another value.
    std::uint32_t read_after(RegisterFile& file, std::uint32_t offset, Cycles presented,
                             PollExtension* poll);
    std::uint32_t read(RegisterFile& file, std::uint32_t offset);
    Cycles read_cycles(const RegisterBlock& block) const;
    Cycles read_way(const RegisterBlock& block) const;
    RegisterFile* file_at(std::uint64_t address);

    const CsbConfig config_;
    DiagnosticLog& log_;
    CsbQueue queue_;
    std::optional<Cycles> written_;  // when the last write was accepted
    std::deque<PostedWrite> posted_;
    std::deque<Cycles> triggers_;  // effects of posted writes that trigger something
    sc_core::sc_event trigger_posted_;
    CsbListener* listener_ = nullptr;
    std::deque<RegisterFile> files_;
};

}  // namespace npuscope
