// SPDX-License-Identifier: Apache-2.0
// Memory interface: the DMA clients of the NPU share one read and one write channel to memory.
// Reads are streams that it issues beat by beat in its clients' turns; each run of memory becomes
// one transaction at the time of its first beat. A write carries its bytes and happens when its
// last beat is taken. The same unit serves as MCIF (first port) and CVIF (second port). Not
// modelled: bursts across 4 KiB, reordering. A target behind it answers with a delay and does not
// wait.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <string>
#include <systemc>
#include <tlm>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/link/dma_port.h"
#include "models/mcif/mcif_config.h"
#include "models/mcif/mcif_timing.h"
#include "models/mcif/read_lane.h"

namespace npuscope {

class Mcif : public sc_core::sc_module, public ReadIssuer {
 public:
    Mcif(const sc_core::sc_module_name& name, const McifConfig& config, DiagnosticLog& log);

    tlm_utils::simple_initiator_socket<Mcif> memory{"memory"};
    tlm_utils::multi_passthrough_target_socket<Mcif> clients{"clients"};

    /// Adds a client behind its first or its second socket. Clients have their turns in the order
    /// in which they are added.
    void connect(DmaPort& port);
    void connect_secondary(DmaPort& port);

    struct Traffic {
        std::string client;
        ClientTraffic moved;
    };
    std::vector<Traffic> traffic() const;
    /// What all clients moved over this port, whose beats have so many bytes.
    ClientTraffic total() const;
    Bytes width() const { return config_.bus_width; }

    void open(unsigned client, ReadStream& stream, const StreamLabel& label) override;
    void wait_issued(Activity& activity, unsigned client, std::uint64_t beats,
                     const sc_core::sc_event* room) override;

 private:
    struct Client {
        Client(const std::string& client_name, unsigned index, Mcif& interface);
        std::string name;
        std::string room_name;
        ReadLane lane;
        ClientTraffic written;
    };

    unsigned add_client(const std::string& name);
    void b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int client, tlm::tlm_generic_payload& payload);
    bool address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info);
    void read(unsigned client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void write(Client& client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::uint64_t beats_of(const tlm::tlm_generic_payload& payload) const;

    const McifConfig config_;
    DiagnosticLog& log_;
    std::deque<Client> clients_;
    ReadChannel reads_;
    WriteChannel writes_;
    Cycles beat_interval_{1};  // as memory answered last
    const std::string channel_name_ = "read channel";
};

}  // namespace npuscope
