// SPDX-License-Identifier: Apache-2.0
// Memory interface: the DMA clients of the NPU share one read and one write channel to memory. A
// client is held until its request has been issued; latency comes back as the transaction's delay.
// The same unit serves as MCIF (first port) and CVIF (second port). Not modelled: bursts across 4
// KiB, reordering.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <string>
#include <systemc>
#include <tlm>

#include "models/base/finding.h"
#include "models/base/statistics.h"
#include "models/link/dma_port.h"
#include "models/mcif/mcif_config.h"
#include "models/mcif/mcif_timing.h"

namespace npuscope {

class Mcif : public sc_core::sc_module {
 public:
    Mcif(const sc_core::sc_module_name& name, const McifConfig& config, FindingLog& log);

    tlm_utils::simple_initiator_socket<Mcif> memory{"memory"};

    /// Adds a client; `socket` is one of its two.
    template <class Socket>
    void connect(const std::string& client, Socket& socket) {
        Client& added = add_client(client);
        socket.bind(added.socket);
    }

    struct Traffic {
        std::string client;
        ClientTraffic moved;
    };
    std::vector<Traffic> traffic() const;

 private:
    struct Client {
        Client(const std::string& client_name, unsigned index);
        std::string name;
        tlm_utils::simple_target_socket_tagged<Mcif> socket;
        ClientTraffic traffic;
    };

    Client& add_client(const std::string& name);
    void b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int client, tlm::tlm_generic_payload& payload);
    bool address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info);
    void hold_read(std::uint64_t beats, std::uint64_t beat_ticks);
    void hold_write(std::uint64_t beats, Cycles beat_interval);
    std::uint64_t beats_of(const tlm::tlm_generic_payload& payload) const;

    const McifConfig config_;
    FindingLog& log_;
    std::deque<Client> clients_;
    ReadArbiter arbiter_;
    sc_core::sc_event flows_changed_;
    Cycles write_free_;
};

}  // namespace npuscope
