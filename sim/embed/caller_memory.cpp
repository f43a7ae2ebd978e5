// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/caller_memory.h"

#include <fmt/format.h>

#include <utility>

#include "models/link/clock.h"
#include "sim/embed/c_call.h"

namespace npuscope {

void CallBacks::tell() {
    if (!failure_.empty()) {
        throw CallRefusal(NPUSCOPE_CALLBACK_FAILED, std::exchange(failure_, {}));
    }
}

bool CallBacks::note(std::int64_t code, const char* what, Address address, std::size_t size) {
    if (code != 0) {
        fail(fmt::format("the memory call-back returned {} for a {} of {} byte{} at {}", code, what,
                         size, size == 1 ? "" : "s", to_hex(address)));
    }
    return code == 0;
}

void CallBacks::fail(std::string text) {
    if (failure_.empty()) {
        failure_ = std::move(text);
    }
}

void CallerMemory::write(Address address, std::span<const std::uint8_t> bytes) {
    note(result_of(
             [&] { return calls_.write(calls_.user, address.value, bytes.data(), bytes.size()); }),
         "write", address, bytes.size());
}

void CallerMemory::read(Address address, std::span<std::uint8_t> bytes) {
    note(result_of(
             [&] { return calls_.read(calls_.user, address.value, bytes.data(), bytes.size()); }),
         "read", address, bytes.size());
}

void TimedCallerMemory::serve(StandaloneDevice& device) {
    device_ = &device;
    waiting_.clear();
}

void TimedCallerMemory::answer(std::uint64_t id, tlm::tlm_response_status status) {
    const auto found = waiting_.extract(id);
    if (found.empty()) {
        throw CallRefusal(NPUSCOPE_BAD_ARGUMENT, fmt::format("request {} is not outstanding", id));
    }
    tlm::tlm_generic_payload& payload = *found.mapped();
    payload.set_response_status(status);
    device_->answer_memory(payload);
}

void TimedCallerMemory::access(int /*port*/, tlm::tlm_generic_payload& payload,
                               sc_core::sc_time& /*delay*/) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);  // runs of beats have no requests
}

unsigned TimedCallerMemory::debug(int /*port*/, tlm::tlm_generic_payload& payload) {
    if (calls_.peek == nullptr || !payload.is_read()) {
        return 0;
    }
    const unsigned size = payload.get_data_length();
    const Address address(payload.get_address());
    return note(result_of([&] {
                    return calls_.peek(calls_.user, address.value, payload.get_data_ptr(), size);
                }),
                "peek", address, size)
               ? size
               : 0;
}

std::int64_t TimedCallerMemory::bounded(std::int64_t latency) {
    const auto end = static_cast<std::int64_t>(StandaloneDevice::last_cycle.value);
    const std::int64_t most = end - static_cast<std::int64_t>(now().value) - 1;
    if (latency <= most) {
        return latency;
    }
    fail(
        fmt::format("the memory call-back `begin` returned a latency of {} cycles, but the clock "
                    "has only {} left",
                    latency, most));
    return NPUSCOPE_ERROR;
}

void TimedCallerMemory::begin(int port, tlm::tlm_generic_payload& payload) {
    const npuscope_request request{.id = ++last_id_,
                                   .address = payload.get_address(),
                                   .size = payload.get_data_length(),
                                   .port = port,
                                   .write = payload.is_write() ? 1 : 0,
                                   .data = payload.get_data_ptr()};
    const std::int64_t latency =
        bounded(result_of([&] { return calls_.begin(calls_.user, &request); }));
    if (latency == NPUSCOPE_LATER) {
        waiting_.emplace(request.id, &payload);
        return;
    }
    payload.set_response_status(latency < 0 ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                            : tlm::TLM_OK_RESPONSE);
    if (latency < 0 && latency != NPUSCOPE_ERROR) {
        note(latency, payload.is_write() ? "write" : "read", Address(request.address),
             request.size);
    }
    device_->answer_memory_after(payload,
                                 Cycles(latency < 0 ? 1 : static_cast<std::uint64_t>(latency) + 1));
}

}  // namespace npuscope
