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

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/link/access_info.h"
#include "models/link/dma_port.h"
#include "models/mcif/mcif_timing.h"

namespace npuscope {

// One client's reads on their way through the memory interface: it hands the client's bursts to the
// channel and turns each run of memory into one transaction, which tells the memory's pace.

/// What a client had moved before each of its operations, in their order.
struct OperationStarts {
    struct Start {
        std::string operation;
        ClientTraffic before;
    };
    std::vector<Start> all;

    void note(const std::string* operation, const ClientTraffic& moved) {
        if (operation != nullptr && (all.empty() || all.back().operation != *operation)) {
            all.push_back({*operation, moved});
        }
    }
};

class ReadLane : public ChannelSource {
 public:
    /// Sends a transaction to memory and says when its answer is there.
    using Transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)>;

    /// `longest`: beats of a burst at most.
    ReadLane(unsigned client, Bytes bus_width, std::uint32_t longest, Transport transport);
    ~ReadLane() override { payload_.clear_extension(&info_); }
    ReadLane(const ReadLane&) = delete;
    ReadLane& operator=(const ReadLane&) = delete;

    void open(ReadStream& stream, const StreamLabel& label);
    const ClientTraffic& traffic() const { return traffic_; }
    const OperationStarts& starts() const { return starts_; }

    std::optional<ChannelBurst> next_burst() override;
    void stalled(Cycles cycles) override { stream_->stalled(cycles); }
    void arrived(std::span<const Cycles> times) override { stream_->arrived(times); }
    Cycles beat_ready(Cycles asked) override;
    Cycles ready_after(std::uint64_t count) const override { return stream_->ready_after(count); }

 private:
    void begin_run(const ByteRun& run);
    /// The next beats of the stream that are ready together.
    std::optional<ChannelBurst> next_beats();

    Bytes bus_width_;
    std::uint32_t longest_;
    Transport transport_;
    ReadStream* stream_ = nullptr;
    ClientTraffic traffic_;
    OperationStarts starts_;
    tlm::tlm_generic_payload payload_;
    AccessInfo info_;
    std::vector<std::uint8_t> scratch_;  // a foreign memory may fill it
    Address next_beat_;                  // of the run, where memory times each beat
    Cycles latency_;
    Cycles interval_{1};
    std::uint64_t place_ = 0;     // of the next beat, in beats of memory
    std::uint64_t run_left_ = 0;  // beats
    ChannelBurst offered_{};      // by the stream, not yet part of a burst
    ChannelBurst gathered_{};     // the next burst, as far as it is known
};

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
    /// The same of each operation.
    struct OperationTraffic {
        std::string operation;
        std::string client;
        ClientTraffic moved;
    };
    std::vector<OperationTraffic> operation_traffic() const;
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
        OperationStarts writes;
    };

    unsigned add_client(const std::string& name);
    void b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int client, tlm::tlm_generic_payload& payload);
    bool address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info);
    void read(unsigned client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void write(Client& client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::uint64_t beats_of(const tlm::tlm_generic_payload& payload) const;
    /// Beats of the burst that ends with the last one: bursts begin at multiples of their length
    /// and with their request. source: NV_NVDLA_MCIF_WRITE_IG_bpt.v, ftran_size and ltran_size
    std::uint64_t gathered_beats(const tlm::tlm_generic_payload& payload, Address request) const;

    const McifConfig config_;
    DiagnosticLog& log_;
    std::deque<Client> clients_;
    ReadChannel reads_;
    WriteChannel writes_;
    Cycles beat_interval_{1};  // as memory answered last
    const std::string channel_name_ = "read channel";
};

// Traffic of several ports as one entry a client.

inline void merge_traffic(std::vector<Mcif::Traffic>& merged,
                          const std::vector<Mcif::Traffic>& more) {
    for (const Mcif::Traffic& entry : more) {
        const auto same = std::ranges::find(merged, entry.client, &Mcif::Traffic::client);
        if (same == merged.end()) {
            merged.push_back(entry);
        } else {
            same->moved += entry.moved;
        }
    }
}

}  // namespace npuscope
