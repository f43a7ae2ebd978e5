// SPDX-License-Identifier: Apache-2.0
// The simulated memory: a TLM-2.0 target over sparse pages, with regions, the timing of each
// region's channels, DMI and debug transport. It checks: an access outside every region, a read of
// uninitialised bytes and a write to an operand in use become findings. Banks, rows and refresh are
// modelled if a region has a DRAM.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/fingerprint.h"
#include "models/base/quantity.h"
#include "models/base/value_thread.h"
#include "models/link/access_info.h"
#include "models/memory/claims.h"
#include "models/memory/dram_controller.h"
#include "models/memory/drawn_latency.h"
#include "models/memory/memory_config.h"
#include "models/memory/shadow_memory.h"
#include "models/memory/shared_bus.h"
#include "models/memory/sparse_memory.h"

namespace npuscope {

/// Bytes that are kept elsewhere: in a test bench, or in a driver's own memory.
class ByteStore {
 public:
    ByteStore() = default;
    ByteStore(const ByteStore&) = delete;
    ByteStore& operator=(const ByteStore&) = delete;
    virtual ~ByteStore() = default;
    virtual void write(Address address, std::span<const std::uint8_t> bytes) = 0;
    virtual void read(Address address, std::span<std::uint8_t> bytes) = 0;
};

/// An outside memory, reached through the ports of an NPU: 0 is the first one. It answers like a
/// TLM-2.0 target: with a status and a delay, without waiting.
class ForeignMemory {
 public:
    ForeignMemory() = default;
    ForeignMemory(const ForeignMemory&) = delete;
    ForeignMemory& operator=(const ForeignMemory&) = delete;
    virtual ~ForeignMemory() = default;
    virtual void access(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) = 0;
    /// Returns how many bytes it moved.
    virtual unsigned debug(int port, tlm::tlm_generic_payload& payload) = 0;
    /// The same without an answer now: Memory::answer is called later, with the status set.
    virtual void begin(int port, tlm::tlm_generic_payload& payload) = 0;
};

/// When the bytes of one region are available, for all who share it: banks and rows of a DRAM, or a
/// bandwidth. The bytes of every instance are in a separate part of a DRAM.
class RegionTiming {
 public:
    RegionTiming(const MemoryConfig& config, const MemoryRegionConfig& region,
                 const MemorySharing& sharing);

    /// The region has a fixed latency and each port has its own beats.
    bool is_fixed() const { return !dram_ && buses_.empty() && spread_ == Cycles(0); }
    /// Answers do not depend on addresses.
    bool is_uniform() const { return !dram_ && spread_ == Cycles(0); }
    /// Everything that answers to later requests depend on, if uniform.
    void add_state(Fingerprint& state) const {
        for (const SharedBus& bus : buses_) {
            bus.add_state(state);
        }
    }
    /// First cycle in which the bytes requested in `asked` can be on the port.
    Cycles read(std::size_t instance, Address address, Bytes bytes, Cycles asked) {
        const Cycles ready = dram_ ? dram_->read(shifted(instance, address), bytes, asked)
                                   : passed(0, bytes, asked) + latency_;
        return ready + drawn(address, false);
    }
    /// The same for consecutive pieces, of which `first` is the first, requested in these cycles.
    void read_each(std::size_t instance, const ByteRun& first, std::span<Cycles> times);
    /// Cycle of the response to a write whose last beat was sent in `sent`, each of the others
    /// `step` cycles before the next.
    Cycles write(std::size_t instance, const ByteRun& run, Cycles sent, Cycles step);
    const DramController* dram() const { return dram_.get(); }

 private:
    Address shifted(std::size_t instance, Address address) const;
    /// How much later an answer for a beat comes.
    Cycles drawn(Address address, bool write) const {
        return spread_ == Cycles(0)
                   ? Cycles(0)
                   : Cycles(drawn_latency(spread_.value, seed_, address.value, write));
    }
    /// When the last of the beats sent this way, due in `answered`, is answered: answers are in
    /// order, one per cycle.
    Cycles drawn_answer(std::size_t instance, const ByteRun& run, Cycles answered, Cycles step);
    /// Cycle in which bytes requested in `asked` have passed the shared bus `bus`.
    Cycles passed(std::size_t bus, Bytes bytes, Cycles asked) {
        return buses_.empty() ? asked : buses_[bus].pass(bytes, asked) - Cycles(1);
    }

    Address base_;
    Bytes size_;
    Bytes part_;  ///< part of the region for each instance
    Cycles latency_;
    Cycles spread_;
    std::uint64_t seed_;
    Bytes beat_;
    std::vector<Cycles> answers_free_;  ///< of each instance: the first cycle without a response
    std::unique_ptr<DramController> dram_;
    std::vector<SharedBus> buses_;  ///< one for both directions, or one for each
};

/// The timing of all regions of a memory.
class MemoryTiming {
 public:
    /// ConfigError with the field of a DRAM whose parts do not fit each other or its region.
    explicit MemoryTiming(const MemoryConfig& config, const MemorySharing& sharing = {});
    RegionTiming& region(std::size_t index) { return regions_[index]; }
    const RegionTiming& region(std::size_t index) const { return regions_[index]; }
    /// As in RegionTiming, for all regions.
    bool is_uniform() const { return std::ranges::all_of(regions_, &RegionTiming::is_uniform); }
    void add_state(Fingerprint& state) const {
        for (const RegionTiming& region : regions_) {
            region.add_state(state);
        }
    }

 private:
    std::vector<RegionTiming> regions_;
};

class Memory : public sc_core::sc_module {
 public:
    Memory(const sc_core::sc_module_name& name, const MemoryConfig& config, DiagnosticLog& log);
    /// The memory of one of several NPUs: its own bytes, time shared with the others.
    Memory(const sc_core::sc_module_name& name, const MemoryConfig& config, DiagnosticLog& log,
           std::shared_ptr<MemoryTiming> timing, std::size_t instance);

    /// One binding per port of the NPU, or of another initiator.
    tlm_utils::multi_passthrough_target_socket<Memory> socket{"socket"};

    /// Uninitialised bytes are 0, and reading them is not a fault.
    void start_zeroed() { zeroed_ = true; }
    /// Neither uninitialised bytes nor races are checked; untouched memory is 0.
    void leave_out_shadow() { shadow_.reset(); }
    /// The bytes are those of `store`, which outlives this; none is uninitialised. Timing stays.
    void back_by(ByteStore& store) {
        store_ = &store;
        start_zeroed();
    }
    /// Bytes and time are those of `outside`, which outlives this; a wrong answer is a finding.
    void lead_to(ForeignMemory& outside) { outside_ = &outside; }
    /// A transaction is answered at once, for the cycle in which it left, even if that has passed.
    bool looks_back() const { return outside_ == nullptr; }
    /// Answers what `outside` was given by begin().
    void answer(tlm::tlm_generic_payload& payload);
    /// From now on writes are timed but not stored: they carry no values.
    void leave_out_values() { values_ = false; }
    /// Bytes that may move later do so on that thread, which outlives this; all others once it has
    /// settled.
    void move_late_on(ValueThread& values) { value_thread_ = &values; }
    /// Returns when they have moved; throws the failure of their values.
    void settle();
    ~Memory() override {
        if (value_thread_ != nullptr) {
            value_thread_->finish();
        }
    }

    // The host's view: no time passes, nothing is claimed. A range outside every region is a
    // ConfigError.
    /// Of a file, if it has a name.
    void load(Address address, std::span<const std::uint8_t> bytes, const std::string& file = {});
    void zero(Address address, Bytes bytes);
    void read(Address address, std::span<std::uint8_t> bytes);
    /// Who wrote which bytes; nullptr where they are not tracked.
    const ShadowMemory* shadow() const { return shadow_ ? &*shadow_ : nullptr; }
    /// The first byte of a range that was never written, if that is a fault.
    std::optional<Address> first_unwritten(const ByteRun& run) const {
        return shadow_ && !zeroed_ ? shadow_->first_unwritten(run) : std::nullopt;
    }

    /// The index of the region that contains an address; the number of regions if there is none.
    std::size_t region_number(Address address) const {
        const MemoryRegionConfig* region = region_of(address, Bytes(1));
        return region != nullptr ? index_of(*region) : config_.regions.size();
    }
    /// What the DRAM of each region that has one did.
    struct NamedDram {
        std::string region;
        DramStatistics statistics;
    };
    std::vector<NamedDram> dram_statistics() const;

 private:
    void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay);
    /// Moves the bytes of an admitted transaction.
    void move_bytes(tlm::tlm_generic_payload& payload, AccessInfo* info);
    void tell_wrong_answer(const tlm::tlm_generic_payload& payload, const AccessInfo* info);
    unsigned transport_dbg(int id, tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    const MemoryRegionConfig* region_of(Address address, Bytes bytes) const;
    void require_region(Address address, Bytes bytes) const;
    std::size_t index_of(const MemoryRegionConfig& region) const {
        return static_cast<std::size_t>(&region - config_.regions.data());
    }
    /// Cycles from `sent` to the answer of an admitted transaction.
    Cycles answer_time(const tlm::tlm_generic_payload& payload, const AccessInfo* info,
                       Cycles sent);
    /// Answers with the region's timing; false, with a finding, if the access hits no region.
    bool admit(tlm::tlm_generic_payload& payload, AccessInfo* info);
    void read_operand(tlm::tlm_generic_payload& payload, const AccessInfo& info);
    void pass_on(int port, tlm::tlm_generic_payload& payload, AccessInfo* info,
                 sc_core::sc_time& delay);
    unsigned pass_on_debug(int port, tlm::tlm_generic_payload& payload, const AccessInfo* info);
    /// What the byte before an uninitialised one is.
    std::string before_text(Address address) const;
    void write_result(const ByteRun& run, std::uint8_t* data, const AccessInfo* info);
    void report(const std::string& kind, const std::string& message, Address address,
                const AccessInfo* info);

    const MemoryConfig config_;
    DiagnosticLog& log_;
    /// What a port queries beat by beat.
    struct RegionTimer : BeatTimer {
        RegionTimer(RegionTiming& region_timing, std::size_t npu)
            : timing(&region_timing), instance(npu) {}
        Cycles read_beat(Address address, Bytes beat, Cycles asked) override {
            return timing->read(instance, address, beat, asked);
        }
        void read_beats(Address address, Bytes beat, std::span<Cycles> times) override {
            timing->read_each(instance, {address, beat}, times);
        }
        RegionTiming* timing;
        std::size_t instance;
    };
    std::shared_ptr<MemoryTiming> timing_;
    std::deque<RegionTimer> timers_;  // of each region
    void write_bytes(Address address, std::span<const std::uint8_t> bytes);
    void read_bytes(Address address, std::span<std::uint8_t> bytes) const;
    /// Bytes that move later: into memory, or out of it.
    struct LateMove {
        bool into = false;
        Address address;
        std::span<std::uint8_t> bytes;
        std::shared_ptr<std::uint8_t[]> held;
    };
    /// Moves are batched, and neighbours merged.
    void move_late(const LateMove& move);
    /// Posts those that wait for more.
    void hand_on_late();
    bool moves_late(const AccessInfo* info) const {
        return value_thread_ != nullptr && info != nullptr && info->late != nullptr;
    }
    SparseMemory bytes_;
    ValueThread* value_thread_ = nullptr;  ///< where it runs
    std::vector<LateMove> late_moves_;
    ByteStore* store_ = nullptr;        ///< instead of it
    ForeignMemory* outside_ = nullptr;  ///< instead of bytes and time
    bool values_ = true;
    bool zeroed_ = false;
    std::optional<ShadowMemory> shadow_{std::in_place};
    Claims claims_;
};

}  // namespace npuscope
