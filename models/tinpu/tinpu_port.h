// SPDX-License-Identifier: Apache-2.0
// The host's side of a TINPU: a TLM-2.0 target for 32-bit accesses of its registers.
// A start reads the descriptor from memory and launches the layer; layers may be launched while
// others are under way and end in order. An access takes a cycle. None of this is the vendor's,
// whose interface is not public.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/link/surface_port.h"
#include "models/link/unit.h"
#include "models/tinpu/tinpu.h"

namespace npuscope {

// Registers through which a host starts a TINPU's layers. This programming interface is our own,
// for test benches: the vendor's is not public.
//
//     DESCRIPTOR_LOW, _HIGH   byte address of a layer's descriptor (tinpu_descriptor.h)
//     START                   writing 1 launches the layer that the descriptor names
//     STATUS                  layers under way, and whether any
//     INTERRUPT_STATUS        DONE: a layer has ended; REFUSED: a descriptor was not valid.
//                             Writing ones clears.
//     INTERRUPT_MASK          ones mask
//     LAYERS_DONE             layers that ended since reset

inline constexpr std::uint32_t tinpu_identity = 0x544e5055;  ///< "TNPU"

const RegisterBlock& tinpu_registers();

class TinpuPort : public Unit {
 public:
    TinpuPort(const sc_core::sc_module_name& name, Tinpu& tinpu, Bytes bus_width,
              DiagnosticLog& log);

    /// May stay unbound where the host launches layers directly.
    tlm_utils::simple_target_socket_optional<TinpuPort> socket{"socket"};
    /// High while an unmasked interrupt is pending. Host and engine drive it, both to the value
    /// that the registers determine.
    sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> interrupt{"interrupt"};
    RunReader descriptor{"tinpu_descriptor", "tinpu", "tinpu_descriptor"};

    /// Layers of this port are launched without values from now on.
    void leave_out_values() { values_ = false; }

 private:
    /// Bits of INTERRUPT_STATUS and INTERRUPT_MASK.
    enum Interrupt : std::uint32_t { Done = 1, Refused = 2 };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    /// False if there is no such register.
    bool access(tlm::tlm_generic_payload& payload, bool may_change);
    std::uint32_t read(const RegisterRow& row) const;
    void write(const RegisterRow& row, std::uint32_t value);
    void launch(Activity& activity);
    void layer_ended();
    void raise(Interrupt which);
    void update_line() { interrupt.write((pending_ & ~mask_) != 0); }

    Tinpu& tinpu_;
    const Bytes bus_width_;
    DiagnosticLog& log_;
    bool values_ = true;
    Channel<Address> starts_{"tinpu.starts"};
    Address descriptor_at_;
    std::uint32_t pending_ = 0;
    std::uint32_t mask_ = 0;
    std::uint32_t layers_done_ = 0;
    std::uint64_t under_way_ = 0;  ///< layers that this port launched and that have not ended
};

}  // namespace npuscope
