// SPDX-License-Identifier: Apache-2.0
// What every TLM-2.0 transaction carries in addition to address and bytes: the requester, the
// surface and operation, and in return the timing of the memory's channel. A foreign memory that
// does not know this extension still works: its answer is then the transaction's own delay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tlm>

#include "models/base/quantity.h"

namespace npuscope {

// Times the read beats of a memory whose latency and interval are not fixed, such as a DRAM. The
// port asks beat by beat, in issue order; data comes back in that order.

class BeatTimer {
 public:
    BeatTimer() = default;
    BeatTimer(const BeatTimer&) = delete;
    BeatTimer& operator=(const BeatTimer&) = delete;
    virtual ~BeatTimer() = default;

    /// First cycle in which a beat of `beat` bytes requested in `asked` can be on the port.
    virtual Cycles read_beat(Address address, Bytes beat, Cycles asked) = 0;
    /// The same for consecutive beats from `address` on, requested at `times`; each time becomes
    /// the first cycle of its beat.
    virtual void read_beats(Address address, Bytes beat, std::span<Cycles> times) {
        for (Cycles& time : times) {
            time = read_beat(address, beat, time);
            address = address + beat;
        }
    }
};

/// Functional: values only, no time, without checking whether they were ever written. Claim: values
/// that are needed, and the bytes will be read again in time; a write to them before that is a race
/// in the driver. Timed: moves in simulated time. Release: claimed bytes that no timed read will
/// fetch, because it was skipped; they do not move.
enum class AccessKind { Functional, Claim, Timed, Release };

struct AccessInfo : tlm::tlm_extension<AccessInfo> {
    AccessKind kind = AccessKind::Timed;
    /// Keeps the bytes alive until they move: they may move later, in access order. Null: they move
    /// now.
    const std::shared_ptr<std::uint8_t[]>* late = nullptr;
    unsigned client = 0;  ///< index of the requesting port; the interface fills it in
    const std::string* unit = nullptr;
    const std::string* surface = nullptr;
    const std::string* operation = nullptr;
    Cycles first_beat;  ///< of a timed write: its first beat leaves the client
    Cycles beat_step;   ///< of a timed write: from one beat to the next
    Cycles last_beat;   ///< of a timed write: its last bytes are available; 0: after the steps
    Address request;    ///< of a timed write: start of the request of its last beat
    /// Of a timed write: when each beat is available, if not evenly spaced; then: when it left.
    std::span<Cycles> beats{};
    Cycles asked;             ///< of a separate transaction: when it left; now, or just before
    int port = -1;            ///< of a request to outside memory: the memory's socket
    Cycles read_latency;      ///< answered by the memory; of a separate transaction: for this one
    Cycles beat_interval{1};  ///< answered by the memory
    /// Answered by a memory that times each read beat individually, instead of `read_latency`.
    BeatTimer* timer = nullptr;

    tlm::tlm_extension_base* clone() const override { return new AccessInfo(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const AccessInfo&>(other);
    }
};

/// Calls `use(address, data, bytes)` for each run of bytes enabled by a transaction's byte enables,
/// if it has any.
template <class Use>
void for_each_enabled(const tlm::tlm_generic_payload& payload, const Use& use) {
    const std::uint64_t length = payload.get_data_length();
    const std::uint8_t* const enables = payload.get_byte_enable_ptr();
    if (enables == nullptr) {
        use(Address(payload.get_address()), payload.get_data_ptr(), Bytes(length));
        return;
    }
    const std::uint64_t pattern = payload.get_byte_enable_length();
    for (std::uint64_t step = 0; step < length; step += pattern) {
        const std::span enabled(enables, std::min(pattern, length - step));
        for (auto begin = enabled.begin();;) {
            begin = std::find(begin, enabled.end(), TLM_BYTE_ENABLED);
            if (begin == enabled.end()) {
                break;
            }
            const auto end = std::find(begin, enabled.end(), TLM_BYTE_DISABLED);
            const auto offset = step + static_cast<std::uint64_t>(begin - enabled.begin());
            use(Address(payload.get_address() + offset), payload.get_data_ptr() + offset,
                Bytes(static_cast<std::uint64_t>(end - begin)));
            begin = end;
        }
    }
}

}  // namespace npuscope
