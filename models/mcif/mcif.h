// SPDX-License-Identifier: Apache-2.0
// Memory interface: the DMA clients of the NPU share one read and one write channel to memory.
// Reads are streams that it issues beat by beat, in turns of its clients; each run of memory
// becomes one transaction at the time of its first beat. A write carries its bytes and happens when
// its last beat is taken. A target behind it answers with a delay and does not wait. If the port is
// transactional, each burst is a separate transaction, many in flight, answered at any time and in
// any order, and a client's beats arrive in order; memory that can answer for a past cycle is
// accessed late. The same unit serves as MCIF (first port) and CVIF (second port).
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/statistics.h"
#include "models/link/access_info.h"
#include "models/link/dma_port.h"
#include "models/mcif/mcif_timing.h"
#include "models/mcif/write_front.h"

namespace npuscope {

// One client's reads in the memory interface: passes the client's bursts to the channel and turns
// each run of memory into one transaction, whose answer is the memory's timing.

/// What a client had moved before each of its operations, in order.
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
    /// Repeats those from `from` to `to` under other names, after `more` had been moved.
    template <class Name>
    void add_again(std::size_t from, std::size_t to, const ClientTraffic& more, const Name& name) {
        for (std::size_t i = from; i < to; ++i) {
            Start start{name(all[i].operation), all[i].before};
            start.before += more;
            all.push_back(std::move(start));
        }
    }
};

class ReadLane : public ChannelSource {
 public:
    /// Sends a transaction to memory and returns when its answer arrives.
    using Transport = std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)>;
    /// Sends a request that memory answers later; `command`: when it left.
    using Ask = std::function<void(const ByteRun& bytes, Cycles command, const AccessInfo& info)>;

    /// `longest`: most beats of a burst. Runs are transported, or bursts are requested.
    ReadLane(unsigned client, Bytes bus_width, std::uint32_t longest, Transport transport);
    ReadLane(unsigned client, Bytes bus_width, std::uint32_t longest, Ask ask);
    ~ReadLane() override { payload_.clear_extension(&info_); }
    ReadLane(const ReadLane&) = delete;
    ReadLane& operator=(const ReadLane&) = delete;

    void open(ReadStream& stream, const StreamLabel& label);
    const ClientTraffic& traffic() const { return traffic_; }
    const OperationStarts& starts() const { return starts_; }
    OperationStarts& starts() { return starts_; }

    std::optional<ChannelBurst> next_burst() override;
    void stalled(Cycles cycles) override { stream_->stalled(cycles); }
    void arrived(std::span<const Cycles> times) override { stream_->arrived(times); }
    void ask(Cycles command, std::uint64_t beats) override;
    void beats_ready(std::span<Cycles> times) override;
    Cycles ready_after(std::uint64_t count) const override { return stream_->ready_after(count); }
    /// The current run ends this many beats earlier.
    void leave_out(std::uint64_t beats) { run_left_ -= std::min(beats, run_left_); }
    void add_state(Fingerprint& state) const {
        state.add(offered_.beats);
        state.add(gathered_.beats);
        state.add(place_ % longest_);
        state.add(std::min<std::uint64_t>(run_left_, longest_));
    }
    /// Counts what was moved without being simulated.
    void count_more(const ClientTraffic& traffic) { traffic_ += traffic; }
    void hold_back(std::span<Cycles> times, Cycles interval) override {
        stream_->hold_back(times, interval);
    }
    bool hold_more() { return stream_->hold_more(); }

 private:
    void begin_run(const ByteRun& run);
    /// The next beats of the stream that are ready together.
    std::optional<ChannelBurst> next_beats();

    Bytes bus_width_;
    std::uint32_t longest_;
    Transport transport_;
    Ask ask_;
    ReadStream* stream_ = nullptr;
    ClientTraffic traffic_;
    OperationStarts starts_;
    tlm::tlm_generic_payload payload_;
    AccessInfo info_;
    std::vector<std::uint8_t> scratch_;  // a foreign memory may fill it
    ByteRun run_{};
    Address next_beat_;  // of the run, if memory times or is accessed for each beat
    Cycles latency_;
    Cycles interval_{1};
    std::uint64_t place_ = 0;     // of the next beat, in beats of memory
    std::uint64_t run_left_ = 0;  // beats
    ChannelBurst offered_{};      // by the stream, not yet part of a burst
    ChannelBurst gathered_{};     // the next burst, as far as it is known
};

/// One burst on its way to memory and back, if each is a separate transaction.
struct BurstTransaction : tlm::tlm_generic_payload {
    explicit BurstTransaction(tlm::tlm_mm_interface& owner) : tlm_generic_payload(&owner) {
        set_extension(&info);
    }
    ~BurstTransaction() override { clear_extension(&info); }
    BurstTransaction(const BurstTransaction&) = delete;
    BurstTransaction& operator=(const BurstTransaction&) = delete;

    AccessInfo info;
    std::vector<std::uint8_t> bytes;
    std::uint64_t number = 0;  ///< among the client's reads, or its writes
};

/// The responses to a client's writes, which arrive in any order.
class WriteAnswers {
 public:
    /// Counts the next write as sent; returns its number.
    std::uint64_t send() { return sent_++; }
    std::uint64_t sent() const { return sent_; }
    void answer(std::uint64_t number, Cycles time);
    /// The first `writes` of them have been answered.
    bool has(std::uint64_t writes) const { return first_ >= writes; }
    /// When the last of these arrived, if recent.
    Cycles time_of(std::uint64_t writes) const;

 private:
    static constexpr std::size_t remembered = 1024;
    std::uint64_t sent_ = 0;
    std::uint64_t first_ = 0;                  // first without an answer
    std::deque<std::optional<Cycles>> later_;  // answers from there on
    std::deque<Cycles> times_;                 // of the last answers before, and of all before them
};

class Mcif : public sc_core::sc_module, public ReadIssuer, private tlm::tlm_mm_interface {
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
    /// The same per operation.
    struct OperationTraffic {
        std::string operation;
        std::string client;
        ClientTraffic moved;
    };
    std::vector<OperationTraffic> operation_traffic() const;
    /// What all clients moved over this port, in beats of width() bytes.
    ClientTraffic total() const;
    Bytes width() const { return config_.bus_width; }
    /// Clients compute with the values that reads bring.
    bool carries_values() const { return config_.transactions == McifTransactions::Values; }

    void open(unsigned client, ReadStream& stream, const StreamLabel& label) override;
    void wait_issued(Activity& activity, unsigned client, std::uint64_t beats,
                     const sc_core::sc_event* room, WaitKind kind) override;
    void leave_out(unsigned client, std::uint64_t beats, std::uint64_t of_run) override;
    void add_state(Fingerprint& state) const;
    /// Memory is accessed in bursts, each answered individually.
    bool asks_for_bursts() const { return config_.awaits_answers(); }
    std::optional<Cycles> reads_known_until() const { return reads_.known_until(); }
    /// What each client has read and written so far, one after the other.
    std::vector<ClientTraffic> moved() const;
    /// Adds traffic of the clients, in the same form, that was not simulated.
    void count_more(std::span<const ClientTraffic> traffic);
    struct Counted {
        std::vector<ClientTraffic> moved;     ///< as above
        std::vector<std::size_t> operations;  ///< of each, in the same order
    };
    Counted counted() const;
    /// Counts what was moved in between again, `times` times, by operations that `name` names from
    /// those of the first time and the repetition number, from 1.
    using LaterName = std::function<std::string(const std::string& first, std::uint64_t time)>;
    void count_again(const Counted& from, const Counted& to, std::uint64_t times,
                     const LaterName& name);
    /// If `looks_back()`, memory answers at once, for the cycle in which a transaction left: they
    /// then leave late, when their answers matter or before a write, and nothing is awaited.
    void leave_late_where(std::function<bool()> looks_back) { looks_back_ = std::move(looks_back); }
    bool awaits_answers() const override { return config_.awaits_answers() && !leaves_late(); }
    void room_made() override { issue_reads(); }
    /// Pieces of one beat each; only if the memory is ours, which accepts them together.
    bool takes_pieces(Address address, const Pieces& pieces) const override;
    std::uint64_t longest_burst() const override;
    std::uint64_t writes_sent(unsigned client) const override;
    Cycles wait_answered(Activity& writer, unsigned client, std::uint64_t writes) override;

 private:
    struct Client {
        Client(DmaPort& behind, unsigned index, Mcif& interface);
        DmaPort* port;
        unsigned number;
        std::string name;
        std::string room_name;
        ReadLane lane;
        ClientTraffic written;
        OperationStarts writes;
        std::uint64_t asked = 0;  ///< reads
        WriteAnswers write_answers{};
        std::unique_ptr<sc_core::sc_event> answered = std::make_unique<sc_core::sc_event>();
        // A waiting thread is woken when there are this many answers, not by each.
        static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t awaited_beats = nothing;
        std::uint64_t awaited_writes = nothing;
        const sc_core::sc_event& at_beats(std::uint64_t count) {
            awaited_beats = std::min(awaited_beats, count);
            return *answered;
        }
        const sc_core::sc_event& at_writes(std::uint64_t count) {
            awaited_writes = std::min(awaited_writes, count);
            return *answered;
        }
        WriteFront front{};
        Address request{};            ///< of the last write
        std::uint64_t last_beat = 0;  ///< of that request
        Cycles last_taken{};          ///< when it left
    };
    ReadLane make_lane(unsigned index);
    /// Waits until the first `beats` of the client's write are taken; returns when that was.
    Cycles wait_taken(const Client& client, std::uint64_t beats);

    // Of a transactional port.

    bool leaves_late() const { return looks_back_ && looks_back_(); }
    void issue_reads();
    /// Bursts of one write, each when its last beat is taken; or all with the last one.
    void send_bursts(Client& client, const tlm::tlm_generic_payload& payload,
                     const WriteChannel::Burst& burst);
    /// Waits until a write available at `leaves` may be in flight; returns since when.
    Cycles wait_for_write_place(Cycles leaves);
    void end_write(Cycles time);
    BurstTransaction& new_transaction(tlm::tlm_command command, const ByteRun& run,
                                      const AccessInfo& info);
    void send(BurstTransaction& transaction);
    void send_waiting();
    tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
    void finish(BurstTransaction& transaction, Cycles time);
    /// Wakes the thread of client `number` when what it waits for has arrived.
    void tell_answers(Client& client, unsigned number);
    void free(tlm::tlm_generic_payload* payload) override;

    unsigned add_client(DmaPort& port);
    void b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int client, tlm::tlm_generic_payload& payload);
    bool address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info);
    void read(unsigned client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void write(Client& client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    std::uint64_t beats_of(const tlm::tlm_generic_payload& payload) const;
    /// Delays a write by its way to the channel, if requests are cut into bursts there.
    void pass_front(Client& client, const tlm::tlm_generic_payload& payload, const AccessInfo& info,
                    WriteChannel::Burst& burst) const;
    /// Beats of a write, except one that it shares with the previous write of its request.
    std::uint64_t new_beats(Client& client, const tlm::tlm_generic_payload& payload,
                            const AccessInfo* info) const;
    /// Beats of the burst that ends with the last one: bursts begin at multiples of their length
    /// and with their request. source: NV_NVDLA_MCIF_WRITE_IG_bpt.v, ftran_size and ltran_size
    std::uint64_t gathered_beats(const tlm::tlm_generic_payload& payload, Address request) const;

    const McifConfig config_;
    DiagnosticLog& log_;
    std::deque<Client> clients_;
    ReadChannel reads_;
    WriteChannel writes_;
    Cycles beat_interval_{1};  // as of the memory's last answer
    const std::string channel_name_ = "read channel";
    std::deque<BurstTransaction> transactions_;
    std::vector<BurstTransaction*> free_;
    std::deque<BurstTransaction*> waiting_;       // to be sent
    BurstTransaction* being_accepted_ = nullptr;  // one at a time: the rule of the base protocol
    std::uint64_t writes_in_flight_ = 0;
    std::deque<Cycles> write_ends_;  // of those whose answer is known and in the future
    sc_core::sc_event write_answered_;
    bool write_awaited_ = false;  ///< a thread waits for that
    sc_core::sc_event next_read_;
    bool issuing_ = false;
    std::function<bool()> looks_back_;
    bool writes_late_ = false;  // memory that looks back has answered one with its latency
};

// Traffic of several ports as one entry per client.

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
