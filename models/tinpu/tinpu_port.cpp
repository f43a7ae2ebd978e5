// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "models/base/error.h"
#include "models/base/rule_ids.h"
#include "models/link/clock.h"
#include "models/tinpu/tinpu_descriptor.h"

namespace npuscope {
namespace {

constexpr auto ro = RegisterAccess::ReadOnly;
constexpr auto rw = RegisterAccess::ReadWrite;

constexpr std::array identity{RegisterField{"VALUE", 0, 32, ro, tinpu_identity}};
constexpr std::array status{RegisterField{"BUSY", 0, 1, ro, 0},
                            RegisterField{"UNDER_WAY", 8, 8, ro, 0}};
constexpr std::array address{RegisterField{"ADDRESS", 0, 32, rw, 0}};
constexpr std::array start{RegisterField{"EN", 0, 1, rw, 0}};
constexpr std::array interrupts{RegisterField{"DONE", 0, 1, rw, 0},
                                RegisterField{"REFUSED", 1, 1, rw, 0}};
constexpr std::array layers{RegisterField{"COUNT", 0, 32, ro, 0}};

constexpr std::array rows{RegisterRow{"IDENTITY", 0x00, identity},
                          RegisterRow{"STATUS", 0x04, status},
                          RegisterRow{"DESCRIPTOR_LOW", 0x08, address},
                          RegisterRow{"DESCRIPTOR_HIGH", 0x0c, address},
                          RegisterRow{"START", 0x10, start},
                          RegisterRow{"INTERRUPT_STATUS", 0x14, interrupts},
                          RegisterRow{"INTERRUPT_MASK", 0x18, interrupts},
                          RegisterRow{"LAYERS_DONE", 0x1c, layers}};
constexpr RegisterBlock block{"TINPU", 0, rows};

}  // namespace

const RegisterBlock& tinpu_registers() { return block; }

namespace {

constexpr std::uint64_t low_word = 0xffffffff;
constexpr std::uint64_t descriptor_alignment = 4;

}  // namespace

TinpuPort::TinpuPort(const sc_core::sc_module_name& name, Tinpu& tinpu, Bytes bus_width,
                     DiagnosticLog& log)
    : Unit(name), tinpu_(tinpu), bus_width_(bus_width), log_(log) {
    socket.register_b_transport(this, &TinpuPort::b_transport);
    socket.register_transport_dbg(this, &TinpuPort::transport_dbg);
    repeat_from(starts_, "job descriptor", [this](Activity& activity) { launch(activity); });
}

void TinpuPort::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_data_length() != sizeof(std::uint32_t) || payload.get_address() % 4 != 0 ||
        payload.get_byte_enable_ptr() != nullptr) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    // a host that runs ahead of simulated time is synchronised to its access
    sc_core::wait(delay + to_time(Cycles(1)));
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(access(payload, true) ? tlm::TLM_OK_RESPONSE
                                                      : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

unsigned TinpuPort::transport_dbg(tlm::tlm_generic_payload& payload) {
    const bool whole = payload.get_data_length() == sizeof(std::uint32_t);
    return whole && payload.is_read() && access(payload, false) ? payload.get_data_length() : 0;
}

bool TinpuPort::access(tlm::tlm_generic_payload& payload, bool may_change) {
    const bool inside = payload.get_address() <= low_word;
    const RegisterRow* row =
        inside ? find_register(tinpu_registers(), static_cast<std::uint32_t>(payload.get_address()))
               : nullptr;
    if (row == nullptr) {
        return false;
    }
    std::uint32_t value = 0;
    if (payload.is_read()) {
        value = read(*row);
        std::memcpy(payload.get_data_ptr(), &value, sizeof value);
    } else if (may_change && payload.is_write()) {
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        write(*row, value);
    }
    return true;
}

std::uint32_t TinpuPort::read(const RegisterRow& row) const {
    if (row.name == "IDENTITY") {
        return tinpu_identity;
    }
    if (row.name == "STATUS") {
        return under_way_ == 0
                   ? 0
                   : 1U | static_cast<std::uint32_t>(std::min<std::uint64_t>(under_way_, 255))
                              << 8U;
    }
    if (row.name == "DESCRIPTOR_LOW") {
        return static_cast<std::uint32_t>(descriptor_at_.value & low_word);
    }
    if (row.name == "DESCRIPTOR_HIGH") {
        return static_cast<std::uint32_t>(descriptor_at_.value >> 32U);
    }
    if (row.name == "INTERRUPT_STATUS") {
        return pending_;
    }
    if (row.name == "INTERRUPT_MASK") {
        return mask_;
    }
    return row.name == "LAYERS_DONE" ? layers_done_ : 0;
}

void TinpuPort::write(const RegisterRow& row, std::uint32_t value) {
    const std::uint32_t kept = value & write_mask(row);
    if (row.name == "DESCRIPTOR_LOW") {
        descriptor_at_ = Address((descriptor_at_.value & ~low_word) | kept);
    } else if (row.name == "DESCRIPTOR_HIGH") {
        descriptor_at_ = Address((descriptor_at_.value & low_word) | std::uint64_t{kept} << 32U);
    } else if (row.name == "INTERRUPT_STATUS") {
        pending_ &= ~kept;
        update_line();
    } else if (row.name == "INTERRUPT_MASK") {
        mask_ = kept;
        update_line();
    } else if (row.name == "START" && kept != 0) {
        ++under_way_;
        starts_.push(descriptor_at_);
    }
}

void TinpuPort::raise(Interrupt which) {
    pending_ |= which;
    update_line();
}

void TinpuPort::layer_ended() {
    ++layers_done_;
    --under_way_;
    raise(Done);
}

void TinpuPort::launch(Activity& activity) {
    const Address base = starts_.take(activity, WaitKind::Idle);
    const std::string name = "descriptor " + to_hex(base);
    const Purpose purpose{.surface = "job descriptor", .operation = name};
    std::array<std::uint8_t, descriptor_bytes> bytes{};
    descriptor.port.fetch(base, bytes, purpose);
    descriptor.open({.first = {}, .beat = bus_width_}, {base, Bytes(bytes.size())}, purpose);
    const Cycles arrived = descriptor.take(activity, Bytes(bytes.size()));
    activity.wait_until(arrived, WaitKind::Starved, "job descriptor");
    try {
        if (base.value % descriptor_alignment != 0) {
            throw ConfigError(fmt::format("descriptor address {} is not a multiple of {}",
                                          to_hex(base), descriptor_alignment));
        }
        TinpuJob job = load_descriptor(bytes);
        job.name = name;
        tinpu_.launch(job, values_, [this](const OperationRecord& /*record*/) { layer_ended(); });
    } catch (const ConfigError& error) {
        log_.add({.id = rule_ids::descriptor,
                  .sentence = error.sentence(),
                  .address = base,
                  .unit = "tinpu",
                  .surface = "job descriptor",
                  .operation = name});
        --under_way_;
        raise(Refused);
    }
}

}  // namespace npuscope
