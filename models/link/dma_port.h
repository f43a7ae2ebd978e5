// SPDX-License-Identifier: Apache-2.0
// A unit's access to memory: one TLM-2.0 initiator socket per DMA client. At launch the unit
// fetches the values of its operands without time; later it moves the same bytes in simulated time:
// reads as a stream that the interface issues by itself, writes in runs that carry the bytes. Data
// that a timed read brings is ignored: it was fetched already. Where the interface waits for the
// memory's responses, a beat counts as issued when its arrival is known; then the values may be
// those of the timed reads, and a fetch sees what has arrived so far.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/base/quantity.h"
#include "models/link/access_info.h"
#include "models/link/activity.h"
#include "models/link/arrived_bytes.h"
#include "models/link/read_stream.h"

namespace npuscope {

// What the memory interface offers a DMA in addition to its socket: it issues a stream of reads by
// itself, arbitrating beat by beat between all clients, and the DMA waits for the times that it
// needs.

/// Names what a stream is for, in findings. The strings must outlive the stream.
struct StreamLabel {
    const std::string* unit = nullptr;
    const std::string* surface = nullptr;
    const std::string* operation = nullptr;
};

/// A run of memory in which only the first bytes of each step are written; the last step ends after
/// them. `step` 0: all bytes.
struct Pieces {
    Bytes step;
    Bytes written;
};

class ReadIssuer {
 public:
    virtual ~ReadIssuer() = default;

    /// Memory answers each request individually, later. room_made then reports what a stream's
    /// consumer has taken, since the interface cannot look back.
    virtual bool awaits_answers() const { return false; }
    virtual void room_made() {}
    /// Most beats of a read that are requested together: none of them before all may be.
    virtual std::uint64_t longest_burst() const { return 1; }
    /// A write from `address` on may consist of such pieces, each leaving when it is available.
    virtual bool takes_pieces(Address /*address*/, const Pieces& /*pieces*/) const { return false; }
    /// Number of the client's write requests so far.
    virtual std::uint64_t writes_sent(unsigned /*client*/) const { return 0; }
    /// When the first `writes` of them were answered; waits for it.
    virtual Cycles wait_answered(Activity& /*writer*/, unsigned /*client*/,
                                 std::uint64_t /*writes*/) {
        return Cycles(0);
    }

    /// Begins to issue a stream; the client's previous stream has been issued completely. No burst
    /// is ready in this cycle or before.
    virtual void open(unsigned client, ReadStream& stream, const StreamLabel& label) = 0;
    /// Returns when the first `beats` beats of the client's stream have been issued: their arrival
    /// is known then. `room`: notified when another stream gives way to one that has to wait; null
    /// if the caller itself gives way. `kind`: what the wait is counted as.
    virtual void wait_issued(Activity& activity, unsigned client, std::uint64_t beats,
                             const sc_core::sc_event* room, WaitKind kind) = 0;
    /// The client's open stream ends this many beats earlier, `of_run` of them in the run of memory
    /// that is being read; none of them has been requested.
    virtual void leave_out(unsigned client, std::uint64_t beats, std::uint64_t of_run) = 0;
};

/// Names what a request is for, in findings and statistics.
struct Purpose {
    std::string surface;
    std::string operation;
    bool secondary = false;  ///< through the second port (SRAM), where the NPU has one
    bool values = true;      ///< false: a fetch brings nothing, only time is simulated
};

/// Bytes that are available once a value thread has got that far.
struct LateBytes {
    std::shared_ptr<std::uint8_t[]> held;
    std::size_t size = 0;

    LateBytes() = default;
    /// To be written before they are read.
    explicit LateBytes(std::size_t bytes)
        : held(std::make_shared_for_overwrite<std::uint8_t[]>(bytes)), size(bytes) {}
    std::span<std::uint8_t> all() const { return {held.get(), size}; }
};

/// For a write: when the response arrives, or which requests it answers.
struct WriteResponse {
    Cycles time;
    ReadIssuer* issuer = nullptr;  ///< null: the time is known
    unsigned client = 0;
    std::uint64_t writes = 0;
};

/// Bytes on their way to memory; beat i leaves the unit at `first` + i * `interval`, or now.
struct OutgoingRun {
    Address address;
    std::span<const std::uint8_t> bytes;
    Cycles first{};
    Cycles interval{};
    /// When the last bytes are available, if bus beats hold more than what leaves at once.
    Cycles last{};
    /// Start of the request of its last beat, if not the run's start.
    std::optional<Address> request{};
    Pieces pieces{};
    /// The bytes are a part of these. Null: they are available now, only during the write.
    const LateBytes* late = nullptr;
    /// When each beat is available, if not evenly spaced; becomes when it has left the client.
    std::span<Cycles> beats{};
};

class DmaPort {
 public:
    /// `client` as in traffic counts; `name` of the sockets if a client has two ports.
    DmaPort(const std::string& client, const std::string& unit, const std::string& name = {});
    DmaPort(const DmaPort&) = delete;
    DmaPort& operator=(const DmaPort&) = delete;

    tlm_utils::simple_initiator_socket<DmaPort> primary;
    /// Makes the socket of a second port, where the NPU has one; without it all requests use the
    /// first.
    tlm_utils::simple_initiator_socket<DmaPort>& add_secondary();

    /// Values now, no time. The bytes are claimed until a timed read of them: an earlier write is a
    /// race. Where values arrive with the reads: those that have arrived.
    void fetch(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose);
    /// The same into a part of `all`, available once the value thread has got that far.
    void fetch_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                    const Purpose& purpose);
    /// Values now, even where others arrive with the reads: what depends on them is known at
    /// launch.
    void fetch_ahead(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose);
    /// Values of bytes that are fetched too but hardly ever needed: neither claimed nor reported if
    /// never written.
    void peek_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                   const Purpose& purpose);
    /// Claimed bytes of the open stream that are left out of it are no longer expected.
    void release(const ByteRun& run);
    /// Writes bytes now, without time: their timed write is skipped.
    void store(Address address, const LateBytes& all, std::span<std::uint8_t> part,
               const Purpose& purpose);
    /// Begins a stream of reads that the interface issues by itself; the previous one has been
    /// issued completely.
    void open(ReadStream& stream, const Purpose& purpose);
    /// Returns when the first `beats` beats of the stream have been issued. `room`: notified when
    /// another stream gives way to this one.
    void wait_issued(Activity& reader, std::uint64_t beats, const sc_core::sc_event* room = nullptr,
                     WaitKind kind = WaitKind::Blocked);
    /// Issues one read; returns when the interface has accepted the whole request. The result is
    /// the time at which the last byte arrives, at least `latency` later.
    Cycles read(Activity& reader, Address address, Bytes bytes, const Purpose& purpose);
    /// Pieces from an address on may be written as one run, `interval` apart.
    bool takes_pieces(Address address, const Pieces& pieces, const Purpose& purpose) const {
        return door(purpose).issuer->takes_pieces(address, pieces);
    }
    /// The open stream has this many fewer beats than announced, `of_run` of them in its run.
    void leave_out(std::uint64_t beats, std::uint64_t of_run) {
        const Door& way_out = door(stream_purpose_);
        way_out.issuer->leave_out(way_out.client, beats, of_run);
    }
    /// Writes bytes; returns when the interface has accepted the last of them.
    WriteResponse write(Activity& writer, const OutgoingRun& run, const Purpose& purpose);
    /// The time of a response, and of those to all earlier writes of the port; waits if not known
    /// yet.
    static Cycles response_time(Activity& writer, const WriteResponse& response) {
        return response.issuer == nullptr
                   ? response.time
                   : response.issuer->wait_answered(writer, response.client, response.writes);
    }
    /// How many beats may be waited for at once: all of `count`, or what one look may cover if they
    /// are known only on arrival.
    std::uint64_t look_ahead(std::uint64_t count) const { return awaits_answers() ? 1 : count; }
    /// Of the open stream.
    std::uint64_t longest_burst() const { return longest_burst(stream_purpose_); }
    std::uint64_t longest_burst(const Purpose& purpose) const {
        return door(purpose).issuer->longest_burst();
    }
    /// The consumer of the open stream has taken some of it.
    void room_made() {
        if (awaits_answers()) {
            door(stream_purpose_).issuer->room_made();
        }
    }

    const std::string& client() const { return client_; }
    /// Number of the client, the same in every interface.
    unsigned number() const { return doors_[0].client; }
    /// The interface at the other end of a socket, and this port's number there.
    struct Door {
        ReadIssuer* issuer = nullptr;
        unsigned client = 0;
    };
    /// From now on values are those that timed reads bring.
    void take_values_from_reads() { values_arrive_ = true; }
    bool values_arrive() const { return values_arrive_; }
    /// These bytes arrived with a timed read.
    void bring(Address address, std::span<const std::uint8_t> bytes) {
        if (values_arrive_ && stream_purpose_.values) {
            arrived_.put(address, bytes);
        }
    }

    bool awaits_answers() const {
        return doors_[0].issuer != nullptr && doors_[0].issuer->awaits_answers();
    }
    void attach_primary(const Door& door) { doors_[0] = door; }
    void attach_secondary(const Door& door) { doors_[1] = door; }

 private:
    struct Transaction {
        Transaction() { payload.set_extension(&info); }
        ~Transaction() { payload.clear_extension(&info); }
        Transaction(const Transaction&) = delete;
        Transaction& operator=(const Transaction&) = delete;
        void prepare(tlm::tlm_command command, Address address, std::size_t bytes,
                     const Purpose& purpose);
        tlm::tlm_generic_payload payload;
        AccessInfo info;
    };
    tlm::tlm_fw_transport_if<>& way(const Purpose& purpose);
    const Door& door(const Purpose& purpose) const;
    /// `there`: when the whole request is available; from then on the interface blocks the unit.
    Cycles transport(Activity& activity, const Purpose& purpose, Cycles there);
    void read_late(Address address, const LateBytes& all, std::span<std::uint8_t> part,
                   const Purpose& purpose, AccessKind kind);
    void transport_now(tlm::tlm_command command, Address address, std::span<std::uint8_t> bytes,
                       const Purpose& purpose, AccessKind kind, const LateBytes* late = nullptr);
    /// TLM-2.0's byte enables of a run of pieces: those of one step, repeated.
    void enable(const Pieces& pieces);

    std::string client_;
    std::string unit_;
    std::string socket_name_;
    std::optional<tlm_utils::simple_initiator_socket<DmaPort>> secondary_;
    Transaction timed_;
    Transaction untimed_;  // also while a timed one is under way
    std::array<Door, 2> doors_{};
    Purpose stream_purpose_;  // of the open stream
    ArrivedBytes arrived_;    // of that stream
    bool values_arrive_ = false;
    std::vector<std::uint8_t> enables_;  // of a step of pieces
    std::vector<std::uint8_t> scratch_;  // what a timed read brings; a foreign target may fill it
};

}  // namespace npuscope
