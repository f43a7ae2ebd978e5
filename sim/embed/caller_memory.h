// SPDX-License-Identifier: Apache-2.0
// Memory behind the call-backs of a C program.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "include/npuscope/npuscope.h"
#include "models/memory/memory.h"
#include "sim/embed/standalone_device.h"

namespace npuscope {

/// Common to both: a failure is kept until the call in which it occurred returns, as no exception
/// may cross the kernel's threads unseen.
class CallBacks {
 public:
    /// CallRefusal where one has failed since the last time.
    void tell();

 protected:
    /// What the call-back returns; where it throws, which is a failure, NPUSCOPE_ERROR.
    template <class Call>
    std::int64_t result_of(const Call& call) {
        try {
            return call();
        } catch (const std::exception& thrown) {
            fail(std::string("the memory call-back threw an exception: ") + thrown.what());
        } catch (...) {
            fail("the memory call-back threw an exception of unknown type");
        }
        return NPUSCOPE_ERROR;
    }
    /// True where the call-back returned 0.
    bool note(std::int64_t code, const char* what, Address address, std::size_t size);
    /// Keeps the first failure.
    void fail(std::string text);

 private:
    std::string failure_;
};

/// Bytes only; timing as configured.
class CallerMemory : public ByteStore, public CallBacks {
 public:
    explicit CallerMemory(const npuscope_memory& calls) : calls_(calls) {}

    void write(Address address, std::span<const std::uint8_t> bytes) override;
    void read(Address address, std::span<std::uint8_t> bytes) override;

 private:
    npuscope_memory calls_;
};

/// Bytes and time.
class TimedCallerMemory : public ForeignMemory, public CallBacks {
 public:
    explicit TimedCallerMemory(const npuscope_timed_memory& calls) : calls_(calls) {}

    /// Serves this device, newly created with it; requests of a previous one are forgotten.
    void serve(StandaloneDevice& device);
    /// Answers a request that the call-back deferred. CallRefusal where no such request waits.
    void answer(std::uint64_t id, tlm::tlm_response_status status);
    /// Whether requests are unanswered, and nothing determines when they will be.
    bool waits() const { return !waiting_.empty(); }

    void access(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned debug(int port, tlm::tlm_generic_payload& payload) override;
    void begin(int port, tlm::tlm_generic_payload& payload) override;

 private:
    /// An error response in place of a latency that the clock cannot count, which is a failure.
    std::int64_t bounded(std::int64_t latency);

    npuscope_timed_memory calls_;
    StandaloneDevice* device_ = nullptr;
    std::uint64_t last_id_ = 0;
    std::map<std::uint64_t, tlm::tlm_generic_payload*> waiting_;  ///< by id
};

}  // namespace npuscope
